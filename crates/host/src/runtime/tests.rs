use super::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

fn state(cgroups: Vec<PathBuf>) -> LabState {
    LabState {
        lab_pid: Some(7),
        guard_pid: 6,
        started_unix_s: 1,
        lab_file: "/home/lab.yaml".into(),
        cgroups,
        results: None,
        stays_up: false,
        diverts: false,
        is_part: false,
    }
}

#[test]
fn a_folder_that_is_handed_over_stays_locked_by_its_descriptor() {
    let root = tempfile::tempdir().unwrap();
    let (path, lock) = RuntimeDir::acquire_in(root.path(), "a").unwrap().hand_over().unwrap();
    assert_eq!(path, root.path().join("a"));
    let is_up = || list_in(root.path()).unwrap().iter().any(|lab| lab.name == "a");
    assert!(is_up());
    let flags = fs::read_to_string(format!("/proc/self/fdinfo/{lock}")).unwrap();
    let flags = flags.lines().find_map(|line| line.strip_prefix("flags:")).unwrap().trim().to_owned();
    assert_eq!(u32::from_str_radix(&flags, 8).unwrap() & libc::O_CLOEXEC.cast_unsigned(), 0);
    nix::unistd::close(lock).unwrap();
    assert!(!is_up());
}

#[test]
fn a_name_can_be_up_once() {
    let root = tempfile::tempdir().unwrap();
    let first = RuntimeDir::acquire_in(root.path(), "a").unwrap();
    first.write_state(&state(Vec::new())).unwrap();
    let error = RuntimeDir::acquire_in(root.path(), "a").unwrap_err();
    assert_eq!(error.to_string(), "a lab named a is already up (process 6, /home/lab.yaml)");
    let other = RuntimeDir::acquire_in(root.path(), "b").unwrap();
    let names: Vec<_> = list_in(root.path()).unwrap().into_iter().map(|lab| lab.name).collect();
    assert_eq!(names, ["a", "b"]);
    first.remove().unwrap();
    other.remove().unwrap();
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
}

/// The lock is gone a moment before the folder is, and whoever sweeps then makes another.
#[test]
fn a_lab_that_ends_while_others_sweep_ends_well() {
    let root = tempfile::tempdir().unwrap();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                sweep_in(root.path()).unwrap();
            }
        });
        let outcome = (0..2_000)
            .try_for_each(|_| RuntimeDir::acquire_in(root.path(), "a")?.remove().map_err(RuntimeError::Refused));
        // Before anything can fail: the other thread ends by it.
        done.store(true, Ordering::Relaxed);
        outcome.unwrap();
    });
    sweep_in(root.path()).unwrap();
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
}

#[test]
fn leftovers_are_swept_and_running_labs_are_not() {
    let root = tempfile::tempdir().unwrap();
    let running = RuntimeDir::acquire_in(root.path(), "running").unwrap();
    let killed = RuntimeDir::acquire_in(root.path(), "killed").unwrap();
    killed.write_state(&state(vec!["/sys/fs/cgroup/netloom-killed-0".into()])).unwrap();
    fs::write(killed.hosts(), "127.0.0.1 localhost").unwrap();
    fs::create_dir(killed.path().join("folder")).unwrap();
    drop(killed);
    assert_eq!(sweep_in(root.path()).unwrap(), ["killed"]);
    assert_eq!(list_in(root.path()).unwrap().len(), 1);
    running.remove().unwrap();
}

#[test]
fn a_killed_lab_of_the_same_name_is_no_obstacle() {
    let root = tempfile::tempdir().unwrap();
    let killed = RuntimeDir::acquire_in(root.path(), "a").unwrap();
    fs::write(killed.control_socket(), "").unwrap();
    drop(killed);
    let fresh = RuntimeDir::acquire_in(root.path(), "a").unwrap();
    assert!(!fresh.control_socket().exists());
}

#[test]
fn the_lock_survives_in_a_copy_of_the_descriptor() {
    let root = tempfile::tempdir().unwrap();
    let lab = RuntimeDir::acquire_in(root.path(), "a").unwrap();
    // What a fork does to it.
    let copy = lab.lock.try_clone().unwrap();
    drop(lab);
    assert_eq!(list_in(root.path()).unwrap().len(), 1);
    drop(copy);
    assert_eq!(list_in(root.path()).unwrap().len(), 0);
}

#[test]
fn another_users_folder_of_that_name_is_in_nobodys_way() {
    use std::os::unix::fs::PermissionsExt;
    let place = tempfile::tempdir().unwrap();
    let names: Vec<PathBuf> = ["netloom-7", "netloom-7-1", "netloom-7-2"].map(|name| place.path().join(name)).into();
    // A link and a folder that others look into stand for those of another user.
    std::os::unix::fs::symlink("/etc", &names[0]).unwrap();
    fs::create_dir(&names[1]).unwrap();
    fs::set_permissions(&names[1], fs::Permissions::from_mode(0o755)).unwrap();
    assert!(matches!(among(&names[..2]), Err(RuntimeError::Foreign { path }) if path == names[0]));
    assert_eq!(among(&names).unwrap(), names[2]);
    // Labs are found there still when the others have gone.
    fs::remove_file(&names[0]).unwrap();
    assert_eq!(among(&names).unwrap(), names[2]);
}

use super::*;

/// A folder with these scripts; each appends its name and how it goes on to the file `log` beside it.
fn folder(scripts: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, script) in scripts {
        let path = folder.path().join(name);
        let text = format!(
            "#!/bin/sh\ncd {}\necho {name} begins >> log\n{script}\necho {name} ends >> log\n",
            folder.path().display()
        );
        fs::write(&path, text).unwrap();
        netloom_testing::programs::make_executable(&path);
    }
    folder
}

fn course(ms: u64, seed: u64) -> Course {
    Course { lasts: Duration::from_millis(ms), grace: Duration::from_secs(20), most: 3, seed, env: Vec::new() }
}

fn played(folder: &Path, course: &Course) -> (Vec<String>, Vec<String>) {
    let (workload, _) = Workload::read(folder, course.seed).unwrap();
    let wrong = workload.play(course, &mut |_| {}).unwrap();
    let log = fs::read_to_string(folder.join("log")).unwrap();
    (log.lines().map(str::to_owned).collect(), wrong)
}

#[test]
fn commands_run_when_their_names_say() {
    let folder = folder(&[
        ("first_make", ""),
        ("parallel_driver_a", "sleep 0.02"),
        ("serial_driver_b", "sleep 0.02"),
        ("anytime_c", ""),
        ("finally_d", ""),
        ("helper_e", ""),
    ]);
    let (log, wrong) = played(folder.path(), &course(1_500, 3));
    assert_eq!(wrong, Vec::<String>::new());
    assert_eq!(log[..2], ["first_make begins", "first_make ends"]);
    assert_eq!(log[log.len() - 2..], ["finally_d begins", "finally_d ends"]);
    for name in ["parallel_driver_a", "serial_driver_b"] {
        assert!(log.iter().any(|line| line.starts_with(name)), "{name}: {log:?}");
    }
    // Between the beginning and the end of a serial driver is nothing of another driver.
    let drivers: Vec<&String> = log.iter().filter(|line| line.contains("driver")).collect();
    for (place, line) in drivers.iter().enumerate().filter(|(_, line)| **line == "serial_driver_b begins") {
        assert_eq!(drivers[place + 1], "serial_driver_b ends", "{line}: {log:?}");
    }
    assert!(!log.iter().any(|line| line.starts_with("helper")));
}

#[test]
fn what_runs_is_killed_before_it_is_judged_eventually() {
    let folder = folder(&[("singleton_driver_a", "sleep 600"), ("eventually_b", "exit 3")]);
    let (log, wrong) = played(folder.path(), &course(100, 1));
    assert_eq!(log, ["singleton_driver_a begins", "eventually_b begins"]);
    assert_eq!(wrong, ["eventually_b: exit code 3"], "what we kill has not failed");
}

#[test]
fn a_first_command_that_fails_ends_it() {
    let folder = folder(&[("first_make", "kill -9 $$"), ("parallel_driver_a", "")]);
    let (log, wrong) = played(folder.path(), &course(50, 1));
    assert_eq!((log.len(), &wrong[..]), (1, &["first_make: killed by signal 9".to_owned()][..]));
}

#[test]
fn a_folder_of_templates_has_one_of_them() {
    let home = tempfile::tempdir().unwrap();
    assert!(Workload::read(home.path(), 1).unwrap_err().contains("names of executables begin with first_"));
    for template in ["basic", "hard"] {
        let place = home.path().join(template);
        fs::create_dir(&place).unwrap();
        fs::write(place.join("parallel_driver_x"), "").unwrap();
        fs::set_permissions(place.join("parallel_driver_x"), fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(place.join("finally_y"), "").unwrap();
        fs::write(place.join("README"), "").unwrap();
    }
    let mut chosen: Vec<PathBuf> = (0..30).map(|seed| Workload::read(home.path(), seed).unwrap().1).collect();
    chosen.sort();
    chosen.dedup();
    assert_eq!(chosen.len(), 2);
    let (workload, _) = Workload::read(home.path(), 1).unwrap();
    assert!(workload.notes[0].contains("README is no command"), "{:?}", workload.notes);
    assert!(workload.notes[1].contains("finally_y is not executable"), "{:?}", workload.notes);
}

//! Why the kernel makes no more processes: it says only that they cannot be had "temporarily".

use std::fs;
use std::path::{Path, PathBuf};

use nix::sys::resource::{Resource, getrlimit};

use crate::error::KernelError;

/// The same error of a process that could not be made, with the limit that was reached, as far as that can be found out.
pub fn of_processes(error: KernelError) -> KernelError {
    if error.errno() != libc::EAGAIN {
        return error;
    }
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let own = own_group(&groups);
    let full = own.as_ref().and_then(|(root, group)| full_group(root, group));
    let user = getrlimit(Resource::RLIMIT_NPROC).map_or(0, |(soft, _)| soft);
    let why = match (full, own) {
        (Some((group, most)), _) => format!(
            "the control group {} may have {most} processes and threads (pids.max), and has as many: raise that, or make the lab smaller",
            group.display()
        ),
        (None, own) => {
            let group = own.map_or_else(String::new, |(_, group)| format!(" {}", group.display()));
            format!(
                "a limit on processes was reached: that of the control group{group} or of one above it (pids.max), of the user \
                 (`ulimit -u`, {user} here), or of the machine (kernel.pid_max, kernel.threads-max)"
            )
        }
    };
    error.with_detail(why)
}

/// Where the groups that count processes are mounted, and this process's own among them (cgroups(7)).
fn own_group(text: &str) -> Option<(PathBuf, PathBuf)> {
    let fields = |line: &'_ str| {
        let mut parts = line.splitn(3, ':').skip(1);
        Some((parts.next()?.to_owned(), PathBuf::from(parts.next()?)))
    };
    let mut all: Vec<(String, PathBuf)> = text.lines().filter_map(fields).collect();
    let first = all.iter().position(|(controllers, _)| controllers.split(',').any(|one| one == "pids"));
    let unified = || all.iter().position(|(controllers, _)| controllers.is_empty());
    let (root, place) = match first {
        Some(place) => ("/sys/fs/cgroup/pids", place),
        None => ("/sys/fs/cgroup", unified()?),
    };
    Some((root.into(), all.swap_remove(place).1))
}

/// The nearest group, from this one upwards, that has as many processes as it may have, and how many those are.
fn full_group(root: &Path, own: &Path) -> Option<(PathBuf, u64)> {
    let number = |path: PathBuf| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    own.ancestors().find_map(|group| {
        let folder = root.join(group.strip_prefix("/").unwrap_or(group));
        let most = number(folder.join("pids.max"))?;
        (number(folder.join("pids.current"))? >= most).then_some((folder, most))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_group_is_found_in_either_version() {
        let of =
            |text: &str| own_group(text).map(|(root, group)| (root.display().to_string(), group.display().to_string()));
        let found = |root: &str, group: &str| Some((root.to_owned(), group.to_owned()));
        assert_eq!(of("0::/user.slice/a:b\n"), found("/sys/fs/cgroup", "/user.slice/a:b"));
        assert_eq!(of("11:cpu:/x\n8:pids:/docker/1\n0::/\n"), found("/sys/fs/cgroup/pids", "/docker/1"));
        assert_eq!(of(""), None);
    }

    #[test]
    fn the_group_that_is_full_is_named_with_its_limit() {
        let root = tempfile::tempdir().unwrap();
        let lab = root.path().join("user.slice/lab");
        fs::create_dir_all(&lab).unwrap();
        let write = |folder: &Path, most: &str, current: &str| {
            fs::write(folder.join("pids.max"), most).unwrap();
            fs::write(folder.join("pids.current"), current).unwrap();
        };
        let full = || full_group(root.path(), Path::new("/user.slice/lab"));
        write(&lab, "max\n", "30\n");
        write(lab.parent().unwrap(), "40\n", "39\n");
        assert_eq!(full(), None);
        write(lab.parent().unwrap(), "40\n", "40\n");
        assert_eq!(full(), Some((root.path().join("user.slice"), 40)));
        write(&lab, "20\n", "20\n");
        assert_eq!(full(), Some((lab, 20)));
    }

    #[test]
    fn other_errors_stay_what_they_are() {
        let other = KernelError::new("make a process", libc::ENOMEM);
        assert_eq!(of_processes(other.clone()), other);
        let short = of_processes(KernelError::new("make a process", libc::EAGAIN)).to_string();
        assert!(short.contains("pids.max"), "{short}");
    }
}

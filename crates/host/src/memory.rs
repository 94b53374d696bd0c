//! How much memory this process may still take.

use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit};
use std::fs;
use std::path::{Path, PathBuf};

/// How much memory is available, and what bounds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Available {
    /// The memory that is available, in bytes.
    pub bytes: u64,
    /// The limit that bounds it, as in "8 GB, the rest of ...".
    pub bound: String,
}

/// The minimum of what the machine has free, what the process's control groups allow, and what its own limits allow; none if
/// the kernel reports none of these.
pub fn available() -> Option<Available> {
    let groups = groups(&fs::read_to_string("/proc/self/cgroup").unwrap_or_default());
    let groups = groups.into_iter().flat_map(|(base, path)| in_groups(&base, &path));
    machine().into_iter().chain(groups).chain(own_limits()).min_by_key(|available| available.bytes)
}

/// Gives the memory that this process has freed back to the kernel, which the allocator would keep for later.
pub fn give_back() {
    // SAFETY: the call takes a number, and only touches what belongs to the allocator.
    #[cfg(target_env = "gnu")]
    unsafe {
        libc::malloc_trim(0);
    }
}

fn machine() -> Option<Available> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    Some(Available { bytes: kilobytes(&text, "MemAvailable:")?, bound: "this machine's free memory".into() })
}

/// A line such as "VmSize:   1234 kB", in bytes.
fn kilobytes(text: &str, field: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix(field))?;
    value.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// The control groups of this process that may bound its memory, of either version: where their tree is mounted, and the
/// place in it. Lines of /proc/self/cgroup are "number:controllers:path".
fn groups(text: &str) -> Vec<(PathBuf, PathBuf)> {
    let group = |line: &str| {
        let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
        let base = match controllers {
            "" => "/sys/fs/cgroup",
            _ if controllers.split(',').any(|controller| controller == "memory") => "/sys/fs/cgroup/memory",
            _ => return None,
        };
        Some((base.into(), path.trim_start_matches('/').into()))
    };
    text.lines().filter_map(group).collect()
}

/// What a group and all above it allow. In a container the path is that of the machine, and only the mount is there.
fn in_groups(base: &Path, path: &Path) -> Vec<Available> {
    let folders = path.ancestors().map(|above| base.join(above));
    folders.filter_map(|folder| in_group(&folder)).collect()
}

fn in_group(folder: &Path) -> Option<Available> {
    let number = |name: &str| fs::read_to_string(folder.join(name)).ok()?.trim().parse::<u64>().ok();
    // Version 2 says "max" where there is no limit, version 1 a number beyond all memory.
    let limit = number("memory.max").or_else(|| number("memory.limit_in_bytes"))?;
    let used = number("memory.current").or_else(|| number("memory.usage_in_bytes"))?;
    let statistics = fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
    let field = |name: &str| statistics.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok());
    // The page cache is given back before any allocation is refused.
    let spare = field("total_inactive_file ").or_else(|| field("inactive_file ")).unwrap_or(0);
    let bytes = limit.saturating_sub(used.saturating_sub(spare));
    Some(Available { bytes, bound: format!("the memory limit of the control group {}", folder.display()) })
}

/// The limits that `ulimit -v` and `ulimit -d` set.
fn own_limits() -> Vec<Available> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let limit = |(resource, field, name): (Resource, &str, &str)| {
        let (limit, _) = getrlimit(resource).ok()?;
        let used = kilobytes(&status, field)?;
        let bound = format!("the memory limit of the process ({name})");
        (limit != RLIM_INFINITY).then(|| Available { bytes: limit.saturating_sub(used), bound })
    };
    let both = [(Resource::RLIMIT_AS, "VmSize:", "ulimit -v"), (Resource::RLIMIT_DATA, "VmData:", "ulimit -d")];
    both.into_iter().filter_map(limit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_some_memory_to_be_had() {
        let available = available().expect("/proc is mounted");
        assert!(available.bytes > 0 && !available.bound.is_empty());
    }

    #[test]
    fn the_groups_of_both_versions_are_found() {
        let text = "4:cpu,cpuacct:/a\n3:memory:/docker/b\n0::/user.slice/c\n";
        let found = groups(text);
        assert_eq!(found[0], ("/sys/fs/cgroup/memory".into(), "docker/b".into()));
        assert_eq!(found[1], ("/sys/fs/cgroup".into(), "user.slice/c".into()));
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn what_a_group_does_not_use_is_available_and_unused_files_are() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("inner");
        fs::create_dir(&inner).unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write("memory.max", "1000\n");
        write("memory.current", "700\n");
        write("memory.stat", "anon 5\ninactive_file 200\n");
        // A group below without a limit of its own is bounded by the one above.
        fs::write(inner.join("memory.max"), "max\n").unwrap();
        let found = in_groups(folder.path(), Path::new("inner"));
        assert_eq!(found.iter().map(|one| one.bytes).collect::<Vec<_>>(), [500]);
    }
}

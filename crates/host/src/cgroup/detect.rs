use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use nix::unistd::{AccessFlags, access};

/// The control groups that can hold CPU shares here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hierarchy {
    /// Version 1: the `cpu` controller has a tree of its own.
    V1 {
        /// The group under which labs get theirs.
        base: PathBuf,
    },
    /// Version 2: one tree for all controllers.
    V2 {
        /// The group under which labs get theirs; it enables the `cpu` controller for its children.
        base: PathBuf,
    },
}

/// Why nodes cannot get CPU shares here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unavailable {
    /// No mounted hierarchy has a `cpu` controller.
    NoController,
    /// There is one of version 1, and it belongs to root.
    RootOnly {
        /// The group that was tried.
        group: PathBuf,
    },
    /// There is one of version 2, but this user may not make groups in it.
    NotDelegated {
        /// The group that was tried.
        group: PathBuf,
    },
    /// There is one of version 2, and the manager of this user's sessions has no `cpu` in it, so that it has none to hand on.
    NoCpuForUsers {
        /// The group of that manager.
        manager: PathBuf,
    },
    /// The group that this process may use contains processes, so that the kernel enables no controller for its children.
    Occupied {
        /// The group that was tried.
        group: PathBuf,
    },
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoController => write!(
                f,
                "this machine has no cgroup hierarchy with a cpu controller mounted under /sys/fs/cgroup, so nodes \
                 cannot be given shares of a CPU"
            ),
            Self::RootOnly { group } => write!(
                f,
                "{} belongs to root, so nodes cannot be given shares of a CPU: run netloom as root, or on a machine \
                 with control groups of version 2",
                group.display()
            ),
            Self::NotDelegated { group } => write!(
                f,
                "{} is not delegated to this user, so nodes cannot be given shares of a CPU: start netloom with \
                 `systemd-run --user --scope -p Delegate=yes netloom ...`, or as root",
                group.display()
            ),
            Self::NoCpuForUsers { manager } => write!(
                f,
                "{} has no `cpu` controller to hand on, so nodes cannot be given shares of a CPU: as root, write \
                 `[Service]` and `Delegate=cpu memory pids` to /etc/systemd/system/user@.service.d/delegate.conf and run \
                 `systemctl daemon-reload`; log in again, and start netloom with `systemd-run --user --scope -p Delegate=yes \
                 netloom ...`; or run it as root",
                manager.display()
            ),
            Self::Occupied { group } => write!(
                f,
                "{} has processes of its own, so the kernel lets nothing below it have shares of a CPU: start \
                 netloom with `systemd-run --scope -p Delegate=yes netloom ...`, or in a container with the \
                 machine's own cgroup namespace (--cgroupns=host)",
                group.display()
            ),
        }
    }
}

impl std::error::Error for Unavailable {}

impl Hierarchy {
    /// Finds the hierarchy that this process may use. In version 2 this may turn on the `cpu` controller for the
    /// children of the group that it returns.
    ///
    /// # Errors
    /// The reason why there is none.
    pub fn detect() -> Result<Self, Unavailable> {
        Self::search(true)
    }

    /// The same, without changing anything: what [`Hierarchy::detect`] would find.
    ///
    /// # Errors
    /// The reason why there is none.
    pub fn look() -> Result<Self, Unavailable> {
        Self::search(false)
    }

    fn search(turn_on: bool) -> Result<Self, Unavailable> {
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let mut mounts = mounts.lines().filter_map(Mount::parse).collect::<Vec<_>>();
        // The last mount at a place hides those before it.
        mounts.reverse();
        if let Some(mount) = mounts.iter().find(|mount| mount.version == Version::One) {
            return v1(mount, &own);
        }
        let with_cpu = |mount: &&Mount| mount.version == Version::Two && lists_cpu(&mount.point, "cgroup.controllers");
        mounts.iter().find(with_cpu).map_or(Err(Unavailable::NoController), |mount| v2(mount, &own, turn_on))
    }

    /// The group under which labs get theirs.
    pub fn base(&self) -> &Path {
        match self {
            Self::V1 { base } | Self::V2 { base } => base,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

#[derive(Debug, PartialEq, Eq)]
struct Mount {
    version: Version,
    /// Which part of the hierarchy is mounted: `/`, except in containers.
    root: PathBuf,
    point: PathBuf,
}

impl Mount {
    /// A line of mountinfo: "id parent major:minor root point options [optional …] - type source super-options". Of
    /// version 1 only the tree with the `cpu` controller counts.
    fn parse(line: &str) -> Option<Self> {
        let (place, kind) = line.split_once(" - ")?;
        let mut kind = kind.split(' ');
        let version = match (kind.next()?, kind.nth(1)?) {
            ("cgroup2", _) => Version::Two,
            ("cgroup", options) if options.split(',').any(|option| option == "cpu") => Version::One,
            _ => return None,
        };
        let mut place = place.split(' ').skip(3);
        Some(Self { version, root: place.next()?.into(), point: place.next()?.into() })
    }

    /// The directory of the group `path`, as `/proc/self/cgroup` names it.
    fn directory(&self, path: &Path) -> Option<PathBuf> {
        let directory = self.point.join(path.strip_prefix(&self.root).ok()?);
        directory.is_dir().then_some(directory)
    }
}

fn v1(mount: &Mount, own: &str) -> Result<Hierarchy, Unavailable> {
    // A line of /proc/self/cgroup: "number:controllers:path".
    let path = own.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        fields.next()?.split(',').any(|controller| controller == "cpu").then(|| fields.next())?
    });
    let base = path.and_then(|path| mount.directory(path.as_ref())).unwrap_or_else(|| mount.point.clone());
    if may_write(&base) { Ok(Hierarchy::V1 { base }) } else { Err(Unavailable::RootOnly { group: base }) }
}

fn v2(mount: &Mount, own: &str, turn_on: bool) -> Result<Hierarchy, Unavailable> {
    let path = own.lines().find_map(|line| line.strip_prefix("0::")).unwrap_or("/");
    let lowest = mount.directory(path.as_ref()).unwrap_or_else(|| mount.point.clone());
    // The top first: there root's labs have no other parent. A user's own groups are further down.
    let mut candidates: Vec<&Path> = lowest.ancestors().take_while(|group| group.starts_with(&mount.point)).collect();
    candidates.reverse();
    let mut reason = not_delegated(&mount.point, nix::unistd::getuid().as_raw(), &lowest);
    for group in candidates {
        match hand_down(group, turn_on) {
            Ok(()) => return Ok(Hierarchy::V2 { base: group.to_path_buf() }),
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) => {
                reason = Unavailable::Occupied { group: group.to_path_buf() };
            }
            Err(_) => (),
        }
    }
    Err(reason)
}

/// What keeps an ordinary user from having shares: `systemd-run --user` hands on no more than the user's manager has.
fn not_delegated(point: &Path, user: u32, group: &Path) -> Unavailable {
    let manager = point.join(format!("user.slice/user-{user}.slice/user@{user}.service"));
    if manager.is_dir() && !lists_cpu(&manager, "cgroup.controllers") {
        return Unavailable::NoCpuForUsers { manager };
    }
    Unavailable::NotDelegated { group: group.to_path_buf() }
}

/// Makes sure that children of `group` have the `cpu` controller, that this process may make some, and that it may
/// move processes into them. Without `turn_on` the controller is left as it is.
fn hand_down(group: &Path, turn_on: bool) -> io::Result<()> {
    let writable = may_write(group) && may_write(&group.join("cgroup.procs"));
    if !writable || !lists_cpu(group, "cgroup.controllers") {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    match (lists_cpu(group, SUBTREE), turn_on) {
        (true, _) => Ok(()),
        (false, true) => fs::write(group.join(SUBTREE), "+cpu"),
        (false, false) if is_occupied(group) => Err(io::Error::from_raw_os_error(libc::EBUSY)),
        (false, false) => Ok(()),
    }
}

/// Whether the kernel would refuse to enable controllers for children because the group contains processes. It never does
/// so at the root of the whole hierarchy, which alone has no type.
fn is_occupied(group: &Path) -> bool {
    let processes = fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
    group.join("cgroup.type").exists() && !processes.trim().is_empty()
}

const SUBTREE: &str = "cgroup.subtree_control";

fn lists_cpu(group: &Path, file: &str) -> bool {
    let list = fs::read_to_string(group.join(file)).unwrap_or_default();
    list.split_ascii_whitespace().any(|controller| controller == "cpu")
}

fn may_write(path: &Path) -> bool {
    access(path, AccessFlags::W_OK).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_trees_with_a_cpu_controller_count() {
        let first = "34 25 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct";
        let mount = Mount::parse(first).unwrap();
        assert_eq!((mount.version, mount.point), (Version::One, PathBuf::from("/sys/fs/cgroup/cpu,cpuacct")));
        let second = "30 25 0:26 /docker/abc /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw";
        let part = Mount::parse(second).unwrap();
        assert_eq!((part.version, part.root), (Version::Two, PathBuf::from("/docker/abc")));
        for other in
            ["35 25 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset", "1 1 0:1 / / rw - ext4 a rw", ""]
        {
            assert_eq!(Mount::parse(other), None, "{other}");
        }
    }

    /// A hierarchy of version 2 as the kernel would show it, with a group `own` in it.
    fn fake_v2(subtree: &str) -> (tempfile::TempDir, Mount) {
        let folder = tempfile::tempdir().unwrap();
        let point = folder.path().to_path_buf();
        for group in [point.clone(), point.join("own")] {
            fs::create_dir_all(&group).unwrap();
            fs::write(group.join("cgroup.controllers"), "cpuset cpu memory\n").unwrap();
            fs::write(group.join("cgroup.subtree_control"), subtree).unwrap();
            fs::write(group.join("cgroup.procs"), "").unwrap();
        }
        (folder, Mount { version: Version::Two, root: "/".into(), point })
    }

    #[test]
    fn the_highest_group_that_may_be_used_is_the_base() {
        let (folder, mount) = fake_v2("cpu memory");
        let base = folder.path().to_path_buf();
        assert_eq!(v2(&mount, "0::/own\n", true), Ok(Hierarchy::V2 { base: base.clone() }));
        // Without a list of processes no process can be moved here.
        fs::remove_file(base.join("cgroup.procs")).unwrap();
        assert_eq!(v2(&mount, "0::/own\n", true), Ok(Hierarchy::V2 { base: base.join("own") }));
        let reason = v2(&mount, "0::/\n", true).unwrap_err();
        assert_eq!(reason, Unavailable::NotDelegated { group: base });
    }

    #[test]
    fn the_controller_is_handed_down_where_it_is_not_yet() {
        let (folder, mount) = fake_v2("memory");
        let base = folder.path().to_path_buf();
        assert_eq!(v2(&mount, "0::/own\n", true), Ok(Hierarchy::V2 { base: base.clone() }));
        assert_eq!(fs::read_to_string(base.join("cgroup.subtree_control")).unwrap(), "+cpu");
        let plan = Hierarchy::V2 { base: base.clone() }.plan("lab", 7);
        assert_eq!(plan.path(), base.join("netloom-lab-7"));
    }

    #[test]
    fn a_look_changes_nothing_and_foresees_a_refusal() {
        let (folder, mount) = fake_v2("memory");
        let base = folder.path().to_path_buf();
        assert_eq!(v2(&mount, "0::/own\n", false), Ok(Hierarchy::V2 { base: base.clone() }));
        assert_eq!(fs::read_to_string(base.join("cgroup.subtree_control")).unwrap(), "memory");
        for group in [base.clone(), base.join("own")] {
            fs::write(group.join("cgroup.type"), "domain\n").unwrap();
            fs::write(group.join("cgroup.procs"), "17\n").unwrap();
        }
        assert_eq!(v2(&mount, "0::/own\n", false), Err(Unavailable::Occupied { group: base.join("own") }));
    }

    #[test]
    fn the_reasons_say_what_to_do() {
        let group = PathBuf::from("/sys/fs/cgroup/user.slice");
        let text = Unavailable::NotDelegated { group }.to_string();
        assert!(text.contains("systemd-run --user --scope -p Delegate=yes netloom"), "{text}");
    }

    #[test]
    fn a_manager_without_the_controller_has_none_to_hand_on() {
        let point = tempfile::tempdir().unwrap();
        let group = Path::new("/session");
        let other = Unavailable::NotDelegated { group: group.to_path_buf() };
        assert_eq!(not_delegated(point.path(), 7, group), other, "there is no manager");
        let manager = point.path().join("user.slice/user-7.slice/user@7.service");
        fs::create_dir_all(&manager).unwrap();
        fs::write(manager.join("cgroup.controllers"), "memory pids\n").unwrap();
        let refused = not_delegated(point.path(), 7, group);
        assert!(refused.to_string().contains("Delegate=cpu memory pids"), "{refused}");
        fs::write(manager.join("cgroup.controllers"), "cpu memory pids\n").unwrap();
        assert_eq!(not_delegated(point.path(), 7, group), other);
    }
}

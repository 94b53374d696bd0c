//! What of the kernel's views (`/proc`, `/sys`) is the whole machine's: root may read it in a node, and not write to it.
//!
//! The kernel lets root write to most files there without asking for a capability, so a script that sets `vm.swappiness` or writes to
//! `/proc/sysrq-trigger` would act on the machine. Read-only mounts keep it from that. They are no wall: root of a node can mount
//! these file systems anew.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;

use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use nix::sys::statvfs::{FsFlags, fstatvfs};

use crate::error::{Attempted, KernelError};
use crate::mount::{attach, clone_tree, sys_in_place_of_all};
use crate::users::is_of_the_machine;

/// A part of a view that is the whole machine's.
struct Part {
    path: &'static str,
    /// What of it the namespaces of a node have for themselves.
    own: &'static [&'static str],
}

/// Parts that some kernels do not have are passed over.
const PARTS: [Part; 11] = [
    Part { path: "/proc/sys", own: &OWN_PARAMETERS },
    // Network devices, each seen in its own network namespace only; bridges and bonds are configured there.
    Part { path: "/sys", own: &["/sys/class/net", "/sys/devices/virtual/net"] },
    Part { path: "/proc/sysrq-trigger", own: &[] },
    Part { path: "/proc/irq", own: &[] },
    Part { path: "/proc/bus", own: &[] },
    Part { path: "/proc/fs", own: &[] },
    Part { path: "/proc/acpi", own: &[] },
    Part { path: "/proc/driver", own: &[] },
    Part { path: "/proc/scsi", own: &[] },
    Part { path: "/proc/mtrr", own: &[] },
    Part { path: "/proc/dynamic_debug", own: &[] },
];

/// Parameters of network, IPC and UTS namespaces: see [`is_private_to_a_node`](crate::sysctl::is_private_to_a_node). The last number
/// of a process is that of the node's process namespace.
const OWN_PARAMETERS: [&str; 13] = [
    "/proc/sys/net",
    "/proc/sys/fs/mqueue",
    "/proc/sys/kernel/ns_last_pid",
    "/proc/sys/kernel/hostname",
    "/proc/sys/kernel/domainname",
    "/proc/sys/kernel/msgmax",
    "/proc/sys/kernel/msgmnb",
    "/proc/sys/kernel/msgmni",
    "/proc/sys/kernel/sem",
    "/proc/sys/kernel/shmall",
    "/proc/sys/kernel/shmmax",
    "/proc/sys/kernel/shmmni",
    "/proc/sys/kernel/shm_rmid_forced",
];

/// Makes what is the machine's read-only in this process's mounts, which are its own. In the user namespace of an ordinary user the
/// kernel itself refuses to write there.
pub(crate) fn protect_machine() -> Result<(), KernelError> {
    if !is_of_the_machine()? {
        return Ok(());
    }
    PARTS.iter().try_for_each(|part| part.protect().attempted(|| format!("make {} read-only", part.path)))
}

/// Gives this process mounts of its own, with a `/sys` of its network namespace, in which what is the machine's is read-only, and
/// otherwise all that is mounted now. What is mounted outside later arrives. Control groups stay as they are, since labs that begin here
/// need them.
///
/// It makes nothing but system calls unless one is refused, as a process must that was forked beside threads.
pub(crate) fn protect_machine_from_command() -> io::Result<()> {
    unshare(CloneFlags::CLONE_NEWNS)?;
    mount(None::<&str>, "/", None::<&str>, MsFlags::MS_REC | MsFlags::MS_SLAVE, None::<&str>)?;
    let groups = open(CONTROL_GROUPS).and_then(|groups| clone_tree(groups.as_fd(), false)).ok();
    sys_in_place_of_all()?;
    PARTS.iter().try_for_each(Part::protect)?;
    match (groups, open(CONTROL_GROUPS)) {
        (Some(groups), Ok(place)) => attach(groups.as_fd(), place.as_fd()),
        // A kernel without them.
        _ => Ok(()),
    }
}

const CONTROL_GROUPS: &str = "/sys/fs/cgroup";

impl Part {
    fn protect(&self) -> io::Result<()> {
        let place = match open(self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            other => other?,
        };
        // Behind another link, it is so already.
        if fstatvfs(&place)?.flags().contains(FsFlags::ST_RDONLY) {
            return Ok(());
        }
        let mut own = [const { None::<OwnedFd> }; OWN_PARAMETERS.len()];
        for (path, kept) in self.own.iter().zip(&mut own) {
            *kept = open(path).ok().map(|part| clone_tree(part.as_fd(), false)).transpose()?;
        }
        let all = clone_tree(place.as_fd(), false)?;
        attach(all.as_fd(), place.as_fd())?;
        let flags = MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_RDONLY;
        let flags = flags | MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
        mount(None::<&str>, self.path, None::<&str>, flags, None::<&str>)?;
        for (path, kept) in self.own.iter().zip(own) {
            let Some(tree) = kept else { continue };
            attach(tree.as_fd(), open(path)?.as_fd())?;
        }
        Ok(())
    }
}

fn open(path: &str) -> io::Result<OwnedFd> {
    File::options().read(true).custom_flags(libc::O_PATH).open(path).map(OwnedFd::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sysctl::is_private_to_a_node;

    #[test]
    fn there_is_room_for_what_is_a_nodes_own() {
        assert!(PARTS.iter().all(|part| part.own.len() <= OWN_PARAMETERS.len()));
    }

    #[test]
    fn the_parameters_of_a_node_are_those_that_its_lab_file_may_set() {
        // A lab file has no key for these two.
        let others = ["/proc/sys/kernel/hostname", "/proc/sys/kernel/ns_last_pid"];
        for path in OWN_PARAMETERS.iter().filter(|path| !others.contains(path)) {
            let name = path.trim_start_matches("/proc/sys/").replace('/', ".");
            assert!(is_private_to_a_node(&name) || is_private_to_a_node(&format!("{name}.x")), "{name}");
        }
    }
}

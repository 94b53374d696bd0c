//! Mounts of labs and nodes. All of them live in the mount namespace of the process that makes them.

use std::ffi::CStr;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;

use nix::mount::{MntFlags, MsFlags, mount, umount2};
use rustix::fs::CWD;
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags};
use rustix::mount::{OpenTreeFlags, fsconfig_create, fsmount, fsopen, move_mount, open_tree};

use crate::error::{Attempted, KernelError};

const NOTHING: Option<&str> = None;

/// Cuts this mount namespace off: what is mounted here stays here, while the machine's own later mounts and
/// unmounts still arrive, so that a long-lived lab keeps no disk busy.
pub(crate) fn detach_from_host() -> Result<(), KernelError> {
    mount(NOTHING, "/", NOTHING, MsFlags::MS_REC | MsFlags::MS_SLAVE, NOTHING)
        .attempted(|| "make the mounts of the lab private")
}

/// Mounts the `/proc` of this process's own PID namespace.
pub(crate) fn fresh_proc() -> Result<(), KernelError> {
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount(Some("proc"), "/proc", Some("proc"), flags, NOTHING).attempted(|| "mount a fresh /proc")
}

/// Mounts a `/sys` that shows this process's own network namespace.
pub(crate) fn fresh_sys() -> Result<(), KernelError> {
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount(Some("sysfs"), "/sys", Some("sysfs"), flags, NOTHING).attempted(|| "mount a fresh /sys")
}

/// Mounts the `/proc` of this process's own PID namespace in the place of what is mounted there, not above it: nothing comes
/// to light when it is unmounted. See [`in_place_of_all`].
pub(crate) fn only_proc() -> Result<(), KernelError> {
    in_place_of_all(c"proc", c"/proc").attempted(|| "mount a fresh /proc")
}

/// Mounts a `/sys` that shows this process's own network namespace, in the same way.
pub(crate) fn only_sys() -> Result<(), KernelError> {
    sys_in_place_of_all().attempted(|| "mount a fresh /sys")
}

/// The same, with nothing but system calls.
pub(crate) fn sys_in_place_of_all() -> io::Result<()> {
    in_place_of_all(c"sysfs", c"/sys")
}

/// Makes a file system, unmounts all that is mounted at `place`, and mounts it there. In this order, since the kernel gives an
/// ordinary user such a file system only as long as one of its kind is to be seen. What belongs to a user namespace above
/// cannot be unmounted, and stays below.
fn in_place_of_all(kind: &CStr, place: &CStr) -> io::Result<()> {
    let fresh = detached(kind)?;
    while umount2(place, MntFlags::MNT_DETACH).is_ok() {}
    Ok(move_mount(fresh, c"", CWD, place, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?)
}

/// A file system that is mounted nowhere.
pub(crate) fn detached(kind: &CStr) -> io::Result<OwnedFd> {
    let context = fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(&context)?;
    let attributes =
        MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    Ok(fsmount(context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)?)
}

/// Mounts a file system in memory. It has room for half of the machine's memory, which is the kernel's default.
pub(crate) fn memory(folder: &Path) -> Result<(), KernelError> {
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    mount(Some("tmpfs"), folder, Some("tmpfs"), flags, Some("mode=711"))
        .attempted(|| format!("mount a file system in memory at {}", folder.display()))
}

/// A copy of what is mounted where `place` is open, with all that is mounted below, which is mounted nowhere yet.
pub(crate) fn clone_tree(place: BorrowedFd<'_>, is_read_only: bool) -> io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE
        | OpenTreeFlags::AT_EMPTY_PATH;
    let tree = open_tree(place, c"", flags)?;
    if is_read_only {
        let wanted = libc::mount_attr { attr_set: libc::MOUNT_ATTR_RDONLY, attr_clr: 0, propagation: 0, userns_fd: 0 };
        let all = libc::AT_EMPTY_PATH | libc::AT_RECURSIVE;
        // SAFETY: the path is a string with its end, and the structure has the size that is told; neither is kept.
        let set = unsafe {
            libc::syscall(
                libc::SYS_mount_setattr,
                tree.as_raw_fd(),
                c"".as_ptr(),
                all,
                &raw const wanted,
                size_of_val(&wanted),
            )
        };
        if set == -1 {
            let error = io::Error::last_os_error();
            let old = "mount_setattr(2) is of Linux 5.12, and this kernel is older: what is to be read only cannot be shown here";
            return Err(if error.raw_os_error() == Some(libc::ENOSYS) { io::Error::other(old) } else { error });
        }
    }
    Ok(tree)
}

/// Mounts it over what is open as `place`, by whatever path that was found.
pub(crate) fn attach(tree: BorrowedFd<'_>, place: BorrowedFd<'_>) -> io::Result<()> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    Ok(move_mount(tree, c"", place, c"", flags)?)
}

/// Shows `file` at `place`, a file, too.
pub(crate) fn bind(file: &str, place: &Path) -> Result<(), KernelError> {
    mount(Some(file), place, NOTHING, MsFlags::MS_BIND, NOTHING)
        .attempted(|| format!("bind {file} to {}", place.display()))
}

/// Shows at `place` what was there before.
pub(crate) fn unbind(place: &Path) -> Result<(), KernelError> {
    umount2(place, MntFlags::MNT_DETACH).attempted(|| format!("unmount {}", place.display()))
}

/// The file in which nodes see the names of the lab.
pub const HOSTS: &str = "/etc/hosts";

/// Shows `file` in the place of `/etc/hosts`.
pub(crate) fn hosts(file: &Path) -> Result<(), KernelError> {
    mount(Some(file), HOSTS, NOTHING, MsFlags::MS_BIND, NOTHING)
        .attempted(|| format!("bind {} to {HOSTS}", file.display()))
        .map_err(|error| match Path::new(HOSTS).exists() {
            true => error,
            false => error.with_detail("this machine has no /etc/hosts; an empty one will do"),
        })
}

/// The file in which programs find the name servers to ask (resolv.conf(5)).
pub const RESOLVER: &str = "/etc/resolv.conf";

/// The folders in which name services of the machine are found.
pub(crate) const HIDDEN: [&str; 3] = ["/run/systemd/resolve", "/run/nscd", "/var/run/nscd"];

/// Hides the machine's name services, so that names are looked up in the lab's hosts file and, with a `resolver`, where this file
/// says, and nowhere else.
///
/// Caching daemons answer over Unix sockets, which network namespaces do not separate: they would answer from the
/// machine's own hosts file. And a resolver of the machine, asked from within a node, would show up as unexplained
/// packets on the described links. A lookup of an unknown name fails at once instead.
pub(crate) fn hide_name_services(resolver: Option<&Path>) -> Result<(), KernelError> {
    let place = fs::canonicalize(RESOLVER).ok();
    let mut is_said = false;
    for folder in HIDDEN {
        if Path::new(folder).is_dir() {
            let attempted = || format!("hide {folder}");
            let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
            mount(Some("tmpfs"), folder, Some("tmpfs"), flags, Some("size=4k,mode=755")).attempted(attempted)?;
            if let Some((file, place)) = resolver.zip(place.as_deref()).filter(|(_, place)| place.starts_with(folder)) {
                // The usual file may be a link to what is hidden here.
                is_said =
                    place.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::copy(file, place)).is_ok();
            }
            mount(NOTHING, folder, NOTHING, flags | MsFlags::MS_REMOUNT | MsFlags::MS_RDONLY, NOTHING)
                .attempted(attempted)?;
        }
    }
    match resolver.filter(|_| !is_said) {
        None if is_said || !Path::new(RESOLVER).exists() => Ok(()),
        None => mount(Some("/dev/null"), RESOLVER, NOTHING, MsFlags::MS_BIND, NOTHING)
            .attempted(|| format!("hide {RESOLVER}")),
        Some(file) => mount(Some(file), RESOLVER, NOTHING, MsFlags::MS_BIND, NOTHING)
            .attempted(|| format!("bind {} to {RESOLVER}", file.display()))
            .map_err(|error| match Path::new(RESOLVER).exists() {
                true => error,
                false => error.with_detail("this machine has no such file; an empty one will do"),
            }),
    }
}

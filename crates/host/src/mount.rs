//! Mounts of labs and nodes. All of them live in the mount namespace of the process that makes them.

use std::ffi::CStr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::Path;
use std::{io, ptr};

use nix::mount::{MntFlags, MsFlags, mount, umount2};

use crate::error::{Attempted, KernelError};

const NOTHING: Option<&str> = None;

// linux/mount.h; libc lacks them. The first has the same value for fsopen(2) and fsmount(2).
const CLOEXEC: libc::c_uint = 1;
const FSCONFIG_CMD_CREATE: libc::c_uint = 6;
const MOVE_MOUNT_F_EMPTY_PATH: libc::c_uint = 4;
const NOSUID_NODEV_NOEXEC: libc::c_uint = 2 | 4 | 8;

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
    in_place_of_all(c"sysfs", c"/sys").attempted(|| "mount a fresh /sys")
}

/// Makes a file system, unmounts all that is mounted at `place`, and mounts it there. In this order, since the kernel gives an
/// ordinary user such a file system only as long as one of its kind is to be seen. What belongs to a user namespace above
/// cannot be unmounted, and stays below.
fn in_place_of_all(kind: &CStr, place: &CStr) -> io::Result<()> {
    let fresh = detached(kind)?;
    while umount2(place, MntFlags::MNT_DETACH).is_ok() {}
    // SAFETY: the descriptor is open, and both paths end with a zero byte.
    let moved = unsafe {
        libc::syscall(
            libc::SYS_move_mount,
            fresh.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_FDCWD,
            place.as_ptr(),
            MOVE_MOUNT_F_EMPTY_PATH,
        )
    };
    if moved == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// A file system that is mounted nowhere.
fn detached(kind: &CStr) -> io::Result<OwnedFd> {
    // SAFETY: the name ends with a zero byte.
    let context = owned(unsafe { libc::syscall(libc::SYS_fsopen, kind.as_ptr(), CLOEXEC) })?;
    let nothing = ptr::null::<libc::c_char>();
    // SAFETY: the descriptor is open, and this command takes neither key nor value.
    let made =
        unsafe { libc::syscall(libc::SYS_fsconfig, context.as_raw_fd(), FSCONFIG_CMD_CREATE, nothing, nothing, 0) };
    if made != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is open, and the call takes no pointers.
    owned(unsafe { libc::syscall(libc::SYS_fsmount, context.as_raw_fd(), CLOEXEC, NOSUID_NODEV_NOEXEC) })
}

fn owned(answer: libc::c_long) -> io::Result<OwnedFd> {
    match libc::c_int::try_from(answer) {
        // SAFETY: the kernel has just made it, and nothing else knows it.
        Ok(fd) if fd >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(fd) }),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Mounts a file system in memory. It has room for half of the machine's memory, which is the kernel's default.
pub(crate) fn memory(folder: &Path) -> Result<(), KernelError> {
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    mount(Some("tmpfs"), folder, Some("tmpfs"), flags, Some("mode=711"))
        .attempted(|| format!("mount a file system in memory at {}", folder.display()))
}

/// Shows `file` in the place of `/etc/hosts`.
pub(crate) fn hosts(file: &Path) -> Result<(), KernelError> {
    mount(Some(file), "/etc/hosts", NOTHING, MsFlags::MS_BIND, NOTHING)
        .attempted(|| format!("bind {} to /etc/hosts", file.display()))
        .map_err(|error| match Path::new("/etc/hosts").exists() {
            true => error,
            false => error.with_detail("this machine has no /etc/hosts; an empty one will do"),
        })
}

/// Hides the machine's name services, so that names are looked up in the lab's hosts file and in nothing else.
///
/// Caching daemons answer over Unix sockets, which network namespaces do not separate: they would answer from the
/// machine's own hosts file. And a resolver of the machine, asked from within a node, would show up as unexplained
/// packets on the described links. A lookup of an unknown name fails at once instead.
pub(crate) fn hide_name_services() -> Result<(), KernelError> {
    for folder in ["/run/systemd/resolve", "/run/nscd", "/var/run/nscd"] {
        if Path::new(folder).is_dir() {
            let flags = MsFlags::MS_RDONLY | MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
            mount(Some("tmpfs"), folder, Some("tmpfs"), flags, Some("size=4k,mode=755"))
                .attempted(|| format!("hide {folder}"))?;
        }
    }
    if Path::new("/etc/resolv.conf").exists() {
        mount(Some("/dev/null"), "/etc/resolv.conf", NOTHING, MsFlags::MS_BIND, NOTHING)
            .attempted(|| "hide /etc/resolv.conf")?;
    }
    Ok(())
}

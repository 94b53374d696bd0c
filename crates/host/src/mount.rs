//! Mounts of labs and nodes. All of them live in the mount namespace of the process that makes them.

use std::path::Path;

use nix::mount::{MsFlags, mount};

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

//! What this machine allows, and what to change when it is too little.

use std::fs;

use nix::unistd::geteuid;

/// The settings of the machine and of this process that decide whether it can have namespaces.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Facts {
    /// Whether this process runs as root.
    pub root: bool,
    /// Whether it has the capabilities that namespaces take, so that it needs no user namespace.
    pub privileged: bool,
    /// `user.max_user_namespaces`.
    pub max_user_namespaces: Option<u64>,
    /// `kernel.unprivileged_userns_clone`, which only Debian's kernels have.
    pub unprivileged_userns_clone: Option<u64>,
    /// `kernel.apparmor_restrict_unprivileged_userns`, which only Ubuntu's kernels have.
    pub apparmor_restrict_unprivileged_userns: Option<u64>,
    /// Whether a seccomp filter watches this process, as in most containers.
    pub seccomp_filter: bool,
    /// Whether the root folder of this process is an ordinary folder, as after `chroot`: how mounts spread cannot be changed there.
    pub root_is_no_mount: bool,
}

/// Of linux/capability.h: CAP_NET_ADMIN, CAP_NET_RAW and CAP_SYS_ADMIN.
const NEEDED_CAPABILITIES: u64 = 1 << 12 | 1 << 13 | 1 << 21;

impl Facts {
    /// Looks them up.
    pub fn gather() -> Self {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let field = |name| status.lines().find_map(|line: &str| line.strip_prefix(name)).map(str::trim);
        let capabilities = field("CapEff:").and_then(|value| u64::from_str_radix(value, 16).ok()).unwrap_or(0);
        Self {
            root: geteuid().is_root(),
            privileged: capabilities & NEEDED_CAPABILITIES == NEEDED_CAPABILITIES,
            max_user_namespaces: setting("user/max_user_namespaces"),
            unprivileged_userns_clone: setting("kernel/unprivileged_userns_clone"),
            apparmor_restrict_unprivileged_userns: setting("kernel/apparmor_restrict_unprivileged_userns"),
            seccomp_filter: field("Seccomp:") == Some("2"),
            root_is_no_mount: fs::read_to_string("/proc/self/mountinfo").is_ok_and(|mounts| !has_root(&mounts)),
        }
    }

    /// Returns what to change so that a lab can be made, after the kernel answered with `errno`; `None` if that is not known.
    pub fn advice(&self, errno: i32) -> Option<String> {
        let advice = match errno {
            _ if !self.privileged && self.max_user_namespaces == Some(0) => {
                "user namespaces are turned off: `sudo sysctl -w user.max_user_namespaces=15000` turns them on; \
                 as root netloom needs none"
            }
            libc::EPERM if !self.privileged && self.unprivileged_userns_clone == Some(0) => {
                "user namespaces are reserved for root: `sudo sysctl -w kernel.unprivileged_userns_clone=1` allows \
                 them to all users; as root netloom needs none"
            }
            libc::EPERM | libc::EACCES
                if !self.privileged && self.apparmor_restrict_unprivileged_userns.is_some_and(|value| value > 0) =>
            {
                "AppArmor keeps user namespaces from programs without a profile: \
                 `sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0` allows them to all programs; as root \
                 netloom needs none"
            }
            libc::EPERM | libc::EACCES | libc::ENOSYS if self.seccomp_filter => {
                "this is a container that may not make namespaces of its own: start it with `--privileged`, or with \
                 `--cap-add SYS_ADMIN --cap-add NET_ADMIN --security-opt seccomp=unconfined --security-opt \
                 apparmor=unconfined --security-opt systempaths=unconfined`"
            }
            libc::EPERM | libc::EACCES if self.root && !self.privileged => {
                "root lacks capabilities here, as in a container: start it with `--privileged`, or with \
                 `--cap-add SYS_ADMIN --cap-add NET_ADMIN`"
            }
            libc::EINVAL if self.root_is_no_mount => {
                "the root folder is no mount here, as after `chroot`: make it one before, by `mount --bind FOLDER FOLDER`"
            }
            libc::EINVAL | libc::ENOSYS if !self.privileged => {
                "this kernel was built without some kind of namespace (CONFIG_USER_NS, CONFIG_NET_NS, CONFIG_PID_NS, \
                 CONFIG_UTS_NS, CONFIG_IPC_NS)"
            }
            libc::EINVAL | libc::ENOSYS => {
                "this kernel was built without some kind of namespace (CONFIG_NET_NS, CONFIG_PID_NS, CONFIG_UTS_NS, \
                 CONFIG_IPC_NS)"
            }
            libc::ENOSPC | libc::EUSERS => {
                "the machine's limit on namespaces is reached: see `sysctl -a | grep '^user.max_.*_namespaces'`"
            }
            libc::EPERM | libc::EACCES => {
                "the kernel keeps namespaces, or mounts in them, from this user: run netloom as root, or ask the \
                 machine's administrator"
            }
            _ => return None,
        };
        Some(advice.to_owned())
    }
}

/// Whether something is mounted at the root: the fifth field of a line of proc_pid_mountinfo(5) is where.
fn has_root(mounts: &str) -> bool {
    mounts.lines().any(|line| line.split(' ').nth(4) == Some("/"))
}

fn setting(path: &str) -> Option<u64> {
    fs::read_to_string(format!("/proc/sys/{path}")).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests;

//! Which machine this is.

use crate::tree::Tree;
use netloom_host::processors;
use netloom_judge::examination::Machine;

/// What tells this machine from others.
pub(crate) fn machine() -> Machine {
    let system = nix::sys::utsname::uname().ok();
    let told = |field: fn(&nix::sys::utsname::UtsName) -> &std::ffi::OsStr| {
        system.as_ref().map_or_else(String::new, |name| field(name).to_string_lossy().into_owned())
    };
    Machine {
        host_name: told(|name| name.nodename()),
        kernel: format!("{} {}", told(|name| name.sysname()), told(|name| name.release())),
        processor: Tree::machine().processor(),
        processors: processors::allowed().map_or(1, |allowed| allowed.len()),
    }
}

use nix::sys::resource::{Resource, getrlimit, setrlimit};

use super::LabOptions;
use crate::error::{Attempted, KernelError};
use crate::netlink::Netlink;
use crate::{mount, sysctl};

/// Makes the new namespaces of this process into the lab's.
pub(super) fn set_up(options: &LabOptions) -> Result<(), KernelError> {
    // Only the name that `ps` shows depends on it.
    let _ = nix::sys::prctl::set_name(c"netloom-lab");
    // Control-C on the user's terminal goes to the process that forked this one; it then ends the lab in order.
    nix::unistd::setsid().attempted(|| "start a session")?;
    nix::unistd::sethostname(&options.name).attempted(|| "set the host name of the lab")?;
    mount::detach_from_host()?;
    mount::fresh_proc()?;
    if let Some(hosts) = &options.hosts_file {
        mount::hosts(hosts)?;
    }
    mount::hide_name_services(options.resolver_file.as_deref())?;
    if let Some(folder) = &options.memory {
        mount::memory(folder)?;
    }
    quiet_network()?;
    raise_open_files()
}

/// Makes this process into that of a lab without namespaces.
pub(super) fn set_up_bare() -> Result<(), KernelError> {
    let _ = nix::sys::prctl::set_name(c"netloom-lab");
    nix::unistd::setsid().attempted(|| "start a session")?;
    raise_open_files()
}

/// A lab has a few descriptors per node and port. What its nodes run gets the usual limit again.
fn raise_open_files() -> Result<(), KernelError> {
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).attempted(|| "read the limit on open files")?;
    setrlimit(Resource::RLIMIT_NOFILE, hard, hard).attempted(|| "raise the limit on open files")
}

/// The lab's own network namespace only holds the far ends of the nodes' interfaces: it must send nothing of itself.
pub(crate) fn quiet_network() -> Result<(), KernelError> {
    for scope in ["all", "default"] {
        sysctl::set_if_present(&format!("net.ipv6.conf.{scope}.disable_ipv6"), "1")?;
    }
    sysctl::set("net.ipv4.ip_forward", "0")?;
    // The packet engine keeps the kernel's paths warm with echo requests to 127.0.0.1, as raw frames. The loopback
    // interface takes such frames only with these two.
    sysctl::set("net.ipv4.conf.lo.route_localnet", "1")?;
    sysctl::set("net.ipv4.conf.lo.accept_local", "1")?;
    let mut netlink = Netlink::open()?;
    let loopback = netlink.index_of("lo")?;
    netlink.set_up(loopback)
}

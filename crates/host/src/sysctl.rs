//! Kernel parameters that belong to a network, UTS or IPC namespace.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::sync::OnceLock;

use rustix::fs::{CWD, Mode, OFlags, openat};

use crate::error::{Attempted, KernelError};

/// Writes `value` to the parameter `key` ("net.ipv4.ip_forward") of this process's namespaces.
pub(crate) fn set(key: &str, value: &str) -> Result<(), KernelError> {
    let attempted = || format!("set {key} = {value}");
    let mut file = open(key, OFlags::WRONLY).attempted(attempted)?;
    // One write call: the kernel takes each one for a whole value.
    file.write_all(value.as_bytes()).attempted(attempted)
}

/// The same for a parameter that some kernels are built without.
pub(crate) fn set_if_present(key: &str, value: &str) -> Result<(), KernelError> {
    match set(key, value) {
        Err(error) if error.errno() == libc::ENOENT => Ok(()),
        other => other,
    }
}

/// The value of the parameter `key` in this process's namespaces.
pub(crate) fn get(key: &str) -> Result<String, KernelError> {
    let mut value = String::new();
    let read = open(key, OFlags::RDONLY).map_err(Into::into).and_then(|mut file| file.read_to_string(&mut value));
    read.attempted(|| format!("read {key}")).map(|_| value)
}

/// Where this process finds parameters, if not at [`USUAL`]: whatever the tree was opened for, it shows those of the network
/// namespace of who looks.
static TREE: OnceLock<OwnedFd> = OnceLock::new();

/// Where parameters are.
const USUAL: &str = "/proc/sys/";

/// Has this process, whose own files may show no parameters or protect them, take this folder for `/proc/sys`. Once.
pub(crate) fn use_tree(tree: OwnedFd) {
    // A second one would be dropped.
    let _ = TREE.set(tree);
}

fn open(key: &str, access: OFlags) -> rustix::io::Result<File> {
    let (path, access) = (path(key), access | OFlags::CLOEXEC);
    let opened = match TREE.get() {
        Some(tree) => openat(tree, path, access, Mode::empty()),
        None => openat(CWD, format!("{USUAL}{path}"), access, Mode::empty()),
    };
    opened.map(File::from)
}

/// Where a parameter is below that. A dot separates, and a slash stands for a dot within a name, as in sysctl(8): `net.ipv4.conf.eth0/5.forwarding`.
fn path(key: &str) -> String {
    key.chars()
        .map(|c| match c {
            '.' => '/',
            '/' => '.',
            other => other,
        })
        .collect()
}

/// Whether each node has this parameter for itself. Setting any other one, as root, would change the machine.
pub fn is_private_to_a_node(key: &str) -> bool {
    const IPC: [&str; 8] = ["msgmax", "msgmnb", "msgmni", "sem", "shmall", "shmmax", "shmmni", "shm_rmid_forced"];
    // A dot or a slash next to a separator would make the path climb or repeat.
    if key.split('.').any(|part| part.is_empty() || part.starts_with('/')) {
        return false;
    }
    match key.split_once('.') {
        Some(("net", _)) => true,
        Some(("fs", rest)) => rest.starts_with("mqueue."),
        Some(("kernel", rest)) => IPC.contains(&rest) || rest == "domainname",
        _ => false,
    }
}

/// The interface that a parameter belongs to: `eth0` for `net.ipv4.conf.eth0.forwarding`.
pub(crate) fn interface_of(key: &str) -> Option<&str> {
    let mut parts = key.split('.');
    let (net, family, table, name) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let per_interface = net == "net" && matches!(family, "ipv4" | "ipv6" | "mpls") && matches!(table, "conf" | "neigh");
    (per_interface && !matches!(name, "all" | "default")).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_and_slashes_trade_places() {
        assert_eq!(path("net.ipv4.ip_forward"), "net/ipv4/ip_forward");
        assert_eq!(path("net.ipv4.conf.eth0/5.forwarding"), "net/ipv4/conf/eth0.5/forwarding");
    }

    #[test]
    fn only_namespaced_parameters_are_private() {
        for key in ["net.ipv4.tcp_ecn", "net.ipv6.conf.all.forwarding", "kernel.shmmax", "fs.mqueue.msg_max"] {
            assert!(is_private_to_a_node(key), "{key}");
        }
        for key in ["vm.swappiness", "kernel.panic", "kernel.hostname", "net", "net..ipv4", "net.//.kernel", "", "fs.x"]
        {
            assert!(!is_private_to_a_node(key), "{key}");
        }
    }

    #[test]
    fn finds_the_interface_of_a_parameter() {
        assert_eq!(interface_of("net.ipv4.conf.eth0.forwarding"), Some("eth0"));
        assert_eq!(interface_of("net.ipv6.neigh.eth1.gc_stale_time"), Some("eth1"));
        assert_eq!(interface_of("net.ipv4.conf.all.forwarding"), None);
        assert_eq!(interface_of("net.ipv4.tcp_ecn"), None);
    }
}

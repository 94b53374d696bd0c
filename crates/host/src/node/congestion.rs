//! The congestion control of a node, also where the machine's kernel lets no namespace but its own choose it.
//!
//! The kernel takes `net.ipv4.tcp_congestion_control` in another network namespace only if it stands in the machine's
//! `net.ipv4.tcp_allowed_congestion_control`, and gives no namespace a list of its own: `cubic` lacks there where BBR is
//! the default (`tcp_set_default_congestion_control` of net/ipv4/tcp_cong.c). A route may name any that is available, for
//! all connections that begin or end on it. So the node's routes do.

use crate::error::KernelError;
use crate::sysctl;

const KEY: &str = "net.ipv4.tcp_congestion_control";

/// Writes the parameter `key`. Returns a note where it is this one, and routes have to say it.
pub(super) fn set(key: &str, value: &str) -> Result<Option<String>, KernelError> {
    match sysctl::set(key, value) {
        Err(error) if key == KEY && error.errno() == libc::EPERM => Ok(Some(format!(
            "{error}, since it is not in net.ipv4.tcp_allowed_congestion_control of this machine; the node's routes have \
             it instead, and those that programs add do not"
        ))),
        other => other.map(|()| None),
    }
}

/// What the routes have to say.
pub(super) fn of_routes(sysctls: &[(String, String)]) -> Option<&str> {
    let wanted = sysctls.iter().rev().find(|(key, _)| key == KEY).map(|(_, value)| value.trim())?;
    let has = sysctl::get(KEY).is_ok_and(|value| value.trim() == wanted);
    (!has).then_some(wanted)
}

//! The congestion control of a node, also where the machine's kernel lets no namespace but its own choose it.
//!
//! The kernel takes `net.ipv4.tcp_congestion_control` in another network namespace only if it stands in the machine's
//! `net.ipv4.tcp_allowed_congestion_control`, and gives no namespace a list of its own: `cubic` lacks there where BBR is
//! the default (`tcp_set_default_congestion_control` of net/ipv4/tcp_cong.c). A route may name any that is available, for
//! all connections that begin or end on it. So the node's routes do.

use super::fresh::Fresh;
use super::parameters::{CONGESTION as KEY, USUAL_CONGESTION};
use crate::error::KernelError;
use crate::sysctl;

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

/// Writes the congestion control of Linux where the lab file names none, since a new namespace has that of the machine. Returns a note
/// where there is none of that name. Where the kernel does not let namespaces choose it, routes say it.
pub(super) fn set_usual(sysctls: &[(String, String)], fresh: &Fresh) -> Result<Option<String>, KernelError> {
    let is_right =
        || fresh.has(KEY, USUAL_CONGESTION) || sysctl::get(KEY).is_ok_and(|value| value.trim() == USUAL_CONGESTION);
    if named(sysctls).is_some() || is_right() {
        return Ok(None);
    }
    match sysctl::set(KEY, USUAL_CONGESTION) {
        Err(error) if error.errno() == libc::EPERM => Ok(None),
        Err(error) if error.errno() == libc::ENOENT => {
            let own = sysctl::get(KEY)?;
            let (own, usual) = (own.trim(), USUAL_CONGESTION);
            Ok(Some(format!(
                "this machine's kernel has no {usual}: its TCP connections have {own}, unless `congestion` says another"
            )))
        }
        other => other.map(|()| None),
    }
}

/// What the routes have to say: what the lab file names, or, if `has_usual`, that of Linux.
pub(super) fn of_routes(sysctls: &[(String, String)], has_usual: bool) -> Option<&str> {
    let wanted = named(sysctls).or(has_usual.then_some(USUAL_CONGESTION))?;
    if sysctl::get(KEY).is_ok_and(|value| value.trim() == wanted) {
        return None;
    }
    let is_there = |all: String| all.split_whitespace().any(|one| one == wanted);
    let is_usual = named(sysctls).is_none();
    let is_missing = is_usual && !sysctl::get("net.ipv4.tcp_available_congestion_control").is_ok_and(is_there);
    (!is_missing).then_some(wanted)
}

fn named(sysctls: &[(String, String)]) -> Option<&str> {
    sysctls.iter().rev().find(|(key, _)| key.replace('/', ".") == KEY).map(|(_, value)| value.trim())
}

//! The congestion control of a node, also where the machine's kernel lets no namespace but its own choose it.
//!
//! The kernel takes `net.ipv4.tcp_congestion_control` in another network namespace only if it stands in the machine's
//! `net.ipv4.tcp_allowed_congestion_control`, and gives no namespace a list of its own: `cubic` lacks there where BBR is
//! the default (`tcp_set_default_congestion_control` of net/ipv4/tcp_cong.c). A route may name any that is available, for
//! all connections that begin or end on it. So the node's routes do.

use std::net::IpAddr;

use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::route::{RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteMetric, RouteType};

use super::fresh::Fresh;
use super::parameters::{CONGESTION as KEY, USUAL_CONGESTION};
use crate::error::KernelError;
use crate::netlink::{LOOPBACK, Netlink};
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

/// What is to be reported at the end of a run of a node whose routes have to say `wanted`: those that others have added do not.
pub(super) fn missing(wanted: &str) -> Result<Option<String>, KernelError> {
    let (mut count, mut first) = (0, None);
    Netlink::open()?.dump(RouteNetlinkMessage::GetRoute(RouteMessage::default()), "list the routes", |entry| {
        let RouteNetlinkMessage::NewRoute(route) = entry else { return };
        if let Some(destination) = silent(&route, wanted) {
            count += 1;
            first.get_or_insert(destination);
        }
    })?;
    let Some(first) = first else { return Ok(None) };
    let (own, allowed) = (sysctl::get(KEY)?, sysctl::get("net.ipv4.tcp_allowed_congestion_control")?);
    let routes = if count == 1 { "1 route".to_owned() } else { format!("{count} routes") };
    Ok(Some(format!(
        "TCP has {} and not {wanted} on {routes} that its programs added ({first}), since this machine's kernel lets nodes choose only \
         {}: add {wanted} to net.ipv4.tcp_allowed_congestion_control of this machine, or write `congctl {wanted}` behind `ip route add`",
        own.trim(),
        allowed.trim()
    )))
}

/// Where a route leads that packets of links take and that has not this congestion control.
fn silent(route: &RouteMessage, wanted: &str) -> Option<String> {
    let RouteHeader { table, kind, destination_prefix_length, .. } = route.header;
    let is_loopback = |attribute: &RouteAttribute| matches!(attribute, RouteAttribute::Oif(LOOPBACK));
    let says = |attribute: &RouteAttribute| match attribute {
        RouteAttribute::Metrics(all) => all
            .iter()
            .any(|metric| matches!(metric, RouteMetric::CcAlgo(name) if name.trim_end_matches('\0') == wanted)),
        _ => false,
    };
    let attributes = || route.attributes.iter();
    if table == libc::RT_TABLE_LOCAL
        || kind != RouteType::Unicast
        || attributes().any(is_loopback)
        || attributes().any(says)
    {
        return None;
    }
    let destination = attributes().find_map(|attribute| match attribute {
        RouteAttribute::Destination(RouteAddress::Inet(address)) => Some(IpAddr::from(*address)),
        RouteAttribute::Destination(RouteAddress::Inet6(address)) => Some(IpAddr::from(*address)),
        _ => None,
    });
    match destination {
        None => Some("default".into()),
        // Each interface has those.
        Some(IpAddr::V6(own)) if own.is_unicast_link_local() || own.is_multicast() => None,
        Some(address) => Some(format!("{address}/{destination_prefix_length}")),
    }
}

fn named(sysctls: &[(String, String)]) -> Option<&str> {
    sysctls.iter().rev().find(|(key, _)| key.replace('/', ".") == KEY).map(|(_, value)| value.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(attributes: Vec<RouteAttribute>) -> RouteMessage {
        let mut message = RouteMessage::default();
        message.header.kind = RouteType::Unicast;
        message.header.table = RouteHeader::RT_TABLE_MAIN;
        message.header.destination_prefix_length = 24;
        message.attributes = attributes;
        message
    }

    #[test]
    fn routes_that_name_no_congestion_control_are_found() {
        let to = |address: &str| RouteAttribute::Destination(RouteAddress::from(address.parse::<IpAddr>().unwrap()));
        let says = |name: &str| RouteAttribute::Metrics(vec![RouteMetric::CcAlgo(name.into())]);
        let over = |number: u32| RouteAttribute::Oif(number);
        let told = |attributes| silent(&route(attributes), "cubic");
        assert_eq!(told(vec![to("10.9.0.0"), over(2)]).as_deref(), Some("10.9.0.0/24"));
        assert_eq!(told(vec![over(2)]).as_deref(), Some("default"));
        assert_eq!(told(vec![to("10.9.0.0"), says("reno"), over(2)]).as_deref(), Some("10.9.0.0/24"));
        assert_eq!((told(vec![to("10.9.0.0"), says("cubic")]), told(vec![to("fe80::"), over(2)])), (None, None));
        assert_eq!((told(vec![to("10.9.0.0"), over(LOOPBACK)]), told(vec![to("ff00::"), over(2)])), (None, None));
        let mut own = route(vec![to("10.0.0.1")]);
        own.header.table = libc::RT_TABLE_LOCAL;
        assert_eq!(silent(&own, "cubic"), None);
    }
}

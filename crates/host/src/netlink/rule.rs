//! Policy routes: rules, and the tables that they lead to.

use std::net::IpAddr;

use ipnet::IpNet;
use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL};
use netlink_packet_route::route::{RouteAddress, RouteAttribute, RouteHeader, RouteProtocol, RouteScope};
use netlink_packet_route::rule::{RuleAction, RuleAttribute, RuleMessage};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};

use super::Request;
use super::address::{route, with_congestion};

/// Which packets look into which table.
#[derive(Clone, Copy)]
pub(crate) struct Rule<'a> {
    pub(crate) is_v6: bool,
    /// Lower ones come first.
    pub(crate) priority: u32,
    pub(crate) from: Option<IpNet>,
    pub(crate) to: Option<IpNet>,
    /// The interface by which they come.
    pub(crate) iif: Option<&'a str>,
    pub(crate) mark: Option<u32>,
    pub(crate) table: u32,
}

/// Adds a rule.
pub(crate) fn add_rule(rule: &Rule<'_>) -> Request {
    let mut message = RuleMessage::default();
    message.header.family = if rule.is_v6 { AddressFamily::Inet6 } else { AddressFamily::Inet };
    message.header.src_len = rule.from.map_or(0, |net| net.prefix_len());
    message.header.dst_len = rule.to.map_or(0, |net| net.prefix_len());
    message.header.table = RouteHeader::RT_TABLE_UNSPEC;
    message.header.action = RuleAction::ToTable;
    let mut attributes = vec![RuleAttribute::Priority(rule.priority), RuleAttribute::Table(rule.table)];
    attributes.extend(rule.from.map(|net| RuleAttribute::Source(net.addr())));
    attributes.extend(rule.to.map(|net| RuleAttribute::Destination(net.addr())));
    attributes.extend(rule.iif.map(|name| RuleAttribute::Iifname(name.to_owned())));
    attributes.extend(rule.mark.map(RuleAttribute::FwMark));
    message.attributes = attributes;
    Request {
        message: RouteNetlinkMessage::NewRule(message),
        flags: NLM_F_CREATE | NLM_F_EXCL,
        attempted: format!("add a rule with priority {} for table {}", rule.priority, rule.table),
    }
}

/// Adds a route to a table other than the main one: to a subnet of the interface `index`, or by a gateway that is reached over it.
pub(crate) fn add_table_route(
    table: u32,
    index: u32,
    interface: &str,
    destination: IpNet,
    via: Option<IpAddr>,
    congestion: Option<&str>,
) -> Request {
    let scope = if via.is_none() && destination.addr().is_ipv4() { RouteScope::Link } else { RouteScope::Universe };
    let mut message = route(destination, RouteProtocol::Static, scope);
    message.header.table = RouteHeader::RT_TABLE_UNSPEC;
    message.attributes.extend([RouteAttribute::Table(table), RouteAttribute::Oif(index)]);
    message.attributes.extend(via.map(|via| RouteAttribute::Gateway(RouteAddress::from(via))));
    message.attributes.extend(congestion.map(with_congestion));
    Request {
        message: RouteNetlinkMessage::NewRoute(message),
        flags: NLM_F_CREATE | NLM_F_EXCL,
        attempted: format!("add route {destination} on {interface} to table {table}"),
    }
}

//! Policy routes.

use ipnet::IpNet;
use std::net::IpAddr;

/// A policy route: the packets that look into a table of routes, before those of the node's other routes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RulePlan {
    /// Whether the rule is for IPv6.
    pub is_v6: bool,
    /// The source of the packets; none: any.
    pub from: Option<IpNet>,
    /// The destination of the packets; none: any.
    pub to: Option<IpNet>,
    /// The place of the interface by which the packets come in; none: any.
    pub iif: Option<usize>,
    /// The mark of the packets; none: any.
    pub mark: Option<u32>,
    /// The table's number.
    pub table: u32,
}

/// A route of the table of a policy route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableRoutePlan {
    /// The table's number.
    pub table: u32,
    /// The destination of the route.
    pub destination: IpNet,
    /// The address of the next node; none: it is a subnet of the interface.
    pub via: Option<IpAddr>,
    /// The place of the interface in the node's list.
    pub interface: usize,
}

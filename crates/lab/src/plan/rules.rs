//! Policy routes.

use ipnet::IpNet;
use std::net::IpAddr;

/// Which packets look into which table of routes, before those of the node's other routes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RulePlan {
    /// Whether it is of IPv6.
    pub is_v6: bool,
    /// Their source; none: any.
    pub from: Option<IpNet>,
    /// Their destination; none: any.
    pub to: Option<IpNet>,
    /// The place of the interface by which they come; none: any.
    pub iif: Option<usize>,
    /// Their mark; none: any.
    pub mark: Option<u32>,
    /// The table's number.
    pub table: u32,
}

/// A route of such a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableRoutePlan {
    /// The table's number.
    pub table: u32,
    /// Where it leads.
    pub destination: IpNet,
    /// The address of the next node; none: it is a subnet of the interface.
    pub via: Option<IpAddr>,
    /// The place of the interface in the node's list.
    pub interface: usize,
}

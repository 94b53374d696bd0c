//! What nodes have beside their routes: routing daemons, policy routes, trees of multicast.

use crate::words::words;
use ipnet::IpNet;
use std::net::IpAddr;

words! {
    /// A routing protocol that a router speaks, or what FRR has a daemon for besides.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Daemon {
        /// OSPF version 2, for IPv4.
        Ospf = "ospf",
        /// OSPF version 3, for IPv6.
        Ospf6 = "ospf6",
        /// RIP version 2, for IPv4.
        Rip = "rip",
        /// RIPng, for IPv6.
        Ripng = "ripng",
        /// BGP version 4, for both families.
        Bgp = "bgp",
        /// IS-IS, for both families.
        Isis = "isis",
        /// PIM in sparse mode, for multicast over IPv4.
        Pim = "pim",
        /// LDP, for the labels of MPLS.
        Ldp = "ldp",
        /// Bidirectional forwarding detection of the neighbours of all others.
        Bfd = "bfd",
        /// The static routes of the plan.
        Static = "static",
    }
}

impl Daemon {
    /// Whether it is an interior gateway protocol, which finds the ways to prefixes of a family within one domain.
    pub(crate) fn is_interior(self, is_v4: bool) -> bool {
        match self {
            Self::Ospf | Self::Rip => is_v4,
            Self::Ospf6 | Self::Ripng => !is_v4,
            Self::Isis => true,
            Self::Bgp | Self::Pim | Self::Ldp | Self::Bfd | Self::Static => false,
        }
    }
}

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

/// A node's part in the tree of a source and a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupPlan {
    /// The group.
    pub group: IpAddr,
    /// The node that sends to it.
    pub source: usize,
    /// The place of the interface at which packets come in; none at the source.
    pub from: Option<usize>,
    /// The places of the interfaces at which they go out; none at the end of a branch.
    pub to: Vec<usize>,
}

impl GroupPlan {
    /// The interface that the node's own programs use for the group.
    pub fn interface(&self) -> Option<usize> {
        self.from.or(self.to.first().copied())
    }
}

//! Routing daemons.

use crate::words::words;
use std::fmt;

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

impl fmt::Display for Daemon {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

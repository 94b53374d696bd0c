//! Routing daemons.

use std::fmt;

/// A routing protocol that a router speaks, or what FRR has a daemon for besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Daemon {
    /// OSPF version 2, for IPv4.
    Ospf,
    /// OSPF version 3, for IPv6.
    Ospf6,
    /// RIP version 2, for IPv4.
    Rip,
    /// RIPng, for IPv6.
    Ripng,
    /// BGP version 4, for both families.
    Bgp,
    /// IS-IS, for both families.
    Isis,
    /// PIM in sparse mode, for multicast over IPv4.
    Pim,
    /// LDP, for the labels of MPLS.
    Ldp,
    /// Bidirectional forwarding detection of the neighbours of all others.
    Bfd,
    /// The static routes of the plan.
    Static,
}

impl Daemon {
    /// All protocols.
    pub const ALL: [Self; 10] = [
        Self::Ospf,
        Self::Ospf6,
        Self::Rip,
        Self::Ripng,
        Self::Bgp,
        Self::Isis,
        Self::Pim,
        Self::Ldp,
        Self::Bfd,
        Self::Static,
    ];

    /// Returns the name in the lab file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ospf => "ospf",
            Self::Ospf6 => "ospf6",
            Self::Rip => "rip",
            Self::Ripng => "ripng",
            Self::Bgp => "bgp",
            Self::Isis => "isis",
            Self::Pim => "pim",
            Self::Ldp => "ldp",
            Self::Bfd => "bfd",
            Self::Static => "static",
        }
    }

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

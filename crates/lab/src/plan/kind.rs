//! What nodes are.

use crate::words::words;

words! {
    /// The kind of a node.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum NodeKind {
        /// Runs programs and forwards nothing.
        #[default]
        Host = "host",
        /// Runs programs and forwards packets of both families.
        Router = "router",
        /// Forwards packets of both families inside the packet engine, and runs nothing.
        Transit = "transit",
        /// Forwards frames by Ethernet addresses inside the packet engine, and has no addresses of its own.
        Switch = "switch",
        /// Repeats frames at all other ports inside the packet engine, and has no addresses of its own.
        Hub = "hub",
        /// Runs Open vSwitch, which forwards frames as its controller says; its ports have no addresses.
        OpenFlow = "openflow",
        /// The wire of an interface of this machine.
        External = "external",
        /// A router that is the way out into the network of this machine.
        Internet = "internet",
        /// A tunnel to a lab of another machine.
        Tunnel = "tunnel",
    } {
        /// The outside of the lab; no lab file says it.
        Outside = "outside",
    }
}

impl NodeKind {
    /// Returns the name of the kind in messages.
    pub fn title(self) -> &'static str {
        match self {
            Self::Transit => "transit router",
            Self::OpenFlow => "OpenFlow switch",
            Self::External => "external interface",
            Self::Internet => "way out",
            _ => self.name(),
        }
    }

    /// Returns the name of the kind in messages, with its article.
    pub fn titled(self) -> String {
        let article = if matches!(self, Self::OpenFlow | Self::External) { "an" } else { "a" };
        format!("{article} {}", self.title())
    }

    /// Whether it is a router, which passes packets on that are for others.
    pub fn forwards(self) -> bool {
        matches!(self, Self::Router | Self::Transit | Self::Internet)
    }

    /// Whether it has addresses. A device that has none joins its links to one segment; at an OpenFlow switch that is so
    /// for all but the links that lead to its controller.
    pub fn has_addresses(self) -> bool {
        !matches!(self, Self::Switch | Self::Hub | Self::OpenFlow | Self::External | Self::Tunnel | Self::Outside)
    }

    /// Whether it leads out of the lab, so that who is behind it is not known.
    pub fn leads_out(self) -> bool {
        matches!(self, Self::External | Self::Tunnel)
    }

    /// Whether it is a machine, on which programs run.
    pub fn runs_programs(self) -> bool {
        matches!(self, Self::Host | Self::Router | Self::OpenFlow | Self::Internet)
    }
}

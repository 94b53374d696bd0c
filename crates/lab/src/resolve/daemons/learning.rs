//! Who learns which routes from whom.
//!
//! A router takes a route of the plan from its daemons if the next router on the way tells it of the prefix; else it keeps the
//! static route, and tells its own neighbours of it.

use crate::plan::Daemon;
use crate::spec::Spec;
use ipnet::IpNet;

/// What a router with daemons learns and tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::resolve) struct Learned {
    /// The prefixes that its daemons bring.
    pub(in crate::resolve) prefixes: Vec<IpNet>,
    /// The prefixes that it announces by BGP.
    pub(in crate::resolve) announced: Vec<IpNet>,
    /// Which protocol's routes it passes on by which other, and whether those of IPv4.
    pub(in crate::resolve) exchanged: Vec<(Daemon, Daemon, bool)>,
    /// Whether it keeps static routes, of IPv4 and of IPv6.
    pub(in crate::resolve) keeps: [bool; 2],
}

/// What all nodes speak.
pub(in crate::resolve) struct Speakers(Vec<(Vec<Daemon>, Option<u32>)>);

impl Speakers {
    pub(in crate::resolve) fn of(spec: &Spec) -> Self {
        Self(spec.nodes.iter().map(|node| (node.routing.daemons.clone(), node.routing.number)).collect())
    }

    pub(in crate::resolve) fn speaks(&self, node: usize, daemon: Daemon) -> bool {
        self.0[node].0.contains(&daemon)
    }

    /// Whether it runs a protocol that brings routes.
    pub(in crate::resolve) fn is_dynamic(&self, node: usize) -> bool {
        let brings = |daemon: &Daemon| *daemon == Daemon::Bgp || daemon.is_interior(true) || daemon.is_interior(false);
        self.0[node].0.iter().any(brings)
    }

    /// The interior protocols of a family that it speaks.
    pub(in crate::resolve) fn interior(&self, node: usize, is_v4: bool) -> impl Iterator<Item = Daemon> + '_ {
        self.0[node].0.iter().copied().filter(move |daemon| daemon.is_interior(is_v4))
    }

    /// Whether both speak BGP and are of one autonomous system.
    pub(in crate::resolve) fn are_internal(&self, one: usize, other: usize) -> bool {
        let both = self.speaks(one, Daemon::Bgp) && self.speaks(other, Daemon::Bgp);
        both && self.0[one].1.is_some() && self.0[one].1 == self.0[other].1
    }

    /// Whether `next`, a neighbour of `node`, tells it of a prefix that these nodes have. Within an autonomous system, BGP
    /// tells of prefixes elsewhere: its own sessions need those inside.
    pub(in crate::resolve) fn teaches(&self, next: usize, node: usize, is_v4: bool, holders: &[usize]) -> bool {
        if self.interior(node, is_v4).any(|daemon| self.speaks(next, daemon)) {
            return true;
        }
        let both = self.speaks(node, Daemon::Bgp) && self.speaks(next, Daemon::Bgp);
        both && (!self.are_internal(node, next) || !holders.iter().any(|holder| self.are_internal(node, *holder)))
    }
}

//! Links that cannot lead from one machine to another, and why.

use crate::plan::{EndPlan, LinkPlan, NodeKind, Plan};
use netloom_units::Duration;
use std::fmt;

/// The reason why the ends of a link are on one machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bond {
    /// Its least delay is shorter than what a packet takes between machines.
    Short {
        /// The least delay of its faster direction.
        least: Duration,
        /// The least time of a packet between machines.
        needed: Duration,
    },
    /// The link is a medium that all its ends share.
    Shared,
    /// The link is joined in the kernel.
    InKernel,
    /// There is a hub at this end.
    Hub(String),
    /// This end leads out of the lab.
    LeadsOut(String),
    /// The link carries VLANs.
    Vlans,
    /// The link is a part of a spanning tree.
    Tree,
    /// One of its ends gets an address from a server.
    Leases,
    /// The link belongs to a tree of multicast.
    Multicast,
    /// The packet faults of one direction answer by the other.
    Answers,
    /// Both its directions are cut at the same instants.
    Flaps,
    /// The settings of this node follow from its neighbours.
    Settings {
        /// The node.
        node: String,
        /// The key of the node that says so.
        key: &'static str,
    },
}

impl fmt::Display for Bond {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short { least, needed } if needed.as_nanos() <= 1 => {
                write!(f, "its delay is {least}, and without one no machine can be ahead of the other")
            }
            Self::Short { least, needed } => {
                write!(f, "its least delay is {least}, and a packet takes {needed} between machines")
            }
            Self::Shared => f.write_str("it is a shared medium"),
            Self::InKernel => f.write_str("it is joined in the kernel"),
            Self::Hub(node) => write!(f, "`{node}` is a hub, which repeats at once"),
            Self::LeadsOut(node) => write!(f, "`{node}` leads out of the lab on this machine"),
            Self::Vlans => f.write_str("it carries VLANs"),
            Self::Tree => f.write_str("it is a part of a spanning tree"),
            Self::Leases => f.write_str("an address at it comes from a DHCP server"),
            Self::Multicast => f.write_str("a tree of multicast goes over it"),
            Self::Answers => f.write_str("packet faults of one direction answer by the other"),
            Self::Flaps => f.write_str("it flaps, both directions at the same instants"),
            Self::Settings { node, key } => write!(f, "`{key}` of `{node}` follows from its neighbours"),
        }
    }
}

/// Why a link cannot be cut, where packets take so long between machines; none if it can.
pub(super) fn bond(plan: &Plan, link: &LinkPlan, needed: Duration) -> Option<Bond> {
    let nodes = || link.ends.iter().map(|end| &plan.nodes[end.node]);
    let of_kind =
        |is_meant: fn(&NodeKind) -> bool| nodes().find(|node| is_meant(&node.kind)).map(|node| node.name.clone());
    if link.is_shared {
        return Some(Bond::Shared);
    }
    if link.bypass.is_joined() {
        return Some(Bond::InKernel);
    }
    if let Some(hub) = of_kind(|kind| *kind == NodeKind::Hub) {
        return Some(Bond::Hub(hub));
    }
    if let Some(way) = of_kind(|kind| kind.leads_out() || *kind == NodeKind::Outside) {
        return Some(Bond::LeadsOut(way));
    }
    let least = least_delay(link);
    if least < needed {
        return Some(Bond::Short { least, needed });
    }
    let bound = [
        (link.ends.iter().any(|end| has_vlans(plan, end)), Bond::Vlans),
        (nodes().any(|node| node.switch.as_ref().is_some_and(|switch| switch.tree.is_some())), Bond::Tree),
        (nodes().any(|node| !node.groups.is_empty()), Bond::Multicast),
        (link.ends.iter().any(|end| is_leased(plan, end)), Bond::Leases),
        (link.pipes.iter().any(|pipe| pipe.faults.is_some_and(|own| own.answers || own.tracks)), Bond::Answers),
        (link.pipes.iter().any(|pipe| pipe.state.flap.is_some()), Bond::Flaps),
    ];
    let settings = || nodes().find_map(|node| Some(Bond::Settings { node: node.name.clone(), key: node.bound_by? }));
    bound.into_iter().find(|(is_so, _)| *is_so).map(|(_, bond)| bond).or_else(settings)
}

/// The least delay of the faster direction of a link.
pub(super) fn least_delay(link: &LinkPlan) -> Duration {
    let of_pipes = link.pipes.iter();
    let further = link.treatments.iter().flatten().map(|treatment| &treatment.config);
    of_pipes.chain(further).map(netloom_link::PipeConfig::least_delay).min().unwrap_or(Duration::ZERO)
}

fn has_vlans(plan: &Plan, end: &EndPlan) -> bool {
    let switch = plan.nodes[end.node].switch.as_ref();
    switch.is_some_and(|switch| !switch.vlans.is_empty())
}

fn is_leased(plan: &Plan, end: &EndPlan) -> bool {
    let own = &plan.nodes[end.node].interfaces[end.interface];
    !own.leased.is_empty() || own.lender.is_some()
}

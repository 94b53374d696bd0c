//! Which pipes a lab has, how they are numbered, and which links are joined in the kernel instead.

use super::{Direction, NodeKind, NodePlan, Plan};
use netloom_link::{Filter, PipeConfig};
use std::fmt;

/// A further pipe of a direction, for some of the traffic.
#[derive(Clone, Debug, PartialEq)]
pub struct Treatment {
    /// Its name, unique in its direction.
    pub name: String,
    /// The filter on the packets that enter the pipe, of those that none before it takes.
    pub filter: Filter,
    /// Its models.
    pub config: PipeConfig,
}

/// A pipe's place in the lab.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PipePlan<'a> {
    /// The link's place in the plan.
    pub link: usize,
    /// The link's name.
    pub link_name: &'a str,
    /// The direction that it belongs to.
    pub direction: Direction,
    /// Its name and filter; none: the direction's own pipe, which takes what no filter matches.
    pub treatment: Option<&'a Treatment>,
    /// Its models.
    pub config: &'a PipeConfig,
}

/// `backbone.forward`, or `backbone.forward.voip`: what its random generators are derived from.
impl fmt::Display for PipePlan<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.link_name, self.direction)?;
        self.treatment.map_or(Ok(()), |treatment| write!(f, ".{}", treatment.name))
    }
}

impl Plan {
    /// All pipes in the order of their numbers: those that every direction has of its own, link by link, forward first; then the
    /// further ones in the same order. Of one direction, they come in the order in which their filters are
    /// asked.
    pub fn pipes(&self) -> impl Iterator<Item = PipePlan<'_>> {
        let links = || self.links.iter().enumerate();
        let own = links().flat_map(|(place, link)| {
            link.directions().iter().map(move |direction| PipePlan {
                link: place,
                link_name: &link.name,
                direction: *direction,
                treatment: None,
                config: &link.pipes[direction.index()],
            })
        });
        let further = links().flat_map(|(place, link)| {
            link.directions().iter().flat_map(move |direction| {
                link.treatments[direction.index()].iter().map(move |treatment| PipePlan {
                    link: place,
                    link_name: &link.name,
                    direction: *direction,
                    treatment: Some(treatment),
                    config: &treatment.config,
                })
            })
        });
        own.chain(further)
    }
}

/// Whether a link is joined in the kernel: by one veth pair whose ends are in its two nodes, past the packet engine. A switch there is a
/// bridge of the kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Bypass {
    /// The lab file does not ask for it.
    #[default]
    Off,
    /// The link is joined. Its pipes exist and stay empty: nothing of it is measured, changed or captured.
    Joined,
    /// The link was to be joined if possible, and it is not possible: why, in words that go on after "it is not, because".
    Hindered(String),
}

impl Bypass {
    /// Whether the link is joined in the kernel.
    pub fn is_joined(&self) -> bool {
        *self == Self::Joined
    }

    /// Returns why the link is not joined, though the lab file would have it.
    pub fn hindrance(&self) -> Option<&str> {
        match self {
            Self::Hindered(why) => Some(why),
            Self::Off | Self::Joined => None,
        }
    }
}

impl Plan {
    /// Whether a node is a switch that is a bridge of the kernel. All its links are joined there then, and otherwise none is.
    pub fn is_bridge(&self, node: &NodePlan) -> bool {
        let mut links = node.interfaces.iter().map(|port| &self.links[port.end.link()]);
        node.kind == NodeKind::Switch && links.next().is_some_and(|link| link.bypass.is_joined())
    }
}

//! Which pipes a lab has, and how they are numbered.

use super::{Direction, Plan};
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

//! The places of a fabric: its ports, its pipes, and what leaves them.

use alloc::{string::String, vec::Vec};
use netloom_link::{Departure, Filter, PipeConfig};
use netloom_units::Duration;

/// Where a node's interface meets the fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortId(pub u32);

/// One direction of a link, or a shared medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PipeId(pub u32);

/// A pipe's place in the fabric.
#[derive(Clone, Debug)]
pub struct PipeSpec {
    /// The unique name of the pipe, from which, with the fabric's seed, its random generators are derived.
    pub name: String,
    /// The models of the pipe.
    pub config: PipeConfig,
    /// The coalescing window: neighbouring segments that are due within this span leave as one train; zero turns that off.
    pub coalesce: Duration,
    /// The port whose packets enter the pipe.
    pub from: PortId,
    /// The filter of the packets that enter the pipe: all that no pipe before this one takes, and that this matches. None: what
    /// no filter matches; of the pipes that share `from`, exactly one has none.
    pub filter: Option<Filter>,
    /// The port at which the pipe's packets leave the fabric.
    pub to: PortId,
    /// All ports of a shared medium, if the pipe is one, `from` and `to` among them: what enters by one of them leaves by all
    /// others. Empty for the direction of a link.
    pub medium: Vec<PortId>,
}

impl PipeSpec {
    /// Returns the ports by which packets enter the pipe.
    pub fn entrances(&self) -> &[PortId] {
        if self.medium.is_empty() { core::slice::from_ref(&self.from) } else { &self.medium }
    }

    /// Returns the ports by which packets leave the pipe.
    pub fn exits(&self) -> &[PortId] {
        if self.medium.is_empty() { core::slice::from_ref(&self.to) } else { &self.medium }
    }

    /// The highest number of a port that it has.
    pub(crate) fn last_port(&self) -> PortId {
        let ends = [&self.from, &self.to].into_iter().chain(&self.medium);
        ends.copied().max().unwrap_or(self.from)
    }
}

/// A packet that leaves the fabric.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// The pipe it comes from.
    pub pipe: PipeId,
    /// Where it goes.
    pub port: PortId,
    /// The packet, and when it is due.
    pub departure: Departure,
}

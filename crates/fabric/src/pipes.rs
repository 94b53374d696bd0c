//! The places of a fabric: its ports, its pipes, and what leaves them.

use alloc::string::String;
use netloom_link::{Departure, Filter, PipeConfig};
use netloom_units::Duration;

/// Where a node's interface meets the fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortId(pub u32);

/// One direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PipeId(pub u32);

/// A pipe's place in the fabric.
#[derive(Clone, Debug)]
pub struct PipeSpec {
    /// What the pipe's random generators are derived from, with the fabric's seed; unique.
    pub name: String,
    /// Its models.
    pub config: PipeConfig,
    /// Neighbouring segments that are due within this span leave as one train; zero turns that off.
    pub coalesce: Duration,
    /// Whose packets enter it.
    pub from: PortId,
    /// Which of them do: all that no pipe before this one takes, and that this matches. None: what no filter matches;
    /// of the pipes that share `from`, exactly one has none.
    pub filter: Option<Filter>,
    /// Where its packets leave the fabric.
    pub to: PortId,
}

/// A packet that leaves the fabric.
#[derive(Debug)]
pub struct Delivery {
    /// The pipe it comes from.
    pub pipe: PipeId,
    /// Where it goes.
    pub port: PortId,
    /// The packet, and when it is due.
    pub departure: Departure,
}

//! Partitions of a node that a command names when it is time.

use netloom_link::PartitionKind;
use netloom_units::Duration;

/// A partition of the node that the output of a command names from others.
#[derive(Clone, Debug, PartialEq)]
pub struct LeaderPartition {
    /// The nodes from which the named one is parted, by their places in the plan; it may be one of them.
    pub of: Vec<usize>,
    /// The links at which packets may be judged, in order.
    pub links: Vec<usize>,
    /// The length of the partition; none: until it is healed.
    pub duration: Option<Duration>,
    /// Whether nodes that are not of these are each parted from all others, too.
    pub(crate) isolates_others: bool,
    /// Whether only what others send to the named node is meant, and not only what it sends; none: both are.
    pub(crate) only_to: Option<bool>,
    pub(crate) kind: PartitionKind,
}

//! What is captured.

use super::Direction;
use netloom_link::Filter;
use netloom_units::Bytes;

/// Packets at both ends of a link that are written to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturePlan {
    /// The link's place in the plan.
    pub link: usize,
    /// Only packets that go this way; none: both.
    pub direction: Option<Direction>,
    /// So much of each packet is kept, from the Ethernet header on; none: all.
    pub snaplen: Option<Bytes>,
    /// Only these packets; none: all.
    pub filter: Option<Filter>,
    /// The file's name in the folder `captures` of the results.
    pub file: String,
}

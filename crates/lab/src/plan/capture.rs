//! What is captured.

use super::Direction;
use netloom_link::Filter;
use netloom_units::Bytes;

/// Packets of a link that are written to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturePlan {
    /// The link's place in the plan.
    pub link: usize,
    /// Only packets that go this way; none: both.
    pub direction: Option<Direction>,
    /// Only where packets pass this point; none: where they enter and where they leave.
    pub at: Option<CapturePoint>,
    /// So much of each packet is kept, from the Ethernet header on; none: all.
    pub snaplen: Option<Bytes>,
    /// Only these packets; none: all.
    pub filter: Option<Filter>,
    /// The file's name in the folder `captures` of the results.
    pub file: String,
}

/// Where packets of a link are captured, if not at both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapturePoint {
    /// Each where it enters the link.
    Sent,
    /// Each where it leaves the link.
    Delivered,
    /// At this end of the link, in both directions.
    End(usize),
}

impl CapturePoint {
    /// What `at` means for a link between these nodes. The words come before a node of that name.
    ///
    /// # Errors
    /// If it means nothing; the message says what would be right.
    pub fn of(at: &str, [first, second]: [&str; 2]) -> Result<Self, String> {
        match at {
            "sent" => Ok(Self::Sent),
            "delivered" => Ok(Self::Delivered),
            _ if at == first => Ok(Self::End(0)),
            _ if at == second => Ok(Self::End(1)),
            _ => Err(format!("`{at}` is not a point of this link: write sent, delivered, {first} or {second}")),
        }
    }

    /// As a lab file has it.
    pub fn name(self, ends: [&str; 2]) -> &str {
        match self {
            Self::Sent => "sent",
            Self::Delivered => "delivered",
            Self::End(end) => ends[end],
        }
    }
}

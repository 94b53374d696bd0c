//! Causes of drops.

use core::fmt;

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// The loss model took it.
    Loss,
    /// The queue was full.
    Full,
    /// The queue's discipline took it though there was room.
    Early,
    /// The link was down.
    Down,
    /// Its nodes were parted.
    Partition,
    /// A fault of the timeline took it.
    Fault,
    /// The air lost it: after its last retry, or to everybody in a collision.
    Air,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Loss => "loss",
            Self::Full => "queue",
            Self::Early => "early drop",
            Self::Down => "down",
            Self::Partition => "partition",
            Self::Fault => "fault",
            Self::Air => "air",
        })
    }
}

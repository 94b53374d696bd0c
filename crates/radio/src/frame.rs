//! What stations send to one another, and what becomes of it.

use crate::category::AccessCategory;
use core::fmt;
use netloom_units::{Bytes, Instant};

/// The number of a station on its medium; access points are stations, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StationId(pub u32);

/// Who is to receive a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Destination {
    /// One station, which acknowledges the frame.
    Station(StationId),
    /// All others: broadcast and multicast, at the lowest basic rate and without acknowledgement.
    Everybody,
}

/// A frame that a station sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame<P> {
    /// Who is to receive the frame.
    pub to: Destination,
    /// The size of the payload: what follows the Ethernet header. The medium adds its own headers.
    pub size: Bytes,
    /// The category of the frame; without QoS all frames have one queue.
    pub category: AccessCategory,
    /// The packet itself, or whatever stands for it.
    pub payload: P,
}

/// The end of a frame's way through the medium.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome<P> {
    /// When the last bit arrived, or when the frame was dropped.
    pub at: Instant,
    /// The sender.
    pub from: StationId,
    /// The frame.
    pub frame: Frame<P>,
    /// Why the frame was dropped; none if its destination has received it.
    pub dropped: Option<Cause>,
}

/// Why a frame was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// The sender's queue was full.
    Full,
    /// Nobody acknowledged it, as often as it was sent.
    Retries,
    /// The frame collided, and frames to everybody are not repeated.
    Collision,
    /// It waited at a station that went to another access point, or at an access point for that station.
    Left,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Full => "queue",
            Self::Retries => "retries",
            Self::Collision => "collision",
            Self::Left => "left",
        })
    }
}

//! What happens to packets inside pipes, noted down one by one.

use crate::{Cause, Departure};
use netloom_packet::{Flow, Packet};
use netloom_units::Instant;

/// Something that happens to a packet, or to segments of a train, in a pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note {
    /// The pipe, by the number that [`DropLog::of`] was told.
    ///
    /// [`DropLog::of`]: crate::DropLog::of
    pub pipe: u32,
    /// When.
    pub at: Instant,
    /// Which packet.
    pub whose: Segments,
    /// What happens.
    pub what: Event,
}

/// Segments of a frame that is inside: what tells one packet in a pipe from others. A copy of a packet has the same as its original.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segments {
    /// A number that no two frames have at one time.
    pub frame: u64,
    /// The first of them, from zero.
    pub first: u16,
    /// How many.
    pub count: u16,
}

/// What is noted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// It has come in, and the impairments have let it through.
    Entered,
    /// It was marked as having experienced congestion.
    Marked,
    /// It has been sent to its end, and travels.
    Sent {
        /// When its transmission began. If the limit of the rate went away meanwhile, when that was.
        start: Instant,
        /// When it is due at the other end.
        due: Instant,
        /// What it is.
        content: Content,
    },
    /// It leaves the pipe, as it was due.
    Left,
    /// It was dropped.
    Dropped {
        /// Why.
        cause: Cause,
        /// What it is.
        content: Content,
    },
}

/// What a packet's headers say, and its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Content {
    /// From the IP header on; of all segments.
    pub bytes: u32,
    /// Whose it is; none if it is not an IP packet.
    pub flow: Option<Flow>,
    /// The first sequence number, if it is one of TCP.
    pub sequence: Option<u32>,
}

impl Segments {
    fn of(packet: &Packet) -> Self {
        let (frame, first) = packet.place();
        Self { frame, first, count: u16::try_from(packet.segments()).expect("a frame counts them so") }
    }
}

impl Content {
    fn of(packet: &Packet) -> Self {
        Self {
            bytes: u32::try_from(packet.size().get()).expect("packets are shorter than 4 MiB"),
            flow: packet.flow(),
            sequence: packet.sequence(),
        }
    }
}

impl Event {
    pub(crate) fn sent(departure: &Departure, start: Instant, due: Instant) -> Self {
        Self::Sent { start, due, content: Content::of(&departure.packet) }
    }

    pub(crate) fn dropped(packet: &Packet, cause: Cause) -> Self {
        Self::Dropped { cause, content: Content::of(packet) }
    }

    /// The note of that.
    pub(crate) fn noted(self, pipe: u32, at: Instant, packet: &Packet) -> Note {
        Note { pipe, at, whose: Segments::of(packet), what: self }
    }
}

//! What happens to packets inside pipes, noted down one by one.

use crate::Cause;
use netloom_packet::{Flow, Packet};
use netloom_units::{Bytes, Instant};

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
    /// Counting begins in this pipe, and with it the journal; it is no packet's, and its segments are none.
    Began,
    /// It has come in, and the impairments have let it through.
    Entered {
        /// What it is.
        content: Content,
    },
    /// It was marked as having experienced congestion.
    Marked,
    /// It has been sent to its end, and travels.
    Sent {
        /// When its transmission began. If the limit of the rate went away meanwhile, when that was.
        start: Instant,
        /// When it is due at the other end.
        due: Instant,
    },
    /// It leaves the pipe: when it is due; segments that leave together, when the last of them is.
    Left,
    /// It was dropped.
    Dropped {
        /// Why.
        cause: Cause,
        /// What it is.
        content: Content,
    },
}

/// What became of a packet, or of segments of a train, that does not show at the pipe's end alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fate {
    /// The pipe, as of a [`Note`].
    pub pipe: u32,
    /// When.
    pub at: Instant,
    /// Which packet.
    pub whose: Segments,
    /// What.
    pub outcome: Outcome,
}

/// See [`Fate`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was marked as having experienced congestion.
    Marked,
    /// It was dropped.
    Dropped(Cause),
}

/// What a packet's headers say, and its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Content {
    /// From the IP header on; of all segments.
    pub bytes: u32,
    /// The same of the first segment. All but the last are of one size.
    pub segment_bytes: u32,
    /// How many bytes of payload each segment has but the last; zero of a packet that is no train.
    pub segment_payload: u32,
    /// Whose it is; none if it is not an IP packet.
    pub flow: Option<Flow>,
    /// The first sequence number, if it is one of TCP.
    pub sequence: Option<u32>,
}

impl Segments {
    pub(crate) fn of(packet: &Packet) -> Self {
        let (frame, first) = packet.place();
        Self { frame, first, count: u16::try_from(packet.segments()).expect("a frame counts them so") }
    }
}

impl Content {
    fn of(packet: &Packet) -> Self {
        let short = |size: Bytes| u32::try_from(size.get()).expect("packets are shorter than 4 MiB");
        Self {
            bytes: short(packet.size()),
            segment_bytes: short(packet.segment_size(0)),
            segment_payload: u32::from(packet.segment_payload()),
            flow: packet.flow(),
            sequence: packet.sequence(),
        }
    }
}

impl Event {
    pub(crate) fn entered(packet: &Packet) -> Self {
        Self::Entered { content: Content::of(packet) }
    }

    pub(crate) fn dropped(packet: &Packet, cause: Cause) -> Self {
        Self::Dropped { cause, content: Content::of(packet) }
    }

    /// The note of that.
    pub(crate) fn noted(self, pipe: u32, at: Instant, packet: &Packet) -> Note {
        Note { pipe, at, whose: Segments::of(packet), what: self }
    }
}

//! What happens to packets inside pipes, noted down one by one.

use crate::Cause;
use netloom_packet::{Flow, Packet};
use netloom_units::{Bytes, Instant};

/// Something that happens to a packet, or to segments of a train, in a pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note {
    /// The number of the pipe, as given to [`DropLog::of`].
    ///
    /// [`DropLog::of`]: crate::DropLog::of
    pub pipe: u32,
    /// When the event happens.
    pub at: Instant,
    /// The packet, or the segments of a train, to which the event happens.
    pub whose: Segments,
    /// The event.
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

/// An event in a pipe that a [`Note`] records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Counting begins in this pipe, and with it the journal; it is no packet's, and its segments are none.
    Began,
    /// The packet has come in, and the impairments have let it through.
    Entered {
        /// The packet's size and headers.
        content: Content,
    },
    /// The packet was marked as having experienced congestion.
    Marked,
    /// The packet has been sent to its end, and travels.
    Sent {
        /// When the transmission of the packet began. If the limit of the rate went away meanwhile, when that was.
        start: Instant,
        /// When the packet is due at the other end.
        due: Instant,
    },
    /// The packet was on the air of a radio medium, and may be so again. The note comes when that is looked at, not before its end.
    Tried {
        /// The attempt.
        attempt: Attempt,
        /// The packet's size and headers.
        content: Content,
    },
    /// The packet leaves the pipe: when it is due; segments that leave together, when the last of them is.
    Left,
    /// The packet was dropped.
    Dropped {
        /// Why the packet was dropped.
        cause: Cause,
        /// The packet's size and headers.
        content: Content,
    },
}

/// An attempt to send a packet over the air of a radio medium, which is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// When the PPDU with the packet began, behind RTS and CTS.
    pub start: Instant,
    /// When the PPDU ended.
    pub end: Instant,
    /// The rate of the PPDU in thousands of bits per second, cut.
    pub kilobits_per_second: u32,
    /// The number of the attempt, from 1 on. What an access point sends on begins anew.
    pub number: u32,
    /// Whether the destination decoded the packet; of a packet to everybody, whether anybody did.
    pub is_decoded: bool,
    /// The place of the sender among the stations.
    pub from: u16,
    /// The place of the destination among the stations; none: everybody.
    pub to: Option<u16>,
}

/// A drop or a mark of a packet, or of segments of a train, which does not show at the pipe's end alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fate {
    /// The number of the pipe, as in a [`Note`].
    pub pipe: u32,
    /// When the packet was dropped or marked.
    pub at: Instant,
    /// The packet, or the segments of a train, that the pipe dropped or marked.
    pub whose: Segments,
    /// Whether the packet was dropped, and why, or marked.
    pub outcome: Outcome,
}

/// The outcome of a [`Fate`]: a mark or a drop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The packet was marked as having experienced congestion.
    Marked,
    /// The packet was dropped.
    Dropped(Cause),
}

/// The size of a packet, and what its headers say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Content {
    /// The size of all segments together, in bytes from the IP header on.
    pub bytes: u32,
    /// The size of the first segment, in bytes from the IP header on. All segments but the last are of one size.
    pub segment_bytes: u32,
    /// The payload of each segment but the last, in bytes; zero if its frame is a single packet.
    pub segment_payload: u32,
    /// The flow of the packet; none if it is not an IP packet.
    pub flow: Option<Flow>,
    /// The sequence number of the packet's first byte, if it is a segment of TCP and no fragment of one.
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

    pub(crate) fn tried(packet: &Packet, attempt: Attempt) -> Self {
        Self::Tried { attempt, content: Content::of(packet) }
    }

    pub(crate) fn dropped(packet: &Packet, cause: Cause) -> Self {
        Self::Dropped { cause, content: Content::of(packet) }
    }

    /// The note of that.
    pub(crate) fn noted(self, pipe: u32, at: Instant, packet: &Packet) -> Note {
        Note { pipe, at, whose: Segments::of(packet), what: self }
    }
}

//! What leaves a pipe.

use netloom_packet::Packet;
use netloom_units::{Duration, Instant};

/// A packet that leaves the pipe.
#[derive(Clone, Debug)]
pub struct Departure {
    /// The packet that leaves; it has several segments if they were due within the port's coalescing window.
    pub packet: Packet,
    /// When the last segment of the packet is due at the other end.
    pub due: Instant,
    /// When the first segment of the packet was due; earlier than `due` only if segments were coalesced.
    pub first_due: Instant,
    /// The propagation delay that the first segment was given.
    pub delay: Duration,
    /// How long those of its segments were on the transmitter that followed the one before them without a gap; that one was
    /// sent, too, and is no cross traffic. What happens behind the transmitter is not in it.
    pub busy: Duration,
}

impl Departure {
    pub(crate) fn join(&mut self, next: &Self) {
        self.packet.append(&next.packet);
        self.due = next.due;
        self.busy = self.busy + next.busy;
    }
}

//! The delay line: what has been sent and is still on its way. It is never full.

use alloc::collections::VecDeque;
use netloom_packet::Packet;
use netloom_units::{Duration, Instant};

/// A packet that leaves the pipe.
#[derive(Debug)]
pub struct Departure {
    /// What leaves; several segments if they were due within the port's coalescing window.
    pub packet: Packet,
    /// When its last segment is due at the other end.
    pub due: Instant,
    /// When its first segment was due; earlier than `due` only if segments were coalesced.
    pub first_due: Instant,
    /// The propagation delay that the first segment was given.
    pub delay: Duration,
    /// How long its segments were on the transmitter in all; zero without a rate limit.
    pub serialization: Duration,
    /// Whether its first segment followed the segment before it without a gap: the transmitter was busy all the time
    /// in between, and the gap between both shows the achieved rate.
    pub back_to_back: bool,
}

impl Departure {
    fn join(&mut self, next: &Self) {
        self.packet.append(&next.packet);
        self.due = next.due;
        self.serialization = self.serialization + next.serialization;
    }
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Line {
    travelling: VecDeque<Departure>,
    last_due: Instant,
}

impl Line {
    /// Puts a packet on the way. Order is kept: after a delay was shortened, nothing overtakes what was sent before.
    pub(crate) fn push(&mut self, mut departure: Departure) {
        departure.due = departure.due.max(self.last_due);
        departure.first_due = departure.first_due.max(self.last_due);
        self.last_due = departure.due;
        self.travelling.push_back(departure);
    }

    /// When a packet that would be due at `due` will be due behind what is on the way.
    pub(crate) fn due_behind(&self, due: Instant) -> Instant {
        due.max(self.last_due)
    }

    /// The instant at which the head can leave, and how many entries leave with it as one train.
    ///
    /// Neighbouring segments leave together if the last is due within `coalesce` of the first, as the interrupt
    /// moderation of a receiving network card would hand them over. `sending`: what the transmitter will put on the
    /// way next, and when that will be due.
    pub(crate) fn head(&self, coalesce: Duration, sending: Option<(&Packet, Instant)>) -> Option<(Instant, usize)> {
        let head = self.travelling.front()?;
        let horizon = head.due + coalesce;
        let mut last = head;
        for (joined, next) in self.travelling.range(1..).enumerate() {
            if next.due > horizon || !last.packet.is_followed_by(&next.packet) {
                return Some((last.due, joined + 1));
            }
            last = next;
        }
        let leave = match sending {
            Some((segment, due)) if due <= horizon && last.packet.is_followed_by(segment) => due,
            _ => last.due,
        };
        Some((leave, self.travelling.len()))
    }

    /// Takes the first `entries` as one train.
    pub(crate) fn pop(&mut self, entries: usize) -> Option<Departure> {
        let mut train = self.travelling.pop_front()?;
        for _ in 1..entries {
            if let Some(next) = self.travelling.pop_front() {
                train.join(&next);
            }
        }
        Some(train)
    }
}

//! Packets that wait until the peer at a port has room.

use netloom_fabric::Delivery;
use std::collections::VecDeque;

/// How much waits at most: what a link of 10 Gbit/s brings in 13 ms, for which a program may well have no processor.
const ROOM: u64 = 16 << 20;

/// See the module. Each packet waits with a `Mark` of its owner's.
pub(super) struct Backlog<Mark = ()> {
    waiting: VecDeque<(Delivery, Mark)>,
    bytes: u64,
}

impl<Mark> Default for Backlog<Mark> {
    fn default() -> Self {
        Self { waiting: VecDeque::new(), bytes: 0 }
    }
}

impl<Mark> Backlog<Mark> {
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// A packet waits behind the others.
    ///
    /// # Errors
    /// Gives the packet back if there is no room for it.
    pub(super) fn push(&mut self, delivery: Delivery, mark: Mark) -> Result<(), Delivery> {
        let size = delivery.departure.packet.size().get();
        if self.bytes + size > ROOM {
            return Err(delivery);
        }
        self.bytes += size;
        self.waiting.push_back((delivery, mark));
        Ok(())
    }

    /// The packet whose turn it is.
    pub(super) fn pop(&mut self) -> Option<(Delivery, Mark)> {
        let (delivery, mark) = self.waiting.pop_front()?;
        self.bytes -= delivery.departure.packet.size().get();
        Some((delivery, mark))
    }

    /// There was no room for the packet whose turn it was, or not for all of it.
    pub(super) fn put_back(&mut self, delivery: Delivery, mark: Mark) {
        self.bytes += delivery.departure.packet.size().get();
        self.waiting.push_front((delivery, mark));
    }
}

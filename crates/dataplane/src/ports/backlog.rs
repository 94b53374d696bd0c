//! Packets that wait until the peer at a port has room.

use netloom_fabric::Delivery;
use std::collections::VecDeque;

/// How much waits at most: what a link of 10 Gbit/s brings in 13 ms, for which a program may well have no processor.
const ROOM: u64 = 16 << 20;

/// See the module.
#[derive(Default)]
pub(super) struct Backlog {
    waiting: VecDeque<Delivery>,
    bytes: u64,
}

impl Backlog {
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// A packet waits behind the others.
    ///
    /// # Errors
    /// Gives the packet back if there is no room for it.
    pub(super) fn push(&mut self, delivery: Delivery) -> Result<(), Delivery> {
        let size = delivery.departure.packet.size().get();
        if self.bytes + size > ROOM {
            return Err(delivery);
        }
        self.bytes += size;
        self.waiting.push_back(delivery);
        Ok(())
    }

    /// The packet whose turn it is.
    pub(super) fn pop(&mut self) -> Option<Delivery> {
        let delivery = self.waiting.pop_front()?;
        self.bytes -= delivery.departure.packet.size().get();
        Some(delivery)
    }

    /// There was no room for the packet whose turn it was, or not for all of it.
    pub(super) fn put_back(&mut self, delivery: Delivery) {
        self.bytes += delivery.departure.packet.size().get();
        self.waiting.push_front(delivery);
    }
}

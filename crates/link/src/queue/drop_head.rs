//! Drop-head: first in, first out, and what waits longest makes room for what arrives.
//!
//! Parameter: the limit, as for drop-tail. Source: mahimahi `DropHeadPacketQueue`: the newcomer joins the tail, then the
//! head is dropped until the limit holds. What would not fit even alone thus takes everything else with it.
//! Differs from mahimahi, which has no limit in time: here the newcomer's wait before its transmission is bounded too.

use super::Transmission;
use super::fifo::{Fifo, each_segment};
use crate::cause::Cause;
use crate::ledger::Ledger;
use alloc::vec::Vec;
use netloom_packet::Packet;
use netloom_units::{Instant, Limit};

/// The queue; see the module.
#[derive(Clone, Debug)]
pub(crate) struct DropHead {
    limit: Limit,
    waiting: Fifo,
}

impl DropHead {
    pub(crate) fn new(limit: Limit) -> Self {
        Self { limit, waiting: Fifo::default() }
    }

    /// Sets the limit and drops from the head what no longer fits.
    pub(crate) fn set_limit(&mut self, limit: Limit, transmission: Transmission, ledger: &mut Ledger<'_>) {
        self.limit = limit;
        for (arrival, train) in self.waiting.take() {
            ledger.release(&train);
            self.push(arrival, train, transmission, ledger);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The segments of `train` arrive one after the other.
    pub(crate) fn push(&mut self, now: Instant, train: Packet, transmission: Transmission, ledger: &mut Ledger<'_>) {
        each_segment(train, |segment| self.push_segment(now, segment, transmission, ledger));
    }

    fn push_segment(&mut self, now: Instant, segment: Packet, transmission: Transmission, ledger: &mut Ledger<'_>) {
        // The newcomer counts as the last of the queue, and is the last to be dropped.
        while !self.waiting.has_room(self.limit, segment.size(), transmission) {
            let Some((_, head)) = self.waiting.pop() else { return ledger.refuse(segment, Cause::Full) };
            ledger.evict(head, Cause::Full);
        }
        ledger.admit(&segment);
        self.waiting.push(now, segment);
    }

    /// The next segment to send.
    pub(crate) fn pop(&mut self, ledger: &mut Ledger<'_>) -> Option<Packet> {
        let (_, segment) = self.waiting.pop()?;
        ledger.release(&segment);
        Some(segment)
    }

    /// Everything that waits, in order; the queue is empty afterwards.
    pub(crate) fn drain(&mut self) -> Vec<Packet> {
        self.waiting.drain()
    }
}

//! Drop-tail: first in, first out, and what finds the queue full is dropped.
//!
//! Parameter: the limit, in packets (default 1,000), bytes, or as the longest time that a packet may wait before its
//! transmission begins. Source: dummynet (Rizzo 1997, section 2: "FIFO with tail-drop"), mahimahi `DropTailPacketQueue`.
//! The packet that is being sent has left the queue and is not counted; nor is the delay line, ever.

use super::Transmission;
use super::fifo::Fifo;
use crate::cause::Cause;
use crate::ledger::Ledger;
use alloc::vec::Vec;
use netloom_packet::Packet;
use netloom_units::{Bytes, Instant, Limit};

/// The queue; see the module.
#[derive(Clone, Debug)]
pub(crate) struct DropTail {
    limit: Limit,
    pub(super) waiting: Fifo,
}

impl DropTail {
    pub(crate) fn new(limit: Limit) -> Self {
        Self { limit, waiting: Fifo::default() }
    }

    /// Sets the limit and drops from the tail until what waits fits: nothing stays that waited behind what was dropped.
    pub(crate) fn set_limit(&mut self, limit: Limit, transmission: Transmission, ledger: &mut Ledger<'_>) {
        self.limit = limit;
        let mut all_fit = true;
        for (arrival, mut train) in self.waiting.take() {
            let room = if all_fit { self.room(&train, transmission) } else { 0 };
            all_fit = room == train.segments();
            if all_fit {
                self.waiting.push(arrival, train);
                continue;
            }
            if let Some(front) = train.split_front(room) {
                self.waiting.push(arrival, front);
            }
            ledger.evict(train, Cause::Full);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// What waits.
    pub(crate) fn waiting(&self) -> &Fifo {
        &self.waiting
    }

    /// Admits as many segments as fit and drops the rest.
    pub(crate) fn push(
        &mut self,
        now: Instant,
        mut train: Packet,
        transmission: Transmission,
        ledger: &mut Ledger<'_>,
    ) {
        let admitted = self.room(&train, transmission);
        if admitted == train.segments() {
            return self.admit(now, train, ledger);
        }
        if let Some(front) = train.split_front(admitted) {
            self.admit(now, front, ledger);
        }
        self.refuse(now, train, transmission, ledger);
    }

    /// Refuses a train whose first segment does not fit, and with it all segments of its size. Only the last may be
    /// shorter, and find the room that the others did not.
    fn refuse(&mut self, now: Instant, mut train: Packet, transmission: Transmission, ledger: &mut Ledger<'_>) {
        let Some(refused) = train.split_front(train.segments() - 1) else {
            return ledger.refuse(train, Cause::Full);
        };
        ledger.refuse(refused, Cause::Full);
        if self.room(&train, transmission) == 0 {
            ledger.refuse(train, Cause::Full);
        } else {
            self.admit(now, train, ledger);
        }
    }

    /// How many segments fit from the train's front on. They arrive at the same instant, and nothing leaves in between.
    fn room(&self, train: &Packet, transmission: Transmission) -> u32 {
        match self.limit {
            Limit::Packets(limit) => {
                let free = u64::from(limit).saturating_sub(self.waiting.packets());
                u32::try_from(free.min(u64::from(train.segments()))).expect("at most the train's segments")
            }
            Limit::Bytes(limit) => self.prefix(train, |bytes, segment| bytes + segment.get() <= limit.get()),
            Limit::Time(longest) => self.prefix(train, |bytes, _| transmission.wait(Bytes::new(bytes)) <= longest),
        }
    }

    /// How many segments from the front satisfy `fits`, given the bytes that wait before each.
    fn prefix(&self, train: &Packet, fits: impl Fn(u64, Bytes) -> bool) -> u32 {
        let mut waiting = self.waiting.bytes().get();
        for index in 0..train.segments() {
            let segment = train.segment_size(index);
            if !fits(waiting, segment) {
                return index;
            }
            waiting += segment.get();
        }
        train.segments()
    }

    fn admit(&mut self, now: Instant, train: Packet, ledger: &mut Ledger<'_>) {
        ledger.admit(&train);
        self.waiting.push(now, train);
    }

    /// The next segment to send.
    pub(crate) fn pop(&mut self, ledger: &mut Ledger<'_>) -> Option<Packet> {
        self.pop_aged(ledger).map(|(_, segment)| segment)
    }

    /// The next segment to send, and when it arrived.
    pub(crate) fn pop_aged(&mut self, ledger: &mut Ledger<'_>) -> Option<(Instant, Packet)> {
        let (arrival, segment) = self.waiting.pop()?;
        ledger.release(&segment);
        Some((arrival, segment))
    }

    /// Everything that waits, in order; the queue is empty afterwards.
    pub(crate) fn drain(&mut self) -> Vec<Packet> {
        self.waiting.drain()
    }
}

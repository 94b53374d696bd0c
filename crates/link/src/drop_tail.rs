//! Drop-tail: first in, first out, and what finds the queue full is dropped.
//!
//! Parameter: the limit, in packets (default 1,000), bytes, or as the longest time that a packet may wait before its
//! transmission begins. Source: dummynet (Rizzo 1997, section 2: "FIFO with tail-drop"), mahimahi `DropTailPacketQueue`.
//! The packet that is being sent has left the queue and is not counted; nor is the delay line, ever.

use alloc::collections::VecDeque;
use netloom_packet::Packet;
use netloom_units::{Bytes, Duration, Limit, Rate};

/// What admission by time needs to know of the transmitter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transmission {
    /// The current rate.
    pub(crate) rate: Rate,
    /// How long the packet that is being sent still takes.
    pub(crate) remaining: Duration,
}

/// The queue; see the module.
#[derive(Debug)]
pub(crate) struct DropTail {
    limit: Limit,
    trains: VecDeque<Packet>,
    packets: u64,
    bytes: u64,
}

impl DropTail {
    pub(crate) fn new(limit: Limit) -> Self {
        Self { limit, trains: VecDeque::new(), packets: 0, bytes: 0 }
    }

    /// Sets the limit and returns what no longer fits, from the tail, as the new limit would have refused it.
    pub(crate) fn set_limit(&mut self, limit: Limit, transmission: Transmission) -> Option<VecDeque<Packet>> {
        self.limit = limit;
        let waiting = core::mem::take(&mut self.trains);
        (self.packets, self.bytes) = (0, 0);
        let mut refused = VecDeque::new();
        for train in waiting {
            refused.extend(self.push(train, transmission));
        }
        (!refused.is_empty()).then_some(refused)
    }

    pub(crate) fn packets(&self) -> u64 {
        self.packets
    }

    /// Admits as many segments as fit and returns the rest.
    pub(crate) fn push(&mut self, mut train: Packet, transmission: Transmission) -> Option<Packet> {
        let admitted = self.room(&train, transmission);
        if admitted == train.segments() {
            self.admit(train);
            return None;
        }
        if let Some(front) = train.split_front(admitted) {
            self.admit(front);
        }
        Some(self.refuse(train, transmission))
    }

    /// Refuses a train whose first segment does not fit, and with it all segments of its size. Only the last may be
    /// shorter, and find the room that the others did not.
    fn refuse(&mut self, mut train: Packet, transmission: Transmission) -> Packet {
        let Some(mut refused) = train.split_front(train.segments() - 1) else { return train };
        if self.room(&train, transmission) == 0 {
            refused.append(&train);
        } else {
            self.admit(train);
        }
        refused
    }

    /// How many segments fit from the train's front on. They arrive at the same instant, and nothing leaves in between.
    fn room(&self, train: &Packet, transmission: Transmission) -> u32 {
        match self.limit {
            Limit::Packets(limit) => {
                let free = u64::from(limit).saturating_sub(self.packets);
                u32::try_from(free.min(u64::from(train.segments()))).expect("at most the train's segments")
            }
            Limit::Bytes(limit) => self.prefix(train, |bytes, segment| bytes + segment.get() <= limit.get()),
            Limit::Time(longest) => self.prefix(train, |bytes, _| transmission.wait(Bytes::new(bytes)) <= longest),
        }
    }

    /// How many segments from the front satisfy `fits`, given the bytes that wait before each.
    fn prefix(&self, train: &Packet, fits: impl Fn(u64, Bytes) -> bool) -> u32 {
        let mut waiting = self.bytes;
        for index in 0..train.segments() {
            let segment = train.segment_size(index);
            if !fits(waiting, segment) {
                return index;
            }
            waiting += segment.get();
        }
        train.segments()
    }

    fn admit(&mut self, train: Packet) {
        self.packets += u64::from(train.segments());
        self.bytes += train.size().get();
        self.trains.push_back(train);
    }

    /// The next segment to send.
    pub(crate) fn pop(&mut self) -> Option<Packet> {
        let head = self.trains.front_mut()?;
        let segment = match head.split_front(1) {
            Some(first) => first,
            None => self.trains.pop_front()?,
        };
        self.packets -= 1;
        self.bytes -= segment.size().get();
        Some(segment)
    }

    /// Everything that waits, in order; the queue is empty afterwards.
    pub(crate) fn drain(&mut self) -> VecDeque<Packet> {
        (self.packets, self.bytes) = (0, 0);
        core::mem::take(&mut self.trains)
    }
}

impl Transmission {
    /// How long a packet waits behind `waiting` bytes before its transmission begins.
    fn wait(&self, waiting: Bytes) -> Duration {
        self.remaining + self.rate.serialization_delay(waiting)
    }
}

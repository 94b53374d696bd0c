//! Trains in order of arrival, each with its instant: what the disciplines keep their packets in.

use super::Transmission;
use alloc::{collections::VecDeque, vec::Vec};
use netloom_packet::Packet;
use netloom_units::{Bytes, Instant, Limit};

/// See the module.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fifo {
    trains: VecDeque<(Instant, Packet)>,
    packets: u64,
    bytes: u64,
}

impl Fifo {
    /// How many segments wait.
    pub(crate) fn packets(&self) -> u64 {
        self.packets
    }

    /// Their bytes from the IP header on.
    pub(crate) fn bytes(&self) -> Bytes {
        Bytes::new(self.bytes)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.trains.is_empty()
    }

    /// When the head arrived.
    pub(crate) fn head_arrival(&self) -> Option<Instant> {
        self.trains.front().map(|(arrival, _)| *arrival)
    }

    /// Length of the first segment from its IP header on.
    pub(crate) fn head_size(&self) -> Option<Bytes> {
        self.trains.front().map(|(_, train)| train.segment_size(0))
    }

    /// Whether one more segment of `size` may wait behind the others.
    pub(crate) fn has_room(&self, limit: Limit, size: Bytes, transmission: Transmission) -> bool {
        has_room(limit, self.packets, self.bytes(), size, transmission)
    }

    /// Adds a train, to the one before it if it continues that.
    pub(crate) fn push(&mut self, now: Instant, train: Packet) {
        self.packets += u64::from(train.segments());
        self.bytes += train.size().get();
        match self.trains.back_mut() {
            Some((arrival, last)) if *arrival == now && last.is_followed_by(&train) => last.append(&train),
            _ => self.trains.push_back((now, train)),
        }
    }

    /// Takes the first segment, and says when it arrived.
    pub(crate) fn pop(&mut self) -> Option<(Instant, Packet)> {
        let (arrival, head) = self.trains.front_mut()?;
        let segment = match head.split_front(1) {
            Some(first) => (*arrival, first),
            None => self.trains.pop_front()?,
        };
        self.packets -= 1;
        self.bytes -= segment.1.size().get();
        Some(segment)
    }

    /// Takes everything, in order, each train with its arrival.
    pub(crate) fn take(&mut self) -> VecDeque<(Instant, Packet)> {
        (self.packets, self.bytes) = (0, 0);
        core::mem::take(&mut self.trains)
    }

    /// Takes everything, in order.
    pub(crate) fn drain(&mut self) -> Vec<Packet> {
        self.take().into_iter().map(|(_, train)| train).collect()
    }
}

/// Whether a segment of `size` fits behind `packets` of `bytes` in all.
pub(crate) fn has_room(limit: Limit, packets: u64, bytes: Bytes, size: Bytes, transmission: Transmission) -> bool {
    match limit {
        Limit::Packets(limit) => packets < u64::from(limit),
        Limit::Bytes(limit) => bytes.get() + size.get() <= limit.get(),
        Limit::Time(longest) => transmission.wait(bytes) <= longest,
    }
}

/// Hands over the segments of `train` one by one.
pub(crate) fn each_segment(mut train: Packet, mut take: impl FnMut(Packet)) {
    while let Some(segment) = train.split_front(1) {
        take(segment);
    }
    take(train);
}

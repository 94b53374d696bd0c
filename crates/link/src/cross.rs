//! Cross traffic: packets that exist in one pipe only, take room and time there, and cost no kernel work.
//!
//! Sources: GINE's cross traffic (section 2.1, figure 1), which interferes with the main traffic in the queues of the
//! routers on its path; the phantom traffic of ng_dummy (Zec and Mikuc 2003, section III). A packet of the cross traffic passes the
//! impairments, the queue and the transmitter like any other, and leaves the pipe when its last bit is sent.

mod frames;
mod on_off;
mod replay;
mod source;

use crate::ConfigError;
use alloc::collections::BinaryHeap;
use alloc::collections::binary_heap::PeekMut;
use alloc::format;
use alloc::vec::Vec;
use core::cmp::Reverse;
use netloom_packet::Packet;
use netloom_units::{Bytes, Duration, Instant, Rate, Seed};
use source::Source;

pub use on_off::OnOff;
pub use replay::Replay;

/// How long after the packet before a packet comes, and its size.
#[derive(Clone, Copy, Debug)]
struct Step {
    gap: Duration,
    size: Bytes,
}

/// A source of cross traffic.
#[derive(Clone, Debug, PartialEq)]
pub struct CrossConfig {
    /// The traffic that the source sends.
    pub traffic: Traffic,
    /// When the source begins, counted from the start of the pipe or from the change that brought the source.
    pub start: Duration,
    /// When the source ends, counted from that start or change; none: never.
    pub stop: Option<Duration>,
}

/// The traffic that a source sends.
#[derive(Clone, Debug, PartialEq)]
pub enum Traffic {
    /// Packets at a constant rate: each follows after as long as the one before it would take at that rate.
    Constant(Stream),
    /// Packets whose gaps are exponentially distributed and independent of one another (a Poisson process).
    Poisson(Stream),
    /// Bursts at a constant rate, and silence in between, both of Pareto length.
    OnOff(OnOff),
    /// Packets at the times and of the sizes that were recorded.
    Replay(Replay),
}

/// How much a source sends.
#[derive(Clone, Debug, PartialEq)]
pub struct Stream {
    /// How many bits per second, from the IP header on, on average.
    pub rate: Rate,
    /// How long the packets are.
    pub size: PacketSize,
}

/// How long packets are, from the IP header on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketSize {
    /// All of them.
    Fixed(Bytes),
    /// The simple Internet mix of testers: of twelve packets seven of 40, four of 576 and one of 1,500 bytes, in random
    /// order. It is a convention and no standard; RFC 6985, section 1, wants the sequence of sizes stated.
    Imix,
}

/// The most sources at once: enough for every law of large numbers.
const MOST_SOURCES: u16 = 1_000;
/// The headers that every packet of a source has: IPv4 and UDP, without options.
const LEAST_SIZE: u64 = 28;
/// The longest IP packet.
const MOST_SIZE: u64 = 65_535;

impl CrossConfig {
    /// Checks the description.
    ///
    /// # Errors
    /// A parameter out of its range, or an end before the beginning.
    pub fn check(&self) -> Result<(), ConfigError> {
        if let Some(stop) = self.stop.filter(|stop| *stop <= self.start) {
            let start = self.start;
            return Err(ConfigError::new("stop", format!("the source would end at {stop}, but begins at {start}")));
        }
        match &self.traffic {
            Traffic::Constant(stream) | Traffic::Poisson(stream) => stream.check(),
            Traffic::OnOff(on_off) => on_off.check(),
            Traffic::Replay(replay) => replay.check(),
        }
    }

    /// How many flows it is made of.
    fn flows(&self) -> u16 {
        if let Traffic::OnOff(on_off) = &self.traffic { on_off.sources } else { 1 }
    }
}

impl Stream {
    fn check(&self) -> Result<(), ConfigError> {
        self.size.check()?;
        if self.mean_gap() < 1.0 {
            let message =
                format!("at {} there is more than one packet per nanosecond, the shortest span of time", self.rate);
            return Err(ConfigError::new("rate", message));
        }
        Ok(())
    }
}

impl PacketSize {
    fn check(self) -> Result<(), ConfigError> {
        match self {
            Self::Fixed(size) if !(LEAST_SIZE..=MOST_SIZE).contains(&size.get()) => {
                let message =
                    format!("{size} is not the size of a UDP packet over IPv4: {LEAST_SIZE} B to {MOST_SIZE} B");
                Err(ConfigError::new("size", message))
            }
            _ => Ok(()),
        }
    }
}

/// Sources of cross traffic, and how far they have come.
#[derive(Clone, Debug)]
pub struct Cross {
    sources: Vec<Source>,
    /// Which source sends next; of several at one instant the first in the configuration.
    coming: BinaryHeap<Reverse<(Instant, usize)>>,
}

impl Cross {
    /// Creates the sources from `now` on; none if there are none.
    pub fn new(configs: &[CrossConfig], now: Instant, seed: Seed) -> Option<Self> {
        let mut sources = Vec::new();
        for config in configs {
            for _ in 0..config.flows() {
                let number = sources.len();
                sources.push(Source::new(config, number, now, seed.derive(&format!("{number}"))));
            }
        }
        let coming = sources.iter().enumerate();
        let coming = coming.filter_map(|(index, source)| source.next().map(|at| Reverse((at, index)))).collect();
        let this = Self { sources, coming };
        this.next().map(|_| this)
    }

    /// Returns when the next packet arrives; none if there is no further one.
    #[inline]
    pub fn next(&self) -> Option<Instant> {
        self.coming.peek().map(|Reverse((at, _))| *at)
    }

    /// Removes and returns the next packet; none if there is no further one.
    #[inline]
    pub fn take(&mut self) -> Option<Packet> {
        let mut first = self.coming.peek_mut()?;
        let source = &mut self.sources[first.0.1];
        let packet = source.take();
        match source.next() {
            Some(next) => first.0.0 = next,
            None => drop(PeekMut::pop(first)),
        }
        Some(packet)
    }
}

#[cfg(test)]
mod tests;

//! Slots: packets leave only when the sender gets a turn, and then so many at once.
//!
//! | parameter | unit | range | default |
//! |---|---|---|---|
//! | every | a delay: constant or drawn | 0 and above | - |
//! | packets | packets | 1 and above | no limit |
//! | bytes | bytes | 1 and above | no limit |
//! | rate | bit/s | 1 and above | none: what leaves in a slot leaves at once |
//!
//! A packet that finds no slot waits for one, which comes after a time that is drawn from `every`. In a slot, what waits is sent one
//! behind the other, until nothing waits any more or the slot is used up: by its number of packets, or by the packet with which its bytes
//! are reached. What still waits then waits for another slot, whose time counts from the beginning of the last packet. A slot that is not used up ends when
//! nothing waits: what comes at a later instant needs another one.
//! Source: `tc-netem`(8), `slot`, and Linux `sch_netem`: crude models of aggregates of Wi-Fi, grants of DOCSIS and turns of LTE.
//!
//! Differs from Linux:
//! - Slots are in front of the delay, not behind it; with a constant delay packets arrive at the same instants.
//! - With a rate, a packet that comes while others are sent in a slot joins them; Linux takes only those whose transmission has ended before the
//!   slot begins.
//! - A slot begins at its exact instant, not at the tick of a timer.

use super::constant::Constant;
use crate::ConfigError;
use crate::delay::{Delay, DelayConfig, Order};
use netloom_units::{Bytes, Duration, Instant, Rate, Seed};

/// The rate that a queue reckons with where none bounds what leaves in a slot, in bits per second.
const UNBOUNDED: u64 = 1_000_000_000_000;

/// Slots; see the module.
#[derive(Clone, Debug, PartialEq)]
pub struct SlotsConfig {
    /// The time from one slot to the next.
    pub every: DelayConfig,
    /// How many packets leave in a slot at most; none: any number.
    pub packets: Option<u64>,
    /// With which number of bytes a slot is used up; none: with none.
    pub bytes: Option<Bytes>,
    /// The rate at which packets are sent in a slot; none: they are sent at once.
    pub rate: Option<Rate>,
}

impl SlotsConfig {
    /// Whether it makes sense.
    ///
    /// # Errors
    /// A time that is no time, slots in which nothing leaves, and slots that overtake one another.
    pub fn check(&self) -> Result<(), ConfigError> {
        if let Err(wrong) = self.every.check() {
            return Err(ConfigError::new("every", wrong.message));
        }
        if self.every.order == Order::Free {
            return Err(ConfigError::new("every", "slots do not overtake one another: leave out `order`"));
        }
        if self.every.mean().is_zero() {
            return Err(ConfigError::new(
                "every",
                "without a time between them there are no slots: write for example 1 ms",
            ));
        }
        if self.bytes == Some(Bytes::new(0)) {
            return Err(ConfigError::new("bytes", "a slot without bytes lets nothing through: write a size"));
        }
        Ok(())
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Slots {
    every: Delay,
    packets: Option<u64>,
    bytes: Option<Bytes>,
    /// The rate in a slot; none: packets are sent at once.
    rate: Option<Constant>,
    nominal: Rate,
    /// When the next slot begins, or when the one began that is not used up; none before the first.
    slot: Option<Instant>,
    /// The packets that may still leave in it.
    packets_left: u64,
    bytes_left: u64,
}

impl Slots {
    pub(crate) fn new(config: &SlotsConfig, seed: Seed) -> Self {
        let nominal = nominal(config);
        let mut this = Self {
            every: Delay::new(config.every.clone(), seed.derive("slots")),
            packets: config.packets,
            bytes: config.bytes,
            rate: config.rate.map(Constant::new),
            nominal,
            slot: None,
            packets_left: 0,
            bytes_left: 0,
        };
        this.renew();
        this
    }

    /// Takes another description; the next slot is drawn by it, from the same generator.
    pub(crate) fn change(&mut self, config: &SlotsConfig) {
        self.every.configure(config.every.clone());
        (self.packets, self.bytes, self.nominal) = (config.packets, config.bytes, nominal(config));
        self.rate = config.rate.map(Constant::new);
        self.slot = None;
        self.renew();
    }

    /// The rate that a queue may reckon with.
    pub(crate) fn nominal(&self) -> Rate {
        self.nominal
    }

    /// When the next packet may leave that has come by `now`: in the slot that is there, or in the next one.
    pub(crate) fn opens(&mut self, now: Instant) -> Instant {
        match self.slot {
            Some(slot) if slot >= now => slot,
            _ => self.acquire(now),
        }
    }

    /// When the next packet may leave if one that waited has been sent at `now`.
    pub(crate) fn follows(&self, now: Instant) -> Instant {
        self.slot.map_or(now, |slot| slot.max(now))
    }

    /// How long a packet is on the transmitter that starts at `start`.
    pub(crate) fn send(&mut self, start: Instant, size: Bytes, back_to_back: bool) -> Duration {
        self.packets_left = self.packets_left.saturating_sub(1);
        self.bytes_left = self.bytes_left.saturating_sub(size.get());
        if self.packets_left == 0 || self.bytes_left == 0 {
            self.acquire(start);
        }
        self.rate.as_mut().map_or(Duration::ZERO, |rate| rate.send(size, back_to_back))
    }

    /// Returns how much of the packet on the transmitter is still to be sent when it takes `left` more, in billionths of a bit.
    pub(crate) fn owed(&self, left: Duration) -> u128 {
        self.rate.as_ref().map_or(0, |rate| rate.owed(left))
    }

    /// How long the rest of a packet takes.
    pub(crate) fn resume(&mut self, owed: u128) -> Duration {
        self.rate.as_mut().map_or(Duration::ZERO, |rate| rate.resume(owed))
    }

    /// Another slot comes, for which is waited from `now` on.
    fn acquire(&mut self, now: Instant) -> Instant {
        let slot = now + self.every.draw();
        self.slot = Some(slot);
        self.renew();
        slot
    }

    fn renew(&mut self) {
        self.packets_left = self.packets.unwrap_or(u64::MAX);
        self.bytes_left = self.bytes.map_or(u64::MAX, Bytes::get);
    }
}

/// The rate of slots that are full, on the average and as far as that is known, or that while one lasts.
fn nominal(config: &SlotsConfig) -> Rate {
    let full = config.bytes.map(|bytes| {
        let (bits, mean) = (u128::from(bytes.get()) * 8, u128::from(config.every.mean().as_nanos().max(1)));
        u64::try_from(bits * 1_000_000_000 / mean).unwrap_or(u64::MAX).max(1)
    });
    let least = [full, config.rate.map(Rate::as_bits_per_second)].into_iter().flatten().min();
    Rate::from_bits_per_second(least.unwrap_or(UNBOUNDED)).expect("it is above zero")
}

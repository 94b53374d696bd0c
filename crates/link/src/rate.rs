//! How fast a pipe sends: one module per model, and the fork between them.

mod constant;

use constant::Constant;
use netloom_units::{Bytes, Duration, Instant, Rate};

/// How fast the transmitter sends.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum RateConfig {
    /// Infinitely fast: nothing ever waits.
    #[default]
    Unlimited,
    /// Always the same.
    Constant(Rate),
}

impl RateConfig {
    /// The rate to compare a long run with: of a changing rate, its mean; none if there is no limit.
    pub fn nominal(&self) -> Option<Rate> {
        match self {
            Self::Unlimited => None,
            Self::Constant(rate) => Some(*rate),
        }
    }
}

impl From<Option<Rate>> for RateConfig {
    fn from(rate: Option<Rate>) -> Self {
        rate.map_or(Self::Unlimited, Self::Constant)
    }
}

/// A rate model at work. Instants are those of lab time; packets are asked for one after the other.
#[derive(Debug)]
pub(crate) enum Pace {
    Constant(Constant),
}

impl Pace {
    /// The model of `config` from `now` on; none if there is no limit.
    pub(crate) fn new(config: &RateConfig, now: Instant) -> Option<Self> {
        let _ = now;
        match config {
            RateConfig::Unlimited => None,
            RateConfig::Constant(rate) => Some(Self::Constant(Constant::new(*rate))),
        }
    }

    /// The rate that a queue may reckon with.
    pub(crate) fn nominal(&self) -> Rate {
        match self {
            Self::Constant(constant) => constant.rate(),
        }
    }

    /// The first instant from `now` on at which the next packet may leave the queue for the transmitter, whatever its
    /// size. Asked when the transmitter has become free, or a packet finds it so.
    pub(crate) fn opens(&mut self, now: Instant) -> Instant {
        match self {
            Self::Constant(_) => now,
        }
    }

    /// How long a packet of `size` is on the transmitter from `start` on. `back_to_back`: the packet before it was sent
    /// to its end at that very instant.
    pub(crate) fn send(&mut self, start: Instant, size: Bytes, back_to_back: bool) -> Duration {
        let _ = start;
        match self {
            Self::Constant(constant) => constant.send(size, back_to_back),
        }
    }

    /// Takes another rate at `now`. `left`: how long the packet on the transmitter would still take, if there is one;
    /// returns how long it takes now.
    pub(crate) fn change(&mut self, now: Instant, config: &RateConfig, left: Option<Duration>) -> Option<Duration> {
        match (&mut *self, config) {
            (Self::Constant(constant), RateConfig::Constant(rate)) => constant.change(*rate, left),
            _ => {
                if let Some(other) = Self::new(config, now) {
                    *self = other;
                }
                left
            }
        }
    }
}

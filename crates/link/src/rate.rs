//! The rate of a pipe: one module per model, and the choice between them.

mod cell_trace;
mod constant;
mod delivery_trace;
mod ramp;
mod slots;
mod token_bucket;

pub use cell_trace::{CellTraceConfig, LightTrains};
pub use delivery_trace::{DeliveryTimes, DeliveryTraceConfig};
pub use slots::SlotsConfig;
pub use token_bucket::{PeakConfig, TokenBucketConfig};

use crate::ConfigError;
use crate::slope::Slope;
use alloc::boxed::Box;
use cell_trace::CellTrace;
use constant::Constant;
use delivery_trace::DeliveryTrace;
use netloom_units::{Bytes, Duration, Instant, Rate, Seed};
use ramp::Ramp;
use slots::Slots;
use token_bucket::TokenBucket;

/// How fast the transmitter sends.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum RateConfig {
    /// Infinitely fast: nothing ever waits.
    #[default]
    Unlimited,
    /// Always the same.
    Constant(Rate),
    /// Bursts at once, and a rate over longer times.
    TokenBucket(TokenBucketConfig),
    /// So many bytes at recorded instants.
    DeliveryTrace(DeliveryTraceConfig),
    /// So many bytes at instants that were recorded under light load and under heavy load.
    CellTrace(CellTraceConfig),
    /// Several packets at once, when the sender gets a turn.
    Slots(SlotsConfig),
}

impl RateConfig {
    /// The rate to compare a long run with: of a changing rate, its mean; none if there is no limit.
    pub fn nominal(&self) -> Option<Rate> {
        match self {
            Self::Unlimited => None,
            Self::Constant(rate) => Some(*rate),
            Self::TokenBucket(config) => Some(config.rate),
            Self::DeliveryTrace(config) => Some(config.mean()),
            Self::CellTrace(config) => Some(config.heavy.mean()),
            Self::Slots(config) => config.rate,
        }
    }

    /// Whether it makes sense.
    ///
    /// # Errors
    /// What the model says.
    pub fn check(&self) -> Result<(), ConfigError> {
        match self {
            Self::Unlimited | Self::Constant(_) => Ok(()),
            Self::TokenBucket(config) => config.check(),
            Self::DeliveryTrace(config) => config.check(),
            Self::CellTrace(config) => config.check(),
            Self::Slots(config) => config.check(),
        }
    }

    /// Returns the least delay of what is sent, beside that of the pipe.
    pub fn least_delay(&self) -> Duration {
        match self {
            Self::CellTrace(config) => config.light.least_delay(),
            _ => Duration::ZERO,
        }
    }

    /// Whether packets that are charged up to `largest` can be sent as the model means it.
    ///
    /// # Errors
    /// A bucket that never holds their tokens.
    pub fn check_largest(&self, largest: Bytes) -> Result<(), ConfigError> {
        match self {
            Self::TokenBucket(config) => config.check_largest(largest),
            _ => Ok(()),
        }
    }
}

impl From<Option<Rate>> for RateConfig {
    fn from(rate: Option<Rate>) -> Self {
        rate.map_or(Self::Unlimited, Self::Constant)
    }
}

/// A rate model at work. Instants are those of lab time; packets are asked for one after the other. What is rare and large
/// is boxed, so that pipes stay small.
#[derive(Clone, Debug)]
pub(crate) enum Pace {
    Constant(Constant),
    TokenBucket(Box<TokenBucket>),
    DeliveryTrace(Box<DeliveryTrace>),
    CellTrace(Box<CellTrace>),
    Ramp(Ramp),
    Slots(Box<Slots>),
}

impl Pace {
    /// The model of `config` from `now` on, which draws from this seed; none if there is no limit.
    pub(crate) fn new(config: &RateConfig, now: Instant, seed: Seed) -> Option<Self> {
        match config {
            RateConfig::Unlimited => None,
            RateConfig::Constant(rate) => Some(Self::Constant(Constant::new(*rate))),
            RateConfig::TokenBucket(config) => Some(Self::TokenBucket(Box::new(TokenBucket::new(config, now)))),
            RateConfig::DeliveryTrace(config) => Some(Self::DeliveryTrace(Box::new(DeliveryTrace::new(config, now)))),
            RateConfig::CellTrace(config) => Some(Self::CellTrace(Box::new(CellTrace::new(config, now)))),
            RateConfig::Slots(config) => Some(Self::Slots(Box::new(Slots::new(config, seed)))),
        }
    }

    /// A rate that follows `slope`, in bits per second.
    pub(crate) fn sloping(slope: Slope) -> Self {
        Self::Ramp(Ramp::new(slope))
    }

    /// The rate that a queue may reckon with.
    #[inline]
    pub(crate) fn nominal(&self) -> Rate {
        match self {
            Self::Constant(constant) => constant.rate(),
            Self::TokenBucket(bucket) => bucket.rate(),
            Self::DeliveryTrace(trace) => trace.mean(),
            Self::CellTrace(trace) => trace.mean(),
            Self::Ramp(ramp) => ramp.mean(),
            Self::Slots(slots) => slots.nominal(),
        }
    }

    /// The first instant from `now` on at which the next packet may leave the queue for the idle transmitter, whatever
    /// its size. Asked when a packet finds it idle, or for those that wait when something was changed.
    pub(crate) fn opens(&mut self, now: Instant) -> Instant {
        match self {
            Self::Constant(_) | Self::TokenBucket(_) | Self::Ramp(_) => now,
            Self::DeliveryTrace(trace) => trace.opens(now),
            Self::CellTrace(trace) => trace.opens(now),
            Self::Slots(slots) => slots.opens(now),
        }
    }

    /// The same for packets that wait while another is sent to its end at `now`.
    pub(crate) fn follows(&mut self, now: Instant) -> Instant {
        match self {
            Self::Constant(_) | Self::TokenBucket(_) | Self::Ramp(_) => now,
            Self::DeliveryTrace(trace) => trace.follows(now),
            Self::CellTrace(trace) => trace.follows(now),
            Self::Slots(slots) => slots.follows(now),
        }
    }

    /// How long a packet of `size` is on the transmitter from `start` on. `back_to_back`: the packet before it was sent
    /// to its end at that very instant.
    pub(crate) fn send(&mut self, start: Instant, size: Bytes, back_to_back: bool) -> Duration {
        match self {
            Self::Constant(constant) => constant.send(size, back_to_back),
            Self::TokenBucket(bucket) => bucket.send(start, u128::from(size.get()) * 8_000_000_000),
            Self::DeliveryTrace(trace) => trace.send(start, trace.needed(size)),
            Self::CellTrace(trace) => trace.send(start, trace.needed(size)),
            Self::Ramp(ramp) => ramp.send(start, size, back_to_back),
            Self::Slots(slots) => slots.send(start, size, back_to_back),
        }
    }

    /// The delay of what is sent now, beside that of the pipe.
    pub(crate) fn delay(&self) -> Duration {
        match self {
            Self::CellTrace(trace) => trace.delay(),
            _ => Duration::ZERO,
        }
    }

    /// The least delay of all that is sent from now on, beside that of the pipe.
    pub(crate) fn least_delay(&self) -> Duration {
        match self {
            Self::CellTrace(trace) => trace.least_delay(),
            _ => Duration::ZERO,
        }
    }

    /// The packet on the transmitter is taken off it.
    pub(crate) fn abort(&mut self) {
        if let Self::TokenBucket(bucket) = self {
            bucket.abort();
        }
    }

    /// Takes another rate at `now`. `left`: how long the packet on the transmitter would still take, if there is one;
    /// returns how long it takes now.
    pub(crate) fn change(
        &mut self,
        now: Instant,
        config: &RateConfig,
        left: Option<Duration>,
        seed: Seed,
    ) -> Option<Duration> {
        let owed = left.map(|left| self.owed(now, left));
        match (&mut *self, config) {
            (Self::Constant(constant), RateConfig::Constant(rate)) => constant.change(*rate),
            (Self::TokenBucket(bucket), RateConfig::TokenBucket(config)) => {
                if owed.is_some() {
                    bucket.abort();
                }
                bucket.change(now, config);
            }
            (Self::Slots(slots), RateConfig::Slots(config)) => slots.change(config),
            _ => *self = Self::new(config, now, seed)?,
        }
        owed.map(|owed| self.resume(now, owed))
    }

    /// Follows `slope` from `now` on; see [`Pace::change`].
    pub(crate) fn slope(&mut self, now: Instant, slope: Slope, left: Option<Duration>) -> Option<Duration> {
        let owed = left.map(|left| self.owed(now, left));
        *self = Self::sloping(slope);
        owed.map(|owed| self.resume(now, owed))
    }

    /// The rate at `now` of one that follows a slope.
    pub(crate) fn on_slope(&self, now: Instant) -> Option<Rate> {
        match self {
            Self::Ramp(ramp) => Some(ramp.at(now)),
            _ => None,
        }
    }

    /// What is still to be sent of the packet on the transmitter, in billionths of a bit.
    fn owed(&self, now: Instant, left: Duration) -> u128 {
        match self {
            Self::Constant(constant) => constant.owed(left),
            Self::TokenBucket(bucket) => bucket.owed(),
            Self::DeliveryTrace(trace) => trace.owed(now),
            Self::CellTrace(trace) => trace.owed(now),
            Self::Ramp(ramp) => ramp.owed(now),
            Self::Slots(slots) => slots.owed(left),
        }
    }

    /// How long the rest of a packet takes that another model began to send.
    fn resume(&mut self, now: Instant, owed: u128) -> Duration {
        match self {
            Self::Constant(constant) => constant.resume(owed),
            Self::TokenBucket(bucket) => bucket.send(now, owed),
            Self::DeliveryTrace(trace) => {
                trace.opens(now);
                trace.send(now, owed)
            }
            Self::CellTrace(trace) => {
                trace.opens(now);
                trace.send(now, owed)
            }
            Self::Ramp(ramp) => ramp.resume(now, owed),
            Self::Slots(slots) => slots.resume(owed),
        }
    }
}

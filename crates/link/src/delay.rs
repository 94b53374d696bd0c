//! Propagation delay, after the last bit of a packet was sent: one module per distribution, and the choice between
//! them.
//!
//! A delay is drawn for each segment when its transmission begins. With a correlation c it is
//! `c * previous + (1 - c) * drawn` (GINE, equation 4.1), where `previous` is the delay of the segment before it. A sum
//! below zero counts as zero, also as `previous`, and the result is rounded to the nearest nanosecond.

mod correlation;
mod draws;
mod exponential;
mod gamma;
mod histogram;
mod lines;
mod normal;
mod pareto;
mod pareto_normal;
mod quantile;
mod samples;
mod table;
mod uniform;

pub use correlation::Correlation;
pub use exponential::Exponential;
pub use gamma::Gamma;
pub use histogram::{Bins, Histogram};
pub use normal::Normal;
pub use pareto::Pareto;
pub use pareto_normal::ParetoNormal;
pub use samples::{Samples, Values};
pub use table::{Table, TableDelay};
pub use uniform::Uniform;

use crate::ConfigError;
use draws::Draws;
use netloom_units::{Duration, Seed};

/// Propagation delay.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DelayConfig {
    /// The distribution from which the delay is drawn for each packet.
    pub distribution: Distribution,
    /// The correlation of each delay with the one before it.
    pub correlation: Correlation,
    /// Whether a packet with a shorter delay may overtake those before it.
    pub order: Order,
}

/// From what delays are drawn.
#[derive(Clone, Debug, PartialEq)]
pub enum Distribution {
    /// Always the same.
    Constant(Duration),
    /// A uniform distribution between two bounds.
    Uniform(Uniform),
    /// The normal distribution.
    Normal(Normal),
    /// The exponential distribution, shifted.
    Exponential(Exponential),
    /// The Pareto distribution, shifted.
    Pareto(Pareto),
    /// Netem's sum of a quarter of a normal and three quarters of a Pareto distribution.
    ParetoNormal(ParetoNormal),
    /// The gamma distribution, shifted.
    Gamma(Gamma),
    /// A table such as those that netem reads.
    Table(TableDelay),
    /// Bins with weights.
    Histogram(Histogram),
    /// Measured delays.
    Samples(Samples),
}

impl Default for Distribution {
    fn default() -> Self {
        Self::Constant(Duration::ZERO)
    }
}

/// The treatment of a packet that would overtake others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The packet arrives together with the last of those that it would overtake.
    #[default]
    Kept,
    /// The packet overtakes the others.
    Free,
}

/// Calls a method of the parameters of every distribution but the constant one.
macro_rules! of_each {
    ($distribution:expr, $constant:pat => $otherwise:expr, $inner:ident => $call:expr) => {
        match $distribution {
            Distribution::Constant($constant) => $otherwise,
            Distribution::Uniform($inner) => $call,
            Distribution::Normal($inner) => $call,
            Distribution::Exponential($inner) => $call,
            Distribution::Pareto($inner) => $call,
            Distribution::ParetoNormal($inner) => $call,
            Distribution::Gamma($inner) => $call,
            Distribution::Table($inner) => $call,
            Distribution::Histogram($inner) => $call,
            Distribution::Samples($inner) => $call,
        }
    };
}

impl DelayConfig {
    /// Always `delay`, in order.
    pub const fn constant(delay: Duration) -> Self {
        Self { distribution: Distribution::Constant(delay), correlation: Correlation::NONE, order: Order::Kept }
    }

    /// The delay of every packet, if it is always the same.
    pub fn is_constant(&self) -> Option<Duration> {
        match self.distribution {
            Distribution::Constant(delay) => Some(delay),
            _ => None,
        }
    }

    /// The mean of what is drawn. What packets see is longer where draws below zero count as zero, and where keeping
    /// order holds packets back.
    pub fn mean(&self) -> Duration {
        of_each!(&self.distribution, delay => *delay, inner => to_duration(inner.mean()))
    }

    /// No packet travels for less than this. Shorter than the exact bound where that is not worth a proof.
    pub fn least(&self) -> Duration {
        let least = of_each!(&self.distribution, delay => return *delay, inner => to_duration(inner.least()));
        let correlation = self.correlation.as_f64();
        if correlation < 0.0 {
            // What comes after a long delay is shorter than any that is drawn.
            return Duration::ZERO;
        }
        if correlation > 0.0 {
            // A mean of two delays, neither below the least, is not below it either but for rounding. Its errors of
            // 2^-52 add up over 1 / (1 - correlation) packets, 10^12 at most: in all less than a thousandth.
            return least - Duration::from_nanos(least.as_nanos() / 1_000 + 1);
        }
        least
    }

    /// Checks the description.
    ///
    /// # Errors
    /// A parameter outside its range, or a correlation of delays that are replayed in order.
    pub fn check(&self) -> Result<(), ConfigError> {
        if let Distribution::Samples(samples) = &self.distribution
            && samples.replay
            && self.correlation != Correlation::NONE
        {
            let why = "delays that are replayed in order have their own correlation: leave out one of the two keys";
            return Err(ConfigError::new("correlation", why));
        }
        of_each!(&self.distribution, _ => Ok(()), inner => inner.check())
    }
}

impl From<Duration> for DelayConfig {
    fn from(delay: Duration) -> Self {
        Self::constant(delay)
    }
}

/// A delay model and its generator.
#[derive(Clone, Debug)]
pub(crate) struct Delay {
    config: DelayConfig,
    draws: Draws,
    /// The delay before rounding of the last segment, in nanoseconds; none before the first.
    previous: Option<f64>,
}

impl Delay {
    pub(crate) fn new(config: DelayConfig, seed: Seed) -> Self {
        Self { config, draws: Draws::new(seed), previous: None }
    }

    /// Goes on with the same generator; the first delay has none before it.
    pub(crate) fn configure(&mut self, config: DelayConfig) {
        self.config = config;
        self.previous = None;
        self.draws.rewind();
    }

    pub(crate) fn is_constant(&self) -> bool {
        self.config.is_constant().is_some()
    }

    /// Whether packets may overtake.
    pub(crate) fn order(&self) -> Order {
        self.config.order
    }

    /// No segment will travel for less than this.
    pub(crate) fn least(&self) -> Duration {
        self.config.least()
    }

    /// The delay of the next segment.
    #[inline]
    pub(crate) fn draw(&mut self) -> Duration {
        // The constant is taken out, for it is common and the others are large.
        match self.config.distribution {
            Distribution::Constant(delay) => delay,
            _ => self.draw_correlated(),
        }
    }

    fn draw_correlated(&mut self) -> Duration {
        let draws = &mut self.draws;
        let drawn = of_each!(&self.config.distribution, delay => return *delay, inner => inner.draw(draws));
        let correlated = match self.previous {
            // GINE, equation 4.1.
            Some(previous) => self.config.correlation.mix(previous, drawn),
            None => drawn,
        };
        let delay = correlated.max(0.0);
        self.previous = Some(delay);
        to_duration(delay)
    }
}

/// `nanoseconds` to the nearest whole one; what is longer than the longest duration counts as that.
fn to_duration(nanoseconds: f64) -> Duration {
    // The conversion cuts the fraction off and saturates at both ends.
    Duration::from_nanos((nanoseconds + 0.5) as u64)
}

/// A duration in nanoseconds; exact up to 2^53 of them, which are 104 days.
fn nanoseconds(duration: Duration) -> f64 {
    duration.as_nanos() as f64
}

/// An error unless `parameter`, called `key`, is longer than zero.
fn check_positive(key: &'static str, parameter: Duration) -> Result<(), ConfigError> {
    if parameter.is_zero() {
        return Err(ConfigError::new(key, "a time above zero is needed here, for example 10 ms"));
    }
    Ok(())
}

/// An error unless the number `shape` lies above `least`, from which on the model makes sense for the reason `why`.
fn check_shape(shape: f64, least: f64, why: &str) -> Result<(), ConfigError> {
    if shape.is_finite() && shape > least {
        return Ok(());
    }
    Err(ConfigError::new("shape", alloc::format!("{shape} is not a number above {least}{why}")))
}

//! Uniform delay: uniformly distributed between two bounds.

use super::draws::Draws;
use super::nanoseconds;
use crate::ConfigError;
use alloc::format;
use netloom_units::Duration;

/// A delay that is uniformly distributed between two bounds.
///
/// Drawn by the inverse of the distribution function, from + (to - from) u (GINE section 4.2 for the method). netem's jitter may be
/// longer than the delay around which it is: `below` says how far the lower bound is below zero then.
#[derive(Clone, Debug, PartialEq)]
pub struct Uniform {
    /// The shortest.
    pub from: Duration,
    /// The longest; not shorter than `from`.
    pub to: Duration,
    /// How far the lower bound is below zero, if `from` is zero. What is drawn below zero counts as no delay.
    pub below: Duration,
}

impl Uniform {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        if !self.from.is_zero() && !self.below.is_zero() {
            let message = "the shortest delay is above zero and below it: leave `below` or `from` out";
            return Err(ConfigError::new("below", message));
        }
        if self.from <= self.to {
            return Ok(());
        }
        let (from, to) = (self.from, self.to);
        Err(ConfigError::new("from", format!("{from} is longer than {to}, which is given as `to`: exchange them")))
    }

    pub(super) fn mean(&self) -> f64 {
        self.least() / 2.0 + nanoseconds(self.to) / 2.0
    }

    /// The bound below which nothing is drawn.
    pub(super) fn least(&self) -> f64 {
        nanoseconds(self.from) - nanoseconds(self.below)
    }

    pub(super) fn draw(&self, draws: &mut Draws) -> f64 {
        self.least() + (nanoseconds(self.to) - self.least()) * draws.unit()
    }
}

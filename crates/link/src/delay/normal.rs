//! Normal delay.

use super::draws::Draws;
use super::nanoseconds;
use crate::ConfigError;
use netloom_units::Duration;

/// Normally distributed; what would lie below zero counts as zero.
///
/// Drawn by the inverse of the distribution function (Wichura 1988, AS 241), mean + deviation z(u).
#[derive(Clone, Debug, PartialEq)]
pub struct Normal {
    /// The mean.
    pub mean: Duration,
    /// The standard deviation.
    pub deviation: Duration,
}

impl Normal {
    /// Every pair makes sense; a deviation of zero gives a constant delay.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        Ok(())
    }

    pub(super) fn mean(&self) -> f64 {
        nanoseconds(self.mean)
    }

    /// The bound below which nothing is drawn.
    pub(super) fn least(&self) -> f64 {
        // The rarest number that is drawn has a probability of 2^-53, and its quantile is -8.21.
        nanoseconds(self.mean) - 8.3 * nanoseconds(self.deviation)
    }

    pub(super) fn draw(&self, draws: &mut Draws) -> f64 {
        nanoseconds(self.mean) + nanoseconds(self.deviation) * draws.normal()
    }
}

//! Shifted exponential delay: a constant part and an exponentially distributed one.

use super::draws::Draws;
use super::{check_positive, nanoseconds};
use crate::ConfigError;
use netloom_units::Duration;

/// A constant part and an exponentially distributed one.
///
/// The distribution function is 1 - exp(-(t - shift) / mean) for t ≥ shift. Source: GINE, sections 2.1 and 4.2, where
/// both parts are 10 ms; drawn as there by the inverse of the distribution function, shift - mean ln u.
#[derive(Clone, Debug, PartialEq)]
pub struct Exponential {
    /// The constant part.
    pub shift: Duration,
    /// The mean of the random part, and its standard deviation; above zero.
    pub mean: Duration,
}

impl Exponential {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        check_positive("mean", self.mean)
    }

    pub(super) fn mean(&self) -> f64 {
        nanoseconds(self.shift) + nanoseconds(self.mean)
    }

    /// The bound below which nothing is drawn.
    pub(super) fn least(&self) -> f64 {
        nanoseconds(self.shift)
    }

    pub(super) fn draw(&self, draws: &mut Draws) -> f64 {
        nanoseconds(self.shift) - nanoseconds(self.mean) * libm::log(draws.unit())
    }
}

//! Uniform delay: evenly distributed between two bounds.

use super::draws::Draws;
use super::nanoseconds;
use crate::ConfigError;
use alloc::format;
use netloom_units::Duration;

/// Evenly distributed between two bounds.
///
/// Drawn by the inverse of the distribution function, from + (to - from) u (GINE section 4.2 for the method).
#[derive(Clone, Debug, PartialEq)]
pub struct Uniform {
    /// The shortest.
    pub from: Duration,
    /// The longest; not shorter than `from`.
    pub to: Duration,
}

impl Uniform {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        if self.from <= self.to {
            return Ok(());
        }
        let (from, to) = (self.from, self.to);
        Err(ConfigError::new("from", format!("{from} is longer than {to}, which is given as `to`: exchange them")))
    }

    pub(super) fn mean(&self) -> f64 {
        nanoseconds(self.from) / 2.0 + nanoseconds(self.to) / 2.0
    }

    /// The bound below which nothing is drawn.
    pub(super) fn least(&self) -> f64 {
        nanoseconds(self.from)
    }

    pub(super) fn draw(&self, draws: &mut Draws) -> f64 {
        nanoseconds(self.from) + nanoseconds(self.to - self.from) * draws.unit()
    }
}

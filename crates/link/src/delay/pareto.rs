//! Shifted Pareto delay: rare delays are very long.

use super::draws::Draws;
use super::{check_positive, check_shape, nanoseconds};
use crate::ConfigError;
use netloom_units::Duration;

/// A constant part and one with a Pareto distribution (of the first kind).
///
/// The distribution function is 1 - (scale / (t - shift))^shape for t ≥ shift + scale; drawn by its inverse,
/// shift + scale u^(-1/shape). The mean is shift + scale shape / (shape - 1).
///
/// Netem's table `pareto` with mean m and deviation d is shape 3, scale 4/3 d, shift m - 2 d, without its cut above
/// m + 4 d (iproute2, `netem/pareto.c`).
#[derive(Clone, Debug, PartialEq)]
pub struct Pareto {
    /// The constant part.
    pub shift: Duration,
    /// The shortest of the random part; above zero.
    pub scale: Duration,
    /// How fast long delays become rare; above 1, for up to there the mean is infinite.
    pub shape: f64,
}

impl Pareto {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        check_positive("scale", self.scale)?;
        check_shape(self.shape, 1.0, ": up to there the mean delay is infinite")
    }

    pub(super) fn mean(&self) -> f64 {
        nanoseconds(self.shift) + nanoseconds(self.scale) * self.shape / (self.shape - 1.0)
    }

    /// The bound below which nothing is drawn.
    pub(super) fn least(&self) -> f64 {
        nanoseconds(self.shift) + nanoseconds(self.scale)
    }

    pub(super) fn draw(&self, draws: &mut Draws) -> f64 {
        nanoseconds(self.shift) + nanoseconds(self.scale) * libm::pow(draws.unit(), -1.0 / self.shape)
    }
}

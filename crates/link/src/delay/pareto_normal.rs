//! Pareto-normal delay: netem's mixture, "which seems to match experimentally observed distributions reasonably well".

use super::draws::Draws;
use super::nanoseconds;
use super::quantile::quantile;
use crate::ConfigError;
use netloom_units::Duration;

/// A quarter of a normal and three quarters of a Pareto distribution.
///
/// It is the quantiles that are added, so both parts are drawn with one number u:
/// mean + deviation (1/4 z(u) + 3/4 w(u)), where z is the quantile function of the standard normal distribution and
/// w(u) = 4/3 ((1 - u)^(-1/3) - 3/2), a Pareto distribution of shape 3 with mean 0.
///
/// Source: iproute2, `netem/paretonormal.c`, taken from NIST Net. Differs from its table in that nothing is cut above
/// 4 deviations and below -4, and that there are no steps.
#[derive(Clone, Debug, PartialEq)]
pub struct ParetoNormal {
    /// The mean, exactly.
    pub mean: Duration,
    /// The deviation, which netem calls jitter. The standard deviation is 1.0518 times as much, since netem scales its Pareto
    /// part by the variance, 3/4, and not by its root.
    pub deviation: Duration,
}

impl ParetoNormal {
    /// Every pair makes sense; a deviation of zero gives a constant delay.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        Ok(())
    }

    pub(super) fn mean(&self) -> f64 {
        nanoseconds(self.mean)
    }

    /// The bound below which nothing is drawn.
    pub(super) fn least(&self) -> f64 {
        // The rarest number that is drawn has a probability of 2^-53: z = -8.21, and 3/4 w = -1/2.
        nanoseconds(self.mean) - 2.6 * nanoseconds(self.deviation)
    }

    pub(super) fn draw(&self, draws: &mut Draws) -> f64 {
        let unit = draws.unit();
        let normal = quantile(unit) / 4.0;
        let pareto = 1.0 / libm::cbrt(1.0 - unit) - 1.5;
        nanoseconds(self.mean) + nanoseconds(self.deviation) * (normal + pareto)
    }
}

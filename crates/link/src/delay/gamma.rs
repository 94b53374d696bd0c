//! Shifted gamma delay: what several exponential delays in a row add up to, for any number of them.

use super::draws::Draws;
use super::{check_positive, check_shape, nanoseconds};
use crate::ConfigError;
use netloom_units::Duration;

/// A constant part and one with a gamma distribution.
///
/// The density of the random part is proportional to t^(shape - 1) exp(-t / scale); the mean is shift + shape scale,
/// the variance shape scale^2.
#[derive(Clone, Debug, PartialEq)]
pub struct Gamma {
    /// The constant part.
    pub shift: Duration,
    /// The shape, above 0; for a whole number, how many exponential delays are added.
    pub shape: f64,
    /// The mean of each of these; above zero.
    pub scale: Duration,
}

impl Gamma {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        check_positive("scale", self.scale)?;
        check_shape(self.shape, 0.0, "")
    }

    pub(super) fn mean(&self) -> f64 {
        nanoseconds(self.shift) + self.shape * nanoseconds(self.scale)
    }

    /// The bound below which nothing is drawn.
    pub(super) fn least(&self) -> f64 {
        nanoseconds(self.shift)
    }

    pub(super) fn draw(&self, draws: &mut Draws) -> f64 {
        let drawn = if self.shape < 1.0 {
            // Marsaglia and Tsang 2000, section 6: one more than the shape, then a power of a uniform number.
            let above = standard(self.shape + 1.0, draws);
            above * libm::pow(draws.unit(), 1.0 / self.shape)
        } else {
            standard(self.shape, draws)
        };
        nanoseconds(self.shift) + nanoseconds(self.scale) * drawn
    }
}

/// A gamma number with scale 1 for a shape of 1 and above: Marsaglia and Tsang 2000, "A simple method for generating
/// gamma variables", the procedure of section 5.
fn standard(shape: f64, draws: &mut Draws) -> f64 {
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / libm::sqrt(9.0 * d);
    loop {
        let x = draws.normal();
        let root = 1.0 + c * x;
        if root <= 0.0 {
            continue;
        }
        let v = root * root * root;
        let u = draws.unit();
        let square = x * x;
        // The squeeze saves the logarithms in most cases.
        if u < 1.0 - 0.0331 * square * square || libm::log(u) < 0.5 * square + d * (1.0 - v + libm::log(v)) {
            return d * v;
        }
    }
}

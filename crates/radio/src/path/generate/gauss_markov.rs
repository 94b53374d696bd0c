//! Gauss and Markov: the velocity changes little by little, with a memory.
//!
//! v' = α v + sqrt(1 - α²) w for both parts of the velocity, where w is normally distributed (Liang and Haas 1999, with a mean velocity of zero; Camp, Boleng
//! and Davies 2002, section 2.7). Stations bounce off the edges of the area. The path begins in the stationary distribution: anywhere in
//! the area, with a speed after Rayleigh.
//! Parameters: `speed`, the mean speed, m/s, above 0; `memory`, α, from 0 (each step is independent) to below 1 (straight on); `step`, the time between changes.
//! Differs from Camp and others, who let speed and direction change apart from each other around means of their own.

use super::{Walk, check_speeds};
use crate::error::ConfigError;
use netloom_units::Duration;

/// See the module's documentation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GaussMarkov {
    /// The mean speed in metres per second.
    pub speed: f64,
    /// The share of the velocity that remains from step to step.
    pub memory: f64,
    /// The time between changes.
    pub step: Duration,
}

impl GaussMarkov {
    pub(super) fn walk(&self, walk: &mut Walk) -> Result<(), ConfigError> {
        check_speeds((self.speed, self.speed))?;
        if !(0.0..1.0).contains(&self.memory) {
            return Err(ConfigError::new("memory", "it is from 0 to below 1"));
        }
        if self.step.is_zero() {
            return Err(ConfigError::new("step", "a step is longer than 0 s"));
        }
        // The mean of Rayleigh's distribution is the deviation of both parts times sqrt(π / 2).
        let deviation = self.speed / libm::sqrt(core::f64::consts::FRAC_PI_2);
        let (sides, step) = ((walk.area.width.0, walk.area.height.0), self.step.as_secs_f64());
        let (mut east, mut north) = (walk.unit() * sides.0, walk.unit() * sides.1);
        let (mut eastward, mut northward) = (deviation * walk.normal(), deviation * walk.normal());
        walk.begin((east, north));
        let fresh = deviation * libm::sqrt(1.0 - self.memory * self.memory);
        while !walk.is_over() {
            (east, eastward) = bounced(east + eastward * step, eastward, sides.0);
            (north, northward) = bounced(north + northward * step, northward, sides.1);
            walk.go((east, north), step)?;
            eastward = self.memory * eastward + fresh * walk.normal();
            northward = self.memory * northward + fresh * walk.normal();
        }
        Ok(())
    }
}

/// Where something is within a side, and its velocity, when it has bounced off the ends.
fn bounced(at: f64, velocity: f64, side: f64) -> (f64, f64) {
    let folded = at - 2.0 * side * libm::floor(at / (2.0 * side));
    if folded > side { ((2.0 * side - folded).max(0.0), -velocity) } else { (folded.max(0.0), velocity) }
}

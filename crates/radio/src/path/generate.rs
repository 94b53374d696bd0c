//! Paths that are drawn: models of how people and vehicles move.

mod gauss_markov;
mod group;
mod manhattan;
mod random_waypoint;

pub use gauss_markov::GaussMarkov;
pub use group::Group;
pub use manhattan::Manhattan;
pub use random_waypoint::RandomWaypoint;

use super::{MOST_WAYPOINTS, Path, Waypoint};
use crate::error::ConfigError;
use crate::path_loss::Metres;
use crate::position::Position;
use alloc::format;
use alloc::vec::Vec;
use netloom_units::{Duration, Seed};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The longest leg in nanoseconds: 31 years.
const LONGEST: f64 = 1e18;

/// A rectangle on the map, at one height.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    /// The corner in the south-west.
    pub corner: Position,
    /// How far it reaches to the east.
    pub width: Metres,
    /// How far it reaches to the north.
    pub height: Metres,
}

/// A model of motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Generator {
    /// Straight to a place that is drawn, a pause there, and on.
    RandomWaypoint(RandomWaypoint),
    /// A velocity that changes little by little.
    GaussMarkov(GaussMarkov),
    /// Along streets, and at crossings straight on or around a corner.
    Manhattan(Manhattan),
}

impl Generator {
    /// Draws the path of a station for so long a time, behind which it stands still.
    ///
    /// # Errors
    /// If the model contradicts itself, or the path would have too many waypoints.
    pub fn path(&self, area: Area, span: Duration, seed: Seed) -> Result<Path, ConfigError> {
        area.check()?;
        let mut walk = Walk::new(area, span, seed);
        match self {
            Self::RandomWaypoint(own) => own.walk(&mut walk)?,
            Self::GaussMarkov(own) => own.walk(&mut walk)?,
            Self::Manhattan(own) => own.walk(&mut walk)?,
        }
        Path::through(&walk.waypoints, None)
    }
}

impl Area {
    fn check(&self) -> Result<(), ConfigError> {
        if [self.width, self.height].iter().any(|side| !side.0.is_finite() || side.0 <= 0.0) {
            return Err(ConfigError::new("area", "both sides of the area are longer than 0 m"));
        }
        Ok(())
    }

    /// The position so far from the corner.
    fn at(&self, east: f64, north: f64) -> Position {
        let Position { x, y, z } = self.corner;
        Position { x: Metres(x.0 + east), y: Metres(y.0 + north), z }
    }
}

/// A path while it is drawn.
struct Walk {
    area: Area,
    span: Duration,
    random: Xoshiro256PlusPlus,
    waypoints: Vec<Waypoint>,
    /// The time of the last waypoint.
    now: u64,
}

impl Walk {
    fn new(area: Area, span: Duration, seed: Seed) -> Self {
        let random = Xoshiro256PlusPlus::seed_from_u64(seed.get());
        Self { area, span, random, waypoints: Vec::new(), now: 0 }
    }

    /// A number from zero to below one.
    fn unit(&mut self) -> f64 {
        (self.random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number between two others.
    fn uniform(&mut self, (least, most): (f64, f64)) -> f64 {
        least + (most - least) * self.unit()
    }

    /// A number of the normal distribution with deviation 1 (Box and Muller).
    fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.unit()));
        radius * libm::cos(super::TURN * self.unit())
    }

    /// Whether the path is as long as it is to be.
    fn is_over(&self) -> bool {
        self.now >= self.span.as_nanos()
    }

    /// Begins at this place.
    fn begin(&mut self, (east, north): (f64, f64)) {
        self.waypoints.push(Waypoint { at: Duration::ZERO, position: self.area.at(east, north) });
    }

    /// Goes on to a place, for so many seconds.
    fn go(&mut self, (east, north): (f64, f64), seconds: f64) -> Result<(), ConfigError> {
        self.push(self.area.at(east, north), seconds)
    }

    /// Stands still for so many seconds.
    fn rest(&mut self, seconds: f64) -> Result<(), ConfigError> {
        let last = self.waypoints.last().filter(|_| seconds > 0.0).map(|last| last.position);
        last.map_or(Ok(()), |position| self.push(position, seconds))
    }

    fn push(&mut self, position: Position, seconds: f64) -> Result<(), ConfigError> {
        if self.waypoints.len() >= MOST_WAYPOINTS {
            let message = format!("a path has at most {MOST_WAYPOINTS} waypoints: write a shorter time");
            return Err(ConfigError::new("span", message));
        }
        // Rounded up, no leg is faster than it was drawn.
        let nanos = libm::ceil(seconds * 1e9).clamp(1.0, LONGEST) as u64;
        self.now = self.now.saturating_add(nanos);
        self.waypoints.push(Waypoint { at: Duration::from_nanos(self.now), position });
        Ok(())
    }
}

/// Checks a range of speeds above zero.
fn check_speeds((least, most): (f64, f64)) -> Result<(), ConfigError> {
    if !(least.is_finite() && most.is_finite() && least > 0.0 && least <= most) {
        return Err(ConfigError::new("speed", "speeds are above 0 m/s, and the first is not above the second"));
    }
    Ok(())
}

/// Checks a range of pauses.
fn check_pauses((least, most): (Duration, Duration)) -> Result<(), ConfigError> {
    if least > most {
        return Err(ConfigError::new("pause", "the first pause is not above the second"));
    }
    Ok(())
}

#[cfg(test)]
mod tests;

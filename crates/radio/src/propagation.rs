//! Where stations are, and what arrives of what they send: path loss, shadowing and fading of each pair.
//!
//! All of it is a function of the seed, the names and positions of both stations, and the instant; both directions of a pair are equal.

mod ways;

use crate::antenna::AntennaPattern;
use crate::decibels::Decibels;
use crate::error::ConfigError;
use crate::fading::{Fading, FadingModel};
use crate::path::Path;
use crate::path_loss::{Floors, Heights, Metres, PathLoss, Walls};
use crate::position::Position;
use crate::scenario::Scenario;
use crate::shadowing::{Place, Shadowing};
use crate::wall::{self, Wall};
use alloc::format;
use alloc::vec::Vec;
use netloom_units::Seed;
pub(crate) use ways::Ways;

/// A model of path loss between positions; heights are those of the positions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Propagation {
    /// Free space (Friis).
    FreeSpace,
    /// Log-distance, see [`PathLoss::LogDistance`].
    LogDistance {
        /// The exponent.
        exponent: f64,
        /// The loss at one metre.
        reference: Decibels,
    },
    /// Three slopes, see [`PathLoss::ThreeSlopes`].
    ThreeSlopes {
        /// The loss at one metre.
        reference: Decibels,
    },
    /// Two rays, see [`PathLoss::TwoRay`].
    TwoRay,
    /// Walls and floors between all stations, see [`PathLoss::MultiWall`].
    MultiWall(Walls),
    /// Rooms and floors, see [`PathLoss::Indoor`].
    Indoor(Floors),
    /// A place of a mobile network; the higher antenna is the base station's.
    Scenario(Scenario),
}

impl Propagation {
    /// Returns the loss between two positions at so many hertz.
    pub fn loss(&self, one: Position, other: Position, hertz: u64) -> Decibels {
        let (east, north) = (one.x.0 - other.x.0, one.y.0 - other.y.0);
        let ground = libm::sqrt(east * east + north * north);
        let up = one.z.0 - other.z.0;
        let direct = Metres(libm::sqrt(ground * ground + up * up));
        let heights = Heights { sender: Metres(one.z.0.max(other.z.0)), receiver: Metres(one.z.0.min(other.z.0)) };
        let path = match *self {
            Self::Scenario(scenario) => return scenario.loss(Metres(ground), heights, hertz),
            Self::FreeSpace => PathLoss::FreeSpace,
            Self::LogDistance { exponent, reference } => PathLoss::LogDistance { exponent, reference },
            Self::ThreeSlopes { reference } => PathLoss::ThreeSlopes { reference },
            Self::TwoRay => PathLoss::TwoRay(heights),
            Self::MultiWall(walls) => PathLoss::MultiWall(walls),
            Self::Indoor(floors) => PathLoss::Indoor(floors),
        };
        path.loss(direct, hertz)
    }

    /// Whether the model needs heights above the ground.
    fn needs_heights(&self) -> bool {
        matches!(self, Self::TwoRay | Self::Scenario(_))
    }
}

/// The description of shadowing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShadowingConfig {
    /// The standard deviation.
    pub deviation: Decibels,
    /// The distance over which it is correlated.
    pub correlation: Metres,
}

/// The description of fading.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FadingConfig {
    /// The distribution of powers.
    pub model: FadingModel,
    /// How fast everything around moves, in metres per second; the motion of stations comes on top.
    pub speed: f64,
}

/// A station as propagation sees it.
pub(crate) struct Antenna<'a> {
    pub(crate) name: &'a str,
    pub(crate) path: &'a Path,
    pub(crate) power: Decibels,
    pub(crate) pattern: AntennaPattern,
}

/// A station as the loss of a pair sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End<'a> {
    pub(crate) name: &'a str,
    pub(crate) position: Position,
    pub(crate) pattern: AntennaPattern,
}

/// A model of path loss with what varies around it, at a frequency.
#[derive(Clone, Debug)]
pub(crate) struct Surroundings {
    pub(crate) propagation: Propagation,
    pub(crate) walls: Vec<Wall>,
    pub(crate) shadowing: Option<ShadowingConfig>,
    pub(crate) fading: Option<FadingConfig>,
    pub(crate) hertz: u64,
}

impl Surroundings {
    pub(crate) fn check(&self, antennas: &[Antenna<'_>]) -> Result<(), ConfigError> {
        wall::check(&self.walls)?;
        if let Some(FadingConfig { model: FadingModel::Nakagami(shape), .. }) = self.fading
            && !(0.5..=100.0).contains(&shape)
        {
            return Err(ConfigError::new("fading", "the m of Nakagami's distribution is 0.5 to 100"));
        }
        for Antenna { name, path, pattern, .. } in antennas {
            pattern.check().map_err(|wrong| ConfigError::new(wrong.key, format!("`{name}`: {}", wrong.message)))?;
            let key = if path.is_standing() { "position" } else { "path" };
            for position in path.extremes() {
                position.check().map_err(|why| ConfigError::new(key, format!("`{name}`: {why}")))?;
                if self.propagation.needs_heights() && position.z.0 <= 0.0 {
                    return Err(ConfigError::new(key, format!("`{name}`: this loss needs a height above 0 m")));
                }
            }
        }
        Ok(())
    }

    /// The fading of a pair, if there is any.
    fn fading(&self, one: &str, other: &str, seed: Seed) -> Option<Fading> {
        let own = pair(seed, one, other).derive("fading");
        self.fading.map(|fading| Fading::new(fading.model, fading.speed, self.hertz, own))
    }

    /// The shadowing of a pair, if there is any.
    fn shadowing(&self, one: &str, other: &str, seed: Seed) -> Option<Shadowing> {
        let own = pair(seed, one, other).derive("shadowing");
        self.shadowing.map(|ShadowingConfig { deviation, correlation }| Shadowing::new(deviation, correlation, own))
    }

    /// The loss in decibels between two stations, gains of antennas taken off.
    fn loss(&self, one: End<'_>, other: End<'_>, shadowing: Option<&Shadowing>) -> f64 {
        let (first, second) = if one.name <= other.name { (one, other) } else { (other, one) };
        let (from, to) = (first.position, second.position);
        let path = self.propagation.loss(from, to, self.hertz).0 + wall::loss(&self.walls, from, to);
        let gains = first.pattern.towards(from, to).0 + second.pattern.towards(to, from).0;
        let place = |position: Position| Place { x: position.x, y: position.y };
        let shadowed = shadowing.map_or(path, |shadowing| path + shadowing.loss(place(from), place(to)).0);
        shadowed - gains
    }
}

/// The seed of a pair, the same in both directions.
fn pair(seed: Seed, one: &str, other: &str) -> Seed {
    seed.derive("pair").derive(one.min(other)).derive(one.max(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(x: f64, y: f64, z: f64) -> Position {
        Position { x: Metres(x), y: Metres(y), z: Metres(z) }
    }

    #[test]
    fn heights_and_distances_are_those_of_positions() {
        let hertz = 2_412_000_000;
        // 3, 4 and 12 make 13.
        let free = Propagation::FreeSpace.loss(at(0.0, 0.0, 1.0), at(3.0, 4.0, 13.0), hertz);
        assert_eq!(free, PathLoss::FreeSpace.loss(Metres(13.0), hertz));
        // Beyond the crossover of 227.48 m, 40 log10(d) less 20 log10 of both heights.
        let far = Propagation::TwoRay.loss(at(0.0, 0.0, 1.5), at(1_000.0, 0.0, 1.5), hertz);
        assert!(libm::fabs(far.0 - (120.0 - 40.0 * libm::log10(1.5))) < 1e-9, "{far:?}");
        let (low, high) = (at(0.0, 0.0, 1.5), at(0.0, 80.0, 10.0));
        let street = Propagation::Scenario(Scenario::Street);
        assert_eq!(street.loss(low, high, hertz), street.loss(high, low, hertz));
    }
}

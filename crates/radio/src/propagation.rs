//! Where stations are, and what arrives of what they send: path loss, shadowing and fading of each pair.
//!
//! All of it is a function of the seed, the names and positions of both stations, and the instant; both directions of a pair are equal.

use crate::decibels::Decibels;
use crate::error::ConfigError;
use crate::fading::Fading;
use crate::path_loss::{Floors, Heights, Metres, PathLoss, Walls};
use crate::power::Power;
use crate::scenario::Scenario;
use crate::shadowing::{Place, Shadowing};
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;
use netloom_units::{Instant, Seed};

/// A position in metres: to the east, to the north, and above the ground.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Position {
    /// The distance from the origin to the east.
    pub x: Metres,
    /// The distance from the origin to the north.
    pub y: Metres,
    /// The height above the ground.
    pub z: Metres,
}

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
    /// The power of the line of sight over that of the echoes; none for Rayleigh fading.
    pub line_of_sight: Option<Decibels>,
    /// How fast the stations of a pair move relative to each other, in metres per second.
    pub speed: f64,
}

/// The ways between all pairs of stations.
#[derive(Clone, Debug)]
pub(crate) struct Ways {
    stations: usize,
    /// The powers that arrive without fading, in dBm, by sender and receiver.
    levels: Vec<f64>,
    powers: Vec<Power>,
    /// By both numbers, the lower one first; empty without fading.
    fadings: Vec<Option<Fading>>,
}

/// A station as propagation sees it.
pub(crate) struct Antenna<'a> {
    pub(crate) name: &'a str,
    pub(crate) position: Position,
    pub(crate) power: Decibels,
}

/// A model of path loss with what varies around it, at a frequency.
pub(crate) struct Surroundings {
    pub(crate) propagation: Propagation,
    pub(crate) shadowing: Option<ShadowingConfig>,
    pub(crate) fading: Option<FadingConfig>,
    pub(crate) hertz: u64,
}

impl Surroundings {
    pub(crate) fn check(&self, antennas: &[Antenna<'_>]) -> Result<(), ConfigError> {
        for Antenna { name, position, .. } in antennas {
            let known = [position.x, position.y, position.z];
            if known.iter().any(|metres| !libm::fabs(metres.0).le(&1e7)) {
                return Err(ConfigError::new("position", format!("`{name}`: at most 10000 km from the origin")));
            }
            if self.propagation.needs_heights() && position.z.0 <= 0.0 {
                return Err(ConfigError::new("position", format!("`{name}`: this loss needs a height above 0 m")));
            }
        }
        Ok(())
    }

    pub(crate) fn ways(&self, antennas: &[Antenna<'_>], seed: Seed) -> Ways {
        let stations = antennas.len();
        let mut levels = vec![f64::NEG_INFINITY; stations * stations];
        let mut fadings = Vec::new();
        if self.fading.is_some() {
            fadings.resize(stations * stations, None);
        }
        for low in 0..stations {
            for high in low + 1..stations {
                let (one, other) = (&antennas[low], &antennas[high]);
                let loss = self.loss(one, other, seed);
                levels[low * stations + high] = one.power.0 - loss;
                levels[high * stations + low] = other.power.0 - loss;
                if let Some(fading) = self.fading {
                    let own = pair(seed, one.name, other.name).derive("fading");
                    fadings[low * stations + high] =
                        Some(Fading::new(fading.line_of_sight, fading.speed, self.hertz, own));
                }
            }
        }
        let powers = levels.iter().map(|level| Power::of(Decibels(*level))).collect();
        Ways { stations, levels, powers, fadings }
    }

    fn loss(&self, one: &Antenna<'_>, other: &Antenna<'_>, seed: Seed) -> f64 {
        let path = self.propagation.loss(one.position, other.position, self.hertz).0;
        let Some(ShadowingConfig { deviation, correlation }) = self.shadowing else { return path };
        let (first, second) = if one.name <= other.name { (one, other) } else { (other, one) };
        let place = |antenna: &Antenna<'_>| Place { x: antenna.position.x, y: antenna.position.y };
        let own = pair(seed, one.name, other.name).derive("shadowing");
        path + Shadowing::new(deviation, correlation, own).loss(place(first), place(second)).0
    }
}

/// The seed of a pair, the same in both directions.
fn pair(seed: Seed, one: &str, other: &str) -> Seed {
    seed.derive("pair").derive(one.min(other)).derive(one.max(other))
}

impl Ways {
    /// Returns the power that arrives at `to` of what `from` sends at an instant.
    pub(crate) fn power(&self, from: usize, to: usize, at: Instant) -> Power {
        let place = from * self.stations + to;
        let faded = self.fadings.get(from.min(to) * self.stations + from.max(to)).and_then(Option::as_ref);
        faded.map_or(self.powers[place], |fading| Power::of(Decibels(self.levels[place]) + fading.gain(at)))
    }
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

    #[test]
    fn pairs_are_alike_in_both_directions_and_in_any_order() {
        let surroundings = Surroundings {
            propagation: Propagation::FreeSpace,
            shadowing: Some(ShadowingConfig { deviation: Decibels(6.0), correlation: Metres(10.0) }),
            fading: Some(FadingConfig { line_of_sight: None, speed: 1.0 }),
            hertz: 5_180_000_000,
        };
        let antenna = |name, x| Antenna { name, position: at(x, 0.0, 1.5), power: Decibels(16.0) };
        let ways = surroundings.ways(&[antenna("a", 0.0), antenna("b", 20.0), antenna("c", 70.0)], Seed::new(5));
        let other = surroundings.ways(&[antenna("c", 70.0), antenna("b", 20.0), antenna("a", 0.0)], Seed::new(5));
        for now in [0, 1_000_000, 77_000_000_000].map(Instant::from_nanos) {
            for (one, two) in [(0, 1), (0, 2), (1, 2)] {
                assert_eq!(ways.power(one, two, now), ways.power(two, one, now));
                assert_eq!(ways.power(one, two, now), other.power(2 - one, 2 - two, now));
            }
        }
        assert_ne!(ways.power(0, 1, Instant::ZERO), ways.power(0, 1, Instant::from_nanos(50_000_000)));
    }
}

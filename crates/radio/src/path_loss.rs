//! Path loss: how much weaker a signal is at a distance, as the median over places and without fading.
//!
//! Sources: Friis (1946); Rappaport, *Wireless Communications*, sections 4.6 (two rays) and 4.9 (log-distance); ITU-R P.1238
//! (rooms and floors); the three slopes of ns-3; Gudmundson (1991). All functions of the operating system are left out: logarithms are those
//! of `libm`, so that the bits are the same on every machine.
//! Differs from the formulas: no loss is below 0 dB, which some would have at less than a wavelength.

use crate::decibels::Decibels;

/// The speed of light in metres per second.
const LIGHT: f64 = 299_792_458.0;
/// Boltzmann's constant in joules per kelvin, and the temperature that noise figures refer to.
const BOLTZMANN: f64 = 1.380_649e-23;
const KELVIN: f64 = 290.0;

/// A distance or a height in metres.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Metres(pub f64);

/// The heights of both antennas above the ground.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Heights {
    /// The sender's.
    pub sender: Metres,
    /// The receiver's.
    pub receiver: Metres,
}

/// The rooms and floors between two antennas.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Floors {
    /// The power of the distance, ten times: 28 in flats, 30 in offices, 22 in shops.
    pub coefficient: f64,
    /// The loss of all floors in between: 15 dB for the first of an office and 4 dB for each other.
    pub loss: Decibels,
}

/// The walls and floors that a signal passes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Walls {
    /// The number of light walls: plasterboard, or with many openings; 3.4 dB each.
    pub light: u32,
    /// The number of heavy walls: brick or concrete; 6.9 dB each.
    pub heavy: u32,
    /// The number of floors; 18.3 dB for the first, and less for each other.
    pub floors: u32,
}

impl Walls {
    fn loss(self) -> f64 {
        let floors = f64::from(self.floors);
        let above = libm::pow(floors, (floors + 2.0) / (floors + 1.0) - 0.46);
        3.4 * f64::from(self.light) + 6.9 * f64::from(self.heavy) + 18.3 * above
    }
}

/// A model of path loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PathLoss {
    /// Free space: 20 log10(4 π d f / c).
    FreeSpace,
    /// `reference` at one metre, and 10 n log10(d) more.
    LogDistance {
        /// The exponent n: 2 in free space, 1.6 to 1.8 along corridors, 2.7 to 3.5 in towns, 4 to 6 behind obstacles.
        exponent: f64,
        /// The loss at one metre; of ns-3, 46.6777 dB at 5.15 GHz.
        reference: Decibels,
    },
    /// Log-distance with exponents of 1.9 from one metre on, and 3.8 from 200 metres on.
    ThreeSlopes {
        /// The loss at one metre.
        reference: Decibels,
    },
    /// A ray along the line of sight and one from the ground: as in free space up to 4 π ht hr / λ, and d⁴ / (ht hr)² beyond.
    TwoRay(Heights),
    /// Free space, and the losses of walls and floors (COST 231, section 4.7).
    MultiWall(Walls),
    /// Rooms and floors: 20 log10(f) + N log10(d) + Lf - 28, with f in MHz.
    Indoor(Floors),
}

impl PathLoss {
    /// Returns the loss over a distance at so many hertz. Distances below a centimetre count as one.
    pub fn loss(&self, distance: Metres, hertz: u64) -> Decibels {
        let distance = distance.0.max(0.01);
        let tenfold_log = |value: f64| 10.0 * libm::log10(value);
        let wavelength = LIGHT / hertz as f64;
        let free_space = || 2.0 * tenfold_log(4.0 * core::f64::consts::PI * distance / wavelength);
        let loss = match self {
            Self::FreeSpace => free_space(),
            Self::LogDistance { exponent, reference } => reference.0 + exponent * tenfold_log(distance),
            Self::ThreeSlopes { reference } => {
                reference.0 + 1.9 * tenfold_log(distance.min(200.0)) + 3.8 * tenfold_log(distance.max(200.0) / 200.0)
            }
            Self::TwoRay(heights) if distance < crossover(heights, wavelength) => free_space(),
            Self::TwoRay(Heights { sender, receiver }) => {
                4.0 * tenfold_log(distance) - 2.0 * tenfold_log(sender.0 * receiver.0)
            }
            Self::MultiWall(walls) => free_space() + walls.loss(),
            Self::Indoor(floors) => {
                let megahertz = hertz as f64 / 1e6;
                2.0 * tenfold_log(megahertz) + floors.coefficient * libm::log10(distance) + floors.loss.0 - 28.0
            }
        };
        Decibels(loss.max(0.0))
    }
}

impl Heights {
    /// Returns the distance from which on the ray from the ground decides.
    pub fn crossover(&self, hertz: u64) -> Metres {
        Metres(crossover(self, LIGHT / hertz as f64))
    }
}

fn crossover(heights: &Heights, wavelength: f64) -> f64 {
    4.0 * core::f64::consts::PI * heights.sender.0 * heights.receiver.0 / wavelength
}

/// Returns the noise that a receiver with this noise figure hears in a channel so many hertz wide, in dBm: at 290 K.
pub fn noise_floor(hertz: u64, figure: Decibels) -> Decibels {
    Decibels::of_ratio(BOLTZMANN * KELVIN * hertz as f64 * 1e3) + figure
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether two losses agree to a hundredth of a decibel.
    fn agree(found: Decibels, expected: f64) {
        assert!(libm::fabs(found.0 - expected) < 0.01, "{} instead of {expected}", found.0);
    }

    #[test]
    fn free_space_has_the_losses_of_friis() {
        for (hertz, metres, expected) in [
            (2_412_000_000, 1.0, 40.095),
            (2_412_000_000, 100.0, 80.095),
            (5_180_000_000, 1.0, 46.734),
            (5_180_000_000, 100.0, 86.734),
        ] {
            agree(PathLoss::FreeSpace.loss(Metres(metres), hertz), expected);
        }
        assert_eq!(PathLoss::FreeSpace.loss(Metres(0.0), 100_000_000).0, 0.0);
    }

    #[test]
    fn both_sides_of_two_rays_meet() {
        let of = |sender, receiver| Heights { sender: Metres(sender), receiver: Metres(receiver) };
        let cases = [
            (of(1.5, 1.5), 914_000_000, 86.20),
            (of(1.5, 1.5), 2_412_000_000, 227.48),
            (of(1.5, 1.5), 5_180_000_000, 488.54),
            (of(10.0, 1.5), 2_412_000_000, 1_516.55),
        ];
        for (heights, hertz, expected) in cases {
            let crossover = heights.crossover(hertz).0;
            assert!(libm::fabs(crossover - expected) < 0.01, "{crossover} instead of {expected}");
            let (near, far) = (Metres(crossover * 0.999_999), Metres(crossover * 1.000_001));
            let model = PathLoss::TwoRay(heights);
            agree(model.loss(near, hertz), model.loss(far, hertz).0);
            // Ten times as far is 40 dB.
            agree(model.loss(Metres(10.0 * far.0), hertz), model.loss(far, hertz).0 + 40.0);
        }
    }

    #[test]
    fn slopes_have_their_exponents() {
        let at = |model: PathLoss, metres| model.loss(Metres(metres), 5_180_000_000);
        let reference = Decibels(46.6777);
        agree(at(PathLoss::LogDistance { exponent: 3.0, reference }, 100.0), 46.6777 + 60.0);
        agree(at(PathLoss::ThreeSlopes { reference }, 100.0), 46.6777 + 38.0);
        // 19 log10(200) and 38 log10(5).
        agree(at(PathLoss::ThreeSlopes { reference }, 1_000.0), 46.6777 + 43.720 + 26.561);
        // 20 log10(4 π 5.18e9 / c) is 46.734; two floors are 2^(4/3 - 0.46), 1.8319 times the first.
        let walls = Walls { light: 2, heavy: 1, floors: 2 };
        agree(at(PathLoss::MultiWall(walls), 1.0), 46.734 + 6.8 + 6.9 + 18.3 * 1.8319);
        // 20 log10(5180) is 74.287.
        agree(
            at(PathLoss::Indoor(Floors { coefficient: 30.0, loss: Decibels(15.0) }), 10.0),
            74.287 + 30.0 + 15.0 - 28.0,
        );
    }

    #[test]
    fn noise_grows_with_the_width() {
        for (megahertz, expected) in [(20, -100.96), (40, -97.95), (80, -94.94), (160, -91.93)] {
            agree(noise_floor(megahertz * 1_000_000, Decibels(0.0)), expected);
        }
        agree(noise_floor(20_000_000, Decibels(7.0)), -93.96);
    }
}

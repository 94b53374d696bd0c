//! Antennas: how much stronger or weaker they send and receive by direction.
//!
//! Source: 3GPP TR 38.901, table 7.3-1: off the axis by φ, an antenna loses 12 (φ / width)² dB, 3 dB at half the width, at most the
//! front-to-back ratio; the same holds for the elevation, and both losses together are at most that ratio. Sectors of base stations have 65 degrees
//! and 30 dB; with equal widths of a few degrees the form is that of a parabolic antenna.
//! Parameters: `gain` on the axis, in dB over an isotropic antenna (2 of a dipole, 8 to 17 of a sector, 20 to 30 of a dish); `azimuth`, in degrees
//! clockwise from the north; `width` and `vertical_width`, in degrees between the points of half the power; `tilt`, in degrees below the horizon.
//! Differs from the source: without a vertical width all elevations are alike.

use crate::decibels::Decibels;
use crate::error::ConfigError;
use crate::position::Position;
use alloc::format;

/// The greatest gain in decibels, of a dish of 50 m at 5 GHz.
const MOST_GAIN: f64 = 70.0;
/// The greatest front-to-back ratio in decibels.
const MOST_RATIO: f64 = 100.0;

/// The gain of an antenna by direction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AntennaPattern {
    /// The gain in the direction in which it is greatest; below zero where cables lose more than it wins.
    pub gain: Decibels,
    /// Where it points; none: it sends equally well in all directions.
    pub beam: Option<Beam>,
}

/// The direction of an antenna, and how fast its gain falls off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beam {
    /// The direction of its axis in degrees, clockwise from the north.
    pub azimuth: f64,
    /// The degrees between both directions along the ground in which it has half the power; in town 65.
    pub width: f64,
    /// How much less it sends behind itself than along its axis.
    pub front_to_back: Decibels,
    /// The degrees by which its axis points below the horizon.
    pub tilt: f64,
    /// The degrees between both elevations in which it has half the power; none: all are alike.
    pub vertical_width: Option<f64>,
}

impl AntennaPattern {
    /// Returns the gain in the direction from one position to another.
    pub fn towards(&self, from: Position, to: Position) -> Decibels {
        let Some(beam) = self.beam else { return self.gain };
        let (east, north) = (to.x.0 - from.x.0, to.y.0 - from.y.0);
        let off = around(libm::atan2(east, north).to_degrees() - beam.azimuth);
        let level = beam.loss(off / beam.width);
        let upright = beam.vertical_width.map_or(0.0, |width| {
            let elevation = libm::atan2(to.z.0 - from.z.0, libm::sqrt(east * east + north * north)).to_degrees();
            beam.loss((elevation + beam.tilt) / width)
        });
        Decibels(self.gain.0 - (level + upright).min(beam.front_to_back.0))
    }

    /// Checks that all numbers are within their ranges.
    ///
    /// # Errors
    /// If one is not.
    pub fn check(&self) -> Result<(), ConfigError> {
        let wrong = |what: &str| Err(ConfigError::new("antenna", what));
        if !(-MOST_GAIN..=MOST_GAIN).contains(&self.gain.0) {
            return Err(ConfigError::new("antenna", format!("a gain has -{MOST_GAIN} dB to {MOST_GAIN} dB")));
        }
        let Some(Beam { azimuth, width, front_to_back, tilt, vertical_width }) = self.beam else { return Ok(()) };
        if !(-360.0..=360.0).contains(&azimuth) {
            return wrong("an azimuth has -360 to 360 degrees, clockwise from the north");
        }
        if ![Some(width), vertical_width].into_iter().flatten().all(|width| (0.1..=360.0).contains(&width)) {
            return wrong("a beam is 0.1 to 360 degrees wide");
        }
        if !(-90.0..=90.0).contains(&tilt) {
            return wrong("a tilt has -90 to 90 degrees");
        }
        if !(0.0..=MOST_RATIO).contains(&front_to_back.0) {
            return Err(ConfigError::new("antenna", format!("a front-to-back ratio has 0 dB to {MOST_RATIO} dB")));
        }
        Ok(())
    }
}

impl Beam {
    /// The loss at so many widths off the axis.
    fn loss(&self, widths: f64) -> f64 {
        (12.0 * widths * widths).min(self.front_to_back.0)
    }
}

/// The same angle from -180 to 180 degrees; `angle` is from -540 to 540.
fn around(angle: f64) -> f64 {
    if angle > 180.0 {
        angle - 360.0
    } else if angle < -180.0 {
        angle + 360.0
    } else {
        angle
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path_loss::Metres;

    fn at(x: f64, y: f64, z: f64) -> Position {
        Position { x: Metres(x), y: Metres(y), z: Metres(z) }
    }

    /// A sector of 65 degrees to the east.
    const SECTOR: Beam =
        Beam { azimuth: 90.0, width: 65.0, front_to_back: Decibels(30.0), tilt: 0.0, vertical_width: None };

    fn gain(beam: Beam, to: Position) -> f64 {
        AntennaPattern { gain: Decibels(17.0), beam: Some(beam) }.towards(at(0.0, 0.0, 10.0), to).0
    }

    #[test]
    fn half_the_width_off_the_axis_is_half_the_power() {
        let off = |degrees: f64| {
            let angle = degrees.to_radians();
            gain(SECTOR, at(100.0 * libm::cos(angle), 100.0 * libm::sin(angle), 10.0))
        };
        // 12 (45 / 65)² is 5.751 dB; from 102.8 degrees on it is as behind.
        for (degrees, expected) in
            [(0.0, 17.0), (32.5, 14.0), (-32.5, 14.0), (45.0, 11.249), (110.0, -13.0), (180.0, -13.0)]
        {
            assert!(libm::fabs(off(degrees) - expected) < 0.001, "{degrees}: {} dB", off(degrees));
        }
        // The same sector by other names of its azimuth.
        for azimuth in [-270.0, 90.0] {
            assert_eq!(gain(Beam { azimuth, ..SECTOR }, at(50.0, 50.0, 10.0)), gain(SECTOR, at(50.0, 50.0, 10.0)));
        }
        // An azimuth of 350 degrees is 20 degrees from one of 10.
        let north = Beam { azimuth: 350.0, ..SECTOR };
        let to = at(libm::sin(10_f64.to_radians()), libm::cos(10_f64.to_radians()), 10.0);
        assert!(libm::fabs(gain(north, to) - (17.0 - 12.0 * 400.0 / 4_225.0)) < 1e-9);
    }

    #[test]
    fn elevations_count_with_a_vertical_width() {
        let tilted = Beam { tilt: 6.0, vertical_width: Some(10.0), ..SECTOR };
        let below = |degrees: f64| at(100.0, 0.0, 10.0 - 100.0 * libm::tan(degrees.to_radians()));
        for (degrees, expected) in [(6.0, 17.0), (11.0, 14.0), (1.0, 14.0), (0.0, 17.0 - 4.32), (40.0, -13.0)] {
            let found = gain(tilted, below(degrees));
            assert!(libm::fabs(found - expected) < 1e-6, "{degrees}: {found} dB");
        }
        // Both losses together are at most the front-to-back ratio.
        assert_eq!(gain(tilted, at(-100.0, 0.0, 60.0)), -13.0);
        let omni = AntennaPattern { gain: Decibels(5.0), beam: None };
        assert_eq!(omni.towards(at(0.0, 0.0, 0.0), at(0.0, 0.0, 0.0)), Decibels(5.0));
    }

    #[test]
    fn wrong_antennas_are_refused() {
        let of = |beam: Beam| AntennaPattern { gain: Decibels(5.0), beam: Some(beam) }.check().is_ok();
        assert!(of(SECTOR));
        let wrong = [
            Beam { azimuth: f64::NAN, ..SECTOR },
            Beam { azimuth: 361.0, ..SECTOR },
            Beam { width: 0.0, ..SECTOR },
            Beam { vertical_width: Some(361.0), ..SECTOR },
            Beam { tilt: 91.0, ..SECTOR },
            Beam { front_to_back: Decibels(-1.0), ..SECTOR },
        ];
        assert!(wrong.into_iter().all(|beam| !of(beam)));
        assert!(AntennaPattern { gain: Decibels(71.0), beam: None }.check().is_err());
    }
}

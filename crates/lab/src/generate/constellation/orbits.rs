//! Where satellites and ground stations are: circular orbits of Walker shells around a turning Earth.
//!
//! Source: J. Walker, "Satellite constellations", JBIS 37, 1984 (planes, satellites, phasing); Earth as in WGS 72, as Hypatia has it (S. Kassing et
//! al., "Exploring the 'Internet from space' with Hypatia", IMC 2020). Left out: the oblateness of Earth in orbits, eccentricity, drag.

use std::f64::consts::{PI, TAU};

/// The speed of light in a vacuum, in metres per second.
pub(super) const LIGHT: f64 = 299_792_458.0;
/// The radius of the equator, in metres (WGS 72).
pub(super) const EARTH: f64 = 6_378_135.0;
/// The flattening of Earth (WGS 72).
const FLATTENING: f64 = 1.0 / 298.26;
/// The gravitational parameter of Earth, in cubic metres per square second.
const GRAVITY: f64 = 398_600.441_8e9;
/// How fast Earth turns, in radians per second.
const ROTATION: f64 = 7.292_115_9e-5;
/// Greenwich's angle at time zero, 2000-01-01 00:00 UTC, in degrees: the epoch of Hypatia.
pub(super) const GREENWICH: f64 = 99.967_8;
/// 2000-01-01 00:00 UTC, in nanoseconds after 1970.
pub(super) const HYPATIA: i64 = 946_684_800_000_000_000;
/// What laser links must not graze: so far above the ground the air bends and absorbs them, in metres.
pub(super) const ATMOSPHERE: f64 = 80_000.0;

/// A place in space, in metres from the middle of Earth; the axes do not turn.
pub(super) type Place = [f64; 3];

/// The distance between two places.
pub(super) fn distance(one: &Place, other: &Place) -> f64 {
    let [x, y, z] = [one[0] - other[0], one[1] - other[1], one[2] - other[2]];
    libm::sqrt(x * x + y * y + z * z)
}

/// How planes are shifted against one another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Phasing {
    /// By this number times 360 degrees, divided by the number of all satellites.
    Walker(usize),
    /// Each second plane by half of the distance between two satellites.
    Alternate,
}

/// A Walker shell.
#[derive(Clone, Debug)]
pub(super) struct Shell {
    pub(super) planes: usize,
    /// How many satellites each plane has.
    pub(super) each: usize,
    /// The height above the equator's radius, in metres.
    pub(super) altitude: f64,
    /// The angle between planes and the equator, in radians.
    pub(super) inclination: f64,
    pub(super) phasing: Phasing,
}

impl Shell {
    /// How many satellites there are.
    pub(super) fn count(&self) -> usize {
        self.planes * self.each
    }

    /// The radius of the orbits, in metres.
    fn radius(&self) -> f64 {
        EARTH + self.altitude
    }

    /// How long an orbit takes, in seconds.
    pub(super) fn period(&self) -> f64 {
        let radius = self.radius();
        TAU * libm::sqrt(radius * radius * radius / GRAVITY)
    }

    /// Where a satellite is so many seconds after time zero.
    pub(super) fn place(&self, satellite: usize, seconds: f64) -> Place {
        let (plane, number) = (satellite / self.each, satellite % self.each);
        let node = TAU * plane as f64 / self.planes as f64;
        let shift = match self.phasing {
            Phasing::Walker(phasing) => TAU * (phasing * plane) as f64 / self.count() as f64,
            Phasing::Alternate => PI / self.each as f64 * (plane % 2) as f64,
        };
        let angle = TAU * number as f64 / self.each as f64 + shift + TAU * (seconds / self.period());
        let [sin_node, cos_node] = [libm::sin(node), libm::cos(node)];
        let [along, aside] = [libm::cos(angle), libm::sin(angle) * libm::cos(self.inclination)];
        let radius = self.radius();
        [
            radius * (cos_node * along - sin_node * aside),
            radius * (sin_node * along + cos_node * aside),
            radius * libm::sin(angle) * libm::sin(self.inclination),
        ]
    }

    /// The satellite ahead in the same plane, and the one beside it in the next plane.
    pub(super) fn neighbours(&self, satellite: usize) -> [usize; 2] {
        let (plane, number) = (satellite / self.each, satellite % self.each);
        let ahead = plane * self.each + (number + 1) % self.each;
        // The planes after the last are the first again, but shifted by all steps together.
        let turn = match self.phasing {
            Phasing::Walker(phasing) if plane + 1 == self.planes => phasing,
            _ => 0,
        };
        let beside = (plane + 1) % self.planes * self.each + (number + turn) % self.each;
        [ahead, beside]
    }

    /// The pairs of satellites that are joined: each with its neighbours.
    pub(super) fn lasers(&self) -> Vec<[usize; 2]> {
        let all = (0..self.count()).flat_map(|one| self.neighbours(one).map(|other| [one, other]));
        all.filter(|[one, other]| one != other).collect()
    }

    /// The length up to which a laser link passes above the atmosphere, in metres.
    pub(super) fn longest_laser(&self) -> f64 {
        let [orbit, air] = [self.radius(), EARTH + ATMOSPHERE];
        2.0 * libm::sqrt((orbit * orbit - air * air).max(0.0))
    }
}

/// A ground station.
#[derive(Clone, Debug)]
pub(super) struct Station {
    /// In radians.
    pub(super) latitude: f64,
    /// In radians.
    pub(super) longitude: f64,
}

impl Station {
    /// Where it is so many seconds after time zero, at which Greenwich had this angle, and the direction in which its zenith is.
    pub(super) fn place(&self, greenwich: f64, seconds: f64) -> (Place, Place) {
        let turned = self.longitude + greenwich + ROTATION * seconds;
        let [sin, cos] = [libm::sin(self.latitude), libm::cos(self.latitude)];
        let squared = FLATTENING * (2.0 - FLATTENING);
        let normal = EARTH / libm::sqrt(1.0 - squared * sin * sin);
        let up = [cos * libm::cos(turned), cos * libm::sin(turned), sin];
        ([normal * up[0], normal * up[1], normal * (1.0 - squared) * up[2]], up)
    }
}

/// Which satellites a station reaches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Reach {
    /// Those so far above the horizon at least: the sine of the angle.
    Elevation(f64),
    /// Those within so many metres.
    Range(f64),
}

impl Reach {
    /// How far a satellite is within reach, and its distance; it is seen if the first is not negative.
    pub(super) fn margin(self, (place, up): &(Place, Place), satellite: &Place) -> (f64, f64) {
        let far = distance(place, satellite);
        let margin = match self {
            Self::Elevation(least) => {
                let rise: f64 = (0..3).map(|axis| up[axis] * (satellite[axis] - place[axis])).sum();
                rise / far - least
            }
            Self::Range(most) => most - far,
        };
        (margin, far)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(planes: usize, each: usize, altitude: f64, inclination: f64) -> Shell {
        let inclination = inclination * PI / 180.0;
        Shell { planes, each, altitude, inclination, phasing: Phasing::Alternate }
    }

    /// Kuiper, Starlink and Telesat: revolutions per day by Kepler's third law.
    #[test]
    fn orbits_have_their_periods() {
        for (altitude, per_day) in [(630e3, 14.80), (550e3, 15.055), (1_015e3, 13.66)] {
            let period = shell(1, 1, altitude, 53.0).period();
            assert!((86_400.0 / period - per_day).abs() < 0.005, "{altitude}: {}", 86_400.0 / period);
            let one = shell(4, 3, altitude, 53.0);
            for satellite in 0..12 {
                let gap = distance(&one.place(satellite, 0.0), &one.place(satellite, one.period()));
                assert!(gap < 1e-3, "{gap} m after a revolution");
                let far = distance(&one.place(satellite, 1_234.5), &[0.0; 3]);
                assert!((far - EARTH - altitude).abs() < 1e-3, "{far}");
            }
        }
    }

    #[test]
    fn all_satellites_of_a_walker_shell_are_alike() {
        let mut one = shell(6, 5, 780e3, 86.4);
        one.phasing = Phasing::Walker(2);
        // Seen from each, the neighbour in the next plane is as far as from the others at the same place of the orbit.
        let first = distance(&one.place(0, 0.0), &one.place(one.neighbours(0)[1], 0.0));
        for plane in 0..6 {
            let satellite = plane * 5;
            let shift = 2.0 * plane as f64 / 30.0 * one.period();
            let there = distance(&one.place(satellite, -shift), &one.place(one.neighbours(satellite)[1], -shift));
            assert!((there - first).abs() < 1e-3, "plane {plane}: {there}, not {first}");
        }
    }

    #[test]
    fn a_satellite_overhead_is_as_far_as_it_is_high() {
        let station = Station { latitude: 0.0, longitude: 0.0 };
        let here = station.place(0.0, 0.0);
        let above = here.1.map(|part| part * (EARTH + 550e3));
        let (margin, far) = Reach::Elevation(libm::sin(25.0 * PI / 180.0)).margin(&here, &above);
        assert!((far - 550e3).abs() < 1e-3 && (margin - (1.0 - libm::sin(25.0 * PI / 180.0))).abs() < 1e-9);
        assert!(Reach::Range(549e3).margin(&here, &above).0 < 0.0);
        // After a sidereal day Earth has turned once.
        let later = station.place(0.0, TAU / ROTATION).0;
        assert!(distance(&here.0, &later) < 1e-2);
    }
}

//! Path loss of mobile networks: 3GPP TR 38.901, table 7.4.1-1, and 7.4.2 for the probability of a line of sight.
//!
//! Frequencies from 0.5 to 100 GHz. The antennas of base stations are 10 m high in street canyons, 25 m over roofs and 35 m in the country
//! if nothing else is said; distances begin at 10 m.
//! Differs from the table: in towns, the ray from the ground is reflected 1 m above it for users of all heights; the country has lines of
//! sight alone, with buildings of 5 m on average.

use crate::decibels::Decibels;
use crate::path_loss::{Heights, Metres};

const LIGHT: f64 = 299_792_458.0;
/// The height of the ground's reflection in towns.
const ENVIRONMENT: f64 = 1.0;
/// The mean height of buildings in the country.
const BUILDINGS: f64 = 5.0;

/// A place where a mobile network is, and whether one sees its antenna.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scenario {
    /// A street canyon with a line of sight (UMi).
    Street,
    /// A street canyon with buildings in between.
    StreetObstructed,
    /// A town below an antenna over the roofs, with a line of sight (UMa).
    Town,
    /// The same with buildings in between.
    TownObstructed,
    /// An office with a line of sight (`InH`).
    Office,
    /// An office with obstacles in between.
    OfficeObstructed,
    /// The country, with a line of sight (`RMa`).
    Country,
}

impl Scenario {
    /// Returns the loss over a distance along the ground at so many hertz. `heights`: the base station's, which is the sender's
    /// in this, and the user's.
    pub fn loss(self, ground: Metres, heights: Heights, hertz: u64) -> Decibels {
        let way = Way::new(ground, heights, hertz);
        let loss = match self {
            Self::Street => way.street(),
            Self::StreetObstructed => {
                let obstructed = 22.4 + 35.3 * way.log + 21.3 * way.log_gigahertz - 0.3 * (way.user - 1.5);
                obstructed.max(way.street())
            }
            Self::Town => way.town(),
            Self::TownObstructed => {
                let obstructed = 13.54 + 39.08 * way.log + 20.0 * way.log_gigahertz - 0.6 * (way.user - 1.5);
                obstructed.max(way.town())
            }
            Self::Office => way.office(),
            Self::OfficeObstructed => (17.3 + 38.3 * way.log + 24.9 * way.log_gigahertz).max(way.office()),
            Self::Country => way.country(),
        };
        Decibels(loss.max(0.0))
    }

    /// Returns the standard deviation of shadowing.
    pub fn shadowing(self) -> Decibels {
        Decibels(match self {
            Self::Street | Self::Town | Self::Country => 4.0,
            Self::StreetObstructed => 7.82,
            Self::TownObstructed => 6.0,
            Self::Office => 3.0,
            Self::OfficeObstructed => 8.03,
        })
    }
}

/// Returns the probability that one sees the base station in a street canyon from this distance along the ground, as a share of one.
pub fn street_line_of_sight(ground: Metres) -> f64 {
    let distance = ground.0.max(0.0);
    if distance <= 18.0 {
        return 1.0;
    }
    let far = libm::exp(-distance / 36.0);
    18.0 / distance * (1.0 - far) + far
}

/// A way between two antennas.
struct Way {
    ground: f64,
    direct: f64,
    log: f64,
    gigahertz: f64,
    log_gigahertz: f64,
    base: f64,
    user: f64,
}

impl Way {
    fn new(ground: Metres, heights: Heights, hertz: u64) -> Self {
        let (base, user) = (heights.sender.0, heights.receiver.0);
        let ground = ground.0.max(10.0);
        let direct = libm::sqrt(ground * ground + (base - user) * (base - user));
        let gigahertz = hertz as f64 / 1e9;
        Self { ground, direct, log: libm::log10(direct), gigahertz, log_gigahertz: libm::log10(gigahertz), base, user }
    }

    /// Where the reflection from the ground begins to decide in towns.
    fn breakpoint(&self) -> f64 {
        let above = |height: f64| (height - ENVIRONMENT).max(0.0);
        4.0 * above(self.base) * above(self.user) * self.gigahertz * 1e9 / LIGHT
    }

    /// A line of sight in towns: the loss falls with `exponent` up to the breakpoint, and with 4 beyond.
    fn sight(&self, at_one_metre: f64, exponent: f64) -> f64 {
        let near = at_one_metre + 20.0 * self.log_gigahertz;
        let (end, height) = (self.breakpoint(), self.base - self.user);
        if self.ground <= end {
            return near + 10.0 * exponent * self.log;
        }
        near + 40.0 * self.log - (20.0 - 5.0 * exponent) * libm::log10(end * end + height * height)
    }

    fn street(&self) -> f64 {
        self.sight(32.4, 2.1)
    }

    fn town(&self) -> f64 {
        self.sight(28.0, 2.2)
    }

    fn office(&self) -> f64 {
        32.4 + 17.3 * self.log + 20.0 * self.log_gigahertz
    }

    fn country(&self) -> f64 {
        let end = 2.0 * core::f64::consts::PI * self.base * self.user * self.gigahertz * 1e9 / LIGHT;
        if self.ground <= end {
            return self.country_near(self.direct);
        }
        self.country_near(end) + 40.0 * libm::log10(self.direct / end)
    }

    fn country_near(&self, distance: f64) -> f64 {
        let (height, log) = (libm::pow(BUILDINGS, 1.72), libm::log10(distance));
        let free = 20.0 * libm::log10(40.0 * core::f64::consts::PI * distance * self.gigahertz / 3.0);
        let slope = (0.03 * height).min(10.0) * log + 0.002 * libm::log10(BUILDINGS) * distance;
        free + slope - (0.044 * height).min(14.77)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GHZ: u64 = 1_000_000_000;

    fn heights(base: f64) -> Heights {
        Heights { sender: Metres(base), receiver: Metres(1.5) }
    }

    fn agree(found: Decibels, expected: f64) {
        assert!(libm::fabs(found.0 - expected) < 0.01, "{} instead of {expected}", found.0);
    }

    #[test]
    fn lines_of_sight_have_the_losses_of_the_table() {
        // The antennas are 100 m apart: 20 log10(3.5) is 10.881.
        let ground = |base: f64| Metres(libm::sqrt(10_000.0 - (base - 1.5) * (base - 1.5)));
        agree(Scenario::Street.loss(ground(10.0), heights(10.0), 35 * GHZ / 10), 32.4 + 42.0 + 10.881);
        agree(Scenario::Town.loss(ground(25.0), heights(25.0), 35 * GHZ / 10), 28.0 + 44.0 + 10.881);
        agree(Scenario::Office.loss(ground(3.0), heights(3.0), 35 * GHZ / 10), 32.4 + 34.6 + 10.881);
        // log10(3.5) is 0.54407.
        agree(Scenario::StreetObstructed.loss(ground(10.0), heights(10.0), 35 * GHZ / 10), 22.4 + 70.6 + 11.589);
        agree(Scenario::TownObstructed.loss(ground(25.0), heights(25.0), 35 * GHZ / 10), 13.54 + 78.16 + 10.881);
        agree(Scenario::OfficeObstructed.loss(ground(3.0), heights(3.0), 35 * GHZ / 10), 17.3 + 76.6 + 13.547);
        // 20 log10(40 π 100 0.7 / 3) is 69.344; 5^1.72 is 15.930, and log10(5) is 0.699.
        agree(Scenario::Country.loss(ground(35.0), heights(35.0), 7 * GHZ / 10), 69.344 + 0.9558 + 0.1398 - 0.7009);
    }

    #[test]
    fn both_sides_of_a_breakpoint_meet() {
        let cases = [(Scenario::Street, 10.0), (Scenario::Town, 25.0)];
        for (scenario, base) in cases {
            let end = Way::new(Metres(10.0), heights(base), 35 * GHZ / 10).breakpoint();
            let at = |share: f64| scenario.loss(Metres(end * share), heights(base), 35 * GHZ / 10);
            agree(at(0.999_999), at(1.000_001).0);
            // Far beyond, ten times as far is 40 dB.
            agree(at(1_000.0), at(100.0).0 + 40.0);
        }
    }

    #[test]
    fn obstacles_never_help() {
        let pairs = [
            (Scenario::Street, Scenario::StreetObstructed),
            (Scenario::Town, Scenario::TownObstructed),
            (Scenario::Office, Scenario::OfficeObstructed),
        ];
        for (clear, obstructed) in pairs {
            for metres in [0.0, 10.0, 30.0, 100.0, 1_000.0, 5_000.0] {
                let loss = |scenario: Scenario| scenario.loss(Metres(metres), heights(10.0), 28 * GHZ).0;
                assert!(loss(obstructed) >= loss(clear) && loss(clear) > 0.0);
            }
        }
    }

    #[test]
    fn a_line_of_sight_gets_rarer() {
        assert!(street_line_of_sight(Metres(18.0)) == 1.0);
        // 18 / 36 (1 - 1/e) + 1/e.
        assert!(libm::fabs(street_line_of_sight(Metres(36.0)) - 0.683_94) < 1e-5);
        assert!(street_line_of_sight(Metres(1_000.0)) < 0.02);
    }
}

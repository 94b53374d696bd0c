//! Latitudes and longitudes as metres to the east and to the north of an origin, and the instants beside them.
//!
//! The plane touches a sphere with the mean radius of the Earth at the origin (equirectangular projection): x = R cos(latitude of the origin) · longitude,
//! y = R · latitude, both from the origin. Within 10 km it is off by less than 0.3 %, at latitudes up to 60 degrees. Places are rounded to millimetres.
//! Source of the radius: H. Moritz, "Geodetic Reference System 1980", Journal of Geodesy 74, 2000 (R1 = (2a + b)/3).

use super::{WrongLine, number};
use netloom_radio::{Metres, Position};
use netloom_units::Date;

/// The mean radius of the Earth in metres.
const RADIUS: f64 = 6_371_008.8;

/// The place of x = y = 0, in degrees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Origin {
    pub(crate) latitude: f64,
    pub(crate) longitude: f64,
}

impl Origin {
    /// An origin, if there is such a place.
    ///
    /// # Errors
    /// What would be right.
    pub(crate) fn new(latitude: f64, longitude: f64) -> Result<Self, &'static str> {
        if !(-89.0..=89.0).contains(&latitude) || !(-180.0..=180.0).contains(&longitude) {
            return Err("a latitude is from -89 to 89 degrees, and a longitude from -180 to 180");
        }
        Ok(Self { latitude, longitude })
    }

    /// Reads a place in degrees.
    pub(super) fn read(line: usize, latitude: &str, longitude: &str) -> Result<Self, WrongLine> {
        let latitude = number(line, latitude, "a latitude in degrees")?;
        let longitude = number(line, longitude, "a longitude in degrees")?;
        Self::new(latitude, longitude).map_err(|wrong| WrongLine(line, wrong.to_owned()))
    }

    /// Where a place is, seen from this origin.
    pub(crate) fn position(self, place: Self, height: Metres) -> Position {
        let east = (place.longitude - self.longitude + 540.0).rem_euclid(360.0) - 180.0;
        let metres = |degrees: f64| Metres((degrees.to_radians() * RADIUS * 1_000.0).round() / 1_000.0);
        let x = metres(east * libm::cos(self.latitude.to_radians()));
        Position { x, y: metres(place.latitude - self.latitude), z: height }
    }
}

/// Returns the instant of a text like `2026-11-01T12:00:00.5Z` or `2026-11-01T13:00:00+01:00` (RFC 3339), in nanoseconds after 1970.
pub(super) fn instant(line: usize, text: &str) -> Result<i64, WrongLine> {
    read(text.trim()).ok_or_else(|| {
        let found: String = text.trim().chars().take(40).collect();
        WrongLine(line, format!("`{found}` is not an instant: write for example 2026-11-01T12:00:00.5Z"))
    })
}

fn read(text: &str) -> Option<i64> {
    let (day, rest) = text.split_once(['T', 't', ' '])?;
    let day: Date = day.parse().ok()?;
    let end = rest.find(['Z', 'z', '+', '-'])?;
    let (clock, zone) = rest.split_at_checked(end)?;
    let ahead = match zone {
        "Z" | "z" => 0,
        _ => {
            let seconds = sixtieths(zone.get(1..)?, 2)? * 60;
            if zone.starts_with('-') { -seconds } else { seconds }
        }
    };
    let (whole, part) = clock.split_once('.').unwrap_or((clock, "0"));
    let digits = part.bytes().all(|byte| byte.is_ascii_digit()) && !part.is_empty();
    let nanos: i64 = format!("{:0<9}", part.get(..part.len().min(9))?).parse().ok().filter(|_| digits)?;
    let seconds = i64::try_from(day.unix_seconds()).ok()? + sixtieths(whole, 3)? - ahead;
    Some(seconds * 1_000_000_000 + nanos)
}

/// Hours, minutes and, if three parts are wanted, seconds, in units of the last: `12:30` and `12:30:59`.
fn sixtieths(text: &str, parts: usize) -> Option<i64> {
    let read = |part: &str| {
        let is_plain = part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
        part.parse::<i64>().ok().filter(|number| is_plain && *number <= 60)
    };
    let all: Option<Vec<i64>> = text.split(':').map(read).collect();
    let all = all.filter(|all| all.len() == parts && all[0] < 24)?;
    Some(all.into_iter().fold(0, |sum, part| sum * 60 + part))
}

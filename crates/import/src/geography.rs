//! How long light takes from one place on Earth to another.

use netloom_units::Duration;

/// The mean radius of the Earth in kilometres (IUGG).
const RADIUS: f64 = 6_371.008_8;
/// How much longer a cable is than the great circle, usually taken for long distances.
const DETOUR: f64 = 1.5;
/// Two thirds of the speed of light, as in fibre, in kilometres per second.
const SPEED: f64 = 299_792.458 * 2.0 / 3.0;

/// What delays are reckoned with, for the notes of a lab.
pub(crate) const STATED: &str = "Delays from coordinates: 1.5 times the great-circle distance, at two thirds of the speed of \
                                 light (199,862 km/s), to the microsecond.";

/// A place on Earth in degrees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Position {
    latitude: f64,
    longitude: f64,
}

impl Position {
    /// The place at these degrees; none if there is no such place.
    pub(crate) fn new(latitude: &str, longitude: &str) -> Option<Self> {
        let degrees = |text: &str, most: f64| text.trim().parse::<f64>().ok().filter(|value| value.abs() <= most);
        Some(Self { latitude: degrees(latitude, 90.0)?, longitude: degrees(longitude, 360.0)? })
    }

    /// Where it is on a map: degrees to the right and down, which are equally long at the latitude `middle`.
    pub(crate) fn on_map(self, middle: f64) -> [f64; 2] {
        [self.longitude * libm::cos(middle.to_radians()), -self.latitude]
    }

    /// The great-circle distance in kilometres (haversine formula).
    pub(crate) fn distance(self, other: Self) -> f64 {
        let half_angle = |a: f64, b: f64| libm::sin((b - a).to_radians() / 2.0);
        let (north, east) = (half_angle(self.latitude, other.latitude), half_angle(self.longitude, other.longitude));
        let cosines = libm::cos(self.latitude.to_radians()) * libm::cos(other.latitude.to_radians());
        let square = (north * north + cosines * east * east).clamp(0.0, 1.0);
        2.0 * RADIUS * libm::asin(libm::sqrt(square))
    }
}

/// The latitude in the middle of these places.
pub(crate) fn middle<'a>(places: impl Iterator<Item = &'a Position>) -> f64 {
    let (least, most) = places
        .fold((90.0_f64, -90.0_f64), |(least, most), place| (least.min(place.latitude), most.max(place.latitude)));
    f64::midpoint(least, most)
}

/// The delay over so many kilometres, to the microsecond.
pub(crate) fn delay(kilometres: f64) -> Duration {
    // At most half around the Earth, which is 150 ms.
    Duration::from_micros(libm::round(kilometres * DETOUR / SPEED * 1e6) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_those_of_the_atlas() {
        let new_york = Position::new("40.71427", "-74.00597").unwrap();
        let chicago = Position::new("41.85003", "-87.65005").unwrap();
        // 1,145 km; 1.5 * 1,145 / 199,862 = 8.59 ms.
        let distance = new_york.distance(chicago);
        assert!((1_140.0..1_150.0).contains(&distance), "{distance}");
        assert!((8_500..8_700).contains(&(delay(distance).as_nanos() / 1_000)), "{}", delay(distance));
        let antipodes = Position::new("-40.71427", "105.99403").unwrap();
        assert!((20_014.0..20_016.0).contains(&new_york.distance(antipodes)));
        assert_eq!(delay(new_york.distance(new_york)), Duration::ZERO);
        assert_eq!(Position::new("91", "0"), None);
        assert_eq!(Position::new("NaN", "0"), None);
    }
}

//! Positions on a map.

use crate::path_loss::Metres;

/// The farthest from the origin in metres, in each direction.
const FARTHEST: f64 = 1e7;

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

impl Position {
    /// Says what is wrong with it.
    pub(crate) fn check(self) -> Result<(), &'static str> {
        let known = [self.x, self.y, self.z];
        if known.iter().any(|metres| !libm::fabs(metres.0).le(&FARTHEST)) {
            return Err("at most 10000 km from the origin");
        }
        Ok(())
    }

    /// Returns the distance to another position in metres.
    pub(crate) fn distance(self, other: Self) -> f64 {
        let (x, y, z) = (self.x.0 - other.x.0, self.y.0 - other.y.0, self.z.0 - other.z.0);
        libm::sqrt(x * x + y * y + z * z)
    }
}

//! Group: a station around a point that goes with somebody else.
//!
//! Reference point group mobility (Hong, Gerla, Pei and Chiang 1999, "A Group Mobility Model for Ad Hoc Wireless Networks", section 3). The station has a
//! reference point, which stands at the same place beside the leader of its group wherever that goes. In each step a vector is drawn that leads from there to the
//! station: its length is uniform up to the radius, and so is its direction. Between the ends of two steps the station goes straight.
//! Parameters: `offset`, where the reference point is, seen from the leader, m; `radius`, m, above 0; `step`, above 0; `height`, m: that of the leader if none.
//! Differs from the paper: the motion of a group is the path of one of its nodes, whatever that is, and not a list of vectors.

use super::{Area, Walk};
use crate::error::ConfigError;
use crate::path::{Path, TURN, Waypoint};
use crate::path_loss::Metres;
use crate::position::Position;
use netloom_units::{Duration, Seed};

/// The area that a walk has which keeps to none.
const NONE: Area = Area {
    corner: Position { x: Metres(0.0), y: Metres(0.0), z: Metres(0.0) },
    width: Metres(0.0),
    height: Metres(0.0),
};

/// See the module's documentation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Group {
    /// Where the reference point is, seen from the leader: to the east and to the north.
    pub offset: (Metres, Metres),
    /// How far from the reference point it is at most at the end of a step.
    pub radius: Metres,
    /// The height above the ground; none: that of the leader.
    pub height: Option<Metres>,
    /// The time between two places that are drawn.
    pub step: Duration,
}

impl Group {
    /// Draws the path of a station of the group that this leader has, for so long a time, behind which it stands still.
    ///
    /// # Errors
    /// If the radius or the step is none, or the path would have too many waypoints or be too fast.
    pub fn path(&self, leader: &Path, span: Duration, seed: Seed) -> Result<Path, ConfigError> {
        if !self.radius.0.is_finite() || self.radius.0 <= 0.0 {
            return Err(ConfigError::new("radius", "a radius is above 0 m"));
        }
        if self.step.is_zero() {
            return Err(ConfigError::new("step", "a step is longer than 0 s"));
        }
        let mut walk = Walk::new(NONE, span, seed);
        let position = self.place(leader, Duration::ZERO, &mut walk);
        walk.waypoints.push(Waypoint { at: Duration::ZERO, position });
        while !walk.is_over() {
            let end = Duration::from_nanos(walk.now.saturating_add(self.step.as_nanos()));
            let place = self.place(leader, end, &mut walk);
            walk.push(place, self.step.as_secs_f64())?;
        }
        Path::through(&walk.waypoints, None)
    }

    /// Draws where it is when its leader is where it is at this time.
    fn place(&self, leader: &Path, at: Duration, walk: &mut Walk) -> Position {
        let Position { x, y, z } = leader.position(at);
        let (length, angle) = (self.radius.0 * walk.unit(), TURN * walk.unit());
        let (east, north) = (length * libm::cos(angle), length * libm::sin(angle));
        let (x, y) = (Metres(x.0 + self.offset.0.0 + east), Metres(y.0 + self.offset.1.0 + north));
        Position { x, y, z: self.height.unwrap_or(z) }
    }
}

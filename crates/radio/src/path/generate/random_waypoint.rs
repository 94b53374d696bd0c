//! Random waypoint: straight to a place that is drawn from the whole area, with a speed that is drawn, a pause, and on to the next place.
//!
//! The path begins in the stationary distribution (Navidi and Camp 2004, "Stationary Distributions for the Random Waypoint Mobility Model", section 3):
//! if it began at a uniform place, speeds would fall and stations gather in the middle for the first minutes (Yoon, Liu and Noble 2003).
//! Parameters: `speed`, m/s, above 0, uniform between both; `pause`, uniform between both.

use super::{Walk, check_pauses, check_speeds};
use crate::error::ConfigError;
use netloom_units::Duration;

/// See the module's documentation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RandomWaypoint {
    /// The least and the greatest speed in metres per second.
    pub speed: (f64, f64),
    /// The least and the greatest pause.
    pub pause: (Duration, Duration),
}

impl RandomWaypoint {
    pub(super) fn walk(&self, walk: &mut Walk) -> Result<(), ConfigError> {
        check_speeds(self.speed)?;
        check_pauses(self.pause)?;
        let pause = (self.pause.0.as_secs_f64(), self.pause.1.as_secs_f64());
        self.begin(walk, pause)?;
        while !walk.is_over() {
            let speed = walk.uniform(self.speed);
            let to = place(walk);
            go(walk, to, speed)?;
            let rest = walk.uniform(pause);
            walk.rest(rest)?;
        }
        Ok(())
    }

    /// The first leg, of which a part is over, or the rest of the first pause.
    fn begin(&self, walk: &mut Walk, pause: (f64, f64)) -> Result<(), ConfigError> {
        let (slow, fast) = self.speed;
        let resting = f64::midpoint(pause.0, pause.1);
        let per_metre = if fast > slow { libm::log(fast / slow) / (fast - slow) } else { 1.0 / slow };
        let moving = mean_distance(walk.area.width.0, walk.area.height.0) * per_metre;
        if walk.unit() * (resting + moving) < resting {
            let at = place(walk);
            walk.begin(at);
            // Long pauses are met more often: their density is proportional to their length. Each part of one is equally likely.
            let (least, most) = (pause.0 * pause.0, pause.1 * pause.1);
            let whole = libm::sqrt(walk.uniform((least, most)));
            let left = whole * walk.unit();
            return walk.rest(left);
        }
        // Long legs are met more often, too, and slow ones.
        let diagonal = libm::hypot(walk.area.width.0, walk.area.height.0);
        let (from, to) = loop {
            let (from, to) = (place(walk), place(walk));
            if walk.unit() * diagonal < libm::hypot(to.0 - from.0, to.1 - from.1) {
                break (from, to);
            }
        };
        let share = walk.unit();
        walk.begin((from.0 + (to.0 - from.0) * share, from.1 + (to.1 - from.1) * share));
        let speed = slow * libm::pow(fast / slow, walk.unit());
        go(walk, to, speed)?;
        let rest = walk.uniform(pause);
        walk.rest(rest)
    }
}

fn place(walk: &mut Walk) -> (f64, f64) {
    let (east, north) = (walk.unit(), walk.unit());
    (east * walk.area.width.0, north * walk.area.height.0)
}

/// Goes to a place with a speed in metres per second.
fn go(walk: &mut Walk, to: (f64, f64), speed: f64) -> Result<(), ConfigError> {
    let (corner, from) = (walk.area.corner, walk.waypoints.last().map(|last| last.position).unwrap_or_default());
    let (east, north) = (from.x.0 - corner.x.0, from.y.0 - corner.y.0);
    walk.go(to, libm::hypot(to.0 - east, to.1 - north) / speed)
}

/// The mean distance of two places in a rectangle with these sides (Ghosh 1951).
pub(super) fn mean_distance(a: f64, b: f64) -> f64 {
    let d = libm::hypot(a, b);
    let (a2, b2) = (a * a, b * b);
    let powers = a2 * a / b2 + b2 * b / a2 + d * (3.0 - a2 / b2 - b2 / a2);
    let logs = b2 / a * libm::log((a + d) / b) + a2 / b * libm::log((b + d) / a);
    (powers + 2.5 * logs) / 15.0
}

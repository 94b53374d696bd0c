//! Where a station is at each time: paths of those that move.
//!
//! A path is a pure function of the time since its beginning: it stands still, goes straight from waypoint to waypoint, or around a circle. So the
//! order in which anybody asks makes no difference, and neither does how often.
//!
//! | parameter | unit | range |
//! |---|---|---|
//! | time of a waypoint | ns | rising from waypoint to waypoint |
//! | period | ns | at least from the first waypoint to the last |
//! | position | m | up to 10,000 km from the origin in each direction |
//! | speed | m/s | up to 10,000 |
//!
//! Before the first waypoint and behind the last a station stands still. With a period it goes back to the first waypoint behind the last one,
//! straight, and is there when the period is over.

mod generate;

pub use generate::{Area, GaussMarkov, Generator, Group, Manhattan, RandomWaypoint};

use crate::error::ConfigError;
use crate::path_loss::Metres;
use crate::position::Position;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use netloom_units::Duration;

/// The most waypoints of a path.
const MOST_WAYPOINTS: usize = 100_000;
/// The greatest speed in metres per second, faster than any satellite.
const FASTEST: f64 = 10_000.0;
/// The share by which a speed may exceed the greatest one since times are whole nanoseconds.
const ROUNDING: f64 = 1e-6;
const TURN: f64 = 2.0 * core::f64::consts::PI;

/// A place at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Waypoint {
    /// The time since the beginning.
    pub at: Duration,
    /// The position then.
    pub position: Position,
}

impl Waypoint {
    /// Checks that a station can be here, behind another waypoint if there is one: later, and no faster than possible.
    ///
    /// # Errors
    /// What is wrong.
    pub fn check(self, before: Option<Self>) -> Result<(), String> {
        self.position.check()?;
        let Some(before) = before else { return Ok(()) };
        if self.at <= before.at {
            return Err(format!("it is at {} and the one before at {}: times rise", self.at, before.at));
        }
        check_speed(speed(before, self))
    }
}

/// The description of a circle at one height.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Circle {
    /// The centre.
    pub centre: Position,
    /// The radius.
    pub radius: Metres,
    /// How long once around takes.
    pub period: Duration,
    /// The direction in degrees in which it begins, seen from the centre: 0 is east, 90 is north.
    pub start: f64,
    /// Whether it goes clockwise, seen from above.
    pub is_clockwise: bool,
}

/// A path, see the module's documentation. Clones share their waypoints.
#[derive(Clone, Debug, PartialEq)]
pub struct Path(Shape);

#[derive(Clone, Debug, PartialEq)]
enum Shape {
    Standing(Position),
    Ways {
        waypoints: Arc<[Waypoint]>,
        /// The time until the first waypoint comes again.
        period: Option<Duration>,
    },
    Around(Circle),
}

impl From<Position> for Path {
    fn from(position: Position) -> Self {
        Self(Shape::Standing(position))
    }
}

impl Path {
    /// The most waypoints.
    pub const MOST_WAYPOINTS: usize = MOST_WAYPOINTS;

    /// Creates the path through waypoints, again and again with a period.
    ///
    /// # Errors
    /// If there are none or too many, times do not rise, a position is too far away, a speed too great, or the period too short. The message begins
    /// with the number of the waypoint that is wrong, from 1.
    pub fn through(waypoints: &[Waypoint], period: Option<Duration>) -> Result<Self, ConfigError> {
        let (Some(first), Some(last)) = (waypoints.first(), waypoints.last()) else {
            return Err(wrong("a path has at least one waypoint"));
        };
        if waypoints.len() > MOST_WAYPOINTS {
            let message = format!("a path has at most {MOST_WAYPOINTS} waypoints, found {}", waypoints.len());
            return Err(wrong(message));
        }
        let mut before = None;
        for (waypoint, number) in waypoints.iter().zip(1..) {
            waypoint.check(before).map_err(|message| wrong(format!("waypoint {number}: {message}")))?;
            before = Some(*waypoint);
        }
        if let Some(period) = period {
            let span = nanos_between(first.at, last.at);
            let is_closed = first.position == last.position;
            let least = if is_closed { "" } else { ", and the way back to the first takes time" };
            if period.as_nanos() < span || period.is_zero() || (period.as_nanos() == span && !is_closed) {
                let message = format!("from the first waypoint to the last are {}{least}", Duration::from_nanos(span));
                return Err(ConfigError::new("repeat", message));
            }
            let Some(again) = first.at.as_nanos().checked_add(period.as_nanos()) else {
                return Err(ConfigError::new("repeat", "this is longer than any lab"));
            };
            if period.as_nanos() > span {
                let home = Waypoint { at: Duration::from_nanos(again), ..*first };
                home.check(Some(*last))
                    .map_err(|message| ConfigError::new("repeat", format!("the way back: {message}")))?;
            }
        }
        if waypoints.iter().all(|waypoint| waypoint.position == first.position) {
            return Ok(first.position.into());
        }
        Ok(Self(Shape::Ways { waypoints: waypoints.into(), period }))
    }

    /// Creates the path around a circle.
    ///
    /// # Errors
    /// If the circle reaches too far, has no radius or no period, or is gone around too fast.
    pub fn around(circle: Circle) -> Result<Self, ConfigError> {
        let Circle { centre, radius, period, start, .. } = circle;
        if radius.0.is_nan() || radius.0 <= 0.0 {
            return Err(ConfigError::new("radius", "a circle has a radius above 0 m"));
        }
        if period.is_zero() {
            return Err(ConfigError::new("period", "once around takes longer than 0 s"));
        }
        if !start.is_finite() || libm::fabs(start) > 360.0 {
            return Err(ConfigError::new("start", "a direction has -360 to 360 degrees"));
        }
        let path = Self(Shape::Around(circle));
        path.extremes().try_for_each(Position::check).map_err(|message| ConfigError::new("centre", message))?;
        centre.check().map_err(|message| ConfigError::new("centre", message))?;
        check_speed(path.fastest()).map_err(|message| ConfigError::new("period", message))?;
        Ok(path)
    }

    /// Returns the position at a time since the beginning.
    pub fn position(&self, time: Duration) -> Position {
        match &self.0 {
            Shape::Standing(position) => *position,
            Shape::Ways { waypoints, period } => on_ways(waypoints, *period, time),
            Shape::Around(circle) => on_circle(circle, time),
        }
    }

    /// Returns whether it stays at one position.
    pub fn is_standing(&self) -> bool {
        matches!(self.0, Shape::Standing(_))
    }

    /// Returns the greatest speed in metres per second.
    pub fn fastest(&self) -> f64 {
        match &self.0 {
            Shape::Standing(_) => 0.0,
            Shape::Ways { waypoints, period } => {
                let legs = waypoints.windows(2).map(|pair| speed(pair[0], pair[1]));
                legs.chain(way_back(waypoints, *period).map(|(last, home)| speed(last, home))).fold(0.0, f64::max)
            }
            Shape::Around(circle) => TURN * circle.radius.0 / circle.period.as_secs_f64(),
        }
    }

    /// Returns positions between which all others are: the waypoints, or the ends of a circle in the four directions.
    pub fn extremes(&self) -> impl Iterator<Item = Position> + '_ {
        let (ways, others): (&[Waypoint], Vec<Position>) = match &self.0 {
            Shape::Standing(position) => (&[], [*position].into()),
            Shape::Ways { waypoints, .. } => (waypoints, Vec::new()),
            Shape::Around(Circle { centre, radius, .. }) => {
                let at = |x: f64, y: f64| Position {
                    x: Metres(centre.x.0 + x * radius.0),
                    y: Metres(centre.y.0 + y * radius.0),
                    z: centre.z,
                };
                (&[], [at(1.0, 0.0), at(0.0, 1.0), at(-1.0, 0.0), at(0.0, -1.0)].into())
            }
        };
        ways.iter().map(|waypoint| waypoint.position).chain(others)
    }

    /// Returns how many waypoints it has; none of a circle.
    pub fn waypoints(&self) -> usize {
        match &self.0 {
            Shape::Standing(_) => 1,
            Shape::Ways { waypoints, .. } => waypoints.len(),
            Shape::Around(_) => 0,
        }
    }
}

fn wrong(message: impl Into<String>) -> ConfigError {
    ConfigError::new("path", message)
}

fn check_speed(speed: f64) -> Result<(), String> {
    if speed.is_nan() || speed > FASTEST * (1.0 + ROUNDING) {
        return Err(format!("at most {FASTEST} m/s, and this is {speed:.0} m/s"));
    }
    Ok(())
}

fn nanos_between(from: Duration, to: Duration) -> u64 {
    to.as_nanos() - from.as_nanos()
}

/// The speed of a leg in metres per second.
fn speed(from: Waypoint, to: Waypoint) -> f64 {
    from.position.distance(to.position) / (nanos_between(from.at, to.at) as f64 / 1e9)
}

/// The leg from the last waypoint to the first one of the next round, if that is another place.
fn way_back(waypoints: &[Waypoint], period: Option<Duration>) -> Option<(Waypoint, Waypoint)> {
    let (first, last) = (waypoints.first()?, waypoints.last()?);
    let home = Waypoint { at: Duration::from_nanos(first.at.as_nanos() + period?.as_nanos()), ..*first };
    (home.at > last.at).then_some((*last, home))
}

fn on_ways(waypoints: &[Waypoint], period: Option<Duration>, time: Duration) -> Position {
    let (first, last) = (waypoints[0], waypoints[waypoints.len() - 1]);
    if time <= first.at {
        return first.position;
    }
    let time = match period {
        Some(period) => Duration::from_nanos(first.at.as_nanos() + nanos_between(first.at, time) % period.as_nanos()),
        None => time,
    };
    let next = waypoints.partition_point(|waypoint| waypoint.at <= time);
    match waypoints.get(next) {
        Some(to) => between(waypoints[next - 1], *to, time),
        None => way_back(waypoints, period).map_or(last.position, |(from, to)| between(from, to, time)),
    }
}

fn between(from: Waypoint, to: Waypoint, time: Duration) -> Position {
    let share = nanos_between(from.at, time) as f64 / nanos_between(from.at, to.at) as f64;
    let mix = |one: Metres, other: Metres| Metres(one.0 + (other.0 - one.0) * share);
    let (a, b) = (from.position, to.position);
    Position { x: mix(a.x, b.x), y: mix(a.y, b.y), z: mix(a.z, b.z) }
}

fn on_circle(circle: &Circle, time: Duration) -> Position {
    let Circle { centre, radius, period, start, is_clockwise } = *circle;
    let turned = (time.as_nanos() % period.as_nanos()) as f64 / period.as_nanos() as f64;
    let angle = TURN * (start / 360.0 + if is_clockwise { -turned } else { turned });
    let x = Metres(centre.x.0 + radius.0 * libm::cos(angle));
    Position { x, y: Metres(centre.y.0 + radius.0 * libm::sin(angle)), z: centre.z }
}

#[cfg(test)]
mod tests;

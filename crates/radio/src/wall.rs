//! Walls on a map: what a signal loses on its straight way from one position to another.
//!
//! Source: COST 231, final report, section 4.7, the multi-wall model: the losses of all walls that the way goes through add up, beside the loss
//! of the path. Here the path may have any model, walls have the loss that each is given, and a wall counts once, at whatever angle it is passed.
//! Parameters: `loss`, in dB (3.4 light, 6.9 heavy, up to 20 for reinforced concrete); `height`, in metres above the ground (none: as high as
//! anything). The way goes over a wall where it is higher than the wall.
//! Differs from the source: there are no floors; the floors of [`PathLoss::MultiWall`](crate::PathLoss::MultiWall) can be added.
//!
//! Only sums, products and quotients are used, which have the same bits on every machine. A point on the line of a wall counts as one on its left,
//! so that a way through the place where two walls of a straight line meet passes one of them.

use crate::decibels::Decibels;
use crate::error::ConfigError;
use crate::path_loss::Metres;
use crate::position::Position;
use crate::shadowing::Place;
use alloc::format;
use alloc::string::String;

/// The most walls of a medium: each pair of stations looks at all of them.
const MOST_WALLS: usize = 1_000;
/// The greatest loss of a wall in decibels.
const MOST_LOSS: f64 = 300.0;

/// A wall that stands straight up from the ground.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wall {
    /// One end.
    pub from: Place,
    /// The other end.
    pub to: Place,
    /// The loss of a signal that goes through it.
    pub loss: Decibels,
    /// Its height above the ground; none: nothing goes over it.
    pub height: Option<Metres>,
}

impl Wall {
    /// The most walls of a medium.
    pub const MOST: usize = MOST_WALLS;

    /// Checks that a wall is one.
    ///
    /// # Errors
    /// What is wrong.
    pub fn check(&self) -> Result<(), String> {
        for Place { x, y } in [self.from, self.to] {
            Position { x, y, z: Metres(0.0) }.check()?;
        }
        if self.from == self.to {
            return Err("both of its ends are at one place".into());
        }
        if !(0.0..=MOST_LOSS).contains(&self.loss.0) {
            return Err(format!("a wall loses 0 dB to {MOST_LOSS} dB"));
        }
        if self.height.is_some_and(|height| !height.0.is_finite() || height.0 <= 0.0) {
            return Err("the height of a wall is above 0 m".into());
        }
        Ok(())
    }

    /// Whether the way between two positions goes through it.
    fn is_passed(&self, first: Position, second: Position) -> bool {
        let at = |place: Place| (place.x.0, place.y.0);
        let (a, b) = (at(self.from), at(self.to));
        let (p, q) = ((first.x.0, first.y.0), (second.x.0, second.y.0));
        let (before, behind) = (side(a, b, p), side(a, b, q));
        if (before >= 0.0) == (behind >= 0.0) || (side(p, q, a) >= 0.0) == (side(p, q, b) >= 0.0) {
            return false;
        }
        let share = before / (before - behind);
        let height = first.z.0 + (second.z.0 - first.z.0) * share;
        self.height.is_none_or(|wall| height <= wall.0)
    }
}

/// On which side of the line from `a` to `b` a point is: above zero on the left.
fn side(a: (f64, f64), b: (f64, f64), point: (f64, f64)) -> f64 {
    (b.0 - a.0) * (point.1 - a.1) - (b.1 - a.1) * (point.0 - a.0)
}

/// Checks all walls of a medium.
pub(crate) fn check(walls: &[Wall]) -> Result<(), ConfigError> {
    if walls.len() > MOST_WALLS {
        return Err(ConfigError::new("walls", format!("at most {MOST_WALLS} walls, found {}", walls.len())));
    }
    for (wall, number) in walls.iter().zip(1..) {
        wall.check().map_err(|why| ConfigError::new("walls", format!("wall {number}: {why}")))?;
    }
    Ok(())
}

/// Returns the loss in decibels of all walls between two positions. Which one is the first makes a difference to the last bit of places that are on
/// a wall's line.
pub(crate) fn loss(walls: &[Wall], first: Position, second: Position) -> f64 {
    walls.iter().filter(|wall| wall.is_passed(first, second)).map(|wall| wall.loss.0).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn at(x: f64, y: f64, z: f64) -> Position {
        Position { x: Metres(x), y: Metres(y), z: Metres(z) }
    }

    fn wall(from: (f64, f64), to: (f64, f64), loss: f64) -> Wall {
        let place = |(x, y)| Place { x: Metres(x), y: Metres(y) };
        Wall { from: place(from), to: place(to), loss: Decibels(loss), height: None }
    }

    #[test]
    fn ways_lose_what_their_walls_take() {
        // A room of 10 m by 8 m with a heavy wall in the east.
        let room = [
            wall((0.0, 0.0), (10.0, 0.0), 3.4),
            wall((10.0, 0.0), (10.0, 8.0), 6.9),
            wall((10.0, 8.0), (0.0, 8.0), 3.4),
            wall((0.0, 8.0), (0.0, 0.0), 3.4),
        ];
        let inside = at(5.0, 4.0, 1.5);
        for (other, expected) in
            [(at(1.0, 1.0, 1.5), 0.0), (at(15.0, 4.0, 1.5), 6.9), (at(-5.0, 4.0, 1.5), 3.4), (at(5.0, 20.0, 1.5), 3.4)]
        {
            assert_eq!((loss(&room, inside, other), loss(&room, other, inside)), (expected, expected), "{other:?}");
        }
        // Through the whole house, past it, and along its outside.
        assert_eq!(loss(&room, at(-5.0, 4.0, 1.5), at(15.0, 4.0, 1.5)), 3.4 + 6.9);
        assert_eq!(loss(&room, at(-5.0, 9.0, 1.5), at(15.0, 9.0, 1.5)), 0.0);
        assert_eq!(loss(&room, at(-5.0, -0.001, 1.5), at(15.0, -0.001, 1.5)), 0.0);
        // Where two walls of a straight line meet, one is passed.
        let halves = [wall((0.0, 0.0), (0.0, 5.0), 4.0), wall((0.0, 5.0), (0.0, 10.0), 4.0)];
        assert_eq!(loss(&halves, at(-3.0, 5.0, 1.0), at(3.0, 5.0, 1.0)), 4.0);
    }

    #[test]
    fn high_ways_go_over_low_walls() {
        let fence = Wall { height: Some(Metres(2.0)), ..wall((5.0, -10.0), (5.0, 10.0), 10.0) };
        // From 1 m to 5 m the way is 3 m high halfway, and 1.8 m high after a fifth.
        assert_eq!(loss(&[fence], at(0.0, 0.0, 1.0), at(10.0, 0.0, 5.0)), 0.0);
        assert_eq!(loss(&[fence], at(4.0, 0.0, 1.0), at(9.0, 0.0, 5.0)), 10.0);
        assert_eq!(loss(&[fence], at(9.0, 0.0, 5.0), at(4.0, 0.0, 1.0)), 10.0);
    }

    #[test]
    fn wrong_walls_are_named() {
        let right = wall((0.0, 0.0), (1.0, 0.0), 3.0);
        let of = |wrong: Wall| check(&[right, wrong]).map_err(|wrong| (wrong.key, wrong.message));
        let cases = [
            (Wall { to: right.from, ..right }, "wall 2: both of its ends are at one place"),
            (Wall { loss: Decibels(-1.0), ..right }, "wall 2: a wall loses 0 dB to 300 dB"),
            (Wall { loss: Decibels(f64::NAN), ..right }, "wall 2: a wall loses 0 dB to 300 dB"),
            (Wall { height: Some(Metres(0.0)), ..right }, "wall 2: the height of a wall is above 0 m"),
            (wall((f64::INFINITY, 0.0), (1.0, 0.0), 3.0), "wall 2: at most 10000 km from the origin"),
        ];
        for (wrong, message) in cases {
            assert_eq!(of(wrong), Err(("walls", message.into())));
        }
        let many: Vec<Wall> = core::iter::repeat_n(right, MOST_WALLS + 1).collect();
        assert!(check(&many).is_err() && check(&many[1..]).is_ok());
    }
}

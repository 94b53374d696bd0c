//! Manhattan: along streets that make a grid, and at each crossing straight on or around a corner.
//!
//! At a crossing, straight on has the probability 1/2, and left and right 1/4 each (ETSI TR 101 112, B.1.4.1.3; Bai, Sadagopan and Helmy 2003); where there is no
//! street, the others share its part in proportion. The speed is drawn anew for each block, and so is a pause at its end. The path begins at a crossing.
//! Parameters: `block`, m, the distance between streets; `speed`, m/s, above 0, uniform between both; `pause`, uniform between both.
//! Differs from the sources: vehicles do not see each other, and nobody turns around.

use super::{Walk, check_pauses, check_speeds};
use crate::error::ConfigError;
use crate::path_loss::Metres;
use netloom_units::Duration;

/// The most streets in a direction.
const MOST_STREETS: f64 = 1e6;
/// Ways in the order of the compass: to the east, north, west and south.
const COMPASS: [(i64, i64); 4] = [(1, 0), (0, 1), (-1, 0), (0, -1)];
/// The ways relative to the last one, by quarters of a turn, with four times their probabilities.
const TURNS: [(usize, f64); 3] = [(0, 2.0), (1, 1.0), (3, 1.0)];

/// See the module's documentation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Manhattan {
    /// The distance between streets.
    pub block: Metres,
    /// The least and the greatest speed in metres per second.
    pub speed: (f64, f64),
    /// The least and the greatest pause at a crossing.
    pub pause: (Duration, Duration),
}

impl Manhattan {
    pub(super) fn walk(&self, walk: &mut Walk) -> Result<(), ConfigError> {
        check_speeds(self.speed)?;
        check_pauses(self.pause)?;
        let block = self.block.0;
        if block.is_nan() || block <= 0.0 {
            return Err(ConfigError::new("block", "a block is longer than 0 m"));
        }
        // A block that fits but for rounding is there.
        let blocks = [walk.area.width.0, walk.area.height.0].map(|side| libm::floor(side / block + 1e-9));
        if blocks.iter().any(|count| *count < 1.0 || *count > MOST_STREETS) {
            return Err(ConfigError::new("block", "the area has 1 to 1000000 blocks in both directions"));
        }
        let grid = Grid { columns: blocks[0] as i64, rows: blocks[1] as i64 };
        let pause = (self.pause.0.as_secs_f64(), self.pause.1.as_secs_f64());
        let mut crossing = (number(walk, grid.columns), number(walk, grid.rows));
        let place = |(column, row): (i64, i64)| (column as f64 * block, row as f64 * block);
        walk.begin(place(crossing));
        let mut heading = (walk.unit() * 4.0) as usize;
        while !walk.is_over() {
            let is_open = |turn: usize| grid.has(next(crossing, heading + turn));
            let ways = TURNS.map(|(turn, weight)| (turn, if is_open(turn) { weight } else { 0.0 }));
            heading = (heading + chosen(&ways, walk.unit())) % 4;
            crossing = next(crossing, heading);
            let speed = walk.uniform(self.speed);
            walk.go(place(crossing), block / speed)?;
            let rest = walk.uniform(pause);
            walk.rest(rest)?;
        }
        Ok(())
    }
}

/// The streets, by the numbers of blocks in both directions.
struct Grid {
    columns: i64,
    rows: i64,
}

impl Grid {
    fn has(&self, (column, row): (i64, i64)) -> bool {
        (0..=self.columns).contains(&column) && (0..=self.rows).contains(&row)
    }
}

/// The number of one of the streets, of which there is one more than blocks.
fn number(walk: &mut Walk, blocks: i64) -> i64 {
    (walk.unit() * (blocks + 1) as f64) as i64
}

/// The next crossing in a direction of the compass.
fn next((column, row): (i64, i64), heading: usize) -> (i64, i64) {
    let (east, north) = COMPASS[heading % 4];
    (column + east, row + north)
}

/// The turn that a number below one chooses. At a crossing of two streets, at least one of the three ways is open.
fn chosen(ways: &[(usize, f64)], unit: f64) -> usize {
    let mut left = unit * ways.iter().map(|(_, weight)| weight).sum::<f64>();
    let mut last = 0;
    for (turn, weight) in ways.iter().filter(|(_, weight)| *weight > 0.0) {
        last = *turn;
        left -= weight;
        if left < 0.0 {
            break;
        }
    }
    last
}

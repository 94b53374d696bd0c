//! Lines on which a function of two coordinates has a value, by marching squares.

use super::Point;
use std::collections::HashMap;

/// Values at the corners of a grid, row by row.
pub(super) struct Grid {
    from: Point,
    step: f64,
    columns: usize,
    rows: usize,
    values: Vec<f64>,
}

/// An edge of the grid: its corner with the lower number, and whether it goes up from there.
type Edge = (usize, bool);

impl Grid {
    /// Looks at a function at corners that are `step` apart.
    pub(super) fn of(from: Point, to: Point, step: f64, value: impl Fn(Point) -> f64) -> Self {
        let [columns, rows] = [0, 1].map(|axis| ((to[axis] - from[axis]) / step).ceil() as usize + 1);
        let at = |place: usize| [from[0] + (place % columns) as f64 * step, from[1] + (place / columns) as f64 * step];
        let values = (0..columns * rows).map(|place| value(at(place))).collect();
        Self { from, step, columns, rows, values }
    }

    /// The greatest value at any corner.
    pub(super) fn greatest(&self) -> f64 {
        self.values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }

    /// The lines on which the function has this value, each from one end to the other, or around.
    pub(super) fn lines(&self, level: f64) -> Vec<Vec<Point>> {
        let mut ends: HashMap<Edge, Vec<Edge>> = HashMap::new();
        let mut order = Vec::new();
        for corner in
            (0..self.rows - 1).flat_map(|row| (0..self.columns - 1).map(move |column| row * self.columns + column))
        {
            for [one, other] in self.square(corner, level) {
                ends.entry(one).or_default().push(other);
                ends.entry(other).or_default().push(one);
                order.extend([one, other]);
            }
        }
        let mut lines = Vec::new();
        // Those with one end first, then what goes around.
        let is_end = |edge: &&Edge| ends[*edge].len() == 1;
        let starts: Vec<Edge> = order.iter().filter(is_end).chain(&order).copied().collect();
        for start in starts {
            let mut line = vec![self.crossing(start, level)];
            let mut at = start;
            while let Some(next) = ends.get_mut(&at).and_then(Vec::pop) {
                if let Some(back) = ends.get_mut(&next)
                    && let Some(place) = back.iter().position(|edge| *edge == at)
                {
                    back.swap_remove(place);
                }
                line.push(self.crossing(next, level));
                at = next;
            }
            if line.len() > 1 {
                lines.push(line);
            }
        }
        lines
    }

    /// The pieces of lines in the square above and to the right of a corner.
    fn square(&self, corner: usize, level: f64) -> Vec<[Edge; 2]> {
        let corners = [corner, corner + 1, corner + 1 + self.columns, corner + self.columns];
        let is_above = corners.map(|place| self.values[place] > level);
        let edges = [(corner, false), (corner + 1, true), (corner + self.columns, false), (corner, true)];
        let crossed: Vec<Edge> =
            (0..4).filter(|side| is_above[*side] != is_above[(side + 1) % 4]).map(|side| edges[side]).collect();
        match crossed[..] {
            [one, other] => vec![[one, other]],
            // A saddle: the middle decides what is joined.
            [below, right, above, left] => {
                let middle = corners.iter().map(|place| self.values[*place]).sum::<f64>() / 4.0;
                if (middle > level) == is_above[0] {
                    vec![[below, right], [above, left]]
                } else {
                    vec![[below, left], [above, right]]
                }
            }
            _ => Vec::new(),
        }
    }

    fn crossing(&self, (corner, is_up): Edge, level: f64) -> Point {
        let next = if is_up { corner + self.columns } else { corner + 1 };
        let (one, other) = (self.values[corner], self.values[next]);
        let share = ((level - one) / (other - one)).clamp(0.0, 1.0);
        let share = if share.is_nan() { 0.5 } else { share };
        let [x, y] = [(corner % self.columns) as f64, (corner / self.columns) as f64];
        let [x, y] = if is_up { [x, y + share] } else { [x + share, y] };
        [self.from[0] + x * self.step, self.from[1] + y * self.step]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The line of a cone is a circle, in one piece.
    #[test]
    fn a_circle_is_one_line() {
        let distance = |[x, y]: Point| -(x * x + y * y).sqrt();
        let lines = Grid::of([-10.0, -10.0], [10.0, 10.0], 0.5, distance).lines(-6.0);
        assert_eq!(lines.len(), 1);
        assert_eq!(lines[0].first(), lines[0].last());
        for point in &lines[0] {
            assert!((distance(*point) + 6.0).abs() < 0.02, "{point:?}");
        }
    }

    #[test]
    fn what_leaves_the_grid_has_two_ends() {
        let lines = Grid::of([0.0, 0.0], [4.0, 3.0], 1.0, |[x, _]| x).lines(2.5);
        assert_eq!(lines, [[[2.5, 0.0], [2.5, 1.0], [2.5, 2.0], [2.5, 3.0]]]);
        let infinite = Grid::of([0.0, 0.0], [2.0, 2.0], 1.0, |[x, _]| if x < 0.5 { f64::INFINITY } else { 0.0 });
        assert!(infinite.lines(1.0).iter().flatten().flatten().all(|number| number.is_finite()));
    }
}

//! Where names and settings are written, so that they cover nothing and one another.

use super::layout::Point;
use std::collections::BTreeMap;

/// The height of a letter's box, in pixels.
pub(super) const HEIGHT: f64 = 13.0;
/// The width of a letter, in pixels: that of a wide font, as a reader's may be one.
const WIDTH: f64 = 6.8;

/// How wide a text is at most.
pub(super) fn width(text: &str) -> f64 {
    text.chars().count() as f64 * WIDTH + 2.0
}

/// A box in the picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Area {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
}

impl Area {
    /// The box of this size around a point.
    pub(super) fn around([x, y]: Point, width: f64, height: f64) -> Self {
        Self { left: x - width / 2.0, top: y - height / 2.0, right: x + width / 2.0, bottom: y + height / 2.0 }
    }

    pub(super) fn middle(&self) -> Point {
        [(self.left + self.right) / 2.0, (self.top + self.bottom) / 2.0]
    }

    pub(super) fn overlaps(&self, other: &Self) -> bool {
        self.left < other.right && other.left < self.right && self.top < other.bottom && other.top < self.bottom
    }
}

/// What is taken of the picture, by cells, so that a look-up sees what is near only.
#[derive(Default)]
pub(super) struct Taken {
    cells: BTreeMap<(i64, i64), Vec<Area>>,
}

impl Taken {
    const CELL: f64 = 64.0;

    pub(super) fn add(&mut self, area: Area) {
        for cell in cells(&area) {
            self.cells.entry(cell).or_default().push(area);
        }
    }

    /// How many of those that are there it overlaps.
    pub(super) fn overlapped(&self, area: &Area) -> usize {
        let there = cells(area).flat_map(|cell| self.cells.get(&cell).into_iter().flatten());
        there.filter(|other| other.overlaps(area)).count()
    }

    /// Adds a line as a row of small boxes.
    pub(super) fn add_line(&mut self, from: Point, to: Point) {
        const STEP: f64 = 6.0;
        let steps = (super::layout::distance(from, to) / STEP).ceil().max(1.0);
        for step in 0..=steps as usize {
            let share = step as f64 / steps;
            let at = [from[0] + share * (to[0] - from[0]), from[1] + share * (to[1] - from[1])];
            self.add(Area::around(at, 3.0, 3.0));
        }
    }
}

fn cells(area: &Area) -> impl Iterator<Item = (i64, i64)> + use<> {
    let cell = |value: f64| (value / Taken::CELL).floor() as i64;
    let (left, right, top, bottom) = (cell(area.left), cell(area.right), cell(area.top), cell(area.bottom));
    (left..=right).flat_map(move |x| (top..=bottom).map(move |y| (x, y)))
}

/// What labels must not cover, and what they should not.
#[derive(Default)]
pub(super) struct Page {
    pub(super) solid: Taken,
    pub(super) lines: Taken,
}

impl Page {
    /// Where a label of this size goes that belongs to a node of this size: below it, above, beside, or at a corner, wherever it
    /// covers the fewest lines. None if something is everywhere.
    pub(super) fn beside(&mut self, node: &Area, width: f64, height: f64) -> Option<Area> {
        const GAP: f64 = 2.0;
        let [x, y] = node.middle();
        let (aside, above) = ((node.right - node.left) / 2.0 + GAP, (node.bottom - node.top) / 2.0 + GAP);
        let (w, h) = (width / 2.0, height / 2.0);
        let near = [
            [0.0, above + h],
            [0.0, -above - h],
            [aside + w, 0.0],
            [-aside - w, 0.0],
            [aside + w - 4.0, above + h - 6.0],
            [-aside - w + 4.0, above + h - 6.0],
            [aside + w - 4.0, -above - h + 6.0],
            [-aside - w + 4.0, -above - h + 6.0],
        ];
        let places = near.map(|[dx, dy]| Area::around([x + dx, y + dy], width, height));
        self.best(places.into_iter(), &Taken::default())
    }

    /// Where a label goes at a line: above or below a flat one, on a steep one, near its middle or somewhat towards its ends.
    pub(super) fn along(&mut self, from: Point, to: Point, width: f64, height: f64) -> Option<Area> {
        let length = super::layout::distance(from, to).max(1.0);
        let [dx, dy] = [(to[0] - from[0]) / length, (to[1] - from[1]) / length];
        // Far enough aside that the box does not touch the line.
        let off = (dy.abs() * width + dx.abs() * height) / 2.0 + 3.0;
        let upwards = if dx >= 0.0 { 1.0 } else { -1.0 };
        let sides = if dx.abs() > 0.9 { [upwards, -upwards, 0.0] } else { [0.0, upwards, -upwards] };
        let shares = [0.5, 0.4, 0.6, 0.3, 0.7];
        let places = sides.into_iter().flat_map(|side| {
            shares.map(|share| {
                let at = [0, 1].map(|axis| from[axis] + share * (to[axis] - from[axis]));
                Area::around([at[0] + side * dy * off, at[1] - side * dx * off], width, height)
            })
        });
        let mut own = Taken::default();
        own.add_line(from, to);
        self.best(places.collect::<Vec<_>>().into_iter(), &own)
    }

    /// The first of the places that covers nothing solid and the fewest lines but its own; it is taken then.
    fn best(&mut self, places: impl Iterator<Item = Area>, own: &Taken) -> Option<Area> {
        let mut best: Option<(usize, Area)> = None;
        for place in places.filter(|place| self.solid.overlapped(place) == 0) {
            let covered = self.lines.overlapped(&place).saturating_sub(own.overlapped(&place));
            if best.is_none_or(|(fewest, _)| covered < fewest) {
                best = Some((covered, place));
            }
        }
        let (_, place) = best?;
        self.solid.add(place);
        Some(place)
    }
}

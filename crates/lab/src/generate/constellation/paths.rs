//! Shortest paths through a constellation, and what their delays are over time.

use super::orbits::{LIGHT, Place, Reach, Station, distance};
use super::satellites::Orbits;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A way from one station to another over these satellites.
pub(super) type Path = Vec<usize>;

/// A point of a delay over time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    /// When, in nanoseconds after time zero.
    pub(super) at: u64,
    /// How long one way takes, in nanoseconds; none: nothing arrives.
    pub(super) delay: Option<u64>,
    /// The rates forward and backward in bits per second, if they change.
    pub(super) rates: Option<[u64; 2]>,
}

impl Point {
    pub(super) fn new(at: u64, delay: Option<u64>) -> Self {
        Self { at, delay, rates: None }
    }
}

/// A constellation with its ground stations.
pub(super) struct Sky {
    pub(super) orbits: Orbits,
    /// The pairs of satellites that are joined by lasers.
    pub(super) lasers: Vec<[usize; 2]>,
    pub(super) stations: Vec<Station>,
    pub(super) reach: Reach,
}

/// How close an instant of a change of visibility is found, in nanoseconds.
const CLOSE: u64 = 1;

impl Sky {
    /// The shortest paths at an instant from each station to those behind it, by their places; none where no path is.
    pub(super) fn paths(&self, seconds: f64) -> Vec<Vec<Option<Path>>> {
        let places: Vec<Place> = (0..self.orbits.count()).map(|one| self.orbits.place(one, seconds)).collect();
        let lasers = self.lengths(&places);
        let seen: Vec<Vec<(usize, f64)>> = self.stations.iter().map(|one| self.seen(one, &places, seconds)).collect();
        let from = |number: usize| {
            let tree = Tree::grown(&seen[number], &lasers);
            seen[number + 1..].iter().map(|there| tree.path_to(there)).collect()
        };
        (0..self.stations.len()).map(from).collect()
    }

    /// The laser links of each satellite with their lengths.
    fn lengths(&self, places: &[Place]) -> Vec<Vec<(usize, f64)>> {
        let mut lasers = vec![Vec::with_capacity(4); places.len()];
        for [one, other] in &self.lasers {
            let pair = [&places[*one], &places[*other]];
            let length = distance(pair[0], pair[1]);
            if length <= self.orbits.longest_laser(pair[0], pair[1]) {
                lasers[*one].push((*other, length));
                lasers[*other].push((*one, length));
            }
        }
        lasers
    }

    /// The satellites that a station sees, with their distances.
    fn seen(&self, station: &Station, places: &[Place], seconds: f64) -> Vec<(usize, f64)> {
        let here = station.place(self.orbits.greenwich(), seconds);
        let within = |(satellite, place): (usize, &Place)| {
            let (margin, far) = self.reach.margin(&here, place);
            (margin >= 0.0).then_some((satellite, far))
        };
        places.iter().enumerate().filter_map(within).collect()
    }

    /// How long one way over a path between two stations takes at an instant, in nanoseconds; none if it is interrupted.
    pub(super) fn delay(&self, ends: [usize; 2], path: &[usize], at: u64) -> Option<u64> {
        let seconds = at as f64 / 1e9;
        let places: Vec<Place> = path.iter().map(|one| self.orbits.place(*one, seconds)).collect();
        let mut length = 0.0;
        for (end, satellite) in ends.into_iter().zip([places.first()?, places.last()?]) {
            let here = self.stations[end].place(self.orbits.greenwich(), seconds);
            let (margin, far) = self.reach.margin(&here, satellite);
            if margin < 0.0 {
                return None;
            }
            length += far;
        }
        for pair in places.windows(2) {
            let laser = distance(&pair[0], &pair[1]);
            if laser > self.orbits.longest_laser(&pair[0], &pair[1]) {
                return None;
            }
            length += laser;
        }
        Some((length / LIGHT * 1e9) as u64)
    }

    /// The points of the delay over a path that is used from one instant to another: each `step`, at these instants within that span, which are
    /// in order, and where it is interrupted.
    pub(super) fn course(
        &self,
        ends: [usize; 2],
        path: Option<&[usize]>,
        [from, to]: [u64; 2],
        step: u64,
        also: &[u64],
    ) -> Vec<Point> {
        let Some(path) = path else { return vec![Point::new(from, None)] };
        let mut points: Vec<Point> = Vec::new();
        let mut at = from;
        loop {
            let delay = self.delay(ends, path, at);
            if delay.is_none() {
                // A path that is broken is not used again before the next choice.
                let (mut whole, mut broken) = (points.last().map_or(from, |point| point.at), at);
                while broken - whole > CLOSE {
                    let middle = whole + (broken - whole) / 2;
                    if self.delay(ends, path, middle).is_some() { whole = middle } else { broken = middle }
                }
                let last = self.delay(ends, path, whole);
                if points.last().is_some_and(|point| point.at < whole) {
                    points.push(Point::new(whole, last));
                }
                points.push(Point::new(broken, None));
                return points;
            }
            points.push(Point::new(at, delay));
            // The last point is just before the next choice.
            let last = to.saturating_sub(1);
            if at >= last {
                return points;
            }
            let next = also.get(also.partition_point(|one| *one <= at)).copied().unwrap_or(u64::MAX);
            at = at.saturating_add(step).min(next).min(last);
        }
    }
}

impl Sky {
    /// The first instant of a span at which another path is better than one that was the best at its beginning: shorter, or whole where that is
    /// interrupted; that the other one is better at the end of the span is taken for granted.
    pub(super) fn turn(
        &self,
        ends: [usize; 2],
        old: Option<&[usize]>,
        new: Option<&[usize]>,
        [from, to]: [u64; 2],
    ) -> u64 {
        let delay = |path: Option<&[usize]>, at: u64| path.and_then(|path| self.delay(ends, path, at));
        let is_better = |at: u64| match (delay(old, at), delay(new, at)) {
            (Some(old), Some(new)) => new < old,
            (None, _) => true,
            (Some(_), None) => false,
        };
        let (mut before, mut after) = (from, to);
        while after - before > CLOSE {
            let middle = before + (after - before) / 2;
            if is_better(middle) { after = middle } else { before = middle }
        }
        after
    }
}

/// The shortest paths from a station over all satellites.
struct Tree {
    /// The length to each satellite, in micrometres; the greatest number where no path is.
    lengths: Vec<u64>,
    before: Vec<usize>,
}

/// No satellite.
const NONE: usize = usize::MAX;

/// A length in whole micrometres: whole numbers have an order.
fn whole(metres: f64) -> u64 {
    (metres * 1e6) as u64
}

impl Tree {
    fn grown(seen: &[(usize, f64)], lasers: &[Vec<(usize, f64)>]) -> Self {
        let mut tree = Self { lengths: vec![u64::MAX; lasers.len()], before: vec![NONE; lasers.len()] };
        let mut next = BinaryHeap::new();
        for (satellite, far) in seen {
            tree.lengths[*satellite] = whole(*far);
            next.push(Reverse((whole(*far), *satellite)));
        }
        while let Some(Reverse((length, here))) = next.pop() {
            if length > tree.lengths[here] {
                continue;
            }
            for (there, far) in &lasers[here] {
                let sum = length + whole(*far);
                if sum < tree.lengths[*there] {
                    (tree.lengths[*there], tree.before[*there]) = (sum, here);
                    next.push(Reverse((sum, *there)));
                }
            }
        }
        tree
    }

    /// The shortest path to a station that sees these satellites.
    fn path_to(&self, seen: &[(usize, f64)]) -> Option<Path> {
        let reached = seen.iter().filter(|(satellite, _)| self.lengths[*satellite] < u64::MAX);
        let (_, last) = reached.map(|(satellite, far)| (self.lengths[*satellite] + whole(*far), *satellite)).min()?;
        let mut path = vec![last];
        let mut here = last;
        while self.before[here] != NONE {
            here = self.before[here];
            path.push(here);
        }
        path.reverse();
        Some(path)
    }
}

#[cfg(test)]
mod tests;

//! Shortest paths through a constellation, and what their delays are over time.

use super::orbits::{LIGHT, Place, Reach, Shell, Station, distance};
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
}

/// A constellation with its ground stations.
pub(super) struct Sky {
    pub(super) shell: Shell,
    pub(super) stations: Vec<Station>,
    pub(super) reach: Reach,
}

/// How close an instant of a change of visibility is found, in nanoseconds.
const CLOSE: u64 = 1;

impl Sky {
    /// The shortest paths at an instant from each station to those behind it, by their places; none where no path is.
    pub(super) fn paths(&self, seconds: f64) -> Vec<Vec<Option<Path>>> {
        let places: Vec<Place> = (0..self.shell.count()).map(|one| self.shell.place(one, seconds)).collect();
        let lasers = self.lasers(&places);
        let seen: Vec<Vec<(usize, f64)>> = self.stations.iter().map(|one| self.seen(one, &places, seconds)).collect();
        let from = |number: usize| {
            let tree = Tree::grown(&seen[number], &lasers);
            seen[number + 1..].iter().map(|there| tree.path_to(there)).collect()
        };
        (0..self.stations.len()).map(from).collect()
    }

    /// The laser links of each satellite with their lengths.
    fn lasers(&self, places: &[Place]) -> Vec<Vec<(usize, f64)>> {
        let mut lasers = vec![Vec::with_capacity(4); places.len()];
        let most = self.shell.longest_laser();
        for (one, place) in places.iter().enumerate() {
            for other in self.shell.neighbours(one) {
                let length = distance(place, &places[other]);
                if other != one && length <= most {
                    lasers[one].push((other, length));
                    lasers[other].push((one, length));
                }
            }
        }
        lasers
    }

    /// The satellites that a station sees, with their distances.
    fn seen(&self, station: &Station, places: &[Place], seconds: f64) -> Vec<(usize, f64)> {
        let here = station.place(seconds);
        let within = |(satellite, place): (usize, &Place)| {
            let (margin, far) = self.reach.margin(&here, place);
            (margin >= 0.0).then_some((satellite, far))
        };
        places.iter().enumerate().filter_map(within).collect()
    }

    /// How long one way over a path between two stations takes at an instant, in nanoseconds; none if it is interrupted.
    pub(super) fn delay(&self, ends: [usize; 2], path: &[usize], at: u64) -> Option<u64> {
        let seconds = at as f64 / 1e9;
        let places: Vec<Place> = path.iter().map(|one| self.shell.place(*one, seconds)).collect();
        let mut length = 0.0;
        for (end, satellite) in ends.into_iter().zip([places.first()?, places.last()?]) {
            let (margin, far) = self.reach.margin(&self.stations[end].place(seconds), satellite);
            if margin < 0.0 {
                return None;
            }
            length += far;
        }
        for pair in places.windows(2) {
            let laser = distance(&pair[0], &pair[1]);
            if laser > self.shell.longest_laser() {
                return None;
            }
            length += laser;
        }
        Some((length / LIGHT * 1e9) as u64)
    }

    /// The points of the delay over a path that is used from one instant to another: each `step`, and where it is interrupted.
    pub(super) fn course(
        &self,
        ends: [usize; 2],
        path: Option<&[usize]>,
        [from, to]: [u64; 2],
        step: u64,
    ) -> Vec<Point> {
        let Some(path) = path else { return vec![Point { at: from, delay: None }] };
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
                    points.push(Point { at: whole, delay: last });
                }
                points.push(Point { at: broken, delay: None });
                return points;
            }
            points.push(Point { at, delay });
            // The last point is just before the next choice.
            let last = to.saturating_sub(1);
            if at >= last {
                return points;
            }
            at = (at + step).min(last);
        }
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
mod tests {
    use super::super::orbits::Phasing;
    use super::*;
    use std::f64::consts::PI;

    fn station(latitude: f64, longitude: f64) -> Station {
        Station { latitude: latitude * PI / 180.0, longitude: longitude * PI / 180.0 }
    }

    fn sky(planes: usize, each: usize, altitude: f64, inclination: f64, range: f64) -> Sky {
        let inclination = inclination * PI / 180.0;
        let shell = Shell { planes, each, altitude, inclination, phasing: Phasing::Alternate };
        let stations = vec![
            station(-22.902_78, -43.207_5),
            station(59.938_63, 30.314_13),
            station(14.604_2, 120.982_2),
            station(38.912_22, 121.602_22),
            station(41.013_84, 28.949_66),
            station(-1.283_33, 36.816_67),
            station(48.856_67, 2.351_69),
            station(-8.836_82, 13.234_32),
        ];
        Sky { shell, stations, reach: Reach::Range(range) }
    }

    /// The least, the median and the greatest round trip of Hypatia's four pairs over 200 s, and the seconds without a path.
    fn figures(sky: &Sky) -> Vec<([f64; 3], usize)> {
        let pairs = [[0, 1], [2, 3], [4, 5], [6, 7]];
        let mut all = vec![Vec::new(); 4];
        for second in 0..200_u64 {
            let paths = sky.paths(second as f64);
            for (trips, [one, other]) in all.iter_mut().zip(pairs) {
                let path = paths[one][other - one - 1].as_deref();
                let delay = path.and_then(|path| sky.delay([one, other], path, second * 1_000_000_000));
                trips.extend(delay.map(|delay| 2.0 * delay as f64 / 1e6));
            }
        }
        let of = |mut trips: Vec<f64>| {
            let lost = 200 - trips.len();
            trips.sort_by(f64::total_cmp);
            let middle = (trips[trips.len() / 2] + trips[(trips.len() - 1) / 2]) / 2.0;
            ([trips[0], middle, trips[trips.len() - 1]], lost)
        };
        all.into_iter().map(of).collect()
    }

    fn check(name: &str, sky: &Sky, expected: [([f64; 3], usize); 4]) {
        for (number, ((found, lost), (wanted, gone))) in figures(sky).into_iter().zip(expected).enumerate() {
            for (trip, should) in found.into_iter().zip(wanted) {
                assert!((trip - should).abs() < 0.5, "{name}, pair {number}: {trip} ms, not {should} ms");
            }
            assert!(lost.abs_diff(gone) <= 1, "{name}, pair {number}: {lost} s without a path, not {gone}");
        }
    }

    /// Rio de Janeiro to Saint Petersburg, Manila to Dalian, Istanbul to Nairobi and Paris to Luanda, as computed apart from this program.
    #[test]
    fn round_trips_over_kuiper_are_those_of_the_reference() {
        let kuiper = sky(34, 34, 630e3, 51.9, 1_260e3);
        let expected = [
            ([95.75, 111.88, 136.51], 12),
            ([25.27, 41.67, 48.19], 0),
            ([46.96, 62.80, 69.54], 0),
            ([90.52, 92.39, 97.19], 0),
        ];
        check("Kuiper", &kuiper, expected);
    }

    #[test]
    fn round_trips_over_telesat_are_those_of_the_reference() {
        let range = 1_015e3 / libm::sin(10.0 * PI / 180.0);
        let telesat = sky(27, 13, 1_015e3, 98.98, range);
        let expected = [
            ([82.34, 82.88, 85.76], 0),
            ([23.69, 24.07, 24.47], 0),
            ([36.76, 36.86, 37.41], 0),
            ([48.21, 48.39, 48.48], 0),
        ];
        check("Telesat", &telesat, expected);
    }

    #[test]
    fn a_path_is_interrupted_at_its_instant() {
        let kuiper = sky(34, 34, 630e3, 51.9, 1_260e3);
        let paths = kuiper.paths(0.0);
        let path = paths[2][0].as_deref().expect("Manila reaches Dalian");
        let second = 1_000_000_000;
        let course = kuiper.course([2, 3], Some(path), [0, 300 * second], second);
        let [.., whole, broken] = course[..] else { panic!("{course:?}") };
        assert_eq!((broken.at - whole.at, broken.delay), (1, None));
        assert!(whole.delay.is_some() && kuiper.delay([2, 3], path, broken.at).is_none());
        // Up to then there is a point each second.
        assert!(course.windows(2).all(|pair| pair[1].at - pair[0].at <= second));
        let short = kuiper.course([2, 3], Some(path), [0, 2 * second], second);
        let at: Vec<u64> = short.iter().map(|point| point.at).collect();
        assert_eq!(at, [0, second, 2 * second - 1]);
        assert_eq!(kuiper.course([2, 3], None, [7, 9], 1), [Point { at: 7, delay: None }]);
    }
}

//! One quantity of a schedule: its own steps, and which of them comes next.

use alloc::vec::Vec;
use netloom_units::{Duration, Instant};

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Track<V> {
    /// Instants since the beginning of a round, rising, and what holds from then on.
    points: Vec<(Duration, V)>,
    /// After how long the points come again; none: never.
    period: Option<Duration>,
    /// When the first round began.
    began: Instant,
    /// When the present round began.
    round: Instant,
    /// The next point of this round; all of them are taken if nothing is repeated and it is their number.
    next: usize,
}

/// A value, and the one behind it if there is one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point<V> {
    pub(super) value: V,
    pub(super) next: Option<(Instant, V)>,
}

impl<V: Copy> Track<V> {
    pub(super) fn new(points: Vec<(Duration, V)>, period: Option<Duration>, now: Instant) -> Self {
        Self { points, period, began: now, round: now, next: 0 }
    }

    fn peek(&self) -> Option<(Instant, V)> {
        let (at, value) = self.points.get(self.next)?;
        Some((self.round + *at, *value)).filter(|(at, _)| *at < Instant::MAX)
    }

    /// The instant of the next point.
    pub(super) fn next(&self) -> Option<Instant> {
        self.peek().map(|(at, _)| at)
    }

    /// The next point, if that is its instant.
    pub(super) fn take(&mut self, at: Instant) -> Option<Point<V>> {
        let (_, value) = self.peek().filter(|(next, _)| *next == at)?;
        self.go_on();
        Some(Point { value, next: self.peek() })
    }

    fn go_on(&mut self) {
        self.next += 1;
        if let Some(period) = self.period.filter(|_| self.next == self.points.len()) {
            self.round = self.round + period;
            self.next = 0;
        }
    }

    /// Goes to the last point until `until`, if it is not behind that already.
    pub(super) fn skip(&mut self, until: Instant) {
        if self.next().is_none_or(|next| next >= until) {
            return;
        }
        let round = match self.period {
            Some(period) => self.began + period * (until.since(self.began).as_nanos() / period.as_nanos()),
            None => self.began,
        };
        let within = until.since(round);
        let past = self.points.partition_point(|(at, _)| *at <= within);
        // If the round has no point until then, the last one was in the round before.
        (self.round, self.next) = match (past.checked_sub(1), self.period) {
            (Some(last), _) => (round, last),
            (None, Some(period)) => (round - period, self.points.len() - 1),
            (None, None) => unreachable!("a point was seen before that instant"),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn track(points: &[(u64, char)], period: Option<u64>) -> Track<char> {
        let points = points.iter().map(|(at, value)| (Duration::from_nanos(*at), *value)).collect();
        Track::new(points, period.map(Duration::from_nanos), Instant::from_nanos(100))
    }

    fn taken(track: &mut Track<char>, most: usize) -> Vec<(u64, char)> {
        let mut taken = vec![];
        while let Some(at) = track.next().filter(|_| taken.len() < most) {
            taken.push((at.as_nanos(), track.take(at).expect("there is one").value));
        }
        taken
    }

    #[test]
    fn points_come_once_or_again_and_again() {
        assert_eq!(taken(&mut track(&[(0, 'a'), (7, 'b')], None), 9), [(100, 'a'), (107, 'b')]);
        let again = [(101, 'a'), (107, 'b'), (111, 'a'), (117, 'b'), (121, 'a')];
        assert_eq!(taken(&mut track(&[(1, 'a'), (7, 'b')], Some(10)), 5), again);
        // The first point of a round replaces the last of the round before at the same instant.
        assert_eq!(
            taken(&mut track(&[(0, 'a'), (7, 'b')], Some(7)), 4),
            [(100, 'a'), (107, 'b'), (107, 'a'), (114, 'b')]
        );
    }

    /// Wherever it skips to, it goes on as if it had taken what it skipped, from the last point until then on.
    #[test]
    fn skipping_leaves_out_all_but_the_last() {
        for (points, period) in [
            (&[(1, 'a'), (4, 'b'), (7, 'c')][..], Some(7)),
            (&[(0, 'a'), (4, 'b')], Some(4)),
            (&[(0, 'a'), (2, 'b')], Some(9)),
            (&[(3, 'a')], Some(5)),
            (&[(3, 'a'), (9, 'b')], None),
        ] {
            let all = taken(&mut track(points, period), 30);
            for until in 100..150 {
                let mut skipping = track(points, period);
                skipping.skip(Instant::from_nanos(until));
                let last = all.iter().rposition(|(at, _)| *at <= until).unwrap_or(0);
                let wanted = &all[last..(last + 5).min(all.len())];
                assert_eq!(taken(&mut skipping, 5), wanted, "{points:?} until {until}");
            }
        }
    }
}

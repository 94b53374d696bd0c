//! A quantity that goes from one value to another in a straight line, and the exact integral of a rate that does.

use netloom_units::{Duration, Instant};

/// See the module. Before its beginning it has its first value, after its end its last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slope {
    pub(crate) begin: Instant,
    pub(crate) end: Instant,
    pub(crate) from: u64,
    pub(crate) to: u64,
}

impl Slope {
    /// Always `value`.
    pub(crate) fn flat(value: u64) -> Self {
        Self { begin: Instant::ZERO, end: Instant::ZERO, from: value, to: value }
    }

    pub(crate) fn is_flat(&self) -> bool {
        self.from == self.to
    }

    /// How long it takes in nanoseconds, at least one: what has no length has no slope either.
    pub(crate) fn span(&self) -> u64 {
        self.end.since(self.begin).as_nanos().max(1)
    }

    /// The value at `now`, rounded down.
    pub(crate) fn at(&self, now: Instant) -> u64 {
        let value = self.scaled(now) / u128::from(self.span());
        u64::try_from(value).expect("it lies between two values of 64 bits")
    }

    /// The exact value at `now`, times [`Slope::span`].
    pub(crate) fn scaled(&self, now: Instant) -> u128 {
        let span = self.span();
        let gone = now.since(self.begin).as_nanos().min(span);
        u128::from(self.from) * u128::from(span - gone) + u128::from(self.to) * u128::from(gone)
    }

    /// The integral from `start` for `length`, times twice [`Slope::span`]; the largest number if that is more.
    pub(crate) fn doubled_integral(&self, start: Instant, length: Duration) -> u128 {
        let until = start + length;
        let rising = length.as_nanos().min(self.end.since(start).as_nanos());
        let (first, last) = (self.scaled(start), self.scaled(until));
        // On the line, the mean of first and last value; behind its end, the last value.
        let line = first.saturating_add(last).saturating_mul(u128::from(rising));
        let behind = last.saturating_mul(2).saturating_mul(u128::from(length.as_nanos() - rising));
        line.saturating_add(behind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(ns: u64) -> Instant {
        Instant::from_nanos(ns)
    }

    #[test]
    fn values_lie_on_the_line() {
        let falling = Slope { begin: at(10), end: at(20), from: 100, to: 5 };
        assert_eq!([0, 10, 11, 15, 19, 20, 99].map(|ns| falling.at(at(ns))), [100, 100, 90, 52, 14, 5, 5]);
        assert_eq!(Slope::flat(7).at(at(3)), 7);
        let wide = Slope { begin: at(0), end: at(u64::MAX), from: u64::MAX, to: u64::MAX };
        assert_eq!([wide.at(at(0)), wide.at(Instant::MAX)], [u64::MAX; 2]);
    }

    /// Twice the span times the area: from 15 to 20 a trapezium of 5 by (52.5 + 5) / 2, then 5 for each nanosecond.
    #[test]
    fn integrals_are_exact() {
        let falling = Slope { begin: at(10), end: at(20), from: 100, to: 5 };
        let area = |start, length| falling.doubled_integral(at(start), Duration::from_nanos(length));
        assert_eq!(area(15, 5), 20 * 575 / 4);
        assert_eq!(area(15, 7), 20 * 575 / 4 + 20 * 10);
        assert_eq!(area(20, 3), 20 * 15);
        assert_eq!(area(10, 3) + area(13, 7), area(10, 10));
    }
}

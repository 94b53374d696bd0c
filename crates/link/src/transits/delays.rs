//! Quantiles of how long packets took.

use alloc::vec::Vec;
use netloom_units::{Duration, quantile};

/// How many different values are kept exactly.
const MOST: usize = 1 << 17;

/// Quantiles of how long packets took, in a span of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delays {
    /// The number of packets; the segments of a train count one by one.
    pub packets: u64,
    /// The median: at least half of the packets took no longer.
    pub p50: Duration,
    /// The 99th percentile: at least 99 of 100 packets took no longer.
    pub p99: Duration,
    /// The longest time that a packet took.
    pub max: Duration,
}

/// How often each value was there. Beyond 131,072 values neighbours are joined to the larger of them, which shifts a quantile by
/// at most one rank in 65,536 each time.
#[derive(Debug, Default)]
pub(super) struct Weighed(Vec<(Duration, u64)>);

impl Weighed {
    pub(super) fn add(&mut self, value: Duration, count: u64) {
        match self.0.last_mut() {
            _ if count == 0 => {}
            Some(last) if last.0 == value => last.1 += count,
            _ => self.0.push((value, count)),
        }
        if self.0.len() >= MOST {
            self.compress();
        }
    }

    fn compress(&mut self) {
        self.0.sort_unstable();
        let joined = self.0.chunks(2).map(|pair| (pair[pair.len() - 1].0, pair.iter().map(|(_, count)| count).sum()));
        self.0 = joined.collect();
    }

    /// None of no values.
    pub(super) fn delays(mut self) -> Option<Delays> {
        self.0.sort_unstable();
        let (max, _) = *self.0.last()?;
        let packets = self.0.iter().map(|(_, count)| count).sum();
        Some(Delays { packets, p50: self.part(packets, 50), p99: self.part(packets, 99), max })
    }

    /// The value that so many of 100 parts of these packets do not exceed; the values are sorted.
    fn part(&self, packets: u64, part: u64) -> Duration {
        quantile::at_rank(self.0.iter().copied(), quantile::rank(packets, part, 100)).unwrap_or(Duration::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> Duration {
        Duration::from_micros(us)
    }

    #[test]
    fn quantiles_are_values_that_were_there() {
        let mut weighed = Weighed::default();
        assert_eq!(Weighed::default().delays(), None);
        (1..=200).rev().for_each(|value| weighed.add(us(value), 1));
        assert_eq!(weighed.delays(), Some(Delays { packets: 200, p50: us(100), p99: us(198), max: us(200) }));
        let mut one = Weighed::default();
        one.add(us(7), 3);
        one.add(us(9), 0);
        assert_eq!(one.delays(), Some(Delays { packets: 3, p50: us(7), p99: us(7), max: us(7) }));
    }

    /// A million different values in memory for 131,072.
    #[test]
    fn of_too_many_values_quantiles_are_almost_exact() {
        let mut weighed = Weighed::default();
        // A permutation: 7 has no factor in common with the number of values.
        (0..1_000_000_u64).for_each(|index| weighed.add(us(index * 7 % 1_000_000 + 1), 1));
        assert!(weighed.0.len() < MOST);
        let delays = weighed.delays().unwrap();
        assert_eq!((delays.packets, delays.max), (1_000_000, us(1_000_000)));
        for (found, exact) in [(delays.p50, 500_000.0), (delays.p99, 990_000.0)] {
            assert!((found.as_micros_f64() / exact - 1.0).abs() < 0.001, "{found} {exact}");
        }
    }
}

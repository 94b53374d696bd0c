//! Distributions of lateness and delay: many values in little memory.

use hdrhistogram::Histogram;
use netloom_units::{Duration, quantile};
use std::borrow::Cow;

/// At least this many values are kept exactly. A pipe that carries only the kernels' neighbor discovery needs
/// no histogram, which takes some 20 KB.
const FEW: usize = 32;
/// Fresh memory costs up to 50 us for a histogram, on virtual machines, whose host has to find it first. A thousand pipes
/// that carry the same would all ask for theirs at the same moment, and packets would be 100 ms late. So one value of
/// this many, at random, makes the histogram, or at the latest the last that is kept exactly.
const ONE_IN: u64 = 64;
const MANY: usize = 512;

/// A histogram has room for these durations from the beginning, so that it need not grow step by step while packets wait.
const ROOM_NS: u64 = 1 << 27;

/// How often which duration was seen; within 1 % of the value.
#[derive(Clone, Debug, Default)]
pub struct Distribution {
    /// The first values and how often each was seen; empty when there is a histogram.
    few: Vec<(u64, u32)>,
    histogram: Option<Box<Histogram<u64>>>,
    sum_ns: u128,
}

impl Distribution {
    /// Adds a value, `times` times.
    pub fn record(&mut self, value: Duration, times: u32) {
        let value = value.as_nanos();
        self.sum_ns += u128::from(value) * u128::from(times);
        match &mut self.histogram {
            Some(histogram) => add(histogram, value, times),
            None if self.few.len() < FEW || (self.few.len() < MANY && !value.is_multiple_of(ONE_IN)) => {
                self.few.push((value, times));
            }
            None => {
                let mut histogram = Box::new(histogram_of(&std::mem::take(&mut self.few)));
                add(&mut histogram, value, times);
                self.histogram = Some(histogram);
            }
        }
    }

    /// How many values there are.
    pub fn count(&self) -> u64 {
        let few = self.few.iter().map(|&(_, times)| u64::from(times)).sum::<u64>();
        few + self.histogram.as_ref().map_or(0, |histogram| histogram.len())
    }

    /// The value that the fraction `q` (0 to 1) of all values does not exceed; none without values.
    pub fn quantile(&self, q: f64) -> Option<Duration> {
        let Some(histogram) = &self.histogram else {
            let wanted = quantile::rank_at(self.count(), q);
            return quantile::at_rank(self.sorted(), wanted).map(Duration::from_nanos);
        };
        Some(Duration::from_nanos(histogram.value_at_quantile(q).min(histogram.max())))
    }

    /// The values that 0, 1, 2 … `parts` of `parts` equal parts of all values do not exceed, the first of which is the least; none without
    /// values. One pass over all of them, however many parts there are.
    ///
    /// # Panics
    /// Without parts.
    pub fn cut(&self, parts: usize) -> Vec<Duration> {
        assert!(parts > 0, "a distribution is cut into parts");
        let (Some(least), Some(most)) = (self.min(), self.max()) else { return Vec::new() };
        let seen: Vec<(u64, u64)> = match &self.histogram {
            Some(histogram) => {
                let step = |step: hdrhistogram::iterators::IterationValue<u64>| {
                    (step.value_iterated_to(), step.count_since_last_iteration())
                };
                histogram.iter_recorded().map(step).collect()
            }
            None => self.sorted(),
        };
        let (count, parts) = (self.count(), parts as u64);
        let (mut place, mut passed) = (0, 0);
        let value = |part: u64| {
            let wanted = quantile::rank(count, part, parts);
            while place < seen.len() && passed + seen[place].1 < wanted {
                passed += seen[place].1;
                place += 1;
            }
            seen.get(place).map_or(most, |(value, _)| Duration::from_nanos(*value)).min(most)
        };
        std::iter::once(least).chain((1..=parts).map(value)).collect()
    }

    /// The mean; none without values.
    pub fn mean(&self) -> Option<Duration> {
        let mean = self.sum_ns.checked_div(u128::from(self.count()))?;
        Some(Duration::from_nanos(u64::try_from(mean).unwrap_or(u64::MAX)))
    }

    /// The smallest value, within 1 %; none without values.
    pub fn min(&self) -> Option<Duration> {
        let least = match &self.histogram {
            Some(histogram) => histogram.min(),
            None => self.few.iter().map(|(value, _)| *value).min()?,
        };
        Some(Duration::from_nanos(least))
    }

    /// The standard deviation, within 1 %; none without values.
    pub fn deviation(&self) -> Option<Duration> {
        self.histogram().map(|histogram| Duration::from_nanos(histogram.stdev().round() as u64))
    }

    /// Returns the distribution of the values that were added after `before`, an earlier state of this distribution.
    pub fn since(&self, before: &Self) -> Self {
        let sum_ns = self.sum_ns.saturating_sub(before.sum_ns);
        let Some(histogram) = &self.histogram else {
            return Self {
                few: self.few.get(before.few.len()..).unwrap_or_default().to_vec(),
                histogram: None,
                sum_ns,
            };
        };
        let mut rest = histogram.clone();
        // Without earlier values there is nothing to take away; of other values this would be another distribution.
        match before.histogram() {
            Some(earlier) if rest.subtract(&*earlier).is_err() => Self::default(),
            // A histogram without values would have a quantile of 0.
            _ if rest.is_empty() => Self::default(),
            _ => Self { few: Vec::new(), histogram: Some(rest), sum_ns },
        }
    }

    /// The largest value, within 1 %; none without values.
    pub fn max(&self) -> Option<Duration> {
        let most = match &self.histogram {
            Some(histogram) => histogram.max(),
            None => self.few.iter().map(|(value, _)| *value).max()?,
        };
        Some(Duration::from_nanos(most))
    }

    /// The few values, from the least on, and how often each was seen.
    fn sorted(&self) -> Vec<(u64, u64)> {
        let mut sorted: Vec<(u64, u64)> = self.few.iter().map(|(value, times)| (*value, u64::from(*times))).collect();
        sorted.sort_unstable();
        sorted
    }

    fn histogram(&self) -> Option<Cow<'_, Histogram<u64>>> {
        match &self.histogram {
            Some(histogram) => Some(Cow::Borrowed(histogram)),
            None => (!self.few.is_empty()).then(|| Cow::Owned(histogram_of(&self.few))),
        }
    }
}

fn histogram_of(values: &[(u64, u32)]) -> Histogram<u64> {
    let mut histogram = Histogram::new_with_bounds(1, ROOM_NS, 2).expect("two significant digits are allowed");
    histogram.auto(true);
    values.iter().for_each(|&(value, times)| add(&mut histogram, value, times));
    histogram
}

/// The histogram grows to hold any value, so this cannot fail.
fn add(histogram: &mut Histogram<u64>, value: u64, times: u32) {
    let _ = histogram.record_n(value, u64::from(times));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(count: u32) -> Distribution {
        let mut distribution = Distribution::default();
        (1..=count).for_each(|us| distribution.record(Duration::from_micros(us.into()), 2));
        distribution
    }

    /// Around the number from which on there is a histogram.
    #[test]
    fn few_values_say_the_same_as_many() {
        for count in [1, 31, 32, 33, 34, 100, 1_000] {
            let distribution = spread(count);
            assert_eq!(distribution.count(), u64::from(count) * 2);
            assert_eq!(distribution.mean(), Some(Duration::from_nanos(u64::from(count + 1) * 500)));
            let within = |measured: Option<Duration>, us: u32| {
                let (measured, exact) = (measured.expect("there are values").as_nanos(), u64::from(us) * 1_000);
                measured.abs_diff(exact) * 100 <= exact
            };
            assert!(within(distribution.max(), count), "{count}: {:?}", distribution.max());
            assert!(within(distribution.quantile(0.5), count.div_ceil(2)), "{count}: {:?}", distribution.quantile(0.5));
        }
    }

    /// A hundred values of 1 ms, then fifty of 9 ms: the second part says nothing of the first.
    #[test]
    fn a_part_is_known_by_what_was_there_before() {
        let add = |distribution: &mut Distribution, ms: u64, count: usize| {
            (0..count).for_each(|_| distribution.record(Duration::from_nanos(ms * 1_000_000 + 64), 1));
        };
        for (first, second) in [(100, 50), (3, 5), (3, 100), (0, 4), (600, 1)] {
            let mut before = Distribution::default();
            add(&mut before, 1, first);
            let mut all = before.clone();
            add(&mut all, 9, second);
            let part = all.since(&before);
            let near = |found: Option<Duration>| {
                found.is_some_and(|found| (8_900..9_100).contains(&(found.as_nanos() / 1_000)))
            };
            assert_eq!(part.count(), second as u64, "{first} and {second}");
            assert!(near(part.quantile(0.01)) && near(part.max()) && near(part.min()) && near(part.mean()), "{part:?}");
            assert_eq!(all.since(&all).quantile(0.5), None);
        }
    }

    /// Cut into parts, it says the same as asked for each part by itself.
    #[test]
    fn parts_are_quantiles() {
        for count in [1, 2, 31, 34, 600, 5_000] {
            let distribution = spread(count);
            for parts in [1, 3, 200] {
                let cut = distribution.cut(parts);
                assert_eq!(cut.len(), parts + 1);
                assert_eq!((cut.first().copied(), cut.last().copied()), (distribution.min(), distribution.max()));
                for (part, value) in cut.iter().enumerate().skip(1) {
                    let single = distribution.quantile(part as f64 / parts as f64).expect("there are values");
                    // A share that floating-point numbers round up may be the next value.
                    let apart = value.as_nanos().abs_diff(single.as_nanos());
                    assert!(apart <= 1_000 + single.as_nanos() / 50, "{count}, {part} of {parts}: {value}, {single}");
                }
            }
        }
        assert_eq!(Distribution::default().cut(4), Vec::new());
    }

    #[test]
    fn no_values_have_no_mean() {
        let none = Distribution::default();
        assert_eq!((none.count(), none.mean(), none.max(), none.quantile(0.5)), (0, None, None, None));
    }
}

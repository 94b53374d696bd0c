//! How often which duration was seen, where all values are counted in a histogram.

use netloom_units::Duration;

/// How often which duration was seen: quantiles to `DIGITS` significant digits; least, mean and most are exact.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram<const DIGITS: u8> {
    /// Made with the first value: most pipes of a large lab carry nothing.
    counts: Option<Box<hdrhistogram::Histogram<u64>>>,
    sum_ns: u128,
    least: Option<Duration>,
    most: Option<Duration>,
}

impl<const DIGITS: u8> Histogram<DIGITS> {
    /// Adds a value.
    ///
    /// # Panics
    /// If there are more than five digits.
    pub fn record(&mut self, value: Duration) {
        let made =
            || Box::new(hdrhistogram::Histogram::new(DIGITS).expect("up to five significant digits are allowed"));
        // The histogram grows to hold any value, so recording cannot fail.
        let _ = self.counts.get_or_insert_with(made).record(value.as_nanos());
        self.sum_ns += u128::from(value.as_nanos());
        self.least = Some(self.least.map_or(value, |least| least.min(value)));
        self.most = self.most.max(Some(value));
    }

    /// Returns the number of values.
    pub fn count(&self) -> u64 {
        self.counts.as_ref().map_or(0, |counts| counts.len())
    }

    /// Returns the least value; none without values.
    pub fn least(&self) -> Option<Duration> {
        self.least
    }

    /// Returns the largest value; none without values.
    pub fn most(&self) -> Option<Duration> {
        self.most
    }

    /// Returns the mean; none without values.
    pub fn mean(&self) -> Option<Duration> {
        let mean = self.sum_ns.checked_div(u128::from(self.count()))?;
        Some(Duration::from_nanos(u64::try_from(mean).unwrap_or(u64::MAX)))
    }

    /// Returns the values that 0, 1, 2 … `parts` of `parts` equal parts of all values do not exceed; none without values.
    pub fn cut(&self, parts: usize) -> Vec<Duration> {
        (0..=parts).filter_map(|part| self.quantile(part as f64 / parts as f64)).collect()
    }

    /// Returns the value that the fraction `q` (0 to 1) of all values does not exceed; none without values.
    pub fn quantile(&self, q: f64) -> Option<Duration> {
        let value = Duration::from_nanos(self.counts.as_ref()?.value_at_quantile(q));
        // A value stands for all that are counted with it, and may lie outside of what was seen.
        Some(value.min(self.most?).max(self.least?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_and_mean_are_exact_and_quantiles_nearly_so() {
        let mut seen = Histogram::<2>::default();
        assert_eq!((seen.count(), seen.mean(), seen.quantile(0.5), seen.cut(2)), (0, None, None, Vec::new()));
        (1..=10_000).for_each(|place| seen.record(Duration::from_micros(place * 10)));
        let us = Duration::from_micros;
        let mean = Duration::from_nanos(50_005_000);
        assert_eq!((seen.least(), seen.mean(), seen.most()), (Some(us(10)), Some(mean), Some(us(100_000))));
        for (share, exact) in [(0.5, 50e6), (0.99, 99e6)] {
            let found = seen.quantile(share).expect("there are values").as_nanos();
            assert!((found as f64 / exact - 1.0).abs() < 0.01, "{found} for {exact}");
        }
        let mut one = Histogram::<3>::default();
        one.record(us(123_456));
        assert_eq!(one.cut(2), [us(123_456); 3]);
    }
}

//! How often which delay was seen.

use hdrhistogram::Histogram;
use netloom_units::Duration;

/// Quantiles are within 0.1 %; least, mean and most are exact.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Delays {
    /// Made with the first value.
    histogram: Option<Box<Histogram<u64>>>,
    sum_ns: u128,
    least: Option<Duration>,
    most: Option<Duration>,
}

impl Delays {
    /// Adds a value.
    pub(crate) fn record(&mut self, value: Duration) {
        let histogram = self
            .histogram
            .get_or_insert_with(|| Box::new(Histogram::new(3).expect("three significant digits are allowed")));
        // The histogram grows to hold any value, so recording cannot fail.
        let _ = histogram.record(value.as_nanos());
        self.sum_ns += u128::from(value.as_nanos());
        self.least = Some(self.least.map_or(value, |least| least.min(value)));
        self.most = self.most.max(Some(value));
    }

    /// How many values there are.
    pub fn count(&self) -> u64 {
        self.histogram.as_ref().map_or(0, |histogram| histogram.len())
    }

    /// The least value; none without values.
    pub fn least(&self) -> Option<Duration> {
        self.least
    }

    /// The largest value; none without values.
    pub fn most(&self) -> Option<Duration> {
        self.most
    }

    /// The mean; none without values.
    pub fn mean(&self) -> Option<Duration> {
        let mean = self.sum_ns.checked_div(u128::from(self.count()))?;
        Some(Duration::from_nanos(u64::try_from(mean).unwrap_or(u64::MAX)))
    }

    /// The values that 0, 1, 2 … `parts` of `parts` equal parts of all values do not exceed; none without values.
    pub fn cut(&self, parts: usize) -> Vec<Duration> {
        (0..=parts).filter_map(|part| self.quantile(part as f64 / parts as f64)).collect()
    }

    /// The value that the fraction `q` (0 to 1) of all values does not exceed; none without values.
    pub fn quantile(&self, q: f64) -> Option<Duration> {
        let value = Duration::from_nanos(self.histogram.as_ref()?.value_at_quantile(q));
        // A value stands for all that are counted with it, and may lie outside of what was seen.
        Some(value.min(self.most?).max(self.least?))
    }
}

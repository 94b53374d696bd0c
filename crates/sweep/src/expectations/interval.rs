//! How sure one is of what runs show: intervals of 95 % confidence.

use crate::moments::{Moments, welch};
use netloom_lab::Function;

/// What lies outside at each end.
const TAIL: f64 = 0.025;

/// An interval that has the true value with 95 % confidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Interval {
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Interval {
    /// That of a mean is Student's. That of a percentile lies between two of the values and assumes nothing of their distribution
    /// (Conover 1999: "Practical Nonparametric Statistics", section 3.2). None of other functions, and of too few values.
    pub(super) fn of(function: Function, values: &[f64]) -> Option<Self> {
        match function {
            Function::Mean => {
                let moments = moments(values);
                let (mean, half) = (moments.mean()?, moments.half_width()?);
                Some(Self { low: mean - half, high: mean + half })
            }
            Function::Percentile(share) => {
                let (low, high) = ranks(values.len(), share / 100.0)?;
                let mut sorted = values.to_vec();
                sorted.sort_by(f64::total_cmp);
                Some(Self { low: sorted[low - 1], high: sorted[high - 1] })
            }
            _ => None,
        }
    }
}

/// By how much one mean is larger than another, and half of the interval of that. None of fewer than two values.
pub(super) fn difference(one: &[f64], other: &[f64]) -> Option<(f64, f64)> {
    let (one, other) = (moments(one), moments(other));
    let half = welch((one.count(), one.deviation()?), (other.count(), other.deviation()?))?;
    Some((one.mean()? - other.mean()?, half))
}

fn moments(values: &[f64]) -> Moments {
    let mut moments = Moments::default();
    values.iter().for_each(|value| moments.add(*value));
    moments
}

/// The ranks, from 1, of the values between which the quantile lies: fewer of `n` values lie below the first, and above the second,
/// with the probability of a tail each. How many lie below a quantile is binomial. None if there are too few values.
fn ranks(n: usize, share: f64) -> Option<(usize, usize)> {
    let (mut below, mut low, mut high) = (0.0, None, None);
    let odds = (share / (1.0 - share)).ln();
    let mut log = n as f64 * (1.0 - share).ln();
    for count in 0..=n {
        below += log.exp();
        // So many values or fewer lie below it.
        if below <= TAIL {
            low = Some(count + 1);
        }
        if below >= 1.0 - TAIL {
            high = Some(count + 1);
            break;
        }
        log += ((n - count) as f64 / (count + 1) as f64).ln() + odds;
    }
    Some((low?, high.filter(|high| *high <= n)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of six values, all lie on one side of the median once in 64 times; of five, once in 32, which is too often. For 10 and 20
    /// the ranks are those of the tables (Conover, table A3 with p = 0.5).
    #[test]
    fn a_median_lies_between_two_of_the_values() {
        assert_eq!((ranks(5, 0.5), ranks(0, 0.5), ranks(1, 0.5)), (None, None, None));
        assert_eq!((ranks(6, 0.5), ranks(10, 0.5), ranks(20, 0.5)), (Some((1, 6)), Some((2, 9)), Some((6, 15))));
        // Of the 99th percentile, 0.99 to the power of n values all lie below it: that is less than 2.5 % from 368 on.
        assert_eq!(ranks(367, 0.99), None);
        assert!(ranks(368, 0.99).is_some_and(|(_, high)| high == 368));
        assert!(
            ranks(100_000, 0.5).is_some_and(|(low, high)| low + high == 100_001 && (49_600..49_800).contains(&low))
        );
        let values = [6.0, 1.0, 5.0, 2.0, 4.0, 3.0];
        assert_eq!(Interval::of(Function::Percentile(50.0), &values), Some(Interval { low: 1.0, high: 6.0 }));
        assert_eq!(Interval::of(Function::Max, &values), None);
    }

    /// Means 5 and 2, variances 1 and 4, four values each: 0.25 + 1 = 1.25, whose root is 1.118034. Degrees of freedom:
    /// 1.25² / (0.25² / 3 + 1 / 3) = 4.4118, for which t is 2.677178.
    #[test]
    fn two_means_differ_as_welch_says() {
        let spread = |mean: f64, variance: f64| {
            let step = (variance * 3.0 / 4.0).sqrt();
            [mean - step, mean - step, mean + step, mean + step]
        };
        let (apart, half) = difference(&spread(5.0, 1.0), &spread(2.0, 4.0)).unwrap();
        assert!((apart - 3.0).abs() < 1e-9 && (half - 2.677_178 * 1.25_f64.sqrt()).abs() < 1e-5, "{apart} {half}");
        assert_eq!(difference(&[1.0, 1.0], &[3.0, 3.0]), None);
        assert_eq!(difference(&[1.0], &[3.0, 3.0]), None);
    }
}

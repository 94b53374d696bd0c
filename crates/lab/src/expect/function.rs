//! Functions that make one number of many.

use crate::diagnostics::nearest;
use netloom_units::quantile;
use std::fmt;

/// An aggregate function, which reduces many numbers to one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Function {
    /// The arithmetic mean.
    Mean,
    /// The percentile: the value that this share of all does not exceed, in percent: above 0 and below 100. The median has 50.
    Percentile(f64),
    /// The smallest value.
    Min,
    /// The largest value.
    Max,
    /// The sum.
    Sum,
    /// The number of values.
    Count,
    /// The standard deviation; of flows and runs with n - 1.
    Deviation,
    /// Jain's index of fairness: the square of the sum, divided by n times the sum of the squares (Jain, Chiu and Hawe 1984: "A
    /// quantitative measure of fairness and discrimination for resource allocation in shared computer systems").
    Jain,
}

/// By name; percentiles are written `p99` or `p99.9`, too.
const NAMES: [(&str, Function); 8] = [
    ("mean", Function::Mean),
    ("median", Function::Percentile(50.0)),
    ("min", Function::Min),
    ("max", Function::Max),
    ("sum", Function::Sum),
    ("count", Function::Count),
    ("stddev", Function::Deviation),
    ("jain", Function::Jain),
];

impl Function {
    /// All names, for messages.
    pub(crate) const KNOWN: &'static str = "mean, median, min, max, p1 to p99.9, sum, count, stddev, jain";

    /// The function of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let percentile = || {
            let digits = name.strip_prefix('p')?;
            let is_number = digits.starts_with(|c: char| c.is_ascii_digit())
                && digits.bytes().all(|b| b.is_ascii_digit() || b == b'.')
                && !digits.ends_with('.');
            let share: f64 = digits.parse().ok().filter(|_| is_number)?;
            (share > 0.0 && share < 100.0).then_some(Self::Percentile(share))
        };
        NAMES.iter().find(|(known, _)| *known == name).map(|(_, function)| *function).or_else(percentile)
    }

    /// What may be meant by `name`.
    pub(crate) fn near(name: &str) -> Option<&'static str> {
        nearest(name, NAMES.iter().map(|(known, _)| *known))
    }

    /// Whether it says something of what a series shows: how often it was looked at, and so their sum, means nothing.
    pub(crate) fn is_of_series(self) -> bool {
        !matches!(self, Self::Sum | Self::Count | Self::Jain)
    }

    /// Whether what it makes has no unit.
    pub(crate) fn is_bare(self) -> bool {
        matches!(self, Self::Count | Self::Jain)
    }

    /// Applies the function to values that all count the same: flows, or runs. A percentile is interpolated between two of them where
    /// there is no value for it (as the default of R and NumPy, type 7 of Hyndman and Fan 1996). Returns `None` if there are no values,
    /// except for the count, which is 0. A deviation needs two values.
    pub fn of(self, values: &[f64]) -> Option<f64> {
        let n = values.len() as f64;
        let sum = values.iter().sum::<f64>();
        if let Self::Count = self {
            return Some(n);
        }
        if values.is_empty() {
            return None;
        }
        Some(match self {
            Self::Count => n,
            Self::Mean => sum / n,
            Self::Sum => sum,
            Self::Min => values.iter().copied().fold(f64::INFINITY, f64::min),
            Self::Max => values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            Self::Percentile(share) => {
                let mut sorted = values.to_vec();
                sorted.sort_by(f64::total_cmp);
                quantile::between(&sorted, share / 100.0)?
            }
            Self::Deviation if values.len() < 2 => return None,
            Self::Deviation => {
                let mean = sum / n;
                (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt()
            }
            Self::Jain => {
                let squares = values.iter().map(|value| value * value).sum::<f64>();
                // Those that all have nothing have the same.
                if squares == 0.0 { 1.0 } else { sum * sum / (n * squares) }
            }
        })
    }

    /// Applies the function to values, each with its weight: how long it lasted, or how often it was seen. A percentile is the smallest
    /// value that as large a share does not exceed. Returns `None` if nothing has a weight, and for functions that mean nothing here.
    pub fn of_weighted(self, values: &mut [(f64, f64)]) -> Option<f64> {
        let total = values.iter().map(|(_, weight)| weight).sum::<f64>();
        let mean = || values.iter().map(|(value, weight)| value * weight).sum::<f64>() / total;
        let lasting = || values.iter().filter(|(_, weight)| *weight > 0.0).map(|(value, _)| *value);
        if !total.is_finite() || total <= 0.0 {
            return None;
        }
        match self {
            Self::Mean => Some(mean()),
            Self::Min => lasting().reduce(f64::min),
            Self::Max => lasting().reduce(f64::max),
            Self::Deviation => {
                let mean = mean();
                let squares = values.iter().map(|(value, weight)| (value - mean).powi(2) * weight).sum::<f64>();
                Some((squares / total).sqrt())
            }
            Self::Percentile(share) => {
                values.sort_by(|one, other| one.0.total_cmp(&other.0));
                let wanted = total * share / 100.0;
                let mut reached = 0.0;
                let found = values.iter().find(|(_, weight)| {
                    reached += weight;
                    // Sums of fractions are not exact.
                    reached >= wanted * (1.0 - 1e-12) && *weight > 0.0
                });
                found.or(values.last()).map(|(value, _)| *value)
            }
            Self::Sum | Self::Count | Self::Jain => None,
        }
    }
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match NAMES.iter().find(|(_, function)| function == self) {
            Some((name, _)) => f.write_str(name),
            None => match self {
                Self::Percentile(share) => write!(f, "p{share}"),
                _ => unreachable!("all others have names"),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_have_the_names_of_the_field() {
        assert_eq!(Function::named("p50"), Function::named("median"));
        assert_eq!(Function::named("p99.9"), Some(Function::Percentile(99.9)));
        for wrong in ["p", "p0", "p100", "p.5", "p5.", "p1e1", "average", "pinf", "p-5", ""] {
            assert_eq!(Function::named(wrong), None, "{wrong}");
        }
        for name in ["mean", "median", "p99.9", "p1", "jain"] {
            assert_eq!(Function::named(name).map(|function| function.to_string()).as_deref(), Some(name));
        }
    }

    /// Worked out by hand.
    #[test]
    fn values_that_count_the_same() {
        let of = |name: &str, values: &[f64]| Function::named(name).unwrap().of(values);
        let values = [4.0, 1.0, 3.0, 2.0];
        let expected = [
            ("mean", 2.5),
            ("median", 2.5),
            ("min", 1.0),
            ("max", 4.0),
            ("sum", 10.0),
            ("count", 4.0),
            // 1 + (4 - 1) * 0.9
            ("p90", 3.7),
            // The squares of 1.5, 0.5, 0.5, 1.5 are 5; 5 / 3 is 1.6667.
            ("stddev", 1.290_994_448_735_805_6),
            // 100 / (4 * 30)
            ("jain", 100.0 / 120.0),
        ];
        for (name, wanted) in expected {
            let found = of(name, &values).unwrap();
            assert!((found - wanted).abs() < 1e-12, "{name}: {found}");
        }
        assert_eq!((of("mean", &[]), of("count", &[]), of("stddev", &[1.0])), (None, Some(0.0), None));
        assert_eq!(
            (of("jain", &[7.0; 5]), of("jain", &[0.0; 3]), of("jain", &[1.0, 0.0])),
            (Some(1.0), Some(1.0), Some(0.5))
        );
    }

    /// 10 for one second, 20 for three.
    #[test]
    fn values_that_last() {
        let of = |name: &str, values: &[(f64, f64)]| Function::named(name).unwrap().of_weighted(&mut values.to_vec());
        let values = [(20.0, 3.0), (10.0, 1.0), (99.0, 0.0)];
        let expected = [
            ("mean", 17.5),
            ("median", 20.0),
            ("p25", 10.0),
            ("p26", 20.0),
            ("p99.9", 20.0),
            ("min", 10.0),
            ("max", 20.0),
        ];
        for (name, wanted) in expected {
            assert_eq!(of(name, &values), Some(wanted), "{name}");
        }
        // (7.5² · 1 + 2.5² · 3) / 4 = 18.75
        assert!((of("stddev", &values).unwrap() - 18.75_f64.sqrt()).abs() < 1e-12);
        assert_eq!((of("mean", &[]), of("max", &[(1.0, 0.0)]), of("sum", &values)), (None, None, None));
    }
}

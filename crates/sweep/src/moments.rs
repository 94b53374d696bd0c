//! Means and how sure they are.

/// Number, mean and spread of values, without the values (Welford 1962: "Note on a method for calculating corrected sums of
/// squares and products").
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moments {
    count: u64,
    mean: f64,
    squares: f64,
    least: f64,
    most: f64,
}

impl Moments {
    /// Takes a value into account.
    pub fn add(&mut self, value: f64) {
        (self.least, self.most) =
            if self.count == 0 { (value, value) } else { (self.least.min(value), self.most.max(value)) };
        self.count += 1;
        let before = value - self.mean;
        self.mean += before / self.count as f64;
        self.squares += before * (value - self.mean);
    }

    /// Returns the number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the mean of the values; none of no values.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then_some(self.mean)
    }

    /// Returns the smallest and the largest value; none of no values.
    pub fn range(&self) -> Option<(f64, f64)> {
        (self.count > 0).then_some((self.least, self.most))
    }

    /// Returns the standard deviation of the values, with n - 1; none of fewer than two.
    pub fn deviation(&self) -> Option<f64> {
        (self.count > 1).then(|| (self.squares / (self.count - 1) as f64).sqrt())
    }

    /// Half the width of the interval that has the true mean with 95 % confidence, if the values are independent and their
    /// mean is about normal (Student 1908). There is none for fewer than two values, and none for values that are all the same: they
    /// say nothing about how far others lie, and an interval without width would claim that they do.
    pub fn half_width(&self) -> Option<f64> {
        let deviation = self.deviation().filter(|deviation| *deviation > 0.0)?;
        Some(student((self.count - 1) as f64) * deviation / (self.count as f64).sqrt())
    }
}

/// Half the width of the interval that has the difference of two means with 95 % confidence, if both deviations are unknown and may
/// differ (Welch 1947: "The generalization of `Student's' problem when several different population variances are involved").
/// Each side is its number of values and their standard deviation. The degrees of freedom are a fraction, as in R and SciPy.
/// There is none if a side has fewer than two values, or if no value differs from its mean.
pub fn welch(one: (u64, f64), other: (u64, f64)) -> Option<f64> {
    if one.0 < 2 || other.0 < 2 {
        return None;
    }
    let variance = |(count, deviation): (u64, f64)| deviation * deviation / count as f64;
    let (first, second) = (variance(one), variance(other));
    let both = first + second;
    if both == 0.0 {
        return None;
    }
    // Shares of the variance, since squares of very small ones would be zero.
    let part = |share: f64, (count, _): (u64, f64)| share * share / (count - 1) as f64;
    let freedom = 1.0 / (part(first / both, one) + part(second / both, other));
    Some(student(freedom) * both.sqrt())
}

/// Returns the 97.5 % quantile of Student's distribution with `freedom` degrees of freedom, which may be a fraction: between minus
/// this and this lie 95 %. It is right to nine digits.
///
/// # Panics
/// With less than one degree of freedom.
pub fn student(freedom: f64) -> f64 {
    assert!(freedom >= 1.0, "a single value says nothing about how far others lie");
    // The same quantile of the normal distribution, and that of one degree of freedom.
    let (mut low, mut high) = (1.959_963_984_540_054, 12.706_204_736_174_7);
    if freedom > 1e6 {
        // The first term of the expansion in 1 / freedom (Abramowitz and Stegun, 26.7.5); the next is below 1e-12.
        return low + low * (low * low + 1.0) / (4.0 * freedom);
    }
    while high - low > 1e-10 {
        let middle = (low + high) / 2.0;
        if outside(middle, freedom) > 0.05 { low = middle } else { high = middle }
    }
    (low + high) / 2.0
}

/// The share of Student's distribution outside of -t to t: the incomplete beta function I_x(freedom / 2, 1 / 2) at
/// x = freedom / (freedom + t²) (Abramowitz and Stegun, 26.7.1 and 26.5.27).
fn outside(t: f64, freedom: f64) -> f64 {
    let (a, b, x) = (freedom / 2.0, 0.5, freedom / (freedom + t * t));
    let log_beta = libm::lgamma(a) + libm::lgamma(b) - libm::lgamma(a + b);
    let power = |one: f64, other: f64, at: f64| (one * at.ln() + other * (-at).ln_1p() - log_beta).exp() / one;
    // Each fraction converges fast on its side of the mean.
    if x < (a + 1.0) / (a + b + 2.0) {
        power(a, b, x) * beta_fraction(a, b, x)
    } else {
        1.0 - power(b, a, 1.0 - x) * beta_fraction(b, a, 1.0 - x)
    }
}

/// The continued fraction of the incomplete beta function (Abramowitz and Stegun, 26.5.8), from its front by the method of Lentz
/// 1976: "Generating Bessel functions in Mie scattering calculations using continued fractions".
fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let (mut value, mut above, mut below) = (1.0, 1.0, 0.0);
    for step in 1..500_u32 {
        let m = f64::from(step / 2);
        let term = if step % 2 == 1 {
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
        } else {
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
        };
        below = 1.0 / away(1.0 + term * below, TINY);
        above = away(1.0 + term / above, TINY);
        value *= above * below;
        if (above * below - 1.0).abs() < 1e-15 {
            break;
        }
    }
    1.0 / value
}

/// The value, or the tiny one where it is zero.
fn away(value: f64, tiny: f64) -> f64 {
    if value == 0.0 { tiny } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[f64]) -> Moments {
        let mut moments = Moments::default();
        values.iter().for_each(|value| moments.add(*value));
        moments
    }

    fn is_near(one: f64, other: f64) -> bool {
        (one - other).abs() <= 1e-5 * other.abs()
    }

    #[test]
    fn moments_are_those_of_the_textbook() {
        let moments = of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]);
        assert_eq!((moments.count(), moments.mean(), moments.range()), (8, Some(5.0), Some((2.0, 9.0))));
        // Squares of the distances: 9 + 1 + 1 + 1 + 0 + 0 + 4 + 16 = 32; 32 / 7 = 4.571429.
        assert!(is_near(moments.deviation().unwrap(), 4.571_428_6_f64.sqrt()));
        // t(7) = 2.364624; 2.364624 * 2.138090 / sqrt(8) = 1.787488.
        assert!(is_near(moments.half_width().unwrap(), 1.787_488));
    }

    #[test]
    fn of_few_values_less_is_known() {
        assert_eq!((of(&[]).mean(), of(&[]).range(), of(&[]).deviation()), (None, None, None));
        assert_eq!((of(&[3.0]).mean(), of(&[3.0]).deviation(), of(&[3.0]).half_width()), (Some(3.0), None, None));
        assert_eq!((of(&[3.0, 3.0]).deviation(), of(&[3.0, 3.0]).half_width()), (Some(0.0), None));
    }

    #[test]
    fn large_values_keep_their_spread() {
        assert!(is_near(of(&[1e9 + 1.0, 1e9 + 2.0, 1e9 + 3.0]).deviation().unwrap(), 1.0));
    }

    /// Values of SciPy's `t.ppf(0.975, df)`.
    #[test]
    fn quantiles_are_those_of_scipy() {
        for (freedom, quantile) in [
            (1.0, 12.706_204_736_174_694),
            (1.25, 8.027_951_377_252_052),
            (1.5, 6.016_663_104_427_929),
            (1.85, 4.654_881_878_314_65),
            (2.0, 4.302_652_729_749_462),
            (2.5, 3.574_654_842_003_682),
            (3.7, 2.867_520_707_191_19),
            (4.41, 2.677_548_370_884_727),
            (12.5, 2.169_185_942_712_541),
            (30.0, 2.042_272_456_301_238),
            (30.5, 2.040_869_445_186_32),
            (100.3, 1.983_898_854_287_923),
            (1_000.7, 1.962_337_417_446_43),
            (1e5, 1.959_987_707_534_61),
            (1e7, 1.959_964_221_767_205),
        ] {
            let found = student(freedom);
            assert!((found - quantile).abs() < 1e-9 * quantile, "{freedom}: {found}");
        }
    }

    /// Half of SciPy's `ttest_ind(one, other, equal_var=False).confidence_interval()`.
    #[test]
    fn intervals_of_differences_are_those_of_scipy() {
        let side = |values: &[f64]| (values.len() as u64, of(values).deviation().unwrap());
        for (one, other, half) in [
            (&[10.0, 12.0][..], &[5.0, 6.5][..], 5.803_302_711_237_429),
            (&[1.0, 2.0, 3.0], &[4.0, 6.0, 8.0, 10.0], 3.897_975_451_083_128),
            (&[10.0, 10.5, 9.7, 10.1], &[20.0, 31.0, 27.0], 13.779_813_194_627_991),
            (&[1.0, 1.0], &[3.0, 5.0], 12.706_204_736_174_694),
        ] {
            let found = welch(side(one), side(other)).unwrap();
            assert!((found - half).abs() <= 1e-8 * half, "{one:?} {other:?}: {found}");
        }
        for (one, other) in
            [((1, 0.0), (5, 1.0)), ((5, 1.0), (0, 0.0)), ((2, 0.0), (2, 0.0)), ((2, 1e-200), (2, 1e-200))]
        {
            assert_eq!(welch(one, other), None);
        }
    }
}

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
    /// Takes in a value.
    pub fn add(&mut self, value: f64) {
        (self.least, self.most) =
            if self.count == 0 { (value, value) } else { (self.least.min(value), self.most.max(value)) };
        self.count += 1;
        let before = value - self.mean;
        self.mean += before / self.count as f64;
        self.squares += before * (value - self.mean);
    }

    /// How many values there were.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their mean; none of no values.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then_some(self.mean)
    }

    /// The smallest and the largest; none of no values.
    pub fn range(&self) -> Option<(f64, f64)> {
        (self.count > 0).then_some((self.least, self.most))
    }

    /// Their standard deviation, with n - 1; none of fewer than two.
    pub fn deviation(&self) -> Option<f64> {
        (self.count > 1).then(|| (self.squares / (self.count - 1) as f64).sqrt())
    }

    /// Half the width of the interval that has the true mean with 95 % confidence, if the values are independent and their
    /// mean is about normal (Student 1908); none of fewer than two.
    pub fn half_width(&self) -> Option<f64> {
        let deviation = self.deviation()?;
        Some(student(self.count - 1) * deviation / (self.count as f64).sqrt())
    }
}

/// The 97.5 % quantile of Student's distribution with so many degrees of freedom: between minus this and this lie 95 %.
/// Tabulated up to 30 (Abramowitz and Stegun, table 26.10); beyond, their expansion 26.7.5 is exact to five digits.
///
/// # Panics
/// With no degree of freedom there is none.
pub fn student(freedom: u64) -> f64 {
    const TABLE: [f64; 30] = [
        12.706_205, 4.302_653, 3.182_446, 2.776_445, 2.570_582, 2.446_912, 2.364_624, 2.306_004, 2.262_157, 2.228_139,
        2.200_985, 2.178_813, 2.160_369, 2.144_787, 2.131_450, 2.119_905, 2.109_816, 2.100_922, 2.093_024, 2.085_963,
        2.079_614, 2.073_873, 2.068_658, 2.063_899, 2.059_539, 2.055_529, 2.051_831, 2.048_407, 2.045_230, 2.042_272,
    ];
    assert!(freedom > 0, "a single value says nothing about how far others lie");
    if let Some(known) = usize::try_from(freedom - 1).ok().and_then(|place| TABLE.get(place)) {
        return *known;
    }
    // The same quantile of the normal distribution.
    const Z: f64 = 1.959_963_984_540_054;
    let (n, z2) = (freedom as f64, Z * Z);
    let first = Z * (z2 + 1.0) / 4.0;
    let second = Z * ((5.0 * z2 + 16.0) * z2 + 3.0) / 96.0;
    let third = Z * (((3.0 * z2 + 19.0) * z2 + 17.0) * z2 - 15.0) / 384.0;
    Z + first / n + second / (n * n) + third / (n * n * n)
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
        assert_eq!(of(&[3.0, 3.0]).half_width(), Some(0.0));
    }

    #[test]
    fn large_values_keep_their_spread() {
        assert!(is_near(of(&[1e9 + 1.0, 1e9 + 2.0, 1e9 + 3.0]).deviation().unwrap(), 1.0));
    }

    /// Values of R's `qt(0.975, df)`.
    #[test]
    fn quantiles_are_those_of_tables() {
        for (freedom, quantile) in [
            (1, 12.706_20),
            (9, 2.262_157),
            (30, 2.042_272),
            (31, 2.039_513),
            (60, 2.000_298),
            (120, 1.979_930),
            (1000, 1.962_339),
        ] {
            assert!(is_near(student(freedom), quantile), "{freedom}: {}", student(freedom));
        }
        assert!((31..2000).all(|freedom| student(freedom) > student(freedom + 1)));
    }
}

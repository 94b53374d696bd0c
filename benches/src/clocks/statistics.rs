//! Means, deviations and distributions.

/// Mean and standard deviation.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spread {
    pub(super) mean: f64,
    pub(super) deviation: f64,
}

impl Spread {
    pub(super) fn of(values: &[f64]) -> Self {
        let count = values.len().max(1) as f64;
        let mean = values.iter().sum::<f64>() / count;
        let deviation = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt();
        Self { mean, deviation }
    }

    /// The deviation as a share of the mean: the coefficient of variation.
    pub(super) fn variation(self) -> f64 {
        self.deviation / self.mean
    }
}

/// What lies between neighbours.
pub(super) fn gaps(values: &[f64]) -> Vec<f64> {
    values.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

/// By how much `value` is off `reference`, in per cent.
pub(super) fn off(value: f64, reference: f64) -> f64 {
    (value / reference - 1.0) * 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_a_few_numbers() {
        let spread = Spread::of(&[1.0, 3.0]);
        assert_eq!((spread.mean, spread.deviation, spread.variation()), (2.0, 1.0, 0.5));
        assert_eq!(gaps(&[1.0, 2.0, 4.0]), [1.0, 2.0]);
        assert!((off(101.0, 100.0) - 1.0).abs() < 1e-9);
    }
}

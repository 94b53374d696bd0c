//! The quantiles of measured values. Benchmarks share no code with what they measure, so they have their own.

/// The least of these values, which are sorted, that this share (0 to 1) of all does not exceed; none without values.
pub(crate) fn least<T: Copy>(sorted: &[T], share: f64) -> Option<T> {
    let rank = (share * sorted.len() as f64).ceil().max(1.0) as usize;
    sorted.get(rank.min(sorted.len()).checked_sub(1)?).copied()
}

/// The same of values in any order.
pub(crate) fn of(values: &[f64], share: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    least(&sorted, share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_a_value_that_was_measured() {
        assert_eq!([0.0, 0.5, 0.51, 1.0].map(|share| of(&[4.0, 1.0, 3.0, 2.0], share)), [1.0, 2.0, 3.0, 4.0].map(Some));
        assert_eq!((least(&[3, 4, 5], 0.5), least::<i64>(&[], 0.5)), (Some(4), None));
    }
}

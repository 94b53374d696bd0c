//! Quantiles of values that are all there, by two definitions (Hyndman and Fan 1996: "Sample Quantiles in Statistical Packages", The
//! American Statistician 50, 361–365).
//!
//! What happened to packets is described by a value that was there, the least that a share of all does not exceed (type 1): [`rank`],
//! [`rank_at`], [`at_rank`], [`least`], [`cut`]. Figures of runs and flows are few, and are interpolated, as R and NumPy do (type 7): [`between`].

use alloc::vec::Vec;

/// Returns the rank, from 1, of the least value that `part` of `parts` equal parts of so many values do not exceed.
///
/// # Panics
/// Without parts.
pub fn rank(count: u64, part: u64, parts: u64) -> u64 {
    let rank = (u128::from(part) * u128::from(count)).div_ceil(u128::from(parts)).max(1);
    u64::try_from(rank).unwrap_or(u64::MAX)
}

/// Returns the rank, from 1, of the least value that this share (0 to 1) of so many values does not exceed.
pub fn rank_at(count: u64, share: f64) -> u64 {
    let wanted = share * count as f64;
    let whole = wanted as u64;
    (whole + u64::from((whole as f64) < wanted)).max(1)
}

/// Returns the value of this rank, from 1, among values from the least on, each with how often it is there; the last beyond all.
pub fn at_rank<T: Copy>(sorted: impl IntoIterator<Item = (T, u64)>, rank: u64) -> Option<T> {
    let (mut passed, mut found) = (0, None);
    for (value, times) in sorted {
        found = Some(value);
        passed += times;
        if passed >= rank {
            break;
        }
    }
    found
}

/// Returns the least of these values, which are sorted, that this share (0 to 1) of all does not exceed; none without values.
pub fn least<T: Copy>(sorted: &[T], share: f64) -> Option<T> {
    let place = usize::try_from(rank_at(sorted.len() as u64, share) - 1).unwrap_or(usize::MAX);
    sorted.get(place.min(sorted.len().checked_sub(1)?)).copied()
}

/// Returns the least of these values, which are sorted, that 0, 1, 2 … `parts` of `parts` equal parts of all do not exceed; nothing
/// without values.
///
/// # Panics
/// Without parts.
pub fn cut<T: Copy>(sorted: &[T], parts: usize) -> Vec<T> {
    let (count, parts) = (sorted.len() as u64, parts as u64);
    let place = |part| usize::try_from(rank(count, part, parts) - 1).unwrap_or(usize::MAX);
    (0..=parts).filter_map(|part| sorted.get(place(part)).copied()).collect()
}

/// Returns the value at this share (0 to 1) of the way from the least to the largest of these, which are sorted, interpolated between
/// those beside it; none without values.
pub fn between(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let place = last as f64 * share;
    let below = (place as usize).min(last);
    let above = (below + 1).min(last);
    Some(sorted[below] + (sorted[above] - sorted[below]) * (place - below as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    /// The median of five values is the third, that of four the second; 99 % of a hundred lie at or below the 99th.
    #[test]
    fn the_least_value_that_a_share_does_not_exceed() {
        assert_eq!([1, 2, 3, 4, 5].map(|count| rank_at(count, 0.5)), [1, 1, 2, 2, 3]);
        assert_eq!([1, 2, 3, 4, 5].map(|count| rank(count, 1, 2)), [1, 1, 2, 2, 3]);
        assert_eq!((rank(100, 99, 100), rank_at(100, 0.99), rank(101, 99, 100)), (99, 99, 100));
        assert_eq!((rank(7, 0, 200), rank(7, 200, 200), rank_at(7, 0.0), rank_at(7, 1.0)), (1, 7, 1, 7));
        assert_eq!(rank(u64::MAX, 1, 1), u64::MAX);
        assert_eq!((cut(&[1, 2, 3, 4, 5], 4), cut::<u8>(&[], 4)), (vec![1, 2, 3, 4, 5], Vec::new()));
        assert_eq!(cut(&[1, 2, 3], 2), [1, 2, 3]);
        assert_eq!(
            (least(&[1, 2, 3, 4], 0.5), least(&[1, 2, 3, 4], 1.0), least::<u8>(&[], 0.5)),
            (Some(2), Some(4), None)
        );
    }

    #[test]
    fn a_rank_counts_how_often_values_are_there() {
        let seen = [(10, 2), (20, 0), (30, 3)];
        assert_eq!([1, 2, 3, 5, 9].map(|rank| at_rank(seen, rank)), [10, 10, 30, 30, 30].map(Some));
        assert_eq!(at_rank::<u8>([], 1), None);
    }

    /// As `quantile(c(1, 2, 3, 5), type = 7)` of R.
    #[test]
    fn few_values_are_interpolated() {
        let values = [1.0, 2.0, 3.0, 5.0];
        assert_eq!(
            [0.0, 0.25, 0.5, 0.75, 1.0].map(|share| between(&values, share)),
            [1.0, 1.75, 2.5, 3.5, 5.0].map(Some)
        );
        assert_eq!((between(&[1.0], 0.3), between(&[], 0.3)), (Some(1.0), None));
    }
}

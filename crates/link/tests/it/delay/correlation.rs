//! GINE's equation 4.1: delay = c * previous + (1 - c) * random.

use super::{MS, draws, free, mean, ms, variance};
use netloom_link::{Distribution, Exponential, Normal};

const COUNT: u32 = 40_000;

/// The correlation of each value with the next.
fn lag_one(values: &[f64]) -> f64 {
    let mean = mean(values);
    let products: f64 = values.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    products / (values.len() as f64 * variance(values))
}

/// In the long run the delays keep the mean, their variance is (1 - c) / (1 + c) of what is drawn, and each is
/// correlated with the next by c: let v be the variance, then v = c^2 v + (1 - c)^2 variance(random).
///
/// Bounds: three standard deviations, for a first-order autoregression sqrt((1 - c^2) / n) of the correlation
/// (Bartlett 1946), and of the variance sqrt(2 / n (1 + c^2) / (1 - c^2)) for normal delays.
#[test]
fn mean_variance_and_autocorrelation_are_those_of_equation_4_1() {
    for (text, c) in [("80 %", 0.8_f64), ("50 %", 0.5), ("20 %", 0.2), ("0 %", 0.0), ("-50 %", -0.5), ("-80 %", -0.8)] {
        let normal = Normal { mean: ms(100), deviation: ms(5) };
        let values = draws(COUNT, free(Distribution::Normal(normal), text), 2);
        let count = f64::from(COUNT);
        let found = lag_one(&values);
        assert!((found - c).abs() < 3.0 * ((1.0 - c * c) / count).sqrt(), "{c}: correlated by {found}");
        let factor = variance(&values) / (5.0 * MS).powi(2);
        let expected = (1.0 - c) / (1.0 + c);
        let deviation = (2.0 / count * (1.0 + c * c) / (1.0 - c * c)).sqrt();
        assert!((factor / expected - 1.0).abs() < 3.0 * deviation, "{c}: a variance of {factor}, not {expected}");
        // The sum of an autoregression has the variance of the sum of what is drawn.
        assert!((mean(&values) - 100.0 * MS).abs() < 3.0 * 5.0 * MS / count.sqrt() + 0.01 * MS, "{c}");
    }
}

/// "Note that using c = 0.8 significantly reduces variance and slightly changes mean" (GINE, section 4.2): the variance
/// is one ninth. The mean of many packets stays, and varies as much as it would without a correlation.
#[test]
fn the_variance_of_the_papers_correlation_is_a_ninth() {
    let exponential = Exponential { shift: ms(10), mean: ms(10) };
    let values = draws(COUNT, free(Distribution::Exponential(exponential), "80 %"), 2);
    let factor = variance(&values) / (10.0 * MS).powi(2);
    assert!((factor * 9.0 - 1.0).abs() < 0.1, "a ninth is {factor}");
    assert!((mean(&values) - 20.0 * MS).abs() < 0.2 * MS);
}

#[test]
fn a_correlation_of_one_keeps_the_first_delay() {
    let exponential = Exponential { shift: ms(10), mean: ms(10) };
    let values = draws(50, free(Distribution::Exponential(exponential.clone()), "100 %"), 3);
    let alone = draws(1, free(Distribution::Exponential(exponential), "0 %"), 3);
    assert!(values.iter().all(|value| *value == alone[0]), "{values:?}");
}

/// With c = -1 a delay is twice the drawn one less the one before; none below zero comes about, and none runs away.
#[test]
fn a_correlation_of_minus_one_stays_within_twice_the_drawn() {
    let normal = Normal { mean: ms(10), deviation: ms(1) };
    let values = draws(COUNT, free(Distribution::Normal(normal.clone()), "-100 %"), 3);
    let drawn = draws(COUNT, free(Distribution::Normal(normal), "0 %"), 3);
    for (index, pair) in values.windows(2).enumerate() {
        let expected = (2.0 * drawn[index + 1] - pair[0]).max(0.0);
        assert!((pair[1] - expected).abs() <= 3.0, "the delay {index} is {}, not {expected}", pair[1]);
    }
}

//! Every distribution against its exact distribution function (Kolmogorov and Smirnov).

use super::{MS, draws, free, mean, ms};
use netloom_link::{
    Bins, Distribution, Exponential, Gamma, Histogram, Normal, Pareto, ParetoNormal, Samples, Table, TableDelay,
    Uniform, Values,
};

const COUNT: u32 = 20_000;

/// The largest distance between the share of `values` below a point and `function` there.
fn distance(values: &mut [f64], function: impl Fn(f64) -> f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let count = values.len() as f64;
    let steps = values.iter().zip(0_u32..).map(|(value, index)| {
        let expected = function(*value);
        (expected - f64::from(index) / count).max(f64::from(index + 1) / count - expected)
    });
    steps.fold(0.0, f64::max)
}

/// Checks that delays come from `function`: the distance of so many that do is above 1.63 / sqrt(count) in one of a
/// hundred cases. Also that the mean which the configuration tells is theirs.
fn check(distribution: Distribution, function: impl Fn(f64) -> f64) {
    let delay = free(distribution, "0 %");
    let told = delay.mean().as_nanos() as f64;
    let mut values = draws(COUNT, delay.clone(), 1);
    let found = mean(&values);
    assert!((found / told - 1.0).abs() < 0.02, "{delay:?}: the mean is {found}, not {told}");
    let distance = distance(&mut values, function);
    assert!(distance < 1.63 / f64::from(COUNT).sqrt(), "{delay:?}: a distance of {distance}");
}

/// The standard normal distribution function.
fn phi(z: f64) -> f64 {
    0.5 * libm::erfc(-z / std::f64::consts::SQRT_2)
}

/// Where the increasing `function` has the value `wanted`.
fn solve(wanted: f64, function: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (-40.0, 40.0);
    for _ in 0..80 {
        let middle = f64::midpoint(low, high);
        if function(middle) < wanted { low = middle } else { high = middle }
    }
    low
}

/// The regularized incomplete gamma function P(shape, x), by its power series (Abramowitz and Stegun, 6.5.29).
fn incomplete_gamma(shape: f64, x: f64) -> f64 {
    let mut term = 1.0 / shape;
    let mut sum = term;
    for n in 1..2_000 {
        term *= x / (shape + f64::from(n));
        sum += term;
    }
    sum * (shape * x.ln() - x - libm::lgamma(shape)).exp()
}

#[test]
fn uniform() {
    let uniform = Uniform { from: ms(5), to: ms(15), below: ms(0) };
    check(Distribution::Uniform(uniform), |t| (t - 5.0 * MS) / (10.0 * MS));
}

#[test]
fn normal() {
    let normal = Normal { mean: ms(20), deviation: ms(3) };
    check(Distribution::Normal(normal), |t| phi((t - 20.0 * MS) / (3.0 * MS)));
}

/// One draw in six lies below zero and counts as zero.
#[test]
fn normal_below_zero() {
    let normal = Normal { mean: ms(10), deviation: ms(10) };
    let values = draws(COUNT, free(Distribution::Normal(normal), "0 %"), 1);
    let zeros = values.iter().filter(|value| **value == 0.0).count() as f64 / f64::from(COUNT);
    // Three standard deviations of a binomial share.
    assert!((zeros - phi(-1.0)).abs() < 3.0 * (0.1587 * 0.8413 / f64::from(COUNT)).sqrt(), "a share of {zeros}");
}

#[test]
fn exponential() {
    let exponential = Exponential { shift: ms(10), mean: ms(10) };
    check(Distribution::Exponential(exponential), |t| 1.0 - (-(t - 10.0 * MS) / (10.0 * MS)).exp());
}

#[test]
fn pareto() {
    let pareto = Pareto { shift: ms(10), scale: ms(5), shape: 3.5 };
    check(Distribution::Pareto(pareto), |t| 1.0 - ((t - 10.0 * MS) / (5.0 * MS)).powf(-3.5));
}

/// As a function of the normal part z, the delay is mean + deviation (z / 4 + (1 - phi(z))^(-1/3) - 3/2).
#[test]
fn pareto_normal() {
    let mixture = ParetoNormal { mean: ms(40), deviation: ms(8) };
    let delay = |z: f64| 40.0 * MS + 8.0 * MS * (z / 4.0 + phi(-z).powf(-1.0 / 3.0) - 1.5);
    check(Distribution::ParetoNormal(mixture), |t| phi(solve(t, delay)));
}

#[test]
fn gamma() {
    for shape in [0.3, 1.0, 2.5, 30.0] {
        let gamma = Gamma { shift: ms(10), shape, scale: ms(4) };
        check(Distribution::Gamma(gamma), |t| incomplete_gamma(shape, (t - 10.0 * MS) / (4.0 * MS)));
    }
}

#[test]
fn histogram() {
    let bins = Bins::parse("10 ms, 1\n12 ms, 0\n13 ms, 6.5\n14 ms, 2.5\n30 ms, 0\n").expect("bins");
    let edges = [(10.0, 0.0), (12.0, 0.1), (13.0, 0.1), (14.0, 0.75), (30.0, 1.0)];
    let function = |t: f64| {
        let bin = edges.windows(2).find(|bin| t < bin[1].0 * MS).expect("inside");
        let ((from, below), (to, until)) = (bin[0], bin[1]);
        below + (until - below) * (t / MS - from) / (to - from)
    };
    check(Distribution::Histogram(Histogram { bins, file: String::new() }), function);
}

/// Chi-squared of the counts of values that are all as likely: below 1 % of cases above `bound`.
fn check_even(distribution: Distribution, expected: &[f64], bound: f64) {
    let values = draws(COUNT, free(distribution, "0 %"), 1);
    let share = f64::from(COUNT) / expected.len() as f64;
    let counts: Vec<f64> =
        expected.iter().map(|wanted| values.iter().filter(|value| *value == wanted).count() as f64).collect();
    assert_eq!(counts.iter().sum::<f64>(), f64::from(COUNT), "something else is drawn: {counts:?}");
    let chi_squared: f64 = counts.iter().map(|count| (count - share).powi(2) / share).sum();
    assert!(chi_squared < bound, "{counts:?} give {chi_squared}");
}

/// 8192 in the table is one deviation. Seven degrees of freedom.
#[test]
fn table() {
    let table = Table::parse("# steps\n-12288 -8192 -4096 -1024 1024 4096 8192 12288").expect("a table");
    let delay = TableDelay { mean: ms(20), deviation: ms(4), table, file: String::new() };
    let expected = [14.0, 16.0, 18.0, 19.5, 20.5, 22.0, 24.0, 26.0].map(|time| time * MS);
    check_even(Distribution::Table(delay), &expected, 18.48);
}

/// Four degrees of freedom.
#[test]
fn samples() {
    let values = Values::parse("12.5 ms\n10 ms\n30 ms\n10.25 ms\n11 ms\n").expect("values");
    let samples = Samples { values, file: String::new(), replay: false };
    check_even(Distribution::Samples(samples), &[12.5, 10.0, 30.0, 10.25, 11.0].map(|delay| delay * MS), 13.28);
}

/// A table of 4,096 quantiles of the normal distribution gives what the normal distribution gives.
#[test]
fn a_table_of_quantiles_is_the_distribution() {
    let quantile = |step: u32| solve((f64::from(step) + 0.5) / 4_096.0, phi) * 8_192.0;
    let text: Vec<String> = (0..4_096).map(|step| format!("{:.0}", quantile(step))).collect();
    let table = Table::parse(&text.join(" ")).expect("a table");
    let delay = TableDelay { mean: ms(20), deviation: ms(3), table, file: String::new() };
    check(Distribution::Table(delay), |t| phi((t - 20.0 * MS) / (3.0 * MS)));
}

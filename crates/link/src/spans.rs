//! Random spans of time in whole nanoseconds, whose sum is exact: fractions are kept for the next span.

use netloom_units::{Duration, Seed};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A generator of spans.
#[derive(Clone, Debug)]
pub struct Spans {
    random: Xoshiro256PlusPlus,
    /// What the spans so far were cut short by, in nanoseconds, from 0 to 1.
    fraction: f64,
}

impl Spans {
    /// A generator with this seed: the same draws the same.
    pub fn new(seed: Seed) -> Self {
        Self { random: Xoshiro256PlusPlus::seed_from_u64(seed.get()), fraction: 0.0 }
    }

    /// An exponentially distributed span, whose mean is given in nanoseconds.
    pub fn exponential(&mut self, mean: f64) -> Duration {
        let nanos = -libm::log(self.unit()) * mean;
        self.whole(nanos)
    }

    /// A span with a Pareto distribution: longer than x with probability (least / x)^shape. `shape` is above 1, and the
    /// mean, in nanoseconds, is then least * shape / (shape - 1).
    pub fn pareto(&mut self, mean: f64, shape: f64) -> Duration {
        let least = mean * (shape - 1.0) / shape;
        let nanos = least * libm::pow(self.unit(), -1.0 / shape);
        self.whole(nanos)
    }

    /// A whole number below `end`, each with the same probability (to one part in 2^64).
    pub fn below(&mut self, end: u64) -> u64 {
        let scaled = (u128::from(self.random.next_u64()) * u128::from(end)) >> 64;
        u64::try_from(scaled).expect("below the end")
    }

    /// A uniform number above 0 up to 1, in steps of 2^-53, which a number holds exactly.
    fn unit(&mut self) -> f64 {
        const STEP: f64 = 1.0 / (1_u64 << 53) as f64;
        ((self.random.next_u64() >> 11) + 1) as f64 * STEP
    }

    fn whole(&mut self, nanos: f64) -> Duration {
        let exact = nanos + self.fraction;
        let whole = libm::floor(exact);
        self.fraction = exact - whole;
        // What is too long for a duration becomes the longest one, which is 584 years.
        Duration::from_nanos(whole as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: u32 = 100_000;

    /// The draws of one generator, and their mean.
    fn drawn(mut draw: impl FnMut(&mut Spans) -> Duration) -> (alloc::vec::Vec<f64>, f64) {
        let mut spans = Spans::new(Seed::new(7));
        let all: alloc::vec::Vec<f64> = (0..DRAWS).map(|_| draw(&mut spans).as_nanos() as f64).collect();
        let mean = all.iter().sum::<f64>() / f64::from(DRAWS);
        (all, mean)
    }

    /// The mean of spans below one nanosecond is right as well: no fraction is lost. Three standard errors.
    #[test]
    fn the_mean_is_that_which_was_asked_for() {
        for mean in [0.3, 12.5, 1e6] {
            let (_, got) = drawn(|spans| spans.exponential(mean));
            assert!((got / mean - 1.0).abs() < 3.0 / libm::sqrt(f64::from(DRAWS)), "{got} instead of {mean}");
        }
        // With shape 3 the standard deviation is mean / sqrt(3): shape / (shape - 2) / (shape - 1)^2 of least^2.
        let (_, got) = drawn(|spans| spans.pareto(1e6, 3.0));
        assert!((got / 1e6 - 1.0).abs() < 3.0 * 0.58 / libm::sqrt(f64::from(DRAWS)), "{got}");
    }

    /// Kolmogorov and Smirnov at the level of 1 %: 1.63 / sqrt(n).
    #[test]
    fn pareto_spans_have_their_distribution() {
        let (mut all, _) = drawn(|spans| spans.pareto(3e6, 1.5));
        all.sort_by(f64::total_cmp);
        assert!(all[0] >= 999_999.0, "nothing is shorter than the least: {}", all[0]);
        let distance = all.iter().enumerate().map(|(place, value)| {
            let expected = 1.0 - libm::pow(1e6 / value, 1.5);
            libm::fabs(expected - place as f64 / f64::from(DRAWS))
        });
        assert!(distance.fold(0.0, f64::max) < 1.63 / libm::sqrt(f64::from(DRAWS)));
    }
}

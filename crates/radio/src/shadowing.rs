//! Shadowing: how much more or less than the median is lost between two places, the same whenever one comes there again.
//!
//! The loss in decibels is normally distributed over pairs and places. If one end moves by δ, the old and the new value have a correlation
//! of exp(-|δ| / d) (Gudmundson 1991), and if both do, the product of both correlations. It is a sum of plane waves over the four coordinates
//! of both ends, whose wave numbers are drawn from the spectrum of that correlation, so that it is a pure function of seed and places:
//! the order in which anybody asks makes no difference.
//! Parameters: `deviation` (3 to 8 dB); `correlation`, the distance d (10 to 13 m in street canyons, 37 to 50 m in towns, 6 to 10 m in
//! offices: TR 38.901, table 7.5-6).
//! Differs from the source, which has a process along a way, for a single moving end.

use crate::decibels::Decibels;
use crate::path_loss::Metres;
use alloc::vec::Vec;
use netloom_units::Seed;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// So many waves make a sum that is nearly normal.
const WAVES: usize = 64;
const TURN: f64 = 2.0 * core::f64::consts::PI;

/// A place on the ground.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Place {
    /// The distance from the origin to the east.
    pub x: Metres,
    /// The distance from the origin to the north.
    pub y: Metres,
}

/// The shadowing between two stations.
#[derive(Clone, Debug)]
pub struct Shadowing {
    deviation: f64,
    /// Wave numbers along the coordinates of the first and the second end, and phases.
    waves: Vec<([f64; 4], f64)>,
}

impl Shadowing {
    /// Creates the shadowing of a pair. The seed is to follow from the names of both in an order of their own, so that both directions have the
    /// same loss.
    pub fn new(deviation: Decibels, correlation: Metres, seed: Seed) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed.get());
        let mut unit = || (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        let waves = (0..WAVES).map(|_| {
            let mut end = || {
                // The spectrum of exp(-r / d) over the plane is proportional to (1 + (k d)²)^(-3/2): its distribution over k inverted.
                let rest = 1.0 - unit();
                let (number, angle) = (libm::sqrt(1.0 / (rest * rest) - 1.0) / correlation.0, TURN * unit());
                (number * libm::cos(angle), number * libm::sin(angle))
            };
            let ((a, b), (c, d)) = (end(), end());
            ([a, b, c, d], TURN * unit())
        });
        Self { deviation: deviation.0, waves: waves.collect() }
    }

    /// Returns the loss between two places beside that of the path, below zero where more than usual arrives. `first` is always the same of both
    /// stations.
    pub fn loss(&self, first: Place, second: Place) -> Decibels {
        let places = [first.x.0, first.y.0, second.x.0, second.y.0];
        let wave = |(numbers, phase): &([f64; 4], f64)| {
            libm::cos(numbers.iter().zip(places).fold(*phase, |sum, (number, place)| sum + number * place))
        };
        let sum: f64 = self.waves.iter().map(wave).sum();
        Decibels(self.deviation * libm::sqrt(2.0 / WAVES as f64) * sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(x: f64, y: f64) -> Place {
        Place { x: Metres(x), y: Metres(y) }
    }

    /// The mean of a product over many pairs: of the values before and after both ends have moved.
    fn correlation(first: Place, second: Place) -> f64 {
        const PAIRS: u64 = 4_000;
        let product = |seed| {
            let pair = Shadowing::new(Decibels(4.0), Metres(10.0), Seed::new(seed));
            pair.loss(at(3.0, 4.0), at(50.0, 0.0)).0 * pair.loss(first, second).0
        };
        (0..PAIRS).map(product).sum::<f64>() / PAIRS as f64 / 16.0
    }

    #[test]
    fn correlation_falls_with_the_distance_moved() {
        let (first, second) = (at(3.0, 4.0), at(50.0, 0.0));
        let moved = at(9.0, 12.0);
        // 4,000 products with a deviation of at most the square root of 2 leave an error of 0.022.
        let cases = [
            (first, second, 1.0),
            (moved, second, libm::exp(-1.0)),
            (first, at(50.0, 10.0), libm::exp(-1.0)),
            (moved, at(60.0, 0.0), libm::exp(-2.0)),
            (at(500.0, 0.0), second, 0.0),
        ];
        for (one, other, expected) in cases {
            let found = correlation(one, other);
            assert!(libm::fabs(found - expected) < 0.07, "{found} instead of {expected}");
        }
    }

    #[test]
    fn losses_are_normally_distributed() {
        const PAIRS: u64 = 4_000;
        let values = (0..PAIRS).map(|seed| {
            Shadowing::new(Decibels(6.0), Metres(10.0), Seed::new(seed)).loss(at(0.0, 0.0), at(1.0, 1.0)).0
        });
        let within = |deviations: f64| {
            values.clone().filter(|value| libm::fabs(*value) < 6.0 * deviations).count() as f64 / PAIRS as f64
        };
        for (deviations, expected) in [(1.0, 0.6827), (2.0, 0.9545)] {
            let found = within(deviations);
            assert!(libm::fabs(found - expected) < 0.03, "{found} instead of {expected}");
        }
    }
}

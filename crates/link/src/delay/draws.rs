//! Random numbers for delays, and the place in a recording.

use super::quantile::quantile;
use netloom_units::Seed;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A generator of one pipe's delays.
#[derive(Clone, Debug)]
pub(super) struct Draws {
    random: Xoshiro256PlusPlus,
    place: usize,
}

impl Draws {
    pub(super) fn new(seed: Seed) -> Self {
        Self { random: Xoshiro256PlusPlus::seed_from_u64(seed.get()), place: 0 }
    }

    /// Uniformly distributed between 0 and 1, neither of which it ever is: the middles of 2^52 equal steps, which is as
    /// fine as a 64-bit floating-point number tells them all apart.
    pub(super) fn unit(&mut self) -> f64 {
        const STEP: f64 = 1.0 / (1_u64 << 52) as f64;
        ((self.random.next_u64() >> 12) as f64 + 0.5) * STEP
    }

    /// Normally distributed with mean 0 and deviation 1.
    pub(super) fn normal(&mut self) -> f64 {
        quantile(self.unit())
    }

    /// One of the numbers below `count`, each as likely as the others to within `count` / 2^64 (Lemire 2019, section 2:
    /// the upper half of a product).
    pub(super) fn index(&mut self, count: usize) -> usize {
        let product = u128::from(self.random.next_u64()) * count as u128;
        // The upper half of a product with `count` is below `count`.
        (product >> 64) as usize
    }

    /// The next of the numbers below `count`, and after the last the first.
    pub(super) fn next_place(&mut self, count: usize) -> usize {
        let place = self.place % count;
        self.place = place + 1;
        place
    }

    /// The next place is the first.
    pub(super) fn rewind(&mut self) {
        self.place = 0;
    }
}

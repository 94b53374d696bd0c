//! Something that happens to single packets with some probability.

use netloom_units::{Probability, Seed};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// How often something happens.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ChanceConfig {
    /// With which probability.
    pub probability: Probability,
}

/// A probability and its generator.
#[derive(Debug)]
pub(crate) struct Chance {
    config: ChanceConfig,
    random: Xoshiro256PlusPlus,
}

impl Chance {
    pub(crate) fn new(config: ChanceConfig, seed: Seed) -> Self {
        Self { config, random: Xoshiro256PlusPlus::seed_from_u64(seed.get()) }
    }

    /// Goes on with the same generator.
    pub(crate) fn configure(&mut self, config: ChanceConfig) {
        self.config = config;
    }

    /// Whether it never happens, and nothing needs to be drawn.
    pub(crate) fn is_idle(&self) -> bool {
        self.config.probability.is_zero()
    }

    /// Whether it happens to the next segment.
    pub(crate) fn happens(&mut self) -> bool {
        !self.is_idle() && self.config.probability.happens(self.random.next_u64())
    }

    /// A number for whom it happens to.
    pub(crate) fn pick(&mut self) -> u64 {
        self.random.next_u64()
    }
}

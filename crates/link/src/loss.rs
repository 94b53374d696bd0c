//! Loss: which packets vanish before they reach the queue.
//!
//! Independent loss drops each packet (each segment of a train) with one probability p, 0 ≤ p ≤ 1, default 0.
//! Source: dummynet (Rizzo 1997, section 2), GINE section 3.2 ("independent constant packet loss probability").
//! Differs from dummynet, which drops at the end of the delay line: a packet that will be lost is dropped on arrival
//! and takes no room in the queue and no time on the wire.

use crate::LossConfig;
use netloom_units::Seed;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A loss model and its generator.
#[derive(Debug)]
pub(crate) struct Loss {
    config: LossConfig,
    random: Xoshiro256PlusPlus,
}

impl Loss {
    pub(crate) fn new(config: LossConfig, seed: Seed) -> Self {
        Self { config, random: Xoshiro256PlusPlus::seed_from_u64(seed.get()) }
    }

    pub(crate) fn configure(&mut self, config: LossConfig) {
        self.config = config;
    }

    /// Of the next `segments`, how many pass before one is lost; all of them if none is.
    ///
    /// Each segment is drawn once: the one behind the survivors is lost and must not be asked for again.
    pub(crate) fn survivors(&mut self, segments: u32) -> u32 {
        match self.config {
            LossConfig::None => segments,
            LossConfig::Independent(probability) => {
                (0..segments).find(|_| probability.happens(self.random.next_u64())).unwrap_or(segments)
            }
        }
    }
}

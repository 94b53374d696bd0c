//! Loss: which packets vanish before they reach the queue.
//!
//! Independent loss drops each packet (each segment of a train) with one probability p, 0 ≤ p ≤ 1, default 0.
//! Source: dummynet (Rizzo 1997, section 2), GINE section 3.2 ("independent constant packet loss probability").
//! Differs from dummynet, which drops at the end of the delay line: a packet that will be lost is dropped on arrival
//! and takes no room in the queue and no time on the wire.

use netloom_packet::Packet;
use netloom_units::{Probability, Seed};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// How packets are lost.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum LossConfig {
    /// None is.
    #[default]
    None,
    /// Each packet with the same probability, independently of all others.
    Independent(Probability),
}

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

    /// Whether nothing is lost, and nothing needs to be drawn.
    pub(crate) fn is_idle(&self) -> bool {
        self.config == LossConfig::None
    }

    pub(crate) fn configure(&mut self, config: LossConfig) {
        self.config = config;
    }

    /// Of the segments of `train`, how many pass before one is lost; all of them if none is.
    ///
    /// Each segment is drawn once: the one behind the survivors is lost and must not be asked for again.
    pub(crate) fn survivors(&mut self, train: &Packet) -> u32 {
        let segments = train.segments();
        match self.config {
            LossConfig::None => segments,
            LossConfig::Independent(probability) => {
                (0..segments).find(|_| probability.happens(self.random.next_u64())).unwrap_or(segments)
            }
        }
    }
}

//! Something that happens to single packets with some probability, independently or alike for neighbours.
//!
//! For each packet a number is drawn uniformly from 0 to 1, and it happens if the number is below the probability p. With a
//! correlation of c, the number of the packet before is used again with probability c, and a new one is drawn otherwise. So
//! every number is uniformly distributed, p holds exactly, and the correlation of what happens to two packets that are k
//! apart is c^k.
//! Range: 0 ≤ p ≤ 1, 0 ≤ c < 1, both by default 0.
//! Source of the parameters: netem's loss, duplicate, corrupt and reorder.
//! Differs from netem, which takes c times the last number plus 1 - c times a new one: such sums gather around one half,
//! so that a small p happens much more rarely than p says, and a large one much more often.

use crate::ConfigError;
use netloom_units::{Probability, Seed};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// How often something happens.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ChanceConfig {
    /// The probability.
    pub probability: Probability,
    /// The correlation of neighbours.
    pub correlation: Probability,
}

impl ChanceConfig {
    /// Whether the correlation leaves room for chance.
    ///
    /// # Errors
    /// If it does not.
    pub fn check(&self) -> Result<(), ConfigError> {
        if self.correlation == Probability::ONE {
            let message = "with 100 % the first packet would decide for all others: write less";
            return Err(ConfigError::new("correlation", message));
        }
        Ok(())
    }
}

impl From<Probability> for ChanceConfig {
    fn from(probability: Probability) -> Self {
        Self { probability, correlation: Probability::ZERO }
    }
}

/// Uniformly distributed numbers, each of which repeats the one before with some probability.
#[derive(Clone, Debug)]
pub(crate) struct CorrelatedUniform {
    correlation: Probability,
    last: Option<u64>,
}

impl CorrelatedUniform {
    pub(crate) fn new(correlation: Probability) -> Self {
        Self { correlation, last: None }
    }

    /// Without correlation one number is drawn; with correlation first the one that decides on repetition.
    pub(crate) fn next(&mut self, random: &mut Xoshiro256PlusPlus) -> u64 {
        if self.correlation.is_zero() {
            return random.next_u64();
        }
        let repeated = self.last.filter(|_| self.correlation.happens(random.next_u64()));
        let number = repeated.unwrap_or_else(|| random.next_u64());
        self.last = Some(number);
        number
    }
}

/// A probability and its generator.
#[derive(Clone, Debug)]
pub(crate) struct Chance {
    probability: Probability,
    numbers: CorrelatedUniform,
    random: Xoshiro256PlusPlus,
}

impl Chance {
    pub(crate) fn new(config: ChanceConfig, seed: Seed) -> Self {
        let random = Xoshiro256PlusPlus::seed_from_u64(seed.get());
        Self { probability: config.probability, numbers: CorrelatedUniform::new(config.correlation), random }
    }

    /// Goes on with the same generator; the next number is a new one.
    pub(crate) fn configure(&mut self, config: ChanceConfig) {
        self.probability = config.probability;
        self.numbers = CorrelatedUniform::new(config.correlation);
    }

    /// Whether it never happens, and nothing needs to be drawn.
    pub(crate) fn is_idle(&self) -> bool {
        self.probability.is_zero()
    }

    /// Whether it happens to the next segment.
    pub(crate) fn happens(&mut self) -> bool {
        !self.is_idle() && self.probability.happens(self.numbers.next(&mut self.random))
    }

    /// A number for whom it happens to.
    pub(crate) fn pick(&mut self) -> u64 {
        self.random.next_u64()
    }
}

//! Reordering: some packets travel for a shorter time than the others and overtake them.

use crate::chance::{Chance, ChanceConfig};
use netloom_units::{Duration, Seed};

/// Which packets overtake others.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ReorderConfig {
    /// How often.
    pub chance: ChanceConfig,
    /// How much shorter they travel; none: they do not travel at all, as in netem.
    pub by: Option<Duration>,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Reorder {
    chance: Chance,
    by: Option<Duration>,
}

impl Reorder {
    pub(crate) fn new(config: ReorderConfig, seed: Seed) -> Self {
        Self { chance: Chance::new(config.chance, seed), by: config.by }
    }

    pub(crate) fn configure(&mut self, config: ReorderConfig) {
        self.chance.configure(config.chance);
        self.by = config.by;
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.chance.is_idle()
    }

    /// The delay of a segment that overtakes, given what it would be; none if it does not overtake.
    pub(crate) fn hurry(&mut self, delay: Duration) -> Option<Duration> {
        self.chance.happens().then(|| self.by.map_or(Duration::ZERO, |by| delay - by))
    }
}

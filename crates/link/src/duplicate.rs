//! Duplication: a packet is followed directly by a copy.

use crate::chance::{Chance, ChanceConfig};
use netloom_units::Seed;

/// Which packets are duplicated.
pub type DuplicateConfig = ChanceConfig;

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Duplicate(Chance);

impl Duplicate {
    pub(crate) fn new(config: DuplicateConfig, seed: Seed) -> Self {
        Self(Chance::new(config, seed))
    }

    pub(crate) fn configure(&mut self, config: DuplicateConfig) {
        self.0.configure(config);
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.0.is_idle()
    }

    /// Whether the next segment comes twice.
    pub(crate) fn happens(&mut self) -> bool {
        self.0.happens()
    }
}

//! Reordering: some packets travel for a shorter time than the others and overtake them.
//!
//! With the probability of a [`ChanceConfig`] a packet does not travel at all, or for a shorter time. With a gap of n, only
//! packets are asked that n - 1 packets or more in a row did not overtake before: at most every n-th overtakes, and with
//! 100 % exactly every n-th.
//! Range: gap from 1, default 1.
//! Source: netem's `reorder` and `gap`, of which the first packets count as packets that did not overtake.

use crate::ConfigError;
use crate::chance::{Chance, ChanceConfig};
use netloom_units::{Duration, Seed};

/// Which packets overtake others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReorderConfig {
    /// How often.
    pub chance: ChanceConfig,
    /// How much shorter they travel; none: they do not travel at all, as in netem.
    pub by: Option<Duration>,
    /// From one that overtakes to the next that may, in packets.
    pub gap: u32,
}

impl Default for ReorderConfig {
    fn default() -> Self {
        Self { chance: ChanceConfig::default(), by: None, gap: 1 }
    }
}

impl ReorderConfig {
    /// Whether the parameters make sense.
    ///
    /// # Errors
    /// The one that does not.
    pub fn check(&self) -> Result<(), ConfigError> {
        if self.gap == 0 {
            return Err(ConfigError::new("gap", "write how many packets it is from one to the next: 1 or more"));
        }
        if self.by.is_some_and(Duration::is_zero) {
            return Err(ConfigError::new("by", "nothing overtakes by 0: write a time, or leave the key out"));
        }
        self.chance.check()
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Reorder {
    chance: Chance,
    by: Option<Duration>,
    gap: u32,
    /// How many in a row did not overtake.
    behind: u32,
}

impl Reorder {
    pub(crate) fn new(config: ReorderConfig, seed: Seed) -> Self {
        Self { chance: Chance::new(config.chance, seed), by: config.by, gap: config.gap, behind: 0 }
    }

    /// Goes on with the same generator, and counts the gap anew.
    pub(crate) fn configure(&mut self, config: ReorderConfig) {
        self.chance.configure(config.chance);
        (self.by, self.gap, self.behind) = (config.by, config.gap, 0);
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.chance.is_idle()
    }

    /// The least delay of any segment, given what it would be without overtaking.
    pub(crate) fn hurried_least(&self, least: Duration) -> Duration {
        if self.is_idle() { least } else { self.by.map_or(Duration::ZERO, |by| least - by) }
    }

    /// The delay of a segment that overtakes, given what it would be; none if it does not overtake.
    pub(crate) fn hurry(&mut self, delay: Duration) -> Option<Duration> {
        if self.behind.saturating_add(1) < self.gap || !self.chance.happens() {
            self.behind = self.behind.saturating_add(1);
            return None;
        }
        self.behind = 0;
        // A packet that would have to arrive before it was sent does not travel at all.
        Some(self.by.map_or(Duration::ZERO, |by| delay - by))
    }
}

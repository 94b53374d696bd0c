//! Deterministic loss: every n-th packet.
//!
//! Range: n from 1; the first that is lost from 1, default n.
//! Source: the deterministic losses that "To Infinity and Beyond: Time-Warped Network Emulation" (section 3.2) added to
//! dummynet; the paper's 1 % is n = 100.

use crate::ConfigError;

/// Every n-th packet is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EveryConfig {
    /// From one lost packet to the next.
    pub n: u64,
    /// The number of the first one, counted from 1.
    pub first: u64,
}

impl EveryConfig {
    /// Whether both are above zero.
    ///
    /// # Errors
    /// The one that is not.
    pub fn check(&self) -> Result<(), ConfigError> {
        match (self.n, self.first) {
            (0, _) => Err(ConfigError::new("n", "every zeroth packet means nothing: write a number from 1 on")),
            (_, 0) => Err(ConfigError::new("first", "packets are counted from 1")),
            _ => Ok(()),
        }
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Every {
    n: u64,
    /// How many packets pass before the next that is lost.
    left: u64,
}

impl Every {
    pub(crate) fn new(config: EveryConfig) -> Self {
        Self { n: config.n, left: config.first - 1 }
    }

    pub(crate) fn takes(&mut self) -> bool {
        let is_due = self.left == 0;
        self.left = if is_due { self.n - 1 } else { self.left - 1 };
        is_due
    }
}

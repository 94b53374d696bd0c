//! Gilbert's simple model of bursts, by what one sees of it: the share of packets that are lost, and the mean length of
//! a burst, which is a run of lost packets.
//!
//! The link is good or bad; in the bad state all packets are lost, in the good state none. A burst of mean length b ends
//! behind each of its packets with probability r = 1/b; so that bursts make up the share s of all packets, one begins
//! behind each packet that passed with probability p = s / (b (1 - s)). Both are compared exactly, as fractions.
//! Range: 0 < s < 1, b from 1 to 1,000,000 packets, p ≤ 1. The first state is the good one.
//! Source: Gilbert 1960, "Capacity of a burst-noise channel"; the simple form of Hasslinger and Hohlfeld 2008, "The
//! Gilbert-Elliott model for packet loss in real time services on the Internet", section 2.

use crate::ConfigError;
use alloc::format;
use netloom_units::Probability;

/// Bursts of loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GilbertConfig {
    /// Which share of all packets is lost in the long run.
    pub share: Probability,
    /// How many packets in a row are lost, in the mean.
    pub burst: u32,
}

/// So that the fractions of [`Gilbert`] fit into 128 bits.
const LONGEST: u32 = 1_000_000;

impl GilbertConfig {
    /// Whether there can be such bursts.
    ///
    /// # Errors
    /// The parameter that does not fit.
    pub fn check(&self) -> Result<(), ConfigError> {
        if !(1..=LONGEST).contains(&self.burst) {
            let message = format!("the mean length of a burst lies between 1 and {LONGEST} packets");
            return Err(ConfigError::new("burst", message));
        }
        let passed = Probability::ONE.as_parts_per_trillion() - self.share.as_parts_per_trillion();
        if self.share.is_zero() || passed == 0 {
            let message = "bursts make up more than 0 % and less than 100 % of the packets: without bursts write \
                           `loss: 0`, without end `loss: 100 %`";
            return Err(ConfigError::new("share", message));
        }
        if u128::from(self.share.as_parts_per_trillion()) > u128::from(self.burst) * u128::from(passed) {
            let message = format!(
                "between two bursts at least one packet passes, so bursts of {} packets make up at most {} of {} packets",
                self.burst,
                self.burst,
                u64::from(self.burst) + 1
            );
            return Err(ConfigError::new("share", message));
        }
        Ok(())
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Gilbert {
    bad: bool,
    /// A burst begins with probability `share / (burst * passed)` and ends with probability `1 / burst`.
    share: u64,
    passed: u64,
    burst: u32,
}

impl Gilbert {
    pub(crate) fn new(config: GilbertConfig) -> Self {
        let share = config.share.as_parts_per_trillion();
        let passed = Probability::ONE.as_parts_per_trillion() - share;
        Self { bad: false, share, passed, burst: config.burst }
    }

    pub(crate) fn takes(&mut self, drawn: u64) -> bool {
        let lost = self.bad;
        let (times, of) = if lost { (1, u128::from(self.burst)) } else { self.begins() };
        // drawn / 2^64 < times / of. A number below 2^64 times one below 2^60 fits into 128 bits.
        if u128::from(drawn) * of < times << 64 {
            self.bad = !lost;
        }
        lost
    }

    fn begins(&self) -> (u128, u128) {
        (u128::from(self.share), u128::from(self.burst) * u128::from(self.passed))
    }
}

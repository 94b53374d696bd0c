//! Deterministic loss: the packets with certain numbers.
//!
//! Packets are counted from 1; with a period, counting begins again behind it.
//! Range: numbers from 1, each above the one before; the period at least the last number, default: none.
//! Source: the deterministic losses that "To Infinity and Beyond: Time-Warped Network Emulation" (section 3.2) added to
//! dummynet; the paper does not say which packets were lost, so a user can say it here.

use crate::ConfigError;
use alloc::{format, sync::Arc};
use core::ops::RangeInclusive;

/// The packets with these numbers are lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketsConfig {
    /// The first and the last number of each run of lost packets.
    pub lost: Arc<[RangeInclusive<u64>]>,
    /// Behind which number counting begins again; none: never.
    pub period: Option<u64>,
}

impl PacketsConfig {
    /// Whether the numbers go up.
    ///
    /// # Errors
    /// The first number that does not.
    pub fn check(&self) -> Result<(), ConfigError> {
        let mut last = 0;
        for run in self.lost.iter() {
            if *run.start() <= last || run.is_empty() {
                let message = match (run.start(), last) {
                    (0, _) => "packets are counted from 1".into(),
                    (start, _) if run.is_empty() => format!("the run from {start} goes back to {}", run.end()),
                    (start, last) => format!("{start} follows {last}: write the numbers in rising order"),
                };
                return Err(ConfigError::new("lost", message));
            }
            last = *run.end();
        }
        if last == 0 {
            return Err(ConfigError::new("lost", "no packet is named: write for example [3, 7, 20..25]"));
        }
        match self.period {
            Some(period) if period < last => Err(ConfigError::new(
                "period",
                format!("counting begins again behind packet {period} and never comes to packet {last}"),
            )),
            _ => Ok(()),
        }
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Packets {
    config: PacketsConfig,
    /// The number of the last packet.
    number: u64,
    /// The first run that the next packet is not behind.
    run: usize,
}

impl Packets {
    pub(crate) fn new(config: PacketsConfig) -> Self {
        Self { config, number: 0, run: 0 }
    }

    pub(crate) fn takes(&mut self) -> bool {
        if self.config.period == Some(self.number) {
            (self.number, self.run) = (0, 0);
        }
        self.number += 1;
        let Some(run) = self.config.lost.get(self.run) else { return false };
        if *run.end() == self.number {
            self.run += 1;
        }
        run.contains(&self.number)
    }
}

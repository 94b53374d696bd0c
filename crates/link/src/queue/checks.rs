//! Checks of parameters that several disciplines have in common.

use crate::ConfigError;
use alloc::format;
use netloom_units::{Bytes, Limit};

/// As many as Linux allows its fair queues.
const MOST_FLOWS: u32 = 65_536;

/// Refuses a limit that admits nothing. Disciplines that keep account of every packet see it even if the transmitter is
/// idle, and then nothing would ever be sent.
pub(super) fn limit(limit: Limit) -> Result<(), ConfigError> {
    let admits_nothing = match limit {
        Limit::Packets(packets) => packets == 0,
        Limit::Bytes(bytes) => bytes.get() == 0,
        Limit::Time(_) => false,
    };
    if admits_nothing {
        let message = format!("{limit}: nothing would ever be sent: write for example 1000 packets");
        return Err(ConfigError::new("limit", message));
    }
    Ok(())
}

/// Refuses turns in which nothing is sent.
pub(super) fn quantum(quantum: Bytes) -> Result<(), ConfigError> {
    if quantum.get() == 0 {
        return Err(ConfigError::new("quantum", "0 B: no packet would ever be sent: write for example 1500 B"));
    }
    Ok(())
}

/// Refuses a hash without values, and tables of unreasonable size.
pub(super) fn flows(count: u32) -> Result<(), ConfigError> {
    if (1..=MOST_FLOWS).contains(&count) {
        return Ok(());
    }
    Err(ConfigError::new("flows", format!("{count} queues: write a number from 1 to {MOST_FLOWS}")))
}

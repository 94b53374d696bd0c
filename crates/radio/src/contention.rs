//! How stations contend: the parameters of DCF and of the categories of EDCA.

use crate::error::ConfigError;
use crate::phy::Phy;
use alloc::format;
use netloom_units::Duration;

/// The parameters of one category.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contention {
    /// The number of slots behind a SIFS for which the medium must be idle first; at least 1, and 2 for the DIFS.
    pub aifsn: u32,
    /// The least contention window: the backoff is drawn from zero to this, both included.
    pub cw_min: u32,
    /// The largest contention window.
    pub cw_max: u32,
    /// How long one access may last (TXOP limit); zero: one PPDU and its answer.
    pub txop: Duration,
}

impl Contention {
    /// Returns the parameters of the distributed coordination function: DIFS, the layer's contention window, one frame.
    pub fn dcf(phy: &Phy) -> Self {
        let (cw_min, cw_max) = phy.contention_window();
        Self { aifsn: 2, cw_min, cw_max, txop: Duration::ZERO }
    }

    /// Returns the parameters of all categories, the least urgent first: IEEE 802.11-2020, table 9-155. The TXOP limit of background
    /// and best effort is zero, as access points have it; the table has 2.528 ms.
    pub fn edca(phy: &Phy) -> [Self; 4] {
        let (least, largest) = phy.contention_window();
        let (half, quarter) = (least.div_ceil(2), least.div_ceil(4));
        let usual = |aifsn| Self { aifsn, cw_min: least, cw_max: largest, txop: Duration::ZERO };
        let video = Self { aifsn: 2, cw_min: half - 1, cw_max: least, txop: Duration::from_micros(4_096) };
        let voice = Self { aifsn: 2, cw_min: quarter - 1, cw_max: half - 1, txop: Duration::from_micros(2_080) };
        [usual(7), usual(3), video, voice]
    }

    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        if self.aifsn == 0 {
            return Err(ConfigError::new("aifsn", "must be at least 1, so that answers come first"));
        }
        if self.cw_min > self.cw_max || self.cw_max > 32_767 {
            let message = format!("{} and {}: at most 32767, and not below the least window", self.cw_min, self.cw_max);
            return Err(ConfigError::new("cw-max", message));
        }
        Ok(())
    }
}

//! How one station reaches another.

use crate::error::ConfigError;
use crate::phy::{Mode, Phy, Ppdu};
use netloom_units::Probability;

/// The description of a link: the rate of data, and how much of it gets lost beside collisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkConfig {
    /// The mode of data.
    pub mode: Mode,
    /// The probability that an MPDU cannot be decoded; control frames always can.
    pub error: Probability,
}

impl From<Mode> for LinkConfig {
    /// A link without errors.
    fn from(mode: Mode) -> Self {
        Self { mode, error: Probability::ZERO }
    }
}

/// The same with the times that follow from it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    pub(crate) mode: Mode,
    pub(crate) ppdu: Ppdu,
    pub(crate) control: Ppdu,
    pub(crate) error: Probability,
}

impl Link {
    pub(crate) fn new(phy: &Phy, config: LinkConfig) -> Result<Self, ConfigError> {
        Ok(Self {
            mode: config.mode,
            ppdu: phy.ppdu(config.mode)?,
            control: phy.control(config.mode),
            error: config.error,
        })
    }

    /// The link to everybody.
    pub(crate) fn basic(phy: &Phy) -> Self {
        let ppdu = phy.basic();
        Self { mode: Mode::kilobits(ppdu.bits_per_second() / 1_000), ppdu, control: ppdu, error: Probability::ZERO }
    }
}

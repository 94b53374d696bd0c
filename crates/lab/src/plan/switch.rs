//! What a switch does.

use netloom_units::Duration;

/// The settings of a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchPlan {
    /// For how long it remembers an address of which it does not hear any more.
    pub ageing: Duration,
    /// How many addresses it remembers at most.
    pub table: usize,
    /// Addresses that are always behind the port of this number, as its interfaces are numbered.
    pub fixed: Vec<([u8; 6], usize)>,
}

impl SwitchPlan {
    /// IEEE 802.1D-2004, table 7-5: the recommended ageing time.
    pub(crate) const AGEING: Duration = Duration::from_secs(300);
    /// As many as switches for offices have.
    pub(crate) const TABLE: usize = 8_192;
}

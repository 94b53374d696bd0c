//! Shared media as they are written.

use crate::diagnostics::Spanned;
use netloom_radio::{MediumConfig, Mode};
use netloom_units::Probability;

/// A shared medium.
#[derive(Clone, Debug)]
pub(crate) enum MediumSpec {
    /// A wire.
    Shared,
    /// The air.
    Wifi(Box<WifiSpec>),
}

/// A radio medium.
#[derive(Clone, Debug)]
pub(crate) struct WifiSpec {
    pub(crate) config: MediumConfig,
    /// The rate of those stations of which nothing else is said.
    pub(crate) rate: Mode,
    pub(crate) stations: Vec<(Spanned<String>, StationSpec)>,
    pub(crate) access_point: Option<Spanned<String>>,
}

/// A station that differs from the others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StationSpec {
    pub(crate) rate: Option<Mode>,
    pub(crate) errors: Probability,
}

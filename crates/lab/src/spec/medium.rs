//! Shared media as they are written.

use super::PlaceSpec;
use crate::diagnostics::Spanned;
use netloom_radio::{AntennaPattern, Decibels, Interferer, MediumConfig, Mode, RadioConfig, RateControl};
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
    pub(crate) rate: RateControl,
    /// The fastest rate with one stream.
    pub(crate) fastest: Mode,
    pub(crate) stations: Vec<(Spanned<String>, StationSpec)>,
    pub(crate) access_point: Option<Spanned<String>>,
    /// The signals, and the power of stations that have no own; none: all stations hear one another.
    pub(crate) signals: Option<(RadioConfig, Decibels)>,
    /// The interferers that all stations sense.
    pub(crate) interferers: Vec<Interferer>,
}

/// A station that differs from the others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StationSpec {
    pub(crate) rate: Option<RateControl>,
    pub(crate) errors: Probability,
    pub(crate) position: Option<PlaceSpec>,
    pub(crate) power: Option<Decibels>,
    pub(crate) antenna: AntennaPattern,
}

//! Shared media as they are written.

use super::PlaceSpec;
use crate::diagnostics::Spanned;
use netloom_radio::{
    AntennaPattern, CellConfig, CellSignal, Decibels, HandoverGaps, Interferer, MediumConfig, Mode, RadioConfig,
    RateControl, RoamingRule,
};
use netloom_units::{Duration, Probability};

/// A shared medium.
#[derive(Clone, Debug)]
pub(crate) enum MediumSpec {
    /// A wire.
    Shared,
    /// The air.
    Wifi(Box<WifiSpec>),
    /// A cell.
    Cell(Box<CellSpec>),
}

impl MediumSpec {
    /// Whether its ends are stations on the air.
    pub(crate) fn is_radio(&self) -> bool {
        !matches!(self, Self::Shared)
    }

    /// The radio medium, if it is one of 802.11.
    pub(crate) fn wifi(&self) -> Option<&WifiSpec> {
        if let Self::Wifi(wifi) = self { Some(wifi) } else { None }
    }

    /// Whether what an end repeats comes back by other ends: of the access points of one network, which do not hear one another, the first stands for all.
    pub(crate) fn joins(&self, name: &str) -> bool {
        self.wifi().is_none_or(|wifi| wifi.access_points.iter().skip(1).all(|point| point.value != name))
    }

    /// The positions of its stations, as far as the medium says them.
    pub(crate) fn positions(&self) -> Vec<PlaceSpec> {
        match self {
            Self::Shared => Vec::new(),
            Self::Wifi(wifi) => wifi.stations.iter().filter_map(|(_, own)| own.position).collect(),
            Self::Cell(cell) => {
                let of_cells = cell.cells.iter().map(|(_, own)| own.position);
                cell.terminals.iter().filter_map(|(_, own)| own.position).chain(of_cells).collect()
            }
        }
    }
}

/// A cell of a mobile network.
#[derive(Clone, Debug)]
pub(crate) struct CellSpec {
    pub(crate) config: CellConfig,
    pub(crate) base: Spanned<String>,
    /// The signal of those terminals of which nothing else is said.
    pub(crate) usual: CellSignal,
    pub(crate) terminals: Vec<(Spanned<String>, TerminalSpec)>,
    /// The cells of the base station; none: one, where it is.
    pub(crate) cells: Vec<(Spanned<String>, SiteSpec)>,
    /// The signals, and the power of the base station.
    pub(crate) signals: Option<(RadioConfig, Decibels)>,
}

/// A cell of several that a base station has.
#[derive(Clone, Debug)]
pub(crate) struct SiteSpec {
    pub(crate) position: PlaceSpec,
    pub(crate) power: Option<Decibels>,
    pub(crate) antenna: AntennaPattern,
    pub(crate) carrier: u32,
}

/// A terminal of which something is said.
#[derive(Clone, Debug)]
pub(crate) struct TerminalSpec {
    pub(crate) signal: Option<CellSignal>,
    pub(crate) handovers: Option<HandoverGaps>,
    /// The cell at which it stays.
    pub(crate) cell: Option<Spanned<String>>,
    pub(crate) position: Option<PlaceSpec>,
    pub(crate) power: Option<Decibels>,
    pub(crate) antenna: AntennaPattern,
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
    /// The access points of a network with several ones, and when stations go from one to another.
    pub(crate) access_points: Vec<Spanned<String>>,
    pub(crate) rule: RoamingRule,
    /// The signals, and the power of stations that have no own; none: all stations hear one another.
    pub(crate) signals: Option<(RadioConfig, Decibels)>,
    /// The interferers that all stations sense.
    pub(crate) interferers: Vec<Interferer>,
    /// The time from one beacon of an access point to the next, if beacons are on the air.
    pub(crate) beacons: Option<Duration>,
}

/// A station that differs from the others.
#[derive(Clone, Debug)]
pub(crate) struct StationSpec {
    pub(crate) rate: Option<RateControl>,
    pub(crate) errors: Probability,
    pub(crate) position: Option<PlaceSpec>,
    pub(crate) power: Option<Decibels>,
    pub(crate) antenna: AntennaPattern,
    /// The access point of several with which it stays.
    pub(crate) access_point: Option<Spanned<String>>,
    /// The channel of an access point of several.
    pub(crate) channel: Option<u8>,
}

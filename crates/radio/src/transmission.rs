//! What is on the air: the PPDUs of those who began at one instant.

use crate::config::{Access, MediumConfig};
use crate::frame::Destination;
use crate::link::Link;
use crate::phy::{self, Mode, Ppdu};
use crate::queue::{Failure, Load};
use alloc::vec::Vec;
use netloom_units::{Duration, Instant};

/// One of those who send: a category of a station, with the flow that it serves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Party {
    pub(crate) station: usize,
    pub(crate) category: usize,
    pub(crate) flow: usize,
    pub(crate) to: Destination,
    pub(crate) mode: Mode,
    /// The timing of the data.
    pub(crate) ppdu: Ppdu,
    pub(crate) load: Load,
    /// Whether an RTS and a CTS come first.
    pub(crate) has_rts: bool,
    /// Whether it is a management frame, of which nobody behind the medium hears.
    pub(crate) is_management: bool,
    pub(crate) times: Times,
}

impl Party {
    /// How long an RTS and its CTS take in front of the data.
    pub(crate) fn request(&self) -> Duration {
        self.times.data - self.ppdu.duration(self.load.size)
    }

    /// How what is still on the air fails at the end of a transmission with this fate.
    pub(crate) fn failure(&self, fate: Fate) -> Failure {
        match fate {
            Fate::Collides if self.to == Destination::Everybody => Failure::Final,
            Fate::Collides => Failure::Short,
            _ if self.has_rts => Failure::Long,
            _ => Failure::Short,
        }
    }
}

/// How long the parts of an attempt take.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Times {
    /// The first part: the RTS, or else the data.
    pub(crate) first: Duration,
    /// From its begin to the end of the data.
    pub(crate) data: Duration,
    /// From its begin to the end of the answer.
    pub(crate) whole: Duration,
}

impl Times {
    pub(crate) fn new(config: &MediumConfig, link: &Link, load: Load, to: Destination, has_rts: bool) -> Self {
        let data = link.ppdu.duration(load.size);
        let is_answered = config.access == Access::Dcf && to != Destination::Everybody;
        let answer = if is_answered { answer(config, link, load.mpdus > 1) } else { Duration::ZERO };
        let request = if has_rts { request(config, link) } else { Duration::ZERO };
        let first = if has_rts { phy::rts(&link.control) } else { data };
        Self { first, data: request + data, whole: request + data + answer }
    }
}

/// How long it takes from the end of the data to the end of the answer.
pub(crate) fn answer(config: &MediumConfig, link: &Link, is_aggregate: bool) -> Duration {
    let window = config.aggregation.window;
    let answer = if is_aggregate { phy::block_ack(&link.control, window) } else { phy::ack(&link.control) };
    config.phy.sifs() + answer
}

/// How long RTS and CTS take, and the spaces behind them.
pub(crate) fn request(config: &MediumConfig, link: &Link) -> Duration {
    phy::rts(&link.control) + config.phy.sifs() + phy::ack(&link.control) + config.phy.sifs()
}

/// The end that a transmission will have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// The data arrives at this instant.
    Arrives(Instant),
    /// The data has arrived, and the answer is under way.
    Arrived,
    /// One sends, and nobody decodes it.
    Lost,
    /// Two or more send at once.
    Collides,
}

/// See the module's documentation.
#[derive(Clone, Debug)]
pub(crate) struct Transmission {
    pub(crate) start: Instant,
    /// When the medium is idle again.
    pub(crate) end: Instant,
    pub(crate) fate: Fate,
    /// So many MPDUs will be decoded.
    pub(crate) good: u32,
    /// Until when the one who sends may go on; none if it has one PPDU.
    pub(crate) may_last: Option<Instant>,
    pub(crate) parties: Vec<Party>,
}

impl Transmission {
    /// When something happens next.
    #[inline]
    pub(crate) fn next(&self) -> Instant {
        if let Fate::Arrives(at) = self.fate { at } else { self.end }
    }
}

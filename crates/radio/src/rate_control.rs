//! Rate control: which mode a station sends with.

mod arf;
mod minstrel;

use crate::config::MediumConfig;
use crate::decibels::Decibels;
use crate::error::ConfigError;
use crate::error_rate::{Coding, packet_error_rate};
use crate::link::{Link, LinkConfig};
use crate::phy::{Mode, Phy, Standard};
use crate::queue::Limits;
use crate::transmission;
use alloc::format;
use alloc::vec::Vec;
use arf::Arf;
use minstrel::{Airtime, Minstrel};
use netloom_units::{Bytes, Instant, Probability};

/// How a station chooses the mode of its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateControl {
    /// Always this mode.
    Fixed(Mode),
    /// The fastest mode with one stream in which, at the ratio of signal to noise with which the PPDU will arrive, at most 10 % of
    /// frames with 1,458 bytes get lost. Nobody knows that ratio in advance: it is the bound of what rate control can reach.
    Ideal,
    /// One mode faster after ten PPDUs that arrive, and one slower after two that do not (Kamerman and Monteban 1997).
    Arf,
    /// The same, with up to 50 PPDUs where faster modes keep failing (Lacage and others 2004).
    Aarf,
    /// The mode with the greatest throughput by what arrived lately, and now and then another one, as in Linux.
    Minstrel,
}

/// The bytes of the frame for which modes are compared, and how many of a hundred may get lost.
const REFERENCE: Bytes = Bytes::new(1_458);
const LOST: f64 = 0.1;
/// The bytes of the frame for which Minstrel compares times.
const MINSTREL: Bytes = Bytes::new(1_200);

/// A rate control with what follows from it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Control {
    Fixed(Link),
    Ideal,
    /// One that learns from what arrives.
    Learns(Learner),
}

/// A way to learn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Learner {
    Arf { is_adaptive: bool },
    Minstrel,
}

/// The knowledge of the way to a destination.
#[derive(Clone, Debug)]
pub(crate) enum Learned {
    Arf(Arf),
    Minstrel(Minstrel),
}

impl Learned {
    pub(crate) fn new(learner: Learner, now: Instant, modes: &Modes) -> Self {
        match learner {
            Learner::Arf { is_adaptive } => Self::Arf(Arf::new(is_adaptive)),
            Learner::Minstrel => Self::Minstrel(Minstrel::new(now, modes.known.len())),
        }
    }

    /// Chooses the mode of the next PPDU. `chance` yields numbers from zero to below one.
    pub(crate) fn choose(&mut self, now: Instant, modes: &Modes, chance: impl Fn(u32) -> f64) -> Link {
        let place = match self {
            Self::Arf(own) => own.place(),
            Self::Minstrel(own) => own.choose(now, &modes.times, chance),
        };
        modes.known.get(place).map_or(modes.basic, |(link, _)| *link)
    }

    /// Notes how many MPDUs of a PPDU are known to have arrived.
    pub(crate) fn report(&mut self, mode: Mode, (tried, arrived): (u32, u32), modes: &Modes) {
        let Some(place) = modes.known.iter().position(|(link, _)| link.mode == mode) else { return };
        match self {
            Self::Arf(own) => own.report(2 * arrived >= tried.max(1), modes.known.len()),
            Self::Minstrel(own) => own.report(place, tried, arrived),
        }
    }
}

/// The modes with one stream, the slowest first, and the ratio that each needs.
#[derive(Clone, Debug)]
pub(crate) struct Modes {
    known: Vec<(Link, f64)>,
    times: Vec<Airtime>,
    basic: Link,
    coding: Coding,
}

impl Modes {
    pub(crate) fn new(config: &MediumConfig, coding: Coding) -> Self {
        let phy = &config.phy;
        let legacy = [1_000, 2_000, 5_500, 6_000, 9_000, 11_000, 12_000, 18_000, 24_000, 36_000, 48_000, 54_000];
        // MCS 8 and above of n have more streams.
        let highest = if phy.standard() == Some(Standard::N) { 7 } else { 11 };
        let all = legacy.into_iter().map(Mode::kilobits).filter(|_| !phy.has_qos()).chain((0..=highest).map(Mode::mcs));
        let at = |mode: Mode| Link::new(phy, LinkConfig { mode, error: Probability::ZERO }).ok();
        let mut known: Vec<_> =
            all.filter_map(at).filter_map(|one| needed(phy, one.mode, coding).map(|least| (one, least))).collect();
        known.sort_by_key(|(link, _)| link.ppdu.bits_per_second());
        let is_aggregate = Limits::new(config).has_aggregates();
        let airtime = |(link, _): &(Link, f64)| {
            let (data, around) = (link.ppdu.duration(MINSTREL), transmission::answer(config, link, is_aggregate));
            let preamble = link.ppdu.preamble.as_nanos() as f64;
            Airtime { data: data.as_nanos() as f64 - preamble, around: around.as_nanos() as f64 + preamble }
        };
        Self { times: known.iter().map(airtime).collect(), known, basic: Link::basic(phy), coding }
    }

    /// The link to everybody.
    pub(crate) fn basic(&self) -> Link {
        self.basic
    }

    pub(crate) fn control(&self, phy: &Phy, rate: RateControl) -> Result<Control, ConfigError> {
        let mode = match rate {
            RateControl::Fixed(mode) => mode,
            RateControl::Ideal => return Ok(Control::Ideal),
            RateControl::Arf => return Ok(Control::Learns(Learner::Arf { is_adaptive: false })),
            RateControl::Aarf => return Ok(Control::Learns(Learner::Arf { is_adaptive: true })),
            RateControl::Minstrel => return Ok(Control::Learns(Learner::Minstrel)),
        };
        let link = Link::new(phy, mode.into())?;
        if success(phy, mode, self.coding, Decibels(99.0), REFERENCE).is_none() {
            let message = format!(
                "no errors over signals are known for {mode}: `coding: ldpc` and `coding: nist` have MCS 10 and 11"
            );
            return Err(ConfigError::new("rate", message));
        }
        Ok(Control::Fixed(link))
    }

    pub(crate) fn choose(&self, snr: Decibels) -> Link {
        let enough = self.known.iter().rev().find(|(_, needed)| snr.0 >= *needed);
        enough.or(self.known.first()).map_or(self.basic, |(link, _)| *link)
    }
}

/// The least ratio, to a thousandth of a decibel, at which a mode loses few enough.
fn needed(phy: &Phy, mode: Mode, coding: Coding) -> Option<f64> {
    let is_enough = |thousandths: i32| {
        let snr = Decibels(f64::from(thousandths) / 1_000.0);
        success(phy, mode, coding, snr, REFERENCE).map(|success| 1.0 - success <= LOST)
    };
    is_enough(0)?;
    let (mut low, mut high) = (-20_000, 80_000);
    while high - low > 1 {
        let middle = (low + high) / 2;
        if is_enough(middle)? { high = middle } else { low = middle }
    }
    Some(f64::from(high) / 1_000.0)
}

/// The probability that a frame of this size is decoded at a ratio of signal to noise; none if it is not known for the mode. Streams share the
/// power.
pub(crate) fn success(phy: &Phy, mode: Mode, coding: Coding, snr: Decibels, size: Bytes) -> Option<f64> {
    let (mode, streams) = match mode {
        // MCS 8 to 31 of n state the streams by themselves.
        Mode::Mcs { index, .. } if phy.standard() == Some(Standard::N) && index >= 8 => {
            (Mode::mcs(index % 8), index / 8 + 1)
        }
        Mode::Mcs { index, streams } => (Mode::mcs(index), streams),
        Mode::Legacy(_) => (mode, 1),
    };
    let coding = if coding == Coding::Ldpc && matches!(mode, Mode::Legacy(_)) { Coding::Bcc } else { coding };
    let each = Decibels(snr.0 - Decibels::of_ratio(f64::from(streams)).0);
    packet_error_rate(mode, coding, each, size).map(|lost| 1.0 - lost.as_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error_rate::best_mcs;
    use crate::phy::{Channel, PhyConfig};

    fn modes(standard: Standard, channel: u8, coding: Coding) -> Modes {
        let channel = Channel::new(channel).expect("there is such a channel");
        let phy = Phy::new(&PhyConfig::new(standard, channel)).expect("the layer exists");
        Modes::new(&MediumConfig::new(phy), coding)
    }

    /// The steps of MCS over the ratio are those of the table at 10 %, within a tenth of a decibel.
    #[test]
    fn steps_are_where_the_table_has_them() {
        let known = modes(Standard::N, 36, Coding::Bcc);
        for tenths in -50..300 {
            let snr = Decibels(f64::from(tenths) / 10.0);
            let expected = best_mcs(7, Coding::Bcc, snr).unwrap_or(0);
            let near = best_mcs(7, Coding::Bcc, Decibels(snr.0 - 0.01)).unwrap_or(0);
            let found = known.choose(snr).mode;
            assert!(found == Mode::mcs(expected) || found == Mode::mcs(near), "{snr:?}: {found}");
        }
        assert_eq!(modes(Standard::Ax, 36, Coding::Ldpc).choose(Decibels(29.0)).mode, Mode::mcs(11));
        assert_eq!(modes(Standard::Ax, 36, Coding::Bcc).choose(Decibels(60.0)).mode, Mode::mcs(9));
        assert_eq!(modes(Standard::A, 36, Coding::Bcc).choose(Decibels(12.0)).mode, Mode::kilobits(24_000));
        assert_eq!(modes(Standard::B, 1, Coding::Bcc).choose(Decibels(10.0)).mode, Mode::kilobits(11_000));
    }
}

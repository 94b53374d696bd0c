//! A PPDU on the air, and how much of it can be decoded where.

use super::RadioMedium;
use crate::phy::Mode;
use crate::power::Power;
use crate::rate_control;
use alloc::vec::Vec;
use netloom_units::{Bytes, Duration, Instant, Seed};

/// The part of an exchange that a PPDU is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// An RTS.
    Request,
    /// A CTS.
    Clear,
    Data,
    /// An acknowledgement or a BlockAck.
    Answer,
    /// A burst of an interferer, whose number stands behind those of all stations.
    Foreign,
}

/// See the module's documentation.
#[derive(Clone, Debug)]
pub(super) struct Signal {
    pub(super) from: usize,
    /// The number of its sender's PPDUs before it; and, of an answer, of the PPDU that it answers.
    pub(super) number: u64,
    pub(super) answers: u64,
    pub(super) part: Part,
    /// The station it is for; none: everybody.
    pub(super) to: Option<usize>,
    pub(super) mode: Mode,
    /// The MPDUs, and the bytes of each.
    pub(super) mpdus: u32,
    pub(super) size: Bytes,
    pub(super) start: Instant,
    pub(super) end: Instant,
    /// Where the MPDUs begin and end.
    pub(super) data: (Instant, Instant),
    /// Until when the exchange reserves the medium.
    pub(super) reserved: Instant,
    /// The powers that arrive, by receiver.
    pub(super) powers: Vec<Power>,
    /// Who has found its preamble.
    pub(super) is_sensed: Vec<bool>,
    /// Whether it has ended; it stays here as long as it overlaps with what is on the air.
    pub(super) is_over: bool,
}

impl Signal {
    fn overlaps(&self, from: Instant, until: Instant) -> bool {
        self.start < until && from < self.end
    }

    /// Whether it is the same PPDU.
    pub(super) fn is(&self, other: &Self) -> bool {
        (self.from, self.number) == (other.from, other.number)
    }
}

impl<P> RadioMedium<P> {
    /// Whether anything else was on the air during a PPDU.
    pub(super) fn is_disturbed(&self, signal: &Signal) -> bool {
        self.signals.iter().any(|other| !other.is(signal) && other.overlaps(signal.start, signal.end))
    }

    /// Which of the first MPDUs of a PPDU a station decodes that has received all of it.
    pub(super) fn decoded(&self, signal: &Signal, at: usize, mpdus: u32) -> Vec<bool> {
        let clean = (!self.is_disturbed(signal)).then(|| self.success(signal, at, 0));
        let seeds = (self.stations[signal.from].seed, self.stations[at].seed);
        let is_good = |mpdu| draw(seeds, signal.number, mpdu) < clean.unwrap_or_else(|| self.success(signal, at, mpdu));
        (0..mpdus).map(is_good).collect()
    }

    /// The probability that a station decodes an MPDU: the product over chunks with constant interference.
    fn success(&self, signal: &Signal, at: usize, mpdu: u32) -> f64 {
        let (first, last) = signal.data;
        let whole = u128::from(last.since(first).as_nanos());
        let bound = |number: u32| {
            let share = whole * u128::from(number) / u128::from(signal.mpdus);
            first + Duration::from_nanos(u64::try_from(share).unwrap_or(u64::MAX))
        };
        let (from, until) = (bound(mpdu), bound(mpdu + 1));
        let others = || self.signals.iter().filter(|other| !other.is(signal));
        let mut cuts: Vec<Instant> = others().flat_map(|other| [other.start, other.end]).collect();
        cuts.retain(|cut| from < *cut && *cut < until);
        cuts.extend([from, until]);
        cuts.sort_unstable();
        let span = until.since(from).as_nanos().max(1) as f64;
        let chunk = |ends: &[Instant]| {
            let (start, end) = (ends[0], ends[1]);
            let disturbing = others().filter(|other| other.overlaps(start, end)).map(|other| other.powers[at]);
            let snr = signal.powers[at].over(self.receiver.noise + disturbing.sum());
            let (phy, coding) = (&self.config.phy, self.receiver.coding);
            let all = rate_control::success(phy, signal.mode, coding, snr, signal.size).unwrap_or(0.0);
            libm::pow(all, end.since(start).as_nanos() as f64 / span)
        };
        cuts.windows(2).map(chunk).product()
    }
}

/// A number from zero to below one that depends on the sender, its PPDU, the receiver and the MPDU alone.
pub(super) fn draw((from, at): (Seed, Seed), number: u64, mpdu: u32) -> f64 {
    let parts = [from.get(), number, at.get(), u64::from(mpdu)];
    let hash = parts.into_iter().fold(0, |hash: u64, part| mix(hash.rotate_left(23) ^ part));
    (hash >> 11) as f64 / (1_u64 << 53) as f64
}

/// The finalizer of `SplitMix64` (Steele, Lea and Flood 2014).
fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

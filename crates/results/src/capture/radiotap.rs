//! The header of radiotap (radiotap.org) in front of what was on the air.
//!
//! Present are the time at which the MPDU began (TSFT), flags, rate or MCS, channel, the power at its receiver where that is known, and of aggregates
//! which MPDUs belong together.

use super::dot11::{self, ControlFrame};
use netloom_link::{AirPpdu, Band, Channel, Control, GuardInterval, Mode, Phy, Standard, Width};
use netloom_units::Instant;

// Bits of the fields that are present.
const TSFT: u32 = 1 << 0;
const FLAGS: u32 = 1 << 1;
const RATE: u32 = 1 << 2;
const CHANNEL: u32 = 1 << 3;
const SIGNAL: u32 = 1 << 5;
const MCS: u32 = 1 << 19;
const AMPDU: u32 = 1 << 20;
const VHT: u32 = 1 << 21;
const HE: u32 = 1 << 23;
// Flags.
const SHORT_PREAMBLE: u8 = 0x02;
const FCS_AT_END: u8 = 0x10;
const BAD_FCS: u8 = 0x40;
// Of the channel.
const CCK: u16 = 0x0020;
const OFDM: u16 = 0x0040;
const GHZ_2: u16 = 0x0080;
const GHZ_5: u16 = 0x0100;
// Of an A-MPDU: whether it is said which MPDU is the last, and that this one is.
const LAST_KNOWN: u16 = 0x0004;
const LAST: u16 = 0x0008;

/// See the module.
#[derive(Debug)]
pub(super) struct Radiotap {
    phy: Phy,
    /// Whether control frames are wanted.
    has_control: bool,
    /// Numbers aggregates.
    aggregates: u32,
    scratch: Vec<u8>,
}

impl Radiotap {
    pub(super) fn new(phy: &Phy, has_control: bool) -> Self {
        Self { phy: *phy, has_control, aggregates: 0, scratch: Vec::new() }
    }

    /// Another PPDU follows.
    pub(super) fn begin(&mut self, ppdu: &AirPpdu) {
        self.aggregates = self.aggregates.wrapping_add(u32::from(ppdu.mpdus.len() > 1));
    }

    /// The control frames in front of a PPDU, or behind it, in order: each with the instants between which its bits were on the air, and whether it could be decoded.
    pub(super) fn control(&self, ppdu: &AirPpdu, is_behind: bool) -> Vec<(ControlFrame, Instant, Instant, bool)> {
        let Control { preamble, space, rts, cts, .. } = ppdu.control;
        let is_alone = ppdu.mpdus.is_empty();
        if !self.has_control {
            return Vec::new();
        }
        if is_behind {
            let is_answered = !ppdu.answer.is_zero() && ppdu.mpdus.iter().any(|mpdu| mpdu.is_decoded);
            let kind = if ppdu.mpdus.len() > 1 { ControlFrame::BlockAck } else { ControlFrame::Ack };
            let (from, to) = (ppdu.end + space + preamble, ppdu.end + ppdu.answer);
            return Vec::from_iter(is_answered.then_some((kind, from, to, true)));
        }
        if rts.is_zero() {
            return Vec::new();
        }
        let begin = if is_alone { ppdu.start } else { ppdu.start - ppdu.control.request() };
        let answer = begin + rts + space;
        let request = (ControlFrame::Rts, begin + preamble, begin + rts, !is_alone);
        let clear = (ControlFrame::Cts, answer + preamble, answer + cts, true);
        if is_alone { vec![request] } else { vec![request, clear] }
    }

    /// Writes a control frame of which the first bit was on the air at `began_ns`.
    pub(super) fn write_control(
        &self,
        ppdu: &AirPpdu,
        (kind, is_good): (ControlFrame, bool),
        began_ns: u64,
        bytes: &mut Vec<u8>,
    ) {
        let present = self.head(ppdu, (ppdu.control.mode, None, is_good), began_ns, bytes);
        let length = u16::try_from(bytes.len()).expect("a header is short");
        bytes[2..4].copy_from_slice(&length.to_le_bytes());
        bytes[4..8].copy_from_slice(&present.to_le_bytes());
        dot11::write_control(ppdu, kind, is_good, bytes);
    }

    /// Begins a header with what all have; returns which fields are present.
    fn head(
        &self,
        ppdu: &AirPpdu,
        (mode, signal, is_good): (Mode, Option<i32>, bool),
        began_ns: u64,
        bytes: &mut Vec<u8>,
    ) -> u32 {
        bytes.clear();
        bytes.extend([0; 8]);
        let mut present = TSFT | FLAGS | CHANNEL;
        bytes.extend((began_ns / 1_000).to_le_bytes());
        let fcs = if is_good { FCS_AT_END } else { FCS_AT_END | BAD_FCS };
        let legacy = self.legacy(mode);
        let is_dsss = legacy.is_some_and(is_dsss);
        bytes.push(fcs | if is_dsss && self.phy.has_short_preamble() { SHORT_PREAMBLE } else { 0 });
        if let Some(half_megabits) = legacy {
            present |= RATE;
            bytes.push(half_megabits);
        }
        channel(ppdu.channel, is_dsss, bytes);
        if let Some(signal) = signal {
            present |= SIGNAL;
            let dbm = (f64::from(signal) / 1e3).round().clamp(f64::from(i8::MIN), f64::from(i8::MAX));
            bytes.push((dbm as i8).cast_unsigned());
        }
        present
    }

    /// Writes one of its MPDUs into `bytes`; the first one began at `began_ns`.
    pub(super) fn write(&mut self, ppdu: &AirPpdu, place: usize, began_ns: u64, bytes: &mut Vec<u8>) {
        let mpdu = &ppdu.mpdus[place];
        let count = ppdu.mpdus.len() as u64;
        let lasted = ppdu.data.1.since(ppdu.data.0).as_nanos();
        let began_ns = began_ns + lasted * place as u64 / count;
        let mut present = self.head(ppdu, (ppdu.mode, ppdu.signal, mpdu.is_decoded), began_ns, bytes);
        let scheme = self.scheme(ppdu.mode);
        if let Some(Scheme::Ht(known)) = scheme {
            present |= MCS;
            bytes.extend(known);
        }
        if count > 1 {
            present |= AMPDU;
            bytes.resize(bytes.len().next_multiple_of(4), 0);
            bytes.extend(self.aggregates.to_le_bytes());
            let last = if place as u64 + 1 == count { LAST_KNOWN | LAST } else { LAST_KNOWN };
            bytes.extend(last.to_le_bytes());
            bytes.extend([0; 2]);
        }
        match scheme {
            Some(Scheme::Vht(field)) => {
                present |= VHT;
                aligned(bytes, &field);
            }
            Some(Scheme::He(field)) => {
                present |= HE;
                aligned(bytes, &field);
            }
            Some(Scheme::Ht(_)) | None => {}
        }
        let length = u16::try_from(bytes.len()).expect("a header is short");
        bytes[2..4].copy_from_slice(&length.to_le_bytes());
        bytes[4..8].copy_from_slice(&present.to_le_bytes());
        dot11::write(ppdu, mpdu, began_ns, bytes, &mut self.scratch);
    }

    /// The rate in units of 500 kbit/s, where it says all.
    fn legacy(&self, mode: Mode) -> Option<u8> {
        let Mode::Legacy(rate) = mode else { return None };
        u8::try_from(rate.as_bits_per_second() / 500_000).ok()
    }

    /// The field that says the mode of n, ac or ax.
    fn scheme(&self, mode: Mode) -> Option<Scheme> {
        let Mode::Mcs { index, streams } = mode else { return None };
        let (width, guard) = (self.phy.width(), self.phy.guard_interval());
        Some(match self.phy.standard()? {
            Standard::Ac => Scheme::Vht(vht(index, streams, width, guard)),
            Standard::Ax => Scheme::He(he(index, streams, width, guard)),
            _ => Scheme::Ht(ht(index, streams, width, guard)),
        })
    }
}

/// Writes the field of a channel.
fn channel(channel: Option<Channel>, is_dsss: bool, bytes: &mut Vec<u8>) {
    bytes.resize(bytes.len().next_multiple_of(2), 0);
    let hertz = channel.map_or(0, Channel::hertz);
    bytes.extend(u16::try_from(hertz / 1_000_000).unwrap_or(0).to_le_bytes());
    let band = if channel.is_some_and(|own| own.band() == Band::Ghz5) { GHZ_5 } else { GHZ_2 };
    bytes.extend((band | if is_dsss { CCK } else { OFDM }).to_le_bytes());
}

enum Scheme {
    Ht([u8; 3]),
    Vht([u8; 12]),
    He([u8; 12]),
}

/// Rates of 802.11b.
fn is_dsss(half_megabits: u8) -> bool {
    matches!(half_megabits, 2 | 4 | 11 | 22)
}

fn aligned(bytes: &mut Vec<u8>, field: &[u8]) {
    bytes.resize(bytes.len().next_multiple_of(2), 0);
    bytes.extend_from_slice(field);
}

/// Bandwidth, index and guard interval are known; the format is the mixed one.
fn ht(index: u8, streams: u8, width: Width, guard: GuardInterval) -> [u8; 3] {
    let known = 0x01 | 0x02 | 0x04 | 0x08;
    let wide = if width == Width::Mhz20 { 0 } else { 1 };
    let short = if guard == GuardInterval::Ns400 { 0x04 } else { 0 };
    [known, wide | short, index + 8 * (streams - 1)]
}

/// Guard interval and bandwidth are known; there is one user.
fn vht(index: u8, streams: u8, width: Width, guard: GuardInterval) -> [u8; 12] {
    let known: u16 = 0x0004 | 0x0040;
    let [low, high] = known.to_le_bytes();
    let bandwidth = match width {
        Width::Mhz20 => 0,
        Width::Mhz40 => 1,
        Width::Mhz80 => 4,
        Width::Mhz160 => 11,
    };
    let short = if guard == GuardInterval::Ns400 { 0x04 } else { 0 };
    [low, high, short, bandwidth, index << 4 | streams, 0, 0, 0, 0, 0, 0, 0]
}

/// A PPDU for a single user, of which index, bandwidth and guard interval are known.
fn he(index: u8, streams: u8, width: Width, guard: GuardInterval) -> [u8; 12] {
    let bandwidth: u16 = match width {
        Width::Mhz20 => 0,
        Width::Mhz40 => 1,
        Width::Mhz80 => 2,
        Width::Mhz160 => 3,
    };
    let interval: u16 = match guard {
        GuardInterval::Ns1600 => 1,
        GuardInterval::Ns3200 => 2,
        _ => 0,
    };
    let data: [u16; 6] =
        [0x0020 | 0x4000, 0x0002, u16::from(index) << 8, 0, bandwidth | interval << 4, u16::from(streams)];
    let mut field = [0; 12];
    for (place, word) in data.into_iter().enumerate() {
        field[2 * place..2 * place + 2].copy_from_slice(&word.to_le_bytes());
    }
    field
}

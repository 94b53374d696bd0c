//! Records of the data that was on the air, with what it carried, for captures.

use crate::category::AccessCategory;
use crate::config::MediumConfig;
use crate::decibels::Decibels;
use crate::frame::{Destination, Frame, StationId};
use crate::phy::{self, Mode, Ppdu};
use alloc::vec::Vec;
use netloom_units::{Bytes, Duration, Instant};

/// The control frames around data: RTS and CTS in front of it, and the answer behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Control {
    /// Their mode.
    pub mode: Mode,
    /// How long preamble and header of each take.
    pub preamble: Duration,
    /// The space between all of them.
    pub space: Duration,
    /// How long the RTS takes; zero: there is none, and no CTS.
    pub rts: Duration,
    /// How long the CTS takes.
    pub cts: Duration,
    /// Whether a BlockAck has the long bitmap, for more than 64 MPDUs.
    pub has_long_bitmap: bool,
}

impl Control {
    pub(crate) fn new(config: &MediumConfig, mode: Mode, has_rts: bool) -> Self {
        let control = config.phy.control(mode);
        let length = |of: Duration| if has_rts { of } else { Duration::ZERO };
        Self {
            mode: Mode::kilobits(control.bits_per_second() / 1_000),
            preamble: control.preamble,
            space: config.phy.sifs(),
            rts: length(phy::rts(&control)),
            cts: length(phy::ack(&control)),
            has_long_bitmap: config.aggregation.window > 64,
        }
    }

    /// How long it takes from the beginning of an RTS to that of the data.
    pub fn request(&self) -> Duration {
        if self.rts.is_zero() { Duration::ZERO } else { self.rts + self.space + self.cts + self.space }
    }
}

/// A PPDU with data that was on the air, or an RTS that nobody answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aired<P> {
    /// The sender.
    pub from: StationId,
    /// The destination.
    pub to: Destination,
    /// The category of the frames; none without QoS.
    pub category: Option<AccessCategory>,
    /// The mode of the data.
    pub mode: Mode,
    /// Where the first MPDU begins, behind preamble and header, and where the last one ends.
    pub data: (Instant, Instant),
    /// When the PPDU began, behind RTS and CTS.
    pub start: Instant,
    /// When the PPDU ended, silence that belongs to it included.
    pub end: Instant,
    /// How long the answer takes from there on, with the space in front of it; zero if none is asked for.
    pub answer: Duration,
    /// The power in thousandths of a dBm with which it arrives at its destination, where that is known.
    pub signal: Option<i32>,
    /// The control frames around it.
    pub control: Control,
    /// The MPDUs, in their order; none: an RTS alone.
    pub mpdus: Vec<AiredMpdu<P>>,
}

/// An MPDU of a PPDU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AiredMpdu<P> {
    /// The sequence number: below 4,096.
    pub sequence: u16,
    /// How often it was on the air before: with more than zero it is a retry.
    pub sent: u32,
    /// Whether its destination decodes it; of a PPDU to everybody, anybody.
    pub is_decoded: bool,
    /// The payloads of its frames: one, or several of an A-MSDU.
    pub payloads: Vec<P>,
}

/// An MPDU that is on the air, in its queue.
pub(crate) struct OnAir<'a, P> {
    pub(crate) sequence: u16,
    pub(crate) sent: u32,
    pub(crate) is_decoded: bool,
    pub(crate) frames: Vec<&'a Frame<P>>,
}

/// The properties of a PPDU beside its MPDUs.
#[derive(Clone, Copy)]
pub(crate) struct Outline {
    pub(crate) from: usize,
    pub(crate) to: Destination,
    pub(crate) category: Option<AccessCategory>,
    pub(crate) mode: Mode,
    pub(crate) ppdu: Ppdu,
    pub(crate) size: Bytes,
    pub(crate) start: Instant,
    pub(crate) answer: Duration,
    pub(crate) signal: Option<i32>,
    pub(crate) control: Control,
}

/// Takes records while somebody wants them.
#[derive(Clone, Debug)]
pub(crate) struct Recorder<P> {
    /// Copies what a frame carries.
    copy: fn(&P) -> P,
    on_air: Vec<Aired<P>>,
    over: Vec<Aired<P>>,
}

impl<P> Recorder<P> {
    pub(crate) fn new(copy: fn(&P) -> P) -> Self {
        Self { copy, on_air: Vec::new(), over: Vec::new() }
    }

    /// A PPDU with these MPDUs is on the air.
    pub(crate) fn begin<'a>(&mut self, of: Outline, mpdus: impl Iterator<Item = OnAir<'a, P>>)
    where
        P: 'a,
    {
        let copy = self.copy;
        let mpdu = |own: OnAir<'a, P>| AiredMpdu {
            sequence: own.sequence,
            sent: own.sent,
            is_decoded: own.is_decoded,
            payloads: own.frames.into_iter().map(|frame| copy(&frame.payload)).collect(),
        };
        let end = of.start + of.ppdu.duration(of.size);
        let last = Instant::ZERO + (end.since(Instant::ZERO) - of.ppdu.extension);
        self.on_air.push(Aired {
            from: StationId(u32::try_from(of.from).expect("stations are numbered so")),
            to: of.to,
            category: of.category,
            mode: of.mode,
            data: (of.start + of.ppdu.preamble, last),
            start: of.start,
            end,
            answer: of.answer,
            signal: of.signal,
            control: of.control,
            mpdus: mpdus.map(mpdu).collect(),
        });
    }

    /// An RTS is on the air, behind which nothing comes.
    pub(crate) fn request(&mut self, of: Outline) {
        self.begin(of, core::iter::empty());
        if let Some(one) = self.on_air.last_mut() {
            let end = of.start + of.control.rts;
            (one.data, one.end, one.answer) = ((of.start, end), end, Duration::ZERO);
        }
    }

    /// Ends what is on the air.
    pub(crate) fn end(&mut self) {
        // Those that collided began together.
        self.on_air.sort_by_key(|one| one.end);
        self.over.append(&mut self.on_air);
    }

    /// Forgets what is on the air, which was never sent to its end.
    pub(crate) fn forget(&mut self) {
        self.on_air.clear();
    }

    /// Hands out what is over, in order.
    pub(crate) fn take(&mut self) -> impl Iterator<Item = Aired<P>> + '_ {
        self.over.drain(..)
    }
}

/// A power above one milliwatt in thousandths of a dBm, from its ratio to that.
pub(crate) fn thousandths(of: Decibels) -> i32 {
    libm::round(of.0 * 1e3) as i32
}

//! Physical layers of 802.11: what is on the air for how long, and the times from which the rules of access are made.
//!
//! Source: IEEE 802.11-2020, clauses 15 to 21 (DSSS, CCK, OFDM, ERP, HT, VHT), and 802.11ax-2021, clause 27 (HE).
//! Differs from it: one convolutional encoder codes whatever rate, which is at most one symbol shorter; HE has no packet extension;
//! stations of all media speak one standard, so that nothing is protected from older ones.

mod channel;
mod config;
mod mode;
mod ppdu;

use crate::error::ConfigError;
use alloc::format;
pub use channel::{Band, Channel};
pub use config::{GuardInterval, PhyConfig, Preamble, SlotTime, Standard, Width};
pub use mode::Mode;
use netloom_units::{Bytes, Duration};
pub use ppdu::Ppdu;

/// Bytes of an acknowledgement and of a CTS.
pub(crate) const ACK: Bytes = Bytes::new(14);
/// Bytes of an RTS.
pub(crate) const RTS: Bytes = Bytes::new(20);
/// Bytes of a BlockAck for at most 64 MPDUs, and for more.
const BLOCK_ACK: Bytes = Bytes::new(32);
const LONG_BLOCK_ACK: Bytes = Bytes::new(56);

/// The physical layer of a medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phy {
    kind: Kind,
    /// The channel; none of frequency hopping.
    channel: Option<Channel>,
    width: Width,
    guard: GuardInterval,
    slot: Duration,
    sifs: Duration,
    contention_window: (u32, u32),
    /// Silence behind OFDM at 2.4 GHz.
    extension: Duration,
    /// Preamble and header of DSSS.
    dsss_preamble: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Frequency hopping at 1 Mbit/s.
    Fhss,
    Of(Standard),
}

impl Phy {
    /// Creates the physical layer of this description.
    ///
    /// # Errors
    /// If the standard has no such band, width or guard interval.
    pub fn new(config: &PhyConfig) -> Result<Self, ConfigError> {
        check(config)?;
        let is_2_ghz = config.channel.band() == Band::Ghz2;
        let is_b = config.standard == Standard::B;
        let is_long_slot = is_b || is_2_ghz && config.slot_time == SlotTime::Long;
        let short = config.preamble == Preamble::Short;
        Ok(Self {
            kind: Kind::Of(config.standard),
            channel: Some(config.channel),
            width: config.width,
            guard: config.guard_interval,
            slot: Duration::from_micros(if is_long_slot { 20 } else { 9 }),
            sifs: Duration::from_micros(if is_2_ghz { 10 } else { 16 }),
            contention_window: (if is_b { 31 } else { 15 }, 1_023),
            extension: Duration::from_micros(if is_2_ghz && !is_b { 6 } else { 0 }),
            dsss_preamble: Duration::from_micros(if short { 96 } else { 192 }),
        })
    }

    /// Creates the frequency-hopping layer of 802.11-1997 at 1 Mbit/s, of which Bianchi's paper has its figures: slots of 50 us,
    /// a SIFS of 28 us, 128 bits of preamble and header.
    pub fn frequency_hopping() -> Self {
        Self {
            kind: Kind::Fhss,
            channel: None,
            width: Width::default(),
            guard: GuardInterval::default(),
            slot: Duration::from_micros(50),
            sifs: Duration::from_micros(28),
            contention_window: (15, 1_023),
            extension: Duration::ZERO,
            dsss_preamble: Duration::from_micros(128),
        }
    }

    /// Returns the channel's width.
    pub fn width(&self) -> Width {
        self.width
    }

    /// Returns the channel of 20 MHz; none of the layer of 802.11-1997.
    pub fn channel(&self) -> Option<Channel> {
        self.channel
    }

    /// Returns the guard interval between symbols.
    pub fn guard_interval(&self) -> GuardInterval {
        self.guard
    }

    /// Whether rates of 802.11b have the short preamble.
    pub fn has_short_preamble(&self) -> bool {
        self.dsss_preamble < Duration::from_micros(192)
    }

    /// Returns the slot time.
    pub fn slot(&self) -> Duration {
        self.slot
    }

    /// Returns the short interframe space.
    pub fn sifs(&self) -> Duration {
        self.sifs
    }

    /// Returns the interframe space with so many slots behind the SIFS; 2 make the DIFS.
    pub fn aifs(&self, slots: u32) -> Duration {
        self.sifs + self.slot * u64::from(slots)
    }

    /// Returns the least and the largest contention window.
    pub fn contention_window(&self) -> (u32, u32) {
        self.contention_window
    }

    /// Whether frames have the QoS field, and categories and aggregates exist.
    pub fn has_qos(&self) -> bool {
        matches!(self.kind, Kind::Of(Standard::N | Standard::Ac | Standard::Ax))
    }

    /// Returns the standard; none of the layer of 802.11-1997.
    pub fn standard(&self) -> Option<Standard> {
        if let Kind::Of(standard) = self.kind { Some(standard) } else { None }
    }

    /// Returns the timing of PPDUs of a mode.
    ///
    /// # Errors
    /// If the layer has no such mode.
    pub fn ppdu(&self, mode: Mode) -> Result<Ppdu, ConfigError> {
        let found = match (self.kind, mode) {
            (Kind::Of(standard @ (Standard::N | Standard::Ac | Standard::Ax)), Mode::Mcs { index, streams }) => {
                return self.mcs(standard, index, streams);
            }
            (_, Mode::Legacy(rate)) => {
                let bits = rate.as_bits_per_second();
                bits.is_multiple_of(1_000).then(|| self.legacy(bits / 1_000)).flatten()
            }
            _ => None,
        };
        found.ok_or_else(|| ConfigError::new("rate", format!("the standard has no such rate: {mode}")))
    }

    fn mcs(&self, standard: Standard, index: u8, streams: u8) -> Result<Ppdu, ConfigError> {
        // MCS 8 of n is MCS 0 with two streams, and so on.
        let more = if standard == Standard::N { index / 8 } else { 0 };
        if more > 0 && streams != 1 {
            return Err(ConfigError::new(
                "mcs",
                "MCS 8 to 31 of 802.11n state the streams by themselves: leave them out",
            ));
        }
        mode::mcs(standard, self.width, self.guard, (index - 8 * more, streams + more), self.extension)
    }

    fn legacy(&self, kilobits: u64) -> Option<Ppdu> {
        match self.kind {
            Kind::Fhss => Some(mode::dsss(kilobits, self.dsss_preamble)?).filter(|_| kilobits == 1_000),
            Kind::Of(Standard::B) => mode::dsss(kilobits, self.dsss_preamble),
            Kind::Of(Standard::G) => {
                mode::ofdm(kilobits, self.extension).or_else(|| mode::dsss(kilobits, self.dsss_preamble))
            }
            Kind::Of(_) => mode::ofdm(kilobits, self.extension),
        }
    }

    /// Returns the timing of frames to everybody, and of the answer that takes longest: the lowest basic rate.
    pub fn basic(&self) -> Ppdu {
        let kilobits = if self.is_dsss() { 1_000 } else { 6_000 };
        self.legacy(kilobits).expect("every layer has its lowest rate")
    }

    /// Returns the timing of the control frames beside data of this mode: the highest basic rate that is not above the data's. Basic are
    /// 1 and 2 Mbit/s of DSSS, and 6, 12 and 24 Mbit/s of OFDM.
    pub fn control(&self, mode: Mode) -> Ppdu {
        let kilobits = match mode {
            Mode::Legacy(rate) => rate.as_bits_per_second() / 1_000,
            Mode::Mcs { index, .. } => {
                mode::reference(if self.standard() == Some(Standard::N) { index % 8 } else { index })
            }
        };
        let is_dsss = self.is_dsss() || kilobits < 6_000 || kilobits == 11_000;
        let basic: &[u64] = if is_dsss { &[2_000, 1_000] } else { &[24_000, 12_000, 6_000] };
        let answers = basic.iter().filter(|one| **one <= kilobits).find_map(|one| self.legacy(*one));
        answers.unwrap_or_else(|| self.basic())
    }

    fn is_dsss(&self) -> bool {
        matches!(self.kind, Kind::Fhss | Kind::Of(Standard::B))
    }

    /// Returns how much longer stations wait behind a frame that they could not decode: for the answer to it at the lowest rate.
    pub fn extended_wait(&self) -> Duration {
        self.sifs + ack(&self.basic())
    }

    /// Returns how long a sender waits behind a frame until it gives up that an answer begins: SIFS, a slot, and until a preamble
    /// is found (IEEE 802.11-2020, 10.3.2.11).
    pub fn answer_timeout(&self) -> Duration {
        let found = if self.is_dsss() { self.dsss_preamble } else { Duration::from_micros(20) };
        self.sifs + self.slot + found
    }

    /// Returns a span that every frame exceeds: the shortest preamble.
    pub fn shortest(&self) -> Duration {
        if self.is_dsss() { self.dsss_preamble } else { Duration::from_micros(20) }
    }
}

/// Returns how long an acknowledgement or a CTS takes.
pub(crate) fn ack(control: &Ppdu) -> Duration {
    control.duration(ACK)
}

/// Returns how long an RTS takes.
pub(crate) fn rts(control: &Ppdu) -> Duration {
    control.duration(RTS)
}

/// Returns how long a BlockAck for a window of so many MPDUs takes.
pub(crate) fn block_ack(control: &Ppdu, window: u32) -> Duration {
    control.duration(block_ack_size(window))
}

/// Returns the bytes of a BlockAck for a window of so many MPDUs.
pub(crate) fn block_ack_size(window: u32) -> Bytes {
    if window > 64 { LONG_BLOCK_ACK } else { BLOCK_ACK }
}

fn check(config: &PhyConfig) -> Result<(), ConfigError> {
    let (bands, widest): (&[Band], Width) = match config.standard {
        Standard::B | Standard::G => (&[Band::Ghz2], Width::Mhz20),
        Standard::A => (&[Band::Ghz5], Width::Mhz20),
        Standard::N => (&[Band::Ghz2, Band::Ghz5], Width::Mhz40),
        Standard::Ac => (&[Band::Ghz5], Width::Mhz160),
        Standard::Ax => (&[Band::Ghz2, Band::Ghz5], Width::Mhz160),
    };
    let band = config.channel.band();
    if !bands.contains(&band) {
        let right = if band == Band::Ghz2 { "5 GHz, for example 36" } else { "2.4 GHz, for example 6" };
        return Err(ConfigError::new("channel", format!("the standard has channels at {right}")));
    }
    let widest = if band == Band::Ghz2 { widest.min(Width::Mhz40) } else { widest };
    if config.width > widest {
        let message = format!("at most {} MHz are allowed here", widest.hertz() / 1_000_000);
        return Err(ConfigError::new("width", message));
    }
    let guards: &[GuardInterval] = match config.standard {
        Standard::A | Standard::B | Standard::G => &[GuardInterval::Ns800],
        Standard::N | Standard::Ac => &[GuardInterval::Ns800, GuardInterval::Ns400],
        Standard::Ax => &[GuardInterval::Ns800, GuardInterval::Ns1600, GuardInterval::Ns3200],
    };
    if !guards.contains(&config.guard_interval) {
        let message = "0.8 us is allowed with every standard, 0.4 us with n and ac, 1.6 and 3.2 us with ax";
        return Err(ConfigError::new("guard-interval", message));
    }
    Ok(())
}

#[cfg(test)]
mod tests;

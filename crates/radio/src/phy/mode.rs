//! Rates: of 802.11 a, b and g by their bits per second, of n, ac and ax by the MCS and the number of streams.

use super::config::{GuardInterval, Standard, Width};
use super::ppdu::Ppdu;
use crate::error::ConfigError;
use alloc::format;
use core::fmt;
use netloom_units::{Duration, Rate};

/// A way to modulate and code data, which decides the rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A rate of 802.11 a, b or g.
    Legacy(Rate),
    /// A modulation and coding scheme of 802.11 n, ac or ax.
    Mcs {
        /// The scheme: 0 to 7 with n, 0 to 9 with ac, 0 to 11 with ax. Of n, MCS 8 to 31 are 0 to 7 with more streams.
        index: u8,
        /// The number of spatial streams: 1 to 4 with n, 1 to 8 with ac and ax.
        streams: u8,
    },
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Legacy(rate) => rate.fmt(f),
            Self::Mcs { index, streams: 1 } => write!(f, "MCS {index}"),
            Self::Mcs { index, streams } => write!(f, "MCS {index} with {streams} streams"),
        }
    }
}

impl Mode {
    /// Returns the mode of so many kilobits per second.
    ///
    /// # Panics
    /// If there are none.
    pub const fn kilobits(per_second: u64) -> Self {
        Self::Legacy(Rate::from_bits_per_second(per_second * 1_000).expect("a rate above zero"))
    }

    /// Returns the mode of this MCS with one stream.
    pub const fn mcs(index: u8) -> Self {
        Self::Mcs { index, streams: 1 }
    }
}

/// Service field and tail of OFDM, with a single convolutional encoder.
const SERVICE_AND_TAIL: u64 = 16 + 6;

/// Bits per subcarrier, and the code rate as a fraction, by MCS (IEEE 802.11ax-2021, 27.5).
const SCHEMES: [(u64, u64, u64); 12] = [
    (1, 1, 2),
    (2, 1, 2),
    (2, 3, 4),
    (4, 1, 2),
    (4, 3, 4),
    (6, 2, 3),
    (6, 3, 4),
    (6, 5, 6),
    (8, 3, 4),
    (8, 5, 6),
    (10, 3, 4),
    (10, 5, 6),
];

/// The rates of OFDM in 20 MHz, in kilobits per second.
const OFDM: [u64; 8] = [6_000, 9_000, 12_000, 18_000, 24_000, 36_000, 48_000, 54_000];

/// The rates of DSSS and CCK, in kilobits per second.
const DSSS: [u64; 4] = [1_000, 2_000, 5_500, 11_000];

/// Returns the timing of a rate of OFDM in 20 MHz; none if there is no such rate.
pub(super) fn ofdm(kilobits: u64, extension: Duration) -> Option<Ppdu> {
    OFDM.contains(&kilobits).then(|| Ppdu {
        preamble: Duration::from_micros(20),
        symbol: Duration::from_micros(4),
        symbols: 1,
        // Kilobits per second times 4 us.
        bits: kilobits * 4 / 1_000,
        overhead: SERVICE_AND_TAIL,
        step: Duration::from_micros(4),
        extension,
    })
}

/// Returns the timing of a rate of DSSS or CCK; none if there is no such rate. The header states whole microseconds.
pub(super) fn dsss(kilobits: u64, preamble: Duration) -> Option<Ppdu> {
    DSSS.contains(&kilobits).then(|| Ppdu {
        preamble,
        symbol: Duration::from_micros(1),
        symbols: 2,
        bits: 2 * kilobits / 1_000,
        overhead: 0,
        step: Duration::from_micros(1),
        extension: Duration::ZERO,
    })
}

/// Returns the highest rate of OFDM, in kilobits per second, that answers an MCS: its modulation and code rate without the
/// streams (IEEE 802.11-2020, 10.6.11).
pub(super) fn reference(index: u8) -> u64 {
    match index {
        0 => 6_000,
        1 => 12_000,
        2 => 18_000,
        3 => 24_000,
        4 => 36_000,
        5 => 48_000,
        _ => 54_000,
    }
}

/// Returns the timing of an MCS.
pub(super) fn mcs(
    standard: Standard,
    width: Width,
    guard: GuardInterval,
    (index, streams): (u8, u8),
    extension: Duration,
) -> Result<Ppdu, ConfigError> {
    let (highest, most_streams) = match standard {
        Standard::N => (7, 4),
        Standard::Ac => (9, 8),
        Standard::Ax => (11, 8),
        Standard::A | Standard::B | Standard::G => {
            return Err(ConfigError::new("rate", "802.11 a, b and g have no MCS: write a rate, for example 24 Mbit/s"));
        }
    };
    if index > highest || !(1..=most_streams).contains(&streams) {
        let message = format!("the standard has MCS 0 to {highest} and 1 to {most_streams} streams");
        return Err(ConfigError::new("mcs", message));
    }
    if standard == Standard::Ac && is_left_out(width, index, streams) {
        return Err(ConfigError::new("mcs", "802.11ac leaves this MCS out at this width and number of streams"));
    }
    let (per_carrier, numerator, denominator) = SCHEMES[usize::from(index)];
    // An MCS of HE whose bits are no whole number has the next lower one (27.5).
    let bits = carriers(standard, width) * per_carrier * u64::from(streams) * numerator / denominator;
    let symbol = if standard == Standard::Ax { Duration::from_nanos(12_800) } else { Duration::from_nanos(3_200) };
    let symbol = symbol + duration(guard);
    // Symbols with the short guard interval fill up whole ones of 4 us (19.4.3, 21.4.3).
    let step = if standard == Standard::Ax { symbol } else { Duration::from_micros(4) };
    let preamble = preamble(standard, guard, streams);
    Ok(Ppdu { preamble, symbol, symbols: 1, bits, overhead: SERVICE_AND_TAIL, step, extension })
}

/// Whether VHT has no such MCS, since its bits do not divide up among the encoders (IEEE 802.11-2020, 21.5).
fn is_left_out(width: Width, index: u8, streams: u8) -> bool {
    match (width, index) {
        (Width::Mhz20, 9) => !matches!(streams, 3 | 6),
        (Width::Mhz80, 6) => matches!(streams, 3 | 7),
        (Width::Mhz80, 9) => streams == 6,
        (Width::Mhz160, 9) => streams == 3,
        _ => false,
    }
}

/// Subcarriers with data.
fn carriers(standard: Standard, width: Width) -> u64 {
    match (standard == Standard::Ax, width) {
        (false, Width::Mhz20) => 52,
        (false, Width::Mhz40) => 108,
        (false, Width::Mhz80) => 234,
        (false, Width::Mhz160) => 468,
        (true, Width::Mhz20) => 234,
        (true, Width::Mhz40) => 468,
        (true, Width::Mhz80) => 980,
        (true, Width::Mhz160) => 1_960,
    }
}

fn duration(guard: GuardInterval) -> Duration {
    Duration::from_nanos(match guard {
        GuardInterval::Ns400 => 400,
        GuardInterval::Ns800 => 800,
        GuardInterval::Ns1600 => 1_600,
        GuardInterval::Ns3200 => 3_200,
    })
}

/// Preamble and header: HT in mixed format, VHT, HE for a single user.
fn preamble(standard: Standard, guard: GuardInterval, streams: u8) -> Duration {
    // Three streams are trained as four, five as six, seven as eight.
    let training = u64::from(if streams > 1 { streams.next_multiple_of(2) } else { 1 });
    match standard {
        Standard::N => Duration::from_micros(32 + 4 * training),
        Standard::Ac => Duration::from_micros(36 + 4 * training),
        // A training field has 6.4 us and the guard interval, or 12.8 us with the longest one.
        _ => {
            let field = Duration::from_nanos(if guard == GuardInterval::Ns3200 { 12_800 } else { 6_400 });
            Duration::from_micros(36) + (field + duration(guard)) * training
        }
    }
}

//! How many seconds of wall time a second of lab time lasts.

use crate::decimal::Decimal;
use crate::parse::ParseError;
use crate::{Duration, Instant};
use alloc::format;
use core::cmp::Ordering;
use core::time::Duration as RealDuration;
use core::{fmt, str::FromStr};

/// The parts of one that a dilation is counted in.
const PARTS: u64 = 1_000_000;

/// By how much lab time is slower than real time: the time dilation factor (TDF) of "To Infinity and Beyond" (Gupta and
/// others, NSDI 2006), 1 to 10,000 with up to six decimals.
///
/// Real time is a [`core::time::Duration`], as the operating system's clocks and timers have it, so that the compiler
/// tells it from lab time. Both conversions are exact in 128 bits and rounded once: to real time up, to lab time down.
/// So a timer that is set for an instant of lab time never rings before it, and a span of lab time comes back unchanged
/// from the conversion there and back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dilation {
    /// In lowest terms; as large as the denominator at least.
    numerator: u64,
    /// Divides a million.
    denominator: u64,
}

impl Dilation {
    /// The dilation of lab time that passes as ours does.
    pub const ONE: Self = Self { numerator: 1, denominator: 1 };
    /// The largest: a second of the lab lasts nearly three hours.
    pub const MOST: u64 = 10_000;

    /// A whole dilation; none if it is not within 1 to [`Dilation::MOST`].
    pub const fn from_whole(factor: u64) -> Option<Self> {
        if factor >= 1 && factor <= Self::MOST { Some(Self { numerator: factor, denominator: 1 }) } else { None }
    }

    /// A dilation in millionths; none if it is not within 1 to [`Dilation::MOST`].
    pub const fn from_millionths(millionths: u64) -> Option<Self> {
        if millionths < PARTS || millionths > Self::MOST * PARTS {
            return None;
        }
        let common = greatest_common_divisor(millionths, PARTS);
        Some(Self { numerator: millionths / common, denominator: PARTS / common })
    }

    /// Returns the numerator of the dilation in lowest terms; at most 10 billion.
    pub const fn numerator(self) -> u64 {
        self.numerator
    }

    /// Returns the denominator of the dilation in lowest terms; at most a million.
    pub const fn denominator(self) -> u64 {
        self.denominator
    }

    /// Returns the dilation in millionths, exactly.
    pub const fn as_millionths(self) -> u64 {
        self.numerator * (PARTS / self.denominator)
    }

    /// The dilation as a number, for tables and plots.
    pub fn as_f64(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }

    /// How long a span of lab time lasts in real time, rounded up to the next nanosecond.
    pub fn to_real(self, lab: Duration) -> RealDuration {
        const SECOND: u128 = 1_000_000_000;
        let ns = (u128::from(lab.as_nanos()) * u128::from(self.numerator)).div_ceil(u128::from(self.denominator));
        let seconds = u64::try_from(ns / SECOND).unwrap_or(u64::MAX);
        RealDuration::new(seconds, u32::try_from(ns % SECOND).expect("a remainder is below a billion"))
    }

    /// How much lab time passes in a span of real time, rounded down to a nanosecond; saturates at [`Duration::MAX`].
    pub fn to_lab(self, real: RealDuration) -> Duration {
        // 94 bits of nanoseconds and 20 of the denominator leave room.
        let ns = real.as_nanos() * u128::from(self.denominator) / u128::from(self.numerator);
        Duration::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX))
    }

    /// The instant of lab time when `real` has passed since the run began; rounded and saturating as [`Dilation::to_lab`].
    pub fn instant_after(self, real: RealDuration) -> Instant {
        Instant::ZERO + self.to_lab(real)
    }

    /// How much real time passes from the beginning of the run to `lab`; rounded as [`Dilation::to_real`].
    pub fn real_until(self, lab: Instant) -> RealDuration {
        self.to_real(lab.since(Instant::ZERO))
    }
}

impl Ord for Dilation {
    /// By how slow they are.
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_millionths().cmp(&other.as_millionths())
    }
}

impl PartialOrd for Dilation {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Default for Dilation {
    fn default() -> Self {
        Self::ONE
    }
}

const fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

impl fmt::Display for Dilation {
    /// The number with every digit.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.as_millionths() / PARTS, self.as_millionths() % PARTS);
        let text = format!("{whole}.{rest:06}");
        f.pad(text.trim_end_matches('0').trim_end_matches('.'))
    }
}

impl FromStr for Dilation {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        const EXAMPLE: &str = "write how many seconds a second of the lab lasts, for example 10 or 2.5";
        let wrong = |why: &str| ParseError::new(format!("\"{text}\" {why}"));
        let trimmed = text.trim();
        if trimmed.starts_with('-') {
            return Err(wrong(&format!("is below zero, and time does not run backwards: {EXAMPLE}")));
        }
        let decimal = Decimal::parse(trimmed).ok_or_else(|| wrong(&format!("is not a number: {EXAMPLE}")))?;
        if decimal.is_zero() {
            return Err(wrong(&format!("is zero, and time would pass infinitely fast: {EXAMPLE}")));
        }
        if decimal.is_above(Self::MOST) {
            return Err(wrong(&format!(
                "is too large, a second of the lab would last hours: write at most {}; virtual time \
                 (`clock: virtual`) is exact at any speed",
                Self::MOST
            )));
        }
        if decimal.is_below(1) {
            return Err(wrong(
                "is below 1, and lab time would pass faster than wall time, which no machine can guarantee: write 1 or more, \
                 or use virtual time (`clock: virtual`), which passes as fast as the machine computes",
            ));
        }
        let millionths = decimal.times(PARTS).map_err(|_| wrong("has more than six decimals: round it"))?;
        Self::from_millionths(millionths).ok_or_else(|| wrong(&format!("is not a dilation: {EXAMPLE}")))
    }
}

//! Rates in bits per second, and exact serialization times.

use crate::parse::{Family, ParseError, Unit};
use crate::{Bytes, Duration};
use alloc::format;
use core::{fmt, num::NonZeroU64, str::FromStr};

const FAMILY: Family = Family {
    what: "a rate",
    example: "100 Mbit/s",
    base: "bits per second",
    units: &[
        Unit { name: "bit/s", factor: 1 },
        Unit { name: "kbit/s", factor: 1_000 },
        Unit { name: "Mbit/s", factor: 1_000_000 },
        Unit { name: "Gbit/s", factor: 1_000_000_000 },
        Unit { name: "Tbit/s", factor: 1_000_000_000_000 },
        Unit { name: "B/s", factor: 8 },
        Unit { name: "kB/s", factor: 8_000 },
        Unit { name: "MB/s", factor: 8_000_000 },
        Unit { name: "GB/s", factor: 8_000_000_000 },
    ],
    ambiguous: &[
        ("bps", "write bit/s for bits or B/s for bytes per second"),
        ("kbps", "write kbit/s for bits or kB/s for bytes per second"),
        ("Kbps", "write kbit/s for bits or kB/s for bytes per second"),
        ("mbps", "write Mbit/s for bits or MB/s for bytes per second"),
        ("Mbps", "write Mbit/s for bits or MB/s for bytes per second"),
        ("gbps", "write Gbit/s for bits or GB/s for bytes per second"),
        ("Gbps", "write Gbit/s for bits or GB/s for bytes per second"),
        ("kbit", "write kbit/s"),
        ("mbit", "write Mbit/s"),
        ("Mbit", "write Mbit/s"),
        ("Mb/s", "write Mbit/s for bits or MB/s for bytes per second"),
        ("gbit", "write Gbit/s"),
        ("Gbit", "write Gbit/s"),
        ("Gb/s", "write Gbit/s for bits or GB/s for bytes per second"),
    ],
};

/// A positive number of bits per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(NonZeroU64);

impl Rate {
    /// The rate of `bits` per second; none for zero, since a link of rate zero never sends and is written `down`.
    pub const fn from_bits_per_second(bits: u64) -> Option<Self> {
        match NonZeroU64::new(bits) {
            Some(bits_per_second) => Some(Self(bits_per_second)),
            None => None,
        }
    }

    /// Bits per second.
    pub const fn as_bits_per_second(self) -> u64 {
        self.0.get()
    }

    /// How long `size` takes on the wire, rounded up to the next nanosecond; [`Serializer`] keeps the remainder.
    #[inline]
    pub fn serialization_delay(self, size: Bytes) -> Duration {
        let delay = bit_nanoseconds(size).div_ceil(u128::from(self.0.get()));
        Duration::from_nanos(u64::try_from(delay).unwrap_or(u64::MAX))
    }

    /// How many bytes leave in `span`, rounded down.
    pub fn bytes_in(self, span: Duration) -> Bytes {
        let bytes = u128::from(self.0.get()) * u128::from(span.as_nanos()) / 8_000_000_000;
        Bytes::new(u64::try_from(bytes).unwrap_or(u64::MAX))
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        FAMILY.display(self.0.get(), &["bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"], f)
    }
}

impl FromStr for Rate {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let bits = FAMILY.parse(text)?;
        Self::from_bits_per_second(bits).ok_or_else(|| {
            ParseError::new(format!(
                "\"{text}\" is zero and nothing would ever leave; to cut a link, write `down` in the timeline"
            ))
        })
    }
}

/// Bits times the nanoseconds of a second: dividing by bits per second gives nanoseconds.
fn bit_nanoseconds(size: Bytes) -> u128 {
    u128::from(size.get()) * 8_000_000_000
}

/// Serialization times that keep their remainders, so that a rate is exact over any length of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Serializer {
    /// Bit-nanoseconds that the last packet still owed when its whole nanoseconds were over.
    remainder: u64,
}

impl Serializer {
    /// How long `size` takes at `rate` when it directly follows the packet before it.
    ///
    /// The fraction of a nanosecond that is left over is carried to the next packet: after any number of back-to-back
    /// packets the sum of all delays is the exact time, rounded down.
    #[inline]
    pub fn next(&mut self, rate: Rate, size: Bytes) -> Duration {
        let bits = rate.as_bits_per_second();
        // The remainder of a former, faster rate may exceed this rate: taking it modulo loses less than a nanosecond.
        // It seldom does, and a division costs more than all else here.
        let owed = if self.remainder < bits { self.remainder } else { self.remainder % bits };
        let total = bit_nanoseconds(size) + u128::from(owed);
        let (nanos, remainder) = divide(total, bits);
        self.remainder = remainder;
        Duration::from_nanos(nanos)
    }

    /// How long the rest of a packet takes at the rate `new`, when it would have taken `left` more at `old`.
    ///
    /// Exact: the fraction that [`Serializer::next`] cut off is part of the rest.
    pub fn change_rate(&mut self, left: Duration, old: Rate, new: Rate) -> Duration {
        let owed = self.owed(left, old);
        self.rest(new, owed)
    }

    /// Returns how much of a packet is still to be sent at `rate` when it takes `left` more, in billionths of a bit.
    pub fn owed(&self, left: Duration, rate: Rate) -> u128 {
        u128::from(left.as_nanos()) * u128::from(rate.as_bits_per_second()) + u128::from(self.remainder)
    }

    /// Returns how long `owed` billionths of a bit take at `rate`; what was owed before is part of them.
    pub fn rest(&mut self, rate: Rate, owed: u128) -> Duration {
        let (nanos, remainder) = divide(owed, rate.as_bits_per_second());
        self.remainder = remainder;
        Duration::from_nanos(nanos)
    }

    /// Forgets the remainder: the transmitter was idle, and the next packet starts at a whole nanosecond.
    pub fn restart(&mut self) {
        self.remainder = 0;
    }
}

/// Quotient and remainder; in 64 bits where the numbers allow, since a 128-bit division costs ten times as much.
fn divide(total: u128, divisor: u64) -> (u64, u64) {
    if let Ok(small) = u64::try_from(total) {
        return (small / divisor, small % divisor);
    }
    let wide = u128::from(divisor);
    let quotient = u64::try_from(total / wide).unwrap_or(u64::MAX);
    (quotient, u64::try_from(total % wide).expect("a remainder is below its divisor"))
}

//! How much a queue may hold.

use crate::parse::{Family, ParseError, Unit};
use crate::{Bytes, Duration, size};
use alloc::format;
use core::{fmt, str::FromStr};

const PACKETS: Family = Family {
    what: "a queue limit",
    example: "100 packets",
    base: "packets",
    units: &[Unit { name: "packets", factor: 1 }, Unit { name: "packet", factor: 1 }],
    ambiguous: &[],
};

/// The limit of a queue: in packets, in bytes or in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Limit {
    /// At most this many packets wait; the segments of a super-packet count one by one.
    Packets(u32),
    /// At most this many bytes wait.
    Bytes(Bytes),
    /// No packet waits longer than this before its transmission begins.
    Time(Duration),
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Packets(1) => f.pad("1 packet"),
            Self::Packets(packets) => f.pad(&format!("{packets} packets")),
            Self::Bytes(bytes) => bytes.fmt(f),
            Self::Time(span) => span.fmt(f),
        }
    }
}

impl FromStr for Limit {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        if text.trim_end().ends_with("packets") || text.trim_end().ends_with("packet") {
            let packets = PACKETS.parse(text)?;
            return u32::try_from(packets)
                .map(Self::Packets)
                .map_err(|_| ParseError::new(format!("\"{text}\" is too large: at most {} packets", u32::MAX)));
        }
        if let Ok(span) = text.parse::<Duration>() {
            return Ok(Self::Time(span));
        }
        size::FAMILY.parse(text).map(|bytes| Self::Bytes(Bytes::new(bytes))).map_err(|error| {
            if text.trim_start().starts_with('-') {
                return error;
            }
            ParseError::new(format!(
                "\"{text}\" is not a queue limit: write \"100 packets\", \"64 kB\" (B, kB, MB, GB, KiB, MiB, GiB) \
                 or \"50 ms\" (ns, us, ms, s)"
            ))
        })
    }
}

//! How long a processor is busy with packets.

use crate::parse::{Family, ParseError, Unit};
use crate::{Bytes, Duration};
use core::{fmt, str::FromStr};

const FAMILY: Family = Family {
    what: "a time per byte",
    example: "0.5 ns",
    base: "picoseconds",
    units: &[
        Unit { name: "ps", factor: 1 },
        Unit { name: "ns", factor: 1_000 },
        Unit { name: "us", factor: 1_000_000 },
        Unit { name: "µs", factor: 1_000_000 },
    ],
    ambiguous: &[],
};

/// A time for each byte, in whole picoseconds: a processor that needs 8 of them per byte keeps up with 1 Tbit/s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimePerByte(u64);

impl TimePerByte {
    /// Bytes take no time.
    pub const ZERO: Self = Self(0);

    /// A time of `ps` picoseconds for each byte.
    pub const fn from_picos(ps: u64) -> Self {
        Self(ps)
    }

    /// Picoseconds for each byte.
    pub const fn as_picos(self) -> u64 {
        self.0
    }
}

impl fmt::Display for TimePerByte {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        FAMILY.display(self.0, &["ps", "ns", "us"], f)
    }
}

impl FromStr for TimePerByte {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        FAMILY.parse(text).map(Self)
    }
}

/// What a node's work costs its processor, where computing itself takes no time: packets that it receives or sends, and
/// what its programs ask of its kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CpuCost {
    /// For each packet, whatever its size.
    pub packet: Duration,
    /// And for each of its bytes.
    pub byte: TimePerByte,
    /// For each system call of a program; none: what a kernel takes for it by default.
    pub syscall: Option<Duration>,
    /// For each switch from one task to another; none: the same.
    pub switch: Option<Duration>,
}

impl CpuCost {
    /// Whether packets take no time.
    pub const fn is_zero(self) -> bool {
        self.packet.is_zero() && self.byte.as_picos() == 0
    }

    /// How long the processor is busy with one packet of this size, rounded up to the next nanosecond.
    pub fn of(self, size: Bytes) -> Duration {
        let ps = u128::from(size.get()) * u128::from(self.byte.as_picos());
        self.packet + Duration::from_nanos(u64::try_from(ps.div_ceil(1_000)).unwrap_or(u64::MAX))
    }
}

//! How long a processor is busy with packets.

use crate::parse::{Family, ParseError, Unit};
use crate::{Bytes, Duration};
use core::{fmt, str::FromStr};

const UNITS: &[Unit] = &[
    Unit { name: "ps", factor: 1 },
    Unit { name: "ns", factor: 1_000 },
    Unit { name: "us", factor: 1_000_000 },
    Unit { name: "µs", factor: 1_000_000 },
];

/// A time for each of many, in whole picoseconds.
macro_rules! time_per {
    ($(#[$doc:meta])* $name:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u64);

        impl $name {
            const FAMILY: Family =
                Family { what: $what, example: "0.5 ns", base: "picoseconds", units: UNITS, ambiguous: &[] };

            /// They take no time.
            pub const ZERO: Self = Self(0);

            /// A time of `ps` picoseconds for each.
            pub const fn from_picos(ps: u64) -> Self {
                Self(ps)
            }

            /// Picoseconds for each.
            pub const fn as_picos(self) -> u64 {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                Self::FAMILY.display(self.0, &["ps", "ns", "us"], f)
            }
        }

        impl FromStr for $name {
            type Err = ParseError;
            fn from_str(text: &str) -> Result<Self, ParseError> {
                Self::FAMILY.parse(text).map(Self)
            }
        }
    };
}

time_per! {
    /// A time for each byte, in whole picoseconds: a processor that needs 8 of them per byte keeps up with 1 Tbit/s.
    TimePerByte, "a time per byte"
}

time_per! {
    /// A time for each conditional branch of a program, in whole picoseconds.
    TimePerBranch, "a time per branch"
}

/// The processor time that programs take for computing, by the conditional branches that they retire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Computing {
    /// The time for each branch, taken or not; not zero.
    pub branch: TimePerBranch,
    /// The way in which the branches are counted.
    pub count: BranchCount,
}

/// A way in which branches are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BranchCount {
    /// The processor counts them, where it can.
    #[default]
    Processor,
    /// The program is interrupted after each instruction: slow and exact on every processor.
    Steps,
}

impl BranchCount {
    /// Returns the word of lab files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Processor => "processor",
            Self::Steps => "steps",
        }
    }
}

/// A level of x86-64 processors, as the psABI defines them ("System V Application Binary Interface, AMD64", section 3.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CpuLevel {
    /// All processors have it, with SSE2.
    V1,
    /// SSE4.2 and POPCNT come with it: processors since 2009.
    V2,
    /// AVX2, BMI2 and FMA come with it: processors since 2013 to 2017.
    V3,
    /// AVX-512 (F, BW, CD, DQ, VL) comes with it.
    V4,
}

impl CpuLevel {
    /// Returns the word of lab files, which compilers know, too.
    pub const fn name(self) -> &'static str {
        match self {
            Self::V1 => "x86-64",
            Self::V2 => "x86-64-v2",
            Self::V3 => "x86-64-v3",
            Self::V4 => "x86-64-v4",
        }
    }
}

/// The processor time of a node's work, where computing itself takes no time: of packets that it receives or sends, and of
/// what its programs ask of its kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CpuCost {
    /// The time for each packet, whatever its size.
    pub packet: Duration,
    /// The time for each byte of a packet, in addition.
    pub byte: TimePerByte,
    /// The time for each system call of a program; none: what a kernel takes for it by default.
    pub syscall: Option<Duration>,
    /// The time for each switch from one task to another; none: what a kernel takes for it by default.
    pub switch: Option<Duration>,
    /// The cost of computing; none: it takes no time.
    pub computing: Option<Computing>,
}

impl CpuCost {
    /// Whether packets take no time.
    pub const fn is_zero(self) -> bool {
        self.packet.is_zero() && self.byte.as_picos() == 0
    }

    /// Returns how long the processor is busy with one packet of this size, rounded up to the next nanosecond.
    pub fn of(self, size: Bytes) -> Duration {
        let ps = u128::from(size.get()) * u128::from(self.byte.as_picos());
        self.packet + Duration::from_nanos(u64::try_from(ps.div_ceil(1_000)).unwrap_or(u64::MAX))
    }
}

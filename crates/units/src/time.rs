//! Instants and durations in whole nanoseconds of lab time.

use crate::parse::{Family, ParseError, Unit};
use core::{fmt, ops, str::FromStr};

const FAMILY: Family = Family {
    what: "a duration",
    example: "20 ms",
    base: "nanoseconds",
    units: &[
        Unit { name: "ns", factor: 1 },
        Unit { name: "us", factor: 1_000 },
        Unit { name: "ms", factor: 1_000_000 },
        Unit { name: "s", factor: 1_000_000_000 },
        Unit { name: "min", factor: 60_000_000_000 },
        Unit { name: "h", factor: 3_600_000_000_000 },
        Unit { name: "µs", factor: 1_000 },
    ],
    ambiguous: &[("m", "write min for minutes or ms for milliseconds")],
};

/// A span of lab time, 0 to 584 years, in whole nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(u64);

impl Duration {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// The longest span that can be represented.
    pub const MAX: Self = Self(u64::MAX);

    /// A span of `ns` nanoseconds.
    pub const fn from_nanos(ns: u64) -> Self {
        Self(ns)
    }

    /// A span of `us` microseconds; saturates at [`Duration::MAX`].
    pub const fn from_micros(us: u64) -> Self {
        Self(us.saturating_mul(1_000))
    }

    /// A span of `ms` milliseconds; saturates at [`Duration::MAX`].
    pub const fn from_millis(ms: u64) -> Self {
        Self(ms.saturating_mul(1_000_000))
    }

    /// A span of `s` seconds; saturates at [`Duration::MAX`].
    pub const fn from_secs(s: u64) -> Self {
        Self(s.saturating_mul(1_000_000_000))
    }

    /// The span in nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// The span in microseconds, for tables and plots.
    pub fn as_micros_f64(self) -> f64 {
        self.0 as f64 / 1e3
    }

    /// The span in milliseconds, for tables and plots.
    pub fn as_millis_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// The span in seconds, for tables and plots.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Whether no time passes.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
}

impl ops::Add for Duration {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl ops::Sub for Duration {
    type Output = Self;
    /// The rest of the span, zero if `other` is longer.
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl ops::Mul<u64> for Duration {
    type Output = Self;
    fn mul(self, times: u64) -> Self {
        Self(self.0.saturating_mul(times))
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        FAMILY.display(self.0, &["ns", "us", "ms", "s"], f)
    }
}

impl FromStr for Duration {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        FAMILY.parse(text).map(Self)
    }
}

/// A point of lab time: nanoseconds since the run began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

impl Instant {
    /// The beginning of the run.
    pub const ZERO: Self = Self(0);
    /// Later than every event.
    pub const MAX: Self = Self(u64::MAX);

    /// The point `ns` nanoseconds after the beginning.
    pub const fn from_nanos(ns: u64) -> Self {
        Self(ns)
    }

    /// Nanoseconds since the beginning.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// The time that passed since `earlier`, zero if that is later.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

impl ops::Add<Duration> for Instant {
    type Output = Self;
    fn add(self, span: Duration) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl ops::Sub<Duration> for Instant {
    type Output = Self;
    /// The point `span` earlier, the beginning if that would lie before it.
    fn sub(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(span.0))
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Duration(self.0).fmt(f)
    }
}

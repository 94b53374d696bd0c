//! Spans of time of either sign, and how much faster or slower than another a clock runs.

use crate::Duration;
use crate::parse::{Family, ParseError, Unit};
use alloc::format;
use core::{fmt, str::FromStr};

/// A span of lab time of either sign, up to 292 years, in whole nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SignedDuration(i64);

impl SignedDuration {
    /// No time at all.
    pub const ZERO: Self = Self(0);

    /// A span of `ns` nanoseconds; forward, if they are above zero.
    pub const fn from_nanos(ns: i64) -> Self {
        Self(ns)
    }

    /// A span forward; none if it is longer than 292 years.
    pub fn forward(span: Duration) -> Option<Self> {
        i64::try_from(span.as_nanos()).ok().map(Self)
    }

    /// The span in nanoseconds.
    pub const fn as_nanos(self) -> i64 {
        self.0
    }

    /// Whether no time passes.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
}

impl fmt::Display for SignedDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        f.pad(&format!("{sign}{}", Duration::from_nanos(self.0.unsigned_abs())))
    }
}

impl FromStr for SignedDuration {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let (is_negative, span) = split_sign(text);
        let size = Self::forward(span.parse()?)
            .ok_or_else(|| ParseError::new(format!("\"{text}\" is too large: write 292 years at most")))?;
        Ok(Self(if is_negative { -size.0 } else { size.0 }))
    }
}

const FAMILY: Family = Family {
    what: "a drift",
    example: "200 ppm",
    base: "parts per trillion",
    units: &[
        Unit { name: "ppm", factor: 1_000_000 },
        Unit { name: "ppb", factor: 1_000 },
        Unit { name: "%", factor: 10_000_000_000 },
    ],
    ambiguous: &[],
};

/// How much faster than another a clock runs; below zero, slower. In whole parts per trillion, at most a tenth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Drift(i64);

impl Drift {
    /// As fast as the other.
    pub const ZERO: Self = Self(0);
    /// The most in either direction, in parts per trillion: what Linux can slow its clocks down or speed them up by (adjtimex(2):
    /// a tick of 9,000 to 11,000 us).
    pub const MOST_PPT: i64 = 100_000_000_000;

    /// A drift in parts per trillion; none if it is more than [`Drift::MOST_PPT`].
    pub const fn from_ppt(ppt: i64) -> Option<Self> {
        if ppt.unsigned_abs() <= Self::MOST_PPT.unsigned_abs() { Some(Self(ppt)) } else { None }
    }

    /// The drift in parts per trillion.
    pub const fn as_ppt(self) -> i64 {
        self.0
    }

    /// Whether the clock runs as fast as the other.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
}

impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        struct Size(u64);
        impl fmt::Display for Size {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                FAMILY.display(self.0, &["ppm"], f)
            }
        }
        let sign = if self.0 < 0 { "-" } else { "" };
        f.pad(&format!("{sign}{}", Size(self.0.unsigned_abs())))
    }
}

impl FromStr for Drift {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let (is_negative, size) = split_sign(text);
        let ppt = i64::try_from(FAMILY.parse(size)?).ok();
        let drift = ppt.and_then(|ppt| Self::from_ppt(if is_negative { -ppt } else { ppt }));
        drift.ok_or_else(|| {
            ParseError::new(format!(
                "\"{text}\" is too much: Linux speeds its clocks up or slows them down by 10 % at most"
            ))
        })
    }
}

/// Whether there is a minus sign in front, and what is behind the sign.
fn split_sign(text: &str) -> (bool, &str) {
    let trimmed = text.trim();
    match (trimmed.strip_prefix('-'), trimmed.strip_prefix('+')) {
        (Some(rest), _) => (true, rest.trim_start()),
        (None, Some(rest)) => (false, rest.trim_start()),
        (None, None) => (false, trimmed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn spans_have_a_sign() {
        let read = |text: &str| text.parse::<SignedDuration>().map(SignedDuration::as_nanos).ok();
        assert_eq!(read("3 s"), Some(3_000_000_000));
        assert_eq!(read("-40 ms"), Some(-40_000_000));
        assert_eq!(read("+ 1 ns"), Some(1));
        assert_eq!(read("-0 s"), Some(0));
        assert_eq!([read("--1 s"), read("3"), read("-"), read("1 lightyear"), read("5000000 h")], [None; 5]);
        for text in ["-40 ms", "3 s", "1.5 us", "0 ns"] {
            assert_eq!(text.parse::<SignedDuration>().unwrap().to_string(), text);
        }
        assert_eq!(SignedDuration::from_nanos(i64::MIN).to_string(), "-9223372036.854775808 s");
    }

    #[test]
    fn drifts_are_exact_and_bounded() {
        let read = |text: &str| text.parse::<Drift>().map(Drift::as_ppt).ok();
        assert_eq!(read("200 ppm"), Some(200_000_000));
        assert_eq!(read("-0.5 ppm"), Some(-500_000));
        assert_eq!(read("7 ppb"), Some(7_000));
        assert_eq!(read("10 %"), Some(Drift::MOST_PPT));
        assert_eq!(read("-100000 ppm"), Some(-Drift::MOST_PPT));
        assert_eq!([read("100000.000001 ppm"), read("11 %"), read("1"), read("0.0000001 ppm")], [None; 4]);
        for text in ["200 ppm", "-0.5 ppm", "100000 ppm", "0 ppm"] {
            assert_eq!(text.parse::<Drift>().unwrap().to_string(), text);
        }
    }
}

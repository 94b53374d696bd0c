//! Probabilities as whole parts per trillion.

use crate::parse::{Family, ParseError, Unit};
use alloc::format;
use core::{fmt, str::FromStr};

const PARTS: u64 = 1_000_000_000_000;

const FAMILY: Family = Family {
    what: "a probability",
    example: "0.1 %",
    base: "10^-10 %",
    units: &[Unit { name: "%", factor: PARTS / 100 }],
    ambiguous: &[],
};

/// A probability from 0 to 1 in steps of 10^-12.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Probability(u64);

impl Probability {
    /// Never.
    pub const ZERO: Self = Self(0);
    /// Always.
    pub const ONE: Self = Self(PARTS);

    /// `parts` of 10^12; none above 1.
    pub const fn from_parts_per_trillion(parts: u64) -> Option<Self> {
        if parts > PARTS { None } else { Some(Self(parts)) }
    }

    /// Parts of 10^12.
    pub const fn as_parts_per_trillion(self) -> u64 {
        self.0
    }

    /// The probability as a fraction from 0 to 1.
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / PARTS as f64
    }

    /// Whether it never happens.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Whether it happens, for a number drawn uniformly from all of `u64`.
    ///
    /// The number is scaled to parts per trillion, so that probability 1 always happens and 0 never.
    pub fn happens(self, drawn: u64) -> bool {
        Self::either_happens(&[self], drawn)
    }

    /// Whether one of several things happens that exclude each other, for a number drawn uniformly from all of `u64`: the
    /// first if the number is below its probability, the second if it is below the sum of both, and so on.
    pub fn either_happens(parts: &[Self], drawn: u64) -> bool {
        let sum: u64 = parts.iter().map(|part| part.0).sum();
        (u128::from(drawn) * u128::from(PARTS)) >> 64 < u128::from(sum)
    }
}

impl fmt::Display for Probability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        FAMILY.display(self.0, &["%"], f)
    }
}

impl FromStr for Probability {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let parts = FAMILY.parse(text)?;
        Self::from_parts_per_trillion(parts).ok_or_else(|| {
            ParseError::new(format!("\"{text}\" is more than 100 %: a probability lies between 0 % and 100 %"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_several_happens_below_their_sum() {
        let quarter = Probability(PARTS / 4);
        // A quarter of 2^64 is 2^62, a half 2^63.
        assert!(quarter.happens((1 << 62) - 1) && !quarter.happens(1 << 62));
        let both = [quarter, quarter];
        assert!(Probability::either_happens(&both, (1 << 63) - 1) && !Probability::either_happens(&both, 1 << 63));
        assert!(Probability::either_happens(&[Probability::ONE, Probability::ONE], u64::MAX));
        assert!(!Probability::either_happens(&[], 0));
    }
}

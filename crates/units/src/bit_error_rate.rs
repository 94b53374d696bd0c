//! Bit error rates as exact fractions.

use crate::{Decimal, ParseError};
use alloc::{format, string::String};
use core::{fmt, str::FromStr};

/// How many bits of how many arrive wrong: above 0 and at most 1, exactly.
///
/// A [`Probability`](crate::Probability) has steps of 10^-12; links of today have rates like 10^-15. Hence a fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BitErrorRate {
    wrong: u64,
    bits: u64,
}

/// The most zeros of a power of ten that fits a `u64` and leaves room for what is above one.
const MOST_DECIMALS: u32 = 18;

impl BitErrorRate {
    /// `wrong` bits of `bits`; none unless that is above 0 and at most 1.
    pub const fn new(mut wrong: u64, mut bits: u64) -> Option<Self> {
        if wrong == 0 || wrong > bits {
            return None;
        }
        // One number has one form, so that 10 in 100 equals 1 in 10.
        while wrong.is_multiple_of(10) && bits.is_multiple_of(10) {
            wrong /= 10;
            bits /= 10;
        }
        Some(Self { wrong, bits })
    }

    /// The rate as a fraction from 0 to 1.
    pub fn as_f64(self) -> f64 {
        self.wrong as f64 / self.bits as f64
    }

    /// `2.5e-7` or `0.001`: digits over a power of ten.
    fn parse_decimal(text: &str) -> Option<Self> {
        let (number, exponent) = text.split_once("e-").unwrap_or((text, "0"));
        if !exponent.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let (wrong, power) = Decimal::parse(number)?.parts();
        let decimals = power.unsigned_abs().checked_add(exponent.parse().ok()?)?;
        let bits = 10_u64.checked_pow(decimals).filter(|_| decimals <= MOST_DECIMALS)?;
        Self::new(u64::try_from(wrong).ok()?, bits)
    }

    /// `1 in 300000`.
    fn parse_fraction(text: &str) -> Option<Self> {
        let (wrong, bits) = text.split_once(" in ")?;
        Self::new(wrong.trim().parse().ok()?, bits.trim().parse().ok()?)
    }
}

impl fmt::Display for BitErrorRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = self.bits.ilog10();
        if 10_u64.pow(decimals) != self.bits {
            return f.pad(&format!("{} in {}", self.wrong, self.bits));
        }
        let digits = format!("{}", self.wrong);
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { String::new() } else { format!(".{rest}") };
        let behind = u32::try_from(rest.len()).expect("a u64 has twenty digits at most");
        match decimals - behind {
            0 => f.pad(first),
            exponent => f.pad(&format!("{first}{point}e-{exponent}")),
        }
    }
}

impl FromStr for BitErrorRate {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let trimmed = text.trim();
        Self::parse_decimal(trimmed).or_else(|| Self::parse_fraction(trimmed)).ok_or_else(|| {
            ParseError::new(format!(
                "\"{text}\" is not a bit error rate: write a number above 0 and at most 1 with at most {MOST_DECIMALS} \
                 decimals, like \"1e-9\" or \"1 in 300000\""
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    fn parsed(text: &str) -> Option<(u64, u64)> {
        text.parse::<BitErrorRate>().ok().map(|rate| (rate.wrong, rate.bits))
    }

    #[test]
    fn both_forms_are_exact() {
        assert_eq!(parsed("1e-9"), Some((1, 1_000_000_000)));
        assert_eq!(parsed("10e-10"), Some((1, 1_000_000_000)));
        assert_eq!(parsed("2.50e-7"), Some((25, 100_000_000)));
        assert_eq!(parsed("1e-18"), Some((1, 1_000_000_000_000_000_000)));
        assert_eq!(parsed("0.001"), Some((1, 1_000)));
        assert_eq!(parsed("1"), Some((1, 1)));
        assert_eq!(parsed(" 1 in 300000 "), Some((1, 300_000)));
        assert_eq!(parsed("20 in 100"), Some((2, 10)));
    }

    #[test]
    fn what_is_no_rate_is_refused() {
        for text in
            ["", "0", "0e-3", "1.1", "1e-19", "1e9", "-1e-9", "e-9", "1.e-9", ".1", "1 in 0", "3 in 2", "1 %", "1e-"]
        {
            assert_eq!(parsed(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_written_can_be_read() {
        for (text, written) in [
            ("1e-9", "1e-9"),
            ("0.00025", "2.5e-4"),
            ("1", "1"),
            ("1 in 300000", "1 in 300000"),
            ("7 in 1000", "7e-3"),
            ("123 in 1000", "1.23e-1"),
        ] {
            let rate: BitErrorRate = text.parse().expect("a rate");
            assert_eq!(rate.to_string(), written);
            assert_eq!(written.parse(), Ok(rate));
        }
    }
}

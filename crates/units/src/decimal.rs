//! Decimal numbers as people and programs write them, exactly.

use core::cmp::Ordering;

/// The digits that a number has at most; nobody writes more, and 128 bits have room for them.
const MOST_DIGITS: usize = 30;

/// A decimal number that is not negative: digits times a power of ten.
#[derive(Clone, Copy, Debug)]
pub struct Decimal {
    digits: u128,
    power: i32,
}

/// The reason why a number times a factor is no whole number of 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inexact {
    /// A fraction is left.
    Fraction,
    /// The product is too large.
    TooLarge,
}

impl Decimal {
    /// Reads a number as lab files have it: digits, and perhaps a point between two of them. Returns none for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
        if whole.is_empty() || fraction.is_empty() { None } else { Self::of_parts(whole, fraction, 0) }
    }

    /// Reads a number as `strtod` of C does, which most other programs use: also `.5`, `5.`, `1e-3` and `2.5E+6`. Returns none for
    /// any other text.
    pub fn parse_scientific(text: &str) -> Option<Self> {
        let (mantissa, power) = match text.find(['e', 'E']) {
            Some(at) => (&text[..at], text[at + 1..].parse().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        if whole.is_empty() && fraction.is_empty() { None } else { Self::of_parts(whole, fraction, power) }
    }

    fn of_parts(whole: &str, fraction: &str, power: i32) -> Option<Self> {
        if whole.len() + fraction.len() > MOST_DIGITS {
            return None;
        }
        let mut digits: u128 = 0;
        let significant = fraction.trim_end_matches('0');
        for c in whole.chars().chain(significant.chars()) {
            digits = digits.checked_mul(10)?.checked_add(u128::from(c.to_digit(10)?))?;
        }
        let power = power.checked_sub(i32::try_from(significant.len()).ok()?)?;
        Some(Self { digits, power: if digits == 0 { 0 } else { power } })
    }

    /// Returns the digits as a whole number, and the power of ten with which they are multiplied.
    pub fn parts(self) -> (u128, i32) {
        (self.digits, self.power)
    }

    /// Returns whether the number is zero.
    pub fn is_zero(self) -> bool {
        self.digits == 0
    }

    /// Returns whether the number is more than `whole`, to the last digit.
    pub fn is_above(self, whole: u64) -> bool {
        self.compared(whole).is_gt()
    }

    /// Returns whether the number is less than `whole`, to the last digit.
    pub fn is_below(self, whole: u64) -> bool {
        self.compared(whole).is_lt()
    }

    fn compared(self, whole: u64) -> Ordering {
        let ten = 10_u128.saturating_pow(self.power.unsigned_abs());
        let (ours, rest) =
            if self.power < 0 { (self.digits / ten, self.digits % ten) } else { (self.digits.saturating_mul(ten), 0) };
        ours.cmp(&u128::from(whole)).then(rest.cmp(&0))
    }

    /// Returns the number times `factor`.
    ///
    /// # Errors
    /// When that is not whole, or does not fit.
    pub fn times(self, factor: u64) -> Result<u64, Inexact> {
        let product = self.digits.checked_mul(u128::from(factor)).ok_or(Inexact::TooLarge)?;
        let ten = 10_u128.checked_pow(self.power.unsigned_abs());
        let value = match (product, ten) {
            (0, _) => Some(0),
            (_, Some(divisor)) if self.power < 0 && product.is_multiple_of(divisor) => Some(product / divisor),
            _ if self.power < 0 => return Err(Inexact::Fraction),
            (_, Some(multiplier)) => product.checked_mul(multiplier),
            (_, None) => None,
        };
        value.and_then(|whole| u64::try_from(whole).ok()).ok_or(Inexact::TooLarge)
    }

    /// Returns the number times ten to the power of `power`, to the nearest whole number, and whether nothing was rounded. Returns
    /// none if the result does not fit.
    pub fn scaled(self, power: i32) -> Option<(u128, bool)> {
        if self.digits == 0 {
            return Some((0, true));
        }
        let shift = self.power.checked_add(power)?;
        let ten = 10_u128.checked_pow(shift.unsigned_abs());
        if shift >= 0 {
            return self.digits.checked_mul(ten?).map(|value| (value, true));
        }
        // A number of thirty digits is nothing beside a divisor that does not fit.
        Some(
            ten.map_or((0, false), |divisor| {
                ((self.digits + divisor / 2) / divisor, self.digits.is_multiple_of(divisor))
            }),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_programs_write_more_than_lab_files() {
        let both =
            |text| (Decimal::parse(text).map(Decimal::parts), Decimal::parse_scientific(text).map(Decimal::parts));
        for (text, parts) in [("0", (0, 0)), ("20", (20, 0)), ("2.50", (25, -1)), ("0.001", (1, -3)), ("00.0", (0, 0))]
        {
            assert_eq!(both(text), (Some(parts), Some(parts)), "{text}");
        }
        for (text, parts) in
            [(".5", (5, -1)), ("5.", (5, 0)), ("1e-3", (1, -3)), ("2.5E+6", (25, 5)), ("0e99999", (0, 0))]
        {
            assert_eq!(both(text), (None, Some(parts)), "{text}");
        }
        for text in
            ["", ".", "-1", "+1", "1e", "x", "1.2.3", "1e2147483648", "0x10", "1 2", "1234567890123456789012345678901"]
        {
            assert_eq!(both(text), (None, None), "{text}");
        }
    }

    #[test]
    fn products_are_whole_or_refused() {
        let times = |text, factor| Decimal::parse_scientific(text).expect("a number").times(factor);
        assert_eq!(times("2.5", 1_000), Ok(2_500));
        assert_eq!(times("1e3", 8), Ok(8_000));
        assert_eq!(times("0e99", 8), Ok(0));
        assert_eq!(times("0.0001", 1_000), Err(Inexact::Fraction));
        assert_eq!(times("1e-99", 1_000), Err(Inexact::Fraction));
        assert_eq!(times("1e99", 1), Err(Inexact::TooLarge));
        assert_eq!(times("18446744073709551616", 1), Err(Inexact::TooLarge));
        assert_eq!(times("18446744073709551615", 1), Ok(u64::MAX));
    }

    #[test]
    fn numbers_are_scaled_exactly_or_say_that_they_are_not() {
        let scaled = |text, power| Decimal::parse_scientific(text).expect("a number").scaled(power);
        assert_eq!(scaled("2.5", 9), Some((2_500_000_000, true)));
        assert_eq!(scaled("1.5", 0), Some((2, false)));
        assert_eq!(scaled("0.00000000015", 9), Some((0, false)));
        assert_eq!(scaled("7e-99", 0), Some((0, false)));
        assert_eq!(scaled("7e99", 0), None);
    }

    #[test]
    fn comparisons_see_the_last_digit() {
        let number = |text| Decimal::parse(text).expect("a number");
        assert!(number("10000.000001").is_above(10_000) && !number("10000").is_above(10_000));
        assert!(number("0.999999").is_below(1) && !number("1.0").is_below(1));
    }
}

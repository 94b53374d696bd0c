//! Numbers of foreign files as quantities of a lab file.

use netloom_units::{Decimal, Duration, Probability, Rate};

/// A quantity, and whether it is exactly what the file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rounded<T> {
    pub(crate) value: T,
    pub(crate) is_exact: bool,
}

impl<T> Rounded<T> {
    fn and_then<U>(self, convert: impl Fn(T) -> Option<U>) -> Option<Rounded<U>> {
        convert(self.value).map(|value| Rounded { value, is_exact: self.is_exact })
    }
}

/// `number` times ten to the power of `exponent`, to the nearest whole number. None if it is no number, negative, or too
/// large.
pub(crate) fn scaled(number: &str, exponent: i32) -> Option<Rounded<u64>> {
    let decimal = Decimal::parse_scientific(number.strip_prefix('+').unwrap_or(number))?;
    let (value, is_exact) = decimal.scaled(exponent)?;
    u64::try_from(value).ok().map(|value| Rounded { value, is_exact })
}

/// A number of seconds, where `exponent` is that of the unit: -3 for milliseconds.
pub(crate) fn duration(number: &str, exponent: i32) -> Option<Rounded<Duration>> {
    scaled(number, exponent.checked_add(9)?)?.and_then(|ns| Some(Duration::from_nanos(ns)))
}

/// A number of bits per second, where `exponent` is that of the unit: 6 for megabits; none for zero.
pub(crate) fn rate(number: &str, exponent: i32) -> Option<Rounded<Rate>> {
    scaled(number, exponent)?.and_then(Rate::from_bits_per_second)
}

/// A number of bytes per second.
pub(crate) fn byte_rate(number: &str, exponent: i32) -> Option<Rounded<Rate>> {
    let eighth = scaled(number, exponent.checked_add(3)?)?;
    let bits = u128::from(eighth.value) * 8;
    let rounded = Rounded {
        value: u64::try_from((bits + 500) / 1_000).ok()?,
        is_exact: eighth.is_exact && bits.is_multiple_of(1_000),
    };
    rounded.and_then(Rate::from_bits_per_second)
}

/// A probability from 0 to 1 (`exponent` 0), or a percentage (-2).
pub(crate) fn probability(number: &str, exponent: i32) -> Option<Rounded<Probability>> {
    scaled(number, exponent.checked_add(12)?)?.and_then(Probability::from_parts_per_trillion)
}

/// A number and the letters behind it.
pub(crate) fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let is_number = |(at, letter): (usize, char)| {
        let before = text[..at].chars().next_back();
        let after = text[at + letter.len_utf8()..].chars().next();
        letter.is_ascii_digit()
            || letter == '.'
            || (letter == '+' && at == 0)
            || ("eE".contains(letter)
                && before.is_some_and(|one| one.is_ascii_digit() || one == '.')
                && after.is_some_and(|one| one.is_ascii_digit() || "+-".contains(one)))
            || ("+-".contains(letter) && before.is_some_and(|one| "eE".contains(one)))
    };
    let end = text.char_indices().find(|it| !is_number(*it)).map_or(text.len(), |(at, _)| at);
    (&text[..end], text[end..].trim())
}

/// A rate with a unit in any of the spellings that people use: `2.5 Gbps`, `10Mb/s`, `100 mbit`, `1.5Mb`. A large `B` means
/// bytes. None if it is no rate with a unit.
pub(crate) fn spelled_rate(text: &str) -> Option<Rounded<Rate>> {
    let (number, unit) = split(text);
    let (exponent, rest) = prefix(unit);
    let rest = rest.trim();
    let rest = ["/sec", "/s", "ps"].iter().find_map(|ending| rest.strip_suffix(ending)).unwrap_or(rest);
    match rest {
        "b" | "bit" | "bits" | "Bit" | "Bits" => rate(number, exponent),
        "B" | "byte" | "bytes" | "Byte" | "Bytes" => byte_rate(number, exponent),
        _ => None,
    }
}

/// The power of ten of a prefix, and what follows it.
fn prefix(unit: &str) -> (i32, &str) {
    let words =
        [("kilo", 3), ("mega", 6), ("giga", 9), ("tera", 12), ("Kilo", 3), ("Mega", 6), ("Giga", 9), ("Tera", 12)];
    if let Some((rest, exponent)) =
        words.iter().find_map(|(word, exponent)| Some((unit.strip_prefix(word)?, *exponent)))
    {
        return (exponent, rest);
    }
    let exponent = match unit.chars().next() {
        Some('k' | 'K') => 3,
        Some('m' | 'M') => 6,
        Some('g' | 'G') => 9,
        Some('t' | 'T') => 12,
        _ => return (0, unit),
    };
    (exponent, &unit[1..])
}

/// A time with a unit: `10ms`, `1.5 s`, `20 usec`. None if it is no time with a unit.
pub(crate) fn spelled_duration(text: &str) -> Option<Rounded<Duration>> {
    let (number, unit) = split(text);
    let exponent = match unit {
        "ns" | "nsec" | "nsecs" | "nanosecond" | "nanoseconds" => -9,
        "us" | "µs" | "μs" | "usec" | "usecs" | "microsecond" | "microseconds" => -6,
        "ms" | "msec" | "msecs" | "millisecond" | "milliseconds" => -3,
        "s" | "sec" | "secs" | "second" | "seconds" => 0,
        "min" | "mins" | "minute" | "minutes" => return multiplied(number, 60),
        "h" | "hr" | "hrs" | "hour" | "hours" => return multiplied(number, 3_600),
        _ => return None,
    };
    duration(number, exponent)
}

fn multiplied(number: &str, seconds: u64) -> Option<Rounded<Duration>> {
    let span = duration(number, 0)?;
    let ns = span.value.as_nanos().checked_mul(seconds)?;
    Some(Rounded { value: Duration::from_nanos(ns), is_exact: span.is_exact })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_exact_or_say_that_they_are_not() {
        let value = |number, exponent| scaled(number, exponent).map(|found| (found.value, found.is_exact));
        assert_eq!(value("10000000000.0", 0), Some((10_000_000_000, true)));
        assert_eq!(value("2.5", 9), Some((2_500_000_000, true)));
        assert_eq!(value("1e-3", 9), Some((1_000_000, true)));
        assert_eq!(value("0.00000000015", 9), Some((0, false)));
        assert_eq!(value("1.5", 0), Some((2, false)));
        assert_eq!(value("0e99999", 0), Some((0, true)));
        for wrong in ["", ".", "-1", "1e", "x", "1e99", "99999999999999999999", "1.2.3", "1e2147483648", "0x10"] {
            assert_eq!(value(wrong, 0), None, "{wrong}");
        }
    }

    #[test]
    fn rates_are_read_in_the_spellings_of_people() {
        let bits = |text| spelled_rate(text).map(|rate| rate.value.as_bits_per_second());
        for (text, wanted) in [
            ("2.5 Gbps", 2_500_000_000),
            ("10Mb/s", 10_000_000),
            ("1 Gbit/s", 1_000_000_000),
            ("1.5Mb", 1_500_000),
            ("100 Kilobits", 100_000),
            ("1 gigabit", 1_000_000_000),
            ("12 MB/s", 96_000_000),
            ("64bps", 64),
            ("1e6 b/s", 1_000_000),
        ] {
            assert_eq!(bits(text), Some(wanted), "{text}");
        }
        for wrong in ["10", "1-20Gbps", "OC-48", "less than 100 Mbps", "0 Mbps", "", "µ", "5 é"] {
            assert_eq!(bits(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn times_have_units() {
        let ns = |text| spelled_duration(text).map(|span| span.value.as_nanos());
        assert_eq!(ns("10ms"), Some(10_000_000));
        assert_eq!(ns("1.5 min"), Some(90_000_000_000));
        assert_eq!(ns("2e-3s"), Some(2_000_000));
        assert_eq!(ns("5"), None);
        assert_eq!(ns("1 d"), None);
    }
}

//! Numbers as tc and ipfw write them, exactly.

use netloom_units::{Bytes, Decimal, Duration, Inexact, Probability, Rate};

/// A number and the unit behind it.
fn split(text: &str) -> (&str, String) {
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    (&text[..end], text[end..].to_ascii_lowercase())
}

/// The same for tc, which reads numbers as `strtod` does: with an exponent, if digits follow its letter.
fn tc_split(text: &str) -> (&str, String) {
    let (number, rest) = text.split_at(split(text).0.len());
    let digits = |of: &str| of.find(|c: char| !c.is_ascii_digit()).unwrap_or(of.len());
    let exponent = rest.strip_prefix(['e', 'E']).filter(|_| !number.is_empty()).map_or(0, |behind| {
        let sign = behind.len() - behind.strip_prefix(['+', '-']).unwrap_or(behind).len();
        let count = digits(&behind[sign..]);
        if count == 0 { 0 } else { 1 + sign + count }
    });
    let (number, unit) = text.split_at(number.len() + exponent);
    (number, unit.to_ascii_lowercase())
}

/// No number of tc has a longer exponent than that.
const MOST_POWER: i32 = 30;

/// `number` times `factor`, which has to be whole.
fn times(text: &str, number: &str, factor: u64) -> Result<u64, String> {
    let is_short = |exponent: &str| exponent.parse().is_ok_and(|power: i32| power.abs() <= MOST_POWER);
    if number.split_once(['e', 'E']).is_some_and(|(_, exponent)| !is_short(exponent)) {
        return Err(format!("\"{text}\" is not a number of this size: write it without an exponent"));
    }
    let decimal = Decimal::parse_scientific(number).ok_or_else(|| format!("\"{text}\" is not a number"))?;
    decimal.times(factor).map_err(|inexact| match inexact {
        Inexact::Fraction => format!("\"{text}\" has more decimals than the unit allows"),
        Inexact::TooLarge => format!("\"{text}\" is too large, which is above {}", u64::MAX / factor.max(1)),
    })
}

/// The factor of a unit among `units`.
fn factor(text: &str, unit: &str, units: &[(&str, u64)]) -> Result<u64, String> {
    let found = units.iter().find(|(name, _)| *name == unit).map(|(_, factor)| *factor);
    found.ok_or_else(|| {
        let known: Vec<&str> = units.iter().map(|(name, _)| *name).filter(|name| !name.is_empty()).collect();
        format!("\"{text}\" has the unknown unit \"{unit}\": known here: {}", known.join(", "))
    })
}

/// A time of tc: without a unit in microseconds.
pub(super) fn tc_time(text: &str) -> Result<Duration, String> {
    const UNITS: &[(&str, u64)] = &[
        ("", 1_000),
        ("us", 1_000),
        ("usec", 1_000),
        ("usecs", 1_000),
        ("ms", 1_000_000),
        ("msec", 1_000_000),
        ("msecs", 1_000_000),
        ("s", 1_000_000_000),
        ("sec", 1_000_000_000),
        ("secs", 1_000_000_000),
        ("ns", 1),
        ("nsec", 1),
        ("nsecs", 1),
    ];
    let (number, unit) = tc_split(text);
    times(text, number, factor(text, &unit, UNITS)?).map(Duration::from_nanos)
}

/// A rate of tc: without a unit in bits per second; `bps` are bytes per second.
pub(super) fn tc_rate(text: &str) -> Result<Rate, String> {
    const UNITS: &[(&str, u64)] = &[
        ("", 1),
        ("bit", 1),
        ("kbit", 1_000),
        ("mbit", 1_000_000),
        ("gbit", 1_000_000_000),
        ("tbit", 1_000_000_000_000),
        ("kibit", 1 << 10),
        ("mibit", 1 << 20),
        ("gibit", 1 << 30),
        ("tibit", 1 << 40),
        ("bps", 8),
        ("kbps", 8_000),
        ("mbps", 8_000_000),
        ("gbps", 8_000_000_000),
        ("tbps", 8_000_000_000_000),
        ("kibps", 8 << 10),
        ("mibps", 8 << 20),
        ("gibps", 8 << 30),
    ];
    let (number, unit) = tc_split(text);
    rate(text, times(text, number, factor(text, &unit, UNITS)?)?)
}

fn rate(text: &str, bits: u64) -> Result<Rate, String> {
    Rate::from_bits_per_second(bits).ok_or_else(|| format!("\"{text}\" is zero, and nothing would ever be sent"))
}

/// A size of tc: without a unit in bytes; `k` and `kb` are 1,024 bytes.
pub(super) fn tc_size(text: &str) -> Result<Bytes, String> {
    const UNITS: &[(&str, u64)] = &[
        ("", 8),
        ("b", 8),
        ("k", 8 << 10),
        ("kb", 8 << 10),
        ("m", 8 << 20),
        ("mb", 8 << 20),
        ("g", 8 << 30),
        ("gb", 8 << 30),
        ("kbit", 1 << 10),
        ("mbit", 1 << 20),
        ("gbit", 1 << 30),
    ];
    let (number, unit) = tc_split(text);
    let bits = times(text, number, factor(text, &unit, UNITS)?)?;
    if bits % 8 == 0 { Ok(Bytes::new(bits / 8)) } else { Err(format!("\"{text}\" is not a whole number of bytes")) }
}

/// A share of tc in percent, with or without the sign.
pub(super) fn tc_percent(text: &str) -> Result<Probability, String> {
    let number = text.strip_suffix('%').unwrap_or(text);
    probability(text, times(text, number, 10_000_000_000)?)
}

/// A bandwidth of ipfw: `bit/s` or `Byte/s` with K, M and G for powers of ten; without a unit in bits per second; none
/// for zero, which is no limit.
pub(super) fn ipfw_bandwidth(text: &str) -> Result<Option<Rate>, String> {
    const UNITS: &[(&str, u64)] = &[
        ("", 1),
        ("bit/s", 1),
        ("kbit/s", 1_000),
        ("mbit/s", 1_000_000),
        ("gbit/s", 1_000_000_000),
        ("byte/s", 8),
        ("kbyte/s", 8_000),
        ("mbyte/s", 8_000_000),
        ("gbyte/s", 8_000_000_000),
    ];
    let (number, unit) = split(text);
    // The manual of ipfw abbreviates: Kbit, Mbit, KB/s and so on.
    let unit = match unit.trim_end_matches("/s").trim_end_matches('s') {
        "" => "",
        "b" | "bit" => "bit/s",
        "k" | "kb" | "kbit" => "kbit/s",
        "m" | "mb" | "mbit" => "mbit/s",
        "g" | "gb" | "gbit" => "gbit/s",
        "byte" => "byte/s",
        "kbyte" => "kbyte/s",
        "mbyte" => "mbyte/s",
        "gbyte" => "gbyte/s",
        _ => unit.as_str(),
    };
    times(text, number, factor(text, unit, UNITS)?).map(Rate::from_bits_per_second)
}

/// A delay of ipfw: without a unit in milliseconds.
pub(super) fn ipfw_time(text: &str) -> Result<Duration, String> {
    const UNITS: &[(&str, u64)] = &[("", 1_000_000), ("ms", 1_000_000), ("us", 1_000), ("s", 1_000_000_000)];
    let (number, unit) = split(text);
    times(text, number, factor(text, &unit, UNITS)?).map(Duration::from_nanos)
}

/// A share of ipfw: a fraction from 0 to 1.
pub(super) fn fraction(text: &str) -> Result<Probability, String> {
    probability(text, times(text, text, 1_000_000_000_000)?)
}

fn probability(text: &str, parts: u64) -> Result<Probability, String> {
    Probability::from_parts_per_trillion(parts).ok_or_else(|| format!("\"{text}\" is more than 100 %"))
}

/// A whole number.
pub(super) fn count(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("\"{text}\" is not a whole number"))
}

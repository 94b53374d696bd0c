//! Values that expectations compare, and how they are written.

use super::{Dimension, FigureUnit, Term};
use netloom_units::{Bytes, Duration, Probability, Rate, quantity};
use std::fmt;

/// A measured value.
#[derive(Clone, Debug, PartialEq)]
pub enum Measured {
    /// A number in the unit of its [`Dimension`]: bits per second, nanoseconds, a share, packets or bytes.
    Number(f64),
    /// A text.
    Text(String),
}

impl Measured {
    /// The value of a JSON field; none for objects, arrays and null, which cannot be compared.
    pub fn from_json(value: &serde_json::Value) -> Option<Self> {
        match value {
            serde_json::Value::Number(number) => number.as_f64().map(Self::Number),
            serde_json::Value::String(text) => Some(Self::Text(text.clone())),
            serde_json::Value::Bool(flag) => Some(Self::Text(flag.to_string())),
            _ => None,
        }
    }

    /// As a person would write it, with four significant digits.
    pub(crate) fn show(&self, dimension: Dimension) -> String {
        match self {
            Self::Number(number) => show(*number, dimension),
            Self::Text(text) => format!("{text:?}"),
        }
    }
}

/// The right side of a comparison: a value, or a term that is measured, too.
#[derive(Clone, Debug, PartialEq)]
pub enum Wanted {
    /// A bare number.
    Number(f64),
    /// A rate; none is zero.
    Rate(Option<Rate>),
    /// A duration.
    Duration(Duration),
    /// A share.
    Share(Probability),
    /// Packets; means have fractions.
    Packets(f64),
    /// Bytes.
    Bytes(Bytes),
    /// A text.
    Text(String),
    /// A multiple of a term: the factor and the term.
    Term(f64, Box<Term>),
    /// The measured value of such a multiple, and its text in messages.
    Settled(f64, String),
}

impl Wanted {
    /// Parses `text` as a value of `dimension`; whether numbers of packets are whole says `is_whole`.
    pub(crate) fn parse(text: &str, dimension: Dimension, is_whole: bool) -> Result<Self, String> {
        let wrong = |error: netloom_units::ParseError| error.to_string();
        match dimension {
            Dimension::Number => number(text).map(Self::Number),
            Dimension::Rate => rate_or_zero(text).map(Self::Rate),
            Dimension::Duration => text.parse().map(Self::Duration).map_err(wrong),
            Dimension::Share => text.parse().map(Self::Share).map_err(wrong),
            Dimension::Packets => packets(text, is_whole).map(Self::Packets),
            Dimension::Bytes => text.parse().map(Self::Bytes).map_err(wrong),
            Dimension::Text => quoted(text).map(Self::Text),
            Dimension::Json if text.starts_with('"') => quoted(text).map(Self::Text),
            Dimension::Json => number(text).map(Self::Number),
        }
    }

    /// The number in the unit of its dimension; none for a text.
    pub(crate) fn number(&self) -> Option<f64> {
        Some(match self {
            Self::Number(number) => *number,
            Self::Rate(rate) => rate.map_or(0.0, |rate| rate.as_bits_per_second() as f64),
            Self::Duration(span) => span.as_nanos() as f64,
            Self::Share(share) => share.as_f64(),
            Self::Packets(packets) => *packets,
            Self::Bytes(bytes) => bytes.get() as f64,
            Self::Settled(value, _) => *value,
            Self::Text(_) | Self::Term(..) => return None,
        })
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Rate(Some(rate)) => rate.fmt(f),
            Self::Rate(None) => f.pad("0 bit/s"),
            Self::Duration(span) => span.fmt(f),
            Self::Share(share) => share.fmt(f),
            Self::Packets(packets) if *packets == 1.0 => f.pad("1 packet"),
            Self::Packets(packets) => f.pad(&format!("{packets} packets")),
            Self::Bytes(bytes) => bytes.fmt(f),
            Self::Text(text) => write!(f, "{text:?}"),
            Self::Term(times, term) if *times == 1.0 => f.pad(&term.text),
            Self::Term(times, term) => write!(f, "{times} * {}", term.text),
            Self::Settled(_, told) => f.pad(told),
        }
    }
}

fn number(text: &str) -> Result<f64, String> {
    let finite = text.parse::<f64>().ok().filter(|number| number.is_finite());
    finite.ok_or_else(|| format!("\"{text}\" is not a number: write for example 0 or 9.5e7, without a unit"))
}

fn packets(text: &str, is_whole: bool) -> Result<f64, String> {
    let bare = text.trim_end_matches("packets").trim_end_matches("packet").trim_end();
    let is_plain =
        bare.starts_with(|c: char| c.is_ascii_digit()) && bare.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let number: Option<f64> =
        if is_whole { bare.parse::<u64>().ok().map(|number| number as f64) } else { bare.parse().ok() };
    number
        .filter(|number| is_plain && number.is_finite())
        .ok_or_else(|| format!("\"{text}\" is not a number of packets: write for example 100 or 100 packets"))
}

/// A link cannot have the rate zero, but its throughput can.
fn rate_or_zero(text: &str) -> Result<Option<Rate>, String> {
    let parsed: Result<Rate, _> = text.parse();
    let digits = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let is_zero = text[..digits].parse() == Ok(0.0);
    if parsed.is_err() && is_zero && format!("1{}", &text[digits..]).parse::<Rate>().is_ok() {
        return Ok(None);
    }
    parsed.map(Some).map_err(|error| error.to_string())
}

/// A text in double quotes, with `\"`, `\\`, `\n` and `\t`.
fn quoted(text: &str) -> Result<String, String> {
    let wrong = || format!("{text} is not a text in double quotes: write for example \"0% packet loss\"");
    let inner = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).ok_or_else(wrong)?;
    let mut value = String::new();
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        value.push(match c {
            '"' => return Err(wrong()),
            '\\' => match chars.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some(plain @ ('"' | '\\')) => plain,
                _ => return Err(wrong()),
            },
            plain => plain,
        });
    }
    Ok(value)
}

/// A number of this dimension as tables have it: in the unit that suits it, with four significant digits. A bare number or one of packets
/// is compared as it is, and keeps three decimals.
pub(crate) fn show(number: f64, dimension: Dimension) -> String {
    let unit = FigureUnit::of(dimension).name;
    if !["", "packets"].contains(&unit) {
        return quantity::figure(number, unit);
    }
    // What is below one may be small, and has four significant digits.
    let zeros = if number.abs() < 1.0 { -number.abs().log10().ceil() } else { -1.0 };
    let decimals = if zeros.is_finite() { (zeros.clamp(-1.0, 300.0) + 4.0) as usize } else { 0 };
    let text = if number.fract() == 0.0 { number.to_string() } else { quantity::trimmed(number, decimals) };
    format!("{text} {unit}").trim_end().to_owned()
}

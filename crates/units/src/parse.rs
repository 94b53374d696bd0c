//! Decimal numbers with units, exactly.

use crate::decimal::{Decimal, Inexact};
use alloc::{
    format,
    string::{String, ToString},
};
use core::fmt;

/// Why a text is not a quantity. The message says what is wrong and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    message: String,
}

impl ParseError {
    pub(crate) fn new(message: String) -> Self {
        Self { message }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl core::error::Error for ParseError {}

/// A unit has few spellings, so that none is ambiguous.
pub(crate) struct Unit {
    pub(crate) name: &'static str,
    /// How many base units one of this unit is.
    pub(crate) factor: u64,
}

/// What a family of units is called in messages.
pub(crate) struct Family {
    pub(crate) what: &'static str,
    pub(crate) example: &'static str,
    pub(crate) base: &'static str,
    pub(crate) units: &'static [Unit],
    /// Spellings that are refused because people read them in two ways, with the advice to give.
    pub(crate) ambiguous: &'static [(&'static str, &'static str)],
}

impl Family {
    /// Parses `text` to a whole number of base units.
    pub(crate) fn parse(&self, text: &str) -> Result<u64, ParseError> {
        let (number, unit_name) = split(text);
        if text.trim_start().starts_with('-') {
            return Err(self.error(text, "is below zero"));
        }
        let Some(decimal) = Decimal::parse(number) else {
            return Err(self.error(text, "is not a number with a unit"));
        };
        if unit_name.is_empty() {
            return Err(self.error(text, "has no unit"));
        }
        if let Some((_, advice)) = self.ambiguous.iter().find(|(name, _)| *name == unit_name) {
            return Err(ParseError::new(format!("\"{text}\": `{unit_name}` is ambiguous: {advice}")));
        }
        let Some(unit) = self.units.iter().find(|unit| unit.name == unit_name) else {
            return Err(self.error(text, &format!("has the unknown unit `{unit_name}`")));
        };
        decimal.times(unit.factor).map_err(|inexact| match inexact {
            Inexact::Fraction => self.error(text, &format!("is not a whole number of {}", self.base)),
            Inexact::TooLarge => {
                let most = u64::MAX / unit.factor;
                self.error(text, &format!("is too large, which is above {most} {}", unit.name))
            }
        })
    }

    fn error(&self, text: &str, problem: &str) -> ParseError {
        let mut names = String::new();
        for unit in self.units {
            if !names.is_empty() {
                names.push_str(", ");
            }
            names.push_str(unit.name);
        }
        ParseError::new(format!("\"{text}\" {problem}: write {} like \"{}\" ({names})", self.what, self.example))
    }

    /// The value in its largest unit that does not make it smaller than one, with every digit.
    pub(crate) fn display(&self, value: u64, shown: &[&str], f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut best = &self.units[0];
        for unit in self.units.iter().filter(|unit| shown.contains(&unit.name)) {
            if unit.factor == 1 || (value >= unit.factor && unit.factor >= best.factor) {
                best = unit;
            }
        }
        let text = quotient(value, best.factor);
        f.pad(&format!("{text} {}", best.name))
    }
}

/// `value / factor` with every decimal digit; `factor` divides a power of ten.
fn quotient(value: u64, factor: u64) -> String {
    let whole = value / factor;
    let mut rest = value % factor;
    let mut text = whole.to_string();
    if rest > 0 {
        text.push('.');
    }
    while rest > 0 {
        let scaled = u128::from(rest) * 10;
        let digit = u8::try_from(scaled / u128::from(factor)).expect("a remainder times ten has one digit");
        text.push(char::from(b'0' + digit));
        rest = u64::try_from(scaled % u128::from(factor)).expect("a remainder is below a u64");
    }
    text
}

/// Splits a number from the unit behind it; blanks between them are free.
fn split(text: &str) -> (&str, &str) {
    let trimmed = text.trim();
    let end = trimmed.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(end);
    (number, unit.trim_start())
}

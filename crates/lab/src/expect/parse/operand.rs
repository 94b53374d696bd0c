//! Comparisons, and what they compare with.

use super::scan::Scan;
use super::term::{self, Read};
use super::{Around, ExpectError};
use crate::expect::{Dimension, Subject, Test, Wanted};
use netloom_units::Probability;
use std::ops::Range;

const OPERATORS: [&str; 9] = ["==", "!=", "<=", ">=", "<", ">", "within", "between", "contains"];

/// Reads a comparison of what is to its left.
pub(super) fn read(scan: &mut Scan<'_>, left: &Read, around: &Around<'_>) -> Result<Test, ExpectError> {
    let operator = operator(scan, &left.name)?;
    let at = scan.here();
    let (value, dimension, name) = (scan.rest(), left.term.dimension, left.name.as_str());
    let wrong = |message: String| ExpectError::new(at.clone(), message);
    if value.is_empty() {
        return Err(wrong(format!("nothing follows `{operator}`")));
    }
    let operand = Operand { left, around, at: &at, text: value };
    match operator {
        "contains" => contains(value, dimension, name).map_err(wrong),
        "==" => operand.wanted(0..value.len()).map(Test::Equal),
        "!=" => operand.wanted(0..value.len()).map(Test::NotEqual),
        _ if dimension == Dimension::Text => Err(wrong(format!("`{name}` is a text: use contains, == or !="))),
        "<" => operand.wanted(0..value.len()).map(Test::Less),
        "<=" => operand.wanted(0..value.len()).map(Test::AtMost),
        ">" => operand.wanted(0..value.len()).map(Test::More),
        ">=" => operand.wanted(0..value.len()).map(Test::AtLeast),
        "between" => operand.between(),
        _ => operand.within(),
    }
}

/// The operator that comes next.
fn operator(scan: &mut Scan<'_>, subject: &str) -> Result<&'static str, ExpectError> {
    let text = scan.rest();
    for operator in OPERATORS {
        let Some(rest) = text.strip_prefix(operator) else { continue };
        if operator.starts_with(char::is_alphabetic) && !rest.is_empty() && !rest.starts_with(char::is_whitespace) {
            continue;
        }
        scan.skip(operator.len());
        return Ok(operator);
    }
    let at = scan.here();
    let found = match text.split_whitespace().next() {
        None => format!("nothing follows `{subject}`"),
        Some("=") => return Err(ExpectError::new(at.start..at.start + 1, "`=` is not a comparison: write `==`")),
        Some(word) => format!("`{word}` is not a comparison"),
    };
    Err(ExpectError::new(at, format!("{found}: write one of {}", OPERATORS.join(", "))))
}

/// What stands behind a comparison.
struct Operand<'a> {
    left: &'a Read,
    around: &'a Around<'a>,
    at: &'a Range<usize>,
    text: &'a str,
}

impl Operand<'_> {
    /// A value, or so many times a term.
    fn wanted(&self, part: Range<usize>) -> Result<Wanted, ExpectError> {
        let raw = &self.text[part.clone()];
        let (text, begin) = (raw.trim(), self.at.start + part.start + (raw.len() - raw.trim_start().len()));
        let at = begin..begin + text.len();
        let (times, factor) = match text.split_once('*') {
            Some((factor, rest)) if !text.starts_with('"') => {
                let factor = factor.trim().parse::<f64>().ok().filter(|factor| factor.is_finite());
                let skipped = text.len() - rest.trim_start().len();
                (
                    skipped,
                    factor.ok_or_else(|| {
                        ExpectError::new(at.clone(), "what stands before `*` is a number: 1.5 * TERM")
                    })?,
                )
            }
            _ => (0, 1.0),
        };
        let mut scan = Scan::new(&text[times..]);
        let moved = |error: ExpectError| {
            let by = at.start + times;
            ExpectError { at: by + error.at.start..by + error.at.end, ..error }
        };
        if times > 0 || term::is_ahead(&scan, self.around.names) {
            let mut read = term::read(&mut scan, self.around.names).map_err(moved)?;
            if !scan.rest().is_empty() {
                let message = format!("`{}` is no part of an expectation here", scan.rest());
                return Err(moved(ExpectError::new(scan.here(), message)));
            }
            read.finish(self.around).map_err(moved)?;
            self.check(&read).map_err(|message| ExpectError::new(at.clone(), message))?;
            return Ok(Wanted::Term(factor, Box::new(read.term)));
        }
        let is_whole = self.left.is_whole();
        let value = Wanted::parse(text, self.left.term.dimension, is_whole);
        value.map_err(|wrong| ExpectError::new(at, format!("`{}`: {wrong}", self.left.name)))
    }

    /// That both sides can be compared.
    fn check(&self, right: &Read) -> Result<(), String> {
        let (one, other) = (self.left.term.dimension, right.term.dimension);
        // Numbers that programs print have no unit.
        let bare = |dimension| if dimension == Dimension::Json { Dimension::Number } else { dimension };
        if bare(one) != bare(other) {
            return Err(format!("`{}` is {}, and `{}` is {}", self.left.name, what(one), right.name, what(other)));
        }
        if one == Dimension::Text {
            return Err(format!("`{}` is a text: write what it is to be, in double quotes", self.left.name));
        }
        match &right.term.subject {
            // A radio medium has one direction.
            Subject::Link { direction: None, station: None, metric, .. }
                if !self.around.over_runs && !metric.is_of_air() =>
            {
                Err(format!("`{}` is of both directions: write which one, as in link.forward", right.name))
            }
            _ => Ok(()),
        }
    }

    fn between(&self) -> Result<Test, ExpectError> {
        let wrong = |message: String| ExpectError::new(self.at.clone(), message);
        let middle = self.text.find(" and ").ok_or_else(|| wrong("write `between X and Y`".into()))?;
        let (least, most) = (self.wanted(0..middle)?, self.wanted(middle + " and ".len()..self.text.len())?);
        if least.number().zip(most.number()).is_some_and(|(least, most)| least > most) {
            return Err(wrong(format!("nothing lies between {least} and {most}: write the smaller one first")));
        }
        Ok(Test::Between(least, most))
    }

    fn within(&self) -> Result<Test, ExpectError> {
        let wrong = |message: String| ExpectError::new(self.at.clone(), message);
        let middle = self.text.find(" of ");
        let middle = middle.ok_or_else(|| wrong("write `within 2 % of X` or `within 5 ms of X`".into()))?;
        let (distance, rest) = (self.text[..middle].trim_end(), middle + " of ".len()..self.text.len());
        if !distance.ends_with('%') {
            return Ok(Test::Within(self.wanted(0..middle)?, self.wanted(rest)?));
        }
        if self.left.term.dimension == Dimension::Share {
            return Err(wrong("a percentage of a percentage is ambiguous: write `between X % and Y %`".into()));
        }
        let share: Probability =
            distance.parse().map_err(|error: netloom_units::ParseError| wrong(error.to_string()))?;
        Ok(Test::WithinShare(share.as_f64(), self.wanted(rest)?))
    }
}

fn contains(value: &str, dimension: Dimension, subject: &str) -> Result<Test, String> {
    if !matches!(dimension, Dimension::Text | Dimension::Json) {
        return Err(format!("`{subject}` is not a text: `contains` is for stdout, stderr and json"));
    }
    match Wanted::parse(value, Dimension::Text, true)? {
        Wanted::Text(text) => Ok(Test::Contains(text)),
        other => Err(format!("{other} is not a text in double quotes")),
    }
}

fn what(dimension: Dimension) -> &'static str {
    match dimension {
        Dimension::Number | Dimension::Json => "a number without a unit",
        Dimension::Rate => "a rate",
        Dimension::Duration => "a duration",
        Dimension::Share => "a share",
        Dimension::Packets => "a number of packets",
        Dimension::Bytes => "a number of bytes",
        Dimension::Text => "a text",
    }
}

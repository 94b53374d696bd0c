//! The lines of a file with delays: one record per line, `#` begins a comment, empty lines do not count.

use crate::ConfigError;
use alloc::format;
use core::fmt::Display;

/// The records of `text`, each with its line's number.
pub(super) fn records(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let records = text.lines().zip(1..).map(|(line, number)| (number, line.split('#').next().unwrap_or("").trim()));
    records.filter(|(_, record)| !record.is_empty())
}

/// What is wrong with the line `number`.
pub(super) fn wrong(number: usize, why: impl Display) -> ConfigError {
    ConfigError::new("file", format!("line {number}: {why}"))
}

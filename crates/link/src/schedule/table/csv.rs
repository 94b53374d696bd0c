//! A schedule as comma-separated values.
//!
//! The first line names the columns, each with its unit, in any order; `time` is required. Cells are numbers, exact to
//! the nanosecond, bit per second, 10⁻¹² or byte; an empty cell stays as it is. Lines that begin with `#` are comments.

use super::Step;
use crate::ConfigError;
use alloc::{format, string::String, vec::Vec};
use core::fmt::Display;
use core::str::FromStr;

/// Every column: its name, its quantity, and the unit in which a lab file would have a cell.
const COLUMNS: [(&str, Quantity, &str); 18] = [
    ("time_s", Quantity::Time, "s"),
    ("time_ms", Quantity::Time, "ms"),
    ("time_us", Quantity::Time, "us"),
    ("time_ns", Quantity::Time, "ns"),
    ("rate_bit_s", Quantity::Rate, "bit/s"),
    ("rate_kbit_s", Quantity::Rate, "kbit/s"),
    ("rate_Mbit_s", Quantity::Rate, "Mbit/s"),
    ("rate_Gbit_s", Quantity::Rate, "Gbit/s"),
    ("delay_s", Quantity::Delay, "s"),
    ("delay_ms", Quantity::Delay, "ms"),
    ("delay_us", Quantity::Delay, "us"),
    ("delay_ns", Quantity::Delay, "ns"),
    ("loss_percent", Quantity::Loss, "%"),
    ("queue_packets", Quantity::Queue, "packets"),
    ("queue_bytes", Quantity::Queue, "B"),
    ("queue_ms", Quantity::Queue, "ms"),
    ("queue_us", Quantity::Queue, "us"),
    ("queue_ns", Quantity::Queue, "ns"),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quantity {
    Time,
    Rate,
    Delay,
    Loss,
    Queue,
}

type Column = (&'static str, Quantity, &'static str);

/// The steps of a table.
pub(super) fn steps(text: &str) -> Result<Vec<Step>, ConfigError> {
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.starts_with('#'));
    let Some((first, head)) = lines.next() else {
        return Err(ConfigError::new("", "the table is empty: begin with a line like `time_s,rate_Mbit_s`"));
    };
    let columns = columns(head).map_err(|why| on_line(first, &why))?;
    let mut steps: Vec<Step> = Vec::new();
    for (index, line) in lines {
        let step = step(line, &columns).map_err(|why| on_line(index, &why))?;
        if let Some(before) = steps.last().filter(|before| step.at <= before.at) {
            let why = format!("{} is not behind {}: times rise from line to line", step.at, before.at);
            return Err(on_line(index, &why));
        }
        steps.push(step);
    }
    if steps.is_empty() {
        return Err(ConfigError::new("", "the table has no line below the names of its columns"));
    }
    Ok(steps)
}

fn on_line(index: usize, why: &str) -> ConfigError {
    ConfigError::new("", format!("line {}: {why}", index + 1))
}

fn columns(head: &str) -> Result<Vec<Column>, String> {
    let mut columns: Vec<Column> = Vec::new();
    for name in head.split(',').map(str::trim) {
        let Some(column) = COLUMNS.iter().find(|column| column.0 == name) else {
            let known: Vec<&str> = COLUMNS.iter().map(|column| column.0).collect();
            return Err(format!("unknown column `{name}`: known are {}", known.join(", ")));
        };
        if let Some(other) = columns.iter().find(|other| other.1 == column.1) {
            return Err(format!("the columns `{}` and `{name}` say the same: leave one out", other.0));
        }
        columns.push(*column);
    }
    if columns.iter().all(|column| column.1 != Quantity::Time) {
        return Err("it has no column of times: add time_s, time_ms, time_us or time_ns".into());
    }
    if columns.len() == 1 {
        return Err("it has only times: add a column for rate, delay, loss or queue".into());
    }
    Ok(columns)
}

fn step(line: &str, columns: &[Column]) -> Result<Step, String> {
    let cells: Vec<&str> = line.split(',').map(str::trim).collect();
    if line.trim().is_empty() {
        return Err("the line is empty".into());
    }
    if cells.len() != columns.len() {
        return Err(format!("not as many fields as columns: {} and {}", cells.len(), columns.len()));
    }
    let mut step = Step::default();
    for ((name, quantity, unit), cell) in columns.iter().zip(cells) {
        match (quantity, cell) {
            (Quantity::Time, "") => return Err(format!("{name} is empty: every line has its time")),
            (_, "") => {}
            (Quantity::Time, _) => step.at = value(name, cell, unit)?,
            (Quantity::Rate, _) => step.rate = Some(value(name, cell, unit)?),
            (Quantity::Delay, _) => step.delay = Some(value(name, cell, unit)?),
            (Quantity::Loss, _) => step.loss = Some(value(name, cell, unit)?),
            (Quantity::Queue, _) => step.queue = Some(value(name, cell, unit)?),
        }
    }
    Ok(step)
}

/// A cell, read as a lab file would have it.
fn value<T: FromStr<Err: Display>>(name: &str, cell: &str, unit: &str) -> Result<T, String> {
    // A cell with letters could bring a unit of its own, and mean something else.
    if !cell.bytes().all(|byte| byte.is_ascii_digit() || b".-+".contains(&byte)) {
        return Err(format!("{name}: \"{cell}\" is not a number"));
    }
    format!("{cell} {unit}").parse().map_err(|error| format!("{name}: {error}"))
}

#[cfg(test)]
mod tests;

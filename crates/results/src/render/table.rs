//! Columns of text that line up.

use super::FAINT;
use std::fmt;

/// On which side of its column a cell stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Text.
    Left,
    /// Numbers.
    Right,
}

/// A table whose columns are as wide as their widest cell. Colours in cells do not count.
#[derive(Debug)]
pub struct Table {
    heads: Vec<String>,
    aligns: Vec<Align>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with a line of headings.
    pub fn new(columns: &[(&str, Align)]) -> Self {
        let heads = columns.iter().map(|(head, _)| (*head).to_owned()).collect();
        Self { heads, aligns: columns.iter().map(|(_, align)| *align).collect(), rows: Vec::new() }
    }

    /// A table without headings.
    pub fn bare(aligns: &[Align]) -> Self {
        Self { heads: Vec::new(), aligns: aligns.to_vec(), rows: Vec::new() }
    }

    /// Adds a row, which has a cell for every column.
    pub fn row(&mut self, cells: Vec<String>) {
        assert_eq!(cells.len(), self.aligns.len(), "a row has a cell for every column");
        self.rows.push(cells);
    }

    fn widths(&self) -> Vec<usize> {
        let all = || self.rows.iter().chain((!self.heads.is_empty()).then_some(&self.heads));
        (0..self.aligns.len()).map(|column| all().map(|row| width(&row[column])).max().unwrap_or(0)).collect()
    }

    fn line(&self, cells: &[String], widths: &[usize]) -> String {
        let padded: Vec<String> = cells
            .iter()
            .zip(widths)
            .zip(&self.aligns)
            .map(|((cell, width), align)| pad(cell, *width, *align))
            .collect();
        padded.join("  ").trim_end().to_owned()
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = self.widths();
        if !self.heads.is_empty() {
            writeln!(f, "{FAINT}{}{FAINT:#}", self.line(&self.heads, &widths))?;
        }
        self.rows.iter().try_for_each(|row| writeln!(f, "{}", self.line(row, &widths)))
    }
}

/// How many columns a terminal needs for `cell`.
fn width(cell: &str) -> usize {
    anstream::adapter::strip_str(cell).to_string().chars().count()
}

fn pad(cell: &str, to: usize, align: Align) -> String {
    let blanks = " ".repeat(to.saturating_sub(width(cell)));
    match align {
        Align::Left => format!("{cell}{blanks}"),
        Align::Right => format!("{blanks}{cell}"),
    }
}

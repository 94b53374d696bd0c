//! A table of the results folder, read line by line: that of a long run has a hundred megabytes.

use crate::regular;
use netloom_judge::RunError;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// The rows of a file of values with commas between them, of which `N` columns are wanted.
pub(crate) struct Rows<const N: usize> {
    reader: BufReader<File>,
    path: PathBuf,
    /// What a row is, for errors.
    what: &'static str,
    /// Where each of the wanted columns stands.
    columns: [usize; N],
    line: String,
    number: usize,
}

impl<const N: usize> Rows<N> {
    /// Opens a file whose first line names its columns, those in `names` among them. `what` says what a row is about.
    pub(crate) fn open(path: &Path, names: [&str; N], what: &'static str) -> Result<Self, RunError> {
        let file = regular::open(path).map_err(|error| unreadable(path, &error.to_string()))?;
        let reader = BufReader::with_capacity(1 << 16, file);
        let mut rows = Self { reader, path: path.to_owned(), what, columns: [0; N], line: String::new(), number: 0 };
        rows.read_line()?;
        let head: Vec<&str> = rows.line.trim_end().split(',').collect();
        for (place, name) in rows.columns.iter_mut().zip(names) {
            let found = head.iter().position(|known| *known == name);
            *place = found.ok_or_else(|| unreadable(path, &format!("line 1: there is no column `{name}`")))?;
        }
        Ok(rows)
    }

    /// False at the end of the file. A run that is killed leaves half a line at most, which is left out.
    fn read_line(&mut self) -> Result<bool, RunError> {
        self.number += 1;
        let read = regular::read_line(&mut self.reader, &mut self.line);
        read.map_err(|error| unreadable(&self.path, &format!("line {}: {error}", self.number)))?;
        Ok(self.line.ends_with('\n'))
    }

    /// The values of the next row, in the order of the names.
    pub(crate) fn next(&mut self) -> Result<Option<[&str; N]>, RunError> {
        if !self.read_line()? {
            return Ok(None);
        }
        let fields: Vec<&str> = self.line.trim_end().split(',').collect();
        let values = self.columns.map(|place| fields.get(place).copied());
        if values.contains(&None) {
            return Err(self.wrong());
        }
        Ok(Some(values.map(Option::unwrap_or_default)))
    }

    /// The error about the row that was read last.
    pub(crate) fn wrong(&self) -> RunError {
        unreadable(&self.path, &format!("line {}: this is not a row of {}", self.number, self.what))
    }
}

/// An instant of a row, in seconds after time zero; none if it is no such.
pub(crate) fn time(text: &str) -> Option<f64> {
    text.parse().ok().filter(|time: &f64| time.is_finite() && *time >= 0.0)
}

fn unreadable(path: &Path, why: &str) -> RunError {
    RunError::Lab(format!("{}: {why}", path.display()))
}

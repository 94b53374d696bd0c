//! A table of the results folder, read line by line: that of a long run has a hundred megabytes.

use crate::ReadError;
use crate::regular;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// The lines of a file of values with commas between them.
pub(crate) struct Lines {
    reader: BufReader<File>,
    path: PathBuf,
    /// What a row is, for errors.
    what: &'static str,
    /// The first line: the names of the columns.
    head: String,
    line: String,
    number: usize,
}

impl Lines {
    /// Opens a file whose first line names its columns. `what` says what a row is about.
    pub(crate) fn open(path: &Path, what: &'static str) -> Result<Self, ReadError> {
        let file = regular::open(path).map_err(|error| unreadable(path, &error.to_string()))?;
        let reader = BufReader::with_capacity(1 << 16, file);
        let mut lines =
            Self { reader, path: path.to_owned(), what, head: String::new(), line: String::new(), number: 0 };
        lines.read()?;
        lines.head = lines.line.trim_end().to_owned();
        Ok(lines)
    }

    /// Where a column stands; none if there is no such.
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        self.head.split(',').position(|known| known == name)
    }

    /// Where a column stands that has to be there.
    pub(crate) fn column(&self, name: &str) -> Result<usize, ReadError> {
        self.find(name).ok_or_else(|| unreadable(&self.path, &format!("line 1: there is no column `{name}`")))
    }

    /// The fields of the line that was read last.
    pub(crate) fn fields(&self) -> Vec<&str> {
        self.line.trim_end().split(',').collect()
    }

    /// The error about the line that was read last.
    pub(crate) fn wrong(&self) -> ReadError {
        unreadable(&self.path, &format!("line {}: this is not a row of {}", self.number, self.what))
    }

    /// Reads the next line; false at the end of the file. A run that is killed leaves half a line at most, which is left out.
    pub(crate) fn read(&mut self) -> Result<bool, ReadError> {
        self.number += 1;
        let read = regular::read_line(&mut self.reader, &mut self.line);
        read.map_err(|error| unreadable(&self.path, &format!("line {}: {error}", self.number)))?;
        Ok(self.line.ends_with('\n'))
    }
}

/// The rows of such a file, of which `N` columns are wanted.
pub(crate) struct Rows<const N: usize> {
    lines: Lines,
    /// Where each of them stands.
    columns: [usize; N],
}

impl<const N: usize> Rows<N> {
    /// Opens a file with the columns `names`. `what` says what a row is about.
    pub(crate) fn open(path: &Path, names: [&str; N], what: &'static str) -> Result<Self, ReadError> {
        let lines = Lines::open(path, what)?;
        let mut columns = [0; N];
        for (place, name) in columns.iter_mut().zip(names) {
            *place = lines.column(name)?;
        }
        Ok(Self { lines, columns })
    }

    /// The values of the next row, in the order of the names; none at the end of the file.
    pub(crate) fn next(&mut self) -> Result<Option<[&str; N]>, ReadError> {
        if !self.lines.read()? {
            return Ok(None);
        }
        let fields = self.lines.fields();
        let values = self.columns.map(|place| fields.get(place).copied());
        if values.contains(&None) {
            return Err(self.wrong());
        }
        Ok(Some(values.map(Option::unwrap_or_default)))
    }

    /// The error about the row that was read last.
    pub(crate) fn wrong(&self) -> ReadError {
        self.lines.wrong()
    }
}

/// An instant of a row, in seconds after time zero; none if it is no such.
pub(crate) fn time(text: &str) -> Option<f64> {
    text.parse().ok().filter(|time: &f64| time.is_finite() && *time >= 0.0)
}

fn unreadable(path: &Path, why: &str) -> ReadError {
    ReadError::File { path: path.to_owned(), why: why.to_owned() }
}

//! Why a history cannot be read or checked.

use std::error::Error;
use std::fmt;

/// The reason why a history is refused, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongHistory {
    /// The name of the file.
    pub file: String,
    /// The line, from 1; none if the reason has no line.
    pub line: Option<usize>,
    /// The words that say what is wrong there, and what would be right.
    pub message: String,
}

impl fmt::Display for WrongHistory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.file, self.message),
            None => write!(f, "{}: {}", self.file, self.message),
        }
    }
}

impl Error for WrongHistory {}

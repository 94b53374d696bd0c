//! `machine-files.json`: which files of the machine kernel nodes read, so that a bundle can take them along.

use crate::read_document;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};

/// The name of the record in a results folder.
pub const FILE: &str = "machine-files.json";

/// The names of files that kernel nodes read during a run. Files that have changed later are not what they read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The end of the run, in nanoseconds since 1970.
    pub ended_unix_ns: u64,
    /// The folder in which programs start, as they see it.
    pub start_folder: PathBuf,
    /// Whether the kernel nodes saw another root than that of the machine.
    pub another_root: bool,
    /// Whether all names are here.
    pub is_complete: bool,
    /// The names of nodes whose programs' files nobody wrote down.
    pub others: Vec<String>,
    /// The names of nodes whose programs are in an image, which is not among these files.
    pub images: Vec<String>,
    /// Names for which the lab has files and folders of its own.
    pub provided: Vec<PathBuf>,
    /// The files, links and folders that were looked at, sorted.
    pub looked_at: Vec<String>,
    /// The folders whose names were listed, sorted.
    pub listed: Vec<String>,
}

impl Record {
    /// Reads the record of a results folder; none if there is none.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn of(folder: &Path) -> io::Result<Option<Self>> {
        match read_document(&folder.join(FILE)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
            Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(io::Error::from),
        }
    }
}

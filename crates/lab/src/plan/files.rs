//! What a node's file system has of its own.

use std::path::PathBuf;

/// A file or folder that is put into a node's file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePlan {
    /// Its line in the lab file.
    pub line: usize,
    /// Where the node's programs see it: an absolute path without `.` and `..`.
    pub target: PathBuf,
    /// What it begins with.
    pub contents: FileContents,
    /// Whether what is in it at the end of a run is there again in the next.
    pub keep: bool,
    /// The permissions of the file, or of the folder itself.
    pub mode: Option<u32>,
    /// The user to whom it belongs with all that is in it, by name or number.
    pub owner: Option<String>,
}

/// What a file or folder begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileContents {
    /// A folder with nothing in it.
    Empty,
    /// A file with this text.
    Text(String),
    /// What the machine has there; relative paths count from the folder in which the lab file was named.
    Copy(PathBuf),
}

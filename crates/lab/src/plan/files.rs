//! What a node's file system has of its own.

use std::path::PathBuf;

/// A file or folder that is put into a node's file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePlan {
    /// Its line in the lab file.
    pub line: usize,
    /// The path where the node's programs see it: absolute, without `.` and `..`.
    pub target: PathBuf,
    /// The initial contents of the file or folder.
    pub contents: FileContents,
    /// Whether what is in it at the end of a run is there again in the next.
    pub keep: bool,
    /// The permissions of the file, or of the folder itself.
    pub mode: Option<u32>,
    /// The user to whom it belongs with all that is in it, by name or number.
    pub owner: Option<String>,
}

/// The initial contents of a file or folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileContents {
    /// A folder with nothing in it.
    Empty,
    /// A file with this text.
    Text(String),
    /// A copy of what the machine has at this path; relative paths count from the folder in which the lab file was named.
    Copy(PathBuf),
}

//! The file system of a node where it differs from the machine's: all of it copied on write, and files and folders that
//! the lab file puts into it.
//!
//! What is written goes to a file system in memory, which no other process sees and which goes with the last process of
//! the lab, however that ends: no folder on a disk has to be found and removed. Nothing of the machine is ever written
//! to.

mod lay;
mod layers;
mod machine;
mod mounts;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub(crate) use lay::lay;
pub(crate) use machine::enter;

/// How a node's file system differs from the machine's.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilesConfig {
    /// A folder in memory that belongs to the lab, in which this node gets one of its own; none in a kernel node, whose
    /// memory has room for it.
    pub memory: Option<PathBuf>,
    /// What is put where, folders before what is inside them.
    pub entries: Vec<FileConfig>,
}

/// A file or a folder of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileConfig {
    /// Where the node's programs see it: an absolute path.
    pub target: PathBuf,
    /// What they see.
    pub contents: Contents,
    /// The permissions of the file, or of the folder itself.
    pub mode: Option<u32>,
    /// The user to whom it belongs with all that is in it, by name or number, as the node's `/etc/passwd` has them.
    pub owner: Option<String>,
}

/// What a file or folder of a node begins with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Contents {
    /// A folder with nothing in it.
    Empty,
    /// A file with this text.
    Text(String),
    /// What the machine has at this absolute path.
    Copy(PathBuf),
    /// A folder with what is in this archive, which an earlier run has left.
    Archive(PathBuf),
}

/// Where nodes see the names of the lab.
pub(crate) const HOSTS: &str = "/etc/hosts";

/// Whether the lab file says itself what is in the file.
pub(crate) fn is_named(entries: &[FileConfig], file: &str) -> bool {
    entries.iter().any(|entry| entry.target == Path::new(file))
}

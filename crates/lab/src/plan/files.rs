//! What a node's file system has of its own, and the container image that it comes from.

use super::Argv;
use crate::image::ImageSource;
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

/// The container image that a node's file system comes from, and what the image's program is started with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImagePlan {
    /// Its line in the lab file.
    pub line: usize,
    /// The place that the image comes from; relative paths count from the folder in which the lab file was named.
    pub source: ImageSource,
    /// Whether the image's program runs; if not, the node has the file system alone.
    pub starts: bool,
    /// The program in the place of the image's entry point and command.
    pub entrypoint: Option<Argv>,
    /// The command in the place of the image's.
    pub command: Option<Argv>,
    /// The user in the place of the image's.
    pub user: Option<String>,
    /// The files and folders of this machine that are seen inside the node.
    pub volumes: Vec<VolumePlan>,
}

/// A file or folder of this machine that is seen in a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumePlan {
    /// Its line in the lab file.
    pub line: usize,
    /// The file or folder; a relative path counts from the folder in which the lab file was named.
    pub source: PathBuf,
    /// The path where it is seen in the node: absolute, without `.` and `..`.
    pub target: PathBuf,
    /// Whether nothing can be written there.
    pub is_read_only: bool,
}

//! The container image of a node.

use super::Argv;
use crate::image::ImageSource;
use std::path::PathBuf;

/// What a node's file system is, and what its image's program is started with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImagePlan {
    /// Its line in the lab file.
    pub line: usize,
    /// Where it comes from; relative paths count from the folder in which the lab file was named.
    pub source: ImageSource,
    /// Whether its program runs; if not, the node has the file system alone.
    pub starts: bool,
    /// The program in the place of the image's entry point and command.
    pub entrypoint: Option<Argv>,
    /// The command in the place of the image's.
    pub command: Option<Argv>,
    /// The user in the place of the image's.
    pub user: Option<String>,
    /// What of this machine is seen inside.
    pub volumes: Vec<VolumePlan>,
}

/// A file or folder of this machine that is seen in a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumePlan {
    /// Its line in the lab file.
    pub line: usize,
    /// The file or folder; a relative path counts from the folder in which the lab file was named.
    pub source: PathBuf,
    /// Where it is seen: an absolute path without `.` and `..`.
    pub target: PathBuf,
    /// Whether nothing can be written there.
    pub is_read_only: bool,
}

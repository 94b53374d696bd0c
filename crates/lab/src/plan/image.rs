//! The container image of a node.

use super::Argv;
use crate::image::ImageSource;
use std::path::PathBuf;

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

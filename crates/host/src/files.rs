//! The file system of a node where it differs from the machine's: all of it copied on write, and files and folders that
//! the lab file puts into it.
//!
//! What is written goes to a file system in memory, which no other process sees and which goes with the last process of
//! the lab, however that ends: no folder on a disk has to be found and removed. Nothing of the machine is ever written
//! to.
//!
//! The upper layers of all nodes are in one file system per lab, made in the lab's mount namespace. A kernel node has
//! its overlay in the guest's memory. Files to collect and to keep are packed by `netloom node-pack`, an ordinary
//! program of the node as far as agents, kernels and clocks are concerned (`archive`).

mod fused;
mod image;
mod lay;
mod layers;
mod machine;
mod mounts;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Attempted, KernelError};

/// How a node's file system differs from the machine's.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilesConfig {
    /// A folder in memory that belongs to the lab, in which this node gets one of its own; none in a kernel node, whose
    /// memory has room for it.
    pub memory: Option<PathBuf>,
    /// The root file system that the node's is a copy of; none: the machine's.
    pub image: Option<ImageConfig>,
    /// The files and folders that are put into it, folders before what is inside them.
    pub entries: Vec<FileConfig>,
}

/// A root file system other than the machine's.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageConfig {
    /// The folder with it, which is never written to.
    pub root: PathBuf,
    /// Folders that its programs need and that it may lack: absolute paths.
    pub folders: Vec<PathBuf>,
    /// The files and folders of the machine that are seen in it.
    pub volumes: Vec<VolumeConfig>,
}

/// A file or folder of the machine that a node with an image sees, too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VolumeConfig {
    /// The absolute path on the machine.
    pub source: PathBuf,
    /// The absolute path in the node.
    pub target: PathBuf,
    /// Whether the node cannot write there.
    pub is_read_only: bool,
}

/// A file or a folder of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileConfig {
    /// Where the node's programs see it: an absolute path.
    pub target: PathBuf,
    /// The initial contents of the file or folder.
    pub contents: Contents,
    /// The permissions of the file, or of the folder itself.
    pub mode: Option<u32>,
    /// The user to whom it belongs with all that is in it, by name or number, as the node's `/etc/passwd` has them.
    pub owner: Option<String>,
}

/// The initial contents of a file or folder of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Contents {
    /// A folder with nothing in it.
    Empty,
    /// A file with this text.
    Text(String),
    /// A copy of what the machine has at this absolute path.
    Copy(PathBuf),
    /// A folder with what is in this archive, which an earlier run has left.
    Archive(PathBuf),
}

/// What is said where folders cannot be replaced.
const WITHOUT_MARKS: &str = "before Linux 6.6, an ordinary user's node cannot remove a folder that was there in the beginning and is not \
                             empty, nor make it anew (Input/output error): run netloom as root, give the node `stack: kernel`, or, for \
                             container images, install fuse-overlayfs";

/// Gives this process, which has a mount namespace of its own, the root that its node called `name` is to have. Returns what is to be
/// known of it.
pub(crate) fn enter(files: &FilesConfig, name: &str) -> Result<Option<String>, KernelError> {
    let Some(memory) = files.memory.as_ref().map(|memory| memory.join(name)) else { return Ok(None) };
    if fused::shown(&memory).is_none() {
        std::fs::create_dir(&memory).attempted(|| format!("make {}", memory.display()))?;
    }
    let keeps_marks = match &files.image {
        Some(own) => image::enter(files, own, &memory, name)?,
        None => machine::enter(files, &memory)?,
    };
    Ok((!keeps_marks).then(|| WITHOUT_MARKS.to_owned()))
}

/// Gives a kernel node called `name`, whose root is a copy of the machine's in its own memory already, what its file system has of its own.
pub(crate) fn enter_in_kernel(files: &FilesConfig, name: &str) -> Result<(), KernelError> {
    let Some(own) = &files.image else { return lay::lay(files) };
    lay::in_workshop(|workshop| image::enter_in_kernel(files, own, workshop, name))
}

pub(crate) use fused::show as show_image;

pub(crate) use crate::mount::HOSTS;

/// Whether the lab file says itself what is in the file.
pub(crate) fn is_named(entries: &[FileConfig], file: &str) -> bool {
    entries.iter().any(|entry| entry.target == Path::new(file))
}

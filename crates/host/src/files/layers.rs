//! Overlays, and the folders in memory that they write to.

use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, lchown};
use std::path::{Path, PathBuf};

use nix::mount::{MsFlags, mount};
use nix::sys::statvfs::{FsFlags, statvfs};
use rustix::fs::{XattrFlags, setxattr};
use rustix::io::Errno;

use super::mounts::escape;
use crate::error::{Attempted, KernelError};
use crate::users::is_of_the_machine;

/// A folder in memory in which layers are made.
#[derive(Debug)]
pub(super) struct Layers {
    memory: PathBuf,
    made: usize,
    /// The folder that takes what is written to the last overlay.
    upper: Option<PathBuf>,
    /// Whether this process is root of the machine, and not only of a user namespace.
    pub(super) is_privileged: bool,
}

impl Layers {
    /// Layers in this folder, which exists and is empty.
    pub(super) fn new(memory: PathBuf) -> Result<Self, KernelError> {
        Ok(Self { memory, made: 0, upper: None, is_privileged: is_of_the_machine()? })
    }

    /// Reaches the memory by this path from now on.
    pub(super) fn reach_by(&mut self, path: PathBuf) {
        self.memory = path;
    }

    /// A new folder in memory.
    pub(super) fn folder(&mut self) -> Result<PathBuf, KernelError> {
        self.made += 1;
        let folder = self.memory.join(self.made.to_string());
        fs::create_dir(&folder).attempted(|| format!("make {}", folder.display()))?;
        Ok(folder)
    }

    /// Mounts an overlay at `target` that shows the folder `lower` and takes what is written. `prepare` fills its upper
    /// layer first. The folder itself belongs to whom `lower` does, where that can be. `more` are flags of the mount beside those that
    /// the file system of `lower` has.
    pub(super) fn overlay(
        &mut self,
        lower: &Path,
        target: &Path,
        more: MsFlags,
        prepare: impl FnOnce(&Path) -> Result<(), KernelError>,
    ) -> Result<(), KernelError> {
        let attempted = || format!("show a copy of {} at {}", lower.display(), target.display());
        let about = fs::metadata(lower).attempted(attempted)?;
        let (upper, work) = (self.folder()?, self.folder()?);
        resemble(&upper, &about).attempted(attempted)?;
        prepare(&upper)?;
        let mut options = OsString::from("lowerdir=");
        options.push(escape(lower));
        for (key, folder) in [(",upperdir=", &upper), (",workdir=", &work)] {
            options.push(key);
            options.push(escape(folder));
        }
        if !self.is_privileged {
            // Where marks of the layers go that only root of the machine may put elsewhere.
            options.push(",userxattr");
        }
        mount(Some("overlay"), target, Some("overlay"), flags_of(lower) | more, Some(options.as_os_str()))
            .attempted(attempted)
            .map_err(|error| self.advise(error))?;
        self.upper = Some(upper);
        Ok(())
    }

    /// Whether the last overlay can mark that a folder hides what is below it: memory keeps the attributes of ordinary users for that
    /// only since Linux 6.6. Without, the kernel refuses to remove a folder of the layer below that is not empty, and to put another one
    /// in the place of a removed one (`ovl_set_opaque_xerr` in fs/overlayfs/dir.c).
    pub(super) fn keeps_marks(&self) -> bool {
        let marked =
            |upper: &PathBuf| setxattr(upper, "user.netloom", b"y", XattrFlags::empty()) != Err(Errno::OPNOTSUPP);
        self.is_privileged || self.upper.as_ref().is_none_or(marked)
    }

    /// Removes all folders that were made, none of which is in use.
    pub(super) fn remove(self) {
        for number in 1..=self.made {
            // What stays goes with the memory.
            let _ = fs::remove_dir_all(self.memory.join(number.to_string()));
        }
    }

    fn advise(&self, error: KernelError) -> KernelError {
        let advice = match error.errno() {
            libc::ENODEV => "this kernel has no overlays: `sudo modprobe overlay`",
            libc::EPERM if !self.is_privileged => {
                "only since Linux 5.11 may ordinary users mount overlays, if nothing else forbids it: run netloom as root, \
                 give the node `stack: kernel`, or, for container images, install fuse-overlayfs"
            }
            _ => return error,
        };
        error.with_detail(advice)
    }
}

/// Gives a folder the permissions, and if possible the owner, of another.
pub(super) fn resemble(folder: &Path, other: &Metadata) -> io::Result<()> {
    // In a user namespace most owners do not exist: then the folder is root's own.
    let _ = lchown(folder, Some(other.uid()), Some(other.gid()));
    fs::set_permissions(folder, fs::Permissions::from_mode(other.mode() & 0o7777))
}

/// Shows the folder or file `what` at `target`, too.
pub(super) fn bind(what: &Path, target: &Path, flags: MsFlags) -> Result<(), KernelError> {
    const NOTHING: Option<&str> = None;
    mount(Some(what), target, NOTHING, MsFlags::MS_BIND | flags, NOTHING)
        .attempted(|| format!("show {} at {}", what.display(), target.display()))
}

/// What must not be done on the file system of this folder must not be done on a copy either.
fn flags_of(folder: &Path) -> MsFlags {
    let Ok(found) = statvfs(folder) else { return MsFlags::empty() };
    let pairs = [
        (FsFlags::ST_NOSUID, MsFlags::MS_NOSUID),
        (FsFlags::ST_NODEV, MsFlags::MS_NODEV),
        (FsFlags::ST_NOEXEC, MsFlags::MS_NOEXEC),
    ];
    pairs.into_iter().filter(|(had, _)| found.flags().contains(*had)).map(|(_, flag)| flag).collect()
}

/// The path of `inner` below `outer`.
pub(super) fn relative<'a>(inner: &'a Path, outer: &Path) -> &'a Path {
    inner.strip_prefix(outer).unwrap_or(inner)
}

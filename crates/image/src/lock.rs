//! Locks on files (flock(2)), which the kernel lifts with the last process that holds them.

use crate::ImageError;
use crate::error::Attempted;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A lock that is held.
#[derive(Debug)]
pub(crate) struct Lock {
    file: File,
    path: PathBuf,
}

impl Lock {
    /// Waits until nobody holds it for writing.
    pub(crate) fn shared(path: &Path) -> Result<Self, ImageError> {
        Ok(Self::take(path, FlockOperation::LockShared)?.expect("it waits"))
    }

    /// Waits until nobody holds it.
    pub(crate) fn exclusive(path: &Path) -> Result<Self, ImageError> {
        Ok(Self::take(path, FlockOperation::LockExclusive)?.expect("it waits"))
    }

    /// None if somebody holds it.
    pub(crate) fn try_exclusive(path: &Path) -> Result<Option<Self>, ImageError> {
        Self::take(path, FlockOperation::NonBlockingLockExclusive)
    }

    /// Lets others hold it, too, for reading.
    pub(crate) fn into_shared(self) -> Result<Self, ImageError> {
        flock(&self.file, FlockOperation::LockShared).at("lock", &self.path)?;
        Ok(self)
    }

    /// Removes the file, which this process holds for writing. Those that wait for it notice.
    pub(crate) fn remove(self) {
        // One that stays is empty, and is used again.
        let _ = std::fs::remove_file(&self.path);
    }

    fn take(path: &Path, operation: FlockOperation) -> Result<Option<Self>, ImageError> {
        loop {
            let file = File::options().create(true).truncate(false).write(true).open(path).at("open", path)?;
            match flock(&file, operation) {
                Ok(()) => {}
                Err(Errno::INTR) => continue,
                Err(Errno::WOULDBLOCK) => return Ok(None),
                Err(error) => return Err(error).at("lock", path),
            }
            // It may have been removed meanwhile, and then means nothing.
            let own = file.metadata().at("look at", path)?;
            if path.symlink_metadata().is_ok_and(|there| (there.dev(), there.ino()) == (own.dev(), own.ino())) {
                return Ok(Some(Self { file, path: path.to_owned() }));
            }
        }
    }
}

//! Where everything in the cache is.

use crate::error::Attempted;
use crate::lock::Lock;
use crate::{Digest, ImageError};
use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long the parts of an image are kept that was not fetched to its end.
const KEPT: Duration = Duration::from_secs(24 * 3600);

/// See [`crate::store`].
#[derive(Clone, Debug)]
pub(crate) struct Folders(PathBuf);

impl Folders {
    pub(crate) fn new(base: &Path) -> Self {
        Self(base.to_owned())
    }

    pub(crate) fn base(&self) -> &Path {
        &self.0
    }

    /// Makes all folders. Programs of images may have bits that lend the rights of their owner: nobody else may reach them.
    pub(crate) fn make(&self) -> Result<(), ImageError> {
        fs::create_dir_all(&self.0).at("make", &self.0)?;
        fs::set_permissions(&self.0, Permissions::from_mode(0o700)).at("close for others", &self.0)?;
        for name in ["trees", "staging", "locks", "downloads"] {
            let folder = self.0.join(name);
            DirBuilder::new().recursive(true).mode(0o700).create(&folder).at("make", &folder)?;
        }
        Ok(())
    }

    pub(crate) fn index(&self) -> PathBuf {
        self.0.join("index.json")
    }

    pub(crate) fn lock(&self) -> PathBuf {
        self.0.join("lock")
    }

    pub(crate) fn tree(&self, chain: &Digest) -> PathBuf {
        self.0.join("trees").join(chain.hex())
    }

    fn staging(&self, chain: &Digest) -> PathBuf {
        self.0.join("staging").join(chain.hex())
    }

    pub(crate) fn lock_of(&self, chain: &Digest) -> PathBuf {
        self.0.join("locks").join(chain.hex())
    }

    /// Where an image with this manifest is fetched to.
    pub(crate) fn download(&self, manifest: &Digest) -> PathBuf {
        self.0.join("downloads").join(manifest.hex())
    }

    /// Removes what others have fetched and have not come back to. What cannot be removed stays for the next time.
    pub(crate) fn sweep_downloads(&self) {
        let Ok(entries) = fs::read_dir(self.0.join("downloads")) else { return };
        for entry in entries.flatten() {
            let changed = entry.path().join("blobs/sha256").metadata().and_then(|about| about.modified());
            if changed.is_ok_and(|at| at.elapsed().is_ok_and(|age| age < KEPT)) {
                continue;
            }
            if let Ok(Some(held)) = Lock::try_exclusive(&self.0.join("locks").join(entry.file_name())) {
                let _ = remove(&entry.path());
                held.remove();
            }
        }
    }

    /// An empty folder to unpack to. The caller holds the tree's lock for writing.
    pub(crate) fn begin(&self, chain: &Digest) -> Result<PathBuf, ImageError> {
        let folder = self.staging(chain);
        remove(&folder).at("remove", &folder)?;
        fs::create_dir(&folder).at("make", &folder)?;
        fs::set_permissions(&folder, Permissions::from_mode(0o755)).at("make", &folder)?;
        Ok(folder)
    }

    /// Puts what was unpacked to its place.
    pub(crate) fn end(&self, chain: &Digest) -> Result<(), ImageError> {
        let (folder, tree) = (self.staging(chain), self.tree(chain));
        // It may be there without a record, if somebody removed the index.
        remove(&tree).at("remove", &tree)?;
        fs::rename(&folder, &tree).at("put the image to", &tree)
    }

    /// Removes what was unpacked as far as an error.
    pub(crate) fn give_up(&self, chain: &Digest) {
        // The next command sweeps what stays.
        let _ = remove(&self.staging(chain));
    }

    /// Removes a tree that no lab uses; `name` is what the user calls it.
    pub(crate) fn remove_tree(&self, chain: &Digest, name: &str) -> Result<(), ImageError> {
        let Some(lock) = Lock::try_exclusive(&self.lock_of(chain))? else {
            return Err(ImageError::InUse(format!("{name} is in use by a lab that is up: `netloom ps` lists them")));
        };
        let (tree, gone) = (self.tree(chain), self.staging(chain));
        remove(&gone).at("remove", &gone)?;
        match fs::rename(&tree, &gone) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error).at("remove", &tree),
            _ => {}
        }
        remove(&gone).at("remove", &gone)?;
        lock.remove();
        Ok(())
    }

    /// Removes what was left by processes that were killed. What cannot be removed stays for the next time.
    pub(crate) fn sweep(&self) {
        let Ok(entries) = fs::read_dir(self.0.join("staging")) else { return };
        for entry in entries.flatten() {
            let lock = Lock::try_exclusive(&self.0.join("locks").join(entry.file_name()));
            if let Ok(Some(_held)) = lock {
                let _ = remove(&entry.path());
            }
        }
    }
}

/// Removes a folder with all that is in it, if it exists.
pub(crate) fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            // Folders of an image may deny their owner to change them.
            open_up(folder)?;
            fs::remove_dir_all(folder)
        }
        other => other,
    }
}

fn open_up(folder: &Path) -> io::Result<()> {
    fs::set_permissions(folder, Permissions::from_mode(0o700))?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            open_up(&entry.path())?;
        }
    }
    Ok(())
}

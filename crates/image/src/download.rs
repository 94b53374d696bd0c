//! Where an image is put together that comes in parts: a folder in the OCI layout, below `downloads` of the cache.

use crate::error::Attempted;
use crate::lock::Lock;
use crate::{Digest, ImageError};
use rustix::fs::statvfs;
use std::fs;
use std::path::{Path, PathBuf};

/// An image that is being fetched. What has come stays there if the fetching ends early, and the next one goes on from it.
#[derive(Debug)]
pub struct Download {
    folder: PathBuf,
    manifest: Digest,
    reserve: u64,
    lock: Lock,
}

impl Download {
    /// The caller has made the folder in which this one is to be.
    pub(crate) fn begin(folder: PathBuf, manifest: Digest, reserve: u64, lock: Lock) -> Result<Self, ImageError> {
        let blobs = folder.join("blobs/sha256");
        fs::create_dir_all(&blobs).at("make", &blobs)?;
        Ok(Self { folder, manifest, reserve, lock })
    }

    /// Where a part belongs that is whole.
    pub fn blob(&self, digest: &Digest) -> PathBuf {
        self.folder.join("blobs/sha256").join(digest.hex())
    }

    /// Where a part is as long as it is not whole.
    pub fn partial(&self, digest: &Digest) -> PathBuf {
        self.blob(digest).with_extension("part")
    }

    /// Whether so many bytes more have room.
    ///
    /// # Errors
    /// [`ImageError::NoRoom`], or what the system says.
    pub fn check_room(&self, wanted: u64) -> Result<(), ImageError> {
        let found = statvfs(&self.folder).at("ask for room in", &self.folder)?;
        let free = found.f_bavail.saturating_mul(found.f_frsize).saturating_sub(self.reserve);
        if wanted <= free { Ok(()) } else { Err(ImageError::NoRoom { folder: self.folder.clone(), wanted }) }
    }

    /// The folder, once all parts are there: a layout with one image.
    pub(crate) fn finish(&self) -> Result<&Path, ImageError> {
        let blob = self.blob(&self.manifest);
        let size = fs::metadata(&blob).at("look at", &blob)?.len();
        let index = format!(
            r#"{{"schemaVersion": 2, "manifests": [{{"mediaType": "application/vnd.oci.image.manifest.v1+json", "digest": "{}", "size": {size}}}]}}"#,
            self.manifest
        );
        for (name, text) in [("index.json", index.as_str()), ("oci-layout", r#"{"imageLayoutVersion": "1.0.0"}"#)] {
            let path = self.folder.join(name);
            fs::write(&path, text).at("write", &path)?;
        }
        Ok(&self.folder)
    }

    /// Removes everything.
    pub fn remove(self) {
        // The next one sweeps what stays.
        let _ = fs::remove_dir_all(&self.folder);
        self.lock.remove();
    }
}

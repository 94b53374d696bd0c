//! Unpacks bundles, whoever made them.

use crate::read::Bundle;
use crate::{ArchiveError, Manifest};
use netloom_image::{Limits, free_bytes};
use serde::Serialize;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// A bundle that was unpacked.
#[derive(Clone, Debug, Serialize)]
pub struct Unpacked {
    /// The results folder.
    pub folder: PathBuf,
    /// The manifest of the bundle.
    #[serde(flatten)]
    pub manifest: Manifest,
}

/// Unpacks a bundle into the new folder `target`: files and folders only, which belong to the caller. As far as a bundle is whole
/// its files are there afterwards, also after an error.
///
/// # Errors
/// If it is no bundle, or damaged, and where; if the folder is there already; if there is no room for it.
pub fn unpack(bundle: &Path, target: &Path) -> Result<Unpacked, ArchiveError> {
    let mut read = Bundle::open(bundle)?;
    fs::create_dir(target).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => ArchiveError::Unsuitable(format!(
            "{} is there already: remove it, or name another folder with -o",
            target.display()
        )),
        _ => ArchiveError::file(target)(error),
    })?;
    has_room(&read.manifest, bundle, target)?;
    for number in 0..read.manifest.files.len() {
        let path = target.join(&read.manifest.files[number].path);
        let folder = path.parent().unwrap_or(target);
        fs::create_dir_all(folder).map_err(ArchiveError::file(folder))?;
        let mut file = File::create_new(&path).map_err(ArchiveError::file(&path))?;
        if let Err(error) = read.file(number, &mut file) {
            // What is there of it is not what it should be. If it stays, the error says so.
            let _ = fs::remove_file(&path);
            return Err(match error {
                ArchiveError::File { source, .. } => ArchiveError::File { path, source },
                other => other,
            });
        }
    }
    read.end()?;
    Ok(Unpacked { folder: target.to_owned(), manifest: read.manifest })
}

/// A small bundle may say that it is large when it is unpacked, and be right.
fn has_room(manifest: &Manifest, bundle: &Path, target: &Path) -> Result<(), ArchiveError> {
    let limits = Limits::default();
    let (files, bytes) = (manifest.files.len() as u64, manifest.bytes());
    if files > limits.entries || bytes > limits.bytes {
        let why = format!(
            "with {files} files of {bytes} bytes it is larger than {} files of {} bytes",
            limits.entries, limits.bytes
        );
        return Err(ArchiveError::refused(bundle, why));
    }
    let free = free_bytes(target).map_err(ArchiveError::file(target))?;
    if bytes > free.saturating_sub(limits.reserve) {
        let why = io::Error::new(
            io::ErrorKind::StorageFull,
            format!("the bundle has {bytes} bytes when it is unpacked, and {free} are free here"),
        );
        return Err(ArchiveError::file(target)(why));
    }
    Ok(())
}

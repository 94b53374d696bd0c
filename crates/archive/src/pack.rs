//! Makes bundles.

use crate::frames::Frames;
use crate::gather::{Gathered, gather};
use crate::manifest::{FileEntry, LONGEST, MANIFEST};
use crate::{ArchiveError, Manifest};
use netloom_image::Hashing;
use serde::Serialize;
use std::fs::Permissions;
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tar::{Builder, EntryType, Header};
use tempfile::NamedTempFile;

/// When every file in a bundle was changed, in seconds since 1970: the beginning of 1980, which is the earliest that all
/// archive formats know.
const TIME: u64 = 315_532_800;
/// Permissions of every file in a bundle.
const MODE: u32 = 0o644;

/// A bundle that was made.
#[derive(Clone, Debug, Serialize)]
pub struct Packed {
    /// The path of the bundle.
    pub bundle: PathBuf,
    /// The length of the bundle.
    pub bytes: u64,
    /// The length of all files in the bundle together.
    pub unpacked_bytes: u64,
    /// The manifest of the bundle.
    #[serde(flatten)]
    pub manifest: Manifest,
}

/// Returns the default name for a bundle of these results: after the lab, and after the folder if that is another name.
pub fn file_name(lab: &str, folder: &Path) -> PathBuf {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    if name == lab { format!("{lab}.tar.zst").into() } else { format!("{lab}-{name}.tar.zst").into() }
}

/// Packs the results at `results` into a new file: `bundle`, or one in this folder that is named after them. Whoever looks finds
/// no such file, or the whole of it. `with_root`: with the files of this machine that the run read.
///
/// # Errors
/// If the results are still being written or cannot be read, if the file is there already, or cannot be written; if what the run read is not
/// known, or has changed.
pub fn pack(results: &Path, bundle: Option<&Path>, with_root: bool) -> Result<Packed, ArchiveError> {
    let is_there = |path: &Path| {
        ArchiveError::Unsuitable(format!(
            "{} is there already: remove it, or name another file with -o",
            path.display()
        ))
    };
    if let Some(there) = bundle.filter(|path| path.symlink_metadata().is_ok()) {
        return Err(is_there(there));
    }
    // Beside the bundle, where there has to be room for it.
    let beside =
        bundle.and_then(Path::parent).filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let hidden =
        || tempfile::Builder::new().prefix(".bundle-root-").tempdir_in(beside).map_err(ArchiveError::file(beside));
    let gathered = gather(results, with_root.then(hidden).transpose()?)?;
    let bundle = bundle.map_or_else(|| file_name(&gathered.manifest.lab, &gathered.folder), Path::to_owned);
    let folder = bundle.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if bundle.symlink_metadata().is_ok() {
        return Err(is_there(&bundle));
    }
    let mut builder = tempfile::Builder::new();
    builder.prefix(".bundle-").permissions(Permissions::from_mode(0o666));
    let file = builder.tempfile_in(folder).map_err(ArchiveError::file(&bundle))?;
    let file = write(&gathered, file, &bundle)?;
    let bytes = file.as_file().metadata().map_err(ArchiveError::file(&bundle))?.len();
    file.persist_noclobber(&bundle).map_err(|error| ArchiveError::file(&bundle)(error.error))?;
    let manifest = gathered.manifest;
    Ok(Packed { bundle, bytes, unpacked_bytes: manifest.bytes(), manifest })
}

fn write(gathered: &Gathered, file: NamedTempFile, bundle: &Path) -> Result<NamedTempFile, ArchiveError> {
    let manifest = &gathered.manifest;
    let mut text = serde_json::to_vec_pretty(manifest).map_err(|error| ArchiveError::file(bundle)(error.into()))?;
    text.push(b'\n');
    if text.len() as u64 > LONGEST {
        let why = format!("these results have {} files, which are too many for one bundle", manifest.files.len());
        return Err(ArchiveError::Unsuitable(why));
    }
    let mut archive = Builder::new(Frames::new(BufWriter::new(file)));
    let place = format!("{}/{MANIFEST}", manifest.lab);
    let written = archive.append_data(&mut header(text.len() as u64), place, &text[..]);
    written.map_err(ArchiveError::file(bundle))?;
    for entry in &manifest.files {
        append(&mut archive, gathered, entry, bundle)?;
    }
    let finish = || {
        let whole = archive.into_inner()?.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?;
        whole.as_file().sync_all()?;
        Ok(whole)
    };
    finish().map_err(ArchiveError::file(bundle))
}

/// Packs a file, which must be what it was when its digest was computed.
fn append(
    archive: &mut Builder<impl Write>,
    gathered: &Gathered,
    entry: &FileEntry,
    bundle: &Path,
) -> Result<(), ArchiveError> {
    let path = gathered.place(entry);
    let file = netloom_regular::open(&path).map_err(ArchiveError::file(&path))?;
    let mut contents = Hashing::new(file.take(entry.bytes));
    let written = archive.append_data(&mut header(entry.bytes), gathered.manifest.place(entry), &mut contents);
    written.map_err(ArchiveError::file(bundle))?;
    if contents.finish() != (entry.digest, entry.bytes) {
        let changed = io::Error::other("it changed while it was packed");
        return Err(ArchiveError::file(&path)(changed));
    }
    Ok(())
}

fn header(size: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(EntryType::Regular);
    header.set_mode(MODE);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(TIME);
    header.set_size(size);
    header
}

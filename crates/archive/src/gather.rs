//! What is to be packed: the files of a results folder, with their digests.

use crate::ArchiveError;
use crate::compare::runs_of;
use crate::manifest::{FileEntry, Kind, LeftOut, Manifest, ROOT, check_path};
use crate::root;
use netloom_image::{Digest, Hashing};
use serde::Deserialize;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The link to the newest of a lab's results, which tells nothing of them.
const LATEST: &str = "latest";
/// The file that the process locks which runs a sweep.
const LOCK: &str = "lock";

/// A folder of results that nobody writes to any more.
pub(crate) struct Gathered {
    pub(crate) manifest: Manifest,
    pub(crate) folder: PathBuf,
    /// The folder in which the root is, if it is to be packed, too.
    root: Option<TempDir>,
    /// As long as this is there, no sweep goes on in the folder.
    _lock: Option<File>,
}

impl Gathered {
    /// Where a file of the manifest is.
    pub(crate) fn place(&self, file: &FileEntry) -> PathBuf {
        let of_root = self.root.as_ref().filter(|_| Path::new(&file.path).starts_with(ROOT));
        of_root.map_or(self.folder.as_path(), TempDir::path).join(&file.path)
    }
}

/// Finds out what is in the folder `results`, and reads all of it. `root`: the folder in which the root of the results is put together; none if
/// that is not wanted.
///
/// # Errors
/// If it is no folder of results, is still being written, or cannot be read; if its root is not known.
pub(crate) fn gather(results: &Path, root: Option<TempDir>) -> Result<Gathered, ArchiveError> {
    let (mut manifest, folder, lock) = open(results)?;
    if let Some(root) = &root {
        manifest.left_out.extend(of_root(&manifest, &folder, root.path())?);
        add_all(&mut manifest, root.path())?;
    }
    add_all(&mut manifest, &folder)?;
    manifest.files.sort_by(|one, other| one.path.cmp(&other.path));
    manifest.left_out.sort();
    Ok(Gathered { manifest, folder, root, _lock: lock })
}

/// Puts the root of a run or sweep together.
fn of_root(manifest: &Manifest, folder: &Path, target: &Path) -> Result<Vec<LeftOut>, ArchiveError> {
    let unsuitable = |why: &str| ArchiveError::Unsuitable(format!("{}: --with-root: {why}", folder.display()));
    match manifest.kind {
        Kind::Simulation => Err(unsuitable("a simulation reads no files of the machine")),
        _ if folder.join(ROOT).exists() => Err(unsuitable("it has its root already")),
        Kind::Sweep => root::write(&runs_of(folder)?, target),
        Kind::Run | Kind::Up => root::write(&[folder.to_owned()], target),
    }
}

/// Adds what is in a folder.
fn add_all(manifest: &mut Manifest, folder: &Path) -> Result<(), ArchiveError> {
    let mut waiting = vec![folder.to_owned()];
    while let Some(next) = waiting.pop() {
        for entry in fs::read_dir(&next).map_err(ArchiveError::file(&next))? {
            let entry = entry.map_err(ArchiveError::file(&next))?;
            let path = entry.path();
            let inside = path.strip_prefix(folder).unwrap_or(&path);
            let about = entry.file_type().map_err(ArchiveError::file(&path))?;
            let why = match inside.to_str() {
                _ if about.is_dir() => {
                    waiting.push(path);
                    continue;
                }
                Some(name) if about.is_file() && check_path(name).is_ok() => {
                    if name != LOCK || manifest.kind != Kind::Sweep {
                        manifest.files.push(entry_of(name, &path)?);
                    }
                    continue;
                }
                _ if entry.file_name() == LATEST && about.is_symlink() => continue,
                _ if about.is_symlink() => "a link",
                _ if !about.is_file() => "neither a file nor a folder",
                _ => "its name is no UTF-8, or its path too long",
            };
            manifest.left_out.push(LeftOut { path: inside.to_string_lossy().into_owned(), why: why.to_owned() });
        }
    }
    Ok(())
}

/// As much of `provenance.json` and `origin.json` as is needed.
#[derive(Deserialize)]
struct Origin {
    lab: String,
    #[serde(default)]
    mode: Option<String>,
}

/// Which results these are. The manifest has no files yet.
pub(crate) fn open(path: &Path) -> Result<(Manifest, PathBuf, Option<File>), ArchiveError> {
    let folder = path.canonicalize().map_err(ArchiveError::file(path))?;
    let [run, sweep] = ["provenance.json", "origin.json"].map(|name| folder.join(name));
    let unsuitable = |why: &str| {
        ArchiveError::Unsuitable(format!(
            "{} is neither the results of a run nor a sweep: {why}; `netloom results` lists those of runs",
            path.display()
        ))
    };
    if !folder.is_dir() {
        return Err(unsuitable("it is no folder"));
    }
    let read = |file: &Path| -> Result<Origin, ArchiveError> {
        let bytes = netloom_results::read_document(file).map_err(ArchiveError::file(file))?;
        serde_json::from_slice(&bytes).map_err(|error| ArchiveError::file(file)(error.into()))
    };
    let (kind, origin, lock, complete) = if run.is_file() {
        if netloom_results::is_going_on(&folder) {
            return Err(ArchiveError::Busy(folder));
        }
        let origin = read(&run)?;
        let kind = match origin.mode.as_deref() {
            Some("sim") => Kind::Simulation,
            Some("up") => Kind::Up,
            _ => Kind::Run,
        };
        (kind, origin, None, folder.join("report.json").is_file())
    } else if sweep.is_file() {
        let lock = netloom_regular::open(&folder.join(LOCK)).ok();
        if lock.as_ref().is_some_and(|lock| lock.try_lock_shared().is_err()) {
            return Err(ArchiveError::Busy(folder));
        }
        (Kind::Sweep, read(&sweep)?, lock, is_complete(&folder.join("sweep.json")))
    } else {
        return Err(unsuitable("it has neither provenance.json nor origin.json"));
    };
    netloom_lab::check_name(&origin.lab).map_err(|why| unsuitable(&format!("the lab's name: {why}")))?;
    Ok((Manifest::new(kind, origin.lab, complete), folder, lock))
}

/// Whether all runs of a sweep have ended, as its own table says.
fn is_complete(table: &Path) -> bool {
    #[derive(Deserialize)]
    struct Table {
        complete: bool,
    }
    let bytes = netloom_results::read_document(table).unwrap_or_default();
    serde_json::from_slice::<Table>(&bytes).is_ok_and(|found| found.complete)
}

fn entry_of(name: &str, path: &Path) -> Result<FileEntry, ArchiveError> {
    let (digest, bytes) = digest_of(path).map_err(ArchiveError::file(path))?;
    Ok(FileEntry { path: name.to_owned(), bytes, digest })
}

fn digest_of(path: &Path) -> io::Result<(Digest, u64)> {
    let mut file = Hashing::new(netloom_regular::open(path)?);
    io::copy(&mut file, &mut io::sink())?;
    Ok(file.finish())
}

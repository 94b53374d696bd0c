//! What a link changes in the caller's network, written down beforehand: if all of its processes are killed at once, its watcher puts it
//! back, or else the next link that begins there.
//!
//! The link's process and its guard hold the file locked. A file that is not locked is of a link that is no more.

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::rules::Rules;
use super::{ends, forwarding};
use crate::error::{Attempted, KernelError};
use crate::locked;

/// The record of a link; dropping it leaves the file.
#[derive(Debug)]
pub(super) struct Record {
    path: PathBuf,
    file: File,
}

impl Record {
    /// Puts back what links have left that are no more, and begins a record. The current network namespace must be the
    /// caller's.
    pub(super) fn begin(folder: &Path) -> Result<Self, KernelError> {
        // What another one is putting back has the names and rules that this one would take.
        let _alone = locked::folder(folder)?;
        put_all_back(folder)?;
        let beginning = beginning()?;
        let path = folder.join(format!("{beginning}{}", std::process::id()));
        let file = locked::create(&path).attempted(|| format!("write {}", path.display()))?;
        Ok(Self { path, file })
    }

    /// Writes down what is to be changed.
    pub(super) fn write(&self, rules: &Rules) -> Result<(), KernelError> {
        let text = serde_json::to_vec(rules).expect("rules are plain data");
        let written = (&self.file).seek(SeekFrom::Start(0)).and_then(|_| (&self.file).write_all(&text));
        written.attempted(|| format!("write {}", self.path.display()))
    }

    /// Puts back what is written down, and ends the record. The current network namespace must be the caller's.
    pub(super) fn put_back(&self) -> Result<(), KernelError> {
        let Some(folder) = self.path.parent() else { return Ok(()) };
        put_back(&self.path, folder)
    }

    /// Everything was put back.
    pub(super) fn remove(&self) -> Result<(), KernelError> {
        fs::remove_file(&self.path).attempted(|| format!("remove {}", self.path.display()))
    }
}

/// With what the names of records of this network namespace begin.
fn beginning() -> Result<String, KernelError> {
    let namespace = fs::metadata("/proc/thread-self/ns/net").attempted(|| "look at this network namespace")?;
    Ok(format!("link-{}-", namespace.ino()))
}

/// Puts back what links have left that are no more. The current network namespace must be the caller's.
pub(super) fn sweep(folder: &Path) -> Result<(), KernelError> {
    let _alone = locked::folder(folder)?;
    put_all_back(folder)
}

fn put_all_back(folder: &Path) -> Result<(), KernelError> {
    let beginning = beginning()?;
    let entries = fs::read_dir(folder).attempted(|| format!("list {}", folder.display()))?.flatten();
    let own = entries.filter(|entry| entry.file_name().to_str().is_some_and(|name| name.starts_with(&beginning)));
    for path in own.map(|entry| entry.path()) {
        if let Some(_left) = locked::abandoned(&path) {
            put_back(&path, folder)?;
        }
    }
    Ok(())
}

/// Puts back what a record says.
fn put_back(path: &Path, folder: &Path) -> Result<(), KernelError> {
    // Without a whole text, nothing was changed.
    if let Some(rules) = fs::read(path).ok().and_then(|text| serde_json::from_slice::<Rules>(&text).ok()) {
        rules.remove_with_any();
        ends::remove(&rules.interface)?;
        forwarding::release(folder)?;
    }
    // Another link may have been faster.
    let _ = fs::remove_file(path);
    Ok(())
}

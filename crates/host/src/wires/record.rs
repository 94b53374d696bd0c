//! What interfaces were before they moved away, written down: if all processes that know it are killed at once, the next command
//! puts them back.
//!
//! The processes hold the file locked: one that is not locked is of a lab that is no more. Beside it, the network namespace of the
//! interfaces is mounted, if this process may mount: so it outlives all processes, with all that is in it.

use std::fs::{self, File};
use std::io::Write;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::sys::statfs::{FsType, fstatfs};

use super::snapshot::Snapshot;
use crate::error::{Attempted, KernelError};
use crate::{locked, mount};

/// The record of interfaces. Dropping it leaves the file.
#[derive(Debug)]
pub(super) struct Record {
    path: PathBuf,
    /// Locked as long as any process has it open.
    _lock: File,
}

/// A record of a lab that is no more.
#[derive(Debug)]
pub(super) struct Stale {
    pub(super) record: Record,
    pub(super) snapshots: Vec<Snapshot>,
    /// The network namespace of the interfaces, if it could be kept.
    pub(super) there: Option<OwnedFd>,
}

/// What the file system of namespaces calls itself (linux/magic.h, `NSFS_MAGIC`).
const NAMESPACES: FsType = FsType(0x6e73_6673);

impl Record {
    /// Writes down in `folder` what interfaces of the current network namespace are, which are about to move to `there`.
    pub(super) fn begin(folder: &Path, snapshots: &[Snapshot], there: &OwnedFd) -> Result<Self, KernelError> {
        let path = folder.join(format!("{}{}", beginning()?, std::process::id()));
        let attempted = || format!("write {}", path.display());
        let mut file = locked::create(&path).attempted(attempted)?;
        let record = Self { path: path.clone(), _lock: file.try_clone().attempted(attempted)? };
        let text = serde_json::to_vec(snapshots).expect("what an interface was is plain data");
        file.write_all(&text).attempted(attempted)?;
        // An ordinary user may not mount. Then a network card comes back to the machine without it, and virtual interfaces do not.
        let pin = record.pin();
        let _ = File::create(&pin).map(|_| mount::bind(&format!("/proc/self/fd/{}", there.as_raw_fd()), &pin));
        Ok(record)
    }

    /// The interfaces are back.
    pub(super) fn remove(&self) {
        let pin = self.pin();
        let _ = mount::unbind(&pin);
        // Another process may have been faster.
        let _ = fs::remove_file(pin);
        let _ = fs::remove_file(&self.path);
    }

    fn pin(&self) -> PathBuf {
        self.path.with_extension(PIN)
    }
}

/// How the names of the places end where namespaces are mounted.
const PIN: &str = "net";

/// With what the names of records of this network namespace begin.
fn beginning() -> Result<String, KernelError> {
    let namespace = fs::metadata("/proc/thread-self/ns/net").attempted(|| "look at this network namespace")?;
    Ok(format!("wires-{}-", namespace.ino()))
}

/// The records of labs that took interfaces of the current network namespace, and are no more.
pub(super) fn stale(folder: &Path) -> Result<Vec<Stale>, KernelError> {
    let beginning = beginning()?;
    let entries = fs::read_dir(folder).attempted(|| format!("list {}", folder.display()))?.flatten();
    let own = entries.map(|entry| entry.path()).filter(|path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with(&beginning) && path.extension().is_none()
    });
    Ok(own.filter_map(read).collect())
}

/// None if its lab is there, or if it has gone meanwhile.
fn read(path: PathBuf) -> Option<Stale> {
    let lock = locked::abandoned(&path)?;
    let record = Record { path, _lock: lock };
    // Without a whole text, nothing was moved.
    let text = fs::read(&record.path).ok()?;
    let snapshots = serde_json::from_slice(&text).unwrap_or_default();
    let pin = File::open(record.pin()).ok();
    let there = pin.filter(|file| fstatfs(file.as_fd()).is_ok_and(|kind| kind.filesystem_type() == NAMESPACES));
    Some(Stale { record, snapshots, there: there.map(OwnedFd::from) })
}

//! What was found out about large files, so that they need not be read again until they change.

use crate::{cache_folder, read, replace};
use rustix::process::geteuid;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A file that changed less than this time ago may change again within the same tick of the file system's clock.
const SETTLED: Duration = Duration::from_secs(2);
/// How many files are remembered.
const MOST_FILES: usize = 128;
/// How many bytes of what was remembered are read.
const MOST_BYTES: u64 = 4 << 20;

/// Identifies the contents of a file without reading them: which file it is, its size, and the instants of its last changes, in seconds and
/// nanoseconds since 1970. Any write changes the last of them, which programs cannot set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    written: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    /// Returns none if there is no regular file.
    fn of(path: &Path) -> Option<Self> {
        let about = fs::metadata(path).ok().filter(Metadata::is_file)?;
        Some(Self {
            device: about.dev(),
            inode: about.ino(),
            size: about.size(),
            written: (about.mtime(), about.mtime_nsec()),
            changed: (about.ctime(), about.ctime_nsec()),
        })
    }

    /// Whether a change from now on will show in another stamp. A file system that notes no changes says that they were in 1970.
    fn is_settled(self) -> bool {
        let settled = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().saturating_sub(SETTLED);
        self.changed.0 > 0 && u64::try_from(self.changed.0).is_ok_and(|second| second < settled.as_secs())
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Entry<T> {
    stamp: Stamp,
    value: T,
}

/// Remembers a value for each of several files, in the user's cache folder, until the file changes.
#[derive(Debug)]
pub struct Remembered<T> {
    /// Where it is kept; none if there is no folder for caches.
    place: Option<PathBuf>,
    /// By the path.
    entries: BTreeMap<String, Entry<T>>,
}

impl<T: Clone + Serialize + DeserializeOwned> Remembered<T> {
    /// Reads what is remembered under this name. What cannot be read is forgotten.
    pub fn named(name: &str) -> Self {
        Self::at(cache_folder().map(|folder| folder.join(format!("{name}.json"))))
    }

    fn at(place: Option<PathBuf>) -> Self {
        let bytes = place.as_deref().and_then(|place| read(place, MOST_BYTES).ok());
        let entries = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        Self { place, entries }
    }

    /// Returns what is known of the file at `path`, or finds it out. What was found out is remembered if the file did not change meanwhile
    /// and has not changed just now; if it cannot be remembered, it is found out again next time.
    ///
    /// # Errors
    /// Those of `find`.
    pub fn of<E>(&mut self, path: &Path, find: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        // JSON has no other names.
        let Some(name) = path.to_str() else { return find() };
        let before = Stamp::of(path);
        let known = self.entries.get(name).filter(|entry| Some(entry.stamp) == before);
        if let Some(entry) = known {
            return Ok(entry.value.clone());
        }
        let value = find()?;
        if let Some(stamp) = before.filter(|stamp| stamp.is_settled() && Stamp::of(path) == Some(*stamp)) {
            self.entries.insert(name.to_owned(), Entry { stamp, value: value.clone() });
            // A cache that cannot be written is as good as none.
            let _ = self.write();
        }
        Ok(value)
    }

    /// Files that are gone or have changed make room for others, and then any.
    fn write(&mut self) -> io::Result<()> {
        let Some(place) = &self.place else { return Ok(()) };
        if self.entries.len() > MOST_FILES {
            self.entries.retain(|name, entry| Stamp::of(Path::new(name)) == Some(entry.stamp));
        }
        while self.entries.len() > MOST_FILES {
            self.entries.pop_first();
        }
        if !is_own(place) {
            return Ok(());
        }
        let bytes = serde_json::to_vec(&self.entries)?;
        place.parent().map_or(Ok(()), fs::create_dir_all)?;
        replace(place, |file| file.write_all(&bytes))
    }
}

/// Whether what is made at `place` is in a folder of this user. What root leaves in the home of another would be in the way of that user.
fn is_own(place: &Path) -> bool {
    let folder = place.ancestors().skip(1).find_map(|folder| fs::metadata(folder).ok());
    folder.is_some_and(|folder| folder.uid() == geteuid().as_raw())
}

#[cfg(test)]
mod tests;

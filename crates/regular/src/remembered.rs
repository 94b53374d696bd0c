//! What was found out about large files, so that they need not be read again until they change.

use crate::{cache_folder, read, replace};
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
        let bytes = serde_json::to_vec(&self.entries)?;
        place.parent().map_or(Ok(()), fs::create_dir_all)?;
        replace(place, |file| file.write_all(&bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;
    use std::fs::{File, FileTimes};

    const NAME: &str = "file";

    /// A folder with a file that changed long ago, as far as its owner can say so, and the place of what is remembered.
    fn folder() -> (tempfile::TempDir, PathBuf, Option<PathBuf>) {
        let folder = tempfile::tempdir().unwrap();
        let (path, place) = (folder.path().join(NAME), folder.path().join("cache/known.json"));
        fs::write(&path, "one").unwrap();
        (folder, path, Some(place))
    }

    fn text(path: &Path) -> Result<String, Infallible> {
        Ok(fs::read_to_string(path).unwrap())
    }

    fn never() -> Result<String, Infallible> {
        panic!("it was remembered")
    }

    /// Waits until the file's last change is long enough ago.
    fn settle(path: &Path) {
        while !Stamp::of(path).unwrap().is_settled() {
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    #[test]
    fn a_file_is_read_again_when_it_changed() {
        let (_folder, path, place) = folder();
        settle(&path);
        assert_eq!(Remembered::at(place.clone()).of(&path, || text(&path)), Ok("one".into()));
        assert_eq!(Remembered::at(place.clone()).of(&path, never), Ok("one".into()));
        // The same size, and the time of its last write is put back.
        let written = fs::metadata(&path).unwrap().modified().unwrap();
        fs::write(&path, "two").unwrap();
        File::options().write(true).open(&path).unwrap().set_times(FileTimes::new().set_modified(written)).unwrap();
        assert_eq!(Remembered::at(place).of(&path, || text(&path)), Ok("two".into()));
    }

    #[test]
    fn what_changed_just_now_is_not_remembered() {
        let (_folder, path, place) = folder();
        let mut known = Remembered::at(place.clone());
        assert_eq!(known.of(&path, || text(&path)), Ok("one".into()));
        assert!(known.entries.is_empty() && !place.unwrap().exists());
    }

    #[test]
    fn what_changes_while_it_is_read_is_not_remembered() {
        let (_folder, path, place) = folder();
        settle(&path);
        let mut known = Remembered::at(place);
        let changing = || {
            fs::write(&path, "two").unwrap();
            Ok::<_, Infallible>("one".to_owned())
        };
        assert_eq!(known.of(&path, changing), Ok("one".into()));
        assert!(known.entries.is_empty());
    }

    #[test]
    fn errors_and_damage_are_not_remembered() {
        let (_folder, path, place) = folder();
        settle(&path);
        let mut known = Remembered::<String>::at(place.clone());
        assert_eq!(known.of(&path, || Err("it cannot be read")), Err("it cannot be read"));
        assert_eq!(known.of(&path, || text(&path)), Ok("one".into()));
        fs::write(place.as_ref().unwrap(), "{\"/file\": {\"stamp\": 1").unwrap();
        assert!(Remembered::<String>::at(place).entries.is_empty());
        assert_eq!(Remembered::at(None).of(&path, || text(&path)), Ok("one".into()), "without a place for it");
    }

    #[test]
    fn no_more_than_so_many_are_remembered() {
        let (folder, path, place) = folder();
        settle(&path);
        let stamp = Stamp::of(&path).unwrap();
        let mut known = Remembered::at(place);
        for number in 0..=MOST_FILES {
            known
                .entries
                .insert(format!("{}/{number}", folder.path().display()), Entry { stamp, value: String::new() });
        }
        assert_eq!(known.of(&path, || text(&path)), Ok("one".into()));
        assert_eq!(known.entries.len(), 1, "those that are gone make room");
    }
}

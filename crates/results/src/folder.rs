//! A folder that is written as the run goes on, so that a run that is killed leaves what it had so far.

use crate::WriteError;
use serde::Serialize;
use std::fs::{self, File, TryLockError};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// The folder of one run.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
    /// Locked as long as any process of the run has it open, so that `netloom results prune` does not remove the
    /// folder. Not every file system can.
    _lock: Option<Arc<File>>,
}

impl Folder {
    /// Makes `root/<lab>/<YYYYMMDDTHHMMSS>-<id>/` (UTC).
    pub fn create(root: &Path, lab: &str, now: SystemTime) -> Result<Self, WriteError> {
        let parent = root.join(lab);
        fs::create_dir_all(&parent).map_err(WriteError::file(&parent))?;
        let parent = parent.canonicalize().map_err(WriteError::file(&parent))?;
        let name = format!("{}-{:04x}", compact_time(now), random_id());
        let path = parent.join(&name);
        fs::create_dir(&path).map_err(WriteError::file(&path))?;
        let lock = File::open(&path).map_err(WriteError::file(&path))?;
        // A process that looks at the folder has it open for a moment.
        let lock = lock.lock().is_ok().then(|| Arc::new(lock));
        let folder = Self { path, _lock: lock };
        folder.make_folder("logs")?;
        Ok(folder)
    }

    /// Points `latest`, beside this folder, to it: when the run begins, since one whose set-up fails has no results that
    /// anybody would want in the place of the last ones.
    pub fn become_latest(&self) -> Result<(), WriteError> {
        let latest = self.path.with_file_name("latest");
        point_latest(&self.path, &latest).map_err(WriteError::file(&latest))
    }

    /// The folder at `path`, which exists.
    pub fn existing(path: PathBuf) -> Result<Self, WriteError> {
        let folder = Self { path, _lock: None };
        folder.make_folder("logs")?;
        Ok(folder)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes a folder inside this one.
    pub fn make_folder(&self, name: &str) -> Result<(), WriteError> {
        let path = self.path.join(name);
        fs::create_dir_all(&path).map_err(WriteError::file(&path))
    }

    /// Writes a file in one go.
    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> Result<(), WriteError> {
        let path = self.path.join(name);
        fs::write(&path, contents).map_err(WriteError::file(&path))
    }

    /// Writes a value as a file of indented JSON, atomically: a reader finds the old contents until the new are
    /// complete.
    pub fn write_json<T: Serialize>(&self, name: &str, value: &T) -> Result<(), WriteError> {
        let path = self.path.join(name);
        let written = netloom_regular::replace(&path, |file| {
            serde_json::to_writer_pretty(&mut *file, value)?;
            writeln!(file)
        });
        written.map_err(WriteError::file(&path))
    }

    /// Writes a value as one line of JSON, for programs.
    pub fn write_compact<T: Serialize>(&self, name: &str, value: &T) -> Result<(), WriteError> {
        let mut text = serde_json::to_vec(value).map_err(io::Error::from).map_err(WriteError::file(&self.path))?;
        text.push(b'\n');
        self.write(name, text)
    }

    /// Creates a file that is written piece by piece.
    pub fn file(&self, name: &str) -> Result<File, WriteError> {
        let path = self.path.join(name);
        File::create(&path).map_err(WriteError::file(&path))
    }

    /// Opens a file of this folder that is there already, for what follows.
    pub fn file_again(&self, name: &str) -> Result<File, WriteError> {
        let path = self.path.join(name);
        File::options().append(true).create(true).open(&path).map_err(WriteError::file(&path))
    }

    /// Copies a file of this folder to another name in it.
    pub fn copy(&self, from: &Path, name: &str) -> Result<(), WriteError> {
        let path = self.path.join(name);
        fs::copy(self.path.join(from), &path).map(drop).map_err(WriteError::file(&path))
    }
}

/// Whether a run that still goes on writes to this folder.
pub fn is_going_on(path: &Path) -> bool {
    let locked = File::open(path).map(|folder| folder.try_lock_shared());
    matches!(locked, Ok(Err(TryLockError::WouldBlock)))
}

/// A link under another name is renamed into place, so that `latest` exists at every moment.
fn point_latest(folder: &Path, latest: &Path) -> io::Result<()> {
    let name = folder.file_name().unwrap_or_default();
    let fresh = folder.with_file_name(format!(".latest-{}", name.display()));
    symlink(name, &fresh)?;
    fs::rename(&fresh, latest)
}

/// `20261121T093153` for 2026-11-21T09:31:53Z.
fn compact_time(now: SystemTime) -> String {
    let full = humantime::format_rfc3339_seconds(now).to_string();
    full.chars().filter(|c| c.is_ascii_digit() || *c == 'T').collect()
}

/// Tells apart runs that begin in the same second. The standard library seeds each hasher's state at random.
fn random_id() -> u16 {
    let hash = RandomState::new().build_hasher().finish();
    u16::try_from(hash & 0xffff).expect("masked to 16 bits")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, UNIX_EPOCH};

    #[test]
    fn a_folder_has_logs_and_is_the_latest() {
        let root = tempfile::tempdir().unwrap();
        let when = UNIX_EPOCH + Duration::from_secs(1_795_253_513);
        let first = Folder::create(root.path(), "dumbbell", when).unwrap();
        let second = Folder::create(root.path(), "dumbbell", when).unwrap();
        assert_ne!(first.path(), second.path());
        assert!(second.path().join("logs").is_dir());
        let name = second.path().file_name().unwrap().to_str().unwrap();
        assert!(name.starts_with("20261121T093153-"), "{name}");
        assert!(!root.path().join("dumbbell/latest").exists());
        for folder in [&first, &second] {
            folder.become_latest().unwrap();
        }
        let latest = root.path().join("dumbbell/latest").canonicalize().unwrap();
        assert_eq!(latest, second.path().canonicalize().unwrap());
    }

    /// On a full disk, the report has to have the room that a page did not find enough of.
    #[test]
    fn what_cannot_be_written_takes_no_room() {
        let root = tempfile::tempdir().unwrap();
        let folder = Folder::create(root.path(), "full", UNIX_EPOCH).unwrap();
        // A folder that is not empty is replaced by no file, not even by root.
        fs::create_dir_all(folder.path().join("report.json/inside")).unwrap();
        fs::create_dir_all(folder.path().join("page.html/inside")).unwrap();
        assert!(folder.write_json("report.json", &1).is_err());
        assert!(crate::page::put(&folder.path().join("page.html"), "page").is_err());
        let there = fs::read_dir(folder.path()).unwrap().map(|one| one.unwrap().file_name().into_string().unwrap());
        assert!(!there.into_iter().any(|name| netloom_regular::is_left_over(&name)));
    }

    #[test]
    fn a_folder_that_cannot_be_made_names_its_path() {
        let error = Folder::create(Path::new("/proc/nowhere"), "dumbbell", UNIX_EPOCH).unwrap_err();
        assert!(matches!(error, WriteError::File { .. }), "{error:?}");
        assert!(error.to_string().contains("/proc/nowhere/dumbbell"), "{error}");
    }
}

//! Files that processes hold locked for as long as they need what the file speaks of. One that is there and not locked was left by
//! a process that is no more, and others remove it: so whoever has locked a file makes sure that it is still there.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::error::{Attempted, KernelError};

/// Makes an empty file, locked for this process alone. Waits for whoever has it locked.
///
/// # Errors
/// The kernel's refusal.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    loop {
        let file = File::options().read(true).write(true).create(true).truncate(false).open(path)?;
        file.lock()?;
        // Whoever found it before it was locked has removed it.
        if is_at(&file, path) {
            return file.set_len(0).map(|()| file);
        }
    }
}

/// Locks a folder of records, so that one process at a time puts back what others have left; it is unlocked when the file is closed. Waits
/// for whoever has it locked.
///
/// # Errors
/// The kernel's refusal.
pub(crate) fn folder(path: &Path) -> Result<File, KernelError> {
    let attempted = || format!("lock {}", path.display());
    let opened = File::open(path).attempted(attempted)?;
    opened.lock().attempted(attempted)?;
    Ok(opened)
}

/// Opens a file of which the process is no more, and locks it; none if that is there, or if the file has gone.
pub(crate) fn abandoned(path: &Path) -> Option<File> {
    let file = File::options().read(true).write(true).open(path).ok()?;
    let is_alone = matches!(alone(&file), Ok(true));
    (is_alone && is_at(&file, path)).then_some(file)
}

/// Locks the file for this process alone, unless another has it.
///
/// # Errors
/// The kernel's refusal.
pub(crate) fn alone(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Whether this file is the one that is found there, rather than one that was removed.
pub(crate) fn is_at(file: &File, path: &Path) -> bool {
    let same = |one: fs::Metadata, other: fs::Metadata| (one.dev(), one.ino()) == (other.dev(), other.ino());
    file.metadata().is_ok_and(|own| fs::metadata(path).is_ok_and(|there| same(own, there)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    #[test]
    fn a_file_that_is_being_made_is_not_taken_for_a_left_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("record");
        let (path, done) = (path.as_path(), AtomicBool::new(false));
        thread::scope(|scope| {
            let sweeper = || {
                while !done.load(Ordering::Relaxed) {
                    if let Some(_left) = abandoned(path) {
                        fs::remove_file(path).unwrap();
                    }
                }
            };
            let sweepers = [scope.spawn(sweeper), scope.spawn(sweeper)];
            let lost = (0..2_000).filter(|_| {
                let held = create(path).unwrap();
                let is_there = is_at(&held, path);
                fs::remove_file(path).is_err() || !is_there
            });
            let lost = lost.count();
            done.store(true, Ordering::Relaxed);
            sweepers.into_iter().for_each(|thread| thread.join().unwrap());
            assert_eq!(lost, 0);
        });
    }

    #[test]
    fn a_file_is_left_when_its_process_closes_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("record");
        let held = create(&path).unwrap();
        assert!(abandoned(&path).is_none());
        drop(held);
        let left = abandoned(&path).unwrap();
        fs::remove_file(&path).unwrap();
        assert!(!is_at(&left, &path) && abandoned(&path).is_none());
    }
}

use std::fs::{File, TryLockError};
use std::io;
use std::thread::sleep;
use std::time::Duration;

/// How often a lock is asked for that another process has.
const ATTEMPTS: u32 = 50;
/// The time between two of them.
const PAUSE: Duration = Duration::from_millis(4);

/// Locks the file for whoever has it open, and says whether that succeeded: it does not if another keeps the lock for 200 ms.
///
/// A process that has just been forked holds the locks of its parent until it becomes another program. So a lock that was given back
/// may be taken for a moment still.
///
/// # Errors
/// The kernel's refusal.
pub fn lock_alone(file: &File) -> io::Result<bool> {
    for _ in 0..ATTEMPTS {
        match file.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) => sleep(PAUSE),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn a_lock_that_is_given_back_soon_is_waited_for_and_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let held = File::create(&path).unwrap();
        let other = File::open(&path).unwrap();
        assert!(lock_alone(&held).unwrap());
        assert!(!lock_alone(&other).unwrap());
        // What a forked process has: the same open file.
        let forked = held.try_clone().unwrap();
        drop(held);
        thread::scope(|scope| {
            scope.spawn(move || {
                sleep(2 * PAUSE);
                drop(forked);
            });
            assert!(lock_alone(&other).unwrap());
        });
    }
}

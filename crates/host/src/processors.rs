//! Which processors programs may use.

use nix::errno::Errno;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

/// The calling thread: in Linux, every thread has an affinity of its own.
const THIS: Pid = Pid::from_raw(0);

/// Takes the last of the processors that the calling thread may use away from it, and from all threads and processes
/// that it starts from now on. None if it has only one.
///
/// # Errors
/// What the kernel says.
pub fn reserve() -> Result<Option<usize>, Errno> {
    let [_, .., last] = allowed()?[..] else { return Ok(None) };
    let mut allowed = sched_getaffinity(THIS)?;
    allowed.unset(last)?;
    sched_setaffinity(THIS, &allowed)?;
    Ok(Some(last))
}

/// The processors that the calling thread may use.
///
/// # Errors
/// What the kernel says.
pub fn allowed() -> Result<Vec<usize>, Errno> {
    let allowed = sched_getaffinity(THIS)?;
    Ok((0..CpuSet::count()).filter(|cpu| allowed.is_set(*cpu).unwrap_or(false)).collect())
}

/// Keeps the calling thread, and all that it starts from now on, on one processor.
///
/// # Errors
/// What the kernel says.
pub fn stay_on(processor: usize) -> Result<(), Errno> {
    let mut only = CpuSet::new();
    only.set(processor)?;
    sched_setaffinity(THIS, &only)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_processor_is_taken_from_the_thread_and_from_what_it_starts() {
        // A thread of its own, so that no other test loses a processor.
        let check = || {
            let before = sched_getaffinity(THIS).expect("a thread has an affinity");
            let count = (0..CpuSet::count()).filter(|cpu| before.is_set(*cpu).unwrap_or(false)).count();
            let reserved = reserve().expect("a thread may give processors away");
            assert_eq!(reserved.is_some(), count > 1);
            let child = std::thread::spawn(|| sched_getaffinity(THIS)).join().expect("it does not panic");
            let after = child.expect("a thread has an affinity");
            assert!(reserved.is_none_or(|cpu| !after.is_set(cpu).expect("a processor that exists")));
        };
        std::thread::spawn(check).join().expect("the check holds");
    }
}

//! Which processors programs may use.

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
use std::fs::File;
use std::path::Path;

/// The calling thread: in Linux, every thread has an affinity of its own.
const THIS: Pid = Pid::from_raw(0);

/// A processor that no other lab on this machine stays on, for as long as this value or a child of this process lives.
#[derive(Debug)]
pub struct Claim {
    /// Its number.
    pub processor: usize,
    /// A lock on what describes the processor in sysfs: other users see it, it leaves nothing behind, and dies with us.
    _lock: Flock<File>,
}

/// Claims the last of the processors that the calling thread may use and no other lab has claimed, but for those that are
/// `taken`. None if there is only one, or none is left.
///
/// # Errors
/// What the kernel says.
pub fn claim(taken: &[usize]) -> Result<Option<Claim>, Errno> {
    Ok(claim_of(&allowed()?, taken, Path::new("/sys/devices/system/cpu")))
}

/// Claims the last of these processors that is not taken and nobody has claimed; each has a folder in `described`.
fn claim_of(allowed: &[usize], taken: &[usize], described: &Path) -> Option<Claim> {
    let several = if allowed.len() > 1 { allowed } else { &[] };
    several.iter().rev().filter(|processor| !taken.contains(processor)).find_map(|&processor| {
        let folder = File::open(described.join(format!("cpu{processor}"))).ok()?;
        let lock = Flock::lock(folder, FlockArg::LockExclusiveNonblock).ok()?;
        Some(Claim { processor, _lock: lock })
    })
}

/// Processors of which no other experiment of the queue has any, for as long as this value lives.
#[derive(Debug)]
pub struct Reservation {
    /// Their numbers.
    pub processors: Vec<usize>,
    /// Whether they are not all that the calling thread may use.
    pub is_part: bool,
    _locks: Vec<Flock<File>>,
}

/// Reserves so many of the processors that the calling thread may use, or all of them. None if others have too many. What is
/// locked is not what [`claim`] locks: a lab that has its turn claims among its own.
///
/// # Errors
/// What the kernel says.
pub fn reserve(need: Option<usize>) -> Result<Option<Reservation>, Errno> {
    Ok(reserve_of(&allowed()?, need, Path::new("/sys/devices/system/cpu")))
}

fn reserve_of(allowed: &[usize], need: Option<usize>, described: &Path) -> Option<Reservation> {
    let need = need.unwrap_or(usize::MAX).clamp(1, allowed.len().max(1));
    let (mut processors, mut locks) = (Vec::new(), Vec::new());
    for processor in allowed {
        let Ok(file) = File::open(described.join(format!("cpu{processor}/uevent"))) else { continue };
        if processors.len() == need {
            break;
        }
        if let Ok(lock) = Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            processors.push(*processor);
            locks.push(lock);
        }
    }
    let is_part = processors.len() < allowed.len();
    (processors.len() == need).then_some(Reservation { processors, is_part, _locks: locks })
}

/// Gives this process's session three times the share of another one, where the kernel divides processors by sessions (autogroups
/// of sched(7)), until the session ends. Only root may. More would starve others beside a thread that always computes.
pub fn prefer_own_session() {
    // A kernel without such a division has no such file, and who may not write it does without.
    let _ = std::fs::write("/proc/self/autogroup", "-5");
}

/// Takes a processor away from the calling thread, and from all threads and processes that it starts from now on.
///
/// # Errors
/// What the kernel says.
pub fn avoid(processor: usize) -> Result<(), Errno> {
    let mut allowed = sched_getaffinity(THIS)?;
    allowed.unset(processor)?;
    sched_setaffinity(THIS, &allowed)
}

/// The processors that the calling thread may use.
///
/// # Errors
/// What the kernel says.
pub fn allowed() -> Result<Vec<usize>, Errno> {
    let allowed = sched_getaffinity(THIS)?;
    Ok((0..CpuSet::count()).filter(|cpu| allowed.is_set(*cpu).unwrap_or(false)).collect())
}

/// Keeps the calling thread, and all that it starts from now on, on these processors.
///
/// # Errors
/// What the kernel says: that none of them is there, or that its cpuset has none of them.
pub fn stay_on(processors: &[usize]) -> Result<(), Errno> {
    keep_on(THIS, processors)
}

/// Keeps a thread of any process, and all that it starts from now on, on these processors.
///
/// # Errors
/// What the kernel says: as for [`stay_on`], or that there is no such thread any more.
pub fn keep_on(thread: Pid, processors: &[usize]) -> Result<(), Errno> {
    sched_setaffinity(thread, &set_of(processors)?)
}

/// These processors, as the kernel takes them.
pub(crate) fn set_of(processors: &[usize]) -> Result<CpuSet, Errno> {
    let mut set = CpuSet::new();
    processors.iter().try_for_each(|processor| set.set(*processor))?;
    Ok(set)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_processor_that_is_free_is_claimed() {
        let described = tempfile::tempdir().expect("a folder");
        for processor in [1, 2, 5] {
            std::fs::create_dir(described.path().join(format!("cpu{processor}"))).expect("a folder");
        }
        let claim = |allowed: &[usize]| claim_of(allowed, &[], described.path());
        let all = [1, 2, 5];
        let mut claims: Vec<Claim> = std::iter::from_fn(|| claim(&all)).collect();
        assert_eq!(claims.iter().map(|one| one.processor).collect::<Vec<_>>(), [5, 2, 1]);
        claims.remove(1);
        assert_eq!(claim(&all).map(|one| one.processor), Some(2), "it is free again");
        claims.clear();
        assert_eq!(claim_of(&all, &[1, 5], described.path()).map(|one| one.processor), Some(2), "others are taken");
        assert!(claim(&[5]).is_none(), "an only processor is everybody's");
    }

    #[test]
    fn processors_are_reserved_all_or_none() {
        let described = tempfile::tempdir().expect("a folder");
        for processor in [1, 2, 5] {
            let folder = described.path().join(format!("cpu{processor}"));
            std::fs::create_dir(&folder).expect("a folder");
            std::fs::write(folder.join("uevent"), "").expect("a file");
        }
        let reserve = |need| reserve_of(&[1, 2, 5], need, described.path());
        let one = reserve(Some(1)).expect("all are free");
        assert_eq!((&one.processors[..], one.is_part), (&[1][..], true));
        assert!(reserve(None).is_none() && reserve(Some(3)).is_none(), "one has gone");
        let two = reserve(Some(2)).expect("what was not enough was given back");
        assert_eq!(two.processors, [2, 5]);
        drop((one, two));
        let all = reserve(Some(100)).expect("more than there are is all there are");
        assert_eq!((all.processors.len(), all.is_part), (3, false));
        assert!(claim_of(&[1, 2, 5], &[], described.path()).is_some(), "a lab still claims one of them");
    }

    /// Labs of other tests may have claimed any of them, so that one or none is left.
    #[test]
    fn processors_of_this_machine_can_be_claimed() {
        let allowed = allowed().expect("a thread has an affinity");
        assert!(!allowed.is_empty());
        let claims: Vec<Claim> = std::iter::from_fn(|| claim(&[]).expect("the kernel tells")).collect();
        let folder = |processor: &usize| Path::new("/sys/devices/system/cpu").join(format!("cpu{processor}"));
        assert!(allowed.iter().all(|processor| folder(processor).is_dir()), "{allowed:?}");
        assert!(claims.is_sorted_by(|one, next| one.processor > next.processor), "{claims:?}");
        assert!(claims.iter().all(|one| allowed.contains(&one.processor)), "{claims:?}");
    }

    #[test]
    fn what_a_thread_avoids_it_and_what_it_starts_do_not_use() {
        // A thread of its own, so that no other test loses a processor.
        let check = || {
            let before = allowed().expect("a thread has an affinity");
            let last = *before.last().expect("it runs somewhere");
            if before.len() == 1 {
                // It has to run somewhere.
                assert!(avoid(last).is_err() && allowed() == Ok(before));
                return;
            }
            let both = [before[0], last];
            stay_on(&both).expect("a thread may choose among its processors");
            assert_eq!(allowed(), Ok(both.to_vec()));
            avoid(last).expect("a thread may give processors away");
            let child = std::thread::spawn(|| sched_getaffinity(THIS)).join().expect("it does not panic");
            let after = child.expect("a thread has an affinity");
            assert!(!after.is_set(last).expect("a processor that exists"));
        };
        std::thread::spawn(check).join().expect("the check holds");
    }
}

//! What Linux tells of a kernel's process and of those of its programs, and which processor they run on.

use netloom_host::processors::keep_on;
use nix::unistd::Pid;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// The time for which a process had a processor or waited for one since it started, in wall time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessUse {
    /// How long it ran.
    pub ran: Duration,
    /// How long it was ready to run and had no processor.
    pub waited: Duration,
}

impl ProcessUse {
    pub(crate) fn and(self, other: Self) -> Self {
        Self { ran: self.ran + other.ran, waited: self.waited + other.waited }
    }
}

/// Sums up what the threads of a process used; none if it has ended, or if the machine keeps no account.
pub(crate) fn used(pid: Pid) -> Option<ProcessUse> {
    threads(pid).filter_map(|task| schedstat(Path::new(&format!("/proc/{pid}/task/{task}")))).reduce(ProcessUse::and)
}

/// Returns the processes of a kernel's programs, which are children of its own.
pub(crate) fn children(pid: Pid) -> Vec<Pid> {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    text.split_ascii_whitespace().filter_map(|child| child.parse().ok().map(Pid::from_raw)).collect()
}

/// Lets a kernel's process and those of its programs run on this processor alone, and what they start.
pub(crate) fn move_to(kernel: Pid, processor: usize) {
    let all = [kernel].into_iter().chain(children(kernel));
    for thread in all.flat_map(threads) {
        // What has ended meanwhile needs no processor, and what may not move stays.
        let _ = keep_on(thread, &[processor]);
    }
}

fn threads(pid: Pid) -> impl Iterator<Item = Pid> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    tasks.filter_map(|task| task.file_name().to_str()?.parse().ok().map(Pid::from_raw))
}

/// The first two fields of Linux's sched-stats.rst, section on `/proc/<pid>/schedstat`: nanoseconds.
fn schedstat(task: &Path) -> Option<ProcessUse> {
    let text = fs::read_to_string(task.join("schedstat")).ok()?;
    let mut numbers = text.split_ascii_whitespace().map(|number| number.parse().ok().map(Duration::from_nanos));
    Some(ProcessUse { ran: numbers.next()??, waited: numbers.next()?? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sched::{CpuSet, sched_getaffinity};
    use std::process::Command;

    #[test]
    fn this_process_has_used_a_processor() {
        let used = used(nix::unistd::getpid()).expect("this machine keeps the account");
        assert!(used.ran > Duration::ZERO);
    }

    #[test]
    fn a_process_moves_with_its_children() {
        let allowed = netloom_host::processors::allowed().unwrap();
        let processor = *allowed.last().unwrap();
        let mut shell = Command::new("sh").args(["-c", "sleep 600; :"]).spawn().unwrap();
        let pid = Pid::from_raw(shell.id().cast_signed());
        let sleep = loop {
            if let [sleep] = children(pid)[..] {
                break sleep;
            }
            std::thread::yield_now();
        };
        move_to(pid, processor);
        let seen = [pid, sleep].map(|pid| sched_getaffinity(pid).unwrap());
        for process in [pid, sleep] {
            nix::sys::signal::kill(process, nix::sys::signal::Signal::SIGKILL).unwrap();
        }
        shell.wait().unwrap();
        for set in seen {
            let on: Vec<usize> = (0..CpuSet::count()).filter(|cpu| set.is_set(*cpu).unwrap()).collect();
            assert_eq!(on, [processor]);
        }
    }
}

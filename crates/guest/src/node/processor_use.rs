use std::fs;
use std::path::Path;
use std::time::Duration;

use nix::unistd::{Pid, SysconfVar, sysconf};

use super::KernelNode;

/// The time for which a kernel's process and those of its programs had a processor or waited for one since they started, in wall time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessorUse {
    /// For how long they ran.
    pub ran: Duration,
    /// For how long they were ready to run and had none. Programs that have ended are left out: the kernel does not
    /// keep their account.
    pub waited: Duration,
}

impl KernelNode {
    /// Returns how long the node has used and waited for its processor, as this machine sees it. None where the machine keeps no such
    /// account (`CONFIG_SCHED_INFO`), or when the kernel has ended.
    pub fn processor_use(&self) -> Option<ProcessorUse> {
        let pid = self.pid();
        let mut sum = threads(pid)?;
        for child in children(pid) {
            // One that has ended meanwhile counts as ended.
            let own = threads(child).unwrap_or_default();
            sum = ProcessorUse { ran: sum.ran + own.ran, waited: sum.waited + own.waited };
        }
        sum.ran += time_of_ended_children(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)?;
        // Of several processors, what each of them had on average.
        let processors = self.machine.processors().max(1);
        Some(ProcessorUse { ran: sum.ran / processors, waited: sum.waited / processors })
    }
}

/// The sum over the threads of a process.
fn threads(pid: Pid) -> Option<ProcessorUse> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten();
    let own = tasks.filter_map(|task| schedstat(&task.path()));
    own.reduce(|sum, one| ProcessorUse { ran: sum.ran + one.ran, waited: sum.waited + one.waited })
}

/// The first two fields of Linux's sched-stats.rst, section on `/proc/<pid>/schedstat`: nanoseconds.
fn schedstat(task: &Path) -> Option<ProcessorUse> {
    let text = fs::read_to_string(task.join("schedstat")).ok()?;
    let mut numbers = text.split_ascii_whitespace().map(|number| number.parse().ok().map(Duration::from_nanos));
    Some(ProcessorUse { ran: numbers.next()??, waited: numbers.next()?? })
}

/// The programs of a kernel are children of its process.
fn children(pid: Pid) -> Vec<Pid> {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    text.split_ascii_whitespace().filter_map(|child| child.parse().ok().map(Pid::from_raw)).collect()
}

/// Fields 16 and 17 of proc_pid_stat(5), which count in clock ticks. The second field is a name in parentheses, which may
/// contain anything.
fn time_of_ended_children(stat: &str) -> Option<Duration> {
    let (_, rest) = stat.rsplit_once(')')?;
    let ticks: u64 = rest.split_ascii_whitespace().skip(13).take(2).map(|field| field.parse().unwrap_or(0)).sum();
    let per_second = sysconf(SysconfVar::CLK_TCK).ok()??.try_into().ok()?;
    Some(Duration::from_millis(ticks * 1000 / u64::max(per_second, 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_used_a_processor() {
        let used = threads(nix::unistd::getpid()).expect("this machine keeps the account");
        assert!(used.ran > Duration::ZERO);
    }

    #[test]
    fn the_time_of_ended_children_is_found_behind_any_name() {
        let stat = "42 (a) b (c)) S 1 1 1 0 -1 0 1 2 3 4 500 600 70 30 20 0 1 0";
        let per_second = sysconf(SysconfVar::CLK_TCK).unwrap().unwrap();
        let expected = Duration::from_millis(100_000 / per_second.unsigned_abs());
        assert_eq!(time_of_ended_children(stat), Some(expected));
    }
}

use super::KernelNode;
use crate::process::{self, ProcessUse};
use nix::unistd::{SysconfVar, sysconf};
use std::fs;
use std::time::Duration;

/// The use of processors by a kernel's process and those of its programs since they started, in wall time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessorUse {
    /// Holds what the threads of the kernel's process used together.
    pub kernel: ProcessUse,
    /// Holds what the processes of its programs used. Of those that have ended only the time is known for which they ran.
    pub programs: ProcessUse,
    /// Counts the processors of the kernel.
    pub processors: u32,
}

impl ProcessorUse {
    /// Returns what each of the node's processors had on average since `earlier`.
    ///
    /// The kernel waits while one of its own programs has the processor, and programs while the kernel has it, as on every
    /// machine. So a wait counts only as far as it cannot have been that: the kernel's beyond what its programs ran, and that of the
    /// programs beyond what the kernel ran.
    pub fn since(&self, earlier: &Self) -> ProcessUse {
        let of = |now: &ProcessUse, before: &ProcessUse| ProcessUse {
            ran: now.ran.saturating_sub(before.ran),
            waited: now.waited.saturating_sub(before.waited),
        };
        let (kernel, programs) = (of(&self.kernel, &earlier.kernel), of(&self.programs, &earlier.programs));
        let waited = kernel.waited.saturating_sub(programs.ran) + programs.waited.saturating_sub(kernel.ran);
        let processors = self.processors.max(1);
        ProcessUse { ran: (kernel.ran + programs.ran) / processors, waited: waited / processors }
    }
}

impl KernelNode {
    /// Returns how long the node has used and waited for its processor, as this machine sees it. None where the machine keeps no such
    /// account (`CONFIG_SCHED_INFO`), or when the kernel has ended or runs in another part of the lab.
    pub fn processor_use(&self) -> Option<ProcessorUse> {
        let pid = self.pid()?;
        let kernel = process::used(pid)?;
        // One that has ended meanwhile counts as ended.
        let each = process::children(pid).into_iter().map(|child| process::used(child).unwrap_or_default());
        let mut programs = each.fold(ProcessUse::default(), ProcessUse::and);
        programs.ran += time_of_ended_children(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)?;
        Some(ProcessorUse { kernel, programs, processors: self.machine.processors() })
    }
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
    fn a_wait_for_the_nodes_own_processes_is_none() {
        let seconds = |ran, waited| ProcessUse { ran: Duration::from_secs(ran), waited: Duration::from_secs(waited) };
        let earlier = ProcessorUse { kernel: seconds(1, 1), programs: seconds(1, 1), processors: 1 };
        let now = |kernel, programs| ProcessorUse { kernel, programs, processors: 1 };
        assert_eq!(now(seconds(5, 4), seconds(5, 5)).since(&earlier), seconds(8, 0), "they took turns");
        assert_eq!(now(seconds(5, 9), seconds(4, 6)).since(&earlier), seconds(7, 6), "5 s behind others, and 1 s");
        let four = ProcessorUse { processors: 4, ..now(seconds(9, 17), seconds(1, 1)) };
        assert_eq!(four.since(&earlier), seconds(2, 4));
    }

    #[test]
    fn the_time_of_ended_children_is_found_behind_any_name() {
        let stat = "42 (a) b (c)) S 1 1 1 0 -1 0 1 2 3 4 500 600 70 30 20 0 1 0";
        let per_second = sysconf(SysconfVar::CLK_TCK).unwrap().unwrap();
        let expected = Duration::from_millis(100_000 / per_second.unsigned_abs());
        assert_eq!(time_of_ended_children(stat), Some(expected));
    }
}

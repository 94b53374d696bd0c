//! Signs of life of a kernel's process.

use crate::schedule::MachineError;
use netloom_host::sealed::last_lines;
use std::path::PathBuf;

/// Lines of a kernel's console that a message shows.
const LAST_LINES: usize = 12;

/// Tells a kernel that computes from one that hangs, and what it said last.
#[derive(Debug, Default)]
pub struct Vitals {
    /// Its process.
    pub pid: Option<i32>,
    /// Where its console is written to.
    pub console: PathBuf,
    /// Processor time in clock ticks when it was last looked at.
    used: u64,
}

impl Vitals {
    /// Of a kernel that has just started.
    pub fn new(pid: i32, console: PathBuf) -> Self {
        Self { pid: Some(pid), console, used: 0 }
    }

    /// Whether it or one of its programs has used processor time since it was last asked.
    pub(super) fn has_computed(&mut self) -> bool {
        let Some(pid) = self.pid else { return false };
        let mut used = ticks(pid);
        let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
        used += children.split_ascii_whitespace().filter_map(|child| child.parse().ok()).map(ticks).sum::<u64>();
        // A program that ended takes its time along.
        std::mem::replace(&mut self.used, used) != used
    }

    /// The process closed its end: whether it switched itself off.
    pub(super) fn ended(&self) -> Result<(), MachineError> {
        let console = self.last_lines();
        if console.contains("Kernel panic") || !console.contains("reboot: ") { Err(self.died()) } else { Ok(()) }
    }

    pub(super) fn died(&self) -> MachineError {
        MachineError::Died(self.last_lines())
    }

    pub(super) fn stalled(&self) -> MachineError {
        MachineError::Stalled(self.last_lines())
    }

    /// The last lines of the console, each on a line of its own with a mark before it.
    fn last_lines(&self) -> String {
        last_lines(&self.console, LAST_LINES)
    }
}

/// Processor time of a process in clock ticks (proc(5): fields 14 and 15 of `stat`); 0 when it has gone.
fn ticks(pid: i32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    fields.split_ascii_whitespace().skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum()
}

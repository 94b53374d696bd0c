//! Signs of life of a kernel's process.

use super::spin::Glance;
use crate::process;
use crate::schedule::MachineError;
use netloom_host::sealed::last_lines;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Lines of a kernel's console that a message shows.
const LAST_LINES: usize = 12;

/// How long a kernel may take to say which program computes.
const NAME_WITHIN: Duration = Duration::from_millis(100);

/// The health of a kernel's process: whether it computes or hangs, and what it said last.
#[derive(Debug, Default)]
pub struct ProcessHealth {
    /// The kernel's process.
    pub pid: Option<Pid>,
    /// Where its console is written to.
    pub console: PathBuf,
    /// Processor time in clock ticks when it was last looked at.
    used: u64,
    /// The name of its process when it started, which a kernel changes when it says which program computes.
    name: String,
}

impl ProcessHealth {
    /// Returns the health of a kernel that has just started.
    pub fn new(pid: Pid, console: PathBuf) -> Self {
        Self { pid: Some(pid), console, used: 0, name: name(pid) }
    }

    /// Whether it or one of its programs has used processor time since it was last asked.
    pub(super) fn has_computed(&mut self) -> bool {
        let Some(pid) = self.pid else { return false };
        let used = ticks(pid) + process::children(pid).into_iter().map(ticks).sum::<u64>();
        // A program that ended takes its time along.
        std::mem::replace(&mut self.used, used) != used
    }

    /// How long it and its programs that have not ended have had a processor since they started, in wall time.
    pub(super) fn used(&self) -> Option<Duration> {
        let pid = self.pid?;
        let programs = process::children(pid).into_iter().filter_map(process::used).map(|used| used.ran).sum();
        Some(process::used(pid)?.ran + programs)
    }

    /// Lets it run on another processor from now on.
    pub(super) fn move_to(&self, processor: usize) {
        self.pid.into_iter().for_each(|pid| process::move_to(pid, processor));
    }

    /// What it and its programs are doing just now.
    pub(super) fn glance(&self) -> Glance {
        let Some(pid) = self.pid else { return Glance { sleeps: 0, program: None } };
        let is_asleep = state(pid) == Some('S');
        let program = process::children(pid).into_iter().find(|child| is_asleep && state(*child) == Some('R'));
        Glance { sleeps: sleeps(pid), program }
    }

    /// Interrupts a program of it that computes, one of [`ProcessHealth::glance`].
    pub(super) fn interrupt(&self, program: Pid) {
        // One that has ended meanwhile needs no interruption.
        let _ = kill(program, Signal::SIGALRM);
    }

    /// What computes, in words. A kernel that is interrupted takes the name of the program that it interrupts.
    pub(super) fn what_computes(&self) -> String {
        let (Some(pid), Some(program)) = (self.pid, self.glance().program) else { return "its kernel".into() };
        self.interrupt(program);
        let end = Instant::now() + NAME_WITHIN;
        loop {
            let name = name(pid);
            if !name.is_empty() && name != self.name {
                return format!("its program `{name}`");
            }
            if end <= Instant::now() {
                return "a program of it".into();
            }
            std::thread::sleep(Duration::from_millis(1));
        }
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

fn name(pid: Pid) -> String {
    std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default().trim_end().to_owned()
}

/// How often a process has given its processor up to wait for something.
fn sleeps(pid: Pid) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let count = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    count.and_then(|count| count.trim().parse().ok()).unwrap_or(0)
}

/// The fields of `stat` behind the name of a process (proc(5): from field 3 on); empty when it has gone.
fn stat(pid: Pid) -> String {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').map_or_else(String::new, |(_, fields)| fields.to_owned())
}

fn state(pid: Pid) -> Option<char> {
    stat(pid).trim_start().chars().next()
}

/// Processor time of a process in clock ticks (fields 14 and 15 of `stat`); 0 when it has gone.
fn ticks(pid: Pid) -> u64 {
    let fields = stat(pid);
    fields.split_ascii_whitespace().skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum()
}

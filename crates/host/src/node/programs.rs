//! The programs that a node's init has started, and everything else that is its child.

use std::collections::BTreeMap;

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;
use rustix::process::{WaitOptions, waitpid};

use super::inspect;
use super::protocol::{CpuWait, ProcessId};
use crate::error::{Attempted, KernelError};

/// All processes but the caller's own.
const ALL_PROCESSES: Pid = Pid::from_raw(-1);

#[derive(Default)]
pub(crate) struct Programs {
    /// Those that were started here and still run.
    running: BTreeMap<Pid, ProcessId>,
    started: u64,
    /// Of processes that have ended.
    ended: CpuWait,
}

impl Programs {
    /// Numbers a program that has just been started.
    pub(crate) fn add(&mut self, pid: Pid) -> ProcessId {
        self.started += 1;
        let process = ProcessId(self.started);
        self.running.insert(pid, process);
        process
    }

    /// The number of the program that starts next.
    pub(crate) fn next(&self) -> ProcessId {
        ProcessId(self.started + 1)
    }

    /// The programs that run, each the leader of its session.
    pub(crate) fn running(&self) -> &BTreeMap<Pid, ProcessId> {
        &self.running
    }

    /// The first process of a program; none if it has ended.
    pub(crate) fn pid_of(&self, process: ProcessId) -> Option<Pid> {
        self.running.iter().find(|(_, id)| **id == process).map(|(pid, _)| *pid)
    }

    /// Signals the process group of a program; one that has ended is skipped.
    pub(crate) fn signal(&self, process: ProcessId, signal: i32) -> Result<(), KernelError> {
        let attempted = || format!("send signal {signal} to process {}", process.get());
        let signal = Signal::try_from(signal).attempted(attempted)?;
        let Some(pid) = self.pid_of(process) else { return Ok(()) };
        killpg(pid, signal).attempted(attempted)
    }

    /// Signals every process but this one; that there is none is not an error.
    pub(crate) fn signal_all(signal: i32) -> Result<(), KernelError> {
        let attempted = || format!("send signal {signal} to all programs");
        match kill(ALL_PROCESSES, Signal::try_from(signal).attempted(attempted)?) {
            Ok(()) | Err(Errno::ESRCH) => Ok(()),
            Err(error) => Err(error).attempted(attempted),
        }
    }

    /// Signals every process that this one has started, and those that these have; that there is none is not an error.
    pub(crate) fn signal_descendants(signal: i32) -> Result<(), KernelError> {
        let named = Signal::try_from(signal).attempted(|| format!("send signal {signal} to all programs"))?;
        for pid in inspect::descendants(Pid::this())? {
            match kill(pid, named) {
                Ok(()) | Err(Errno::ESRCH) => {}
                Err(error) => return Err(error).attempted(|| format!("send {named} to process {pid}")),
            }
        }
        Ok(())
    }

    pub(crate) fn cpu_wait(&self) -> Result<CpuWait, KernelError> {
        let mut sum = inspect::cpu_wait()?;
        sum += self.ended;
        Ok(sum)
    }

    /// Reaps every child that has ended, orphans included, and calls `ended` for those that were started here, with what
    /// wait(2) says and the CPU time of the first thread. Returns whether there are other children.
    pub(crate) fn reap(&mut self, mut ended: impl FnMut(ProcessId, i32, CpuWait)) -> bool {
        loop {
            // Not reaped at once: a zombie still shows how long it waited for a CPU.
            match waitid(Id::All, WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT) {
                Ok(WaitStatus::StillAlive) => return true,
                Ok(status) => status.pid().into_iter().for_each(|pid| self.bury(pid, &mut ended)),
                Err(Errno::EINTR) => (),
                Err(_) => return false,
            }
        }
    }

    fn bury(&mut self, pid: Pid, ended: &mut impl FnMut(ProcessId, i32, CpuWait)) {
        let cpu = inspect::cpu_wait_of(pid);
        self.ended += cpu;
        // It has ended, so that this does not wait.
        let buried = waitpid(rustix::process::Pid::from_raw(pid.as_raw()), WaitOptions::empty());
        if let (Some(process), Ok(Some((_, status)))) = (self.running.remove(&pid), buried) {
            ended(process, status.as_raw(), cpu);
        }
    }
}

//! A node's init: process 1 of the node. It has one thread, executes nothing itself, and ends when the lab process
//! goes away, upon which the kernel ends everything else in the node.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, FromRawFd, IntoRawFd, OwnedFd};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal, kill, killpg};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;

use super::config::NodeConfig;
use super::outbox::Outbox;
use super::protocol::{CpuWait, Event, ProcessId, Program, Reply, Request, receive, send};
use super::{configure, inspect, program};
use crate::error::{Attempted, KernelError};

/// All processes but the caller's own.
const EVERYBODY: Pid = Pid::from_raw(-1);

/// How long killed processes may take to go. Only one that hangs in the kernel takes longer, and nobody can help it.
const KILLED_WITHIN: Duration = Duration::from_secs(1);

/// Serves the lab process until that is gone. Its sockets are the only open descriptors that the node keeps.
pub(super) fn run(config: NodeConfig, control: OwnedFd, events: OwnedFd) -> i32 {
    let Ok((control, events)) = keep_only(control, events) else { return 1 };
    // Only the name that `ps` shows depends on it.
    let _ = nix::sys::prctl::set_name(c"netloom-node");
    let Ok(signals) = watch_children() else { return 1 };
    let prepared = configure::prepare(&config);
    let failed = prepared.is_err();
    let reply = prepared.map_or_else(Reply::Refused, |notes| Reply::Prepared { notes });
    if send(&control, &reply, &[]).is_err() || failed {
        return 1;
    }
    let mut agent = Agent {
        config,
        control,
        signals,
        outbox: Outbox::new(events),
        processes: BTreeMap::new(),
        started: 0,
        ended: CpuWait::default(),
    };
    while let Ok(true) = agent.turn(PollTimeout::NONE) {}
    0
}

struct Agent {
    config: NodeConfig,
    control: OwnedFd,
    signals: SignalFd,
    outbox: Outbox,
    /// Those that were started here and still run.
    processes: BTreeMap<Pid, ProcessId>,
    started: u64,
    /// Of processes that have ended.
    ended: CpuWait,
}

impl Agent {
    /// Waits for something to do and does it; false when the lab process is gone.
    fn turn(&mut self, timeout: PollTimeout) -> io::Result<bool> {
        let (asked, ended) = {
            let writable = if self.outbox.is_empty() { PollFlags::empty() } else { PollFlags::POLLOUT };
            let outbox = self.outbox.socket();
            let mut fds = [
                PollFd::new(self.control.as_fd(), PollFlags::POLLIN),
                PollFd::new(self.signals.as_fd(), PollFlags::POLLIN),
                PollFd::new(outbox.as_fd(), writable),
            ];
            match poll(&mut fds, timeout) {
                Ok(_) | Err(Errno::EINTR) => (),
                Err(error) => return Err(error.into()),
            }
            (fds[0].any().unwrap_or(false), fds[1].any().unwrap_or(false))
        };
        if ended {
            while self.signals.read_signal()?.is_some() {}
            self.reap();
        }
        self.outbox.flush()?;
        if asked { self.answer() } else { Ok(true) }
    }

    fn answer(&mut self) -> io::Result<bool> {
        let Some((request, fds)) = receive(&self.control)? else { return Ok(false) };
        let reply = match request {
            Request::Configure => done(configure::configure(&self.config)),
            Request::Spawn(program) => self.spawn(&program, fds),
            Request::Signal { process, signal } => done(self.signal(process, signal)),
            Request::Listening { port } => inspect::listening(port).map_or_else(Reply::Refused, Reply::Listening),
            Request::Interfaces => inspect::interfaces().map_or_else(Reply::Refused, Reply::Interfaces),
            Request::CpuWait => self.cpu_wait().map_or_else(Reply::Refused, Reply::CpuWait),
            Request::Stop { grace_ms } => done(self.stop(Duration::from_millis(grace_ms))),
        };
        send(&self.control, &reply, &[])?;
        Ok(true)
    }

    fn spawn(&mut self, program: &Program, streams: Vec<OwnedFd>) -> Reply {
        match program::start(&self.config, program, streams) {
            Ok(pid) => {
                self.started += 1;
                let process = ProcessId(self.started);
                self.processes.insert(pid, process);
                Reply::Started(process)
            }
            Err(reply) => reply,
        }
    }

    /// Signals the process group of a program; one that has ended is beyond reach, which is no error.
    fn signal(&self, process: ProcessId, signal: i32) -> Result<(), KernelError> {
        let attempted = || format!("send signal {signal} to process {}", process.get());
        let signal = Signal::try_from(signal).attempted(attempted)?;
        let Some((pid, _)) = self.processes.iter().find(|(_, id)| **id == process) else { return Ok(()) };
        killpg(*pid, signal).attempted(attempted)
    }

    fn cpu_wait(&self) -> Result<CpuWait, KernelError> {
        let mut sum = inspect::cpu_wait()?;
        sum += self.ended;
        Ok(sum)
    }

    /// Asks every program to end, waits up to `grace`, and ends those that are left.
    fn stop(&mut self, grace: Duration) -> Result<(), KernelError> {
        // A stopped process acts on a request to end only when it goes on.
        for (signals, within) in
            [(&[Signal::SIGTERM, Signal::SIGCONT][..], grace), (&[Signal::SIGKILL][..], KILLED_WITHIN)]
        {
            for signal in signals {
                match kill(EVERYBODY, *signal) {
                    Ok(()) | Err(Errno::ESRCH) => (),
                    Err(error) => return Err(error).attempted(|| format!("send {signal} to all programs")),
                }
            }
            if self.all_end(within).attempted(|| "wait for the programs to end")? {
                return Ok(());
            }
        }
        Ok(())
    }

    fn all_end(&mut self, within: Duration) -> io::Result<bool> {
        let end = Instant::now() + within;
        loop {
            if !self.reap() {
                return Ok(true);
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(false);
            }
            // Rounded up, so that the last wait does not become a busy loop.
            let timeout = PollTimeout::try_from(left + Duration::from_millis(1)).unwrap_or(PollTimeout::MAX);
            match poll(&mut [PollFd::new(self.signals.as_fd(), PollFlags::POLLIN)], timeout) {
                Ok(_) | Err(Errno::EINTR) => (),
                Err(error) => return Err(error.into()),
            }
            while self.signals.read_signal()?.is_some() {}
        }
    }

    /// Takes leave of every child that has ended, orphans included; whether there are others.
    fn reap(&mut self) -> bool {
        loop {
            // Left unreaped first: a zombie still tells how long it waited for a CPU.
            match waitid(Id::All, WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT) {
                Ok(WaitStatus::StillAlive) => return true,
                Ok(status) => status.pid().into_iter().for_each(|pid| self.bury(pid)),
                Err(Errno::EINTR) => (),
                Err(_) => return false,
            }
        }
    }

    fn bury(&mut self, pid: Pid) {
        let cpu = inspect::cpu_wait_of(pid);
        self.ended += cpu;
        let mut status = 0;
        // SAFETY: waitpid writes the status to a variable that outlives the call.
        unsafe { libc::waitpid(pid.as_raw(), &raw mut status, 0) };
        if let Some(process) = self.processes.remove(&pid) {
            self.outbox.push(&Event::Exited { process, status, cpu_ns: cpu.ran_ns });
        }
    }
}

fn done(result: Result<(), KernelError>) -> Reply {
    result.map_or_else(Reply::Refused, |()| Reply::Done)
}

fn watch_children() -> nix::Result<SignalFd> {
    // Whatever the lab process handles or holds back is no concern of a node. Signals with their default action do
    // nothing to a process 1.
    program::default_signals()?;
    let mask = SigSet::from(Signal::SIGCHLD);
    mask.thread_set_mask()?;
    SignalFd::with_flags(&mask, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)
}

/// Closes all descriptors but two, and gives those small numbers. A node that kept the lab's socket to its guard
/// would keep the lab from noticing that the guard has died; one that kept the user's terminal or pipe would keep
/// that open.
fn keep_only(control: OwnedFd, events: OwnedFd) -> io::Result<(OwnedFd, OwnedFd)> {
    let null = File::options().read(true).write(true).open("/dev/null")?.into_raw_fd();
    // Copies above the numbers that they are moved to, so that no move closes the source of another. The originals
    // are closed with all the rest, not one by one: their numbers may be among the targets.
    let (control, events) = (above(control.into_raw_fd(), 5)?, above(events.into_raw_fd(), 5)?);
    for target in 0..=2 {
        place(null, target, 0)?;
    }
    place(control, 3, libc::O_CLOEXEC)?;
    place(events, 4, libc::O_CLOEXEC)?;
    // SAFETY: nothing that owns one of these descriptors is used or dropped in this process any more: it runs only
    // this agent, and ends without unwinding.
    let closed = unsafe { libc::syscall(libc::SYS_close_range, 5, libc::c_uint::MAX, 0) };
    if closed == -1 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: both have just been made, and nothing else knows them.
    Ok(unsafe { (OwnedFd::from_raw_fd(3), OwnedFd::from_raw_fd(4)) })
}

fn above(fd: libc::c_int, lowest: libc::c_int) -> io::Result<libc::c_int> {
    // SAFETY: duplicating a descriptor that is open touches no memory.
    match unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, lowest) } {
        -1 => Err(io::Error::last_os_error()),
        copy => Ok(copy),
    }
}

fn place(source: libc::c_int, target: libc::c_int, flags: libc::c_int) -> io::Result<()> {
    // SAFETY: no Rust value owns `target` in a way that is used later, see `keep_only`.
    match unsafe { libc::dup3(source, target, flags) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

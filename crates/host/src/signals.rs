//! Signals as something to poll for.

use nix::sys::signal::{SigHandler, SigSet, SigmaskHow, Signal, signal, sigprocmask};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Lets a write beyond the limit of file sizes (`ulimit -f`) fail with an error that can be reported, instead of killing the
/// process without a message. Programs of nodes get the default back.
pub fn survive_file_limits() {
    // SAFETY: to ignore a signal runs no code of this process; the number is valid, so that it cannot fail.
    let _ = unsafe { signal(Signal::SIGXFSZ, SigHandler::SigIgn) };
}

/// Has this process asked to end (SIGTERM) as soon as the thread that has started it has: the one of the process `parent`.
///
/// # Errors
/// If that has happened already, or what the kernel says.
pub fn end_with(parent: i32) -> Result<(), String> {
    nix::sys::prctl::set_pdeathsig(Signal::SIGTERM)
        .map_err(|error| format!("ending with process {parent}: {error}"))?;
    // It may have ended before it was asked for.
    if nix::unistd::getppid().as_raw() == parent { Ok(()) } else { Err(format!("process {parent} has ended")) }
}

/// A descriptor of the process `pid`, which is ready to be read when that has ended.
///
/// # Errors
/// What is wrong with the number, or what the kernel says: mostly, that there is no such process.
pub fn watch_process(pid: i32) -> Result<OwnedFd, String> {
    let failed = |why: &str| format!("watching process {pid}: {why}");
    let number =
        rustix::process::Pid::from_raw(pid).filter(|_| pid > 0).ok_or_else(|| failed("no process has this number"))?;
    rustix::process::pidfd_open(number, rustix::process::PidfdFlags::empty())
        .map_err(|errno| failed(&io::Error::from(errno).to_string()))
}

/// The signals that ask a program to end, blocked in this thread and in the threads and processes that it starts.
#[derive(Debug)]
pub struct Signals {
    fd: SignalFd,
    before: SigSet,
}

impl Signals {
    /// Blocks SIGINT, SIGTERM, SIGHUP and `more` until this is dropped.
    pub fn hold(more: &[Signal]) -> io::Result<Self> {
        let polite = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP];
        let held: SigSet = polite.iter().chain(more).copied().collect();
        let mut before = SigSet::empty();
        sigprocmask(SigmaskHow::SIG_BLOCK, Some(&held), Some(&mut before))?;
        let fd = SignalFd::with_flags(&held, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?;
        Ok(Self { fd, before })
    }

    /// The next signal that came.
    pub fn next(&self) -> Option<Signal> {
        self.next_with_origin().map(|(signal, _)| signal)
    }

    /// The next signal that came, and whether the kernel sent it, as it does for keys at a terminal, to all that is in the
    /// foreground there.
    pub fn next_with_origin(&self) -> Option<(Signal, bool)> {
        let info = self.fd.read_signal().ok().flatten()?;
        let signal = Signal::try_from(i32::try_from(info.ssi_signo).ok()?).ok()?;
        Some((signal, info.ssi_code == libc::SI_KERNEL))
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        // A signal that came in between has been read; restoring the mask of before cannot fail.
        let _ = sigprocmask(SigmaskHow::SIG_SETMASK, Some(&self.before), None);
    }
}

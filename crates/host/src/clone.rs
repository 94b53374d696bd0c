//! The one place that makes processes with namespaces of their own.

use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use nix::unistd::Pid;

/// The exit code of a process whose Rust code panicked: an internal error of netloom.
pub(crate) const PANICKED: i32 = 8;

/// The namespaces that a lab and each of its nodes have for themselves.
pub(crate) const OWN_NAMESPACES: libc::c_int = libc::CLONE_NEWPID | OWN_BUT_PROCESSES;

/// Those of them that a process may also enter by itself, with [`nix::sched::unshare`].
const OWN_BUT_PROCESSES: libc::c_int = libc::CLONE_NEWNET | libc::CLONE_NEWNS | libc::CLONE_NEWUTS | libc::CLONE_NEWIPC;

/// Gives this process, which [`clone_process`] made with `CLONE_NEWPID`, the others of [`OWN_NAMESPACES`]. A process that
/// makes many others is ready sooner if each of them does this, which the kernel lets them do at the same time.
pub(crate) fn leave_other_namespaces() -> nix::Result<()> {
    nix::sched::unshare(nix::sched::CloneFlags::from_bits_retain(OWN_BUT_PROCESSES))
}

/// A process made by [`clone_process`].
pub(crate) struct Cloned {
    pub(crate) pid: Pid,
    pub(crate) pidfd: OwnedFd,
}

/// Forks a child into new `namespaces`. The child runs `body` and exits with what it returns; a panic in it ends the
/// child and goes no further.
///
/// The C library does not see this fork. That is sound for a process with one thread, because no lock of the
/// library can then be held by a thread that does not exist in the child. But the library remembers a
/// wrong id of the child's first thread: functions like `pthread_setaffinity_np` on the thread itself fail there. The
/// system calls behind them (with id 0) work.
pub(crate) fn clone_process(namespaces: libc::c_int, body: impl FnOnce() -> i32) -> io::Result<Cloned> {
    let mut pidfd: RawFd = -1;
    let flags = libc::c_long::from(namespaces | libc::CLONE_PIDFD | libc::SIGCHLD);
    // SAFETY: without CLONE_VM and with a null stack this is a fork: the child goes on with a copy of this memory.
    // The third argument receives the pidfd and outlives the call; the others are unused.
    let pid = unsafe { libc::syscall(libc::SYS_clone, flags, 0, &raw mut pidfd, 0, 0) };
    match pid {
        -1 => Err(io::Error::last_os_error()),
        0 => exit_with(body),
        pid => {
            let pid = Pid::from_raw(libc::pid_t::try_from(pid).expect("the kernel's process ids fit a pid_t"));
            // SAFETY: the kernel has just installed this descriptor for this process.
            Ok(Cloned { pid, pidfd: unsafe { OwnedFd::from_raw_fd(pidfd) } })
        }
    }
}

fn exit_with(body: impl FnOnce() -> i32) -> ! {
    // The panic hook has already written to standard error what happened.
    let code = catch_unwind(AssertUnwindSafe(body)).unwrap_or(PANICKED);
    // SAFETY: always sound. `_exit` rather than `exit`, since the handlers registered so far belong to the parent.
    unsafe { libc::_exit(code) }
}

/// Asserts that this process has one thread, as it must before it forks: a lock that another thread holds would stay locked
/// in the child forever.
///
/// # Panics
/// If there are others; `what` is to be made from this one.
pub(crate) fn assert_one_thread(what: &str) {
    let others = || std::fs::read_dir("/proc/self/task").map_or(0, |threads| threads.count() - 1);
    // One that has been joined may be seen for a moment longer.
    let patience = Instant::now() + Duration::from_secs(1);
    while others() > 0 {
        assert!(Instant::now() < patience, "{what} made before any thread, not beside {} others", others());
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(expected = "labs are made before any thread")]
    fn other_threads_are_noticed() {
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        let other = std::thread::spawn(move || stopped.recv());
        assert_one_thread("labs are");
        drop(stop);
        let _ = other.join();
    }
}

//! Templates: kernels that have booted in virtual time, up to their checkpoint, of which nodes are copies.
//!
//! What a copy is, and how it comes to be one, is described in `shim/checkpoint.c`; this is the lab process's side. A copy is a child of the
//! lab process, like a kernel that was started, and is confined in the same way.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

use netloom_host::Pid;
use netloom_host::fds::{receive_with_fds, send_with_fds};
use netloom_host::sealed::{SealedProcess, adopt, last_lines};
use netloom_units::Instant;
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, setsockopt, socketpair, sockopt::ReceiveTimeout};
use nix::sys::time::TimeVal;
use std::path::PathBuf;

use super::Boot;
use crate::backend::BackendEnds;

/// How long a kernel may take to come to its checkpoint, and a copy to be made, in seconds of real time: they take milliseconds.
const PATIENCE: i64 = 60;

/// How many lines of a console a message shows.
const LINES: usize = 8;

/// The part of a kernel's settings that it gets at its checkpoint, in virtual time.
#[derive(Clone, Copy, Debug)]
pub struct Late<'a> {
    /// The seed of its randomness from there on.
    pub seed: u64,
    /// Its mailbox.
    pub ends: &'a BackendEnds,
    /// The doorbell of all kernels.
    pub doorbell: &'a OwnedFd,
}

impl Late<'_> {
    /// Gives it to a kernel that boots for one node.
    pub fn give(&self, boot: &Boot, command: &mut Command) {
        let numbers = [self.ends.socket.as_fd(), self.ends.memory.as_fd(), self.doorbell.as_fd()];
        let [socket, memory, doorbell] = numbers.map(|fd| fd.as_raw_fd());
        command.env("NETLOOM_BACKEND", format!("{socket},{memory},{doorbell}"));
        if boot.late {
            command.env("NETLOOM_REST", boot.rest());
        }
        keep(command, &numbers);
    }
}

/// A kernel that has booted and makes copies of itself. Dropping it ends it, and no copy.
#[derive(Debug)]
pub struct Template {
    orders: OwnedFd,
    console: PathBuf,
    _process: SealedProcess,
}

impl Template {
    /// Boots one for kernels that boot like this one, at `start`, with the time of day at virtual time 0. `prepare` gives the command its shim.
    ///
    /// # Errors
    /// Why there is none, in words.
    pub fn start(
        boot: &Boot,
        start: Instant,
        wall_clock_ns: u64,
        prepare: &mut dyn FnMut(&mut Command),
    ) -> Result<Self, String> {
        let pair = socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC);
        let (orders, theirs) = pair.map_err(|errno| format!("make a pair of sockets: {errno}"))?;
        setsockopt(&orders, ReceiveTimeout, &TimeVal::new(PATIENCE, 0)).map_err(|errno| errno.to_string())?;
        let mut arm = |command: &mut Command| {
            prepare(command);
            let (socket, start) = (theirs.as_raw_fd(), start.as_nanos());
            command.env("NETLOOM_TEMPLATE", format!("{socket},{start},{wall_clock_ns}"));
            keep(command, &[theirs.as_fd()]);
        };
        let process = boot.start(&mut arm).map_err(|error| error.to_string())?;
        Ok(Self { orders, console: boot.console.clone(), _process: process })
    }

    /// Waits until it makes copies.
    ///
    /// # Errors
    /// Why it makes none, in words.
    pub fn await_ready(&self) -> Result<(), String> {
        match self.outcome()? {
            (_, 0) => Ok(()),
            (_, errno) => Err(refusal(errno)),
        }
    }

    /// Makes a copy that goes on as the node of `boot`, which has no disk: a copy inherits no files but those of its order.
    pub(super) fn copy(&self, boot: &Boot, late: &Late<'_>) -> Result<SealedProcess, String> {
        let console =
            File::create(&boot.console).map_err(|error| format!("make {}: {error}", boot.console.display()))?;
        let rest = boot.rest();
        let texts = [boot.folder.as_os_str(), boot.init.as_os_str(), rest.as_os_str()];
        let texts: Vec<u8> = texts.iter().flat_map(|text| text.as_bytes().iter().copied().chain([0])).collect();
        let mut order = late.seed.to_ne_bytes().to_vec();
        order.extend((texts.len() as u64).to_ne_bytes());
        order.extend(texts);
        let leave =
            EventFd::from_flags(EfdFlags::EFD_CLOEXEC).map_err(|errno| format!("make a descriptor: {errno}"))?;
        let BackendEnds { socket, memory } = late.ends;
        let fds = [console.as_fd(), socket.as_fd(), memory.as_fd(), late.doorbell.as_fd(), leave.as_fd()];
        send_with_fds(&self.orders, &order, &fds).map_err(|error| format!("ask for a copy: {error}"))?;
        let (pid, failure) = self.outcome()?;
        if failure != 0 {
            // A copy that came to nothing is a child of this process all the same.
            if pid.as_raw() > 0 {
                drop(adopt(pid, &[], None));
            }
            return Err(refusal(failure));
        }
        let processors: Vec<usize> = boot.processor.into_iter().collect();
        let process = adopt(pid, &processors, boot.cgroup.as_deref()).map_err(|error| error.to_string())?;
        // What it starts from now on inherits its processors and its cgroup.
        leave.write(1).map_err(|errno| format!("let a copy go on: {errno}"))?;
        Ok(process)
    }

    /// What it reports: a process, and why it could not go on, or 0.
    fn outcome(&self) -> Result<(Pid, i32), String> {
        let mut bytes = [0; 8];
        let length = match receive_with_fds(&self.orders, &mut bytes) {
            Ok(received) => received.length,
            Err(error) => return Err(format!("its template does not answer: {error}{}", self.last_lines())),
        };
        if length != bytes.len() {
            return Err(format!("its template has ended{}", self.last_lines()));
        }
        let [a, b, c, d, errno @ ..] = bytes;
        Ok((Pid::from_raw(i32::from_ne_bytes([a, b, c, d])), i32::from_ne_bytes(errno)))
    }

    fn last_lines(&self) -> String {
        last_lines(&self.console, LINES)
    }
}

fn refusal(errno: i32) -> String {
    format!("its template makes no copy: {}", io::Error::from_raw_os_error(errno))
}

/// Lets these descriptors stay open in the program of a command, under the same numbers.
fn keep(command: &mut Command, fds: &[BorrowedFd<'_>]) {
    let numbers: Vec<i32> = fds.iter().map(AsRawFd::as_raw_fd).collect();
    let keep = move || {
        for number in &numbers {
            // SAFETY: F_SETFD takes an integer and touches no memory of ours.
            if unsafe { libc::fcntl(*number, libc::F_SETFD, 0) } == -1 {
                return Err(io::Error::last_os_error());
            }
        }
        Ok(())
    };
    // SAFETY: between fork and exec only fcntl is called, on copies of numbers.
    unsafe { command.pre_exec(keep) };
}

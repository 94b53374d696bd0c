//! The lab process: process 1 of a PID namespace that holds everything that belongs to a lab.
//!
//! A lab whose nodes all have kernels of their own needs no namespace: it is *bare* where the machine refuses them.

mod ids;
mod orphans;
mod setup;

use std::fmt;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::ExitStatus;

use nix::unistd::{Pid, getegid, geteuid};
use rustix::io::Errno;
use rustix::process::{Signal, WaitOptions, pidfd_send_signal, waitpid};

use orphans::Orphans;

pub use ids::Subordinate;
pub(crate) use setup::quiet_network;

use crate::clone::{Cloned, OWN_NAMESPACES, PANICKED, assert_one_thread, clone_process};
use crate::error::{Attempted, KernelError};
use crate::facts::Facts;
use crate::memory;
use crate::shortage;

/// The settings of a lab process.
#[derive(Debug, Clone)]
pub struct LabOptions {
    /// The lab's name, which becomes the host name of the lab process.
    pub name: String,
    /// The file to be seen as `/etc/hosts` by the lab and its nodes; the machine's own when there is none.
    pub hosts_file: Option<PathBuf>,
    /// The file to be seen as `/etc/resolv.conf` by the lab and its nodes; none if they are to ask nobody for names.
    pub resolver_file: Option<PathBuf>,
    /// A folder in which the lab's nodes find memory for files of their own; none if none of them has any.
    pub memory: Option<PathBuf>,
    /// The users beside root that the lab of an ordinary user has; none if it needs none, or if netloom is privileged.
    pub users: Option<Subordinate>,
    /// Whether it can be without namespaces.
    pub namespaces: Namespaces,
}

/// Whether a lab has namespaces of its own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Namespaces {
    /// The lab has them, or is not made.
    #[default]
    Needed,
    /// The lab has them unless the machine refuses them.
    IfAllowed,
    /// The lab has none.
    Unwanted,
}

/// The reason of a lab that was to have no namespaces.
const UNWANTED: &str = "this lab was to have no namespaces";

/// The resources with which the code in a lab process starts.
#[derive(Debug)]
pub struct LabSide {
    /// The socket to the process that forked the lab process. End of file means that the process at its other end has died.
    pub channel: UnixStream,
    /// Why the lab has no namespaces; none if it has them.
    pub bare: Option<String>,
}

/// A lab process, seen from the process that forked it. Dropping the value leaves the lab alone.
#[derive(Debug)]
pub struct LabProcess {
    pid: Pid,
    pidfd: OwnedFd,
    status: Option<ExitStatus>,
    /// The processes that it may leave; none if it has namespaces, which end with it.
    orphans: Option<Orphans>,
}

/// Why there is no lab process.
#[derive(Debug)]
pub enum LabError {
    /// The kernel refused something.
    Refused {
        /// What was attempted, and its answer.
        error: KernelError,
        /// What to change, if that is known.
        advice: Option<String>,
    },
    /// The lab process ended before it was ready.
    Died {
        /// How it ended.
        status: ExitStatus,
    },
    /// The channel to the lab process failed.
    Channel(io::Error),
}

impl fmt::Display for LabError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { error, advice: Some(advice) } => write!(f, "{error}\n{advice}"),
            Self::Refused { error, advice: None } => error.fmt(f),
            Self::Died { status } => write!(f, "the lab process ended before it was ready: {status}"),
            Self::Channel(error) => write!(f, "read from the lab process: {error}"),
        }
    }
}

impl std::error::Error for LabError {}

/// First byte of what the lab process says when it has set itself up.
const READY: u8 = 0;
const FAILED: u8 = 1;

/// What the forking process sends when the lab process may use its user namespace.
const GO: [u8; 1] = [1];

/// Forks the lab process and waits until its namespaces are ready. `body` then runs in it; what it returns is the
/// exit code, and a panic in it is exit code 8. Both processes get one end of a channel.
///
/// A user who may not make namespaces gets a user namespace first, in which it is root.
///
/// # Errors
/// See [`LabError`]. Nothing is left of the lab process then.
///
/// # Panics
/// If the process has more than one thread: locks held by the others would stay locked in the lab forever.
pub fn spawn_lab(
    options: &LabOptions,
    body: impl FnOnce(LabSide) -> i32,
) -> Result<(LabProcess, UnixStream), LabError> {
    assert_one_thread("a lab is");
    // Freed memory would be kept in both processes.
    memory::give_back();
    // What is still buffered would be written by both processes.
    io::stdout().flush().map_err(LabError::Channel)?;
    // Called in one process at most.
    let mut left = Some(body);
    let mut run = |side: LabSide| left.take().map_or(PANICKED, |once| once(side));
    match options.namespaces {
        Namespaces::Needed => spawn_with_namespaces(options, &mut run),
        Namespaces::Unwanted => spawn_bare(UNWANTED, &mut run),
        Namespaces::IfAllowed => match spawn_with_namespaces(options, &mut run) {
            Err(LabError::Refused { error, .. }) => spawn_bare(&error.to_string(), &mut run),
            other => other,
        },
    }
}

fn spawn_with_namespaces(
    options: &LabOptions,
    body: &mut dyn FnMut(LabSide) -> i32,
) -> Result<(LabProcess, UnixStream), LabError> {
    let facts = Facts::gather();
    let refused = |error: KernelError| LabError::Refused { advice: facts.advice(error.errno()), error };
    let (ours, theirs) = UnixStream::pair().map_err(LabError::Channel)?;
    let user_namespace = if facts.privileged { 0 } else { libc::CLONE_NEWUSER };
    let mut ours = Some(ours);
    let Cloned { pid, pidfd } = clone_process(OWN_NAMESPACES | user_namespace, || {
        // An end of the channel kept open by the lab would hide the death of the process at that end.
        drop(ours.take());
        become_lab(None, theirs, || setup::set_up(options), body)
    })
    .attempted(|| "make the lab's namespaces")
    .map_err(shortage::of_processes)
    .map_err(refused)?;
    let ours = ours.expect("only the child took it");
    let mut lab = LabProcess { pid, pidfd, status: None, orphans: None };
    let mapped = match &options.users {
        _ if user_namespace == 0 => Ok(()),
        Some(users) => users.map(pid),
        None => map_own_user(pid),
    };
    match mapped.map_err(refused).and_then(|()| receive(&ours)) {
        Ok(Ok(())) => Ok((lab, ours)),
        Ok(Err(error)) => {
            // It has reported the reason and ends by itself.
            lab.wait().map_err(LabError::Channel)?;
            Err(refused(error))
        }
        Err(error) => {
            // An error is ignored if the process was killed.
            if let Some(status) = lab.try_wait().map_err(LabError::Channel)? {
                return Err(LabError::Died { status });
            }
            lab.kill().map_err(LabError::Channel)?;
            let status = lab.wait().map_err(LabError::Channel)?;
            Err(if matches!(error, LabError::Channel(_)) { LabError::Died { status } } else { error })
        }
    }
}

/// Forks a lab process without namespaces. `why`: what the machine refused.
fn spawn_bare(why: &str, body: &mut dyn FnMut(LabSide) -> i32) -> Result<(LabProcess, UnixStream), LabError> {
    let refused = |error: KernelError| LabError::Refused { error, advice: None };
    let (ours, theirs) = UnixStream::pair().map_err(LabError::Channel)?;
    let orphans = Orphans::await_them().attempted(|| "become the parent of a lab's orphans").map_err(refused)?;
    let mut ours = Some(ours);
    let Cloned { pid, pidfd } = clone_process(0, || {
        drop(ours.take());
        become_lab(Some(why), theirs, setup::set_up_bare, body)
    })
    .attempted(|| "start the lab's process")
    .map_err(shortage::of_processes)
    .map_err(refused)?;
    let ours = ours.expect("only the child took it");
    let mut lab = LabProcess { pid, pidfd, status: None, orphans: Some(orphans) };
    match receive(&ours) {
        Ok(Ok(())) => Ok((lab, ours)),
        outcome => {
            lab.kill().map_err(LabError::Channel)?;
            let status = lab.wait().map_err(LabError::Channel)?;
            Err(if let Ok(Err(error)) = outcome { refused(error) } else { LabError::Died { status } })
        }
    }
}

/// Maps the calling user, and no other, into the user namespace of `pid`: as root.
fn map_own_user(pid: Pid) -> Result<(), KernelError> {
    let write = |file: &str, line: String| {
        let file = format!("/proc/{pid}/{file}");
        std::fs::write(&file, &line).attempted(|| format!("write {:?} to {file}", line.trim_end()))
    };
    write("uid_map", format!("0 {} 1\n", geteuid()))?;
    // The kernel wants this before an ordinary user maps a group (user_namespaces(7)).
    write("setgroups", "deny".to_owned())?;
    write("gid_map", format!("0 {} 1\n", getegid()))
}

/// Lets the lab process continue, and waits for what it reports about its set-up.
fn receive(mut channel: &UnixStream) -> Result<Result<(), KernelError>, LabError> {
    channel.write_all(&GO).map_err(LabError::Channel)?;
    let mut outcome = [READY];
    channel.read_exact(&mut outcome).map_err(LabError::Channel)?;
    if outcome == [READY] {
        return Ok(Ok(()));
    }
    let mut error = Vec::new();
    channel.read_to_end(&mut error).map_err(LabError::Channel)?;
    serde_json::from_slice(&error).map(Err).map_err(|error| LabError::Channel(error.into()))
}

/// Runs in the lab process.
fn become_lab(
    bare: Option<&str>,
    mut channel: UnixStream,
    set_up: impl FnOnce() -> Result<(), KernelError>,
    body: &mut dyn FnMut(LabSide) -> i32,
) -> i32 {
    let mut go = GO;
    if channel.read_exact(&mut go).is_err() {
        // The other process has died in the meantime.
        return PANICKED;
    }
    let told = match set_up() {
        Ok(()) => channel.write_all(&[READY]),
        Err(error) => {
            let text = serde_json::to_vec(&error).expect("an error is plain data");
            // If the channel is closed, the error cannot be reported.
            let _ = channel.write_all(&[&[FAILED], &text[..]].concat());
            return 1;
        }
    };
    if told.is_err() {
        return PANICKED;
    }
    let code = body(LabSide { channel, bare: bare.map(str::to_owned) });
    // `_exit` does not do it, and a line without an end would be lost.
    let _ = io::stdout().flush();
    code
}

impl LabProcess {
    /// Its process id, as the caller sees it.
    pub fn pid(&self) -> Pid {
        self.pid
    }

    /// Waits until it has ended. By then everything in the lab has been killed, though the kernel may still be busy
    /// removing network namespaces.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub fn wait(&mut self) -> io::Result<ExitStatus> {
        loop {
            match self.wait_with(WaitOptions::empty()) {
                Ok(Some(status)) => return Ok(status),
                Ok(None) => (),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => (),
                Err(error) => return Err(error),
            }
        }
    }

    /// How it ended, if it has.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        self.wait_with(WaitOptions::NOHANG)
    }

    /// Ends it, and everything in the lab with it. Nothing happens if it has ended.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub fn kill(&self) -> io::Result<()> {
        match pidfd_send_signal(&self.pidfd, Signal::KILL) {
            Ok(()) | Err(Errno::SRCH) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }

    fn wait_with(&mut self, options: WaitOptions) -> io::Result<Option<ExitStatus>> {
        if self.status.is_none() {
            let ended = waitpid(rustix::process::Pid::from_raw(self.pid.as_raw()), options)?;
            self.status = ended.map(|(_, status)| ExitStatus::from_raw(status.as_raw()));
            if let (Some(_), Some(orphans)) = (self.status, &self.orphans) {
                orphans.end();
            }
        }
        Ok(self.status)
    }
}

impl AsFd for LabProcess {
    /// The pidfd: readable when the process has ended.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }
}

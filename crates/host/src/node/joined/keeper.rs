//! The process that stays until everything is put back, and how both are made.

use std::fs::File;
use std::io::{self, PipeReader};
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, UnixAddr, bind, socket, socketpair};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, setsid};
use rustix::fs::{CWD, Mode, OFlags, openat};

use super::agent;
use super::container::Container;
use super::undo;
use crate::clone::clone_process;
use crate::error::{Attempted, KernelError};
use crate::node::agent::{Joined, KILLED_WITHIN, keep_only};
use crate::node::inspect;
use crate::node::packets::{receive, send};
use crate::node::program::default_signals;
use crate::node::protocol::Reply;
use crate::{memory, sysctl};

/// The abstract name of a socket that says, in a container's network namespace, that a lab has the container.
const CLAIM: &[u8] = b"netloom";

/// How long the keeper may take at the end: it waits for killed programs.
const LONGEST_END: Duration = Duration::from_secs(5);

/// A container that is ready to be a node: see [`Node::join`](crate::node::Node::join). Dropping it leaves the container as it was.
#[derive(Debug)]
pub struct Attendant {
    pub(crate) control: OwnedFd,
    pub(crate) events: OwnedFd,
    pub(crate) network: File,
}

/// The keeper of a container, for the process that forked it.
#[derive(Debug)]
pub struct Keeper {
    pid: Pid,
}

impl Attendant {
    /// Joins a container, in which a lab is going to have these interfaces.
    ///
    /// # Errors
    /// The kernel's refusal; [`libc::EEXIST`] if the container has such an interface, and [`libc::EADDRINUSE`] if a lab has the
    /// container already. Nothing is left in the container then.
    pub fn join(container: &Container, interfaces: &[String]) -> Result<(Self, Keeper), KernelError> {
        memory::give_back();
        let pair = || {
            socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC)
                .attempted(|| "make a socket pair")
        };
        let (near_control, far_control) = pair()?;
        let (near_events, far_events) = pair()?;
        let network = container.network().try_clone().attempted(|| "copy a descriptor")?;
        let mut ours = Some((near_control, near_events));
        let mut theirs = Some([far_control, far_events]);
        let pid = container.fork_inside(|| {
            // The lab's ends, kept open here, would hide its end.
            drop(ours.take());
            theirs.take().map_or(1, |theirs| keep(container, interfaces, theirs))
        })?;
        drop(theirs.take());
        let (control, events) = ours.expect("only the child took it");
        let keeper = Keeper { pid };
        match receive(&control) {
            Ok(Some((Reply::Prepared { .. }, _))) => Ok((Self { control, events, network }, keeper)),
            Ok(Some((Reply::Refused(error), _))) => Err(error),
            Ok(_) => Err(KernelError::new("join the container", 0).with_detail("it ended meanwhile")),
            Err(error) => Err(KernelError::from_io("join the container", &error)),
        }
    }
}

impl Drop for Keeper {
    /// Waits until everything is put back, which begins when the lab ends.
    fn drop(&mut self) {
        let until = Instant::now() + LONGEST_END;
        while let Ok(WaitStatus::StillAlive) | Err(nix::errno::Errno::EINTR) =
            waitpid(self.pid, Some(WaitPidFlag::WNOHANG))
        {
            if Instant::now() > until {
                return;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

/// Is the keeper, until the agent has ended.
fn keep(container: &Container, interfaces: &[String], sockets: [OwnedFd; 2]) -> i32 {
    let gathered = enter(container).and_then(|entered| Ok((entered, lines(container)?)));
    let ([claimed, parameters], lines) = match gathered {
        Ok(gathered) => gathered,
        Err(error) => {
            // A closed socket says as much.
            let _ = send(&sockets[0], &Reply::Refused(error), &[]);
            return 1;
        }
    };
    let ([first, second], [one, two, three, four, five]) = (sockets, lines);
    let kept = keep_only([first, second, claimed, parameters, one, two, three, four, five]);
    let Ok([control, events, claim, tree, told, tell, alive, lifeline, ended]) = kept else { return 1 };
    sysctl::use_tree(tree);
    let mut lifeline = Some(lifeline);
    let mut of_agent = Some([control, events, tell, alive, ended]);
    let agent = clone_process(0, || {
        drop(lifeline.take());
        let Some([to_lab, to_session, changes, of_keeper, of_container]) = of_agent.take() else { return 1 };
        let joined = Joined { limits: container.limits(), over: [of_container, of_keeper] };
        agent::run(joined, interfaces, to_lab, to_session, changes.into())
    });
    drop(of_agent.take());
    if agent.is_err() {
        return 1;
    }
    undo::await_and_restore(PipeReader::from(told));
    bury();
    drop((claim, lifeline));
    0
}

/// What keeper and agent have between them: the ends of the pipe over which changes are reported, those of the pipe that says that the keeper
/// lives, and what says that the container has ended.
fn lines(container: &Container) -> Result<[OwnedFd; 5], KernelError> {
    let make = || {
        let ((told, tell), (alive, lifeline)) = (io::pipe()?, io::pipe()?);
        let ended = container.pidfd().try_clone()?;
        Ok::<_, io::Error>([told.into(), tell.into(), alive.into(), lifeline.into(), ended])
    };
    make().attempted(|| "make the pipes of the keeper")
}

/// Enters the container, and claims it for this lab: with a socket, beside which comes the tree of the kernel's parameters.
fn enter(container: &Container) -> Result<[OwnedFd; 2], KernelError> {
    // Neither a key that is typed where netloom was started ends it, nor what ends the lab's other processes.
    setsid().attempted(|| "begin a session")?;
    let _ = nix::sys::prctl::set_name(c"netloom-node");
    default_signals().attempted(|| "reset signals")?;
    nix::sys::prctl::set_child_subreaper(true).attempted(|| "adopt what programs leave behind")?;
    // The container's own is mostly read-only.
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let tree = openat(CWD, "/proc/sys", flags, Mode::empty()).attempted(|| "open /proc/sys")?;
    container.enter()?;
    let attempted = || "claim the container for this lab";
    let claim = socket(AddressFamily::Unix, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None).attempted(attempted)?;
    let address = UnixAddr::new_abstract(CLAIM).attempted(attempted)?;
    bind(claim.as_raw_fd(), &address).attempted(attempted)?;
    Ok([claim, tree])
}

/// Ends what the agent has left, and waits until it is gone.
fn bury() {
    let until = Instant::now() + KILLED_WITHIN;
    loop {
        for pid in inspect::descendants(Pid::this()).unwrap_or_default() {
            // It may have ended meanwhile.
            let _ = kill(pid, Signal::SIGKILL);
        }
        while let Ok(status) = waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            if status == WaitStatus::StillAlive {
                break;
            }
        }
        let is_alone = matches!(waitpid(None, Some(WaitPidFlag::WNOHANG)), Err(nix::errno::Errno::ECHILD));
        if is_alone || Instant::now() > until {
            return;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

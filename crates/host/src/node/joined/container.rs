//! A container that runs, seen from the machine.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::{CloneFlags, setns};
use nix::unistd::{Gid, Pid, Uid, setgid, setgroups, setuid};
use rustix::process::{PidfdFlags, pidfd_open};

use crate::clone::clone_process;
use crate::error::{Attempted, KernelError};
use crate::node::limits::Limits;

/// The namespaces that a process enters, in this order: those of users first, which say what it may do about the others, and those of
/// files last. That of processes is entered by a fork.
const ENTERED: [(&str, CloneFlags); 6] = [
    ("user", CloneFlags::CLONE_NEWUSER),
    ("net", CloneFlags::CLONE_NEWNET),
    ("ipc", CloneFlags::CLONE_NEWIPC),
    ("uts", CloneFlags::CLONE_NEWUTS),
    ("cgroup", CloneFlags::CLONE_NEWCGROUP),
    ("mnt", CloneFlags::CLONE_NEWNS),
];

/// The command of podman that starts others where an ordinary user's containers can be joined.
pub const PODMANS_ENTRANCE: &str = "podman unshare";

/// A container: its first process and the namespaces of that.
#[derive(Debug)]
pub struct Container {
    pidfd: OwnedFd,
    /// Those that differ from ours.
    namespaces: Vec<(&'static str, CloneFlags, File)>,
    network: File,
    /// That of processes, if it is not ours.
    processes: Option<File>,
    limits: Limits,
}

/// Why a container cannot be joined.
#[derive(Debug)]
pub enum ContainerError {
    /// There is no such process.
    NoProcess,
    /// Its network is that of netloom itself.
    OurNetwork,
    /// This user may not look into it.
    Forbidden,
    /// The kernel refused something else.
    Refused(KernelError),
}

impl fmt::Display for ContainerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoProcess => f.write_str("this machine has no such process"),
            Self::OurNetwork => f.write_str("it has no network of its own but this machine's"),
            Self::Forbidden => f.write_str("its namespaces belong to another user"),
            Self::Refused(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ContainerError {}

impl From<KernelError> for ContainerError {
    fn from(error: KernelError) -> Self {
        Self::Refused(error)
    }
}

impl Container {
    /// The container whose first process this is, as this process sees it.
    ///
    /// # Errors
    /// See [`ContainerError`].
    pub fn open(pid: i32) -> Result<Self, ContainerError> {
        let process = rustix::process::Pid::from_raw(pid).filter(|_| pid > 0).ok_or(ContainerError::NoProcess)?;
        let pidfd = match pidfd_open(process, PidfdFlags::empty()) {
            Err(rustix::io::Errno::SRCH) => return Err(ContainerError::NoProcess),
            other => other.attempted(|| format!("watch process {pid}"))?,
        };
        let open = |name: &str| match File::open(format!("/proc/{pid}/ns/{name}")) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Err(ContainerError::Forbidden),
            other => Ok(other.attempted(|| format!("open the {name} namespace of process {pid}"))?),
        };
        let network = open("net")?;
        if is_ours("net", &network)? {
            return Err(ContainerError::OurNetwork);
        }
        let mut namespaces = Vec::new();
        for (name, flag) in ENTERED {
            let namespace = open(name)?;
            if !is_ours(name, &namespace)? {
                namespaces.push((name, flag, namespace));
            }
        }
        let processes = open("pid")?;
        let processes = if is_ours("pid", &processes)? { None } else { Some(processes) };
        let status =
            fs::read_to_string(format!("/proc/{pid}/status")).attempted(|| format!("look at process {pid}"))?;
        let container = Self { pidfd, namespaces, network, processes, limits: Limits::of(&status) };
        // What was opened was that process's, and not that of another with the same number.
        if container.has_ended() { Err(ContainerError::NoProcess) } else { Ok(container) }
    }

    /// Whether its first process has ended.
    pub fn has_ended(&self) -> bool {
        let mut fds = [PollFd::new(self.pidfd.as_fd(), PollFlags::POLLIN)];
        poll(&mut fds, PollTimeout::ZERO).is_ok_and(|found| found > 0)
    }

    pub(super) fn pidfd(&self) -> &OwnedFd {
        &self.pidfd
    }

    pub(super) fn network(&self) -> &File {
        &self.network
    }

    pub(super) fn limits(&self) -> Limits {
        self.limits
    }

    /// Forks a process, a child of this one, into the container's process namespace. A process that has gone there cannot come back, so
    /// another one does, and has its child for its sibling.
    pub(super) fn fork_inside(&self, body: impl FnOnce() -> i32) -> Result<Pid, KernelError> {
        let attempted = || "make a process in the container";
        let Some(processes) = &self.processes else {
            return clone_process(0, body).map(|cloned| cloned.pid).attempted(attempted);
        };
        let (told, mut tell) = io::pipe().attempted(attempted)?;
        let mut body = Some(body);
        let helper = clone_process(0, || {
            let entered = setns(processes, CloneFlags::CLONE_NEWPID);
            let forked = entered.attempted(|| "enter the container's process namespace").and_then(|()| {
                let body = body.take().expect("it is called once");
                clone_process(libc::CLONE_PARENT, body).attempted(attempted)
            });
            let mut answer = serde_json::to_vec(&forked.map(|cloned| cloned.pid.as_raw())).expect("it is plain data");
            answer.push(b'\n');
            i32::from(tell.write_all(&answer).is_err())
        });
        let helper = helper.attempted(attempted)?.pid;
        drop(tell);
        let mut answer = String::new();
        let read = BufReader::new(told).read_line(&mut answer);
        while let Err(nix::errno::Errno::EINTR) = nix::sys::wait::waitpid(helper, None) {}
        read.attempted(attempted)?;
        let forked: Result<i32, KernelError> = serde_json::from_str(&answer)
            .map_err(|_| KernelError::new(attempted(), 0).with_detail("the process that was to make it ended"))?;
        forked.map(Pid::from_raw)
    }

    /// Gives this process, which was forked for it, the container's other namespaces, and its root.
    pub(super) fn enter(&self) -> Result<(), KernelError> {
        for (name, flag, namespace) in &self.namespaces {
            setns(namespace, *flag).attempted(|| format!("enter the container's {name} namespace"))?;
            if *flag == CloneFlags::CLONE_NEWUSER {
                // Where groups cannot be given up, they stay.
                let _ = setgroups(&[]);
                let root = setgid(Gid::from_raw(0)).and_then(|()| setuid(Uid::from_raw(0)));
                root.attempted(|| "become the container's root")?;
            }
        }
        std::env::set_current_dir("/").attempted(|| "enter the container's root")
    }
}

/// Whether a namespace is the one that this process has.
fn is_ours(name: &str, namespace: &File) -> Result<bool, KernelError> {
    let attempted = || format!("look at the {name} namespace");
    let theirs = namespace.metadata().attempted(attempted)?;
    let ours = fs::metadata(format!("/proc/self/ns/{name}")).attempted(attempted)?;
    Ok((ours.dev(), ours.ino()) == (theirs.dev(), theirs.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_container_is_refused() {
        assert!(matches!(Container::open(0), Err(ContainerError::NoProcess)));
        let own = i32::try_from(std::process::id()).unwrap();
        assert!(matches!(Container::open(own), Err(ContainerError::OurNetwork)));
    }
}

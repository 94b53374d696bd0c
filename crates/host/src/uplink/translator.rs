//! The way to a network that this user may not change: a program translates connections into its own, without rights there.
//!
//! The user gets a user namespace with a network namespace, where such a program makes an interface. Links then begin in that
//! network, as they do for root in the machine's.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use ipnet::IpNet;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::{CloneFlags, unshare};
use nix::unistd::{Pid, getegid, geteuid, getpid};
use rustix::process::{Signal, WaitOptions, pidfd_send_signal, waitpid};

use super::command::keep_capabilities;
use crate::clone::{Cloned, assert_one_thread, clone_process};
use crate::error::{Attempted, KernelError};
use crate::facts::Facts;
use crate::node::routes;
use crate::programs::{PATH, is_executable};

/// How long it may take until there is a default route.
const WITHIN: Duration = Duration::from_secs(10);

/// A program that does it.
#[derive(Debug, Clone, Copy)]
enum Tool {
    Pasta,
    Slirp,
}

impl Tool {
    fn program(self) -> &'static str {
        match self {
            Self::Pasta => "pasta",
            Self::Slirp => "slirp4netns",
        }
    }

    /// Its arguments, for the namespaces of a process.
    fn arguments(self, process: Pid) -> Vec<String> {
        let [user, network] = ["user", "net"].map(|kind| format!("/proc/{process}/ns/{kind}"));
        let words = match self {
            // In the foreground, with no port of the machine's led inside.
            Self::Pasta => {
                format!(
                    "-f -q --config-net --no-map-gw -t none -u none -T none -U none --userns {user} --netns {network}"
                )
            }
            Self::Slirp => {
                format!("--configure --disable-host-loopback --userns-path={user} --netns-type=path {network} tap0")
            }
        };
        words.split(' ').map(str::to_owned).collect()
    }

    /// The first one on this machine.
    fn find() -> Option<Self> {
        let is_there =
            |tool: &Self| std::env::split_paths(PATH).any(|folder| is_executable(&folder.join(tool.program())));
        [Self::Pasta, Self::Slirp].into_iter().find(is_there)
    }
}

/// The program, running.
#[derive(Debug)]
pub(super) struct Translator {
    pid: Pid,
    pidfd: OwnedFd,
}

impl Drop for Translator {
    fn drop(&mut self) {
        self.end();
    }
}

impl Translator {
    fn has_ended(&self) -> bool {
        let mut fds = [PollFd::new(self.pidfd.as_fd(), PollFlags::POLLIN)];
        poll(&mut fds, PollTimeout::ZERO).is_ok_and(|found| found > 0)
    }

    /// Ends it. Nothing happens if it has ended.
    pub(super) fn end(&self) {
        let _ = pidfd_send_signal(&self.pidfd, Signal::KILL);
        // The guard is not its parent, and has nothing to wait for.
        let _ = waitpid(rustix::process::Pid::from_raw(self.pid.as_raw()), WaitOptions::empty());
    }
}

/// Whether this process may change the network that it is in.
pub(super) fn may_change_network(namespace: &File) -> bool {
    // linux/nsfs.h
    const NS_GET_USERNS: libc::c_ulong = 0xb701;
    // SAFETY: the request takes no argument; it answers with a descriptor of the owner, if that is this user namespace or one
    // below, and otherwise refuses.
    let owner = unsafe { libc::ioctl(namespace.as_raw_fd(), NS_GET_USERNS) };
    if owner >= 0 {
        // SAFETY: the kernel has just installed this descriptor, which nothing else knows.
        drop(unsafe { <OwnedFd as std::os::fd::FromRawFd>::from_raw_fd(owner) });
    }
    owner >= 0 && Facts::gather().privileged
}

/// Puts this process into a user namespace and network namespace of its own with a way to the network that it was in.
pub(super) fn enter(mut waiting: Waiting) -> Result<Translator, KernelError> {
    own_namespaces()?;
    waiting.lead_to(getpid())?;
    waiting.await_route()?;
    Ok(waiting.translator)
}

/// A process that stays in the namespaces in which it was forked, and becomes the program when it is told where to lead.
#[derive(Debug)]
pub(super) struct Waiting {
    tool: Tool,
    pub(super) translator: Translator,
    go: UnixStream,
    complaints: io::PipeReader,
}

impl Waiting {
    /// Forks it.
    pub(super) fn fork() -> Result<Self, KernelError> {
        assert_one_thread("a link is");
        let tool = Tool::find().ok_or_else(|| {
            let error = KernelError::new("lead to this machine's network as an ordinary user", 0);
            error.with_detail(
                "neither pasta nor slirp4netns is on this machine: install the package passt or slirp4netns",
            )
        })?;
        let (our_end, theirs) = UnixStream::pair().attempted(|| "open a socket")?;
        let (heard, their_complaints) = io::pipe().attempted(|| "open a pipe")?;
        let mut kept = Some((our_end, heard));
        let cloned = clone_process(0, || {
            // Kept open there, they would hide the death of this process.
            drop(kept.take());
            become_tool(tool, &theirs, their_complaints)
        });
        let Cloned { pid, pidfd } = cloned.attempted(|| format!("start {}", tool.program()))?;
        let (go, complaints) = kept.expect("only the child took it");
        Ok(Self { tool, translator: Translator { pid, pidfd }, go, complaints })
    }

    /// Has the program lead out of the namespaces of a process.
    pub(super) fn lead_to(&mut self, process: Pid) -> Result<(), KernelError> {
        let text = serde_json::to_string(&self.tool.arguments(process)).expect("words are plain data");
        self.go.write_all(format!("{text}\n").as_bytes()).attempted(|| format!("start {}", self.tool.program()))
    }

    /// Waits until it has made a way out of the network namespace of this process.
    pub(super) fn await_route(&mut self) -> Result<(), KernelError> {
        let error = || KernelError::new(format!("lead to this machine's network with {}", self.tool.program()), 0);
        let until = Instant::now() + WITHIN;
        while !routes::here()?.contains(&IpNet::V4(ipnet::Ipv4Net::default())) {
            if self.translator.has_ended() {
                let mut text = String::new();
                let _ = self.complaints.read_to_string(&mut text);
                let last = text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("it ended").to_owned();
                return Err(error().with_detail(last));
            }
            if Instant::now() > until {
                return Err(error().with_detail("there is no default route after 10 s: has this machine one?"));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }
}

/// In the child.
fn become_tool(tool: Tool, go: &UnixStream, complaints: io::PipeWriter) -> i32 {
    let mut line = String::new();
    let _ = BufReader::new(go).read_line(&mut line);
    // Without a whole line, nobody needs it any more.
    let Ok(arguments) = serde_json::from_str::<Vec<String>>(&line) else { return 1 };
    // Keys at the user's terminal are not meant for it.
    let _ = nix::unistd::setsid();
    let mut command = Command::new(tool.program());
    command.args(arguments).env("PATH", PATH).current_dir("/");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(complaints);
    let error = command.exec();
    eprintln!("{}: {error}", tool.program());
    1
}

/// The user stays who it is; no other exists inside.
fn own_namespaces() -> Result<(), KernelError> {
    let (user, group) = (geteuid(), getegid());
    let made = unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNET);
    made.attempted(|| "make a user namespace").map_err(|error| match Facts::gather().advice(error.errno()) {
        Some(advice) => error.with_detail(advice),
        None => error,
    })?;
    let write = |file: &str, line: String| fs::write(file, &line).attempted(|| format!("write {line:?} to {file}"));
    // The kernel wants this before an ordinary user maps a group (user_namespaces(7)).
    write("/proc/self/setgroups", "deny".into())?;
    write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    // The programs that make rules lose them otherwise, as this user is not root inside.
    keep_capabilities().attempted(|| "keep capabilities over the user namespace")
}

//! The way to a network that this user may not change: a program translates connections into its own, without rights there.
//!
//! The user gets a user namespace with a network namespace, where such a program makes an interface. Links then begin in that
//! network, as they do for root in the machine's.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use ipnet::{IpNet, Ipv4Net};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::{CloneFlags, unshare};
use nix::unistd::{Pid, getegid, geteuid, getpid};
use rustix::process::{Signal, WaitOptions, pidfd_send_signal, waitpid};
use serde::{Deserialize, Serialize};

use super::command::keep_capabilities;
use crate::clone::{Cloned, assert_one_thread, clone_process};
use crate::error::{Attempted, KernelError};
use crate::facts::Facts;
use crate::node::routes;
use crate::programs::{PATH, is_executable};

/// When no such program is there.
pub(super) const NEITHER: &str =
    "neither pasta nor slirp4netns is on this machine: install the package passt or slirp4netns";

/// How long it may take until there is a default route.
const WITHIN: Duration = Duration::from_secs(10);

/// Stands in arguments for the number of a process that is in the namespaces.
const PROCESS: &str = "{process}";

/// What a program is to use; what it chooses itself is made for a namespace with nothing else in it.
#[derive(Debug, Clone)]
pub(super) struct Chosen {
    pub(super) interface: &'static str,
    pub(super) own: Ipv4Net,
    pub(super) gateway: Ipv4Addr,
    /// For a program that has addresses of its own there, too.
    pub(super) subnet: Ipv4Net,
}

/// The orders for the process that waits, a line each.
#[derive(Debug, Serialize, Deserialize)]
enum Said {
    /// What [`PROCESS`] stands for.
    Process(i32),
    Arguments(Vec<String>),
}

/// A program that does it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Tool {
    Pasta,
    Slirp,
}

impl Tool {
    pub(super) fn program(self) -> &'static str {
        match self {
            Self::Pasta => "pasta",
            Self::Slirp => "slirp4netns",
        }
    }

    /// Its arguments, for namespaces of [`PROCESS`], of which the network is `network` in its folder in /proc.
    fn arguments(self, network: &str, chosen: Option<&Chosen>) -> Vec<String> {
        let (user, network) = (format!("/proc/{PROCESS}/ns/user"), format!("/proc/{PROCESS}/{network}"));
        let words = match self {
            // In the foreground, with no port of the machine's led inside.
            Self::Pasta => {
                let chosen = chosen.map(|Chosen { interface, own, gateway, .. }| {
                    format!(" -4 -I {interface} -a {} -n {} -g {gateway}", own.addr(), own.prefix_len())
                });
                format!(
                    "-f -q --config-net --no-map-gw -t none -u none -T none -U none{} --userns {user} --netns {network}",
                    chosen.unwrap_or_default()
                )
            }
            Self::Slirp => {
                let interface = chosen.map_or("tap0", |chosen| chosen.interface);
                let chosen = chosen.map(|chosen| format!(" --cidr={}", chosen.subnet));
                format!(
                    "--configure --disable-host-loopback{} --userns-path={user} --netns-type=path {network} {interface}",
                    chosen.unwrap_or_default()
                )
            }
        };
        words.split(' ').map(str::to_owned).collect()
    }

    /// Lists those on this machine, the better one first.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        let is_there =
            |tool: &Self| std::env::split_paths(PATH).any(|folder| is_executable(&folder.join(tool.program())));
        [Self::Pasta, Self::Slirp].into_iter().filter(is_there)
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
    waiting.lead_from(getpid())?;
    waiting.lead("ns/net", None)?;
    waiting.await_route()?;
    Ok(waiting.translator)
}

/// A process that stays in the namespaces in which it was forked, and becomes the program when it is told where to lead.
#[derive(Debug)]
pub(super) struct Waiting {
    tool: Tool,
    translator: Translator,
    go: UnixStream,
    complaints: io::PipeReader,
    /// What is to be led out, once that is known.
    way: Option<(String, Option<Chosen>)>,
    /// Another program, for where this one may not do it: profiles of AppArmor keep Debian 12's pasta from namespaces.
    spare: Option<Box<Self>>,
}

impl Waiting {
    /// Forks it, and one for each other program.
    pub(super) fn fork() -> Result<Self, KernelError> {
        assert_one_thread("a link is");
        let mut tools = Tool::all();
        let first = tools.next().ok_or_else(|| {
            let error = KernelError::new("lead to this machine's network as an ordinary user", 0);
            error.with_detail(NEITHER)
        })?;
        // Before the other, whose end would otherwise stay unseen: this one would keep the socket to it open.
        let spare = tools.next().map(|tool| Self::fork_one(tool, None)).transpose()?;
        Self::fork_one(first, spare.map(Box::new))
    }

    fn fork_one(tool: Tool, spare: Option<Box<Self>>) -> Result<Self, KernelError> {
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
        Ok(Self { tool, translator: Translator { pid, pidfd }, go, complaints, way: None, spare })
    }

    /// Lists the processes that are to end with the lab.
    pub(super) fn translators(&self) -> Vec<&Translator> {
        std::iter::once(&self.translator).chain(self.spare.iter().flat_map(|spare| spare.translators())).collect()
    }

    /// Tells it which process is in the user namespace out of which the program is to lead.
    pub(super) fn lead_from(&mut self, process: Pid) -> Result<(), KernelError> {
        self.say(&Said::Process(process.as_raw()))?;
        self.spare.iter_mut().try_for_each(|spare| spare.lead_from(process))
    }

    /// Has the program lead out of a network namespace: `network` in the folder in /proc of that process.
    pub(super) fn lead(&mut self, network: &str, chosen: Option<&Chosen>) -> Result<(), KernelError> {
        self.way = Some((network.to_owned(), chosen.cloned()));
        self.say(&Said::Arguments(self.tool.arguments(network, chosen)))
    }

    fn say(&mut self, said: &Said) -> Result<(), KernelError> {
        let text = serde_json::to_string(said).expect("words are plain data");
        self.go.write_all(format!("{text}\n").as_bytes()).attempted(|| format!("start {}", self.tool.program()))
    }

    /// Waits until it has made a way out of the network namespace of this process. If it cannot, the other program is tried.
    pub(super) fn await_route(&mut self) -> Result<(), KernelError> {
        let Err(failed) = self.await_own_route() else {
            // The other one is not needed any more, and ends.
            self.spare = None;
            return Ok(());
        };
        let Some((spare, (network, chosen))) = self.spare.take().zip(self.way.take()) else { return Err(failed) };
        *self = *spare;
        self.lead(&network, chosen.as_ref())?;
        self.await_route().map_err(|error| {
            KernelError::new("lead to this machine's network", 0).with_detail(format!("{failed}; {error}"))
        })
    }

    fn await_own_route(&mut self) -> Result<(), KernelError> {
        let error = || KernelError::new(format!("lead to this machine's network with {}", self.tool.program()), 0);
        let until = Instant::now() + WITHIN;
        while !routes::here()?.contains(&IpNet::V4(Ipv4Net::default())) {
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
    // Without whole lines, nobody needs it any more.
    let Some(arguments) = hear(go) else { return 1 };
    // Keys at the user's terminal are not meant for it.
    let _ = nix::unistd::setsid();
    let mut command = Command::new(tool.program());
    command.args(arguments).env("PATH", PATH).current_dir("/");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(complaints);
    let error = command.exec();
    eprintln!("{}: {error}", tool.program());
    1
}

/// The arguments of the program. Who tells them, and who which process they are about, need not know of one another.
fn hear(go: &UnixStream) -> Option<Vec<String>> {
    let (mut lines, mut process, mut words) = (BufReader::new(go).lines(), None, None);
    while process.is_none() || words.is_none() {
        match serde_json::from_str(&lines.next()?.ok()?).ok()? {
            Said::Process(number) => process = Some(number.to_string()),
            Said::Arguments(arguments) => words = Some(arguments),
        }
    }
    let process = process?;
    Some(words?.iter().map(|word| word.replace(PROCESS, &process)).collect())
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

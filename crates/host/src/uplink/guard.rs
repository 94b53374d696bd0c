//! The process that changes the caller's network for a link, and puts it back when the link goes, however that ends.
//!
//! It stays in the caller's network and listens to a socket, which closes when the link's process does. Should this process
//! be killed itself, that one puts the network back: both know what was changed.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{IpAddr, Shutdown};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use nix::sys::wait::waitpid;
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

use super::apart::stand_apart;
use super::block::Block;
use super::ends::{self, settle};
use super::forwarding::{self, Forwarding};
use super::names::{DnsListener, Names};
use super::record::Record;
use super::rules::{Rules, Tool};
use super::translator::Translator;
use crate::clone::{Cloned, assert_one_thread, clone_process};
use crate::error::{Attempted, KernelError};
use crate::netlink::Netlink;
use crate::node::offloads::keep_what_the_engine_cannot_be_told;
use crate::sysctl;

/// What the caller's network needs so that what comes over an interface goes on from there.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Change {
    pub(super) block: Block,
    pub(super) rules: Rules,
    /// Where locks are.
    pub(super) folder: PathBuf,
    /// Whether the interface is to be removed then. It goes with its other end's namespace, too, which may stay while connections
    /// are being closed there that nobody answers.
    pub(super) removes: bool,
    /// The name servers that the other end of the link does not reach by itself.
    pub(super) servers: Vec<IpAddr>,
}

/// What was changed, and is to be put back.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Changed {
    change: Change,
    tool: Tool,
    /// Where questions for each of the servers are taken, at the outer end: the ports of UDP and of TCP.
    answering: Vec<[u16; 2]>,
}

/// The guard, seen from the link's process.
#[derive(Debug)]
pub(super) struct Guard {
    pid: Pid,
    channel: UnixStream,
    changed: Option<Changed>,
    record: Record,
    /// What leads on from the caller's network, and ends with the link.
    translator: Option<Translator>,
}

impl Guard {
    /// Forks it in the current network namespace, from which `translator` leads on if there is one. `folder` is for locks.
    ///
    /// # Panics
    /// If the process has more than one thread.
    pub(super) fn fork(translator: Option<Translator>, names: &Names, folder: &Path) -> Result<Self, KernelError> {
        assert_one_thread("a link is");
        let record = Record::begin(folder)?;
        let (ours, theirs) = UnixStream::pair().attempted(|| "open a socket to the link's guard")?;
        let mut ours = Some(ours);
        let Cloned { pid, .. } = clone_process(0, || {
            drop(ours.take());
            let outcome = watch(&theirs, &record, names);
            translator.iter().for_each(Translator::end);
            i32::from(outcome.is_err())
        })
        .attempted(|| "start the link's guard")?;
        let channel = ours.expect("only the child took it");
        Ok(Self { pid, channel, changed: None, record, translator })
    }

    /// Its process id: a process in the caller's network.
    pub(super) fn pid(&self) -> Pid {
        self.pid
    }

    /// Has it begin to change the caller's network.
    pub(super) fn begin_change(&mut self, change: &Change) -> Result<(), KernelError> {
        let line = serde_json::to_string(change).expect("a change is plain data") + "\n";
        self.channel.write_all(line.as_bytes()).map_err(|_| died())
    }

    /// Waits until it has changed it. Where questions for each name server are taken at the outer end.
    pub(super) fn finish_change(&mut self) -> Result<Vec<[u16; 2]>, KernelError> {
        let mut answer = String::new();
        BufReader::new(&self.channel).read_line(&mut answer).map_err(|_| died())?;
        let outcome: Result<Changed, KernelError> = serde_json::from_str(&answer).map_err(|_| died())?;
        Ok(self.changed.insert(outcome?).answering.clone())
    }

    /// Has it begin to put everything back.
    pub(super) fn begin_end(&self) {
        // If it has died, there is nothing to close.
        let _ = self.channel.shutdown(Shutdown::Write);
    }

    /// Has it put everything back, and waits for that. None if it had been killed.
    ///
    /// # Errors
    /// What it could not put back.
    pub(super) fn end(&mut self) -> Option<Result<(), KernelError>> {
        self.begin_end();
        let mut answer = Vec::new();
        let heard = self.channel.read_to_end(&mut answer);
        let _ = waitpid(self.pid, None);
        self.translator = None;
        heard.ok().and_then(|_| serde_json::from_slice(&answer).ok())
    }

    /// Puts everything back in its place. The current network namespace must be the caller's.
    pub(super) fn stand_in(&self) -> Result<(), KernelError> {
        // Nobody knows how far it was, or another process than this one.
        let Some(Changed { change, tool, .. }) = &self.changed else { return self.record.put_back() };
        change.rules.remove(*tool).and(forwarding::release(&change.folder)).and(self.record.remove())
    }
}

impl AsFd for Guard {
    /// Readable when it has died.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.channel.as_fd()
    }
}

fn died() -> KernelError {
    let error = KernelError::new("change the network that the link leads to", libc::ESRCH);
    error.with_detail("the link's guard was killed")
}

/// In the guard.
fn watch(mut channel: &UnixStream, record: &Record, names: &Names) -> Result<(), KernelError> {
    stand_apart(c"netloom-guard")?;
    let mut lines = BufReader::new(channel);
    let mut line = String::new();
    let _ = lines.read_line(&mut line);
    // Without a whole line, the link has gone before anything was changed.
    let Ok(change) = serde_json::from_str::<Change>(&line) else { return record.remove() };
    let outcome = record.write(&change.rules).and_then(|()| make(&change));
    let (answer, made) = match outcome {
        Ok((tool, forwarding)) => {
            let answering = answer(&change, names);
            (answering.map(|answering| Changed { change: change.clone(), tool, answering }), Some((tool, forwarding)))
        }
        Err(error) => (Err(error), None),
    };
    let told = serde_json::to_string(&answer).expect("what was changed is plain data") + "\n";
    let _ = channel.write_all(told.as_bytes());
    // Whatever ends this, it is time to put everything back.
    let _ = lines.read_to_end(&mut Vec::new());
    let ended = match made {
        Some((tool, forwarding)) => change.rules.remove(tool).and(forwarding.release()),
        None => Ok(()),
    };
    let removed = if change.removes { ends::remove(&change.rules.interface) } else { Ok(()) };
    let ended = ended.and(removed).and(record.remove());
    let text = serde_json::to_string(&ended).expect("an error is plain data");
    let _ = channel.write_all(text.as_bytes());
    ended
}

/// Takes questions for name servers at the outer end.
fn answer(change: &Change, names: &Names) -> Result<Vec<[u16; 2]>, KernelError> {
    let address = change.block.outside();
    let one = |server: &IpAddr| {
        let attempted = || format!("take questions for the name server {server} at {address}");
        let dns_listener = DnsListener::open(address.into(), 0).attempted(attempted)?;
        let ports = dns_listener.ports().attempted(attempted)?;
        names.serve(&dns_listener, &[*server])?;
        Ok(ports)
    };
    change.servers.iter().map(one).collect()
}

/// Lets what comes over the interface go on from the network of this process.
pub(super) fn make(change: &Change) -> Result<(Tool, Forwarding), KernelError> {
    let interface = &change.rules.interface;
    sysctl::set(&format!("net.ipv4.conf.{interface}.forwarding"), "1")?;
    sysctl::set(&format!("net.ipv4.conf.{interface}.rp_filter"), "0")?;
    // Before it is up: the kernel itself is to send nothing over the link.
    sysctl::set_if_present(&format!("net.ipv6.conf.{interface}.disable_ipv6"), "1")?;
    keep_what_the_engine_cannot_be_told([interface.as_str()].into_iter())?;
    let Change { block, .. } = change;
    settle(&mut Netlink::open()?, interface, block.outside(), block.inside(), false)?;
    let forwarding = Forwarding::hold(&change.folder)?;
    match change.rules.add() {
        Ok(tool) => Ok((tool, forwarding)),
        Err(error) => {
            let _ = forwarding.release();
            Err(error)
        }
    }
}

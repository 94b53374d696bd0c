//! The process that gives interfaces back which were moved to a network namespace of a lab's, however the lab ends.
//!
//! The namespace is made beside the machine's and holds nothing but these interfaces: with the engine's packet sockets, which are opened there,
//! a lab reaches them from anywhere. The keeper holds it, waits until the lab and its guard have gone, and puts everything back. Should
//! the keeper be killed itself, the guard does: both know how the interfaces were. Should both be, a record of it is left.

use std::fs::File;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{LinkAttribute, LinkMessage};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::wait::waitpid;
use nix::unistd::Pid;

use super::record::{self, Record, Stale};
use super::snapshot::{Snapshot, link};
use crate::clone::{Cloned, assert_one_thread, clone_process};
use crate::error::{Attempted, KernelError};
use crate::locked;
use crate::netlink::{Netlink, Request, set_up};
use crate::sysctl;
use crate::uplink::apart::stand_apart;

/// Interfaces of the machine that are a lab's for a while. They come back when this is dropped, or this process and all that it forked
/// have gone.
#[derive(Debug)]
pub struct Kept {
    pid: Pid,
    channel: UnixStream,
    away: Away,
    is_over: bool,
}

/// What both processes know.
#[derive(Debug)]
struct Away {
    snapshots: Vec<Snapshot>,
    /// The network namespace of the machine.
    home: OwnedFd,
    /// That of the interfaces; none if it is gone.
    there: Option<OwnedFd>,
    record: Record,
}

impl Kept {
    /// Takes these interfaces out of the current network namespace; in `folder` it is written down what they are.
    ///
    /// # Errors
    /// What the kernel refused; the interfaces are back then.
    ///
    /// # Panics
    /// If the process has more than one thread.
    pub fn take(names: &[&str], folder: &Path) -> Result<Self, KernelError> {
        assert_one_thread("a lab is");
        let snapshots: Vec<Snapshot> = names.iter().map(|name| Snapshot::take(name)).collect::<Result<_, _>>()?;
        let home: OwnedFd = File::open(NAMESPACE).attempted(|| "look at this network namespace")?.into();
        unshare(CloneFlags::CLONE_NEWNET).attempted(|| "make a network namespace")?;
        let there = File::open(NAMESPACE).attempted(|| "look at the new network namespace").map(OwnedFd::from);
        enter(&home)?;
        let there = there?;
        let record = Record::begin(folder, &snapshots, &there)?;
        let away = Away { snapshots, home, there: Some(there), record };
        let (ours, theirs) = UnixStream::pair().attempted(|| "open a socket to the keeper of interfaces")?;
        let mut ours = Some(ours);
        let Cloned { pid, .. } = clone_process(0, || {
            drop(ours.take());
            i32::from(keep(&theirs, &away).is_err())
        })
        .attempted(|| "start the keeper of interfaces")?;
        let kept = Self { pid, channel: ours.expect("only the child took it"), away, is_over: false };
        // From here on, they come back whatever happens.
        kept.away.go()?;
        Ok(kept)
    }

    /// Runs `make` in the network namespace of the interfaces, which are up, and returns its result.
    ///
    /// # Errors
    /// What the kernel refused.
    pub fn inside<T>(&self, make: impl FnOnce() -> T) -> Result<T, KernelError> {
        self.away.enter_there()?;
        let made = make();
        enter(&self.away.home)?;
        Ok(made)
    }

    /// Has them come back, and waits for that.
    ///
    /// # Errors
    /// What could not be put back.
    pub fn give_back(mut self) -> Result<(), KernelError> {
        self.end()
    }

    fn end(&mut self) -> Result<(), KernelError> {
        if std::mem::replace(&mut self.is_over, true) {
            return Ok(());
        }
        // If it has died, there is nothing to close.
        let _ = self.channel.shutdown(Shutdown::Write);
        let mut answer = Vec::new();
        let heard = self.channel.read_to_end(&mut answer);
        let _ = waitpid(self.pid, None);
        // Without an answer it was killed.
        let told = heard.ok().and_then(|_| serde_json::from_slice(&answer).ok());
        told.unwrap_or_else(|| self.away.come_back())
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        // Who wanted to know has asked.
        let _ = self.end();
    }
}

/// How long the kernel may take to give a network card back whose namespace has gone.
const HOME_WITHIN: Duration = Duration::from_secs(2);
/// How long a network card may take to find the other end of its wire.
const FOUND_WITHIN: Duration = Duration::from_secs(10);

const NAMESPACE: &str = "/proc/thread-self/ns/net";

/// The keeper's life.
fn keep(mut channel: &UnixStream, away: &Away) -> Result<(), KernelError> {
    stand_apart(c"netloom-keeper")?;
    // Nothing is ever written: this ends when nobody is left who could.
    let _ = channel.read_to_end(&mut Vec::new());
    let ended = away.come_back();
    let text = serde_json::to_string(&ended).expect("an error is plain data");
    let _ = channel.write_all(text.as_bytes());
    ended
}

impl Away {
    /// Moves the interfaces away, and brings them up there. The kernel there says nothing over them.
    fn go(&self) -> Result<(), KernelError> {
        let mut here = Netlink::open()?;
        for Snapshot { name, .. } in &self.snapshots {
            let there = self.there.as_ref().expect("it was made for them");
            move_to(&mut here, name, there)?;
        }
        self.enter_there()?;
        let up = (|| {
            let mut netlink = Netlink::open()?;
            for Snapshot { name, .. } in &self.snapshots {
                let _ = sysctl::set_if_present(&format!("net.ipv6.conf.{}.disable_ipv6", name.replace('.', "/")), "1");
                let index = netlink.index_of(name)?;
                netlink.transact(vec![set_up(index, name)])?;
            }
            self.await_carriers(&mut netlink)
        })();
        enter(&self.home).and(up)
    }

    /// Waits until those have found the other end of their wires that had before: a network card takes seconds. One that does not find
    /// it is used all the same.
    fn await_carriers(&self, netlink: &mut Netlink) -> Result<(), KernelError> {
        let until = Instant::now() + FOUND_WITHIN;
        let wanted: Vec<&str> =
            self.snapshots.iter().filter(|own| own.is_running).map(|own| own.name.as_str()).collect();
        loop {
            let links = netlink.links()?;
            let is_running = |name: &&str| links.iter().any(|link| link.name == **name && link.running);
            if wanted.iter().all(is_running) || Instant::now() > until {
                return Ok(());
            }
            sleep(Duration::from_millis(2));
        }
    }

    /// Whether all of them are in the current network namespace.
    fn is_home(&self) -> Result<bool, KernelError> {
        let mut netlink = Netlink::open()?;
        let found: Vec<_> = self.snapshots.iter().map(|own| link(&mut netlink, &own.name)).collect::<Result<_, _>>()?;
        Ok(found.iter().all(Option::is_some))
    }

    fn enter_there(&self) -> Result<(), KernelError> {
        self.there.as_ref().map_or(Ok(()), enter)
    }

    /// Brings them home, if they are not, and makes them what they were. Does no harm a second time.
    fn come_back(&self) -> Result<(), KernelError> {
        let moved = if self.there.is_some() { self.bring_home() } else { Ok(()) };
        let given: Vec<_> = self.snapshots.iter().map(Snapshot::give_back).collect();
        if moved.is_ok() {
            self.record.remove();
        }
        given.into_iter().fold(moved, Result::and)
    }

    fn bring_home(&self) -> Result<(), KernelError> {
        self.enter_there()?;
        let moved = (|| {
            let mut netlink = Netlink::open()?;
            let mut outcome = Ok(());
            for Snapshot { name, .. } in &self.snapshots {
                if link(&mut netlink, name)?.is_some() {
                    outcome = outcome.and(move_to(&mut netlink, name, &self.home));
                }
            }
            outcome
        })();
        enter(&self.home).and(moved)
    }
}

/// Gives back what labs had taken from the current network namespace that were killed with all their processes. `folder` is where it
/// was written down.
///
/// # Errors
/// What the kernel refused first. All else is back.
pub fn give_back_stale(folder: &Path) -> Result<(), KernelError> {
    // Who begins a lab with such an interface waits until it is back.
    let _alone = locked::folder(folder)?;
    let mut outcome = Ok(());
    for Stale { record, snapshots, there } in record::stale(folder)? {
        let home: OwnedFd = File::open(NAMESPACE).attempted(|| "look at this network namespace")?.into();
        let away = Away { snapshots, home, there, record };
        // Without its namespace, a network card comes home by itself, which takes the kernel a moment; others are no more.
        let until = Instant::now() + HOME_WITHIN;
        while away.there.is_none() && !away.is_home()? && Instant::now() < until {
            sleep(Duration::from_millis(10));
        }
        outcome = outcome.and(match away.come_back() {
            Err(error) if away.there.is_none() && error.errno() == libc::ENODEV => Ok(()),
            other => other,
        });
    }
    outcome
}

fn enter(namespace: &OwnedFd) -> Result<(), KernelError> {
    setns(namespace.as_fd(), CloneFlags::CLONE_NEWNET).attempted(|| "enter a network namespace")
}

/// Moves an interface of the namespace of `netlink`. Its name goes with it.
fn move_to(netlink: &mut Netlink, name: &str, namespace: &OwnedFd) -> Result<(), KernelError> {
    let mut message = LinkMessage::default();
    // With the number 0, the kernel looks for the name.
    message.attributes =
        vec![LinkAttribute::IfName(name.to_owned()), LinkAttribute::NetNsFd(namespace.as_fd().as_raw_fd())];
    let attempted = format!("move {name} to another network namespace");
    netlink.transact(vec![Request { message: RouteNetlinkMessage::SetLink(message), flags: 0, attempted }])
}

//! A network namespace for a command, and its way out into the caller's network, which leads through the packet engine.
//!
//! ```text
//!   the command's namespace        this process's own               the caller's
//!   eth0 100.64.0.2  ─────────────  p0   engine   p1  ────────────  netloom0 100.64.0.1, addresses translated
//! ```
//! An ordinary user may not change the machine's network, and gets another one first, from which a program leads there
//! (`translator`).
//!
//! What is changed in the caller's network are an interface, which goes with this process's namespace, rules, and perhaps
//! forwarding. The last two a process of their own puts back (`guard`).

pub(crate) mod apart;
mod block;
mod command;
mod ends;
mod forwarding;
mod guard;
mod names;
mod record;
mod rules;
mod translator;
mod way_out;

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use ipnet::IpNet;
use nix::sched::{CloneFlags, setns, unshare};
use nix::unistd::{Pid, getegid};

use crate::error::{Attempted, KernelError};
use crate::expose::{ForwardPath, Relay};
use crate::facts::Facts;
use crate::lab::quiet_network;
use crate::netlink::{InterfaceCounters, Link, Netlink, Veth, VethEnd};
use crate::node::offloads::keep_what_the_engine_cannot_be_told;
use crate::node::routes;
use crate::{runtime, sysctl};
use block::{Block, mac, none_free};
pub use command::Started;
use ends::settle;
use guard::{Change, Guard};
use names::{DnsListener, Names, PATIENCE};
use rules::Rules;
use translator::{Waiting, may_change_network};
pub use way_out::{Means, WayOut};

/// The name of the interface in the command's namespace.
const INSIDE: &str = "eth0";

/// How long the kernel may take to notice that all interfaces are up; it takes some milliseconds.
const RUNNING_WITHIN: Duration = Duration::from_secs(10);

/// See the module. The calling process is in the namespace with the engine's two interfaces for as long as this lives.
#[derive(Debug)]
pub struct Uplink {
    guard: Guard,
    /// Behind the guard, which holds its channel, too.
    _names: Names,
    outer: File,
    inside: File,
    inner: Netlink,
    beyond: Netlink,
    block: Block,
    /// The interfaces by which packets come from the command, and from the caller's network, in this namespace.
    ports: [u32; 2],
    /// Where the command finds name servers of the caller's loopback: questions go through the link. Taken when they can.
    dns_listeners: Vec<(IpAddr, DnsListener)>,
    unheard: Vec<IpAddr>,
    relays: Vec<Relay>,
}

impl Uplink {
    /// Makes the namespaces and interfaces, and joins them with the caller's network. `ports` are the names of the
    /// interfaces for the engine; the first is the command's side. Packets have at most `mtu` bytes.
    ///
    /// # Errors
    /// What the kernel refuses, or what is missing. Everything is put back then.
    ///
    /// # Panics
    /// If the process has more than one thread.
    pub fn make(ports: [&str; 2], mtu: u32) -> Result<Self, KernelError> {
        let advised = |error: KernelError| match Facts::gather().advice(error.errno()) {
            Some(advice) => error.with_detail(advice),
            None => error,
        };
        let waiting = if may_change_network(&namespace()?) { None } else { Some(Waiting::fork()?) };
        let names = Names::fork(waiting.as_ref().map(Waiting::translators).unwrap_or_default())?;
        let translator = waiting.map(translator::enter).transpose()?;
        let outer = namespace()?;
        let mut beyond = Netlink::open()?;
        let taken = taken(&mut beyond)?;
        let folder = runtime_folder()?;
        let guard = Guard::fork(translator, &names, &folder)?;
        unshare(CloneFlags::CLONE_NEWNET).attempted(|| "make a network namespace for the engine").map_err(advised)?;
        quiet_network()?;
        let (engine, mut own) = (namespace()?, Netlink::open()?);
        unshare(CloneFlags::CLONE_NEWNET).attempted(|| "make a network namespace for the command").map_err(advised)?;
        prepare_inside()?;
        let (dns_listeners, unheard) = dns_listeners();
        let (inside, mut inner) = (namespace()?, Netlink::open()?);
        let (block, ports) = join(&mut own, ports, guard.pid(), mtu, &taken)?;
        settle_inside(&mut inner, block)?;
        enter(&engine)?;
        let servers = dns_listeners.iter().map(|(server, _)| *server).collect();
        let relays = Vec::new();
        let mut uplink =
            Self { guard, _names: names, outer, inside, inner, beyond, block, ports, dns_listeners, unheard, relays };
        let rules = Rules { interface: block.interface(), inside: Some(block.inside()) };
        uplink.guard.begin_change(&Change { block, rules, folder, removes: false, servers })?;
        Ok(uplink)
    }

    /// Waits until packets can pass. That takes some milliseconds, for which the caller has other things to do.
    ///
    /// # Errors
    /// What the kernel refuses in the caller's network.
    pub fn await_ready(&mut self) -> Result<(), KernelError> {
        let answering = self.guard.finish_change()?;
        for ((_, dns_listener), ports) in std::mem::take(&mut self.dns_listeners).into_iter().zip(answering) {
            let namespace = Some(self.inside.try_clone().attempted(|| "keep a network namespace open")?);
            let way = ForwardPath::Network { namespace, addresses: vec![self.gateway().into()] };
            self.relays.push(Relay::start(dns_listener.exposed(ports), way, PATIENCE)?);
        }
        let outside = self.block.interface();
        await_running([(&mut self.inner, INSIDE), (&mut self.beyond, &outside)])
    }

    /// The kernel's numbers of the interfaces for the engine; the first is the command's side.
    pub fn ports(&self) -> [u32; 2] {
        self.ports
    }

    /// The address of the end in the caller's network.
    pub fn gateway(&self) -> Ipv4Addr {
        self.block.outside()
    }

    /// The name servers of this machine that cannot be asked from behind the link.
    pub fn unheard(&self) -> &[IpAddr] {
        &self.unheard
    }

    /// A name that tells the link from those that are around it and beside it.
    pub fn name(&self) -> String {
        self.block.interface()
    }

    /// Starts the command, as a child of this process, with `env` beside this process's environment.
    ///
    /// # Errors
    /// Why it cannot be started.
    pub fn start(&self, argv: &[OsString], env: &[(String, String)]) -> io::Result<Started> {
        command::start(self.inside.as_fd(), argv, env)
    }

    /// Returns the counters of the command's interface.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub fn counters(&mut self) -> Result<InterfaceCounters, KernelError> {
        Ok(find(&mut self.inner, INSIDE)?.counters)
    }

    /// Begins to put the caller's network back: the command has ended.
    pub fn begin_close(&self) {
        self.guard.begin_end();
    }

    /// Puts the caller's network back.
    ///
    /// # Errors
    /// What could not be put back.
    pub fn close(mut self) -> Result<(), KernelError> {
        if let Some(outcome) = self.guard.end() {
            return outcome;
        }
        enter(&self.outer)?;
        self.guard.stand_in()
    }
}

/// Puts back, in this process's network namespace, what links and ways out have changed whose processes were all killed. In `folder` it
/// is written down.
pub(crate) fn sweep(folder: &std::path::Path) -> Result<(), KernelError> {
    record::sweep(folder)
}

/// Where locks are.
fn runtime_folder() -> Result<std::path::PathBuf, KernelError> {
    runtime::root().map_err(|error| match error {
        runtime::RuntimeError::Refused(error) => error,
        other => KernelError::new("find a folder for locks", 0).with_detail(other.to_string()),
    })
}

/// The network namespace of the calling thread.
fn namespace() -> Result<File, KernelError> {
    File::open("/proc/thread-self/ns/net").attempted(|| "open a network namespace")
}

fn enter(namespace: &impl AsFd) -> Result<(), KernelError> {
    let namespace: BorrowedFd<'_> = namespace.as_fd();
    setns(namespace, CloneFlags::CLONE_NEWNET).attempted(|| "enter a network namespace")
}

/// The addresses and routes of the caller's network.
fn taken(beyond: &mut Netlink) -> Result<Vec<IpNet>, KernelError> {
    let mut taken = beyond.addresses()?;
    taken.extend(routes::here()?);
    Ok(taken)
}

/// In the new namespace of the command.
fn prepare_inside() -> Result<(), KernelError> {
    // The namespace inherits these from the machine. Links that begin here need it to forward.
    sysctl::set("net.ipv4.ip_forward", "1")?;
    for scope in ["all", "default"] {
        sysctl::set(&format!("net.ipv4.conf.{scope}.rp_filter"), "0")?;
    }
    // Of those that this user may name, all users may ping; a kernel that refuses the rest has its own idea of whom.
    let group = getegid();
    let _ = sysctl::set("net.ipv4.ping_group_range", "0 2147483647")
        .or_else(|_| sysctl::set("net.ipv4.ping_group_range", &format!("{group} {group}")));
    Netlink::open().and_then(|mut netlink| {
        let loopback = netlink.index_of("lo")?;
        netlink.set_up(loopback)
    })
}

/// In the command's namespace, the name servers at loopback addresses; and those whose addresses cannot be had there.
fn dns_listeners() -> (Vec<(IpAddr, DnsListener)>, Vec<IpAddr>) {
    let (mut dns_listeners, mut unheard) = (Vec::new(), Vec::new());
    for server in names::servers().into_iter().filter(IpAddr::is_loopback) {
        match DnsListener::open(server, names::PORT) {
            Ok(dns_listener) => dns_listeners.push((server, dns_listener)),
            Err(_) => unheard.push(server),
        }
    }
    (dns_listeners, unheard)
}

/// Makes both pairs of interfaces. The calling process must be in the command's namespace, `own` is of the engine's.
fn join(
    own: &mut Netlink,
    ports: [&str; 2],
    outside: Pid,
    mtu: u32,
    taken: &[IpNet],
) -> Result<(Block, [u32; 2]), KernelError> {
    let here = |name: &str| VethEnd { name: name.to_owned(), mac: None, namespace: None, up: true };
    let there = |name: String, address, namespace: Pid| VethEnd {
        name,
        mac: Some(mac(address)),
        namespace: Some(namespace.into()),
        up: false,
    };
    for block in Block::free(taken) {
        let far = there(block.interface(), block.outside(), outside);
        match own.create_veths(&[Veth { ends: [here(ports[1]), far], mtu }]) {
            Ok(second) => {
                let near = there(INSIDE.to_owned(), block.inside(), Pid::this());
                let first = own.create_veths(&[Veth { ends: [here(ports[0]), near], mtu }])?;
                return Ok((block, [first[0], second[0]]));
            }
            // Another link has just taken it.
            Err(error) if error.errno() == libc::EEXIST => (),
            Err(error) => return Err(error),
        }
    }
    Err(none_free())
}

/// Address, neighbour and default route of the command's side. The calling process must be in its namespace.
fn settle_inside(inner: &mut Netlink, block: Block) -> Result<(), KernelError> {
    // There is no way out for IPv6, and programs are not to look for one.
    sysctl::set_if_present(&format!("net.ipv6.conf.{INSIDE}.disable_ipv6"), "1")?;
    keep_what_the_engine_cannot_be_told([INSIDE].into_iter())?;
    settle(inner, INSIDE, block.inside(), block.outside(), true)
}

/// Waits until both ends of a pair have noticed that they are up.
fn await_running([(near, inside), (far, outside)]: [(&mut Netlink, &str); 2]) -> Result<(), KernelError> {
    let until = Instant::now() + RUNNING_WITHIN;
    while !(find(near, inside)?.running && find(far, outside)?.running) {
        if Instant::now() > until {
            return Err(KernelError::new(format!("wait for {inside} and {outside} to run"), libc::ETIMEDOUT));
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

fn find(netlink: &mut Netlink, name: &str) -> Result<Link, KernelError> {
    let found = netlink.links()?.into_iter().find(|link| link.name == name);
    found.ok_or_else(|| KernelError::new(format!("find interface {name}"), libc::ENODEV))
}

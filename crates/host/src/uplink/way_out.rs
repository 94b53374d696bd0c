//! The way out of one node of a lab into the network that netloom was started in.
//!
//! ```text
//!   the node                                     the caller's network
//!   eth0, eth1 …   uplink0 100.64.0.2  ────────  netloom0 100.64.0.1, addresses translated
//! ```
//! What leaves the node gets its address towards the outside, there and once more in the caller's network: no address of the lab
//! is to be known there. Where the caller may not change its network, a program makes `uplink0` and translates connections
//! (`translator`).
//!
//! Three processes stay in the caller's network: the one that forks the lab, a guard (`guard`) where rules are changed, and
//! one that asks name servers (`names`). The lab's process has copies of what leads to them.

use std::fs::File;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::AsRawFd;
use std::path::PathBuf;

use ipnet::{IpNet, Ipv4Net};
use nix::unistd::Pid;

use super::block::{Block, mac, none_free};
use super::ends::settle;
use super::guard::{Change, Guard};
use super::names::{self, DnsListener, Names};
use super::rules::{self, Rules};
use super::translator::{Chosen, Tool, Waiting, may_change_network};
use super::{await_running, enter, namespace, runtime_folder, taken};
use crate::error::{Attempted, KernelError};
use crate::netlink::{Netlink, Veth, VethEnd};
use crate::node::routes;
use crate::sysctl;

/// As on Ethernet.
const MTU: u32 = 1_500;

/// The subnets from which a program chooses addresses: the last ones of those for translated addresses (RFC 6598).
const FIRST_OF_PROGRAM: [u8; 2] = [100, 127];

/// The means by which a node would be led out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Means {
    /// Rules of this machine's firewall.
    Rules,
    /// A program of this name, which translates connections.
    Program(&'static str),
}

impl Means {
    /// Finds the means that there are on this machine, for this user.
    ///
    /// # Errors
    /// What is missing.
    pub fn find() -> Result<Self, KernelError> {
        let lacking = |what: &str| KernelError::new("lead to this machine's network", 0).with_detail(what);
        if !routes::here()?.contains(&IpNet::V4(Ipv4Net::default())) {
            return Err(lacking("it has no default route for IPv4: connect it first"));
        }
        if !rules::exist() {
            return Err(lacking(rules::NEITHER));
        }
        if may_change_network(&namespace()?) {
            return Ok(Self::Rules);
        }
        Tool::all().next().map(|tool| Self::Program(tool.program())).ok_or_else(|| lacking(super::translator::NEITHER))
    }
}

/// See the module. It is made before the lab is forked, and used by the lab's process and by the one that forked it, each with its
/// own copy.
#[derive(Debug)]
pub struct WayOut {
    lead: Lead,
    /// Behind the guard, which holds its channel, too.
    names: Names,
    outer: File,
    folder: PathBuf,
    servers: Vec<IpAddr>,
    /// The addresses and routes of the caller's network.
    taken: Vec<IpNet>,
    /// The network namespace that is led out, which a program finds by this descriptor.
    inside: Option<File>,
}

#[derive(Debug)]
enum Lead {
    Rules(Guard),
    Program(Waiting),
}

impl WayOut {
    /// Forks the processes that stay in the caller's network. Nothing is changed there yet.
    ///
    /// # Errors
    /// What the kernel refuses, or what is missing.
    ///
    /// # Panics
    /// If the process has more than one thread.
    pub fn prepare() -> Result<Self, KernelError> {
        let means = Means::find()?;
        let outer = namespace()?;
        let waiting = if means == Means::Rules { None } else { Some(Waiting::fork()?) };
        let names = Names::fork(waiting.as_ref().map(Waiting::translators).unwrap_or_default())?;
        let folder = runtime_folder()?;
        let taken = taken(&mut Netlink::open()?)?;
        let lead = match waiting {
            Some(waiting) => Lead::Program(waiting),
            None => Lead::Rules(Guard::fork(None, &names, &folder)?),
        };
        Ok(Self { lead, names, outer, folder, servers: names::servers(), taken, inside: None })
    }

    /// Says which process the lab's is, in the process that forked it.
    ///
    /// # Errors
    /// That a program has died.
    pub fn lead_from(&mut self, lab: Pid) -> Result<(), KernelError> {
        match &mut self.lead {
            Lead::Rules(_) => Ok(()),
            Lead::Program(waiting) => waiting.lead_from(lab),
        }
    }

    /// Leads a node out, in the lab's process: by `interface`, which is made. Questions for names are taken at `resolver`, an
    /// address of the node. `used` are the subnets of the lab.
    ///
    /// # Errors
    /// What the kernel refuses, or the program.
    ///
    /// # Panics
    /// If the process has more than one thread.
    pub fn lead(
        &mut self,
        node: Pid,
        interface: &'static str,
        resolver: Ipv4Addr,
        used: &[IpNet],
    ) -> Result<(), KernelError> {
        let home = namespace()?;
        let path = format!("/proc/{node}/ns/net");
        let inside = File::open(&path).attempted(|| format!("open {path}"))?;
        let taken: Vec<IpNet> = self.taken.iter().chain(used).copied().collect();
        match &mut self.lead {
            Lead::Rules(guard) => {
                enter(&self.outer)?;
                let block = join(node, interface, &taken)?;
                let rules = Rules { interface: block.interface(), inside: Some(block.inside()) };
                let mut far = Netlink::open()?;
                let (folder, servers) = (self.folder.clone(), Vec::new());
                guard.begin_change(&Change { block, rules, folder, removes: true, servers })?;
                guard.finish_change()?;
                enter(&inside)?;
                sysctl::set_if_present(&format!("net.ipv6.conf.{interface}.disable_ipv6"), "1")?;
                let mut near = Netlink::open()?;
                settle(&mut near, interface, block.inside(), block.outside(), true)?;
                await_running([(&mut near, interface), (&mut far, &block.interface())])?;
            }
            Lead::Program(waiting) => {
                let chosen = choose(interface, &taken)?;
                waiting.lead(&format!("fd/{}", inside.as_raw_fd()), Some(&chosen))?;
                enter(&inside)?;
                waiting.await_route()?;
            }
        }
        Rules { interface: interface.to_owned(), inside: None }.add()?;
        let dns_listener = DnsListener::open(resolver.into(), names::PORT);
        let dns_listener = dns_listener.attempted(|| format!("take questions for names at {resolver}"))?;
        enter(&home)?;
        self.inside = Some(inside);
        self.names.serve(&dns_listener, &self.servers)
    }

    /// Puts the caller's network back, in the process that forked the lab, when that has ended.
    ///
    /// # Errors
    /// What could not be put back.
    pub fn close(self) -> Result<(), KernelError> {
        match self.lead {
            Lead::Rules(mut guard) => guard.end().unwrap_or_else(|| guard.stand_in()),
            Lead::Program(_) => Ok(()),
        }
    }
}

/// Makes the pair of interfaces: one here, and one in the network namespace of a process.
fn join(node: Pid, interface: &str, taken: &[IpNet]) -> Result<Block, KernelError> {
    let mut netlink = Netlink::open()?;
    for block in Block::free(taken) {
        let far = VethEnd { name: block.interface(), mac: Some(mac(block.outside())), namespace: None, up: false };
        let near = VethEnd {
            name: interface.to_owned(),
            mac: Some(mac(block.inside())),
            namespace: Some(node.into()),
            up: false,
        };
        match netlink.create_veths(&[Veth { ends: [far, near], mtu: MTU }]) {
            Ok(_) => return Ok(block),
            // Another link has just taken it.
            Err(error) if error.errno() == libc::EEXIST => (),
            Err(error) => return Err(error),
        }
    }
    Err(none_free())
}

/// The addresses that a program is to use.
fn choose(interface: &'static str, taken: &[IpNet]) -> Result<Chosen, KernelError> {
    let block = Block::free(taken).next().ok_or_else(none_free)?;
    let [a, b] = FIRST_OF_PROGRAM;
    let subnets = (0..=u8::MAX).rev().map(|c| Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, 0), 24));
    let is_free = |subnet: &Ipv4Net| !taken.iter().any(|net| overlap(net, subnet));
    Ok(Chosen {
        interface,
        own: Ipv4Net::new_assert(block.inside(), Block::PREFIX),
        gateway: block.outside(),
        subnet: subnets.clone().find(is_free).ok_or_else(none_free)?,
    })
}

fn overlap(net: &IpNet, subnet: &Ipv4Net) -> bool {
    match net {
        IpNet::V4(net) => net.prefix_len() > 0 && (net.contains(&subnet.network()) || subnet.contains(&net.network())),
        IpNet::V6(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_gets_addresses_that_neither_the_lab_nor_the_machine_has() {
        let taken = |nets: &[&str]| nets.iter().map(|net| net.parse().unwrap()).collect::<Vec<IpNet>>();
        let free = choose("uplink0", &taken(&["0.0.0.0/0", "10.0.0.1/30", "fd00::1/64"])).unwrap();
        assert_eq!((free.own.to_string(), free.gateway.to_string()), ("100.64.0.2/30".into(), "100.64.0.1".into()));
        assert_eq!(free.subnet.to_string(), "100.127.255.0/24");
        let less = choose("uplink0", &taken(&["100.127.255.7/32", "100.64.0.0/24"])).unwrap();
        assert_eq!(
            (less.own.to_string(), less.subnet.to_string()),
            ("100.64.1.2/30".into(), "100.127.254.0/24".into())
        );
        assert!(choose("uplink0", &taken(&["100.64.0.0/10"])).is_err());
    }
}

//! What programs of a node changed in its network after the lab had configured it.
//!
//! A program in a node may change its network as a program on a machine may. But if it sets a queueing discipline or another
//! MTU on the interface of a described link, or takes that down, the link is no longer as described.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::config::{InterfaceConfig, NodeConfig};
use crate::error::KernelError;
use crate::netlink::{Events, Netlink, Seen};

/// The most changes that are reported one by one.
const MOST: usize = 16;

/// Disciplines without a queue; they only carry filters.
const WITHOUT_QUEUE: [&str; 2] = ["ingress", "clsact"];

/// Something that happened to a node's network, mostly by its programs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct NetworkChange {
    /// What it is about.
    pub effect: Effect,
    /// What, in words.
    pub what: String,
}

/// What something that happened to a node's network is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Effect {
    /// Packets of a described link met it: a queue, another MTU, an interface that was down or gone.
    Link,
    /// The interface at this place of the node's list had an address from a server, and has none any more.
    Lease(usize),
    /// The node's kernel was short of memory for its connections, whoever is to blame.
    Memory,
    /// The node alone.
    Node,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Watch {
    events: Events,
    /// The numbers of the interfaces at the beginning, and which described interface each of them is.
    known: Vec<(u32, Option<usize>)>,
    changes: BTreeSet<NetworkChange>,
    /// What addresses from servers were lost, and no others came: by interface, and whether they are of IPv6.
    lost: BTreeMap<(usize, bool), IpAddr>,
    /// Whether there were more.
    more: bool,
    /// How often TCP had been short of memory at the beginning.
    pressures: u64,
}

impl Watch {
    /// Watches from now on: the node has been configured, and its addresses can be used.
    pub(crate) fn begin(config: &NodeConfig) -> Result<Self, KernelError> {
        let events = Events::listen()?;
        let place = |name: &str| config.interfaces.iter().position(|interface| interface.name == name);
        let links = Netlink::open()?.links()?;
        let known = links.iter().map(|link| (link.index, place(&link.name))).collect();
        let pressures = memory_pressures(&counters());
        Ok(Self { events, known, changes: BTreeSet::new(), lost: BTreeMap::new(), more: false, pressures })
    }

    /// Everything that was changed so far, even if it was changed back.
    pub(crate) fn changes(&mut self, config: &NodeConfig) -> Result<Vec<NetworkChange>, KernelError> {
        let Self { events, known, changes, lost, more, pressures } = self;
        events.take(|seen| {
            let lent = lease(config, known, &seen).and_then(|lease| note_lease(lost, lease));
            let Some(change) = lent.or_else(|| judge(config, known, &seen)) else { return };
            if changes.len() < MOST {
                changes.insert(change);
            } else {
                *more |= !changes.contains(&change);
            }
        })?;
        let gone = lost.iter().map(|((place, _), address)| NetworkChange {
            effect: Effect::Lease(*place),
            what: format!("{} lost its address {address} and got no other", config.interfaces[*place].name),
        });
        let rest = NetworkChange { effect: Effect::Node, what: "and more".into() };
        let pressure = pressure(memory_pressures(&counters()).saturating_sub(*pressures));
        Ok(changes.iter().cloned().chain(more.then_some(rest)).chain(gone).chain(pressure).collect())
    }
}

/// The counters of this network namespace; empty where the kernel has none.
fn counters() -> String {
    fs::read_to_string("/proc/thread-self/net/netstat").unwrap_or_default()
}

/// How often TCP has run short of memory: a line has names, the next one numbers (net/ipv4/proc.c).
fn memory_pressures(netstat: &str) -> u64 {
    let mut lines = netstat.lines().filter_map(|line| line.strip_prefix("TcpExt: ")).map(str::split_ascii_whitespace);
    let (Some(names), Some(numbers)) = (lines.next(), lines.next()) else { return 0 };
    let found = names.zip(numbers).find(|(name, _)| *name == "TCPMemoryPressures");
    found.and_then(|(_, number)| number.parse().ok()).unwrap_or(0)
}

/// No program did that, but nothing else tells why connections carry less than their links.
fn pressure(times: u64) -> Option<NetworkChange> {
    let often = if times == 1 { "once".to_owned() } else { format!("{times} times") };
    let what = format!(
        "TCP ran short of memory {often}, so that its connections may have carried less than the links would: \
         net.ipv4.tcp_mem bounds the memory of all of them, and is set by the node's memory or a sysctl"
    );
    (times > 0).then_some(NetworkChange { effect: Effect::Memory, what })
}

/// An address from a server that came or went.
#[derive(Clone, Copy)]
struct Lease<'a> {
    place: usize,
    name: &'a str,
    address: IpAddr,
    is_new: bool,
}

fn lease<'a>(config: &'a NodeConfig, known: &[(u32, Option<usize>)], seen: &Seen) -> Option<Lease<'a>> {
    let Seen::Address { index, address, is_new } = seen else { return None };
    let place = known.iter().find(|(known, _)| known == index)?.1?;
    let InterfaceConfig { name, leased, .. } = &config.interfaces[place];
    let is_leased = leased.iter().any(|own| own.contains(address));
    is_leased.then_some(Lease { place, name, address: *address, is_new: *is_new })
}

/// Keeps what was lost until another comes, and tells of that.
fn note_lease(lost: &mut BTreeMap<(usize, bool), IpAddr>, lease: Lease<'_>) -> Option<NetworkChange> {
    let Lease { place, name, address, is_new } = lease;
    let key = (place, address.is_ipv6());
    if !is_new {
        lost.insert(key, address);
        return None;
    }
    let before = lost.remove(&key)?;
    let what = format!("{name} lost its address {before}, and got {address} later");
    Some(NetworkChange { effect: Effect::Node, what })
}

/// What to report of an event; nothing if it leads to what the lab file describes.
fn judge(config: &NodeConfig, known: &[(u32, Option<usize>)], seen: &Seen) -> Option<NetworkChange> {
    let described = |index: &u32| {
        let (_, place) = known.iter().find(|(known, _)| known == index)?;
        Some(&config.interfaces[(*place)?])
    };
    let note = |what: String| Some(NetworkChange { effect: Effect::Node, what });
    match seen {
        Seen::Link { index, name, mac, mtu, up } => match described(index) {
            Some(interface) => altered(interface, name, mac, *mtu, *up),
            // Kernels make interfaces of their own, for tunnels, which are not used as long as they are down.
            None if *up && known.iter().all(|(known, _)| known != index) => note(format!("interface {name} is new")),
            None => None,
        },
        Seen::LinkGone { index } => {
            let name = &described(index)?.name;
            Some(NetworkChange { effect: Effect::Link, what: format!("{name} was removed or moved away") })
        }
        Seen::Discipline { index, kind } => {
            let what = format!("{} was given the queueing discipline {kind}", described(index)?.name);
            let effect = if WITHOUT_QUEUE.contains(&kind.as_str()) { Effect::Node } else { Effect::Link };
            Some(NetworkChange { effect, what })
        }
        Seen::Address { index, address, is_new } => {
            let interface = described(index)?;
            let is_described = interface.addresses.iter().any(|own| own.addr() == *address);
            // They come and go, which `lease` tells of.
            if interface.leased.iter().any(|own| own.contains(address)) {
                return None;
            }
            let name = &interface.name;
            match (is_described, *is_new) {
                (false, true) => note(format!("{name} was given the address {address}")),
                (true, false) => note(format!("{name} lost its address {address}")),
                _ => None,
            }
        }
        Seen::Lost => note("more was changed than could be kept".into()),
    }
}

/// The most important of several changes in one event.
fn altered(interface: &InterfaceConfig, name: &str, mac: &[u8], mtu: u32, up: bool) -> Option<NetworkChange> {
    let InterfaceConfig { name: own, mac: own_mac, mtu: own_mtu, .. } = interface;
    let altered = |what: String| Some(NetworkChange { effect: Effect::Link, what });
    let note = |what: String| Some(NetworkChange { effect: Effect::Node, what });
    if !up {
        altered(format!("{own} was down"))
    } else if mtu != *own_mtu {
        altered(format!("{own} had an MTU of {mtu} instead of {own_mtu} bytes"))
    } else if mac != own_mac {
        note(format!("{own} had another hardware address"))
    } else if name != own {
        note(format!("{own} was called {name}"))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> NodeConfig {
        let interface = InterfaceConfig {
            name: "eth0".into(),
            mac: [2; 6],
            mtu: 1_500,
            addresses: vec!["10.0.0.1/24".parse().unwrap()],
            leased: vec!["10.1.0.0/24".parse().unwrap()],
            neighbors: Vec::new(),
            engine: true,
        };
        NodeConfig { interfaces: vec![interface], ..NodeConfig::default() }
    }

    /// The sentence about an event at interface 2, which is described, or at 1, which is the loopback interface, or at
    /// a new one.
    fn said(seen: &Seen) -> Option<(bool, String)> {
        let change = judge(&config(), &[(1, None), (2, Some(0))], seen)?;
        Some((change.effect == Effect::Link, change.what))
    }

    fn link(index: u32, mtu: u32, up: bool) -> Seen {
        Seen::Link { index, name: "eth0".into(), mac: vec![2; 6], mtu, up }
    }

    #[test]
    fn what_packets_of_a_link_meet_is_told_from_the_rest() {
        let tbf = |index| Seen::Discipline { index, kind: "tbf".into() };
        let alters = |seen: &Seen| said(seen).map(|(alters, _)| alters);
        assert_eq!(said(&tbf(2)), Some((true, "eth0 was given the queueing discipline tbf".into())));
        assert_eq!(alters(&tbf(1)), None);
        assert_eq!(alters(&Seen::Discipline { index: 2, kind: "clsact".into() }), Some(false));
        assert_eq!(alters(&link(2, 1_500, true)), None);
        assert_eq!(said(&link(2, 1_400, true)), Some((true, "eth0 had an MTU of 1400 instead of 1500 bytes".into())));
        assert_eq!(said(&link(2, 1_500, false)), Some((true, "eth0 was down".into())));
        assert_eq!(alters(&Seen::LinkGone { index: 2 }), Some(true));
        assert_eq!(alters(&link(9, 1_500, true)), Some(false));
        assert_eq!(alters(&link(9, 1_500, false)), None);
        assert_eq!(alters(&link(1, 65_536, true)), None);
    }

    #[test]
    fn that_tcp_ran_short_of_memory_is_told() {
        let netstat = "TcpExt: SyncookiesSent TCPMemoryPressures X\nTcpExt: 7 3 1\nIpExt: InNoRoutes\nIpExt: 0\n";
        assert_eq!((memory_pressures(netstat), memory_pressures("TcpExt: A\n"), memory_pressures("")), (3, 0, 0));
        let said = pressure(3).unwrap();
        assert!(
            said.what.starts_with("TCP ran short of memory 3 times, ") && said.effect == Effect::Memory,
            "{said:?}"
        );
        assert!(pressure(1).unwrap().what.contains(" once, "));
        assert_eq!(pressure(0), None);
    }

    #[test]
    fn addresses_of_the_lab_file_are_no_news() {
        let at = |address: &str, is_new| Seen::Address { index: 2, address: address.parse().unwrap(), is_new };
        assert_eq!(said(&at("10.0.0.1", true)), None);
        assert_eq!(said(&at("10.0.0.1", false)), Some((false, "eth0 lost its address 10.0.0.1".into())));
        assert_eq!((said(&at("10.1.0.7", true)), said(&at("10.1.0.7", false))), (None, None));
        assert_eq!(said(&at("10.9.9.9", true)), Some((false, "eth0 was given the address 10.9.9.9".into())));
    }

    #[test]
    fn an_address_from_a_server_that_is_lost_is_told() {
        let (config, mut lost) = (config(), BTreeMap::new());
        let mut told = |address: &str, is_new| {
            let seen = Seen::Address { index: 2, address: address.parse().unwrap(), is_new };
            let came_or_went = lease(&config, &[(2, Some(0))], &seen)?;
            note_lease(&mut lost, came_or_went).map(|change| change.what)
        };
        assert_eq!((told("10.1.0.7", true), told("10.1.0.7", false)), (None, None));
        assert_eq!(told("10.1.0.8", true).as_deref(), Some("eth0 lost its address 10.1.0.7, and got 10.1.0.8 later"));
        assert_eq!((told("10.1.0.8", true), told("10.0.0.1", false), told("10.1.0.8", false)), (None, None, None));
        assert_eq!(lost, BTreeMap::from([((0, false), "10.1.0.8".parse().unwrap())]));
    }
}

//! What programs of a node changed in its network after the lab had configured it.
//!
//! A program in a node may change its network as a program on a machine may. But whatever it does to the packets of a described
//! link, in either direction, they meet something else than the link. [`table`] says what is looked at, and what it means.

mod carriers;
mod stack;
mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::os::fd::BorrowedFd;

use serde::{Deserialize, Serialize};

use super::config::{InterfaceConfig, NodeConfig};
use super::congestion;
use super::ethtool::Ethtool;
use crate::error::KernelError;
use crate::netlink::{Events, InterfaceCounters, Link, Netlink, Seen};
use carriers::Carriers;
use stack::Stack;
use table::Looked;

/// The most changes with the same effect that are reported one by one.
const MOST: usize = 16;

/// Something that happened to a node's network, mostly by its programs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct NetworkChange {
    /// The part of the lab that the change affects.
    pub effect: Effect,
    /// The change, in words.
    pub what: String,
}

/// The part of a lab that a change of a node's network affects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Effect {
    /// Packets of a described link met it: a queue, a filter, another MTU, an interface that was down or gone.
    Link,
    /// The interface at this place of the node's list had an address from a server, and has none any more.
    Lease(usize),
    /// The node's kernel, in ways that nobody described, whoever is to blame: a shortage of memory, wrong checksums, another congestion control.
    Stack,
    /// The node's kernel discarded packets that it had to send.
    Discards,
    /// The node alone.
    Node,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Watch {
    /// None while the node is stopped.
    events: Option<Events>,
    /// The numbers of the interfaces at the beginning, and which described interface each of them is.
    known: Vec<(u32, Option<usize>)>,
    /// What interfaces had not sent by the beginning, by their numbers: while both ends of a pair come up, one may send what the other
    /// does not take yet.
    unsent: BTreeMap<u32, Unsent>,
    /// The room of the rings of described interfaces at the beginning, by place.
    rings: BTreeMap<usize, (u32, u32)>,
    changes: BTreeSet<NetworkChange>,
    /// What addresses from servers were lost, and no others came: by interface, and whether they are of IPv6.
    lost: BTreeMap<(usize, bool), IpAddr>,
    /// The effects of which there were more changes.
    more: BTreeSet<Effect>,
    carriers: Carriers,
    /// What the kernel had counted at the beginning.
    stack: Stack,
    /// What it had counted when the node stopped, while it is stopped.
    stopped: Option<Stack>,
    /// The congestion control that routes have to say, since the kernel does not let the node choose it.
    congestion: Option<String>,
}

impl Watch {
    /// Watches from now on: the node has been configured, and its addresses can be used. `is_made`: whether it was made of namespaces.
    pub(crate) fn begin(config: &NodeConfig, is_made: bool) -> Result<Self, KernelError> {
        let events = Some(Events::listen()?);
        let links = Netlink::open()?.links()?;
        let unsent = links.iter().map(|link| (link.index, Unsent::of(&link.counters))).collect();
        let known = known(config, &links);
        let ethtool = Ethtool::open()?;
        let of_interface = |(number, own): (usize, &InterfaceConfig)| Some((number, ethtool.rings(&own.name)?));
        let rings = config.interfaces.iter().enumerate().filter_map(of_interface).collect();
        let (changes, lost, more) = (BTreeSet::new(), BTreeMap::new(), BTreeSet::new());
        let congestion = congestion::of_routes(&config.sysctls, is_made).map(str::to_owned);
        let mut carriers = Carriers::default();
        // A kernel that boots anew begins before its links are joined.
        for Link { index, counters, has_carrier, .. } in &links {
            carriers.start(&known, *index, *has_carrier, counters.tx_dropped + counters.tx_errors);
        }
        Ok(Self {
            events,
            known,
            unsent,
            rings,
            changes,
            lost,
            more,
            carriers,
            stack: Stack::now(),
            stopped: None,
            congestion,
        })
    }

    /// The node stops: until [`Watch::resume`], nothing that happens to its network is taken down. What has happened stays known.
    pub(crate) fn pause(&mut self, config: &NodeConfig) -> Result<(), KernelError> {
        self.look(config)?;
        let links = Netlink::open()?.links()?;
        for Link { index, counters, .. } in &links {
            let before = self.unsent.entry(*index).or_default();
            *before = Unsent::of(counters).since(*before);
            self.carriers.stop(&self.known, *index, counters.tx_dropped + counters.tx_errors);
        }
        self.events = None;
        self.stopped = Some(Stack::now());
        Ok(())
    }

    /// The node runs again, and its network is as it was configured. What interfaces did not send meanwhile nobody sent.
    pub(crate) fn resume(&mut self, config: &NodeConfig) -> Result<(), KernelError> {
        self.events = Some(Events::listen()?);
        if let Some(stopped) = self.stopped.take() {
            self.stack.leave_out(&stopped, &Stack::now());
        }
        let links = Netlink::open()?.links()?;
        self.known = known(config, &links);
        for Link { index, counters, running, .. } in &links {
            let by_then = self.unsent.entry(*index).or_default();
            *by_then = Unsent::of(counters).since(*by_then);
            self.carriers.start(&self.known, *index, *running, counters.tx_dropped + counters.tx_errors);
        }
        Ok(())
    }

    /// The name that the lab file has for the interface of this number, if it describes it.
    pub(crate) fn described<'a>(&self, config: &'a NodeConfig, index: u32) -> Option<&'a str> {
        let (_, place) = self.known.iter().find(|(known, _)| *known == index)?;
        config.interfaces.get((*place)?).map(|interface| interface.name.as_str())
    }

    /// Says of what this interface could not send how much that was for want of a carrier, and leaves out what it had not sent before the
    /// node was ready.
    pub(crate) fn count(&self, index: u32, counters: &mut InterfaceCounters) {
        let place = self.known.iter().find(|(known, _)| *known == index).and_then(|(_, place)| *place);
        let unsent = counters.tx_dropped + counters.tx_errors;
        counters.tx_without_carrier = place.map_or(0, |place| self.carriers.unsent(place, unsent));
        let before = self.unsent.get(&index).copied().unwrap_or_default();
        // While the node is stopped, what it had failed to send by then is all: nobody sends what is lost with its network.
        let counted = if self.events.is_some() { Unsent::of(counters).since(before) } else { before };
        (counters.tx_dropped, counters.tx_errors) = (counted.dropped, counted.errors);
    }

    /// Readable when [`Watch::look`] has something to do.
    pub(crate) fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.events.iter().flat_map(Events::fds)
    }

    /// Takes down what has happened, so that there is room for more.
    pub(crate) fn look(&mut self, config: &NodeConfig) -> Result<(), KernelError> {
        let Self { events: Some(events), known, changes, lost, more, carriers, .. } = self else { return Ok(()) };
        events.take(|seen| {
            carriers.note(known, &seen);
            let lent = lease(config, known, &seen).and_then(|lease| note_lease(lost, lease));
            if let Some(change) = lent.or_else(|| judge(config, known, &seen)) {
                keep(changes, more, change);
            }
        })
    }

    /// Everything that was changed so far, even if it was changed back.
    pub(crate) fn changes(&mut self, config: &NodeConfig) -> Result<Vec<NetworkChange>, KernelError> {
        self.look(config)?;
        for change in self.as_it_is(config)? {
            keep(&mut self.changes, &mut self.more, change);
        }
        let Self { changes, lost, more, stack, stopped, congestion, .. } = self;
        let congestion = congestion.as_deref().map(congestion::missing).transpose()?.flatten();
        let gone = lost.iter().map(|((place, _), address)| NetworkChange {
            effect: Effect::Lease(*place),
            what: format!("{} lost its address {address} and got no other", config.interfaces[*place].name),
        });
        let rest = more.iter().map(|effect| NetworkChange { effect: *effect, what: "and more".into() });
        let all = changes.iter().cloned().chain(rest).chain(gone);
        let counted = stopped.unwrap_or_else(Stack::now).since(stack);
        let missing = congestion.map(|what| NetworkChange { effect: Effect::Stack, what });
        Ok(all.chain(counted).chain(missing).collect())
    }

    /// What no event tells: programs of XDP that are attached by a link of BPF, or have been; classifiers of the same kind (`tcx`); rings.
    fn as_it_is(&self, config: &NodeConfig) -> Result<Vec<NetworkChange>, KernelError> {
        let ethtool = Ethtool::open()?;
        let links = Netlink::open()?.links()?;
        let mut found = Vec::new();
        for link in &links {
            let Some((_, Some(place))) = self.known.iter().find(|(known, _)| *known == link.index) else { continue };
            let own = &config.interfaces[*place].name;
            if link.xdp || ethtool.counted(&link.name).seen_by_xdp > 0 {
                found.push(Looked::Xdp.told(format!("{own} was given a program of XDP")));
            }
            if let (Some(before), Some(now)) = (self.rings.get(place), ethtool.rings(&link.name))
                && *before != now
            {
                let ((rx, tx), (rx_now, tx_now)) = (*before, now);
                let what = format!("{own} was given rings for {rx_now} and {tx_now} packets instead of {rx} and {tx}");
                found.push(Looked::Rings.told(what));
            }
            if stack::has_classifiers(link.index) {
                found.push(Looked::Filter.told(format!("{own} was given a filter of BPF (tcx)")));
            }
        }
        Ok(found)
    }
}

/// The numbers of the interfaces that there are, and which described interface each of them is.
fn known(config: &NodeConfig, links: &[Link]) -> Vec<(u32, Option<usize>)> {
    let place = |name: &str| config.interfaces.iter().position(|interface| interface.name == name);
    links.iter().map(|link| (link.index, place(&link.name))).collect()
}

/// The packets that an interface did not send.
#[derive(Clone, Copy, Debug, Default)]
struct Unsent {
    dropped: u64,
    errors: u64,
}

impl Unsent {
    fn of(counters: &InterfaceCounters) -> Self {
        Self { dropped: counters.tx_dropped, errors: counters.tx_errors }
    }

    fn since(self, before: Self) -> Self {
        let Self { dropped, errors } = before;
        Self { dropped: self.dropped.saturating_sub(dropped), errors: self.errors.saturating_sub(errors) }
    }
}

/// Keeps a change. What alters links is never crowded out by what does not.
fn keep(changes: &mut BTreeSet<NetworkChange>, more: &mut BTreeSet<Effect>, change: NetworkChange) {
    if changes.contains(&change) {
        return;
    }
    if changes.iter().filter(|kept| kept.effect == change.effect).count() < MOST {
        changes.insert(change);
    } else {
        more.insert(change.effect);
    }
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
    match seen {
        Seen::Link { index, name, mac, mtu, up, xdp } => match described(index) {
            Some(interface) => altered(interface, name, mac, *mtu, *up, *xdp),
            // Kernels make interfaces of their own, for tunnels, which are not used as long as they are down.
            None if *up && known.iter().all(|(known, _)| known != index) => {
                Some(Looked::NewInterface.told(format!("interface {name} is new")))
            }
            None => None,
        },
        Seen::LinkGone { index } => {
            let name = &described(index)?.name;
            Some(Looked::Gone.told(format!("{name} was removed or moved away")))
        }
        Seen::Discipline { index, kind } => {
            let what = format!("{} was given the queueing discipline {kind}", described(index)?.name);
            let looked = if table::WITHOUT_QUEUE.contains(&kind.as_str()) { Looked::Classifier } else { Looked::Queue };
            Some(looked.told(what))
        }
        Seen::Filter { index: Some(index), kind } => {
            Some(Looked::Filter.told(format!("{} was given the filter {kind}", described(index)?.name)))
        }
        Seen::Filter { index: None, kind } => {
            Some(Looked::Filter.told(format!("interfaces that share filters were given the filter {kind}")))
        }
        Seen::Chain { interface, is_prefix } => {
            let is_meant = |own: &&InterfaceConfig| {
                own.name == *interface || (*is_prefix && own.name.starts_with(interface.as_str()))
            };
            let own = config.interfaces.iter().find(is_meant)?;
            Some(Looked::Chain.told(format!("{} was given a chain of nftables", own.name)))
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
                (false, true) => Some(Looked::Address.told(format!("{name} was given the address {address}"))),
                (true, false) => Some(Looked::Address.told(format!("{name} lost its address {address}"))),
                _ => None,
            }
        }
        // Carriers are the links' business.
        Seen::Carrier { .. } => None,
        Seen::Lost => Some(Looked::Unknown.told("more was changed than could be kept".into())),
    }
}

/// The most important of several changes in one event.
fn altered(
    interface: &InterfaceConfig,
    name: &str,
    mac: &[u8],
    mtu: u32,
    up: bool,
    xdp: bool,
) -> Option<NetworkChange> {
    let InterfaceConfig { name: own, mac: own_mac, mtu: own_mtu, .. } = interface;
    if !up {
        Some(Looked::Down.told(format!("{own} was down")))
    } else if mtu != *own_mtu {
        Some(Looked::Mtu.told(format!("{own} had an MTU of {mtu} instead of {own_mtu} bytes")))
    } else if xdp {
        Some(Looked::Xdp.told(format!("{own} was given a program of XDP")))
    } else if mac != own_mac {
        Some(Looked::Hardware.told(format!("{own} had another hardware address")))
    } else if name != own {
        Some(Looked::Name.told(format!("{own} was called {name}")))
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
            speed_mbit: None,
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
        Seen::Link { index, name: "eth0".into(), mac: vec![2; 6], mtu, up, xdp: false }
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
    fn whatever_stands_in_the_way_of_a_links_packets_is_told() {
        let filter = |index, kind: &str| Seen::Filter { index, kind: kind.into() };
        assert_eq!(said(&filter(Some(2), "matchall")), Some((true, "eth0 was given the filter matchall".into())));
        assert_eq!(said(&filter(Some(9), "matchall")), None);
        assert_eq!(said(&filter(None, "u32")).map(|(alters, _)| alters), Some(true));
        let chain = |interface: &str, is_prefix| Seen::Chain { interface: interface.into(), is_prefix };
        assert_eq!(said(&chain("eth0", false)), Some((true, "eth0 was given a chain of nftables".into())));
        assert_eq!(said(&chain("eth", true)).map(|(alters, _)| alters), Some(true));
        assert_eq!((said(&chain("eth", false)), said(&chain("vx10", false))), (None, None));
        let Seen::Link { index, name, mac, mtu, up, .. } = link(2, 1_500, true) else { unreachable!() };
        let attached = Seen::Link { index, name, mac, mtu, up, xdp: true };
        assert_eq!(said(&attached), Some((true, "eth0 was given a program of XDP".into())));
    }

    #[test]
    fn notes_do_not_crowd_out_what_alters_links() {
        let (mut changes, mut more) = (BTreeSet::new(), BTreeSet::new());
        for number in 0..100 {
            keep(&mut changes, &mut more, Looked::NewInterface.told(format!("interface vx{number} is new")));
        }
        keep(&mut changes, &mut more, Looked::Queue.told("eth0 was given the queueing discipline tbf".into()));
        assert_eq!((changes.len(), changes.first().unwrap().effect), (MOST + 1, Effect::Link));
        assert_eq!(more, BTreeSet::from([Effect::Node]));
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

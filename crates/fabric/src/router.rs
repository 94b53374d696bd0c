//! A transit router: forwards packets by its table, answers ARP, neighbour discovery and pings, and sends ICMP errors.
//!
//! It takes no time. What it is given, it passes on at the same instant with one hop less to live (RFC 1812, section
//! 5.2.1; RFC 8200, section 3), as trains if they came as trains. It answers what is asked of its own addresses: ARP
//! and neighbour solicitations, echo requests, and UDP with *port unreachable*; and it says why a packet goes no further
//! ([`answers`]). What is too large for the next link it cuts into [`fragments`], if that is IPv4 whose sender allows it. It keeps no
//! connections, and ignores broadcast, and multicast but for that of its trees ([`groups`]).
//!
//! A router changes no byte of a packet. The number of routers passed stands in the packet beside its size, and
//! whoever writes the headers takes it from the time to live. Ethernet addresses are those of the link that a packet
//! is on, so the driver that hands the packet over writes them (`Ethernet`). On a link that is shared, where a device
//! in between looks at Ethernet addresses or at nothing, the router writes the neighbour's address into the frame,
//! and copies the frame if others hold it.

mod answers;
mod ecmp;
mod fragments;
mod groups;
mod limit;
mod table;
pub(crate) mod wire;

use crate::forwarding::Forwarding;
use crate::mtu::is_above;
use crate::{ForwardingRule, PortId};
use alloc::vec::Vec;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use ecmp::Ecmp;
use fragments::fragments;
use groups::Groups;
use limit::Limit;
use netloom_link::Prefix;
use netloom_packet::Packet;
use netloom_units::{Bytes, Instant, Seed};
use table::Table;
use wire::{ARP, IPV6, NEIGHBOR_SOLICITATION, Network};

/// A transit router.
#[derive(Clone, Debug, Default)]
pub struct RouterSpec {
    /// Its interfaces.
    pub interfaces: Vec<RouterInterface>,
    /// Its routes, beside those to its neighbours: where to, and to whom next. Those with the same prefix that follow one another
    /// are ways of equal length, of which each flow takes one; of others with equal prefixes the first holds.
    pub routes: Vec<(Prefix, NextHop)>,
    /// From which it is drawn which of several ways a flow takes.
    pub seed: Seed,
    /// Its part in trees of multicast.
    pub groups: Vec<GroupRoute>,
}

/// A multicast route of a router: what it does with the packets of a source for a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupRoute {
    /// The address of the group.
    pub group: IpAddr,
    /// The addresses of the source.
    pub sources: Vec<IpAddr>,
    /// The place of the interface at which packets come in; at others they are ignored.
    pub from: usize,
    /// The places of the interfaces at which they go out.
    pub to: Vec<usize>,
}

/// A neighbour of a transit router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextHop {
    /// The place of the interface that leads to it.
    pub interface: usize,
    /// Its place among the neighbours of that interface.
    pub neighbor: usize,
}

impl NextHop {
    /// The only neighbour of an interface.
    pub const fn by(interface: usize) -> Self {
        Self { interface, neighbor: 0 }
    }
}

/// An interface of a transit router.
#[derive(Clone, Debug)]
pub struct RouterInterface {
    /// Where its packets enter and leave the pipes of its link.
    pub port: PortId,
    /// Its hardware address.
    pub mac: [u8; 6],
    /// The largest IP packet that it sends.
    pub mtu: Bytes,
    /// Its addresses but for the link-local one, which follows from its hardware address.
    pub addresses: Vec<IpAddr>,
    /// Whether what it sends may reach others than the neighbour that it is for, since there is a device in between that looks
    /// at Ethernet addresses or at nothing. It then writes them into each frame, which costs a copy where frames are shared.
    pub is_shared: bool,
    /// Who else is on its link; a single one if it is not shared.
    pub neighbors: Vec<Neighbor>,
    /// The subnets of its link, in which there is nobody but it and its neighbours.
    pub subnets: Vec<Prefix>,
}

/// Somebody on the link of a transit router.
#[derive(Clone, Debug)]
pub struct Neighbor {
    /// The hardware address.
    pub mac: [u8; 6],
    /// The addresses that are reached there.
    pub addresses: Vec<IpAddr>,
}

impl RouterInterface {
    /// The address that follows from the hardware address (RFC 4291, appendix A).
    fn link_local(&self) -> Ipv6Addr {
        let [a, b, c, d, e, f] = self.mac.map(u16::from);
        Ipv6Addr::new(0xfe80, 0, 0, 0, ((a ^ 2) << 8) | b, (c << 8) | 0xff, 0xfe00 | d, (e << 8) | f)
    }

    /// Whether it is asked for the hardware address that belongs to `address`.
    fn owns(&self, address: IpAddr) -> bool {
        self.addresses.contains(&address) || IpAddr::V6(self.link_local()) == address
    }

    /// Ethernet addresses of what it sends there: destination, source.
    fn ethernet_to(&self, mac: [u8; 6]) -> [u8; 12] {
        let mut addresses = [0; 12];
        addresses[..6].copy_from_slice(&mac);
        addresses[6..].copy_from_slice(&self.mac);
        addresses
    }

    /// Ethernet addresses of all that it sends, unless it writes them itself.
    pub(crate) fn ethernet(&self) -> Option<[u8; 12]> {
        assert!(self.is_shared || self.neighbors.len() <= 1, "there is one neighbour on a link that is not shared");
        self.neighbors.first().filter(|_| !self.is_shared).map(|only| self.ethernet_to(only.mac))
    }
}

/// The counters of a transit router, in packets: the segments of a train count one by one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RouterCounters {
    /// Packets that the router passed on.
    pub forwarded: u64,
    /// Fragments that went on instead of packets that were cut, since the next link carries only smaller ones.
    pub fragments: u64,
    /// Packets for the router itself that it answered.
    pub answered: u64,
    /// Packets that were dropped because they had passed as many routers as they may.
    pub expired: u64,
    /// Packets that were dropped because no route leads to their destination, or because nobody has that address.
    pub unroutable: u64,
    /// Packets that were dropped because the next link carries only smaller ones.
    pub too_big: u64,
    /// Packets that were dropped because the checksum of their IPv4 header is wrong, or because they are shorter than they say.
    pub malformed: u64,
    /// Packets that were dropped for anything else: for the router itself without an answer, for everybody, or no IP at all.
    pub ignored: u64,
}

/// Where a packet goes by its destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    /// To the neighbour at this place.
    Out(u32),
    /// To one of several neighbours, by its flow.
    Ecmp(u32),
    /// To the router itself.
    Own,
    /// To an address of a link that neither end has.
    Nobody,
    /// There is no route.
    Unknown,
    /// To an address that is never routed.
    Never,
}

/// A neighbour, and what lies before it.
#[derive(Clone, Debug)]
struct Hop {
    port: PortId,
    /// The largest IP packet that gets there.
    mtu: Bytes,
    ethernet: [u8; 12],
    is_shared: bool,
}

/// What a router looks at in a packet that it passes on.
struct Glance {
    destination: u128,
    /// As the frame has it.
    time_to_live: u8,
    is_bound_to_link: bool,
}

/// Why a packet goes no further, if that is reported to its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    Expired,
    NoRoute,
    NoHost,
    TooBig(u16),
    NoPort,
}

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Router {
    interfaces: Vec<RouterInterface>,
    /// All neighbours, interface by interface.
    hops: Vec<Hop>,
    table: Table<Target>,
    ecmp: Ecmp,
    groups: Groups,
    limit: Limit,
    /// The identification of the next packet of its own.
    identification: u16,
    pub(crate) counters: RouterCounters,
}

impl Router {
    pub(crate) fn new(spec: &RouterSpec) -> Self {
        let mut ecmp = Ecmp::new(spec.seed);
        Self {
            interfaces: spec.interfaces.clone(),
            hops: spec.interfaces.iter().flat_map(hops).collect(),
            table: Table::new(targets(spec, &mut ecmp), Target::Unknown),
            ecmp,
            groups: Groups::new(&spec.groups),
            limit: Limit::default(),
            identification: 0,
            counters: RouterCounters::default(),
        }
    }

    /// A packet reaches the interface at this place at `now`.
    #[inline]
    pub(crate) fn take(&mut self, now: Instant, interface: usize, mut packet: Packet) -> Forwarding {
        // What a router has passed on was looked at there.
        if packet.hops() == 0 && !wire::is_sound(packet.bytes()) {
            self.counters.malformed += u64::from(packet.segments());
            return Forwarding::End(packet, Vec::new());
        }
        let Some(glance) = self.glance(interface, &packet) else { return self.for_itself(interface, packet) };
        let target = self.ecmp.choose(self.table.find(glance.destination), &packet);
        let Target::Out(out) = target else { return self.keep(now, interface, packet, target) };
        if glance.is_bound_to_link {
            return self.ignore(packet);
        }
        if glance.time_to_live <= packet.hops().saturating_add(1) {
            self.counters.expired += u64::from(packet.segments());
            return self.refuse(now, interface, packet, Refusal::Expired);
        }
        let out = &self.hops[out as usize];
        if is_above(&packet, out.mtu) {
            if let Some(cut) = fragments(&packet, out.mtu) {
                return self.send_fragments(target, packet, cut);
            }
            let mtu = u16::try_from(out.mtu.get()).unwrap_or(u16::MAX);
            self.counters.too_big += u64::from(packet.segments());
            return self.refuse(now, interface, packet, Refusal::TooBig(mtu));
        }
        self.counters.forwarded += u64::from(packet.segments());
        packet.pass_router();
        if out.is_shared {
            Forwarding::Addressed(out.port, packet, out.ethernet)
        } else {
            Forwarding::On(out.port, packet)
        }
    }

    /// Passes a packet on in pieces.
    #[cold]
    fn send_fragments(&mut self, target: Target, packet: Packet, cut: Vec<Packet>) -> Forwarding {
        let Target::Out(out) = target else { return self.ignore(packet) };
        let out = &self.hops[out as usize];
        self.counters.forwarded += u64::from(packet.segments());
        self.counters.fragments += cut.len() as u64;
        let pass = |mut piece: Packet| {
            piece.pass_router();
            // Nobody shares a new piece, so that nothing is copied.
            let piece = if out.is_shared { piece.readdress(&out.ethernet).0 } else { piece };
            (out.port, piece)
        };
        Forwarding::End(packet, cut.into_iter().map(pass).collect())
    }

    /// What counts of an IP packet that is handed to this router; none if it is not, or is no IP packet.
    #[inline]
    fn glance(&self, interface: usize, packet: &Packet) -> Option<Glance> {
        let bytes = packet.bytes();
        // What a router has passed on is addressed to the next one, whatever its frame says.
        if packet.hops() == 0 && bytes.get(..6)? != self.interfaces[interface].mac {
            return None;
        }
        let network = Network::of(bytes)?;
        Some(Glance {
            destination: network.destination(),
            time_to_live: network.time_to_live(),
            is_bound_to_link: network.is_bound_to_link(),
        })
    }

    /// A packet that goes no further, by its destination.
    #[cold]
    fn keep(&mut self, now: Instant, interface: usize, packet: Packet, target: Target) -> Forwarding {
        let refusal = match target {
            Target::Own => return self.receive(now, interface, packet),
            Target::Nobody => Refusal::NoHost,
            Target::Unknown => Refusal::NoRoute,
            Target::Never | Target::Out(_) | Target::Ecmp(_) => return self.for_itself(interface, packet),
        };
        self.counters.unroutable += u64::from(packet.segments());
        self.refuse(now, interface, packet, refusal)
    }

    /// Describes what comes in at the interface at this place and is passed on.
    pub(crate) fn rule(&self, interface: usize) -> ForwardingRule {
        let own = &self.interfaces[interface];
        let leads_away = |out: u32| self.hops[out as usize].port != own.port;
        let is_passed = |target: Target| match target {
            Target::Out(out) => leads_away(out),
            Target::Ecmp(group) => self.ecmp.ways(group).iter().copied().all(leads_away),
            Target::Own | Target::Nobody | Target::Unknown | Target::Never => false,
        };
        let mut stretches: Vec<(u128, bool)> = Vec::new();
        for (start, target) in self.table.stretches() {
            let is_passed = is_passed(target);
            if stretches.last().is_none_or(|(_, before)| *before != is_passed) {
                stretches.push((start, is_passed));
            }
        }
        let mtu = self.hops.iter().map(|hop| hop.mtu).min().unwrap_or(Bytes::new(0));
        ForwardingRule { mac: own.mac, mtu, stretches }
    }

    fn ignore(&mut self, packet: Packet) -> Forwarding {
        self.counters.ignored += u64::from(packet.segments());
        Forwarding::End(packet, Vec::new())
    }

    /// It belongs to a tree of multicast, the neighbour asks for the hardware address of this interface, or it is nothing for us.
    fn for_itself(&mut self, interface: usize, packet: Packet) -> Forwarding {
        if let Some(branches) = self.groups.branches(interface, &packet).map(<[usize]>::to_vec) {
            return self.replicate(packet, &branches);
        }
        let own = &self.interfaces[interface];
        let answer = match wire::ethertype(packet.bytes()) {
            Some(ARP) => answers::arp(own, packet.bytes()),
            Some(IPV6) => answers::neighbor(own, &wire::complete(&packet)),
            _ => None,
        };
        let Some(answer) = answer else { return self.ignore(packet) };
        self.counters.answered += 1;
        Forwarding::End(packet, Vec::from([(own.port, answer)]))
    }

    /// A packet for one of the router's own addresses.
    fn receive(&mut self, now: Instant, interface: usize, packet: Packet) -> Forwarding {
        let asked = Network::of(packet.bytes());
        if asked.is_some_and(Network::is_routed_by_its_source) {
            return self.ignore(packet);
        }
        if asked.is_some_and(Network::is_for_a_port) {
            self.counters.answered += u64::from(packet.segments());
            return self.refuse(now, interface, packet, Refusal::NoPort);
        }
        if asked.and_then(Network::icmp) == Some(NEIGHBOR_SOLICITATION) {
            return self.for_itself(interface, packet);
        }
        match answers::echo(&wire::complete(&packet)) {
            Some(reply) => {
                let reply = self.numbered(reply);
                self.reply(packet, reply)
            }
            None => self.ignore(packet),
        }
    }

    fn reply(&mut self, packet: Packet, reply: Vec<u8>) -> Forwarding {
        let Some(sent) = self.send(reply) else { return self.ignore(packet) };
        self.counters.answered += u64::from(packet.segments());
        Forwarding::End(packet, Vec::from([sent]))
    }

    /// Tells the sender of each segment why it goes no further, as often as the limit allows.
    #[cold]
    fn refuse(&mut self, now: Instant, interface: usize, mut packet: Packet, refusal: Refusal) -> Forwarding {
        let mut answers = Vec::new();
        while let Some(first) = packet.split_front(1) {
            answers.extend(self.refusal(now, interface, &first, refusal));
        }
        answers.extend(self.refusal(now, interface, &packet, refusal));
        Forwarding::End(packet, answers)
    }

    fn refusal(
        &mut self,
        now: Instant,
        interface: usize,
        packet: &Packet,
        refusal: Refusal,
    ) -> Option<(PortId, Packet)> {
        let message = answers::error(&self.interfaces[interface], &wire::complete(packet), refusal)?;
        let header = Network::of(&message)?;
        let gap = match (refusal, &header) {
            // Whoever finds out what gets through has to hear of each packet.
            (Refusal::TooBig(_), _) => None,
            (_, Network::V4(_)) => Some(limit::GAP_TO_ONE),
            (_, Network::V6(_)) => Some(limit::GAP_TO_ONE_V6),
        };
        if !self.limit.take(now, header.destination(), gap) {
            return None;
        }
        let message = self.numbered(message);
        self.send(message)
    }

    /// A packet of its own with a number of its own, since others may cut it (RFC 791, section 3.2).
    fn numbered(&mut self, mut frame: Vec<u8>) -> Vec<u8> {
        self.identification = self.identification.wrapping_add(1);
        wire::identify(&mut frame, self.identification);
        frame
    }

    /// Sends a packet of its own, whose Ethernet addresses are still missing.
    fn send(&mut self, frame: Vec<u8>) -> Option<(PortId, Packet)> {
        let target = self.table.find(Network::of(&frame)?.destination());
        let packet = Packet::from_bytes(frame.into_boxed_slice());
        let Target::Out(out) = self.ecmp.choose(target, &packet) else { return None };
        let out = &self.hops[out as usize];
        // Nobody shares a new packet, so that nothing is copied.
        let (packet, _) = packet.readdress(&out.ethernet);
        (packet.size() <= out.mtu).then_some((out.port, packet))
    }
}

fn hops(interface: &RouterInterface) -> impl Iterator<Item = Hop> + '_ {
    let hop = |neighbor: &Neighbor| Hop {
        port: interface.port,
        mtu: interface.mtu,
        ethernet: interface.ethernet_to(neighbor.mac),
        is_shared: interface.is_shared,
    };
    interface.neighbors.iter().map(hop)
}

/// All that a router knows of addresses.
fn targets(spec: &RouterSpec, ecmp: &mut Ecmp) -> Vec<(Prefix, Target)> {
    let mut targets = Vec::new();
    let mut firsts = Vec::new();
    let mut places = 0_u32..;
    for interface in &spec.interfaces {
        let own = interface.addresses.iter().copied().chain([IpAddr::V6(interface.link_local())]);
        targets.extend(own.map(|address| (Prefix::host(address), Target::Own)));
        firsts.push(places.start);
        for (neighbor, place) in interface.neighbors.iter().zip(places.by_ref()) {
            let others = neighbor.addresses.iter().filter(|address| !is_link_local(address));
            targets.extend(others.map(|address| (Prefix::host(*address), Target::Out(place))));
        }
    }
    let subnets = spec.interfaces.iter().flat_map(|interface| &interface.subnets);
    targets.extend(subnets.map(|subnet| (*subnet, Target::Nobody)));
    let place = |NextHop { interface, neighbor }| {
        assert!(neighbor < spec.interfaces[interface].neighbors.len(), "a route leads to no neighbour");
        firsts[interface] + u32::try_from(neighbor).expect("it has a place among fewer than 2^32")
    };
    let ways = spec.routes.chunk_by(|(one, _), (other, _)| one == other);
    targets.extend(ways.map(|ways| {
        let hops: Vec<u32> = ways.iter().map(|(_, next)| place(*next)).collect();
        (ways[0].0, ecmp.target(&hops))
    }));
    targets.extend(NEVER.iter().map(|(address, length)| (unrouted(*address, *length), Target::Never)));
    targets
}

fn is_link_local(address: &IpAddr) -> bool {
    matches!(address, IpAddr::V6(v6) if v6.is_unicast_link_local())
}

/// RFC 1812, sections 5.3.3 and 5.3.7: this network, loopback, multicast, broadcast. RFC 4291, section 2: unspecified and
/// loopback, link-local, multicast.
const NEVER: [(IpAddr, u8); 8] = [
    (IpAddr::V4(Ipv4Addr::UNSPECIFIED), 8),
    (IpAddr::V4(Ipv4Addr::new(127, 0, 0, 0)), 8),
    (IpAddr::V4(Ipv4Addr::new(224, 0, 0, 0)), 4),
    (IpAddr::V4(Ipv4Addr::BROADCAST), 32),
    (IpAddr::V6(Ipv6Addr::UNSPECIFIED), 128),
    (IpAddr::V6(Ipv6Addr::LOCALHOST), 128),
    (IpAddr::V6(Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0)), 10),
    (IpAddr::V6(Ipv6Addr::new(0xff00, 0, 0, 0, 0, 0, 0, 0)), 8),
];

fn unrouted(address: IpAddr, length: u8) -> Prefix {
    Prefix::new(address, length).expect("these have no bits behind their prefixes")
}

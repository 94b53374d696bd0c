//! A switch: a learning bridge, as IEEE 802.1D-2004, section 7, has it.
//!
//! It takes no time: what comes in goes on at the same instant, as a train if it came as a train. From each frame it learns
//! behind which port its source is (section 7.8), and sends frames for that address there and nowhere else. Frames for an
//! address that it does not know, for groups and for everybody go out at all other ports, all with one buffer. Frames
//! for the addresses that bridges keep for themselves (section 7.12.6) end here, but for those of the spanning tree: a switch
//! with a [`tree`] takes part in it, and one without is as a cable for them, whatever their VLAN.
//!
//! A port is down while nothing reaches it because its link is cut. When it goes down, what was learned there is forgotten, and
//! until it is up again nothing is learned there (sections 7.8 and 17.11): who is there may come back behind another port.
//!
//! A switch that has VLANs keeps them apart as if each had a switch of its own, and puts on and takes off their tags where they
//! change ([`vlans`]): only then are bytes copied. Another one looks at no tag.
//!
//! A switch that snoops ([`snooping`]) sends what is for a group only where somebody has asked for it ([`multicast`]).
//!
//! Its table of addresses forgets by the instants of packets and needs no timer, as do memberships of multicast
//! groups. Only the spanning tree and the querier act at instants of their own (the module `device` says when). The
//! plan finds the tree by letting the switches exchange their messages (`trees` in the crate `lab`).

mod addresses;
mod multicast;
mod snooping;
mod tree;
mod vlans;

use crate::PortId;
use crate::forwarding::Forwarding;
use crate::mtu::is_above;
use addresses::{Addresses, Learned};
use alloc::{boxed::Box, sync::Arc, vec, vec::Vec};
use netloom_link::Carrier;
use netloom_packet::Packet;
use netloom_units::{Bytes, Duration, Instant};
use snooping::Snooping;
pub use snooping::{Membership, QuerierSpec, RouterPort, SnoopingCounters, SnoopingSpec, Timing};
use tree::{GROUP, Outcome, Tree};
pub use tree::{PortRole, PortState, PortTree, TreePort, TreeSpec};
pub use vlans::PortVlans;
use vlans::Vlans;

/// A switch.
#[derive(Clone, Debug, Default)]
pub struct SwitchSpec {
    /// The ports of the switch.
    pub ports: Vec<SwitchPort>,
    /// The ageing time: how long the switch remembers an address of which it does not hear any more.
    pub ageing: Duration,
    /// The largest number of addresses that the switch remembers.
    pub capacity: usize,
    /// Addresses that are always behind the port at this place, whatever the switch hears.
    pub fixed: Vec<([u8; 6], usize)>,
    /// The VLANs of each port; empty if the switch looks at no tag.
    pub vlans: Vec<PortVlans>,
    /// The switch's part in a spanning tree, if it takes part in one.
    pub tree: Option<TreeSpec>,
    /// The multicast snooping of the switch; none if it does not look at groups.
    pub snooping: Option<SnoopingSpec>,
}

/// A port of a switch.
#[derive(Clone, Copy, Debug)]
pub struct SwitchPort {
    /// Where its packets enter and leave the pipes of its link.
    pub port: PortId,
    /// The largest IP packet that it sends.
    pub mtu: Bytes,
}

/// The counters of a switch at one of its ports, in frames: the segments of a train count one by one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SwitchCounters {
    /// Frames that came in here.
    pub received: u64,
    /// Frames that went out here.
    pub sent: u64,
    /// Frames that came in here and went out at all other ports.
    pub flooded: u64,
    /// Frames that came in here and were dropped because they were for somebody behind this very port.
    pub filtered: u64,
    /// Frames that came in here and were dropped because they were for bridges themselves.
    pub reserved: u64,
    /// Frames that came in here and were dropped because they were of a VLAN that is not carried here.
    pub foreign: u64,
    /// Frames that came in here and were dropped because they were too short for an Ethernet header, or came from no address or
    /// from that of a group.
    pub malformed: u64,
    /// Frames that were dropped because the link here carries only smaller ones.
    pub too_big: u64,
    /// Addresses that were learned here.
    pub learned: u64,
    /// Addresses that were learned here and were behind another port before.
    pub moved: u64,
    /// How often an address was not learned here, since there was no room.
    pub unlearned: u64,
    /// Frames that came in here and were dropped because the spanning tree does not let this port forward, or the one where they
    /// would leave.
    pub blocked: u64,
    /// BPDUs that came in here: what other bridges say of the spanning tree.
    pub received_bpdus: u64,
    /// BPDUs that came in here and were ignored, since they are malformed or of an unknown kind.
    pub malformed_bpdus: u64,
    /// BPDUs that went out here: what this switch says of the spanning tree.
    pub sent_bpdus: u64,
    /// The port's part in the spanning tree, if the switch takes part in one.
    pub tree: Option<PortTree>,
    /// The port's counters of multicast snooping, if the switch looks at groups.
    pub snooping: Option<SnoopingCounters>,
}

/// The state of a switch: its counters, and what it knows of groups.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SwitchState {
    /// The counters of the switch at each of its ports.
    pub ports: Vec<SwitchCounters>,
    /// The ports with members, by VLAN and group.
    pub members: Vec<Membership>,
    /// The ports of routers, by VLAN and family.
    pub routers: Vec<RouterPort>,
}

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Switch {
    ports: Vec<SwitchPort>,
    vlans: Vlans,
    addresses: Addresses,
    /// By port, what it hears of its link.
    carriers: Vec<Carrier>,
    tree: Option<Box<Tree>>,
    snooping: Option<Box<Snooping>>,
    pub(crate) counters: Vec<SwitchCounters>,
}

impl Switch {
    pub(crate) fn new(spec: &SwitchSpec) -> Self {
        let mut addresses = Addresses::new(spec.ports.len(), spec.capacity, spec.ageing);
        let vlans = Vlans::new(&spec.ports, &spec.vlans);
        for (address, place) in &spec.fixed {
            vlans.around(*place).into_iter().for_each(|vlan| addresses.fix(key(vlan, address), *place));
        }
        let snoop = |own: &SnoopingSpec| Box::new(Snooping::new(own, spec.ports.len(), vlans.all().into_iter()));
        let snooping = spec.snooping.as_ref().map(snoop);
        let counters = SwitchCounters {
            snooping: snooping.as_ref().map(|_| SnoopingCounters::default()),
            ..SwitchCounters::default()
        };
        let mut this = Self {
            ports: spec.ports.clone(),
            vlans,
            addresses,
            carriers: vec![Carrier::default(); spec.ports.len()],
            tree: spec.tree.as_ref().map(|tree| Box::new(Tree::new(tree))),
            snooping,
            counters: vec![counters; spec.ports.len()],
        };
        this.settle();
        this
    }

    /// What passed before is not counted any more. What was learned stays, and how much that is.
    pub(crate) fn begin_counting(&mut self) {
        for counters in &mut self.counters {
            let SwitchCounters { learned, moved, unlearned, tree, snooping, .. } = *counters;
            let snooping = snooping.map(SnoopingCounters::begun);
            *counters = SwitchCounters { learned, moved, unlearned, tree, snooping, ..SwitchCounters::default() };
        }
    }

    /// When something happens by itself next.
    pub(crate) fn due(&self) -> Option<Instant> {
        let tree = self.tree.as_ref().and_then(|tree| tree.due());
        let snooping = self.snooping.as_ref().and_then(|snooping| snooping.due());
        [tree, snooping].into_iter().flatten().min()
    }

    /// Does what is due at `now`; what it sends, and where.
    pub(crate) fn act(&mut self, now: Instant) -> Vec<(PortId, Packet)> {
        let outcome = self.tree.as_mut().map(|tree| tree.run(now));
        let mut sent = outcome.map_or_else(Vec::new, |outcome| self.follow(now, outcome));
        sent.extend(self.ask(now));
        sent
    }

    /// A packet comes in at the port at this place at `now`.
    #[inline]
    pub(crate) fn take(&mut self, now: Instant, place: usize, packet: Packet) -> Forwarding {
        let count = u64::from(packet.segments());
        let counters = &mut self.counters[place];
        counters.received += count;
        let Some((destination, source)) = ends(&packet).filter(|(_, source)| is_somebody(source)) else {
            counters.malformed += count;
            return Forwarding::End(packet, Vec::new());
        };
        if destination == GROUP {
            return self.hear(now, place, packet);
        }
        let Some(vlan) = self.vlans.of(place, &packet) else {
            counters.foreign += count;
            return Forwarding::End(packet, Vec::new());
        };
        if self.learns(place) {
            self.learn(now, key(vlan, &source), place);
        }
        if !self.forwards(place) {
            self.counters[place].blocked += count;
            return Forwarding::End(packet, Vec::new());
        }
        if is_reserved(&destination) {
            self.counters[place].reserved += count;
            return Forwarding::End(packet, Vec::new());
        }
        if is_group(&destination) {
            return self.multicast(now, place, vlan, &destination, packet);
        }
        match self.addresses.find(now, key(vlan, &destination)) {
            Some(out) if out == place => {
                self.counters[place].filtered += count;
                Forwarding::End(packet, Vec::new())
            }
            Some(out) if !self.forwards(out) => {
                self.counters[place].blocked += count;
                Forwarding::End(packet, Vec::new())
            }
            Some(out) if is_above(&packet, self.ports[out].mtu) => {
                self.counters[out].too_big += count;
                Forwarding::End(packet, Vec::new())
            }
            Some(out) => {
                self.counters[out].sent += count;
                let port = self.ports[out].port;
                match self.vlans.dress(&packet, vlan, self.vlans.is_tagged(out, vlan)) {
                    None => Forwarding::On(port, packet),
                    Some(dressed) => Forwarding::End(packet, Vec::from([(port, dressed)])),
                }
            }
            None => self.flood(place, vlan, packet),
        }
    }

    /// How the link is from which the port at this place hears; what the switch then sends, and where.
    pub(crate) fn hears(&mut self, now: Instant, place: usize, carrier: Carrier) -> Vec<(PortId, Packet)> {
        let before = core::mem::replace(&mut self.carriers[place], carrier);
        if before == carrier {
            return Vec::new();
        }
        if before.cuts != carrier.cuts {
            self.addresses.forget(place);
        }
        let mut sent = Vec::new();
        if let Some(tree) = &mut self.tree {
            // It was down, if only since it was asked last.
            let mut outcome = tree.carry(now, place, false);
            if carrier.is_up {
                outcome.extend(tree.carry(now, place, true));
            }
            sent = self.follow(now, outcome);
        }
        sent.extend(self.replug(now, place, carrier.is_up));
        sent
    }

    #[inline]
    fn learns(&self, place: usize) -> bool {
        self.carriers[place].is_up && self.tree.as_ref().is_none_or(|tree| tree.learns(place))
    }

    #[inline]
    fn forwards(&self, place: usize) -> bool {
        self.tree.as_ref().is_none_or(|tree| tree.forwards(place))
    }

    /// A frame for bridges: of the spanning tree.
    #[cold]
    fn hear(&mut self, now: Instant, place: usize, packet: Packet) -> Forwarding {
        let count = u64::from(packet.segments());
        let Some(tree) = &mut self.tree else {
            self.counters[place].flooded += count;
            let others = self.counters.iter_mut().enumerate().filter(|(other, _)| *other != place);
            others.for_each(|(_, counters)| counters.sent += count);
            let ports = self.ports.iter().map(|port| port.port).collect();
            return Forwarding::Flood(packet, self.ports[place].port, ports);
        };
        self.counters[place].received_bpdus += count;
        let Some(outcome) = tree.hear(now, place, packet.bytes()) else {
            self.counters[place].malformed_bpdus += count;
            return Forwarding::End(packet, Vec::new());
        };
        let sent = self.follow(now, outcome);
        Forwarding::End(packet, sent)
    }

    /// Does what follows from its tree; what it sends, and where.
    fn follow(&mut self, now: Instant, outcome: Outcome) -> Vec<(PortId, Packet)> {
        outcome.forget.iter().for_each(|place| self.addresses.forget(*place));
        if outcome.is_new {
            self.settle();
        }
        self.note_tree();
        let mut sent = Vec::with_capacity(outcome.sent.len());
        for (place, frame) in outcome.sent {
            self.counters[place].sent += 1;
            self.counters[place].sent_bpdus += 1;
            sent.push((self.ports[place].port, Packet::from_bytes(frame.into_boxed_slice())));
        }
        if outcome.is_new || !outcome.forget.is_empty() {
            sent.extend(self.replant(now, &outcome.forget));
        }
        sent
    }

    /// Frames for everybody go out where ports forward.
    fn settle(&mut self) {
        if let Some(tree) = &self.tree {
            self.vlans.limit(&self.ports, |place| tree.forwards(place));
        }
        self.note_tree();
    }

    fn note_tree(&mut self) {
        for (place, counters) in self.counters.iter_mut().enumerate() {
            counters.tree = self.tree.as_ref().map(|tree| tree.status(place));
        }
    }

    fn learn(&mut self, now: Instant, source: u64, place: usize) {
        let counters = &mut self.counters[place];
        match self.addresses.learn(now, source, place) {
            Learned::Nothing => {}
            Learned::New => counters.learned += 1,
            Learned::Moved => {
                counters.learned += 1;
                counters.moved += 1;
            }
            Learned::NoRoom => counters.unlearned += 1,
        }
    }

    fn flood(&mut self, from: usize, vlan: u16, packet: Packet) -> Forwarding {
        let count = u64::from(packet.segments());
        self.counters[from].flooded += count;
        let Some(members) = self.vlans.members(vlan) else { return Forwarding::End(packet, Vec::new()) };
        let as_it_is = members.alike.is_some_and(|tagged| self.vlans.dress(&packet, vlan, tagged).is_none());
        if as_it_is && !is_above(&packet, members.least_mtu) {
            let others = members.places.iter().filter(|(place, _)| *place != from);
            others.for_each(|(place, _)| self.counters[*place].sent += count);
            return Forwarding::Flood(packet, self.ports[from].port, Arc::clone(&members.ports));
        }
        let copies = self.copies(from, vlan, &packet, |_| true);
        Forwarding::End(packet, copies)
    }

    /// What goes out at all ports of a VLAN but one, as far as they are wanted: with a tag where they have tags.
    fn copies(
        &mut self,
        from: usize,
        vlan: u16,
        packet: &Packet,
        wants: impl Fn(usize) -> bool,
    ) -> Vec<(PortId, Packet)> {
        let count = u64::from(packet.segments());
        let Some(members) = self.vlans.members(vlan) else { return Vec::new() };
        // By whether it bears a tag, what goes out: made once.
        let mut dressed: [Option<Packet>; 2] = [None, None];
        let mut out = Vec::new();
        let others = members.places.iter().copied().filter(|(place, _)| *place != from && wants(*place));
        for (place, is_tagged) in others {
            let (port, counters) = (&self.ports[place], &mut self.counters[place]);
            if is_above(packet, port.mtu) {
                counters.too_big += count;
                continue;
            }
            let make = || self.vlans.dress(packet, vlan, is_tagged).unwrap_or_else(|| packet.duplicate());
            out.push((port.port, dressed[usize::from(is_tagged)].get_or_insert_with(make).duplicate()));
            counters.sent += count;
        }
        out
    }
}

/// Destination and source; none of what is no Ethernet frame.
#[inline]
fn ends(packet: &Packet) -> Option<([u8; 6], [u8; 6])> {
    // Behind them is a type or a length.
    let header: &[u8; 14] = packet.bytes().first_chunk()?;
    let [a, b, c, d, e, f, rest @ ..] = *header;
    let [g, h, i, j, k, l, ..] = rest;
    Some(([a, b, c, d, e, f], [g, h, i, j, k, l]))
}

/// Whether a frame can come from this address: from one of a group or of nobody none does (IEEE 802.1D-2004, section 7.8 b).
#[inline]
fn is_somebody(source: &[u8; 6]) -> bool {
    !is_group(source) && *source != [0; 6]
}

/// An address in a VLAN as a number.
#[inline]
fn key(vlan: u16, address: &[u8; 6]) -> u64 {
    let ([high, low], [a, b, c, d, e, f]) = (vlan.to_be_bytes(), *address);
    u64::from_be_bytes([high, low, a, b, c, d, e, f])
}

/// Whether several may listen to it, or everybody does.
#[inline]
fn is_group(address: &[u8; 6]) -> bool {
    address[0] & 1 == 1
}

/// 01-80-C2-00-00-00 to -0F: no bridge passes them on (IEEE 802.1D-2004, table 7-10).
#[inline]
fn is_reserved(address: &[u8; 6]) -> bool {
    matches!(address, [0x01, 0x80, 0xc2, 0, 0, last] if last & 0xf0 == 0)
}

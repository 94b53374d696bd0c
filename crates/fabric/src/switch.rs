//! A switch: a learning bridge, as IEEE 802.1D-2004, section 7, has it.
//!
//! It takes no time: what comes in goes on at the same instant, as a train if it came as a train. From each frame it learns
//! behind which port its source is (section 7.8), and sends frames for that address there and nowhere else. Frames for an
//! address that it does not know, for groups and for everybody go out at all other ports, all with one buffer. Frames
//! for the addresses that bridges keep for themselves (section 7.12.6) end here. It looks at no VLAN tag.

mod addresses;

use crate::PortId;
use crate::mtu::is_above;
use crate::passage::Passage;
use addresses::{Addresses, Learned};
use alloc::{sync::Arc, vec, vec::Vec};
use netloom_packet::Packet;
use netloom_units::{Bytes, Duration, Instant};

/// A switch.
#[derive(Clone, Debug, Default)]
pub struct SwitchSpec {
    /// Its ports.
    pub ports: Vec<SwitchPort>,
    /// For how long it remembers an address of which it does not hear any more.
    pub ageing: Duration,
    /// How many addresses it remembers at most.
    pub capacity: usize,
    /// Addresses that are always behind the port at this place, whatever it hears.
    pub fixed: Vec<([u8; 6], usize)>,
}

/// A port of a switch.
#[derive(Clone, Copy, Debug)]
pub struct SwitchPort {
    /// Where its packets enter and leave the pipes of its link.
    pub port: PortId,
    /// The largest IP packet that it sends.
    pub mtu: Bytes,
}

/// What a switch did at one of its ports, in frames: the segments of a train count one by one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SwitchCounters {
    /// Came in here.
    pub received: u64,
    /// Went out here.
    pub sent: u64,
    /// Of those that came in: went out at all other ports.
    pub flooded: u64,
    /// Of those that came in: dropped because they were for somebody behind this very port.
    pub filtered: u64,
    /// Of those that came in: dropped because they were for bridges themselves.
    pub reserved: u64,
    /// Of those that came in: dropped because they were no frames.
    pub malformed: u64,
    /// Dropped because the link here carries only smaller ones.
    pub too_big: u64,
    /// Addresses that were learned here.
    pub learned: u64,
    /// Of these: were behind another port before.
    pub moved: u64,
    /// How often an address was not learned here, since there was no room.
    pub unlearned: u64,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Switch {
    ports: Vec<SwitchPort>,
    /// All of them, for what goes everywhere.
    all: Arc<[PortId]>,
    /// What all of them can carry.
    least_mtu: Bytes,
    addresses: Addresses,
    pub(crate) counters: Vec<SwitchCounters>,
}

impl Switch {
    pub(crate) fn new(spec: &SwitchSpec) -> Self {
        let mut addresses = Addresses::new(spec.capacity, spec.ageing);
        spec.fixed.iter().for_each(|(address, place)| addresses.fix(key(address), *place));
        Self {
            ports: spec.ports.clone(),
            all: spec.ports.iter().map(|port| port.port).collect(),
            least_mtu: spec.ports.iter().map(|port| port.mtu).min().unwrap_or_default(),
            addresses,
            counters: vec![SwitchCounters::default(); spec.ports.len()],
        }
    }

    /// A packet comes in at the port at this place at `now`.
    #[inline]
    pub(crate) fn take(&mut self, now: Instant, place: usize, packet: Packet) -> Passage {
        let count = u64::from(packet.segments());
        let counters = &mut self.counters[place];
        counters.received += count;
        let Some((destination, source)) = ends(&packet) else {
            counters.malformed += count;
            return Passage::End(packet, Vec::new());
        };
        if !is_group(&source) {
            self.learn(now, &source, place);
        }
        if is_reserved(&destination) {
            self.counters[place].reserved += count;
            return Passage::End(packet, Vec::new());
        }
        let known = if is_group(&destination) { None } else { self.addresses.find(now, key(&destination)) };
        match known {
            Some(out) if out == place => {
                self.counters[place].filtered += count;
                Passage::End(packet, Vec::new())
            }
            Some(out) if is_above(&packet, self.ports[out].mtu) => {
                self.counters[out].too_big += count;
                Passage::End(packet, Vec::new())
            }
            Some(out) => {
                self.counters[out].sent += count;
                Passage::On(self.ports[out].port, packet)
            }
            None => self.flood(place, packet),
        }
    }

    fn learn(&mut self, now: Instant, source: &[u8; 6], place: usize) {
        let counters = &mut self.counters[place];
        match self.addresses.learn(now, key(source), place) {
            Learned::Nothing => {}
            Learned::New => counters.learned += 1,
            Learned::Moved => {
                counters.learned += 1;
                counters.moved += 1;
            }
            Learned::NoRoom => counters.unlearned += 1,
        }
    }

    fn flood(&mut self, from: usize, packet: Packet) -> Passage {
        let count = u64::from(packet.segments());
        self.counters[from].flooded += count;
        let fits_all = !is_above(&packet, self.least_mtu);
        let mut fitting = Vec::new();
        for (place, (port, counters)) in self.ports.iter().zip(&mut self.counters).enumerate() {
            if place == from {
                continue;
            }
            if fits_all {
                counters.sent += count;
            } else if is_above(&packet, port.mtu) {
                counters.too_big += count;
            } else {
                counters.sent += count;
                fitting.push(port.port);
            }
        }
        let ports = if fits_all { Arc::clone(&self.all) } else { fitting.into() };
        Passage::Flood(packet, self.ports[from].port, ports)
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

/// An address as a number.
#[inline]
fn key(address: &[u8; 6]) -> u64 {
    let [a, b, c, d, e, f] = *address;
    u64::from_be_bytes([0, 0, a, b, c, d, e, f])
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

//! Several ways of equal length to the same destinations: each flow takes one of them.
//!
//! A flow is identified by its addresses, its protocol and its ports, behind the extension headers of IPv6. Fragments have no ports that all
//! of a packet's could go by, so they go by the rest (RFC 2992 asks for packets of a flow to stay together). In IPv6, the flow label
//! stands in for ports where the protocol has none, as in tunnels (RFC 6438, section 3); where there are ports it would add nothing
//! but chance, since kernels draw it at random and draw anew after losses. Each router has a seed of its own: with the same hash
//! everywhere, all flows that meet at a router would have been chosen by the same bits before, and take the same way again.

use super::Target;
use super::wire::{Network, word};
use alloc::vec::Vec;
use netloom_link::FlowHash;
use netloom_packet::{Flow, Packet};
use netloom_units::Seed;

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Ecmp {
    hash: FlowHash,
    /// The places of neighbours, group by group.
    hops: Vec<u32>,
    /// Where each group begins and ends.
    groups: Vec<(u32, u32)>,
}

impl Ecmp {
    pub(super) fn new(seed: Seed) -> Self {
        Self { hash: FlowHash::new(seed), hops: Vec::new(), groups: Vec::new() }
    }

    /// The target that stands for all of these neighbours.
    pub(super) fn target(&mut self, hops: &[u32]) -> Target {
        if let [only] = hops {
            return Target::Out(*only);
        }
        // Mostly, what lies one after the other is reached by the same neighbours: a group is kept once.
        let is_last = |(from, to): &(u32, u32)| self.hops[*from as usize..*to as usize] == *hops;
        if !self.groups.last().is_some_and(is_last) {
            let from = count(self.hops.len());
            self.hops.extend(hops);
            self.groups.push((from, count(self.hops.len())));
        }
        Target::Ecmp(count(self.groups.len()) - 1)
    }

    /// The neighbours among which a group chooses.
    pub(super) fn ways(&self, group: u32) -> &[u32] {
        let (from, to) = self.groups[group as usize];
        &self.hops[from as usize..to as usize]
    }

    /// Where this packet goes.
    #[inline]
    pub(super) fn choose(&self, target: Target, packet: &Packet) -> Target {
        if let Target::Ecmp(group) = target { self.of_flow(group, packet) } else { target }
    }

    fn of_flow(&self, group: u32, packet: &Packet) -> Target {
        let (from, to) = self.groups[group as usize];
        let place = flow(packet).map_or(0, |flow| self.hash.bucket(&flow, to - from));
        Target::Out(self.hops[(from + place) as usize])
    }
}

fn count(len: usize) -> u32 {
    u32::try_from(len).expect("fewer than 2^32 neighbours and routes")
}

/// What tells the packet's flow; none for what is not an IP packet.
fn flow(packet: &Packet) -> Option<Flow> {
    let flow = packet.flow()?;
    Some(match Network::of(packet.bytes()) {
        Some(Network::V6(ip)) if !has_own_fields(flow.protocol) => {
            Flow { source_port: u16::from(ip[1] & 0x0f), destination_port: word(ip, 2), ..flow }
        }
        _ => flow,
    })
}

/// Whether a protocol has ports; messages of ICMP go by their addresses alone, so that pings keep to one way.
fn has_own_fields(protocol: u8) -> bool {
    /// TCP, UDP, DCCP, ICMPv6, SCTP and UDP-Lite, as IANA numbers them.
    const THESE: [u8; 6] = [6, 17, 33, 58, 132, 136];
    THESE.contains(&protocol)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A packet of IPv4, or of IPv6 with this flow label, with this protocol.
    fn packet(label: Option<u32>, protocol: u8, flags: u8, port: u16) -> Packet {
        let mut frame = Vec::from([0; 12]);
        if let Some(label) = label {
            frame.extend([0x86, 0xdd]);
            frame.extend((0x6000_0000 | label).to_be_bytes());
            frame.extend([0, 8, protocol, 64]);
            frame.extend([0x20; 32]);
        } else {
            frame.extend([8, 0, 0x45, 0, 0, 28, 0, 0, flags, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        }
        frame.extend(port.to_be_bytes());
        frame.extend([0, 9, 0, 8, 0, 0]);
        Packet::from_bytes(frame.into_boxed_slice())
    }

    /// How many packets go to each of four neighbours.
    fn spread(seed: u64, packets: impl Iterator<Item = Packet>) -> [u32; 4] {
        let mut ecmp = Ecmp::new(Seed::new(seed));
        let target = ecmp.target(&[0, 1, 2, 3]);
        let mut counts = [0; 4];
        for packet in packets {
            let Target::Out(hop) = ecmp.choose(target, &packet) else { panic!("a neighbour") };
            counts[hop as usize] += 1;
        }
        counts
    }

    fn is_even(counts: [u32; 4]) -> bool {
        counts.iter().all(|count| (200..300).contains(count))
    }

    fn is_one(counts: [u32; 4]) -> bool {
        counts.contains(&1_000)
    }

    #[test]
    fn flows_spread_by_ports_where_there_are_any() {
        for seed in 1..9 {
            assert!(is_even(spread(seed, (0..1_000).map(|port| packet(None, 17, 0x40, port)))));
            assert!(is_even(spread(seed, (0..1_000).map(|port| packet(Some(0), 6, 0, port)))));
        }
        assert!(is_one(spread(1, (0..1_000).map(|port| packet(None, 17, 0x20, port)))), "fragments stay together");
        assert!(is_one(spread(1, (0..1_000).map(|port| packet(None, 1, 0, port)))), "so do pings");
    }

    #[test]
    fn flow_labels_count_where_there_are_no_ports() {
        assert!(is_one(spread(1, (0..1_000).map(|label| packet(Some(label), 6, 0, 1)))), "ports are enough");
        assert!(is_one(spread(1, (0..1_000).map(|label| packet(Some(label), 58, 0, 1)))), "pings stay together");
        // Of a tunnel: GRE and ESP.
        assert!(is_even(spread(1, (0..1_000).map(|label| packet(Some(label), 47, 0, 1)))));
        assert!(is_even(spread(1, (0..1_000).map(|label| packet(Some(label << 4), 50, 0, 1)))));
    }

    /// Of those that a router sends one way, one with another seed sends as many each way.
    #[test]
    fn routers_choose_independently() {
        let mut ecmp = Ecmp::new(Seed::new(1));
        let target = ecmp.target(&[0, 1, 2, 3]);
        let first = (0..4_000).map(|port| packet(None, 6, 0, port));
        let chosen = first.filter(|packet| ecmp.choose(target, packet) == Target::Out(0));
        let counts = spread(2, chosen);
        assert!(counts.iter().all(|count| (190..310).contains(count)), "{counts:?}");
    }

    #[test]
    fn a_group_is_kept_once() {
        let mut ecmp = Ecmp::new(Seed::new(1));
        let targets = [&[1, 2][..], &[1, 2], &[3], &[2, 3], &[1, 2]].map(|hops| ecmp.target(hops));
        assert_eq!(targets[..3], [Target::Ecmp(0), Target::Ecmp(0), Target::Out(3)]);
        assert_eq!(ecmp.groups.len(), 3, "only neighbouring ones are compared");
    }
}

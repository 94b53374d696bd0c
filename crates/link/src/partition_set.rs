//! Partitions: what becomes of packets between nodes that are parted, whatever joins these nodes.
//!
//! A partition says from which node to which other one nothing gets through, or only later. Several partitions may be in force at once.
//! [`NodeIndex`] tells from which node and for which one a packet is.

use alloc::{boxed::Box, string::String, sync::Arc, vec::Vec};
use core::{fmt, net::IpAddr};
use netloom_packet::Packet;
use netloom_units::Duration;

/// The fate of packets between nodes that are parted. Of several partitions between the same nodes, the greatest holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PartitionKind {
    /// Packets are held for this time, and then go on in their order.
    Slow(Duration),
    /// Packets are held until the nodes are joined again, and then go on in their order.
    Jam,
    /// Packets are dropped.
    Drop,
}

/// The marks by which packets tell their nodes: ports, and addresses of IP and Ethernet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeIndex {
    /// By port.
    ports: Box<[u32]>,
    addresses: Box<[(IpAddr, u32)]>,
    hardware: Box<[([u8; 6], u32)]>,
}

impl NodeIndex {
    /// Creates the index of these ports, whose nodes are given in the order of ports, and of addresses with their nodes. An address
    /// that several nodes have tells none of them.
    pub fn new(
        ports: impl IntoIterator<Item = u32>,
        addresses: impl IntoIterator<Item = (IpAddr, u32)>,
        hardware: impl IntoIterator<Item = ([u8; 6], u32)>,
    ) -> Self {
        Self { ports: ports.into_iter().collect(), addresses: unique(addresses), hardware: unique(hardware) }
    }

    /// The nodes from which and for which a packet is that is on its way from the port by which it enters a pipe, if that matters, to the
    /// port at the end of the pipe.
    ///
    /// Its IP addresses tell, as far as they are each one node's: a router that passes a packet on is neither its source nor its
    /// destination. Where they do not, hardware addresses tell, as they do behind a bridge; and else the port by which the packet came
    /// into the fabric, and that to which it goes.
    fn ends(&self, packet: &Packet, entrance: Option<u32>, exit: u32) -> Option<Ends> {
        let flow = packet.flow();
        let of_address = |address: IpAddr| find(&self.addresses, &address);
        let of_hardware = |at: usize| {
            let bytes: [u8; 6] = packet.bytes().get(at..at + 6)?.try_into().ok()?;
            find(&self.hardware, &bytes)
        };
        let of_port = |port: u32| self.ports.get(port as usize).copied();
        let sender = of_hardware(6);
        let source = flow.as_ref().and_then(|flow| of_address(flow.source));
        let source = source.or(sender).or_else(|| of_port(packet.source()?))?;
        let by_address = flow.as_ref().and_then(|flow| of_address(flow.destination));
        // What a transit router has passed on bears the addresses of the link before it.
        let by_hardware = of_hardware(0).filter(|_| packet.hops() == 0);
        let destination = by_address.or(by_hardware).or_else(|| of_port(exit))?;
        // It had the same ends where it left its source.
        let is_known = by_address.is_some() || by_hardware.is_some() && sender == Some(source);
        let is_passed_on = is_known && entrance.is_some_and(|port| of_port(port) != Some(source));
        Some(Ends { source, destination, is_passed_on })
    }
}

/// From which node and for which one a packet is.
struct Ends {
    source: u32,
    destination: u32,
    /// Whether it has entered a pipe before, with the same ends.
    is_passed_on: bool,
}

/// The keys that stand for one value only, in their order.
fn unique<K: Copy + Ord>(all: impl IntoIterator<Item = (K, u32)>) -> Box<[(K, u32)]> {
    let mut all: Vec<(K, u32)> = all.into_iter().collect();
    all.sort_unstable();
    all.dedup();
    let is_like = |place: usize, other: Option<usize>| {
        other.and_then(|other| all.get(other)).is_some_and(|(key, _)| *key == all[place].0)
    };
    let is_alone = |place: &usize| !is_like(*place, place.checked_sub(1)) && !is_like(*place, Some(place + 1));
    (0..all.len()).filter(is_alone).map(|place| all[place]).collect()
}

fn find<K: Ord>(all: &[(K, u32)], key: &K) -> Option<u32> {
    all.binary_search_by(|(other, _)| other.cmp(key)).ok().map(|place| all[place].1)
}

/// A partition: which nodes are parted from which others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodePartition {
    name: String,
    kind: PartitionKind,
    /// Nodes and their classes, in the order of nodes. The nodes of a class are parted from the same others.
    classes: Box<[(u32, u32)]>,
    /// How many classes there are.
    count: u32,
    /// By class of the source, and then by that of the destination.
    parted: Box<[bool]>,
    /// Parted nodes whose address resolution gets through, the smaller number first: others need them as neighbours.
    neighbors: Box<[(u32, u32)]>,
}

impl NodePartition {
    /// Creates a partition of this name. `classes` gives nodes their classes, of which there are `count`, and each node once;
    /// `is_parted` says whether what nodes of the first class send is kept from nodes of the second one. Nodes without a class reach
    /// all others, and every node reaches itself.
    pub fn new(
        name: String,
        kind: PartitionKind,
        classes: impl IntoIterator<Item = (u32, u32)>,
        count: u32,
        is_parted: impl Fn(u32, u32) -> bool,
    ) -> Self {
        let mut classes: Box<[(u32, u32)]> = classes.into_iter().collect();
        classes.sort_unstable();
        let parted = (0..count).flat_map(|from| (0..count).map(move |to| (from, to)));
        let parted = parted.map(|(from, to)| is_parted(from, to)).collect();
        Self { name, kind, classes, count, parted, neighbors: Box::default() }
    }

    /// Returns the same partition, which lets the address resolution of these pairs of nodes through.
    #[must_use]
    pub fn with_neighbors(self, pairs: impl IntoIterator<Item = (u32, u32)>) -> Self {
        let mut neighbors: Vec<_> = pairs.into_iter().map(|(one, other)| (one.min(other), one.max(other))).collect();
        neighbors.sort_unstable();
        neighbors.dedup();
        Self { neighbors: neighbors.into(), ..self }
    }

    /// Returns the fate of packets between nodes that are parted.
    pub fn kind(&self) -> PartitionKind {
        self.kind
    }

    /// Returns the nodes with their classes, in the order of the nodes' numbers.
    pub fn classes(&self) -> impl Iterator<Item = (u32, u32)> {
        self.classes.iter().copied()
    }

    /// Returns how many classes there are.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Whether what nodes of one class send is kept from those of the other.
    pub fn parts_classes(&self, from: u32, to: u32) -> bool {
        self.parted[(from * self.count + to) as usize]
    }

    /// Returns the pairs of parted nodes whose address resolution gets through, the smaller number first.
    pub fn neighbors(&self) -> impl Iterator<Item = (u32, u32)> {
        self.neighbors.iter().copied()
    }

    /// Whether what one node sends is kept from the other.
    pub fn parts(&self, source: u32, destination: u32) -> bool {
        let class = |node: u32| find(&self.classes, &node);
        match (class(source), class(destination)) {
            (Some(from), Some(to)) if source != destination => self.parts_classes(from, to),
            _ => false,
        }
    }

    fn are_neighbors(&self, one: u32, other: u32) -> bool {
        self.neighbors.binary_search(&(one.min(other), one.max(other))).is_ok()
    }
}

impl fmt::Display for NodePartition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// All partitions in force. Cheap to clone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartitionSet {
    nodes: Arc<NodeIndex>,
    all: Arc<[Arc<NodePartition>]>,
}

impl PartitionSet {
    /// Creates the set of these partitions among the nodes of this index.
    pub fn new(nodes: Arc<NodeIndex>, all: impl IntoIterator<Item = Arc<NodePartition>>) -> Self {
        Self { nodes, all: all.into_iter().collect() }
    }

    /// Whether there is no partition.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Returns the partitions.
    pub fn partitions(&self) -> &[Arc<NodePartition>] {
        &self.all
    }

    /// Returns the fate of a packet that enters a pipe by the port `entrance` and is on its way to the port `exit`; none if no partition is
    /// about it. A packet is slowed once, where it leaves its source. `entrance`: none if that is here.
    pub fn judge(&self, packet: &Packet, entrance: Option<u32>, exit: u32) -> Option<PartitionKind> {
        if self.is_empty() {
            return None;
        }
        let Ends { source, destination, is_passed_on } = self.nodes.ends(packet, entrance, exit)?;
        let meant = |partition: &&Arc<NodePartition>| {
            partition.parts(source, destination)
                && !(partition.are_neighbors(source, destination) && packet.resolves_addresses())
        };
        let kinds = self.all.iter().filter(meant).map(|partition| partition.kind);
        kinds.filter(|kind| !(is_passed_on && matches!(kind, PartitionKind::Slow(_)))).max()
    }
}

impl fmt::Display for PartitionSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("none");
        }
        for (place, partition) in self.all.iter().enumerate() {
            let comma = if place == 0 { "" } else { ", and " };
            write!(f, "{comma}{partition}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;

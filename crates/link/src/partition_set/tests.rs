//! Which packets partitions are about.

use super::*;
use alloc::{string::ToString, vec};
use core::net::Ipv4Addr;

const HALVES: [(u32, u32); 3] = [(3, 1), (1, 0), (2, 0)];

fn partition(name: &str, kind: PartitionKind, classes: &[(u32, u32)]) -> Arc<NodePartition> {
    let is_other = |from, to| from != to;
    Arc::new(NodePartition::new(name.into(), kind, classes.iter().copied(), 2, is_other))
}

/// From 10.0.0.`from` to 10.0.0.`to`, in a frame whose hardware addresses end with other numbers.
fn packet(from: u8, to: u8, hardware: [u8; 2]) -> Packet {
    let mut bytes = vec![0; 60];
    (bytes[5], bytes[11]) = (hardware[1], hardware[0]);
    bytes[12..14].copy_from_slice(&[8, 0]);
    bytes[14] = 0x45;
    bytes[17] = 40;
    bytes[26..30].copy_from_slice(&[10, 0, 0, from]);
    bytes[30..34].copy_from_slice(&[10, 0, 0, to]);
    Packet::from_bytes(bytes.into())
}

/// Node n has the port n, the address 10.0.0.n, and the hardware address that ends with n.
fn nodes() -> Arc<NodeIndex> {
    let address = |node: u8| (IpAddr::V4(Ipv4Addr::new(10, 0, 0, node)), u32::from(node));
    Arc::new(NodeIndex::new(0..9, (0..9).map(address), (0..9).map(|node| ([0, 0, 0, 0, 0, node], u32::from(node)))))
}

#[test]
fn who_has_no_class_reaches_everybody_and_partitions_add_up() {
    let halves = partition("1 2 | 3", PartitionKind::Drop, &HALVES);
    let alone = partition("2 | 1 4", PartitionKind::Drop, &[(2, 0), (1, 1), (4, 1)]);
    let set = PartitionSet::new(nodes(), [halves, alone]);
    let is_parted = |from: u8, to: u8| set.judge(&packet(from, to, [from, to]), None, u32::from(to)).is_some();
    let parted = [[1, 3], [3, 2], [1, 2], [2, 4]];
    assert!(parted.iter().all(|[one, other]| is_parted(*one, *other) && is_parted(*other, *one)));
    let joined = [[1, 4], [3, 4], [3, 3], [1, 8], [8, 3]];
    assert!(joined.iter().all(|[one, other]| !is_parted(*one, *other)));
    assert_eq!(
        (set.to_string().as_str(), PartitionSet::default().to_string().as_str()),
        ("1 2 | 3, and 2 | 1 4", "none")
    );
}

/// IP addresses come before hardware addresses, and those before ports.
#[test]
fn a_router_between_is_neither_source_nor_destination() {
    let set = PartitionSet::new(nodes(), [partition("", PartitionKind::Drop, &HALVES)]);
    assert!(set.judge(&packet(1, 3, [7, 8]), None, 8).is_some());
    assert!(set.judge(&packet(7, 8, [1, 3]), None, 3).is_none());
    // Nobody has these IP addresses.
    assert!(set.judge(&packet(77, 88, [1, 3]), None, 8).is_some());
    let (entered, _) = packet(77, 88, [77, 88]).mark_source(1);
    assert!(set.judge(&entered, None, 3).is_some() && set.judge(&entered, None, 2).is_none());
    // Two nodes have this one.
    let both = [(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), 1), (IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), 2)];
    let index = NodeIndex::new(0..9, both, []);
    assert_eq!(index.addresses.len(), 0);
}

#[test]
fn the_strongest_partition_holds() {
    let slow = |ms| PartitionKind::Slow(Duration::from_millis(ms));
    let all = [slow(5), PartitionKind::Jam, slow(9)].map(|kind| partition("", kind, &HALVES));
    let judge = |these: &[Arc<NodePartition>]| {
        PartitionSet::new(nodes(), these.iter().cloned()).judge(&packet(1, 3, [1, 3]), None, 3)
    };
    assert_eq!(judge(&all), Some(PartitionKind::Jam));
    assert_eq!(judge(&[all[0].clone(), all[2].clone()]), Some(slow(9)));
}

/// Behind a router, a switch or a bridge a packet is not slowed again.
#[test]
fn a_packet_is_slowed_where_it_leaves_its_source() {
    let slow = PartitionKind::Slow(Duration::from_millis(1));
    let set = PartitionSet::new(nodes(), [partition("", slow, &HALVES)]);
    let judge = |packet: &Packet, entrance| set.judge(packet, Some(entrance), 3);
    for (ends, known) in [([1, 3], [1, 3]), ([77, 88], [1, 3])] {
        let sent = packet(ends[0], ends[1], known);
        assert_eq!((judge(&sent, 1), judge(&sent, 7)), (Some(slow), None));
    }
    // The router 7 alone knows who has the address 88; and what is for everybody is judged at the end.
    assert_eq!(judge(&packet(1, 88, [7, 3]), 7), Some(slow));
    assert_eq!(judge(&packet(1, 88, [1, 88]), 7), Some(slow));
}

#[test]
fn neighbours_that_others_need_resolve_addresses() {
    let halves = NodePartition::new(String::new(), PartitionKind::Drop, HALVES, 2, |from, to| from != to);
    let set = PartitionSet::new(nodes(), [Arc::new(halves.with_neighbors([(3, 1)]))]);
    let arp = |from: u8| {
        let mut bytes = vec![0xff; 60];
        bytes[6..12].copy_from_slice(&[0, 0, 0, 0, 0, from]);
        bytes[12..14].copy_from_slice(&[8, 6]);
        Packet::from_bytes(bytes.into())
    };
    assert!(set.judge(&arp(1), None, 3).is_none() && set.judge(&arp(3), None, 1).is_none());
    assert!(set.judge(&arp(2), None, 3).is_some() && set.judge(&packet(1, 3, [1, 3]), None, 3).is_some());
}

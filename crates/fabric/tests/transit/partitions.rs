//! Partitions: what one side sends does not reach the other, whatever joins them, and everybody else hears everything.

use crate::hubs::link;
use crate::network::all;
use crate::network::plain;
use crate::switches::{EVERYBODY, MS, SEED, frame, of_host, switch};
use netloom_fabric::{DeviceSpec, Fabric, HubSpec, PipeId, PipeSpec, PortId, PortVlans};
use netloom_link::{NodeIndex, NodePartition, PartitionKind, PartitionSet, PipeChange, PipeConfig};
use netloom_packet::Pool;
use netloom_units::{Duration, Instant};
use std::sync::Arc;

fn config() -> PipeConfig {
    PipeConfig { partition_set: Some(PartitionSet::default()), ..PipeConfig::default() }
}

fn set(fabric: &mut Fabric, now: Instant, pipes: impl IntoIterator<Item = u32>, partition_set: &PartitionSet) {
    let change = PipeChange { partition_set: Some(partition_set.clone()), ..PipeChange::default() };
    pipes.into_iter().for_each(|pipe| fabric.change(now, PipeId(pipe), &change));
}

/// Every port is a node, and each of these has the class behind it.
fn parted(kind: PartitionKind, classes: &[(u32, u32)]) -> PartitionSet {
    let is_other = |from, to| from != to;
    let partition = NodePartition::new("test".into(), kind, classes.iter().copied(), 2, is_other);
    PartitionSet::new(Arc::new(NodeIndex::new(0..16, [], [])), [Arc::new(partition)])
}

/// Which ports hear a frame for everybody.
fn heard(fabric: &mut Fabric, now: Instant, port: u32, source: [u8; 6], to: [u8; 6]) -> Vec<u32> {
    fabric.inject(now, PortId(port), plain(&mut Pool::default(), &frame(to, source))).unwrap();
    let mut ports: Vec<u32> = all(fabric).into_iter().map(|(_, heard_at, _)| heard_at.0).collect();
    ports.sort_unstable();
    ports
}

fn at(ms: u64) -> Instant {
    Instant::ZERO + MS * ms
}

/// Four hosts at the ports 0, 2, 4 and 6, the first two behind one device and the others behind another one, with a trunk between
/// them. The groups are mixed: 0 and 4, 2 and 6.
#[test]
fn groups_that_are_mixed_behind_a_trunk() {
    let vlans = |tagged: bool| PortVlans {
        untagged: (!tagged).then_some(5),
        tagged: if tagged { vec![5] } else { Vec::new() },
    };
    let plain_switch = |ports: [u32; 3]| DeviceSpec::Switch(switch(ports.map(PortId)));
    let tagging = |ports: [u32; 3]| {
        let vlans = [false, false, true].map(vlans).to_vec();
        DeviceSpec::Switch(netloom_fabric::SwitchSpec { vlans, ..switch(ports.map(PortId)) })
    };
    let hub = |ports: [u32; 3]| DeviceSpec::Hub(HubSpec { ports: ports.map(PortId).to_vec() });
    let kinds: [&dyn Fn([u32; 3]) -> DeviceSpec; 3] = [&plain_switch, &tagging, &hub];
    for kind in kinds {
        let links = [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9]];
        let mut pipes: Vec<PipeSpec> = links.into_iter().flat_map(|ports| link(ports, MS)).collect();
        pipes.iter_mut().for_each(|pipe| pipe.config.partition_set = Some(PartitionSet::default()));
        let devices = [kind([1, 3, 8]), kind([5, 7, 9])];
        let mut fabric = Fabric::new(SEED, &pipes).with_devices(&pipes, &devices);
        let of_hosts = 0..8;
        let halves = parted(PartitionKind::Drop, &[(0, 0), (4, 0), (2, 1), (6, 1)]);
        set(&mut fabric, at(0), of_hosts.clone(), &halves);
        assert_eq!(heard(&mut fabric, at(0), 0, of_host(0), EVERYBODY), [4]);
        assert_eq!(heard(&mut fabric, at(10), 6, of_host(3), EVERYBODY), [2]);
        assert_eq!(heard(&mut fabric, at(20), 2, of_host(1), of_host(3)), [6]);
        let dropped: u64 = fabric.counters().map(|counters| counters.dropped.partition.packets).sum();
        assert!(dropped >= 4, "{dropped}");
        assert!(fabric.counters().all(netloom_link::PipeCounters::balance));
        set(&mut fabric, at(30), of_hosts, &PartitionSet::default());
        assert_eq!(heard(&mut fabric, at(30), 0, of_host(0), EVERYBODY), [2, 4, 6]);
    }
}

/// At a shared medium, some hear what others do not; what nobody hears does not take its time.
#[test]
fn groups_at_a_shared_medium() {
    let medium = PipeSpec {
        name: "bus".into(),
        config: config(),
        coalesce: Duration::ZERO,
        from: PortId(0),
        filter: None,
        to: PortId(1),
        medium: (0..4).map(PortId).collect(),
    };
    let mut fabric = Fabric::new(SEED, std::slice::from_ref(&medium));
    // Nobody has said where port 3 belongs.
    let partition_set = |classes: &[(u32, u32)]| parted(PartitionKind::Drop, classes);
    set(&mut fabric, at(0), [0], &partition_set(&[(0, 0), (1, 0), (2, 1)]));
    assert_eq!(heard(&mut fabric, at(0), 0, of_host(0), EVERYBODY), [1, 3]);
    assert_eq!(heard(&mut fabric, at(1), 2, of_host(2), EVERYBODY), [3]);
    assert_eq!(heard(&mut fabric, at(2), 3, of_host(3), EVERYBODY), [0, 1, 2]);
    set(&mut fabric, at(3), [0], &partition_set(&[(0, 0), (1, 1), (2, 1), (3, 1)]));
    assert_eq!(heard(&mut fabric, at(3), 0, of_host(0), EVERYBODY), [0; 0]);
    let counters = fabric.counters().next().unwrap();
    assert_eq!((counters.arrived.packets, counters.departed.packets, counters.dropped.partition.packets), (4, 3, 1));
}

/// What is held goes on in its order: after its time, or at the instant at which the partition ends. Others overtake it.
#[test]
fn slow_and_jammed_packets_keep_their_order() {
    for (kind, due) in [(PartitionKind::Slow(MS * 5), [6, 7, 21]), (PartitionKind::Jam, [11, 11, 21])] {
        let mut pipes: Vec<PipeSpec> = link([0, 1], MS).into_iter().collect();
        pipes.iter_mut().for_each(|pipe| pipe.config.partition_set = Some(PartitionSet::default()));
        let mut fabric = Fabric::new(SEED, &pipes);
        set(&mut fabric, at(0), [0, 1], &parted(kind, &[(0, 0), (1, 1)]));
        let send = |into: &mut Fabric, ms: u64, source: u32| {
            let packet = plain(&mut Pool::default(), &frame(EVERYBODY, of_host(source)));
            into.inject(at(ms), PortId(0), packet).unwrap();
        };
        send(&mut fabric, 0, 0);
        send(&mut fabric, 1, 1);
        let held = fabric.counters().next().unwrap();
        assert!(held.balance() && (held.held.packets, held.in_flight()) == (2, 2), "{held:?}");
        let mut heard = Vec::new();
        fabric.advance(at(9), |delivery| heard.push(delivery.departure.due));
        set(&mut fabric, at(10), [0, 1], &PartitionSet::default());
        send(&mut fabric, 20, 2);
        fabric.advance(at(30), |delivery| heard.push(delivery.departure.due));
        assert_eq!(heard, due.map(at), "{kind:?}");
        assert!(fabric.counters().all(|counters| counters.balance() && counters.in_flight() == 0));
    }
}

/// A partition of one direction keeps what the first node sends, and lets it hear the other.
#[test]
fn one_direction_alone_is_parted() {
    let mut pipes: Vec<PipeSpec> = link([0, 1], MS).into_iter().collect();
    pipes.iter_mut().for_each(|pipe| pipe.config.partition_set = Some(PartitionSet::default()));
    let mut fabric = Fabric::new(SEED, &pipes);
    let from_first = |from, to| (from, to) == (0, 1);
    let partition = NodePartition::new("test".into(), PartitionKind::Drop, [(0, 0), (1, 1)], 2, from_first);
    let one_way = PartitionSet::new(Arc::new(NodeIndex::new(0..2, [], [])), [Arc::new(partition)]);
    set(&mut fabric, at(0), [0, 1], &one_way);
    assert_eq!(heard(&mut fabric, at(0), 0, of_host(0), EVERYBODY), [0; 0]);
    assert_eq!(heard(&mut fabric, at(1), 1, of_host(1), EVERYBODY), [0]);
}

//! Partitions: what one side sends does not reach the other, whatever joins them, and everybody else hears everything.

use crate::hubs::link;
use crate::network::all;
use crate::network::plain;
use crate::switches::{EVERYBODY, MS, SEED, frame, of_host, switch};
use netloom_fabric::{DeviceSpec, Fabric, HubSpec, PipeId, PipeSpec, PortId, PortVlans};
use netloom_link::{PartitionSet, PipeChange, PipeConfig, Sides};
use netloom_packet::Pool;
use netloom_units::{Duration, Instant};

fn config() -> PipeConfig {
    PipeConfig { partition_set: Some(PartitionSet::default()), ..PipeConfig::default() }
}

fn set(fabric: &mut Fabric, now: Instant, pipes: impl IntoIterator<Item = u32>, partition_set: &PartitionSet) {
    let change = PipeChange { partition_set: Some(partition_set.clone()), ..PipeChange::default() };
    pipes.into_iter().for_each(|pipe| fabric.change(now, PipeId(pipe), &change));
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
        let to_hosts = [1, 3, 5, 7];
        let halves = PartitionSet::new([Sides::new("mixed".into(), [(0, 0), (4, 0), (2, 1), (6, 1)])]);
        set(&mut fabric, at(0), to_hosts, &halves);
        assert_eq!(heard(&mut fabric, at(0), 0, of_host(0), EVERYBODY), [4]);
        assert_eq!(heard(&mut fabric, at(10), 6, of_host(3), EVERYBODY), [2]);
        assert_eq!(heard(&mut fabric, at(20), 2, of_host(1), of_host(3)), [6]);
        let dropped: u64 = fabric.counters().map(|counters| counters.dropped.down.packets).sum();
        assert!(dropped >= 4, "{dropped}");
        assert!(fabric.counters().all(netloom_link::PipeCounters::balance));
        set(&mut fabric, at(30), to_hosts, &PartitionSet::default());
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
    let partition_set = |sides: &[(u32, u32)]| PartitionSet::new([Sides::new("bus".into(), sides.iter().copied())]);
    set(&mut fabric, at(0), [0], &partition_set(&[(0, 0), (1, 0), (2, 1)]));
    assert_eq!(heard(&mut fabric, at(0), 0, of_host(0), EVERYBODY), [1, 3]);
    assert_eq!(heard(&mut fabric, at(1), 2, of_host(2), EVERYBODY), [3]);
    assert_eq!(heard(&mut fabric, at(2), 3, of_host(3), EVERYBODY), [0, 1, 2]);
    set(&mut fabric, at(3), [0], &partition_set(&[(0, 0), (1, 1), (2, 1), (3, 1)]));
    assert_eq!(heard(&mut fabric, at(3), 0, of_host(0), EVERYBODY), [0; 0]);
    let counters = fabric.counters().next().unwrap();
    assert_eq!((counters.arrived.packets, counters.departed.packets, counters.dropped.down.packets), (4, 3, 1));
}

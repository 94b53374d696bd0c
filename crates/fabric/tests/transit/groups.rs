//! Trees of multicast: a router copies what its tree brings, and nothing else.

use crate::hubs::{SEED, link};
use crate::network::{all, mac, plain};
use netloom_fabric::{DeviceSpec, Fabric, GroupRoute, Neighbor, PortId, RouterInterface, RouterSpec};
use netloom_packet::Pool;
use netloom_units::{Bytes, Duration, Instant};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const MS: Duration = Duration::from_millis(1);
const GROUP: Ipv4Addr = Ipv4Addr::new(239, 1, 2, 3);
const SOURCE: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const GROUP_V6: Ipv6Addr = Ipv6Addr::new(0xff3e, 0, 0, 0, 0, 0, 0, 1);
const SOURCE_V6: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 1);

/// A router at the ports 1, 3, 5 and 7, whose tree leads from the first to the second and third; the third is shared.
fn fabric() -> Fabric {
    let pipes: Vec<_> = [[0, 1], [2, 3], [4, 5], [6, 7]].map(|ends| link(ends, MS)).concat();
    let interface = |port: u32| RouterInterface {
        port: PortId(port),
        mac: mac(port),
        mtu: Bytes::new(if port == 3 { 600 } else { 1_500 }),
        addresses: Vec::new(),
        is_shared: port == 5,
        neighbors: vec![Neighbor { mac: mac(port - 1), addresses: Vec::new() }],
        subnets: Vec::new(),
    };
    let route = |group: IpAddr, source: IpAddr| GroupRoute { group, sources: vec![source], from: 0, to: vec![1, 2] };
    let spec = RouterSpec {
        interfaces: [1, 3, 5, 7].map(interface).to_vec(),
        groups: vec![route(GROUP.into(), SOURCE.into()), route(GROUP_V6.into(), SOURCE_V6.into())],
        ..RouterSpec::default()
    };
    Fabric::new(SEED, &pipes).with_devices(&pipes, &[DeviceSpec::Router(spec)])
}

/// A datagram with so many bytes in all above Ethernet.
fn frame(source: IpAddr, group: IpAddr, hops: u8, len: u16) -> Vec<u8> {
    let mut frame = match group {
        IpAddr::V4(_) => vec![1, 0, 0x5e, 1, 2, 3],
        IpAddr::V6(_) => vec![0x33, 0x33, 0, 0, 0, 1],
    };
    frame.extend(mac(0));
    match (source, group) {
        (IpAddr::V4(source), IpAddr::V4(group)) => {
            let [high, low] = len.to_be_bytes();
            frame.extend([8, 0, 0x45, 0, high, low, 0, 7, 0, 0, hops, 17, 0, 0]);
            frame.extend(source.octets().into_iter().chain(group.octets()));
            let sum = !netloom_testing::streams::ones_complement(&frame[14..34]);
            frame[24..26].copy_from_slice(&sum.to_be_bytes());
        }
        (IpAddr::V6(source), IpAddr::V6(group)) => {
            let [high, low] = (len - 40).to_be_bytes();
            frame.extend([0x86, 0xdd, 0x60, 0, 0, 0, high, low, 17, hops]);
            frame.extend(source.octets().into_iter().chain(group.octets()));
        }
        _ => unreachable!("both are of one family"),
    }
    frame.resize(14 + usize::from(len), 9);
    frame
}

/// What leaves when this enters at a port: where, and the frame.
fn passed(fabric: &mut Fabric, port: u32, frame: &[u8]) -> Vec<(u32, Vec<u8>)> {
    let now = fabric.next_wake().unwrap_or(Instant::ZERO);
    fabric.inject(now, PortId(port), plain(&mut Pool::default(), frame)).unwrap();
    let out = all(fabric).into_iter();
    out.map(|(_, exit, packet)| (exit.0, netloom_testing::streams::written(&packet).1)).collect()
}

#[test]
fn a_packet_goes_out_wherever_its_tree_leads() {
    for (source, group, hops_at) in
        [(SOURCE.into(), IpAddr::from(GROUP), 22), (SOURCE_V6.into(), IpAddr::from(GROUP_V6), 21)]
    {
        let mut fabric = fabric();
        let sent = frame(source, group, 3, 200);
        let out = passed(&mut fabric, 0, &sent);
        assert_eq!(out.iter().map(|(port, _)| *port).collect::<Vec<_>>(), [2, 4]);
        for (port, got) in out {
            assert_eq!(got[..6], sent[..6], "it is for the group on each link");
            assert_eq!(got[6..12], mac(port + 1));
            assert_eq!((got[hops_at], got.len()), (2, sent.len()));
            assert!(
                group.is_ipv6() || netloom_testing::streams::ones_complement(&got[14..34]) == 0xffff,
                "the checksum is right"
            );
            assert_eq!(got[54..], sent[54..]);
        }
        assert_eq!(fabric.router_counters().next().unwrap().forwarded, 2);
    }
}

#[test]
fn what_comes_from_elsewhere_is_ignored() {
    let mut fabric = fabric();
    // The wrong interface, another source, another group, one that stays on its link.
    assert_eq!(passed(&mut fabric, 2, &frame(SOURCE.into(), GROUP.into(), 9, 100)), []);
    assert_eq!(passed(&mut fabric, 0, &frame(Ipv4Addr::new(10, 0, 0, 2).into(), GROUP.into(), 9, 100)), []);
    assert_eq!(passed(&mut fabric, 0, &frame(SOURCE.into(), Ipv4Addr::new(239, 1, 2, 4).into(), 9, 100)), []);
    assert_eq!(passed(&mut fabric, 0, &frame(SOURCE.into(), Ipv4Addr::new(224, 0, 0, 1).into(), 9, 100)), []);
    let counters = *fabric.router_counters().next().unwrap();
    assert_eq!((counters.ignored, counters.forwarded), (4, 0));
}

#[test]
fn each_branch_has_its_own_mtu_and_nobody_is_told() {
    let mut fabric = fabric();
    assert_eq!(passed(&mut fabric, 0, &frame(SOURCE.into(), GROUP.into(), 1, 100)), [], "the time to live is over");
    // Of IPv4 in three pieces to the link of 600 bytes, whole to the other one; of IPv6 to the other one alone.
    let ports = |out: Vec<(u32, Vec<u8>)>| out.into_iter().map(|(port, _)| port).collect::<Vec<_>>();
    assert_eq!(ports(passed(&mut fabric, 0, &frame(SOURCE.into(), GROUP.into(), 9, 1_400))), [2, 2, 2, 4]);
    assert_eq!(ports(passed(&mut fabric, 0, &frame(SOURCE_V6.into(), GROUP_V6.into(), 9, 1_400))), [4]);
    let counters = *fabric.router_counters().next().unwrap();
    assert_eq!((counters.expired, counters.too_big, counters.fragments, counters.forwarded), (1, 1, 3, 3));
}

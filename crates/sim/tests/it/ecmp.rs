//! How flows spread over ways of equal length: transit routers of a fat tree pass on what hosts send, and their links count.

use crate::headers;

use netloom_lab::fabric::{fabric_of, port_id};
use netloom_lab::{NodeKind, Plan};
use netloom_packet::Packet;
use netloom_units::Instant;
use std::net::IpAddr;

fn fat_tree(top: &str) -> Plan {
    let text = format!("{top}\ngenerate: {{kind: fat-tree, k: 4}}\n");
    netloom_lab::parse(&text, "fat-tree.yaml").unwrap_or_else(|wrong| panic!("{wrong}")).plan
}

fn index(plan: &Plan, name: &str) -> usize {
    plan.nodes.iter().position(|node| node.name == name).expect("a node of this name")
}

/// A datagram of an IPv6 or IPv4 flow from a host to another, as the first router gets it.
fn frame(plan: &Plan, from: usize, to: usize, is_v6: bool, port: u16) -> Packet {
    let own = &plan.nodes[from].interfaces[0];
    let address = |node: usize| {
        let nets = plan.nodes[node].interfaces[0].addresses.iter().map(ipnet::IpNet::addr);
        nets.into_iter().find(|address| address.is_ipv6() == is_v6).expect("an address of the family")
    };
    let mut frame = own.neighbors[0].1.to_vec();
    frame.extend(own.mac);
    let mut udp = [port.to_be_bytes(), [0, 9], [0, 12], [0, 0]].concat();
    udp.extend([0; 4]);
    match [address(from), address(to)] {
        [IpAddr::V4(source), IpAddr::V4(destination)] => {
            frame.extend([8, 0, 0x45, 0, 0, 32, 0, 0, 0, 0, 64, 17, 0, 0]);
            frame.extend(source.octets().into_iter().chain(destination.octets()));
            headers::complete(&mut frame);
        }
        [IpAddr::V6(source), IpAddr::V6(destination)] => {
            // A flow label as kernels draw it.
            frame.extend([0x86, 0xdd, 0x60, 7, port.to_be_bytes()[1], 9, 0, 12, 17, 64]);
            frame.extend(source.octets().into_iter().chain(destination.octets()));
        }
        _ => unreachable!("both are of one family"),
    }
    frame.extend(udp);
    Packet::from_bytes(frame.into_boxed_slice())
}

/// How many packets of so many flows from a host of the first pod to one of the last came in at each core router.
fn at_cores(plan: &Plan, is_v6: bool, flows: u16) -> Vec<u64> {
    let hosts: Vec<usize> = (0..plan.nodes.len()).filter(|node| plan.nodes[*node].kind == NodeKind::Host).collect();
    let (from, to) = (hosts[0], hosts[hosts.len() - 1]);
    let mut fabric = fabric_of(plan);
    let mut arrived = 0;
    for port in 0..flows {
        let entry = port_id(plan.nodes[from].interfaces[0].end);
        fabric.inject(Instant::ZERO, entry, frame(plan, from, to, is_v6, 1_024 + port)).expect("a link");
        while let Some(now) = fabric.next_wake() {
            fabric.advance(now, |delivery| {
                assert_eq!(delivery.port, port_id(plan.nodes[to].interfaces[0].end));
                arrived += 1;
            });
        }
    }
    assert_eq!(arrived, flows, "all arrive, and none twice");
    let counters: Vec<u64> = fabric.router_counters().map(|counters| counters.forwarded).collect();
    let transit: Vec<&str> =
        plan.nodes.iter().filter(|node| node.kind == NodeKind::Transit).map(|node| node.name.as_str()).collect();
    transit.iter().zip(counters).filter(|(name, _)| name.starts_with("core")).map(|(_, count)| count).collect()
}

/// 2,000 flows and four cores: 500 each, with a standard deviation of 19. If all routers had the same hash, the upper two would
/// choose as the lower one had, and two of the four cores would get nothing.
#[test]
fn flows_spread_over_the_cores_of_a_fat_tree() {
    for is_v6 in [false, true] {
        let cores = at_cores(&fat_tree("routes: ecmp"), is_v6, 2_000);
        assert_eq!(cores.len(), 4);
        assert!(cores.iter().all(|count| (400..=600).contains(count)), "{cores:?}");
    }
    let one: Vec<u64> = at_cores(&fat_tree("routes: shortest"), false, 100);
    assert_eq!(one.iter().filter(|count| **count == 0).count(), 3, "{one:?}");
}

#[test]
fn the_seed_decides_which_way_a_flow_takes() {
    let cores = |top: &str| at_cores(&fat_tree(top), false, 200);
    assert_eq!(cores("routes: ecmp"), cores("routes: ecmp"));
    assert_ne!(cores("routes: ecmp"), cores("routes: ecmp\nseed: 2"));
}

/// Every host of a pod reaches every other pod by all cores: two ways up at each step, and one down.
#[test]
fn routes_of_a_fat_tree_have_two_ways_up_and_one_down() {
    let plan = fat_tree("routes: ecmp");
    let far = plan.nodes[plan.nodes.len() - 1].interfaces[0].addresses[0];
    let ways = |name: &str| {
        let routes =
            plan.nodes[index(&plan, name)].routes.iter().filter(|route| route.destination.contains(&far.addr()));
        routes.count()
    };
    assert_eq!(["edge1-1", "agg1-1", "core1", "agg4-1", "core4"].map(ways), [2, 2, 1, 1, 1]);
}

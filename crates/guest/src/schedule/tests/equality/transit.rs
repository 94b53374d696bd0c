//! Random labs with transit devices: rows of routers, trees and rings of hubs and switches, media.

use super::super::NIC;
use super::super::script::{Act, Make, Reaction};
use super::{Lab, configs};
use crate::schedule::{Device, DevicePort};
use netloom_fabric::{
    DeviceSpec, HubSpec, Neighbor, NextHop, PipeSpec, PortId, RouterInterface, RouterSpec, SwitchPort, SwitchSpec,
    TreePort, TreeSpec,
};
use netloom_link::{PipeConfig, Prefix};
use netloom_packet::{Packet, Pool, VirtioHeader};
use netloom_units::{Bytes, CpuCost, Duration};
use proptest::collection::vec;
use proptest::prelude::*;
use std::net::{IpAddr, Ipv4Addr};

const MACHINES: usize = 5;
/// The first port of devices towards machines, and towards each other.
const TOWARDS_MACHINES: u32 = 10;
const BETWEEN: u32 = 20;

/// Where what one sends reaches many, numbers are below this, so that there are not too many frames.
const FLOODED: u32 = 8_000;

/// What the links are like: mostly plain ones, often without a delay.
fn models() -> impl Strategy<Value = (PipeConfig, u64)> {
    let plain =
        prop::sample::select(&["delay: 0", "delay: 1 ms", "delay: 3 ms", "rate: 100 Mbit/s", "rate: 1 Mbit/s"][..]);
    let plain = plain.prop_map(|said| {
        let (key, value) = said.split_once(": ").expect("a key");
        netloom_lab::parse_change(key, value).expect("a value").applied_to(&PipeConfig::default())
    });
    (prop_oneof![3 => plain, 1 => configs()], prop_oneof![3 => Just(0), 1 => 0..300_000_u64])
}

type Models = Vec<(PipeConfig, u64)>;
/// What each machine does by itself, and when.
type Plans = Vec<Vec<(u64, Act)>>;

/// The models of all pipes, what machines do, and at which device each machine is.
///
/// Numbers are below `most`.
fn parts(most: u32) -> impl Strategy<Value = (Models, Plans, [usize; MACHINES])> {
    let act = (prop_oneof![0..20_u64, 0..3_000_000_u64], 0..most).prop_map(|(at, number)| (at, Act::Send(NIC, number)));
    let plans = vec(vec(act, 0..8), MACHINES);
    (vec(models(), 4..20), plans, [0..4_usize, 0..4_usize, 0..4_usize, 0..4_usize, 0..4_usize])
}

/// Both directions of links between these ports, with these models in turn.
fn pipes(links: &[(u32, u32)], models: &Models) -> Vec<PipeSpec> {
    let mut models = models.iter().cycle();
    let ends = links.iter().flat_map(|(one, other)| [(*one, *other), (*other, *one)]);
    let pipe = |(from, to): (u32, u32)| {
        let (config, coalesce) = models.next().expect("there are some").clone();
        let (from, to) = (PortId(from), PortId(to));
        let coalesce = Duration::from_nanos(coalesce);
        PipeSpec { name: format!("{}-{}", from.0, to.0), config, coalesce, from, filter: None, medium: Vec::new(), to }
    };
    ends.map(pipe).collect()
}

fn lab(specs: Vec<PipeSpec>, devices: Vec<DeviceSpec>, plans: Plans, make: Make) -> Lab {
    let device_port = |machine: usize| DevicePort { machine, device: NIC, port: PortId(machine as u32) };
    let device_ports = (0..MACHINES).map(device_port).collect();
    Lab {
        specs,
        devices,
        device_ports,
        costs: vec![CpuCost::default(); MACHINES],
        plans,
        reaction: pass_on as Reaction,
        make,
    }
}

/// Passes most frames on, at once or later; numbers fall, so that all ends.
fn pass_on(seed: u64, device: Device, number: u32) -> Vec<(Duration, Act)> {
    // What bridges say.
    if number >> 16 == 0x0180 {
        return Vec::new();
    }
    let acts = super::forward(seed, device, number);
    let by_nic = |(later, act): (Duration, Act)| match act {
        Act::Send(_, sent) => (later, Act::Send(NIC, sent)),
        other => (later, other),
    };
    acts.into_iter().map(by_nic).collect()
}

fn mac(port: u32) -> [u8; 6] {
    [2, 0, 0, 0, 0, u8::try_from(port).expect("few ports")]
}

/// The addresses at both ends of the link of a machine, and of a link between routers.
fn address(link: u32, end: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, u8::try_from(link).expect("few links"), end)
}

fn subnet(link: u32) -> Prefix {
    Prefix::new(IpAddr::V4(address(link, 0)), 24).expect("no bits behind it")
}

/// Routers in a row, with machines at any of them.
pub(in crate::schedule::tests) fn routed() -> impl Strategy<Value = Lab> {
    (1..4_usize, parts(u32::MAX)).prop_map(|(count, (models, plans, at))| {
        let at = at.map(|place| place % count);
        let own = |machine: usize| machine as u32;
        let mut links: Vec<(u32, u32)> =
            (0..MACHINES).map(|machine| (own(machine), TOWARDS_MACHINES + own(machine))).collect();
        let between = (0..count - 1).map(|link| BETWEEN + 2 * own(link));
        links.extend(between.map(|port| (port, port + 1)));
        let routers = (0..count).map(|place| router(place, count, &at)).collect();
        lab(pipes(&links, &models), routers, plans, datagram)
    })
}

/// The router at a place in a row of so many, with the machines that are there. `places`: of machines.
fn router(place: usize, count: usize, places: &[usize]) -> DeviceSpec {
    let mut interfaces = Vec::new();
    let mut add = |link: u32, (port, end): (u32, u8), (other, other_end): (u32, u8)| {
        interfaces.push(RouterInterface {
            port: PortId(port),
            mac: mac(port),
            mtu: Bytes::new(1_100),
            addresses: vec![address(link, end).into()],
            is_shared: false,
            neighbors: vec![Neighbor { mac: mac(other), addresses: vec![address(link, other_end).into()] }],
            subnets: vec![subnet(link)],
        });
    };
    let machines = (0..places.len()).map(|machine| machine as u32).zip(places);
    let here: Vec<u32> = machines.clone().filter(|(_, at)| **at == place).map(|(machine, _)| machine).collect();
    here.iter().for_each(|machine| add(*machine, (TOWARDS_MACHINES + machine, 1), (*machine, 2)));
    let mut routes = Vec::new();
    let others = [(1, place.checked_sub(1)), (0, Some(place + 1).filter(|next| *next < count))];
    for (end, there) in others {
        let Some(there) = there else { continue };
        let link = place.min(there) as u32;
        let side = |which: u8| (BETWEEN + 2 * link + u32::from(which), 1 + which);
        add(BETWEEN + link, side(end), side(1 - end));
        // To the left, if there is anybody, then to the right.
        let way = NextHop::by(here.len() + usize::from(end == 0 && place > 0));
        let is_there = |at: usize| if there < place { at < place } else { at > place };
        let beyond = machines.clone().filter(|(_, at)| is_there(**at));
        routes.extend(beyond.map(|(machine, _)| (subnet(machine), way)));
    }
    DeviceSpec::Router(RouterSpec { interfaces, routes, ..RouterSpec::default() })
}

/// One of two routers that are joined, each with a machine.
pub(in super::super) fn router_of_two(place: usize) -> DeviceSpec {
    router(place, 2, &[0, 1])
}

/// A datagram of the machine of this number: to a machine, to the router, or to nobody, some with few hops to live.
pub(in super::super) fn datagram(pool: &mut Pool, machine: u64, number: u32) -> Packet {
    let own = u32::try_from(machine).expect("few machines");
    let destination = match number / 7 % 12 {
        place @ 0..8 => address(place % 5, 2),
        8 => address(own, 1),
        9 => Ipv4Addr::new(192, 0, 2, 1),
        10 => address(own, 77),
        _ => address(own, 2),
    };
    let time_to_live = [64, 64, 64, 64, 1, 2, 64, 64][number as usize / 84 % 8];
    let length = 60 + number as usize % 1_060;
    let mut frame = vec![0; 14 + length];
    frame[..6].copy_from_slice(&mac(TOWARDS_MACHINES + own));
    frame[6..12].copy_from_slice(&mac(own));
    frame[12..16].copy_from_slice(&[8, 0, 0x45, 0]);
    frame[16..18].copy_from_slice(&u16::try_from(length).expect("short").to_be_bytes());
    frame[20] = if number.is_multiple_of(2) { 0x40 } else { 0 };
    frame[22..24].copy_from_slice(&[time_to_live, 17]);
    frame[26..30].copy_from_slice(&address(own, 2).octets());
    frame[30..34].copy_from_slice(&destination.octets());
    let sum: u32 = frame[14..34].chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]]))).sum();
    let checksum = !(u16::try_from(sum % 0xffff).expect("a rest"));
    frame[24..26].copy_from_slice(&checksum.to_be_bytes());
    frame[42..46].copy_from_slice(&number.to_be_bytes());
    pool.packet(VirtioHeader::COMPLETE, &frame)
}

/// Hubs and switches in a tree, or switches with a spanning tree in a ring, with machines at any of them.
pub(in crate::schedule::tests) fn bridged() -> impl Strategy<Value = Lab> {
    (1..4_usize, 0..8_u32, any::<bool>(), parts(FLOODED)).prop_map(|(count, hubs, is_ring, (models, plans, at))| {
        let at = at.map(|place| place % count);
        let is_ring = is_ring && count == 3;
        let own = |machine: usize| machine as u32;
        let mut links: Vec<(u32, u32)> =
            (0..MACHINES).map(|machine| (own(machine), TOWARDS_MACHINES + own(machine))).collect();
        let joins = if is_ring { count } else { count - 1 };
        links.extend((0..joins).map(|link| (BETWEEN + 2 * own(link), BETWEEN + 2 * own(link) + 1)));
        let bridge = |place: usize| {
            let machines = (0..MACHINES).filter(|machine| at[*machine] == place);
            let edges: Vec<u32> = machines.map(|machine| TOWARDS_MACHINES + own(machine)).collect();
            let ends = (0..joins).flat_map(|link| [(link, link, 0), ((link + 1) % count, link, 1)]);
            let inner: Vec<u32> = ends
                .filter(|(owner, ..)| *owner == place)
                .map(|(_, link, end)| BETWEEN + 2 * own(link) + end)
                .collect();
            let ports: Vec<u32> = edges.iter().chain(&inner).copied().collect();
            if !is_ring && hubs >> place & 1 == 1 {
                return DeviceSpec::Hub(HubSpec { ports: ports.into_iter().map(PortId).collect() });
            }
            let tree_port = |port: &u32| TreePort {
                mac: mac(*port),
                cost: 20_000,
                is_edge: edges.contains(port),
                is_point_to_point: true,
            };
            let tree = TreeSpec {
                priority: 0x8000,
                address: mac(100 + own(place)),
                hello: Duration::from_secs(1),
                max_age: Duration::from_secs(20),
                forward_delay: Duration::from_secs(4),
                ports: ports.iter().map(tree_port).collect(),
            };
            let port = |port: &u32| SwitchPort { port: PortId(*port), mtu: Bytes::new(1_500) };
            DeviceSpec::Switch(SwitchSpec {
                ports: ports.iter().map(port).collect(),
                ageing: Duration::from_millis(5),
                capacity: 4,
                tree: is_ring.then_some(tree),
                ..SwitchSpec::default()
            })
        };
        let mut specs = pipes(&links, &models);
        // What goes round has to be limited.
        let slow = netloom_lab::parse_change("rate", "10 Mbit/s").expect("a rate");
        for spec in specs.iter_mut().filter(|spec| is_ring && spec.from.0 >= BETWEEN) {
            spec.config = slow.applied_to(&spec.config);
            spec.config.schedule = PipeConfig::default().schedule;
        }
        lab(specs, (0..count).map(bridge).collect(), plans, bridged_frame)
    })
}

/// A frame of the machine of this number to another one or to all.
fn bridged_frame(pool: &mut Pool, machine: u64, number: u32) -> Packet {
    let own = u32::try_from(machine).expect("few machines");
    let mut frame = vec![0; 60 + number as usize % 1_060];
    let destination = match number / 7 % 8 {
        place @ 0..5 => mac(place),
        5 => mac(99),
        _ => [0xff; 6],
    };
    frame[..6].copy_from_slice(&destination);
    frame[6..12].copy_from_slice(&mac(own));
    frame[12..14].copy_from_slice(&[0x88, 0xb5]);
    frame[14..18].copy_from_slice(&number.to_be_bytes());
    pool.packet(VirtioHeader::COMPLETE, &frame)
}

/// Machines at a shared medium, of which one has a link to another machine.
pub(in crate::schedule::tests) fn shared() -> impl Strategy<Value = Lab> {
    parts(FLOODED).prop_map(|(models, plans, _)| {
        let mut specs = pipes(&[(3, 4)], &models);
        let medium: Vec<PortId> = (0..3).map(PortId).collect();
        let (config, coalesce) = models[2].clone();
        let (from, to) = (PortId(0), PortId(1));
        let coalesce = Duration::from_nanos(coalesce);
        specs.push(PipeSpec { name: "medium".into(), config, coalesce, from, filter: None, medium, to });
        lab(specs, Vec::new(), plans, bridged_frame)
    })
}

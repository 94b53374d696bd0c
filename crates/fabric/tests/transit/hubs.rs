//! Hubs: what comes in at one port goes out at all others, once, whole, and without a copy.

use crate::network::{RECEIVER, SENDER, all, mac, plain, stream};
use crate::player::{Event, Network, assert_same};
use netloom_fabric::{
    Cuts, Delivery, DeviceSpec, Fabric, HubSpec, Neighbor, NextHop, Partition, PipeSpec, PortId, RouterInterface,
    RouterSpec, Shard, shards,
};
use netloom_link::{DelayConfig, PipeConfig, Prefix};
use netloom_packet::{Packet, Pool};
use netloom_testing::streams::{accepts, written};
use netloom_units::{Bytes, Duration, Instant, Seed};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::net::{IpAddr, Ipv4Addr};

const MS: Duration = Duration::from_millis(1);
pub(crate) const SEED: Seed = Seed::new(7);

/// Both pipes of a link between two ports.
pub(crate) fn link(ports: [u32; 2], delay: Duration) -> [PipeSpec; 2] {
    let pipe = |from, to| PipeSpec {
        name: format!("{from}"),
        config: PipeConfig { delay: DelayConfig::constant(delay), ..PipeConfig::default() },
        coalesce: Duration::ZERO,
        from: PortId(from),
        filter: None,
        medium: Vec::new(),
        to: PortId(to),
    };
    [pipe(ports[0], ports[1]), pipe(ports[1], ports[0])]
}

/// Devices that form a tree, here hubs, and hosts around them. Link l has the ports 2 l and 2 l + 1, of which the first is the
/// host's, or the child's.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    /// By host: its hub, and how far away that is.
    pub(crate) hosts: Vec<(usize, Duration)>,
    /// By hub but the first: its parent, and how far away that is.
    parents: Vec<(usize, Duration)>,
}

/// A super-packet of a host: when, and how much payload.
#[derive(Clone, Debug)]
pub(crate) struct Sending {
    host: usize,
    payload: usize,
}

pub(crate) fn trees() -> impl Strategy<Value = Tree> {
    let far = || (0..3_000_u64).prop_map(Duration::from_micros);
    (vec((any::<prop::sample::Index>(), far()), 0..5), vec((any::<prop::sample::Index>(), far()), 1..7)).prop_map(
        |(parents, hosts)| {
            let hubs = parents.len() + 1;
            let parents = parents.into_iter().enumerate();
            Tree {
                parents: parents.map(|(hub, (pick, delay))| (pick.index(hub + 1), delay)).collect(),
                hosts: hosts.into_iter().map(|(pick, delay)| (pick.index(hubs), delay)).collect(),
            }
        },
    )
}

fn sendings(tree: &Tree) -> impl Strategy<Value = Vec<(Instant, Event<Sending>)>> + use<> {
    let one = (0..3_000_000_u64, 0..tree.hosts.len(), 1..6_000_usize);
    vec(one, 1..20).prop_map(|mut sent| {
        sent.sort_unstable();
        let event = |(at, host, payload)| (Instant::from_nanos(at), Event::Send(Sending { host, payload }));
        sent.into_iter().map(event).collect()
    })
}

impl Tree {
    pub(crate) fn pipes(&self) -> Vec<PipeSpec> {
        let delays = self.hosts.iter().chain(&self.parents).map(|(_, delay)| *delay);
        delays.zip(0..).flat_map(|(delay, number)| link([2 * number, 2 * number + 1], delay)).collect()
    }

    /// The ports of each device.
    pub(crate) fn ports(&self) -> Vec<Vec<PortId>> {
        let mut ports = vec![Vec::new(); self.parents.len() + 1];
        for ((hub, _), number) in self.hosts.iter().chain(&self.parents).zip(0..) {
            ports[*hub].push(PortId(2 * number + 1));
        }
        for (child, own) in ports[1..].iter_mut().zip(self.hosts.len()..) {
            child.push(PortId(u32::try_from(2 * own).unwrap()));
        }
        ports
    }

    fn hubs(&self) -> Vec<DeviceSpec> {
        self.ports().into_iter().map(|ports| DeviceSpec::Hub(HubSpec { ports })).collect()
    }

    /// The hubs from here to the root, each with how far it is.
    fn upwards(&self, host: usize) -> Vec<(usize, Duration)> {
        let (mut hub, mut far) = self.hosts[host];
        let mut way = vec![(hub, far)];
        while hub > 0 {
            let (parent, delay) = self.parents[hub - 1];
            (hub, far) = (parent, far + delay);
            way.push((hub, far));
        }
        way
    }

    /// How long a packet takes from one host to another: up to the first hub that they share, and down.
    pub(crate) fn distance(&self, one: usize, other: usize) -> Duration {
        let there = self.upwards(other);
        let meeting = |(hub, far): (usize, Duration)| {
            let (_, beyond) = there.iter().find(|(same, _)| *same == hub)?;
            Some(far + *beyond)
        };
        self.upwards(one).into_iter().find_map(meeting).unwrap()
    }

    fn fabric(&self) -> Fabric {
        let pipes = self.pipes();
        Fabric::new(SEED, &pipes).with_devices(&pipes, &self.hubs())
    }

    /// When each packet must be where: instant, port, number.
    fn wanted(&self, events: &[(Instant, Event<Sending>)]) -> Vec<(Instant, u32, usize)> {
        let mut wanted = Vec::new();
        for (number, (at, event)) in events.iter().enumerate() {
            let Event::Send(Sending { host, .. }) = event else { unreachable!("nothing changes") };
            let others = (0..self.hosts.len()).filter(|other| other != host);
            wanted.extend(
                others.map(|other| (*at + self.distance(*host, other), u32::try_from(2 * other).unwrap(), number)),
            );
        }
        wanted.sort_unstable();
        wanted
    }
}

impl Network for Tree {
    type Load = Sending;
    type Record = (u32, Vec<u8>, u32, Instant);

    fn fabric(&self) -> Fabric {
        self.fabric()
    }

    fn packet(&self, pool: &mut Pool, number: usize, load: &Sending) -> (PortId, Packet) {
        let (virtio, frame) = stream(false, u16::try_from(number).unwrap(), load.payload).super_packet();
        (PortId(u32::try_from(2 * load.host).unwrap()), pool.packet(virtio, &frame))
    }

    fn record(delivery: &Delivery) -> Self::Record {
        let Delivery { port, departure, .. } = delivery;
        (port.0, written(&departure.packet).1, departure.packet.segments(), departure.due)
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(7),
        ..ProptestConfig::default()
    })]

    /// Every host but the sender gets every train once, whole, after the way between both; all have one buffer, and it
    /// comes back.
    #[test]
    fn everybody_else_hears_everything((tree, events) in trees().prop_flat_map(|tree| (Just(tree.clone()), sendings(&tree)))) {
        let (mut fabric, mut pool) = (tree.fabric(), Pool::new(0, 0));
        let (mut sent, mut heard) = (Vec::new(), Vec::new());
        let mut note = |delivery: Delivery| heard.push((delivery.departure.due, delivery.port.0, delivery.departure.packet));
        for (number, (at, event)) in events.iter().enumerate() {
            let Event::Send(sending) = event else { unreachable!("nothing changes") };
            let (port, packet) = tree.packet(&mut pool, number, sending);
            sent.push(packet.duplicate());
            fabric.advance(*at, &mut note);
            fabric.inject(*at, port, packet).unwrap();
        }
        fabric.advance(Instant::MAX, &mut note);
        let mut got = Vec::new();
        for (due, port, packet) in heard {
            let number = sent.iter().position(|own| own.bytes().as_ptr() == packet.bytes().as_ptr());
            let number = number.expect("the very buffer that was sent");
            prop_assert_eq!(packet.segments(), sent[number].segments());
            prop_assert_eq!(packet.hops(), 0);
            got.push((due, port, number));
            pool.recycle(packet);
        }
        got.sort_unstable();
        prop_assert_eq!(got, tree.wanted(&events));
        let count = sent.len();
        prop_assert_eq!(come_back(&mut fabric, &mut pool, sent), count);
    }

    #[test]
    fn ahead_of_time_is_on_time((tree, events) in trees().prop_flat_map(|tree| (Just(tree.clone()), sendings(&tree)))) {
        assert_same(&tree, &events, MS * 100);
    }

    #[test]
    fn shards_do_what_the_whole_does((tree, events) in trees().prop_flat_map(|tree| (Just(tree.clone()), sendings(&tree)))) {
        let (pipes, hubs) = (tree.pipes(), tree.hubs());
        let partition = Partition::new(&pipes, &hubs, 3, Cuts::WhereDelayed, |_| false);
        let mut pool = Pool::default();
        let packet = |(number, (at, event)): (usize, &(Instant, Event<Sending>))| {
            let Event::Send(sending) = event else { unreachable!("nothing changes") };
            (*at, tree.packet(&mut pool, number, sending))
        };
        let packets = events.iter().enumerate().map(packet).collect();
        let got = play(shards(SEED, &pipes, &hubs, &partition), packets);
        prop_assert_eq!(got, tree.wanted(&events));
    }
}

/// How many buffers are back in the pool, which keeps none, when nobody owns a part of these packets any more.
pub(crate) fn come_back(fabric: &mut Fabric, pool: &mut Pool, sent: Vec<Packet>) -> usize {
    sent.into_iter().for_each(|packet| pool.recycle(packet));
    fabric.recycle(pool);
    std::iter::from_fn(|| pool.take_surplus()).count()
}

/// What comes out, when and where, of shards that are played together, instant by instant, into which these packets are sent.
/// Each is identified by its place among them, and must come out in its own buffer.
pub(crate) fn play(mut shards: Vec<Shard>, packets: Vec<(Instant, (PortId, Packet))>) -> Vec<(Instant, u32, usize)> {
    let sent: Vec<Packet> = packets.iter().map(|(_, (_, packet))| packet.duplicate()).collect();
    let mut packets = packets.into_iter().peekable();
    let mut got = Vec::new();
    loop {
        let next = shards.iter().filter_map(|shard| shard.fabric.next_wake()).min();
        if let Some((at, (port, packet))) = packets.next_if(|(at, _)| next.is_none_or(|next| *at <= next)) {
            let is_there = |shard: &&mut Shard| shard.ports.is_empty() || shard.ports.contains(&port);
            shards.iter_mut().find(is_there).unwrap().fabric.inject(at, port, packet).unwrap();
            continue;
        }
        let Some(now) = next else { break };
        let mut crossing = Vec::new();
        for Shard { fabric, borders, .. } in &mut shards {
            fabric.advance(now, |Delivery { pipe, port, departure }| {
                if let Some(border) = borders.iter().find(|border| border.pipe == pipe) {
                    return crossing.push((border.shard, border.inlet, departure));
                }
                let number = sent.iter().position(|own| own.bytes().as_ptr() == departure.packet.bytes().as_ptr());
                got.push((departure.due, port.0, number.expect("the very buffer that was sent")));
            });
        }
        crossing.into_iter().for_each(|(shard, inlet, departure)| shards[shard].fabric.cross(inlet, departure));
    }
    got.sort_unstable();
    got
}

/// A sender behind a router, a receiver behind another, and two hosts: the routers and the hosts are at one hub. The links
/// of ports 2 n and 2 n + 1 are those of the hosts (0 and 1), of the routers (2 and 3), of sender and receiver (4 and 5).
fn lan() -> Fabric {
    let pipes: Vec<PipeSpec> = (0..6).flat_map(|number| link([2 * number, 2 * number + 1], MS)).collect();
    let neighbor = |(port, address): (u32, Ipv4Addr)| Neighbor { mac: mac(port), addresses: vec![address.into()] };
    let subnet = |address: Ipv4Addr| Prefix::new(Ipv4Addr::from_bits(address.to_bits() & !0xff).into(), 24).unwrap();
    let interface = |own: (u32, Ipv4Addr), others: &[(u32, Ipv4Addr)]| RouterInterface {
        port: PortId(own.0),
        mac: mac(own.0),
        mtu: Bytes::new(1_500),
        addresses: vec![IpAddr::V4(own.1)],
        is_shared: others.len() > 1,
        neighbors: others.iter().copied().map(neighbor).collect(),
        subnets: vec![subnet(own.1)],
    };
    let [first, second, near, far] = [(0, 1), (2, 2), (4, 3), (6, 4)].map(|(port, host)| (port, on_lan(host)));
    let (sender, receiver) = ((8, SENDER), (10, RECEIVER));
    let [before, behind] = [(9, Ipv4Addr::new(10, 0, 0, 254)), (11, Ipv4Addr::new(10, 255, 3, 254))];
    let left = RouterSpec {
        interfaces: vec![interface(near, &[first, second, far]), interface(before, &[sender])],
        routes: vec![(subnet(RECEIVER), NextHop { interface: 0, neighbor: 2 })],
        ..RouterSpec::default()
    };
    let right = RouterSpec {
        interfaces: vec![interface(far, &[first, second, near]), interface(behind, &[receiver])],
        routes: vec![(subnet(SENDER), NextHop { interface: 0, neighbor: 2 })],
        ..RouterSpec::default()
    };
    let hub = HubSpec { ports: [1, 3, 5, 7].map(PortId).to_vec() };
    let devices = [DeviceSpec::Router(left), DeviceSpec::Hub(hub), DeviceSpec::Router(right)];
    Fabric::new(SEED, &pipes).with_devices(&pipes, &devices)
}

fn on_lan(host: u8) -> Ipv4Addr {
    Ipv4Addr::new(172, 16, 0, host)
}

/// On a link that is shared, a packet bears the addresses of the neighbour that it is for: only that one takes it.
#[test]
fn a_router_finds_its_neighbour_by_address() {
    for count in [1, 3] {
        let mut fabric = lan();
        let (virtio, mut frame) = stream(false, 9, 1_000 * count).super_packet();
        frame[..6].copy_from_slice(&mac(9));
        frame[6..12].copy_from_slice(&mac(8));
        let mut pool = Pool::default();
        let packet = pool.packet(virtio, &frame);
        // As by a capture: the bytes are somebody else's, too.
        let held = packet.duplicate();
        fabric.inject(Instant::ZERO, PortId(8), packet).unwrap();
        let out = all(&mut fabric);
        let at = |links: u64| Instant::ZERO + MS * links;
        let seen: Vec<_> = out.iter().map(|(due, port, own)| (*due, port.0, own.segments())).collect();
        let segments = u32::try_from(count).unwrap();
        assert_eq!(seen, [(at(3), 0, segments), (at(3), 2, segments), (at(4), 10, segments)]);
        let frames: Vec<Vec<u8>> = out.iter().map(|(_, _, own)| written(own).1).collect();
        assert_eq!((&frames[0][..6], &frames[0][6..12], frames[0][22]), (&mac(6)[..], &mac(4)[..], 63));
        assert_eq!(frames[1], frames[0]);
        assert_eq!((&frames[2][..6], &frames[2][6..12], frames[2][22]), (&mac(10)[..], &mac(11)[..], 62));
        assert_eq!(frames[2][34..], frame[34..]);
        assert_eq!(held.bytes(), &frame[..]);
        let forwarded: Vec<u64> = fabric.router_counters().map(|counters| counters.forwarded).collect();
        assert_eq!(forwarded, [u64::from(segments); 2], "either router passed it on once");
    }
}

/// Hosts at the hub ask both routers at once; who is asked for answers whoever asked.
#[test]
fn the_one_that_is_asked_for_answers_who_asks() {
    let mut fabric = lan();
    for (port, host) in [(0, 1), (2, 2)] {
        let asked = [&[0xff; 6][..], &mac(port), &[8, 6, 0, 1, 8, 0, 6, 4, 0, 1], &mac(port), &on_lan(host).octets()];
        let request = [&asked.concat()[..], &[0; 6], &on_lan(4).octets()].concat();
        let now = fabric.next_wake().unwrap_or(Instant::ZERO);
        fabric.inject(now, PortId(port), plain(&mut Pool::default(), &request)).unwrap();
        let out = all(&mut fabric);
        let answers: Vec<_> = out.iter().filter(|(_, _, packet)| packet.bytes()[21] == 2).collect();
        assert_eq!(answers.iter().map(|(_, to, _)| to.0).collect::<Vec<_>>(), [0, 2], "a hub sends them to all");
        for (_, _, answer) in answers {
            assert_eq!((&answer.bytes()[..6], &answer.bytes()[22..28]), (&mac(port)[..], &mac(6)[..]));
        }
    }
    let answered: Vec<u64> = fabric.router_counters().map(|counters| counters.answered).collect();
    assert_eq!(answered, [0, 2]);
}

/// A host reaches another network through the router that it chose, and the others only hear it.
#[test]
fn what_is_for_another_router_is_left_alone() {
    let mut fabric = lan();
    let mut frame = stream(false, 1, 500).wire().remove(0);
    frame[..6].copy_from_slice(&mac(6));
    frame[6..12].copy_from_slice(&mac(0));
    assert!(accepts(&frame));
    fabric.inject(Instant::ZERO, PortId(0), plain(&mut Pool::default(), &frame)).unwrap();
    let ports: Vec<u32> = all(&mut fabric).iter().map(|(_, port, _)| port.0).collect();
    assert_eq!(ports, [2, 10]);
    let counters: Vec<_> = fabric.router_counters().map(|own| (own.forwarded, own.ignored)).collect();
    assert_eq!(counters, [(0, 1), (1, 0)]);
}

/// As many as 16 bits cannot count: a router may have several interfaces in large networks.
#[test]
fn a_router_reaches_the_last_of_very_many_neighbours() {
    const COUNT: u32 = 70_000;
    let address = |number: u32| IpAddr::from(Ipv4Addr::from_bits(172 << 24 | 16 << 16 | number));
    let mac_of = |number: u32| u64::from(number + 1).to_be_bytes()[2..].try_into().unwrap();
    let neighbor = |number: u32| Neighbor { mac: mac_of(number), addresses: vec![address(number)] };
    let interface = |own: u32, neighbors: Vec<Neighbor>| RouterInterface {
        port: PortId(own),
        mac: mac(own),
        mtu: Bytes::new(1_500),
        addresses: Vec::new(),
        is_shared: neighbors.len() > 1,
        neighbors,
        subnets: Vec::new(),
    };
    let sender = Neighbor { mac: mac(0), addresses: vec![SENDER.into()] };
    let everybody = Prefix::new(Ipv4Addr::UNSPECIFIED.into(), 0).unwrap();
    let spec = RouterSpec {
        interfaces: vec![interface(1, vec![sender]), interface(2, (0..COUNT).map(neighbor).collect())],
        routes: vec![(everybody, NextHop { interface: 1, neighbor: COUNT as usize - 1 })],
        ..RouterSpec::default()
    };
    let pipes: Vec<PipeSpec> = [link([0, 1], MS), link([2, 3], MS)].concat();
    let mut fabric = Fabric::new(SEED, &pipes).with_devices(&pipes, &[DeviceSpec::Router(spec)]);
    let mut frame = stream(false, 1, 100).wire().remove(0);
    frame[..6].copy_from_slice(&mac(1));
    fabric.inject(Instant::ZERO, PortId(0), plain(&mut Pool::default(), &frame)).unwrap();
    let out = all(&mut fabric);
    assert_eq!(out.iter().map(|(_, port, _)| port.0).collect::<Vec<_>>(), [3]);
    assert_eq!(out[0].2.bytes()[..6], mac_of(COUNT - 1));
}

#[test]
#[should_panic(expected = "what hubs and switches repeat would come back for ever")]
fn hubs_in_a_loop_are_refused() {
    let pipes: Vec<PipeSpec> = [link([0, 1], MS), link([2, 3], MS)].concat();
    let hub = |ports: [u32; 2]| DeviceSpec::Hub(HubSpec { ports: ports.map(PortId).to_vec() });
    let _ = Fabric::new(SEED, &pipes).with_devices(&pipes, &[hub([0, 2]), hub([1, 3])]);
}

//! Spanning trees: random networks of switches come to exactly one tree, before and after a cut, and no frame is repeated.

use crate::hubs::link;
use crate::network::{mac, plain, stream};
use crate::player::{Event, Network, assert_same};
use netloom_fabric::{
    Cuts, Delivery, DeviceSpec, Fabric, HubSpec, Partition, PipeId, PipeSpec, Place, PortId, PortRole, PortState,
    PortVlans, Shard, SwitchCounters, SwitchPort, SwitchSpec, TreePort, TreeSpec, shards,
};
use netloom_fuzz::fuzz;
use netloom_link::RateConfig;
use netloom_packet::{Packet, Pool};
use netloom_units::{Bytes, Duration, Instant, Rate, Seed};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

const SEED: Seed = Seed::new(7);
const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);
/// Between bridges that answer one another a tree is made in some round trips. What was heard of a root that is gone goes round
/// in what is left of loops until it is too old, and each round takes a second (Elmeleegy, Cox and Ng 2006).
const SOON: Duration = Duration::from_secs(30);
/// Where several bridges share a link, they wait: for the age of what they heard, and then until they may forward.
const LATE: Duration = Duration::from_secs(60);

/// What is between the hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A switch that takes part in the tree, of this priority.
    Tree(u16),
    Plain,
    Hub,
}

/// Devices with a host at each, joined anyhow. Link h is that of host h, with the host at its even port; those between devices
/// follow.
#[derive(Clone, Debug)]
struct Net {
    kinds: Vec<Kind>,
    /// Two devices, the way in microseconds, and the rate in Mbit/s.
    links: Vec<([usize; 2], u64, u64)>,
    has_vlans: bool,
}

fn nets(others: bool) -> impl Strategy<Value = Net> {
    let kinds = vec((0..16_u16).prop_map(|priority| Kind::Tree(priority << 12)), 2..8);
    // Others join switches with trees, and never each other.
    let cable = (prop_oneof![Just(Kind::Plain), Just(Kind::Hub)], vec(any::<prop::sample::Index>(), 1..4));
    let others = vec(cable, if others { 0..3 } else { 0..1 });
    let more = vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..8);
    let models = vec((0..5_000_u64, prop_oneof![Just(10_u64), Just(100), Just(1_000)]), 1..20);
    (kinds, others, more, models, any::<bool>()).prop_map(|(mut kinds, others, more, models, has_vlans)| {
        let count = kinds.len();
        let mut ends: Vec<[usize; 2]> = Vec::new();
        for (one, other) in more.iter().map(|(one, other)| (one.index(count), other.index(count))) {
            ends.extend((one != other).then_some([one, other]));
        }
        for (kind, picks) in others {
            ends.extend(picks.iter().map(|pick| [pick.index(count), kinds.len()]));
            kinds.push(kind);
        }
        let models = models.into_iter().cycle();
        let links = ends.into_iter().zip(models).map(|(ends, (delay, rate))| (ends, delay, rate)).collect();
        Net { kinds, links, has_vlans }
    })
}

impl Net {
    fn hosts(&self) -> usize {
        self.kinds.len()
    }

    fn pipes(&self) -> Vec<PipeSpec> {
        let of_hosts = (0..self.hosts()).map(|_| (10, 1_000));
        let models = of_hosts.chain(self.links.iter().map(|(_, delay, rate)| (*delay, *rate)));
        let mut pipes = Vec::new();
        for ((delay, rate), number) in models.zip(0..) {
            let mut both = link([2 * number, 2 * number + 1], Duration::from_micros(delay));
            for pipe in &mut both {
                let rate = Rate::from_bits_per_second(rate * 1_000_000).expect("a rate");
                pipe.config.rate = RateConfig::Constant(rate);
            }
            pipes.extend(both);
        }
        pipes
    }

    /// The ports of a device: each with the device at the other end, or none if that is a host, and the rate.
    fn ports(&self, device: usize) -> Vec<(PortId, Option<usize>, u64)> {
        let port = |link: usize, end: usize| PortId(u32::try_from(2 * link + end).unwrap());
        let mut ports = vec![(port(device, 1), None, 1_000)];
        for (place, ([one, other], _, rate)) in self.links.iter().enumerate() {
            let link = self.hosts() + place;
            ports.extend((*one == device).then_some((port(link, 0), Some(*other), *rate)));
            ports.extend((*other == device).then_some((port(link, 1), Some(*one), *rate)));
        }
        ports
    }

    fn devices(&self) -> Vec<DeviceSpec> {
        (0..self.kinds.len()).map(|device| self.device(device)).collect()
    }

    fn device(&self, device: usize) -> DeviceSpec {
        let ports = self.ports(device);
        let switch_ports = ports.iter().map(|(port, ..)| SwitchPort { port: *port, mtu: Bytes::new(1_500) }).collect();
        let is_direct = |other: Option<usize>| other.is_none_or(|other| matches!(self.kinds[other], Kind::Tree(_)));
        let tree = |priority: u16| TreeSpec {
            priority,
            address: mac(ports[0].0.0),
            hello: SECOND * 2,
            max_age: SECOND * 20,
            forward_delay: SECOND * 15,
            ports: ports
                .iter()
                .map(|(port, other, rate)| TreePort {
                    mac: mac(port.0),
                    cost: u32::try_from(20_000_000 / rate).unwrap(),
                    is_edge: other.is_none(),
                    is_point_to_point: is_direct(*other),
                })
                .collect(),
        };
        // Hosts in two VLANs, and both of them on all links between devices.
        let vlans = ports.iter().map(|(_, other, _)| match other {
            None => PortVlans { untagged: Some(10 + u16::try_from(device % 2).unwrap()), tagged: Vec::new() },
            Some(_) => PortVlans { untagged: None, tagged: vec![10, 11] },
        });
        let vlans = if self.has_vlans { vlans.collect() } else { Vec::new() };
        let spec =
            SwitchSpec { ports: switch_ports, ageing: SECOND * 300, capacity: 100, vlans, ..SwitchSpec::default() };
        match self.kinds[device] {
            Kind::Tree(priority) => DeviceSpec::Switch(SwitchSpec { tree: Some(tree(priority)), ..spec }),
            Kind::Plain => DeviceSpec::Switch(spec),
            Kind::Hub => DeviceSpec::Hub(HubSpec { ports: ports.iter().map(|(port, ..)| *port).collect() }),
        }
    }

    /// Whether these two hear each other, if they can.
    fn are_mates(&self, one: usize, other: usize) -> bool {
        // A host at a hub speaks without a tag, and is heard by nobody who looks at tags, but by those at the hub.
        !self.has_vlans || one % 2 == other % 2
    }

    fn fabric(&self) -> Fabric {
        let pipes = self.pipes();
        Fabric::new(SEED, &pipes).with_devices(&pipes, &self.devices())
    }

    fn frame(&self, host: usize, number: usize) -> Packet {
        let mut frame = stream(false, u16::try_from(number).unwrap(), 100).wire().remove(0);
        frame[..6].fill(0xff);
        frame[6..12].copy_from_slice(&mac(u32::try_from(2 * host).unwrap()));
        plain(&mut Pool::default(), &frame)
    }

    /// Which devices can reach each other, by a number that they share, over links that are not cut and that `is_open` says.
    fn sets(&self, cut: Option<usize>, is_open: impl Fn(usize) -> bool) -> Vec<usize> {
        let mut sets: Vec<usize> = (0..self.kinds.len()).collect();
        for (place, ([one, other], ..)) in self.links.iter().enumerate() {
            if cut != Some(place) && is_open(place) {
                let (one, other) = (sets[*one], sets[*other]);
                sets.iter_mut().filter(|set| **set == other).for_each(|set| *set = one);
            }
        }
        sets
    }
}

/// By device, what is counted at its ports; nothing for hubs.
fn counted(net: &Net, fabric: &Fabric) -> Vec<Vec<SwitchCounters>> {
    let mut switches = fabric.switch_counters().map(<[_]>::to_vec);
    let of = |kind: &Kind| if *kind == Kind::Hub { Vec::new() } else { switches.next().expect("one for each") };
    net.kinds.iter().map(of).collect()
}

/// All forwarding links form one tree for all that can reach each other, whose root is the best of them.
fn assert_trees(net: &Net, fabric: &Fabric, cut: Option<usize>) {
    let ports = counted(net, fabric);
    let forwards = |device: usize, link: usize| {
        let own = PortId(u32::try_from(2 * (net.hosts() + link)).unwrap());
        let place = net.ports(device).iter().position(|(port, ..)| port.0 | 1 == own.0 | 1).expect("its port");
        let tree = ports[device].get(place).and_then(|counted| counted.tree);
        tree.is_none_or(|tree| tree.state == PortState::Forwarding)
    };
    let is_open = |link: usize| net.links[link].0.iter().all(|device| forwards(*device, link));
    let (whole, open) = (net.sets(cut, |_| true), net.sets(cut, is_open));
    for one in 0..net.kinds.len() {
        for other in 0..one {
            assert_eq!(
                whole[one] == whole[other],
                open[one] == open[other],
                "{one} and {other} of {net:?}: {ports:#?}"
            );
        }
    }
    let mut parts = whole.clone();
    parts.sort_unstable();
    parts.dedup();
    let count = (0..net.links.len()).filter(|link| cut != Some(*link) && is_open(*link)).count();
    assert_eq!(count, net.kinds.len() - parts.len(), "a tree of {net:?}");
    for part in parts {
        let own = (0..net.kinds.len()).filter(|device| whole[*device] == part);
        let bridges = own.filter_map(|device| match net.kinds[device] {
            Kind::Tree(priority) => Some(((priority, mac(net.ports(device)[0].0.0)), device)),
            Kind::Plain | Kind::Hub => None,
        });
        let bridges: Vec<_> = bridges.collect();
        let best = bridges.iter().min().map(|(_, device)| *device);
        let is_root = |device: usize| {
            let mut roles = ports[device].iter().filter_map(|counted| counted.tree).map(|tree| tree.role);
            !roles.any(|role| role == PortRole::Root)
        };
        let roots: Vec<usize> = bridges.iter().map(|(_, device)| *device).filter(|device| is_root(*device)).collect();
        assert_eq!(roots, best.into_iter().collect::<Vec<_>>());
    }
}

fn is_bpdu(packet: &Packet) -> bool {
    packet.bytes().starts_with(&[1, 0x80, 0xc2, 0, 0, 0])
}

/// Each host in turn speaks to everybody: all who can hear it do so once.
fn assert_heard_once(net: &Net, fabric: &mut Fabric, from: Instant, cut: Option<usize>) {
    let sets = net.sets(cut, |_| true);
    for host in 0..net.hosts() {
        let now = from + MS * (200 * host as u64);
        fabric.advance(now, |_| {});
        fabric.inject(now, PortId(u32::try_from(2 * host).unwrap()), net.frame(host, host)).unwrap();
        let mut heard = Vec::new();
        fabric.advance(now + MS * 199, |Delivery { port, departure, .. }| {
            if !is_bpdu(&departure.packet) {
                assert_eq!(departure.packet.vlan_tag(), None, "no tag reaches a host");
                heard.push(port.0 as usize / 2);
            }
        });
        heard.sort_unstable();
        let others = (0..net.hosts()).filter(|other| *other != host && sets[*other] == sets[host]);
        let mates: Vec<usize> = others.filter(|other| net.are_mates(host, *other)).collect();
        assert_eq!(heard, mates, "host {host} of {net:?}");
    }
}

fn set_up(net: &Net, fabric: &mut Fabric, now: Instant, link: usize, is_up: bool) {
    let first = u32::try_from(2 * (net.hosts() + link)).unwrap();
    fabric.advance(now, |_| {});
    [first, first + 1].into_iter().for_each(|pipe| fabric.set_up(now, PipeId(pipe), is_up));
}

/// A tree, and again one after a cut of some link, and when that is mended.
fn play(net: &Net, pick: prop::sample::Index, patience: Duration) {
    let mut fabric = net.fabric();
    let mut now = Instant::ZERO + patience;
    fabric.advance(now, |_| {});
    assert_trees(net, &fabric, None);
    assert_heard_once(net, &mut fabric, now, None);
    if net.links.is_empty() {
        return;
    }
    let cut = pick.index(net.links.len());
    for is_up in [false, true] {
        now = now + SECOND * 10;
        set_up(net, &mut fabric, now, cut, is_up);
        now = now + patience;
        fabric.advance(now, |_| {});
        let cut = (!is_up).then_some(cut);
        assert_trees(net, &fabric, cut);
        assert_heard_once(net, &mut fabric, now, cut);
    }
    let bad: u64 = counted(net, &fabric).iter().flatten().map(|port| port.malformed_bpdus).sum();
    assert_eq!(bad, 0);
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(7),
        ..ProptestConfig::default()
    })]

    #[test]
    fn switches_come_to_one_tree(net in nets(false), pick: prop::sample::Index) {
        play(&net, pick, SOON);
    }

    #[test]
    fn hubs_and_switches_without_a_tree_are_cables(net in nets(true), pick: prop::sample::Index) {
        play(&Net { has_vlans: false, ..net }, pick, LATE);
    }
}

/// The same frames leave at the same instants, however it is played.
impl Network for Net {
    type Load = usize;
    type Record = (u32, Vec<u8>, Instant);

    fn fabric(&self) -> Fabric {
        self.fabric()
    }

    fn packet(&self, _: &mut Pool, number: usize, host: &usize) -> (PortId, Packet) {
        (PortId(u32::try_from(2 * host).unwrap()), self.frame(*host, number))
    }

    fn record(delivery: &Delivery) -> Self::Record {
        let Delivery { port, departure, .. } = delivery;
        (port.0, departure.packet.bytes().to_vec(), departure.due)
    }
}

/// A network, hosts that speak, and a link that is cut and mended.
fn cases() -> impl Strategy<Value = (Net, Vec<(Instant, Event<usize>)>)> {
    let sent = vec((0..30_000_u64, any::<prop::sample::Index>()), 1..40);
    (nets(true), sent, any::<prop::sample::Index>()).prop_map(|(net, mut sent, pick)| {
        sent.sort_unstable_by_key(|(at, _)| *at);
        let send = |(at, host): &(u64, prop::sample::Index)| (*at, Event::Send(host.index(net.hosts())));
        let mut events: Vec<(u64, Event<usize>)> = sent.iter().map(send).collect();
        if !net.links.is_empty() {
            let first = u32::try_from(2 * (net.hosts() + pick.index(net.links.len()))).unwrap();
            for (at, is_up) in [(10_000, false), (20_000, true)] {
                events.extend([first, first + 1].map(|pipe| (at, Event::Up(PipeId(pipe), is_up))));
            }
        }
        events.sort_by_key(|(at, _)| *at);
        (net, events.into_iter().map(|(at, event)| (Instant::ZERO + MS * at, event)).collect())
    })
}

/// Who gets what, and when, in shards that are played together, instant by instant; and what the switches count.
fn play_shards(mut parts: Vec<Shard>, net: &Net, events: &[(Instant, Event<usize>)], end: Instant) -> Played {
    let mut played = Played::default();
    let mut events = events.iter().enumerate().peekable();
    loop {
        let next = parts.iter().filter_map(|shard| shard.fabric.next_wake()).min();
        if let Some((number, (at, event))) = events.next_if(|(_, (at, _))| next.is_none_or(|next| *at <= next)) {
            happen(&mut parts, net, number, *at, event);
            continue;
        }
        let Some(now) = next.filter(|now| *now < end) else { break };
        let mut crossing = Vec::new();
        // What crosses at this instant takes its turn among all that happens then.
        for Shard { fabric, borders, .. } in &mut parts {
            for border in borders {
                let mut cross = |delivery: Delivery| crossing.push((border.shard, border.inlet, delivery.departure));
                fabric.take_certain(now, border.pipe, now + Duration::from_nanos(1), &mut cross);
            }
        }
        crossing.into_iter().for_each(|(shard, inlet, departure)| parts[shard].fabric.cross(inlet, departure));
        for Shard { fabric, .. } in &mut parts {
            fabric.advance(now, |Delivery { port, departure, .. }| {
                played.heard.push((departure.due, port.0, departure.packet.bytes().to_vec()));
            });
        }
    }
    for shard in &parts {
        let own = shard.switches.iter().zip(shard.fabric.switch_counters());
        played.counted.extend(own.map(|(switch, counted)| (*switch, counted.to_vec())));
    }
    played.heard.sort_unstable();
    played.counted.sort_by_key(|(switch, _)| *switch);
    played
}

fn happen(parts: &mut [Shard], net: &Net, number: usize, now: Instant, event: &Event<usize>) {
    match event {
        Event::Send(host) => {
            let (port, packet) = net.packet(&mut Pool::default(), number, host);
            let is_there = |shard: &&mut Shard| shard.ports.is_empty() || shard.ports.contains(&port);
            parts.iter_mut().find(is_there).unwrap().fabric.inject(now, port, packet).unwrap();
        }
        // The shard of the device at its end is notified, too.
        Event::Up(pipe, is_up) => {
            for shard in parts {
                let is_meant = |place: &Place| [Place::Own(*pipe), Place::Inlet(*pipe)].contains(place);
                let own = shard.pipes.iter().position(is_meant);
                own.into_iter().for_each(|own| shard.fabric.set_up(now, PipeId(u32::try_from(own).unwrap()), *is_up));
            }
        }
        Event::Change(..) => unreachable!("nothing else happens"),
    }
}

/// What hosts hear, and what each switch counts.
#[derive(Debug, Default, PartialEq)]
struct Played {
    heard: Vec<(Instant, u32, Vec<u8>)>,
    counted: Vec<(usize, Vec<SwitchCounters>)>,
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 64,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(7),
        ..ProptestConfig::default()
    })]

    #[test]
    fn ahead_of_time_is_on_time((net, events) in cases()) {
        assert_same(&net, &events, SECOND);
    }

    #[test]
    fn shards_do_what_the_whole_does((net, events) in cases()) {
        let (pipes, devices) = (net.pipes(), net.devices());
        let partition = Partition::new(&pipes, &devices, 3, Cuts::WhereDelayed, |_| false);
        let whole = vec![Shard::whole(net.fabric())];
        let [in_parts, in_one] = [shards(SEED, &pipes, &devices, &partition), whole]
            .map(|parts| play_shards(parts, &net, &events, Instant::ZERO + SECOND * 31));
        prop_assert_eq!(in_parts, in_one);
    }
}

/// A ring of this many switches, 1 ms apart; the first is the root.
fn ring(count: usize) -> Net {
    let kinds = (0..count).map(|number| Kind::Tree(u16::try_from(number).unwrap() << 12)).collect();
    let links = (0..count).map(|number| ([number, (number + 1) % count], 1_000, 1_000)).collect();
    Net { kinds, links, has_vlans: false }
}

fn roles(net: &Net, fabric: &Fabric) -> Vec<Vec<PortRole>> {
    let of = |ports: Vec<SwitchCounters>| ports.iter().map(|port| port.tree.expect("a tree").role).collect();
    counted(net, fabric).into_iter().map(of).collect()
}

/// In a ring of four, the link that is farthest from the root is blocked at the farther bridge. When the link at the root is cut, both ends
/// see that, and the ring heals in a few times the way round, without a timer.
#[test]
fn a_ring_heals_at_once() {
    use PortRole::{Alternate, Designated, Disabled, Root};
    let net = ring(4);
    let mut fabric = net.fabric();
    fabric.advance(Instant::ZERO + MS * 20, |_| {});
    // The port to the host, that to the next, and that to the one before; those of the first and the last are in order of links.
    let wanted = [
        [Designated, Designated, Designated],
        [Designated, Root, Designated],
        [Designated, Root, Alternate],
        [Designated, Designated, Root],
    ];
    assert_eq!(roles(&net, &fabric), wanted);
    assert_trees(&net, &fabric, None);
    let cut = Instant::ZERO + SECOND * 5;
    set_up(&net, &mut fabric, cut, 0, false);
    fabric.advance(cut + MS * 20, |_| {});
    let healed = [
        [Designated, Disabled, Designated],
        [Designated, Disabled, Root],
        [Designated, Designated, Root],
        [Designated, Designated, Root],
    ];
    assert_eq!(roles(&net, &fabric), healed);
    assert_trees(&net, &fabric, Some(0));
    assert_heard_once(&net, &mut fabric, cut + SECOND, Some(0));
}

/// A direction that fails without anybody seeing it is noticed when three hellos are missing, and its own end of the link
/// hears that it is not heard: no loop comes of it.
#[test]
fn missing_hellos_are_noticed() {
    let net = ring(3);
    let mut fabric = net.fabric();
    fabric.advance(Instant::ZERO + SECOND, |_| {});
    let lossy = netloom_lab::parse_change("loss", "100 %").expect("a change");
    let now = Instant::ZERO + SECOND * 5;
    fabric.advance(now, |_| {});
    // From the root to the second.
    fabric.change(now, PipeId(6), &lossy);
    let mut at = |after: Duration| {
        fabric.advance(now + after, |_| {});
        roles(&net, &fabric)[1][1]
    };
    assert_eq!(at(SECOND * 4 - MS * 10), PortRole::Root, "two are missing");
    assert_eq!(at(SECOND * 7), PortRole::Designated);
    let root = fabric.switch_counters().next().expect("the first")[1].tree.expect("a tree");
    assert!(root.role == PortRole::Designated && root.state != PortState::Forwarding, "{root:?}");
    assert_heard_once(&net, &mut fabric, now + SECOND * 20, Some(0));
}

/// A bridge that knows only the protocol of 1998 is answered in it.
#[test]
fn an_old_bridge_is_answered_as_it_speaks() {
    let net = Net { kinds: vec![Kind::Tree(0x8000)], links: Vec::new(), has_vlans: false };
    let mut fabric = net.fabric();
    let mut kinds = Vec::new();
    let mut note = |delivery: Delivery| kinds.push(delivery.departure.packet.bytes()[20]);
    fabric.advance(Instant::ZERO + SECOND * 5, &mut note);
    let hello = [
        &[1, 0x80, 0xc2, 0, 0, 0, 2, 9, 9, 9, 9, 9, 0, 38, 0x42, 0x42, 3, 0, 0, 0, 0, 0][..],
        &[0x90, 0, 2, 9, 9, 9, 9, 9, 0, 0, 0, 0, 0x90, 0, 2, 9, 9, 9, 9, 9, 0x80, 1, 0, 0, 20, 0, 2, 0, 15, 0],
    ];
    fabric.inject(Instant::ZERO + SECOND * 5, PortId(0), plain(&mut Pool::default(), &hello.concat())).unwrap();
    fabric.advance(Instant::ZERO + SECOND * 10, &mut note);
    let (before, after) = kinds.split_at(3);
    assert_eq!((before, after.first(), after.last()), (&[2, 2, 2][..], Some(&0), Some(&0)));
    let port = fabric.switch_counters().next().expect("one")[0];
    assert_eq!(
        (port.received_bpdus, port.malformed_bpdus, port.tree.expect("a tree").role),
        (1, 0, PortRole::Designated)
    );
}

/// BPDUs that are right or nearly so, and what is none, into a ring: nothing panics, time goes on, what is no BPDU is counted, and
/// when all is quiet again there is one tree.
#[test]
fn fuzz_bpdus_into_a_ring() {
    let bpdu = (0..3_usize, vec((17..53_usize, any::<u8>()), 0..6), prop::option::weighted(0.1, 0..60_usize));
    let inputs = vec((0..3_u32, 0..3_000_u64, bpdu), 1..30);
    fuzz("bpdus_into_ring", 200, &inputs, |sent| {
        let net = ring(3);
        let mut fabric = net.fabric();
        let mut now = Instant::ZERO + SECOND;
        let mut bad = 0;
        for (host, gap, (kind, wounds, cut)) in sent {
            now = now + MS * gap;
            fabric.advance(now, |_| {});
            let head = [1, 0x80, 0xc2, 0, 0, 0, 2, 9, 9, 9, 9, 9, 0, [38, 39, 7][kind], 0x42, 0x42, 3, 0, 0];
            let (version, number) = [(0, 0), (2, 2), (0, 0x80)][kind];
            let mut frame = [&head[..], &[version, number, 0x3e]].concat();
            frame.extend([
                0, 0, 2, 9, 9, 9, 9, 9, 0, 0, 0, 1, 0, 0, 2, 9, 9, 9, 9, 9, 0x80, 1, 0, 0, 20, 0, 2, 0, 15, 0, 0,
            ]);
            wounds.into_iter().for_each(|(at, value)| frame[at] = value);
            cut.into_iter().for_each(|len| frame.truncate(len));
            bad += u64::from((14..21).contains(&frame.len()));
            fabric.inject(now, PortId(2 * host), plain(&mut Pool::default(), &frame)).unwrap();
        }
        // What hosts said of a root counts for less than three times 256 seconds.
        fabric.advance(now + SECOND * 1_000, |_| {});
        let counted: u64 = counted(&net, &fabric).iter().flatten().map(|port| port.malformed_bpdus).sum();
        assert!(counted >= bad, "{counted} of {bad}");
        assert_trees(&net, &fabric, None);
    });
}

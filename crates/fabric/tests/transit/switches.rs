//! Switches: they learn who is where, send there alone what is for somebody, and everywhere what is for all.

use crate::hubs::{Tree, come_back, link, trees};
use crate::network::{all, mac, plain, stream};
use crate::player::{Event, Network, assert_same};
use netloom_fabric::{
    Cuts, Delivery, DeviceSpec, Fabric, HubSpec, Partition, PipeSpec, PortId, PortVlans, SwitchCounters, SwitchPort,
    SwitchSpec, shards,
};
use netloom_link::{PipeConfig, RateConfig};
use netloom_packet::{Packet, Pool};
use netloom_testing::streams::{received, written};
use netloom_units::{Bytes, Duration, Instant, Rate, Seed};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

pub(crate) const MS: Duration = Duration::from_millis(1);
pub(crate) const SEED: Seed = Seed::new(7);
pub(crate) const EVERYBODY: [u8; 6] = [0xff; 6];

pub(crate) fn switch(ports: impl IntoIterator<Item = PortId>) -> SwitchSpec {
    let port = |port| SwitchPort { port, mtu: Bytes::new(1_500) };
    let ports = ports.into_iter().map(port).collect();
    SwitchSpec { ports, ageing: Duration::from_secs(300), capacity: 1_000, ..SwitchSpec::default() }
}

/// Links with a host at their even port and a device at the odd one.
fn star(links: u32, device: DeviceSpec) -> Fabric {
    let pipes: Vec<PipeSpec> = (0..links).flat_map(|number| link([2 * number, 2 * number + 1], MS)).collect();
    Fabric::new(SEED, &pipes).with_devices(&pipes, &[device])
}

/// Four hosts at a switch: host h is at port 2 h and has the address of that port.
pub(crate) fn four(change: impl FnOnce(&mut SwitchSpec)) -> Fabric {
    let mut spec = switch((0..4).map(|number| PortId(2 * number + 1)));
    change(&mut spec);
    star(4, DeviceSpec::Switch(spec))
}

/// Sends a frame of one packet at `now`, and says which hosts get it, once all has come out.
pub(crate) fn heard(fabric: &mut Fabric, now: Instant, from: u32, to: [u8; 6], source: [u8; 6]) -> Vec<u32> {
    let frame = frame(to, source);
    fabric.inject(now, PortId(2 * from), plain(&mut Pool::default(), &frame)).unwrap();
    let out = all(fabric);
    assert!(out.iter().all(|(due, _, packet)| *due == now + MS * 2 && packet.bytes() == frame));
    out.iter().map(|(_, port, _)| port.0 / 2).collect()
}

/// A frame of one packet.
pub(crate) fn frame(to: [u8; 6], source: [u8; 6]) -> Vec<u8> {
    let mut frame = stream(false, 1, 100).wire().remove(0);
    frame[..6].copy_from_slice(&to);
    frame[6..12].copy_from_slice(&source);
    frame
}

pub(crate) fn of_host(host: u32) -> [u8; 6] {
    mac(2 * host)
}

pub(crate) fn counted(fabric: &Fabric) -> Vec<SwitchCounters> {
    fabric.switch_counters().next().expect("one").to_vec()
}

pub(crate) const fn second(number: u64) -> Instant {
    Instant::from_nanos(number * 1_000_000_000)
}

#[test]
fn it_learns_from_what_it_forwards() {
    let mut fabric = four(|_| {});
    let mut heard = |at, from, to| heard(&mut fabric, second(at), from, of_host(to), of_host(from));
    assert_eq!(heard(1, 0, 1), [1, 2, 3], "nobody has heard of host 1");
    assert_eq!(heard(2, 1, 0), [0]);
    assert_eq!(heard(3, 0, 1), [1]);
    assert_eq!(heard(4, 2, 0), [0]);
    let [first, second, third, fourth] = counted(&fabric)[..] else { panic!("four ports") };
    assert_eq!((first.received, first.sent, first.flooded, first.learned), (2, 2, 1, 1));
    assert_eq!((second.received, second.sent, second.flooded, second.learned), (1, 2, 0, 1));
    assert_eq!((third.received, third.sent, fourth.received, fourth.sent), (1, 1, 0, 1));
}

/// At the instant at which it is as old as that, an address is forgotten.
#[test]
fn it_forgets_those_of_which_it_does_not_hear() {
    let mut fabric = four(|_| {});
    heard(&mut fabric, second(1), 1, EVERYBODY, of_host(1));
    let just_before = second(301) - Duration::from_nanos(1);
    assert_eq!(heard(&mut fabric, just_before, 0, of_host(1), of_host(0)), [1]);
    assert_eq!(heard(&mut fabric, second(301), 0, of_host(1), of_host(0)), [1, 2, 3]);
    assert_eq!(heard(&mut fabric, second(302), 2, of_host(0), of_host(2)), [0], "host 0 was heard of a second ago");
}

#[test]
fn whoever_moves_is_found_where_it_is_now() {
    let mut fabric = four(|spec| spec.fixed = vec![(of_host(3), 3)]);
    heard(&mut fabric, second(1), 1, EVERYBODY, of_host(1));
    heard(&mut fabric, second(2), 2, EVERYBODY, of_host(1));
    assert_eq!(heard(&mut fabric, second(3), 0, of_host(1), of_host(0)), [2]);
    heard(&mut fabric, second(4), 0, EVERYBODY, of_host(3));
    assert_eq!(heard(&mut fabric, second(400), 1, of_host(3), of_host(1)), [3], "this one stays where it is");
    let ports = counted(&fabric);
    assert_eq!(
        ports.iter().map(|port| (port.learned, port.moved)).collect::<Vec<_>>(),
        [(1, 0), (2, 0), (1, 1), (0, 0)]
    );
}

#[test]
fn a_full_table_learns_nobody_until_one_is_too_old() {
    let mut fabric = four(|spec| spec.capacity = 1);
    heard(&mut fabric, second(1), 1, EVERYBODY, of_host(1));
    heard(&mut fabric, second(2), 2, EVERYBODY, of_host(2));
    assert_eq!(heard(&mut fabric, second(3), 0, of_host(2), of_host(0)), [1, 2, 3]);
    heard(&mut fabric, second(301), 2, EVERYBODY, of_host(2));
    assert_eq!(heard(&mut fabric, second(302), 0, of_host(2), of_host(0)), [2]);
    assert_eq!(counted(&fabric)[0].unlearned, 2);
}

/// Those of IEEE 802.1D-2004, table 7-10; what follows is for groups. The first is of spanning trees: without one, the switch is as a
/// cable for it, as Linux's bridge is.
#[test]
fn what_is_for_bridges_ends_at_the_first() {
    let mut fabric = four(|_| {});
    for last in 0..=0xff {
        let got = heard(&mut fabric, second(1 + u64::from(last)), 0, [0x01, 0x80, 0xc2, 0, 0, last], of_host(0));
        let wanted: &[u32] = if (1..16).contains(&last) { &[] } else { &[1, 2, 3] };
        assert_eq!(got, wanted, "{last:02x}");
    }
    assert_eq!((counted(&fabric)[0].reserved, counted(&fabric)[0].flooded), (15, 241));
}

#[test]
fn a_group_is_nobodys_address() {
    let mut fabric = four(|_| {});
    let group = [0x33, 0x33, 0, 0, 0, 1];
    assert_eq!(heard(&mut fabric, second(1), 0, of_host(1), group), [0; 0]);
    assert_eq!(heard(&mut fabric, second(2), 1, group, of_host(1)), [0, 2, 3]);
    assert_eq!(counted(&fabric)[0].learned, 0);
}

#[test]
fn nothing_is_sent_back_to_where_it_came_from() {
    // Hosts 0 and 1 are at a hub, which is at the switch, as host 2 is.
    let pipes: Vec<PipeSpec> = (0..4).flat_map(|number| link([2 * number, 2 * number + 1], MS)).collect();
    let hub = HubSpec { ports: [1, 3, 6].map(PortId).to_vec() };
    let devices = [DeviceSpec::Hub(hub), DeviceSpec::Switch(switch([5, 7].map(PortId)))];
    let mut fabric = Fabric::new(SEED, &pipes).with_devices(&pipes, &devices);
    for (from, to, wanted) in [(0, 1, vec![1, 2]), (1, 0, vec![0]), (0, 1, vec![1])] {
        let mut frame = stream(false, 1, 100).wire().remove(0);
        frame[..6].copy_from_slice(&of_host(to));
        frame[6..12].copy_from_slice(&of_host(from));
        fabric.inject(second(1), PortId(2 * from), plain(&mut Pool::default(), &frame)).unwrap();
        let out: Vec<u32> = all(&mut fabric).iter().map(|(_, port, _)| port.0 / 2).collect();
        assert_eq!(out, wanted);
    }
    let ports = counted(&fabric);
    assert_eq!((ports[1].received, ports[1].filtered, ports[1].flooded), (3, 2, 1));
}

#[test]
fn what_is_no_frame_and_what_is_too_big_is_counted() {
    let mut fabric = four(|spec| spec.ports[2].mtu = Bytes::new(500));
    fabric.inject(second(1), PortId(0), plain(&mut Pool::default(), &[0; 13])).unwrap();
    assert!(all(&mut fabric).is_empty());
    heard(&mut fabric, second(2), 2, EVERYBODY, of_host(2));
    let (virtio, mut frame) = stream(false, 1, 3_000).super_packet();
    frame[6..12].copy_from_slice(&of_host(0));
    let mut pool = Pool::default();
    for (to, wanted) in [(EVERYBODY, vec![1, 3]), (of_host(2), vec![])] {
        frame[..6].copy_from_slice(&to);
        fabric.inject(second(3), PortId(0), pool.packet(virtio, &frame)).unwrap();
        let out: Vec<u32> = all(&mut fabric).iter().map(|(_, port, _)| port.0 / 2).collect();
        assert_eq!(out, wanted);
    }
    let ports = counted(&fabric);
    let segments = u64::from(pool.packet(virtio, &frame).segments());
    assert_eq!((ports[0].malformed, ports[2].too_big, ports[0].flooded), (1, 2 * segments, segments));
}

/// Bridges of Linux drop these, too: nobody has such an address.
#[test]
fn frames_from_groups_and_from_nobody_go_no_further() {
    let mut fabric = four(|_| ());
    for source in [[0; 6], EVERYBODY, [0x01, 0, 0x5e, 0, 0, 1]] {
        assert_eq!(heard(&mut fabric, Instant::ZERO, 0, EVERYBODY, source), [0; 0]);
    }
    assert_eq!((counted(&fabric)[0].malformed, counted(&fabric)[0].learned), (3, 0));
}

fn access(vlan: u16) -> PortVlans {
    PortVlans { untagged: Some(vlan), tagged: Vec::new() }
}

fn trunk(tagged: &[u16], untagged: Option<u16>) -> PortVlans {
    PortVlans { untagged, tagged: tagged.to_vec() }
}

/// Two switches, joined by a trunk: hosts 0 and 1 are at the first, in VLANs 10 and 20, and hosts 2 to 4 at the second: in VLANs 10
/// and 20, and at a trunk of 10 with 20 for what has no tag.
fn two_with_vlans() -> Fabric {
    let pipes: Vec<PipeSpec> = (0..6).flat_map(|number| link([2 * number, 2 * number + 1], MS)).collect();
    let mut first = switch([1, 3, 10].map(PortId));
    first.vlans = vec![access(10), access(20), trunk(&[10, 20], None)];
    let mut second = switch([5, 7, 9, 11].map(PortId));
    second.vlans = vec![access(10), access(20), trunk(&[10], Some(20)), trunk(&[10, 20], None)];
    Fabric::new(SEED, &pipes).with_devices(&pipes, &[DeviceSpec::Switch(first), DeviceSpec::Switch(second)])
}

/// The hosts that hear a train, each with the tag that it bears there; everything else is as it was sent.
fn tagged(fabric: &mut Fabric, from: u32, to: [u8; 6], tag: Option<u16>) -> Vec<(u32, Option<u16>)> {
    let sent = |says: Option<u16>| {
        let vlans = says.map(|says| (0x8100, says)).into_iter().collect();
        netloom_testing::streams::Stream { vlans, ..stream(false, 3, 4_000) }
    };
    let (virtio, mut bytes) = sent(tag).super_packet();
    bytes[..6].copy_from_slice(&to);
    bytes[6..12].copy_from_slice(&of_host(from));
    let now = fabric.next_wake().unwrap_or(second(1));
    fabric.inject(now, PortId(2 * from), Pool::default().packet(virtio, &bytes)).unwrap();
    let mut out: Vec<_> = all(fabric).into_iter().map(|(_, port, packet)| (port.0 / 2, packet)).collect();
    out.sort_by_key(|(host, _)| *host);
    let heard = |(host, packet): (u32, Packet)| {
        let (header, frame) = written(&packet);
        assert_eq!((&frame[..6], &frame[6..12]), (&to[..], &of_host(from)[..]));
        let is_right = received(&header, &frame) == sent(packet.vlan_tag()).wire();
        assert!(is_right, "as the sender's kernel would have sent it with this tag");
        (host, packet.vlan_tag())
    };
    out.into_iter().map(heard).collect()
}

#[test]
fn vlans_are_apart_and_tags_are_where_they_belong() {
    let mut fabric = two_with_vlans();
    let mut heard = |from, to, tag| tagged(&mut fabric, from, to, tag);
    // To everybody: each VLAN has its own.
    assert_eq!(heard(0, EVERYBODY, None), [(2, None), (4, Some(10))]);
    assert_eq!(heard(1, EVERYBODY, None), [(3, None), (4, None)]);
    assert_eq!(heard(4, EVERYBODY, Some(10)), [(0, None), (2, None)]);
    assert_eq!(heard(4, EVERYBODY, None), [(1, None), (3, None)]);
    // The priority of a tag stays where there is a tag, and goes with it.
    assert_eq!(heard(0, EVERYBODY, Some(5 << 13)), [(2, None), (4, Some(5 << 13 | 10))]);
    assert_eq!(heard(0, EVERYBODY, Some(5 << 13 | 10)), [(2, None), (4, Some(5 << 13 | 10))]);
    // What is not carried where it comes in.
    assert_eq!(heard(0, EVERYBODY, Some(20)), []);
    assert_eq!(heard(4, EVERYBODY, Some(30)), []);
    // To somebody: known in his own VLAN alone.
    assert_eq!(heard(2, of_host(0), None), [(0, None)]);
    assert_eq!(heard(3, of_host(0), None), [(1, None), (4, None)], "nobody has heard of host 0 in VLAN 20");
    assert_eq!(heard(2, of_host(4), None), [(4, Some(10))]);
    assert_eq!(heard(3, of_host(4), None), [(4, None)]);
    let foreign: Vec<Vec<u64>> =
        fabric.switch_counters().map(|ports| ports.iter().map(|own| own.foreign).collect()).collect();
    assert_eq!(foreign, [vec![4, 0, 0], vec![0, 0, 4, 0]]);
}

/// A tag is beyond the MTU: 1,500 bytes pass with and without.
#[test]
fn a_tag_takes_no_room_of_the_mtu() {
    let mut fabric = two_with_vlans();
    let mut frame =
        netloom_testing::streams::Stream { segment_size: 1_448, ..stream(false, 1, 1_448) }.wire().remove(0);
    frame[..6].copy_from_slice(&EVERYBODY);
    assert_eq!(frame.len(), 1_514);
    fabric.inject(second(1), PortId(0), plain(&mut Pool::default(), &frame)).unwrap();
    let lengths: Vec<usize> = all(&mut fabric).iter().map(|(_, _, packet)| packet.bytes().len()).collect();
    assert_eq!(lengths, [1_514, 1_518]);
}

/// Without VLANs tags are bytes like others.
#[test]
fn a_switch_without_vlans_looks_at_no_tag() {
    let mut fabric = four(|_| {});
    assert_eq!(tagged(&mut fabric, 0, EVERYBODY, Some(7)), [1, 2, 3].map(|host| (host, Some(7))));
    assert_eq!(tagged(&mut fabric, 1, of_host(0), None), [(0, None)]);
}

/// Hosts and switches in a tree, and what the hosts send.
#[derive(Clone, Debug)]
pub(crate) struct Lan(pub(crate) Tree);

/// A train: from whom, for whom (none: for all), and how much payload.
#[derive(Clone, Debug)]
pub(crate) struct Sending {
    host: usize,
    to: Option<usize>,
    payload: usize,
}

pub(crate) fn sendings(lan: &Lan) -> impl Strategy<Value = Vec<(Instant, Event<Sending>)>> + use<> {
    let hosts = lan.0.hosts.len();
    let receiver = prop::option::of(0..hosts);
    vec((0..3_000_000_u64, 0..hosts, receiver, 1..6_000_usize), 1..30).prop_map(|mut sent| {
        sent.sort_unstable();
        let event = |(at, host, to, payload)| (Instant::from_nanos(at), Event::Send(Sending { host, to, payload }));
        sent.into_iter().map(event).collect()
    })
}

impl Lan {
    fn switches(&self) -> Vec<DeviceSpec> {
        self.0.ports().into_iter().map(|ports| DeviceSpec::Switch(switch(ports))).collect()
    }
}

impl Network for Lan {
    type Load = Sending;
    type Record = (u32, Vec<u8>, u32, Instant);

    fn fabric(&self) -> Fabric {
        let pipes = self.0.pipes();
        Fabric::new(SEED, &pipes).with_devices(&pipes, &self.switches())
    }

    fn packet(&self, pool: &mut Pool, number: usize, load: &Sending) -> (PortId, Packet) {
        let (virtio, mut frame) = stream(false, u16::try_from(number).unwrap(), load.payload).super_packet();
        let of_host = |host: usize| of_host(u32::try_from(host).unwrap());
        frame[..6].copy_from_slice(&load.to.map_or(EVERYBODY, of_host));
        frame[6..12].copy_from_slice(&of_host(load.host));
        (PortId(u32::try_from(2 * load.host).unwrap()), pool.packet(virtio, &frame))
    }

    fn record(delivery: &Delivery) -> Self::Record {
        let Delivery { port, departure, .. } = delivery;
        (port.0, departure.packet.bytes().to_vec(), departure.packet.segments(), departure.due)
    }
}

fn lans() -> impl Strategy<Value = (Lan, Vec<(Instant, Event<Sending>)>)> {
    trees().prop_map(Lan).prop_flat_map(|lan| (Just(lan.clone()), sendings(&lan)))
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(7),
        ..ProptestConfig::default()
    })]

    /// Whoever is meant gets each train once, whole, in its own buffer, after the way between both; everybody does, if
    /// everybody is meant; nobody gets it twice or its own. Nothing is left of it in the end.
    #[test]
    fn what_is_sent_gets_where_it_belongs((lan, events) in lans()) {
        let (mut fabric, mut pool) = (lan.fabric(), Pool::new(0, 0));
        let (mut sent, mut heard) = (Vec::new(), Vec::new());
        let mut note = |delivery: Delivery| heard.push((delivery.departure.due, delivery.port.0, delivery.departure.packet));
        for (number, (at, event)) in events.iter().enumerate() {
            let Event::Send(sending) = event else { unreachable!("nothing changes") };
            let (port, packet) = lan.packet(&mut pool, number, sending);
            sent.push(packet.duplicate());
            fabric.advance(*at, &mut note);
            fabric.inject(*at, port, packet).unwrap();
        }
        fabric.advance(Instant::MAX, &mut note);
        let mut got: Vec<Vec<usize>> = vec![Vec::new(); events.len()];
        for (due, port, packet) in heard {
            let number = sent.iter().position(|own| own.bytes().as_ptr() == packet.bytes().as_ptr());
            let number = number.expect("the very buffer that was sent");
            let (at, Event::Send(sending)) = &events[number] else { unreachable!("nothing changes") };
            let host = port as usize / 2;
            prop_assert_eq!(packet.segments(), sent[number].segments());
            prop_assert_eq!(due, *at + lan.0.distance(sending.host, host));
            got[number].push(host);
            pool.recycle(packet);
        }
        for ((_, event), mut heard_by) in events.iter().zip(got) {
            let Event::Send(sending) = event else { unreachable!("nothing changes") };
            heard_by.sort_unstable();
            prop_assert!(heard_by.windows(2).all(|pair| pair[0] < pair[1]), "nobody gets it twice");
            prop_assert!(!heard_by.contains(&sending.host));
            match sending.to {
                None => prop_assert_eq!(heard_by.len(), lan.0.hosts.len() - 1),
                Some(to) => prop_assert!(to == sending.host || heard_by.contains(&to)),
            }
        }
        let count = sent.len();
        prop_assert_eq!(come_back(&mut fabric, &mut pool, sent), count);
    }

    /// When everybody has been heard of, nobody gets what is for another.
    #[test]
    fn what_is_for_somebody_goes_nowhere_else((lan, _) in lans(), pairs in vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..10)) {
        let (mut fabric, mut pool) = (lan.fabric(), Pool::default());
        let hosts = lan.0.hosts.len();
        for host in 0..hosts {
            let now = second(host as u64);
            let (port, packet) = lan.packet(&mut pool, host, &Sending { host, to: None, payload: 100 });
            fabric.inject(now, port, packet).unwrap();
            prop_assert_eq!(all(&mut fabric).len(), hosts - 1);
        }
        for (number, (from, to)) in pairs.into_iter().enumerate() {
            let (host, to) = (from.index(hosts), to.index(hosts));
            let now = second((hosts + number) as u64);
            let (port, packet) = lan.packet(&mut pool, number, &Sending { host, to: Some(to), payload: 100 });
            fabric.inject(now, port, packet).unwrap();
            let got: Vec<usize> = all(&mut fabric).iter().map(|(_, at, _)| at.0 as usize / 2).collect();
            let wanted = if host == to { vec![] } else { vec![to] };
            prop_assert_eq!(got, wanted);
        }
    }

    /// Whatever is sent, and whoever is known: in each VLAN it is as if the others were not there.
    #[test]
    fn nothing_leaks_between_vlans((lan, events) in lans(), vlans in vec(1..4_u16, 7)) {
        let hosts = lan.0.hosts.len();
        let of_port = |port: PortId| {
            let number = port.0 as usize;
            if number < 2 * hosts { access(vlans[number / 2]) } else { trunk(&[1, 2, 3], None) }
        };
        let device = |ports: Vec<PortId>| {
            let own = ports.iter().copied().map(of_port).collect();
            DeviceSpec::Switch(SwitchSpec { vlans: own, ..switch(ports) })
        };
        let pipes = lan.0.pipes();
        let devices: Vec<DeviceSpec> = lan.0.ports().into_iter().map(device).collect();
        let mut fabric = Fabric::new(SEED, &pipes).with_devices(&pipes, &devices);
        let mut pool = Pool::default();
        let mut got: Vec<Vec<usize>> = vec![Vec::new(); events.len()];
        let mut note = |Delivery { port, departure, .. }: Delivery| {
            assert_eq!(departure.packet.vlan_tag(), None);
            let bytes = departure.packet.bytes();
            got[usize::from(u16::from_be_bytes([bytes[18], bytes[19]]))].push(port.0 as usize / 2);
        };
        for (number, (at, event)) in events.iter().enumerate() {
            let Event::Send(sending) = event else { unreachable!("nothing changes") };
            let (port, packet) = lan.packet(&mut pool, number, sending);
            fabric.advance(*at, &mut note);
            fabric.inject(*at, port, packet).unwrap();
        }
        fabric.advance(Instant::MAX, &mut note);
        for ((_, event), mut heard_by) in events.iter().zip(got) {
            let Event::Send(sending) = event else { unreachable!("nothing changes") };
            heard_by.sort_unstable();
            let mates = (0..hosts).filter(|host| *host != sending.host && vlans[*host] == vlans[sending.host]);
            let mates: Vec<usize> = mates.collect();
            prop_assert!(heard_by.windows(2).all(|pair| pair[0] < pair[1]), "nobody gets it twice");
            prop_assert!(heard_by.iter().all(|host| mates.contains(host)), "{heard_by:?} of {mates:?}");
            match sending.to {
                None => prop_assert_eq!(heard_by, mates),
                Some(to) => prop_assert!(!mates.contains(&to) || heard_by.contains(&to)),
            }
        }
    }

    #[test]
    fn ahead_of_time_is_on_time((lan, events) in lans()) {
        assert_same(&lan, &events, MS * 100);
    }

    #[test]
    fn shards_do_what_the_whole_does((lan, events) in lans()) {
        let (pipes, switches) = (lan.0.pipes(), lan.switches());
        let partition = Partition::new(&pipes, &switches, 3, Cuts::WhereDelayed, |_| false);
        let parts = shards(SEED, &pipes, &switches, &partition);
        let mut places: Vec<usize> = parts.iter().flat_map(|part| part.switches.iter().copied()).collect();
        places.sort_unstable();
        prop_assert_eq!(places, (0..switches.len()).collect::<Vec<_>>());
        let packets = |pool: &mut Pool| {
            let packet = |(number, (at, event)): (usize, &(Instant, Event<Sending>))| {
                let Event::Send(sending) = event else { unreachable!("nothing changes") };
                (*at, lan.packet(pool, number, sending))
            };
            events.iter().enumerate().map(packet).collect::<Vec<_>>()
        };
        let whole = vec![netloom_fabric::Shard::whole(lan.fabric())];
        let [in_parts, in_one] = [parts, whole].map(|parts| crate::hubs::play(parts, packets(&mut Pool::default())));
        prop_assert_eq!(in_parts, in_one);
    }
}

#[test]
#[should_panic(expected = "what hubs and switches repeat would come back for ever")]
fn a_loop_without_a_rate_is_refused() {
    let pipes: Vec<PipeSpec> = [link([0, 1], MS), link([2, 3], MS)].concat();
    let of = |ports: [u32; 2]| DeviceSpec::Switch(switch(ports.map(PortId)));
    let _ = Fabric::new(SEED, &pipes).with_devices(&pipes, &[of([0, 2]), of([1, 3])]);
}

/// A ring of three, with a host at one of them: a broadcast goes round both ways for ever, as fast as the slowest link lets
/// it, and is one packet in either direction all the time.
#[test]
fn a_storm_goes_on_and_does_not_grow() {
    let mut pipes: Vec<PipeSpec> = (0..4).flat_map(|number| link([2 * number, 2 * number + 1], MS)).collect();
    for pipe in &mut pipes[..2] {
        let rate = RateConfig::Constant(Rate::from_bits_per_second(1_000_000).expect("a rate"));
        pipe.config = PipeConfig { rate, ..pipe.config.clone() };
    }
    let of = |ports: &[u32]| DeviceSpec::Switch(switch(ports.iter().copied().map(PortId)));
    let devices = [of(&[0, 5, 7]), of(&[1, 2]), of(&[3, 4])];
    let mut fabric = Fabric::new(SEED, &pipes).with_devices(&pipes, &devices);
    let mut frame = stream(false, 1, 100).wire().remove(0);
    frame[..6].copy_from_slice(&EVERYBODY);
    fabric.inject(Instant::ZERO, PortId(6), plain(&mut Pool::default(), &frame)).unwrap();
    let (mut heard, end) = (0, second(1));
    while let Some(now) = fabric.next_wake().filter(|now| *now < end) {
        fabric.advance(now, |_| heard += 1);
    }
    // Once round: 3 ms, and the frame from its IP header on at 1 Mbit/s.
    let round = 3_000_000 + (frame.len() as u64 - 14) * 8_000;
    let rounds = (end.as_nanos() - 1_000_000) / round;
    assert!((2 * rounds - 2..=2 * rounds + 2).contains(&heard), "{heard} times in {rounds} rounds");
    let inside: u64 = fabric.counters().map(|own| own.queued.packets + own.travelling.packets).sum();
    assert!(inside <= 4, "{inside}");
}

//! A link, a transit router, a link that is cut, another router, another link: an engine in two shards, between two kernels
//! that this test plays. Nothing here needs a privilege.

mod fixture;

use fixture::frontend::{FROM_GUEST, Frontend, TO_GUEST};
use fixture::{boot, wait_for};
use netloom_dataplane::{Engine, EngineConfig, IfLate, PortConfig, Precision, ScheduledEvent, Task};
use netloom_fabric::{
    Cuts, DeviceSpec, Fabric, Neighbor, NextHop, Partition, PipeId, PipeSpec, PortId, RouterInterface, RouterSpec,
    Shard, Tap, Way, shards,
};
use netloom_figures::Snapshot;
use netloom_link::{DelayConfig, PipeChange, PipeConfig, Prefix};
use netloom_packet::{Packet, Pool};
use netloom_units::{Bytes, Dilation, Duration, Instant, Seed};
use netloom_vhost::Listener;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Sender, channel};

const DELAY: Duration = Duration::from_millis(5);
/// From the first router to the second.
const MIDDLE: PipeId = PipeId(2);

fn address(link: u8, end: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, link, end + 1)
}

fn mac(port: u32) -> [u8; 6] {
    [2, 0, 0, 0, 0, u8::try_from(port).expect("few ports")]
}

fn config(delay: Duration) -> PipeConfig {
    PipeConfig { delay: DelayConfig::constant(delay), ..PipeConfig::default() }
}

/// Links 0, 1 and 2, with ports 2 n and 2 n + 1 each; only the second has a delay.
fn network() -> (Vec<PipeSpec>, Vec<DeviceSpec>) {
    let pipe = |number: u32| {
        let delay = if number / 2 == 1 { DELAY } else { Duration::ZERO };
        PipeSpec {
            name: format!("pipe {number}"),
            config: config(delay),
            coalesce: Duration::ZERO,
            from: PortId(number),
            filter: None,
            medium: Vec::new(),
            to: PortId(number ^ 1),
        }
    };
    let subnet = |link: u8| Prefix::new(Ipv4Addr::new(10, 0, link, 0).into(), 24).expect("no bits behind it");
    let interface = |link: u8, end: u8| {
        let port = u32::from(2 * link + end);
        RouterInterface {
            port: PortId(port),
            mac: mac(port),
            mtu: Bytes::new(1_500),
            addresses: vec![IpAddr::V4(address(link, end))],
            is_shared: false,
            neighbors: vec![Neighbor { mac: mac(port ^ 1), addresses: vec![IpAddr::V4(address(link, 1 - end))] }],
            subnets: vec![subnet(link)],
        }
    };
    let routers = vec![
        RouterSpec {
            interfaces: vec![interface(0, 1), interface(1, 0)],
            routes: vec![(subnet(2), NextHop::by(1))],
            ..RouterSpec::default()
        },
        RouterSpec {
            interfaces: vec![interface(1, 1), interface(2, 0)],
            routes: vec![(subnet(0), NextHop::by(0))],
            ..RouterSpec::default()
        },
    ];
    ((0..6).map(pipe).collect(), routers.into_iter().map(DeviceSpec::Router).collect())
}

/// The engine, in one piece or in two, and its two kernels.
fn start(most: usize, precision: Precision) -> (Engine, [Frontend; 2]) {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let (pipes, routers) = network();
    let partition = Partition::new(&pipes, &routers, most, Cuts::WhereDelayed, |_| false);
    assert_eq!(partition.count(), most);
    let parts = if most > 1 {
        shards(Seed::new(1), &pipes, &routers, &partition)
    } else {
        vec![Shard::whole(Fabric::new(Seed::new(1), &pipes).with_devices(&pipes, &routers))]
    };
    let paths = [0, 1].map(|_| {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        std::env::temp_dir().join(format!("netloom-shards-{}-{number}", std::process::id()))
    });
    let port = |(number, path): (u32, &PathBuf)| PortConfig::Guest {
        port: PortId(number),
        listener: Listener::bind(path).expect("a free path"),
        has_share: false,
    };
    let config = EngineConfig {
        precision,
        processors: Vec::new(),
        dilation: Dilation::ONE,
        epoch: None,
        memory: None,
        ports: [0, 5].into_iter().zip(&paths).map(port).collect(),
    };
    let engine = Engine::start_shards(parts, config).expect("no privilege is needed");
    (engine, paths.each_ref().map(|path| boot(path)))
}

/// A datagram to the kernel at the other end, of 60 bytes from the Ethernet header on.
fn datagram(from: u8, number: u8) -> Vec<u8> {
    let (port, source, destination) = match from {
        0 => (1, address(0, 0), address(2, 1)),
        _ => (4, address(2, 1), address(0, 0)),
    };
    let mut frame = vec![number; 60];
    frame[..6].copy_from_slice(&mac(port));
    frame[6..12].copy_from_slice(&mac(port ^ 1));
    frame[12..34].copy_from_slice(&[8, 0, 0x45, 0, 0, 46, 0, 0, 0x40, 0, 64, 17, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    frame[26..30].copy_from_slice(&source.octets());
    frame[30..34].copy_from_slice(&destination.octets());
    let checksum = ipv4_checksum(&frame[14..34]);
    frame[24..26].copy_from_slice(&checksum.to_be_bytes());
    frame
}

/// RFC 1071, of a header whose checksum is zero.
fn ipv4_checksum(header: &[u8]) -> u16 {
    let words = header.chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])));
    let sum = words.sum::<u32>();
    !u16::try_from((sum & 0xffff) + (sum >> 16)).expect("ten words carry a little")
}

fn snapshot_when(engine: &mut Engine, what: &str, is_it: impl Fn(&Snapshot) -> bool) -> Snapshot {
    wait_for(what, || Some(engine.snapshot().expect("a running engine")).filter(&is_it))
}

struct Witness(Sender<(PortId, Way)>);

impl Tap for Witness {
    fn packet(&mut self, port: PortId, way: Way, _: Instant, _: Instant, _: &Packet) {
        self.0.send((port, way)).expect("the test listens");
    }

    fn settle(&mut self, _: &mut Pool) {}
}

/// Whatever can be told from outside is the same in one piece and in two.
#[test]
fn a_datagram_crosses_the_border_and_everybody_sees_it_once() {
    for (most, precision) in
        [(1, Precision::Balanced), (2, Precision::Balanced), (2, Precision::Exact), (2, Precision::Eco)]
    {
        let (mut engine, [mut left, mut right]) = start(most, precision);
        let (told, seen) = channel();
        let tap = engine.add_tap(Box::new(Witness(told))).expect("a running engine");
        // Commands are obeyed in order, and when this one is, the tap is there.
        engine.counters().expect("a running engine");
        let place = right.make_room(2_000);
        let before = engine.now();
        left.transmit(&[0; 12], &datagram(0, 7));
        left.kick(FROM_GUEST);
        assert_eq!(wait_for("the datagram", || right.take(TO_GUEST)), (0, 72));
        assert!(engine.now().since(before) >= DELAY);
        let frame = right.read(place, 72).split_off(12);
        assert_eq!((&frame[..6], &frame[6..12]), (&mac(5)[..], &mac(4)[..]), "the addresses of the last link");
        assert_eq!((frame[22], &frame[34..]), (62, &[7; 26][..]), "two routers have passed it on");
        let last = snapshot_when(&mut engine, "the record", |snapshot| snapshot.pipes[4].lateness.count() == 1);
        let departed: Vec<u64> = last.pipes.iter().map(|pipe| pipe.counters.departed.packets).collect();
        assert_eq!(departed, [1, 0, 1, 0, 1, 0]);
        // What a pipe between two shards does is measured where it is taken in.
        assert_eq!(last.pipes[2].lateness.count(), most as u64 - 1);
        assert_eq!(last.routers.iter().map(|router| router.forwarded).collect::<Vec<_>>(), [1, 1]);
        assert_eq!((last.engine.threads.len(), last.engine.lost_sending), (most, 0));
        engine.remove_tap(tap).expect("a running engine");
        engine.stop().expect("a running engine");
        let mut all: Vec<(PortId, Way)> = seen.iter().collect();
        all.sort_unstable();
        let [from, to] = [Way::FromNode, Way::ToNode];
        assert_eq!(
            all,
            [(0, from), (1, to), (2, from), (3, to), (4, from), (5, to)].map(|(at, way)| (PortId(at), way))
        );
    }
}

#[test]
fn each_pipe_is_changed_by_its_own_shard() {
    let (mut engine, [mut left, mut right]) = start(2, Precision::Balanced);
    engine.set_up(MIDDLE, false).expect("a running engine");
    // The way back is the other shard's, and is cut into by nobody.
    let delay = Some(DelayConfig::constant(Duration::ZERO));
    engine.change(PipeId(3), PipeChange { delay, ..PipeChange::default() }).expect("a running engine");
    engine.counters().expect("a running engine");
    left.make_room(2_000);
    right.transmit(&[0; 12], &datagram(1, 1));
    right.kick(FROM_GUEST);
    wait_for("the datagram back", || left.take(TO_GUEST));
    left.transmit(&[0; 12], &datagram(0, 2));
    left.kick(FROM_GUEST);
    let last = snapshot_when(&mut engine, "the drop", |snapshot| snapshot.pipes[2].counters.dropped.down.packets == 1);
    assert_eq!(last.pipes[3].delay.max(), last.pipes[3].lateness.max(), "no delay is left but lateness");
    let (_, counters) = engine.counters().expect("a running engine");
    assert_eq!(counters, last.pipes.iter().map(|pipe| pipe.counters).collect::<Vec<_>>());
    let now = ScheduledEvent { number: 0, at: engine.now(), task: Task::Begin };
    engine.plan(vec![now], IfLate::Execute).expect("a running engine");
    assert_eq!(engine.snapshot().expect("a running engine").pipes[3].delay.count(), 0);
}

/// In one piece and in two: the pipes have the numbers of the whole, and what crosses the border is reported by the shard of its pipe alone.
#[test]
fn a_picked_packet_is_told_once_of_each_pipe() {
    for most in [1, 2] {
        let (mut engine, [mut left, mut right]) = start(most, Precision::Balanced);
        engine.sample_packets(Some(Duration::ZERO)).expect("a running engine");
        engine.counters().expect("a running engine");
        right.make_room(2_000);
        left.transmit(&[0; 12], &datagram(0, 7));
        left.kick(FROM_GUEST);
        let mut told = Vec::new();
        wait_for("what became of it", || {
            let sampled = engine.sampled_packets().expect("a running engine");
            told.extend(sampled.packets);
            (sampled.lost == 0 && told.len() >= 3).then_some(())
        });
        wait_for("the datagram", || right.take(TO_GUEST));
        told.sort_by_key(|packet| packet.pipe);
        assert_eq!(told.iter().map(|packet| packet.pipe).collect::<Vec<_>>(), [0, 2, 4]);
        for packet in &told {
            let sent = packet.sent.expect("nothing is dropped");
            let delay = if packet.pipe == 2 { DELAY } else { Duration::ZERO };
            assert_eq!((sent.end, sent.due), (packet.entered, packet.entered + delay));
            assert_eq!((packet.size, packet.flow.map(|flow| flow.protocol)), (Bytes::new(46), Some(17)));
        }
        assert_eq!(told[2].entered, told[1].sent.map_or(Instant::ZERO, |sent| sent.due));
        engine.sample_packets(None).expect("a running engine");
        assert_eq!(engine.sampled_packets().expect("a running engine").packets, []);
    }
}

/// Many packets both ways at once: nothing is lost, nothing comes twice, and each direction keeps its order.
#[test]
fn a_stream_each_way_arrives_whole() {
    const COUNT: u32 = 2_000;
    let (engine, mut guests) = start(2, Precision::Balanced);
    let mut sent = [0_u32; 2];
    let mut places: [Vec<usize>; 2] = [Vec::new(), Vec::new()];
    for (guest, own) in guests.iter_mut().zip(&mut places) {
        own.extend((0..4).map(|_| guest.make_room(1_000)));
    }
    let mut received = [0_u32; 2];
    wait_for("all datagrams", || {
        for (end, guest) in guests.iter_mut().enumerate() {
            while guest.take(FROM_GUEST).is_some() {}
            let free = 4 - u32::from(guest.put[FROM_GUEST].wrapping_sub(guest.taken[FROM_GUEST]));
            for _ in 0..free.min(COUNT - sent[end]) {
                let number = u8::try_from(sent[end] % 251).expect("below 251");
                guest.transmit(&[0; 12], &datagram(u8::try_from(end).expect("two"), number));
                sent[end] += 1;
            }
            guest.kick(FROM_GUEST);
            while let Some((_, len)) = guest.take(TO_GUEST) {
                let place = places[end].remove(0);
                assert_eq!(len, 72);
                let number = guest.read(place, 72)[12 + 40];
                assert_eq!(u32::from(number), received[end] % 251, "in order");
                received[end] += 1;
                places[end].push(guest.make_room(1_000));
            }
            guest.kick(TO_GUEST);
        }
        (received == [COUNT; 2]).then_some(())
    });
    let last = engine.stop().expect("a running engine");
    assert_eq!(last.engine.lost_sending, 0);
    let departed: Vec<u64> = last.pipes.iter().map(|pipe| pipe.counters.departed.packets).collect();
    assert_eq!(departed, [u64::from(COUNT); 6]);
}

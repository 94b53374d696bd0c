//! Shared media: one transmitter for all, and everybody but the sender hears it.

use crate::hubs::link;
use crate::network::{all, plain, stream};
use crate::player::{Event, Network, assert_same};
use crate::switches::{EVERYBODY, MS, SEED, counted, frame, of_host, switch};
use netloom_fabric::{Cuts, Delivery, DeviceSpec, Fabric, HubSpec, Partition, PipeId, PipeSpec, PortId, shards};
use netloom_link::{DelayConfig, DropLog, Pipe, PipeConfig, RateConfig};
use netloom_packet::{Packet, Pool};
use netloom_testing::models::{changes, configs};
use netloom_testing::streams::written;
use netloom_units::{Duration, Instant, Rate};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// A medium with these ports.
fn medium(name: &str, ports: &[u32], config: PipeConfig, coalesce: Duration) -> PipeSpec {
    PipeSpec {
        name: name.into(),
        config,
        coalesce,
        from: PortId(ports[0]),
        filter: None,
        to: PortId(ports[1]),
        medium: ports.iter().copied().map(PortId).collect(),
    }
}

/// 8 Mbit/s, so that a byte takes a microsecond, and a millisecond of delay.
fn slow() -> PipeConfig {
    let rate = RateConfig::Constant(Rate::from_bits_per_second(8_000_000).expect("a rate"));
    PipeConfig { rate, delay: DelayConfig::constant(MS), ..PipeConfig::default() }
}

fn send(fabric: &mut Fabric, at: Instant, port: u32, bytes: &[u8]) {
    fabric.inject(at, PortId(port), plain(&mut Pool::default(), bytes)).unwrap();
}

/// Three stations send at one instant: their frames take turns in the order of arrival, and nobody hears himself.
#[test]
fn frames_of_all_ends_take_turns() {
    let mut fabric = Fabric::new(SEED, &[medium("bus", &[0, 1, 2, 3], slow(), Duration::ZERO)]);
    let bytes = frame(EVERYBODY, of_host(0));
    let span = Duration::from_micros(bytes.len() as u64 - 14);
    for port in [2, 0, 3] {
        send(&mut fabric, Instant::ZERO, port, &bytes);
    }
    let heard: Vec<_> = all(&mut fabric).into_iter().map(|(due, port, _)| (due, port.0)).collect();
    let at = |turn: u64| Instant::ZERO + span * turn + MS;
    let turns = [(1, [0, 1, 3]), (2, [1, 2, 3]), (3, [0, 1, 2])];
    assert_eq!(heard, turns.map(|(turn, ports)| ports.map(|port| (at(turn), port))).concat());
    let counters = fabric.counters().next().unwrap();
    assert_eq!((counters.arrived.packets, counters.departed.packets), (3, 3), "each counts once");
}

/// A link with two ends that share a medium is half duplex: what goes one way keeps what goes the other way waiting.
#[test]
fn two_ends_are_half_duplex() {
    let mut fabric = Fabric::new(SEED, &[medium("radio", &[0, 1], slow(), Duration::ZERO)]);
    let bytes = frame(EVERYBODY, of_host(0));
    let span = Duration::from_micros(bytes.len() as u64 - 14);
    send(&mut fabric, Instant::ZERO, 0, &bytes);
    send(&mut fabric, Instant::ZERO, 1, &bytes);
    let heard: Vec<_> = all(&mut fabric).into_iter().map(|(due, port, _)| (due, port.0)).collect();
    assert_eq!(heard, [(Instant::ZERO + span + MS, 1), (Instant::ZERO + span * 2 + MS, 0)]);
}

/// A frame whose buffer somebody else holds, as a capture does, or another medium on which it is as well.
#[test]
fn nobody_hears_himself_though_the_buffer_is_shared() {
    let bytes = frame(EVERYBODY, of_host(0));
    let mut fabric = Fabric::new(SEED, &[medium("bus", &[0, 1, 2], slow(), Duration::ZERO)]);
    let packet = plain(&mut Pool::default(), &bytes);
    for port in [0, 1] {
        fabric.inject(Instant::ZERO, PortId(port), packet.duplicate()).unwrap();
    }
    let heard: Vec<_> = all(&mut fabric).into_iter().map(|(_, port, own)| (port.0, own.bytes() == bytes)).collect();
    assert_eq!(heard, [(1, true), (2, true), (0, true), (2, true)]);
    // A hub between two media, and a host at the hub.
    let one = [medium("one", &[0, 1, 2], slow(), Duration::ZERO), medium("two", &[3, 4, 5], slow(), Duration::ZERO)];
    let pipes = [&one[..], &link([6, 7], MS)].concat();
    let hub = DeviceSpec::Hub(HubSpec { ports: [2, 5, 7].map(PortId).to_vec() });
    let mut joined = Fabric::new(SEED, &pipes).with_devices(&pipes, &[hub]);
    for (from, wanted) in [(0, [1, 6, 3, 4]), (3, [4, 6, 0, 1]), (6, [0, 1, 3, 4])] {
        let now = joined.next_wake().unwrap_or(Instant::ZERO);
        send(&mut joined, now, from, &bytes);
        let mut ports: Vec<u32> = all(&mut joined).iter().map(|(_, port, _)| port.0).collect();
        ports.sort_unstable();
        let mut wanted = wanted.to_vec();
        wanted.sort_unstable();
        assert_eq!(ports, wanted, "from {from}");
    }
}

/// Two switches on one medium with a station each, and one at the medium itself.
#[test]
fn switches_learn_what_they_hear_on_a_medium() {
    let pipes =
        [&[medium("bus", &[0, 1, 2], slow(), Duration::ZERO)][..], &link([4, 3], MS), &link([6, 5], MS)].concat();
    let of = |ports: [u32; 2]| DeviceSpec::Switch(switch(ports.map(PortId)));
    let mut fabric = Fabric::new(SEED, &pipes).with_devices(&pipes, &[of([1, 3]), of([2, 5])]);
    let mut heard = |port: u32, to: [u8; 6], own: u32| {
        let now = fabric.next_wake().unwrap_or(Instant::ZERO);
        send(&mut fabric, now, port, &frame(to, of_host(own)));
        let mut ports: Vec<u32> = all(&mut fabric).iter().map(|(_, at, _)| at.0).collect();
        ports.sort_unstable();
        ports
    };
    assert_eq!(heard(4, EVERYBODY, 1), [0, 6]);
    assert_eq!(heard(0, of_host(1), 2), [4], "the second switch knows that host 1 is on the medium");
}

#[test]
#[should_panic(expected = "what hubs and switches repeat would come back for ever")]
fn a_loop_over_a_medium_without_a_rate_is_refused() {
    let pipes = [&[medium("bus", &[0, 1, 2], PipeConfig::default(), Duration::ZERO)][..], &link([3, 4], MS)].concat();
    let of = |ports: [u32; 2]| DeviceSpec::Switch(switch(ports.map(PortId)));
    let _ = Fabric::new(SEED, &pipes).with_devices(&pipes, &[of([1, 3]), of([2, 4])]);
}

/// A cut of the medium is noticed by all switches at it.
#[test]
fn switches_forget_what_they_heard_on_a_medium_that_is_cut() {
    let pipes = [&[medium("bus", &[0, 1], slow(), Duration::ZERO)][..], &link([3, 2], MS), &link([5, 4], MS)].concat();
    let device = DeviceSpec::Switch(switch([1, 2, 4].map(PortId)));
    let mut fabric = Fabric::new(SEED, &pipes).with_devices(&pipes, &[device]);
    send(&mut fabric, Instant::ZERO, 0, &frame(EVERYBODY, of_host(1)));
    assert_eq!(all(&mut fabric).len(), 2);
    let later = Instant::ZERO + MS * 100;
    fabric.set_up(later, PipeId(0), false);
    fabric.set_up(later + MS, PipeId(0), true);
    send(&mut fabric, later + MS * 2, 3, &frame(of_host(1), of_host(2)));
    assert_eq!(all(&mut fabric).iter().map(|(_, port, _)| port.0).collect::<Vec<_>>(), [5, 0], "to everybody");
    assert_eq!(counted(&fabric)[0].learned, 1);
}

/// A medium of some models with hosts, and links beside it.
#[derive(Clone, Debug)]
struct Bus {
    hosts: u32,
    config: PipeConfig,
    coalesce: Duration,
}

/// From which host, and how much payload.
#[derive(Clone, Debug)]
struct Load(u32, usize);

impl Bus {
    fn pipes(&self) -> Vec<PipeSpec> {
        let ports: Vec<u32> = (0..self.hosts).collect();
        let beside = link([self.hosts, self.hosts + 1], MS);
        [&[medium("bus", &ports, self.config.clone(), self.coalesce)][..], &beside].concat()
    }
}

type Record = (u32, Vec<u8>, u32, Instant, Instant);

impl Network for Bus {
    type Load = Load;
    type Record = Record;

    fn fabric(&self) -> Fabric {
        let pipes = self.pipes();
        Fabric::new(SEED, &pipes).with_devices(&pipes, &[])
    }

    fn packet(&self, pool: &mut Pool, number: usize, Load(from, payload): &Load) -> (PortId, Packet) {
        let (virtio, bytes) = stream(false, u16::try_from(number * 100).unwrap(), *payload).super_packet();
        (PortId(*from), pool.packet(virtio, &bytes))
    }

    fn record(delivery: &Delivery) -> Record {
        record(delivery.port.0, &delivery.departure)
    }
}

fn record(port: u32, departure: &netloom_link::Departure) -> Record {
    let packet = &departure.packet;
    (port, written(packet).1, packet.segments(), departure.due, departure.first_due)
}

fn cases() -> impl Strategy<Value = (Bus, Vec<(Instant, Event<Load>)>)> {
    let window = prop_oneof![Just(0), 0..100_000_u64].prop_map(Duration::from_nanos);
    let happening = prop_oneof![
        12 => (any::<u32>(), 1..6_000_usize).prop_map(|(from, payload)| Event::Send(Load(from, payload))),
        1 => changes().prop_map(|change| Event::Change(PipeId(0), Box::new(change))),
        1 => any::<bool>().prop_map(|up| Event::Up(PipeId(0), up)),
    ];
    let pause = prop_oneof![Just(0), 1..20_000_u64, 1..2_000_000_u64];
    (2..6_u32, configs(), window, vec((pause, happening), 1..40)).prop_map(|(hosts, config, coalesce, events)| {
        let mut now = Instant::ZERO;
        let place = |(gap, event)| {
            now = now + Duration::from_nanos(gap);
            match event {
                Event::Send(Load(from, payload)) => (now, Event::Send(Load(from % (hosts + 2), payload))),
                other => (now, other),
            }
        };
        (Bus { hosts, config, coalesce }, events.into_iter().map(place).collect())
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(7),
        ..ProptestConfig::default()
    })]

    #[test]
    fn ahead_of_time_is_on_time((bus, events) in cases()) {
        assert_same(&bus, &events, MS * 300);
    }

    /// A medium does to packets what one pipe does that all of them enter, and then all others hear each.
    #[test]
    fn a_medium_is_one_pipe((bus, events) in cases()) {
        let mut fabric = bus.fabric();
        let mut pipe = Pipe::new(&bus.config, bus.coalesce, SEED.derive("bus"));
        let (mut pool, mut drop_log) = (Pool::default(), DropLog::new());
        let (mut heard, mut wanted) = (Vec::new(), Vec::new());
        let end = events.last().map_or(Instant::ZERO, |(at, _)| *at) + MS * 300;
        let mut pending = events.iter().enumerate().peekable();
        loop {
            let next_event = pending.peek().map(|(_, (at, _))| *at);
            let Some(now) = [next_event, fabric.next_wake()].into_iter().flatten().min().filter(|now| *now < end) else { break };
            fabric.advance(now, |delivery| if delivery.pipe == PipeId(0) { heard.push(Bus::record(&delivery)) });
            while let Some(departure) = pipe.pop(now, &mut drop_log) {
                let origin = departure.packet.origin();
                wanted.extend((0..bus.hosts).filter(|port| *port != origin).map(|port| record(port, &departure)));
            }
            while let Some((number, (_, event))) = pending.next_if(|(_, (at, _))| *at == now) {
                match event {
                    Event::Send(load) => {
                        let (port, packet) = bus.packet(&mut pool, number, load);
                        if port.0 < bus.hosts {
                            let same = bus.packet(&mut pool, number, load).1.originate(port.0).0;
                            pipe.push(now, same, &mut drop_log);
                        }
                        fabric.inject(now, port, packet).unwrap();
                    }
                    Event::Change(_, change) => {
                        fabric.change(now, PipeId(0), change);
                        pipe.change(now, change, &mut drop_log);
                    }
                    Event::Up(_, up) => {
                        fabric.set_up(now, PipeId(0), *up);
                        pipe.set_up(now, *up, &mut drop_log);
                    }
                }
            }
        }
        prop_assert_eq!(heard, wanted);
    }

    #[test]
    fn a_medium_is_in_one_shard(hosts in 2..6_u32) {
        let bus = Bus { hosts, config: slow(), coalesce: Duration::ZERO };
        let pipes = bus.pipes();
        let partition = Partition::new(&pipes, &[], 2, Cuts::WhereDelayed, |_| false);
        prop_assert_eq!(partition.count(), 2);
        let mut parts = shards(SEED, &pipes, &[], &partition);
        let own: Vec<PortId> = (0..hosts).map(PortId).collect();
        prop_assert_eq!(&parts[0].ports, &own);
        send(&mut parts[0].fabric, Instant::ZERO, hosts - 1, &frame(EVERYBODY, of_host(0)));
        let heard: Vec<u32> = all(&mut parts[0].fabric).iter().map(|(_, port, _)| port.0).collect();
        prop_assert_eq!(heard, (0..hosts - 1).collect::<Vec<_>>());
    }
}

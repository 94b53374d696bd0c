//! Faults of single packets: each packet meets what was said of it, resets fit, and nothing is lost from the counters or comes earlier
//! than was promised.

use crate::hubs::link;
use crate::network::all;
use crate::player::{Event, Network, assert_same};
use crate::switches::{MS, SEED, switch};
use netloom_fabric::{Cuts, Delivery, DeviceSpec, Fabric, HubSpec, Partition, PipeId, PipeSpec, PortId, shards};
use netloom_link::{
    After, DelayConfig, FaultAction, FaultGround, Filter, PacketFault, PipeChange, PipeCounters, ResetEnds,
};
use netloom_packet::{Ecn, Packet, Pool, Segmentation, TcpHeader, VirtioHeader};
use netloom_units::{Duration, Instant, Probability, Rate};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

const ACK: u8 = 0x10;
const SYN: u8 = 0x02;

pub(crate) fn at(ms: u64) -> Instant {
    Instant::ZERO + MS * ms
}

/// Hosts have hardware addresses and addresses of IP that end with their numbers.
fn bytes([from, to]: [u8; 2], flags: u8, [sequence, acknowledgement]: [u32; 2], payload: usize) -> Vec<u8> {
    let mut bytes = vec![2, 0, 0, 0, 0, to, 2, 0, 0, 0, 0, from, 8, 0];
    let total = u16::try_from(40 + payload).unwrap().to_be_bytes();
    bytes.extend_from_slice(&[0x45, 2, total[0], total[1], 0, 7, 0x40, 0, 61, 6, 0, 0, 10, 0, 0, from, 10, 0, 0, to]);
    bytes.extend_from_slice(&[4, from, 0, 80]);
    bytes.extend_from_slice(&sequence.to_be_bytes());
    bytes.extend_from_slice(&acknowledgement.to_be_bytes());
    bytes.extend_from_slice(&[0x50, flags, 1, 0, 0, 0, 0, 0]);
    bytes.resize(bytes.len() + payload, 0);
    bytes
}

fn segment(hosts: [u8; 2], flags: u8, numbers: [u32; 2], payload: usize) -> Packet {
    Packet::from_bytes(bytes(hosts, flags, numbers, payload).into_boxed_slice())
}

/// A super-packet of so many segments with 100 bytes each.
fn train(hosts: [u8; 2], segments: usize) -> Packet {
    let virtio = VirtioHeader {
        segmentation: Segmentation::Tcp4,
        segment_size: 100,
        header_len: 54,
        checksum: Some((34, 16)),
        ..VirtioHeader::COMPLETE
    };
    Pool::default().packet(virtio, &bytes(hosts, ACK, [1, 9], 100 * segments))
}

pub(crate) fn fault(action: FaultAction) -> PacketFault {
    PacketFault {
        id: 7,
        filter: Filter::default(),
        kinds: Vec::new(),
        question: None,
        longer: None,
        after: After::Nothing,
        is_by_flow: false,
        nth: 1,
        count: Some(1),
        probability: Probability::ONE,
        lasts: None,
        action,
    }
}

pub(crate) fn begin(fabric: &mut Fabric, now: Instant, pipe: u32, fault: PacketFault) {
    fabric.change(now, PipeId(pipe), &PipeChange { faults: vec![fault], ..PipeChange::default() });
}

/// Pipes that are ready for all faults, of host 1 at port 0 and host 2 at port 1: 1 ms in each direction.
pub(crate) fn two() -> [PipeSpec; 2] {
    link([0, 1], MS).map(ready)
}

fn ready(mut pipe: PipeSpec) -> PipeSpec {
    pipe.config.faults = Some(FaultGround { answers: true, tracks: true });
    pipe
}

/// What a delivery is: when, at which port, and what TCP says.
fn told(fabric: &mut Fabric) -> Vec<(Instant, u32, TcpHeader)> {
    let told = all(fabric).into_iter().map(|(due, port, packet)| (due, port.0, packet.tcp().unwrap()));
    told.collect()
}

fn assert_balanced(fabric: &Fabric) {
    assert!(fabric.counters().all(PipeCounters::balance), "{:?}", fabric.counters().collect::<Vec<_>>());
}

#[test]
fn packets_of_a_train_are_treated_one_by_one() {
    let mut fabric = Fabric::new(SEED, &two());
    begin(&mut fabric, at(0), 0, PacketFault { nth: 3, ..fault(FaultAction::Drop) });
    begin(&mut fabric, at(0), 0, PacketFault { nth: 6, ..fault(FaultAction::Hold(MS * 10)) });
    fabric.inject(at(0), PortId(0), train([1, 2], 8)).unwrap();
    let out: Vec<_> = all(&mut fabric)
        .into_iter()
        .map(|(due, _, packet)| (due, packet.tcp().unwrap().sequence, packet.segments()))
        .collect();
    // The first two stay together, and so do the fourth and the fifth, and the last two. The sixth is held for 10 ms, and then takes 1 ms.
    assert_eq!(out, [(at(1), 1, 2), (at(1), 301, 2), (at(1), 601, 2), (at(11), 501, 1)]);
    let counters = *fabric.counters().next().unwrap();
    assert_eq!((counters.arrived.packets, counters.dropped.fault.packets, counters.departed.packets), (8, 1, 7));
    assert_balanced(&fabric);
    let firings: Vec<_> =
        fabric.take_firings().iter().map(|one| (one.pipe, one.at, one.fault, one.action, one.sequence)).collect();
    let wanted = [(0, at(0), 7, FaultAction::Drop, Some(201)), (0, at(0), 7, FaultAction::Hold(MS * 10), Some(501))];
    assert_eq!(firings, wanted);
    assert!(fabric.take_firings().is_empty());
}

#[test]
fn packets_are_copied_corrupted_and_marked() {
    let mut fabric = Fabric::new(SEED, &two());
    let mut sent = |action: FaultAction, packet: Packet| {
        begin(&mut fabric, at(0), 0, fault(action));
        fabric.inject(at(0), PortId(0), packet).unwrap();
        let out: Vec<Packet> = all(&mut fabric).into_iter().map(|(_, _, left)| left).collect();
        assert_balanced(&fabric);
        out
    };
    let plain = segment([1, 2], ACK, [1, 1], 50);
    assert_eq!(sent(FaultAction::Duplicate, plain.duplicate()).len(), 2);
    let different = |out: &[Packet]| {
        let pairs = plain.bytes().iter().zip(out[0].bytes());
        pairs.enumerate().filter(|(_, (before, after))| before != after).map(|(place, _)| place).collect::<Vec<_>>()
    };
    assert_eq!(different(&sent(FaultAction::Corrupt(Some(60)), plain.duplicate())), [14 + 60]);
    assert_eq!(different(&sent(FaultAction::Corrupt(None), plain.duplicate())).len(), 1);
    let marked = sent(FaultAction::Mark, plain.duplicate()).remove(0);
    assert_eq!(marked.ecn(), Some(Ecn::Congested));
    assert_eq!(sent(FaultAction::Unmark, marked)[0].ecn(), Some(Ecn::Capable0));
    let counters = fabric.counters().next().unwrap();
    assert_eq!((counters.duplicated.packets, counters.corrupted.packets, counters.marked.packets), (1, 2, 1));
    assert_eq!((counters.arrived.packets, counters.departed.packets, counters.dropped.packets()), (5, 6, 0));
}

/// RFC 9293, section 3.10.7.1, and RFC 5961, section 3.2: a reset counts if it has exactly the number that its receiver expects.
#[test]
fn a_reset_has_the_number_that_its_receiver_expects() {
    let reset = |ends| fault(FaultAction::Reset(ends));
    let mut fabric = Fabric::new(SEED, &two());
    for (ends, wanted) in [
        (ResetEnds::Both, vec![(at(1), 0, 900), (at(1), 1, 500)]),
        (ResetEnds::Sender, vec![(at(1), 0, 900)]),
        (ResetEnds::Receiver, vec![(at(1), 1, 500)]),
    ] {
        let mut other = Fabric::new(SEED, &two());
        begin(&mut other, at(0), 0, reset(ends));
        other.inject(at(0), PortId(0), segment([1, 2], ACK, [500, 900], 50)).unwrap();
        let mut out: Vec<_> = told(&mut other)
            .into_iter()
            .map(|(due, port, tcp)| {
                assert!(tcp.is_rst() && !tcp.is_ack() && tcp.payload == 0, "{tcp:?}");
                (due, port, tcp.sequence)
            })
            .collect();
        out.sort_unstable();
        assert_eq!(out, wanted, "{ends:?}");
        assert_balanced(&other);
        assert_eq!(other.counters().next().unwrap().dropped.fault.packets, 1);
    }
    // A SYN has no number of the other side: it is acknowledged.
    begin(&mut fabric, at(0), 0, reset(ResetEnds::Sender));
    fabric.inject(at(0), PortId(0), segment([1, 2], SYN, [77, 0], 0)).unwrap();
    let out = told(&mut fabric);
    assert_eq!(out.len(), 1);
    let (due, port, tcp) = out[0];
    assert_eq!((due, port, tcp.sequence, tcp.acknowledgement), (at(1), 0, 0, 78));
    assert!(tcp.is_rst() && tcp.is_ack());
}

/// Both ends get a reset at the instant, and one that has missed something, and says so, gets another one.
#[test]
fn connections_end_though_nothing_is_sent() {
    let mut fabric = Fabric::new(SEED, &two());
    fabric.inject(at(0), PortId(0), segment([1, 2], ACK, [500, 900], 50)).unwrap();
    fabric.inject(at(1), PortId(1), segment([2, 1], ACK, [900, 550], 10)).unwrap();
    assert_eq!(told(&mut fabric).len(), 2);
    for pipe in 0..2 {
        begin(&mut fabric, at(5), pipe, fault(FaultAction::EndConnections));
    }
    let mut out: Vec<_> =
        told(&mut fabric).into_iter().map(|(due, port, tcp)| (due, port, tcp.sequence, tcp.is_rst())).collect();
    out.sort_unstable();
    // The ports of these packets are not mirrored: what host 2 sends is a connection of its own here.
    assert_eq!(out, [(at(6), 0, 910, true), (at(6), 1, 550, true)]);
    assert_balanced(&fabric);
    assert_eq!(fabric.take_firings().len(), 2);
}

/// The same with ports as a connection has them: the end that has missed 50 bytes acknowledges what it has (RFC 5961, section 3.2), and
/// that is answered with the right number; resets themselves go on.
#[test]
fn who_has_missed_something_is_reset_when_it_says_so() {
    let mut fabric = Fabric::new(SEED, &two());
    let mirrored = |numbers: [u32; 2], flags: u8, payload: usize| {
        let mut bytes = bytes([2, 1], flags, numbers, payload);
        bytes[34..38].copy_from_slice(&[0, 80, 4, 1]);
        Packet::from_bytes(bytes.into_boxed_slice())
    };
    fabric.inject(at(0), PortId(0), segment([1, 2], ACK, [500, 900], 50)).unwrap();
    fabric.inject(at(0), PortId(1), mirrored([900, 500], ACK, 0)).unwrap();
    told(&mut fabric);
    // Only host 2 is to be reset.
    begin(&mut fabric, at(5), 0, fault(FaultAction::EndConnections));
    assert_eq!(
        told(&mut fabric).into_iter().map(|(_, port, tcp)| (port, tcp.sequence)).collect::<Vec<_>>(),
        [(1, 550)]
    );
    fabric.inject(at(7), PortId(1), mirrored([900, 500], ACK, 0)).unwrap();
    assert_eq!(
        told(&mut fabric)
            .into_iter()
            .map(|(due, port, tcp)| (due, port, tcp.sequence, tcp.is_rst()))
            .collect::<Vec<_>>(),
        [(at(8), 1, 500, true)]
    );
    // Now it is closed, and answers what comes with resets, which get through.
    fabric.inject(at(9), PortId(0), segment([1, 2], ACK, [550, 900], 5)).unwrap();
    fabric.inject(at(9), PortId(1), mirrored([900, 0], 0x04, 0)).unwrap();
    let mut out: Vec<_> = told(&mut fabric).into_iter().map(|(_, port, tcp)| (port, tcp.is_rst())).collect();
    out.sort_unstable();
    assert_eq!(out, [(0, true), (1, false)]);
    assert_balanced(&fabric);
}

/// Hosts 1, 2 and 3 at ports 0, 2 and 4, each far from the device at the other end of its link by another time.
#[derive(Debug)]
struct Star {
    delays: [u64; 3],
    /// Whether a switch is there, or a hub.
    is_switch: bool,
    /// In bits per second; zero: none.
    rate: u64,
}

impl Star {
    fn pipes(&self) -> Vec<PipeSpec> {
        let far = (0..).zip(self.delays);
        let links = far.flat_map(|(number, delay)| link([2 * number, 2 * number + 1], Duration::from_micros(delay)));
        links
            .map(ready)
            .map(|mut pipe| {
                pipe.config.rate = Rate::from_bits_per_second(self.rate).into();
                pipe
            })
            .collect()
    }

    fn device(&self) -> DeviceSpec {
        let ports = [1, 3, 5].map(PortId);
        if self.is_switch {
            DeviceSpec::Switch(switch(ports))
        } else {
            DeviceSpec::Hub(HubSpec { ports: ports.to_vec() })
        }
    }
}

impl Network for Star {
    type Load = (u8, u8, usize);
    type Record = (u32, Instant, Vec<u8>, u32);

    fn fabric(&self) -> Fabric {
        let pipes = self.pipes();
        Fabric::new(SEED, &pipes).with_devices(&pipes, &[self.device()])
    }

    fn packet(&self, _: &mut Pool, number: usize, (from, to, segments): &Self::Load) -> (PortId, Packet) {
        let number = u32::try_from(number).unwrap();
        let packet = match segments {
            0 => segment([*from, *to], ACK, [number, number], 10),
            more => train([*from, *to], 1 + more),
        };
        (PortId(2 * u32::from(*from) - 2), packet)
    }

    fn record(delivery: &Delivery) -> Self::Record {
        let packet = &delivery.departure.packet;
        let mut bytes = Vec::new();
        packet.complete(&mut bytes);
        (delivery.port.0, delivery.departure.due, bytes, packet.segments())
    }
}

fn stars() -> impl Strategy<Value = Star> {
    let delays = [0..2_000_u64, 0..50, 0..400];
    (delays, any::<bool>(), prop_oneof![Just(0), Just(5_000_000)]).prop_map(|(delays, is_switch, rate)| Star {
        delays,
        is_switch,
        rate,
    })
}

fn actions() -> impl Strategy<Value = FaultAction> {
    prop_oneof![
        Just(FaultAction::Drop),
        (0..900_000_u64).prop_map(|ns| FaultAction::Hold(Duration::from_nanos(ns))),
        Just(FaultAction::Duplicate),
        Just(FaultAction::Corrupt(None)),
        Just(FaultAction::Mark),
        Just(FaultAction::Reset(ResetEnds::Both)),
        Just(FaultAction::Reset(ResetEnds::Sender)),
        Just(FaultAction::EndConnections),
    ]
}

/// What happens at an instant: a packet from one port to another, of so many segments, or a change.
type Happening = (Instant, Event<(u8, u8, usize)>);

fn happenings() -> impl Strategy<Value = Vec<Happening>> {
    let sent =
        (1..4_u8, 1..3_u8, 0..6_usize).prop_map(|(from, step, segments)| (from, (from + step - 1) % 3 + 1, segments));
    let faults = (0..6_u32, actions(), 1..4_u64, any::<bool>(), proptest::option::of(1..5_u64)).prop_map(
        |(pipe, action, nth, is_by_flow, count)| {
            let fault = PacketFault { nth, is_by_flow, count, ..fault(action) };
            Event::Change(PipeId(pipe), Box::new(PipeChange { faults: vec![fault], ..PipeChange::default() }))
        },
    );
    let event = prop_oneof![5 => sent.prop_map(Event::Send), 1 => faults];
    vec((prop_oneof![Just(0), 1..300_000_u64], event), 1..40).prop_map(|events| {
        let mut now = Instant::ZERO;
        let place = |(gap, next)| {
            now = now + Duration::from_nanos(gap);
            (now, next)
        };
        events.into_iter().map(place).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, rng_seed: RngSeed::Fixed(36), ..ProptestConfig::default() })]

    /// Whatever is held, copied or answered: what is delivered ahead of time is what comes on time, and the counters balance.
    #[test]
    fn nothing_is_earlier_than_was_promised((star, events) in (stars(), happenings())) {
        assert_same(&star, &events, Duration::from_millis(20));
        let mut fabric = star.fabric();
        let mut pool = Pool::default();
        for (number, (now, event)) in events.iter().enumerate() {
            fabric.advance(*now, |_| {});
            match event {
                Event::Send(load) => {
                    let (port, packet) = star.packet(&mut pool, number, load);
                    fabric.inject(*now, port, packet).unwrap();
                }
                Event::Change(pipe, change) => fabric.change(*now, *pipe, change),
                Event::Up(pipe, up) => fabric.set_up(*now, *pipe, *up),
            }
            prop_assert!(fabric.counters().all(PipeCounters::balance));
        }
    }
}

/// What may be answered stays with its way back.
#[test]
fn links_with_answers_are_not_cut_between_shards() {
    let delayed = |ports: [u32; 2]| link(ports, MS * 5);
    let pipes = |is_answered: bool| {
        let mut all: Vec<PipeSpec> = [[0, 1], [2, 3], [4, 5]].into_iter().flat_map(delayed).collect();
        if is_answered {
            all[2].config.faults = Some(FaultGround { answers: true, tracks: false });
        }
        all.iter_mut().for_each(|pipe| pipe.config.delay = DelayConfig::constant(MS * 5));
        all
    };
    // Two hubs, joined by the link of ports 2 and 3.
    let devices = [[1, 2], [3, 5]].map(|ports| DeviceSpec::Hub(HubSpec { ports: ports.map(PortId).to_vec() }));
    let count = |is_answered: bool| {
        let pipes = pipes(is_answered);
        let partition = Partition::new(&pipes, &devices, 2, Cuts::WhereDelayed, |_| false);
        shards(SEED, &pipes, &devices, &partition).len()
    };
    assert_eq!((count(false), count(true)), (2, 1));
}

/// A pipe of which nothing was known ahead drops, holds and copies; only answers need to be known.
#[test]
fn faults_begin_at_a_pipe_that_was_not_ready_for_them() {
    let mut fabric = Fabric::new(SEED, &link([0, 1], MS));
    begin(&mut fabric, at(0), 0, PacketFault { nth: 2, ..fault(FaultAction::Drop) });
    for number in 1..=3 {
        fabric.inject(at(1), PortId(0), segment([1, 2], ACK, [number, 9], 10)).unwrap();
    }
    let sequences: Vec<u32> = told(&mut fabric).into_iter().map(|(_, _, tcp)| tcp.sequence).collect();
    assert_eq!(sequences, [1, 3]);
    assert_eq!(fabric.take_firings().len(), 1);
    // What would be answered is dropped, and its sender hears nothing.
    begin(&mut fabric, at(5), 0, fault(FaultAction::Reset(ResetEnds::Sender)));
    fabric.inject(at(6), PortId(0), segment([1, 2], ACK, [7, 9], 10)).unwrap();
    assert_eq!(told(&mut fabric), []);
    assert_balanced(&fabric);
}

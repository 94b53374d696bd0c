//! Many pipes together: what is delivered when, whatever the driver's habits.

use netloom_fabric::{Delivery, Fabric, PipeId, PipeSpec, PortId, UnknownPort};
use netloom_link::{Filter, LossConfig, PipeChange, PipeConfig, Ports, QueueConfig, Sender, Subset};
use netloom_packet::{Packet, Pool, Segmentation, VirtioHeader};
use netloom_testing::loads::{Load, Transport, first_segment, number};
use netloom_units::{Duration, Instant, Limit, Probability, Rate, Seed};

const PIPES: u32 = 12;

/// A delivery: pipe, port, packet, first segment, segments, due.
type Record = (u32, u32, u32, u32, u32, Instant);

/// Pipes of different rates, delays, windows and losses; pipe i leads from port i to port i + 100.
fn specs() -> Vec<PipeSpec> {
    let spec = |index: u32| {
        let rate = u64::from(index % 4) * 37_000_000;
        PipeSpec {
            name: format!("link{index}"),
            config: PipeConfig {
                rate: Rate::from_bits_per_second(rate).into(),
                delay: Duration::from_micros(u64::from(index % 3) * 700).into(),
                queue: QueueConfig::DropTail(Limit::Packets(20 + index)),
                loss: LossConfig::Independent(Probability::from_parts_per_trillion(30_000_000_000).expect("3 %")),
                ..PipeConfig::default()
            },
            coalesce: Duration::from_micros(u64::from(index % 5) * 300),
            from: PortId(index),
            filter: None,
            medium: Vec::new(),
            to: PortId(index + 100),
        }
    };
    (0..PIPES).map(spec).collect()
}

/// Numbers that look random and are the same in every run.
fn numbers() -> impl FnMut(u64) -> u64 {
    let mut state: u64 = 1;
    move |below| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    }
}

/// What a driver with this habit is handed: `step` is the span between its calls, none: it comes when it is wanted.
fn drive(specs: &[PipeSpec], step: Option<Duration>) -> Vec<Record> {
    let mut fabric = Fabric::new(Seed::new(3), specs);
    let (mut pool, mut records, mut draw, mut now) = (Pool::default(), Vec::new(), numbers(), Instant::ZERO);
    for packet_number in 0..600 {
        now = now + Duration::from_nanos(draw(400_000));
        advance(&mut fabric, step, Some(now), &mut records);
        let load = match draw(3) {
            0 => Load::Train { transport: Transport::Tcp, full: 1 + draw(20) as usize, payload: 1_448, last: 0 },
            _ => Load::Plain(40 + draw(1_460) as usize),
        };
        let port = PortId(u32::try_from(draw(u64::from(PIPES))).expect("few ports"));
        let packet = load.packet(&mut pool, packet_number);
        fabric.inject(now, port, packet).expect("a known port");
        fabric.recycle(&mut pool);
    }
    advance(&mut fabric, step, None, &mut records);
    assert!(fabric.counters().all(|counters| counters.balance() && counters.travelling.packets == 0));
    records
}

fn advance(fabric: &mut Fabric, step: Option<Duration>, end: Option<Instant>, records: &mut Vec<Record>) {
    while let Some(wake) = fabric.next_wake() {
        let call = step.map_or(wake, |step| Instant::from_nanos(wake.as_nanos().next_multiple_of(step.as_nanos())));
        if end.is_some_and(|end| call >= end) {
            return;
        }
        fabric.advance(call, |Delivery { pipe, port, departure }| {
            assert!(departure.due <= call);
            let packet = &departure.packet;
            let (packet_number, first, count) = (number(packet), first_segment(packet), packet.segments());
            records.push((pipe.0, port.0, packet_number, first, count, departure.due));
        });
    }
}

#[test]
fn a_late_driver_is_handed_the_same_in_the_same_order() {
    let punctual = drive(&specs(), None);
    assert!(punctual.len() > 500);
    assert!(punctual.is_sorted_by_key(|record| record.5), "in order of due instants");
    for step in [1, 1_000, 333_333, 10_000_000, 1_000_000_000_000] {
        assert_eq!(drive(&specs(), Some(Duration::from_nanos(step))), punctual, "called every {step} ns");
    }
}

#[test]
fn the_same_seed_gives_the_same_run() {
    assert_eq!(drive(&specs(), None), drive(&specs(), None));
}

/// Pipes draw by name: another order of the same pipes changes no pipe's losses.
#[test]
fn a_pipe_does_not_depend_on_its_neighbours() {
    let mut reversed = specs();
    reversed.reverse();
    let by_port = |records: Vec<Record>| {
        let mut ports: Vec<_> =
            records.into_iter().map(|(_, port, rest, first, count, due)| (port, due, rest, first, count)).collect();
        ports.sort();
        ports
    };
    assert_eq!(by_port(drive(&reversed, None)), by_port(drive(&specs(), None)));
}

/// Two pipes, one instant: the pipe with the lower id comes first. 1500 B * 8 / 12 Mbit/s = 1 ms.
#[test]
fn ties_go_by_pipe() {
    let mut specs = specs();
    specs.truncate(2);
    for spec in &mut specs {
        spec.config = PipeConfig { rate: Rate::from_bits_per_second(12_000_000).into(), ..PipeConfig::default() };
    }
    let mut fabric = Fabric::new(Seed::new(0), &specs);
    let mut pool = Pool::default();
    for port in [1, 0, 1, 0] {
        fabric.inject(Instant::ZERO, PortId(port), Load::Plain(1_500).packet(&mut pool, port)).expect("a known port");
    }
    let mut seen = Vec::new();
    fabric.advance(Instant::from_nanos(5_000_000), |delivery| {
        seen.push((delivery.departure.due.as_nanos(), delivery.pipe, delivery.port));
    });
    let (a, b) = ((PipeId(0), PortId(100)), (PipeId(1), PortId(101)));
    let expected = [(1_000_000, a), (1_000_000, b), (2_000_000, a), (2_000_000, b)];
    assert_eq!(seen, expected.map(|(due, (pipe, port))| (due, pipe, port)));
    assert_eq!(fabric.next_wake(), None);
}

#[test]
fn changes_and_cuts_move_the_wake() {
    let mut specs = specs();
    specs.truncate(1);
    specs[0].config = PipeConfig { rate: Rate::from_bits_per_second(12_000_000).into(), ..PipeConfig::default() };
    let mut fabric = Fabric::new(Seed::new(0), &specs);
    let mut pool = Pool::default();
    fabric.inject(Instant::ZERO, PortId(0), Load::Plain(1_500).packet(&mut pool, 0)).expect("a known port");
    assert_eq!(fabric.next_wake(), Some(Instant::from_nanos(1_000_000)));
    // Half is sent; the other half takes 2 ms at 3 Mbit/s.
    let slower = PipeChange { rate: Some(Rate::from_bits_per_second(3_000_000).into()), ..PipeChange::default() };
    fabric.change(Instant::from_nanos(500_000), PipeId(0), &slower);
    assert_eq!(fabric.next_wake(), Some(Instant::from_nanos(2_500_000)));
    fabric.set_up(Instant::from_nanos(600_000), PipeId(0), false);
    assert_eq!(fabric.next_wake(), None);
    let counters = fabric.counters().next().expect("one pipe");
    assert_eq!((counters.dropped.down.packets, counters.dropped.down.bytes), (1, 1_500));
}

#[test]
fn an_unknown_port_gives_the_packet_back() {
    let mut fabric = Fabric::new(Seed::new(0), &specs());
    let mut pool = Pool::default();
    for port in [PortId(PIPES), PortId(u32::MAX)] {
        let (error, packet) =
            fabric.inject(Instant::ZERO, port, Load::Plain(99).packet(&mut pool, 5)).expect_err("no such port");
        assert_eq!((error, number(&packet)), (UnknownPort(port), 5));
    }
    assert_eq!(fabric.next_wake(), None);
}

#[test]
#[should_panic(expected = "two pipes take packets from PortId(3)")]
fn two_pipes_cannot_share_an_entry() {
    let mut specs = specs();
    specs[4].from = PortId(3);
    let _ = Fabric::new(Seed::new(0), &specs);
}

/// A pipe behind port 0 with this delay for what the filter matches.
fn behind_port_zero(name: &str, filter: Option<Filter>, delay_ms: u64) -> PipeSpec {
    let config = PipeConfig { delay: Duration::from_millis(delay_ms).into(), ..PipeConfig::default() };
    PipeSpec {
        name: name.into(),
        config,
        coalesce: Duration::ZERO,
        from: PortId(0),
        filter,
        to: PortId(9),
        medium: Vec::new(),
    }
}

fn to_port(first: u16, last: u16) -> Option<Filter> {
    Some(Filter { to_port: Some(vec![Ports { first, last }]), ..Filter::default() })
}

/// Pipe 0 takes the rest, pipe 1 UDP ports 10 to 19, pipe 2 what is left of 15 to 29.
fn filtered_specs() -> Vec<PipeSpec> {
    vec![
        behind_port_zero("rest", None, 1),
        behind_port_zero("ten", to_port(10, 19), 2),
        behind_port_zero("fifteen", to_port(15, 29), 3),
    ]
}

/// A super-packet of UDP over IPv4 to `port` with `segments` of 100 bytes each; its number stands where `number` looks.
fn datagrams(pool: &mut Pool, number: u32, port: u16, segments: usize) -> Packet {
    let mut bytes = vec![0; 14 + 20 + 8 + segments * 100];
    bytes[0..4].copy_from_slice(&number.to_be_bytes());
    bytes[4..6].copy_from_slice(&100_u16.to_be_bytes());
    bytes[12..14].copy_from_slice(&[0x08, 0x00]);
    bytes[14] = 0x45;
    bytes[23] = 17;
    bytes[36..38].copy_from_slice(&port.to_be_bytes());
    let virtio = VirtioHeader {
        checksum: Some((34, 6)),
        segmentation: Segmentation::Udp,
        segment_size: 100,
        ..VirtioHeader::COMPLETE
    };
    pool.packet(virtio, &bytes)
}

/// The first filter that matches decides, and what none matches takes the pipe without one.
#[test]
fn the_first_filter_that_matches_takes_a_packet() {
    let mut fabric = Fabric::new(Seed::new(0), &filtered_specs());
    let mut pool = Pool::default();
    for (number, port) in [(0, 9), (1, 10), (2, 15), (3, 19), (4, 20), (5, 29), (6, 30)] {
        let packet = datagrams(&mut pool, number, port, 1);
        fabric.inject(Instant::ZERO, PortId(0), packet).expect("a known port");
    }
    // No IP packet: no filter on ports matches it.
    fabric.inject(Instant::ZERO, PortId(0), Load::Plain(60).packet(&mut pool, 7)).expect("a known port");
    let mut seen = Vec::new();
    fabric.advance(Instant::from_nanos(9_000_000), |Delivery { pipe, port, departure }| {
        assert_eq!(port, PortId(9));
        seen.push((number(&departure.packet), pipe.0, departure.due.as_nanos() / 1_000_000));
    });
    let expected = [(0, 0, 1), (6, 0, 1), (7, 0, 1), (1, 1, 2), (2, 1, 2), (3, 1, 2), (4, 2, 3), (5, 2, 3)];
    assert_eq!(seen, expected);
    let arrived: Vec<u64> = fabric.counters().map(|counters| counters.arrived.packets).collect();
    assert_eq!(arrived, [3, 3, 2]);
}

/// With many filters flows are remembered; more of them come, in turns, than there are places to remember them.
#[test]
fn many_filters_take_what_each_is_for_however_many_flows_there_are() {
    const PIPES: u16 = 100;
    let each = |pipe: u16| behind_port_zero(&format!("p{pipe}"), to_port(1_000 + pipe, 1_000 + pipe), 1);
    let specs: Vec<_> = std::iter::once(behind_port_zero("rest", None, 1)).chain((0..PIPES).map(each)).collect();
    let mut fabric = Fabric::new(Seed::new(0), &specs);
    let (mut pool, mut expected) = (Pool::default(), vec![0_u64; specs.len()]);
    for port in (0..3).flat_map(|_| 500..10_000) {
        let packet = datagrams(&mut pool, u32::from(port), port, 1);
        fabric.inject(Instant::ZERO, PortId(0), packet).expect("a known port");
        expected[port.checked_sub(1_000).filter(|pipe| *pipe < PIPES).map_or(0, |pipe| usize::from(pipe) + 1)] += 1;
    }
    let arrived: Vec<u64> = fabric.counters().map(|counters| counters.arrived.packets).collect();
    assert_eq!(arrived, expected);
}

/// A train is of one flow: all its segments take one pipe, and every one is counted there.
#[test]
fn a_train_takes_one_pipe() {
    let mut fabric = Fabric::new(Seed::new(0), &filtered_specs());
    let mut pool = Pool::default();
    let mut draw = numbers();
    let mut sent = [0; 3];
    for packet_number in 0..300 {
        let port = 5 + u16::try_from(draw(30)).expect("few");
        let segments = 1 + draw(40);
        let pipe = match port {
            10..=19 => 1,
            20..=29 => 2,
            _ => 0,
        };
        sent[pipe] += segments;
        let now = Instant::from_nanos(u64::from(packet_number) * 10_000);
        let packet = datagrams(&mut pool, packet_number, port, usize::try_from(segments).expect("few"));
        fabric.inject(now, PortId(0), packet).expect("a known port");
    }
    let mut taken: std::collections::BTreeMap<u32, PipeId> = std::collections::BTreeMap::new();
    fabric.advance(Instant::from_nanos(1_000_000_000), |delivery| {
        let pipe = *taken.entry(number(&delivery.departure.packet)).or_insert(delivery.pipe);
        assert_eq!(pipe, delivery.pipe, "all of a train comes out of one pipe");
    });
    assert_eq!(taken.len(), 300);
    let counted: Vec<u64> = fabric.counters().map(|counters| counters.departed.packets).collect();
    assert_eq!(counted, sent);
    assert!(fabric.counters().all(netloom_link::PipeCounters::balance));
}

/// A further pipe that gets nothing changes nothing for the others, and draws nothing from them.
#[test]
fn a_further_pipe_does_not_disturb_the_others() {
    let mut more = specs();
    let mut further = more[3].clone();
    further.name = "link3.far".into();
    // The packets of `drive` have port zero, if any.
    further.filter = to_port(7, 7);
    more.push(further);
    for step in [None, Some(Duration::from_nanos(333_333))] {
        assert_eq!(drive(&more, step), drive(&specs(), None));
    }
}

#[test]
#[should_panic(expected = "behind a port, no pipe takes what no filter matches")]
fn something_takes_the_rest() {
    let _ = Fabric::new(Seed::new(0), &filtered_specs()[1..]);
}

/// Losses by number count whatever crosses their pipe: reports of MLD, which kernels send of themselves, in the link's own pipe, and a
/// program's packets alone in a pipe that matches these.
#[test]
fn losses_by_number_count_the_packets_of_their_pipe() {
    let loss = "loss: {kind: packets, lost: [1, 3]}";
    let link = |text: &str| format!("nodes: [a, b]\nlinks: {{l: {{ends: [a, b], forward: {{{text}}}}}}}\n");
    let matched = link(&format!("pipes: {{dns: {{match: {{protocol: udp, to_port: 53}}, {loss}}}}}"));
    for (text, wanted) in [(link(loss), ["report", "1", "2"]), (matched, ["report", "report", "1"])] {
        let plan = netloom_lab::parse(&text, "t.yaml").unwrap_or_else(|wrong| panic!("{wrong}")).plan;
        let mut fabric = netloom_lab::fabric::fabric_of(&plan);
        // Two reports, then questions for names, each with its number.
        let report = v6(0, &[58, 0, 5, 2, 0, 0, 1, 0, 143, 0, 0, 0, 0, 0, 0, 0]);
        let question = |number: u8| v6(17, &[0x80, 0, 0, 53, 0, 9, 0, 0, number]);
        let mut heard = Vec::new();
        for (frame, at) in [report.clone(), report, question(0), question(1), question(2)].into_iter().zip(1..) {
            let now = Instant::from_nanos(at);
            fabric.inject(now, PortId(0), Packet::from_bytes(frame.into())).expect("a known port");
            fabric.advance(now, |delivery| {
                let bytes = delivery.departure.packet.bytes();
                heard.push(if bytes[20] == 17 { bytes[62].to_string() } else { "report".to_owned() });
            });
        }
        assert_eq!(heard, wanted, "{text}");
    }
}

/// A frame with a packet of IPv6: what comes next, and what that is.
fn v6(next: u8, body: &[u8]) -> Vec<u8> {
    let mut frame = vec![2; 12];
    frame.extend([0x86, 0xdd, 0x60, 0, 0, 0, 0, u8::try_from(body.len()).expect("short"), next, 64]);
    frame.extend([0xfd; 32]);
    frame.extend(body);
    frame
}

/// An Ethernet frame of 60 bytes with ICMPv6 of this type, behind the options that reports of multicast listeners have, or without.
fn icmpv6(pool: &mut Pool, kind: u8, has_options: bool) -> Packet {
    let mut bytes = vec![0; 14 + 40 + 16];
    bytes[12..14].copy_from_slice(&[0x86, 0xdd]);
    bytes[14] = 0x60;
    bytes[19] = 16;
    bytes[20] = if has_options { 0 } else { 58 };
    bytes[54] = if has_options { 58 } else { kind };
    bytes[62] = kind;
    pool.packet(VirtioHeader::COMPLETE, &bytes)
}

#[test]
fn some_packets_are_counted_for_themselves() {
    let mut fabric = Fabric::new(Seed::new(0), &[behind_port_zero("one", None, 1)]);
    let ten = Subset { filter: to_port(10, 10).expect("a filter"), sender: Some(Sender::Programs) };
    let programs = Subset { filter: Filter::default(), sender: Some(Sender::Programs) };
    [ten, Subset::of_kernels(), programs].into_iter().for_each(|subset| fabric.watch(PipeId(0), subset));
    let mut pool = Pool::default();
    // Two for port 10; then echo, a report, a solicitation, and a frame without IP.
    let all = [
        datagrams(&mut pool, 1, 10, 2),
        datagrams(&mut pool, 2, 11, 1),
        icmpv6(&mut pool, 128, false),
        icmpv6(&mut pool, 143, true),
        icmpv6(&mut pool, 135, false),
        Load::Plain(60).packet(&mut pool, 7),
    ];
    for packet in all {
        fabric.inject(Instant::ZERO, PortId(0), packet).expect("a known port");
    }
    fabric.advance(Instant::from_nanos(9_000_000), |_| ());
    fabric.set_up(Instant::from_nanos(9_500_000), PipeId(0), false);
    fabric.inject(Instant::from_nanos(9_600_000), PortId(0), datagrams(&mut pool, 3, 10, 1)).expect("a known port");
    let counted = |of_fabric: &Fabric| -> Vec<[u64; 3]> {
        let of = |one: &netloom_link::Watched| {
            [one.counters.arrived.packets, one.counters.departed.packets, one.counters.dropped.packets()]
        };
        of_fabric.watched().next().expect("a pipe").iter().map(of).collect()
    };
    assert_eq!(counted(&fabric), [[3, 2, 1], [3, 3, 0], [5, 4, 1]]);
    fabric.begin_counting(Instant::from_nanos(10_000_000));
    assert_eq!(counted(&fabric), [[0; 3]; 3]);
}

/// Whatever was counted before is forgotten, and what is inside is known to be.
#[test]
fn everything_balances_from_where_counting_begins() {
    let specs = specs();
    let mut fabric = Fabric::new(Seed::new(3), &specs);
    let (mut pool, mut draw, mut now, mut initial) = (Pool::default(), numbers(), Instant::ZERO, 0);
    for packet_number in 0..600 {
        now = now + Duration::from_nanos(draw(40_000));
        fabric.advance(now, |_| ());
        if packet_number % 100 == 50 {
            fabric.begin_counting(now);
            initial += fabric.counters().map(|counters| counters.initial.packets).sum::<u64>();
            assert!(fabric.counters().all(|counters| counters.initial.packets == counters.in_flight()));
            assert!(fabric.counters().all(|counters| counters.arrived.packets + counters.departed.packets == 0));
        }
        let load = Load::Train { transport: Transport::Tcp, full: 1 + draw(20) as usize, payload: 1_448, last: 0 };
        let port = PortId(u32::try_from(draw(u64::from(PIPES))).expect("few ports"));
        fabric.inject(now, port, load.packet(&mut pool, packet_number)).expect("a known port");
        fabric.recycle(&mut pool);
        assert!(fabric.counters().all(netloom_link::PipeCounters::balance));
    }
    assert!(initial > 100, "{initial}");
}

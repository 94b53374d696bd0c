//! Many pipes together: who is handed out when, whatever the driver's habits.

#[path = "../../link/tests/common/mod.rs"]
mod common;

use common::{Load, Transport, first_segment, number};
use netloom_fabric::{Fabric, Handout, PipeId, PipeSpec, PortId, UnknownPort};
use netloom_link::{LossConfig, PipeChange, PipeConfig, QueueConfig};
use netloom_packet::Pool;
use netloom_units::{Duration, Instant, Limit, Probability, Rate, Seed};

const PIPES: u32 = 12;

/// A handout: pipe, port, packet, first segment, segments, due.
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
        fabric.advance(call, |Handout { pipe, port, departure }| {
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
    fabric.advance(Instant::from_nanos(5_000_000), |handout| {
        seen.push((handout.departure.due.as_nanos(), handout.pipe, handout.port));
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

//! CoDel and the disciplines with several queues: against naive models of each, and what their papers promise.
//!
//! The cases are the same in every run; `PROPTEST_CASES=20000` tries more of them.

mod fairness;
mod naive;

use naive::{Drops, Name, Segment};
use netloom_link::{
    ClassConfig, CodelConfig, CodelControl, Division, DropLog, DrrConfig, Filter, FqCodelConfig, Pipe, PipeChange,
    PipeConfig, Ports, QueueConfig,
};
use netloom_packet::{Ecn, Packet, Pool};
use netloom_testing::loads::{Load, Transport, alone, first_segment, number};
use netloom_units::{Bytes, Duration, Instant, Limit, Rate, Seed};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

const SEED: Seed = Seed::new(7);

/// One byte takes one nanosecond, so that every instant is whole.
const RATE: u64 = 8_000_000_000;

/// What is sent: a load, from this port, by a sender that understands marks or does not.
#[derive(Clone, Copy, Debug)]
struct Sent {
    load: Load,
    port: u16,
    capable: bool,
}

impl Sent {
    fn packet(self, pool: &mut Pool, number: u32) -> Packet {
        self.load.packet_of(pool, number, if self.capable { 0b10 } else { 0 }, self.port)
    }
}

#[derive(Clone, Debug)]
enum Event {
    Send(Sent),
    Change(QueueConfig),
    /// In bits per second; none for no limit.
    Rate(Option<u64>),
    Cut,
    Join,
}

#[derive(Clone, Debug)]
struct Case {
    queue: QueueConfig,
    events: Vec<(Instant, Event)>,
}

/// What left, when and whether with a mark; and what was dropped.
#[derive(Debug, Default, PartialEq, Eq)]
struct Outcome {
    left: Vec<(u64, Name, bool)>,
    drops: Drops,
}

fn limits() -> impl Strategy<Value = Limit> {
    prop_oneof![(1..30_u32).prop_map(Limit::Packets), (1..30_000_u64).prop_map(|bytes| Limit::Bytes(Bytes::new(bytes))),]
}

fn controls() -> impl Strategy<Value = CodelControl> {
    let span = |range: std::ops::Range<u64>| range.prop_map(Duration::from_nanos);
    (span(1..8_000), span(1..30_000), 0..3_000_u64, any::<bool>()).prop_map(|(target, more, mtu, ecn)| CodelControl {
        target,
        interval: target + more,
        mtu: Bytes::new(mtu),
        ecn,
    })
}

/// Classes by source port, one of them for the rest.
fn classes(heaviest: u32) -> impl Strategy<Value = Vec<ClassConfig>> {
    vec((1..=heaviest, limits()), 1..6).prop_map(|drawn| {
        let last = drawn.len() - 1;
        let class = |(index, (weight, limit)): (usize, (u32, Limit))| {
            let port = u16::try_from(index + 1).expect("few classes");
            let filter = Filter { from_port: Some(vec![Ports::one(port)]), ..Filter::default() };
            ClassConfig { name: format!("c{index}"), filter: (index < last).then_some(filter), weight, limit }
        };
        drawn.into_iter().enumerate().map(class).collect()
    })
}

fn divisions() -> impl Strategy<Value = Division> {
    prop_oneof![
        (1..9_u32, limits()).prop_map(|(count, limit)| Division::Flows { count, limit }),
        classes(20).prop_map(Division::Classes),
    ]
}

fn queues() -> impl Strategy<Value = QueueConfig> {
    let fq_codel = (1..40_u32, 1..40_000_u64, 1..9_u32, 30..3_000_u64, controls());
    prop_oneof![
        (limits(), controls()).prop_map(|(limit, control)| QueueConfig::Codel(CodelConfig { limit, control })),
        fq_codel.prop_map(|(limit, memory, flows, quantum, control)| {
            let (memory, quantum) = (Bytes::new(memory), Bytes::new(quantum));
            QueueConfig::FqCodel(FqCodelConfig { limit, memory, flows, quantum, control })
        }),
        (1..3_000_u64, divisions())
            .prop_map(|(quantum, division)| QueueConfig::Drr(DrrConfig { quantum: Bytes::new(quantum), division })),
        divisions().prop_map(QueueConfig::Wf2q),
        classes(1).prop_map(QueueConfig::Priority),
    ]
}

fn sends() -> impl Strategy<Value = Event> {
    let transport = prop_oneof![Just(Transport::Tcp), Just(Transport::Udp)];
    let train =
        (transport, 1..20_usize, 1..1_460_usize, 0..1_460_usize).prop_map(|(transport, full, payload, last)| {
            Load::Train { transport, full, payload, last: last.min(payload - 1) }
        });
    let load = prop_oneof![3 => (28..1_500_usize).prop_map(Load::Plain), 1 => train];
    (load, 0..7_u16, any::<bool>()).prop_map(|(load, port, capable)| Event::Send(Sent { load, port, capable }))
}

fn timed(event: impl Strategy<Value = Event>) -> impl Strategy<Value = Vec<(Instant, Event)>> {
    let gap = prop_oneof![3 => Just(0), 3 => 1..1_500_u64, 1 => 1..20_000_u64];
    vec((gap, event), 1..60).prop_map(|events| {
        let mut now = 0;
        let mut later = |span| {
            now += span;
            Instant::from_nanos(now)
        };
        events.into_iter().map(|(span, one)| (later(span), one)).collect()
    })
}

fn steady() -> impl Strategy<Value = Case> {
    (queues(), timed(sends())).prop_map(|(queue, events)| Case { queue, events })
}

fn changing() -> impl Strategy<Value = Case> {
    let event = prop_oneof![
        12 => sends(),
        3 => queues().prop_map(Event::Change),
        2 => prop_oneof![Just(None), Just(Some(RATE)), Just(Some(7_000_003)), Just(Some(3_000_000_000_000))]
            .prop_map(Event::Rate),
        1 => Just(Event::Cut),
        2 => Just(Event::Join),
    ];
    (queues(), timed(event)).prop_map(|(queue, events)| Case { queue, events })
}

fn names(packet: &Packet) -> impl Iterator<Item = Name> + use<> {
    let (number, first) = (number(packet), first_segment(packet));
    (first..first + packet.segments()).map(move |index| (number, index))
}

/// Plays a case through a pipe; `step`: how long it is left alone between two calls, or none to call at every event.
fn play(case: &Case, step: Option<u64>, separately: bool) -> Outcome {
    let rate = Rate::from_bits_per_second(RATE);
    let config = PipeConfig { rate: rate.into(), queue: case.queue.clone(), ..PipeConfig::default() };
    let mut pipe = Pipe::new(&config, Duration::ZERO, SEED);
    let (mut pool, mut drop_log, mut outcome) = (Pool::default(), DropLog::new(), Outcome::default());
    let mut count = 0;
    for (at, event) in &case.events {
        depart(&mut pipe, step, Some(*at), &mut outcome, &mut drop_log);
        match event {
            Event::Send(sent) => {
                let packet = sent.packet(&mut pool, count);
                count += 1;
                let pieces = if separately { alone(packet) } else { vec![packet] };
                pieces.into_iter().for_each(|piece| pipe.push(*at, piece, &mut drop_log));
            }
            Event::Change(queue) => {
                let change = PipeChange { queue: Some(queue.clone()), ..PipeChange::default() };
                pipe.change(*at, &change, &mut drop_log);
            }
            Event::Rate(bits) => {
                let limit = bits.and_then(Rate::from_bits_per_second);
                pipe.change(*at, &PipeChange { rate: Some(limit.into()), ..PipeChange::default() }, &mut drop_log);
            }
            Event::Cut => pipe.set_up(*at, false, &mut drop_log),
            Event::Join => pipe.set_up(*at, true, &mut drop_log),
        }
        assert!(pipe.counters().balance(), "after {event:?}: {:?}", pipe.counters());
    }
    depart(&mut pipe, step, None, &mut outcome, &mut drop_log);
    assert_eq!(pipe.counters().queued.packets + pipe.counters().travelling.packets, 0, "an idle pipe is empty");
    let drops = drop_log.iter().flat_map(|drop| names(&drop.packet).map(|name| (drop.at.as_nanos(), name, drop.cause)));
    outcome.drops = drops.collect();
    outcome
}

fn depart(pipe: &mut Pipe, step: Option<u64>, end: Option<Instant>, outcome: &mut Outcome, drop_log: &mut DropLog) {
    while let Some(wake) = pipe.next_wake() {
        let call = step.map_or(wake, |step| Instant::from_nanos(wake.as_nanos().next_multiple_of(step)));
        if end.is_some_and(|end| call >= end) {
            return;
        }
        while let Some(departure) = pipe.pop(call, drop_log) {
            let marked = departure.packet.ecn() == Some(Ecn::Congested);
            outcome.left.extend(names(&departure.packet).map(|name| (departure.due.as_nanos(), name, marked)));
        }
    }
}

/// The segments of every packet that is sent, with the instant of their arrival.
fn arrivals(case: &Case) -> Vec<Segment> {
    let mut pool = Pool::default();
    let mut all = Vec::new();
    let sends = case.events.iter().filter_map(|(at, event)| match event {
        Event::Send(sent) => Some((at.as_nanos(), sent)),
        _ => None,
    });
    for ((arrival, sent), number) in sends.zip(0..) {
        let packet = sent.packet(&mut pool, number);
        let flow = packet.flow().map(|flow| (flow.protocol, flow.source_port));
        all.extend((0..packet.segments()).map(|index| Segment {
            name: (number, index),
            size: packet.segment_size(index).get(),
            arrival,
            flow,
            capable: sent.capable,
            marked: false,
        }));
    }
    all
}

/// Plays a case that changes nothing with the naive model: one transmitter, one nanosecond per byte.
fn play_naively(case: &Case) -> Outcome {
    let mut queue = naive::queue(&case.queue, SEED.derive("queue"));
    let is_bypassed = matches!(case.queue, QueueConfig::Priority(_));
    let (mut outcome, mut waiting) = (Outcome::default(), arrivals(case).into_iter().peekable());
    let mut sending: Option<(u64, Segment)> = None;
    loop {
        let arrives = waiting.peek().map(|segment| segment.arrival);
        match sending {
            Some((end, segment)) if arrives.is_none_or(|at| end <= at) => {
                outcome.left.push((end, segment.name, segment.marked));
                sending = queue.pop(end, &mut outcome.drops).map(|next| (end + next.size, next));
            }
            _ => {
                let Some(segment) = waiting.next() else { return outcome };
                let (now, is_idle) = (segment.arrival, sending.is_none());
                if is_idle && is_bypassed {
                    sending = Some((now + segment.size, segment));
                    continue;
                }
                queue.push(segment, is_idle, &mut outcome.drops);
                if is_idle {
                    sending = queue.pop(now, &mut outcome.drops).map(|next| (now + next.size, next));
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(7),
        ..ProptestConfig::default()
    })]

    #[test]
    fn each_does_what_its_naive_model_does(case in steady()) {
        case.queue.check().expect("a reasonable queue");
        prop_assert_eq!(play(&case, None, false), play_naively(&case));
    }

    #[test]
    fn a_train_is_its_segments(case in changing()) {
        prop_assert_eq!(play(&case, None, false), play(&case, None, true));
    }

    #[test]
    fn late_calls_change_nothing(case in changing(), step in 1..200_000_u64) {
        prop_assert_eq!(play(&case, Some(step), false), play(&case, None, false));
    }

    #[test]
    fn everything_leaves_once_or_is_dropped_once_and_flows_stay_in_order(case in changing()) {
        let outcome = play(&case, None, false);
        let arrived = arrivals(&case);
        let left = outcome.left.iter().map(|(_, name, _)| *name);
        let mut all: Vec<Name> = left.clone().chain(outcome.drops.iter().map(|(_, name, _)| *name)).collect();
        all.sort_unstable();
        prop_assert!(all.iter().copied().eq(arrived.iter().map(|segment| segment.name)));
        for flow in arrived.iter().map(|segment| segment.flow) {
            let own = |name: &Name| arrived.iter().any(|segment| segment.name == *name && segment.flow == flow);
            prop_assert!(left.clone().filter(own).is_sorted(), "{flow:?} was reordered");
        }
    }
}

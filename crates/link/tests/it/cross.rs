//! What holds for pipes that do something by themselves, with cross traffic and cuts, whenever they are called.
//!
//! The cases are the same in every run; `PROPTEST_CASES=20000` tries more of them.

use netloom_link::{
    Cause, CrossConfig, DelayConfig, DropLog, FlapConfig, FlapTime, LossConfig, OnOff, OnTheWire, PacketSize, Pipe,
    PipeChange, PipeConfig, PipeCounters, QueueConfig, Replay, StateConfig, Stream, Traffic,
};
use netloom_packet::Pool;
use netloom_testing::loads::{Load, Transport, number};
use netloom_units::{Bytes, Duration, Instant, Limit, Probability, Rate, Seed};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// All cross traffic of a case ends by then, so that a case ends.
const END: Duration = Duration::from_millis(80);

#[derive(Clone, Debug)]
enum Event {
    Send(Load),
    Change(Box<PipeChange>),
    Up(bool),
}

#[derive(Clone, Debug)]
struct Case {
    config: PipeConfig,
    events: Vec<(Instant, Event)>,
}

/// Packets that left, and packets that were dropped, each with its number, its bytes and its instant.
#[derive(Debug, PartialEq)]
struct Outcome {
    left: Vec<(u32, u64, Instant)>,
    dropped: Vec<(u32, u64, Instant, Cause)>,
    counters: PipeCounters,
}

fn rates(most: u64) -> impl Strategy<Value = Rate> {
    (100_000..most).prop_map(|bits| Rate::from_bits_per_second(bits).expect("not zero"))
}

fn streams() -> impl Strategy<Value = Stream> {
    let sizes =
        prop_oneof![Just(PacketSize::Imix), (28..1_500_u64).prop_map(|bytes| PacketSize::Fixed(Bytes::new(bytes))),];
    (rates(20_000_000), sizes).prop_map(|(rate, size)| Stream { rate, size })
}

fn traffic() -> impl Strategy<Value = Traffic> {
    let ms = |range: std::ops::Range<u64>| range.prop_map(Duration::from_millis);
    let on_off = (streams(), ms(200..500), ms(1..50), 1.01..3.0, 1..4_u16)
        .prop_map(|(stream, on, off, shape, sources)| OnOff { stream, on, off, shape, sources });
    let replay = (vec((0..500_000_u64, 0..1_500_u64), 2..40), any::<bool>()).prop_map(|(gaps, repeat)| {
        let mut at = Duration::ZERO;
        let mut packet = |(gap, size)| {
            at = at + Duration::from_nanos(gap);
            (at, Bytes::new(size))
        };
        let packets: Vec<_> = gaps.into_iter().map(&mut packet).collect();
        let repeat = repeat && packets[packets.len() - 1].0 > packets[0].0 + Duration::from_millis(1);
        Replay { file: "x.pcap".into(), packets: packets.into(), repeat }
    });
    prop_oneof![
        streams().prop_map(Traffic::Constant),
        streams().prop_map(Traffic::Poisson),
        on_off.prop_map(Traffic::OnOff),
        replay.prop_map(Traffic::Replay),
    ]
}

fn cross() -> impl Strategy<Value = Vec<CrossConfig>> {
    let source = (traffic(), 0..20_000_000_u64).prop_map(|(traffic, start)| CrossConfig {
        traffic,
        start: Duration::from_nanos(start),
        stop: Some(END),
    });
    vec(source, 0..3)
}

fn states() -> impl Strategy<Value = StateConfig> {
    let wire = prop_oneof![Just(OnTheWire::Delivered), Just(OnTheWire::Lost)];
    let time = || {
        (1_000_000..20_000_000_u64, any::<bool>()).prop_map(|(nanos, random)| {
            let span = Duration::from_nanos(nanos);
            if random { FlapTime::Exponential(span) } else { FlapTime::Constant(span) }
        })
    };
    let start = proptest::option::of((0..20_000_000_u64).prop_map(Duration::from_nanos));
    let flap =
        proptest::option::of((time(), time(), start).prop_map(|(up, down, start)| FlapConfig { up, down, start }));
    (wire, flap).prop_map(|(on_the_wire, flap)| StateConfig { on_the_wire, flap })
}

fn queues() -> impl Strategy<Value = QueueConfig> {
    prop_oneof![
        (0..40_u32).prop_map(Limit::Packets),
        (0..40_000_u64).prop_map(|bytes| Limit::Bytes(Bytes::new(bytes))),
        (0..2_000_000_u64).prop_map(|nanos| Limit::Time(Duration::from_nanos(nanos))),
    ]
    .prop_map(QueueConfig::DropTail)
}

fn configs() -> impl Strategy<Value = PipeConfig> {
    let rate = prop_oneof![1 => Just(None), 1 => Just(Rate::from_bits_per_second(u64::MAX)), 6 => rates(50_000_000).prop_map(Some)];
    let delay = prop_oneof![Just(0), 0..20_000_000_u64].prop_map(Duration::from_nanos);
    let chance = |parts| Probability::from_parts_per_trillion(parts).expect("at most 1");
    let loss = prop_oneof![Just(0), 0..500_000_000_000_u64];
    (rate, delay, queues(), loss, 0..200_000_000_000_u64, states(), cross()).prop_map(
        move |(rate, delay, queue, loss, duplicate, state, cross)| {
            let mut config =
                PipeConfig { rate: rate.into(), delay: delay.into(), queue, state, cross, ..PipeConfig::default() };
            config.loss = LossConfig::Independent(chance(loss));
            config.duplicate.probability = chance(duplicate);
            config
        },
    )
}

fn events() -> impl Strategy<Value = Vec<(Instant, Event)>> {
    let train = (1..10_usize, 1..1_460_usize).prop_map(|(full, payload)| Load::Train {
        transport: Transport::Tcp,
        full,
        payload,
        last: 0,
    });
    let load = prop_oneof![2 => (0..1_500_usize).prop_map(Load::Plain), 1 => train];
    let change = prop_oneof![
        cross().prop_map(|cross| PipeChange { cross: Some(cross), ..PipeChange::default() }),
        states().prop_map(|state| PipeChange { state: Some(state), ..PipeChange::default() }),
        rates(50_000_000).prop_map(|rate| PipeChange { rate: Some(Some(rate).into()), ..PipeChange::default() }),
    ];
    let event = prop_oneof![
        8 => load.prop_map(Event::Send),
        1 => change.prop_map(|change| Event::Change(Box::new(change))),
        1 => any::<bool>().prop_map(Event::Up),
    ];
    let gap = prop_oneof![Just(0), 1..20_000_u64, 1..6_000_000_u64];
    vec((gap, event), 1..30).prop_map(|events| {
        let mut now = Instant::ZERO;
        let mut later = |nanos| {
            now = now + Duration::from_nanos(nanos);
            now
        };
        events.into_iter().map(|(nanos, one)| (later(nanos), one)).collect()
    })
}

fn cases() -> impl Strategy<Value = Case> {
    (configs(), events()).prop_map(|(config, events)| Case { config, events })
}

/// Departures are asked for at every wake, or at multiples of a span only.
fn play(case: &Case, every: Option<Duration>) -> Outcome {
    let mut pipe = Pipe::new(&case.config, Duration::ZERO, Seed::new(7));
    let (mut pool, mut drop_log, mut left) = (Pool::default(), DropLog::new(), Vec::new());
    for ((at, event), count) in case.events.iter().zip(0..) {
        depart(&mut pipe, every, Some(*at), &mut left, &mut drop_log);
        match event {
            Event::Send(load) => pipe.push(*at, load.packet(&mut pool, count), &mut drop_log),
            Event::Change(change) => pipe.change(*at, change, &mut drop_log),
            Event::Up(up) => pipe.set_up(*at, *up, &mut drop_log),
        }
        assert!(pipe.counters().balance(), "after {event:?}: {:?}", pipe.counters());
    }
    depart(&mut pipe, every, None, &mut left, &mut drop_log);
    let counters = *pipe.counters();
    assert_eq!((counters.queued.packets, counters.travelling.packets), (0, 0), "an idle pipe is empty");
    assert_eq!((counters.cross.queued.packets, counters.cross.travelling.packets), (0, 0), "of cross traffic as well");
    let dropped =
        drop_log.iter().map(|one| (number(&one.packet), one.packet.size().get(), one.at, one.cause)).collect();
    Outcome { left, dropped, counters }
}

fn depart(
    pipe: &mut Pipe,
    every: Option<Duration>,
    end: Option<Instant>,
    left: &mut Vec<(u32, u64, Instant)>,
    drop_log: &mut DropLog,
) {
    while let Some(wake) = pipe.next_wake() {
        let nanos =
            every.map_or(Some(wake.as_nanos()), |step| wake.as_nanos().checked_next_multiple_of(step.as_nanos()));
        let call = nanos.map_or(Instant::MAX, Instant::from_nanos);
        if end.is_some_and(|end| call >= end) {
            return;
        }
        while let Some(departure) = pipe.pop(call, drop_log) {
            assert!(departure.due <= call, "{departure:?} leaves at {call}");
            left.push((number(&departure.packet), departure.packet.size().get(), departure.due));
        }
        assert!(
            pipe.next_wake().is_none_or(|next| next > call),
            "called at {call}, it wants to be called at once again"
        );
        assert!(pipe.counters().balance(), "at {call}: {:?}", pipe.counters());
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(7),
        ..ProptestConfig::default()
    })]

    #[test]
    fn late_calls_change_nothing_beside_cross_traffic_and_cuts(case in cases(), step in 1_000..20_000_000_u64) {
        prop_assert_eq!(play(&case, Some(Duration::from_nanos(step))), play(&case, None));
        prop_assert_eq!(play(&case, Some(Duration::from_secs(1_000))), play(&case, None));
    }

    /// Cross traffic alone, without a queue to fill: all that is sent is sent, and nothing of it is delivered.
    #[test]
    fn cross_traffic_is_never_handed_out(sources in cross()) {
        let config = PipeConfig { cross: sources, ..PipeConfig::default() };
        let outcome = play(&Case { config, events: vec![] }, None);
        prop_assert!(outcome.left.is_empty());
        prop_assert_eq!(outcome.counters.cross.arrived, outcome.counters.cross.departed);
        prop_assert_eq!(outcome.counters.arrived.packets, 0);
    }
}

fn rate(bits: u64) -> Rate {
    Rate::from_bits_per_second(bits).expect("not zero")
}

fn constant(bits: u64, bytes: u64) -> CrossConfig {
    let stream = Stream { rate: rate(bits), size: PacketSize::Fixed(Bytes::new(bytes)) };
    CrossConfig { traffic: Traffic::Constant(stream), start: Duration::ZERO, stop: None }
}

#[test]
fn an_idle_pipe_does_its_cross_traffic_in_portions() {
    // 83,333 packets per second.
    let config = PipeConfig {
        rate: Some(rate(1_000_000_000)).into(),
        cross: vec![constant(1_000_000_000, 1_500)],
        ..PipeConfig::default()
    };
    let (mut pipe, mut drop_log) = (Pipe::new(&config, Duration::ZERO, Seed::new(1)), DropLog::new());
    let (mut wakes, mut now) = (0, Instant::ZERO);
    while now < Instant::ZERO + Duration::from_secs(1) {
        now = pipe.next_wake().expect("there is always more");
        assert!(pipe.pop(now, &mut drop_log).is_none());
        wakes += 1;
    }
    assert!((95..=105).contains(&wakes), "{wakes} wakes in a second");
    let cross = pipe.counters().cross;
    assert!(cross.arrived.packets > 83_000, "{cross:?}");
    assert_eq!((cross.dropped.packets, drop_log.len()), (0, 0));
}

/// What flows through a long delay line does not wake the pipe more often than what leaves it, or the portions.
#[test]
fn packets_on_the_wire_do_not_wake_the_pipe_for_each_packet_of_the_cross_traffic() {
    let config = PipeConfig {
        rate: Some(rate(1_000_000_000)).into(),
        delay: DelayConfig::from(Duration::from_millis(100)),
        cross: vec![constant(500_000_000, 1_500)],
        ..PipeConfig::default()
    };
    let (mut pipe, mut drop_log) = (Pipe::new(&config, Duration::ZERO, Seed::new(1)), DropLog::new());
    pipe.push(Instant::ZERO, Load::Plain(1_500).packet(&mut Pool::default(), 0), &mut drop_log);
    let mut wakes = 0;
    let departure = loop {
        let now = pipe.next_wake().expect("a packet is inside");
        wakes += 1;
        if let Some(departure) = pipe.pop(now, &mut drop_log) {
            break departure;
        }
    };
    assert!(wakes < 20, "{wakes} wakes");
    // The cross traffic of this instant came first: 12 us for that, 12 us for the packet, and 100 ms.
    assert_eq!(departure.due, Instant::from_nanos(100_024_000));
    assert_eq!(departure.busy, Duration::ZERO, "nobody sees the end of the cross traffic before it");
}

/// Cross traffic is away and its last packets are still in front of a packet that waits.
#[test]
fn a_packet_behind_cross_traffic_that_was_switched_off_leaves() {
    let config = PipeConfig {
        rate: Some(rate(8_000_000)).into(),
        cross: vec![constant(80_000_000, 1_000)],
        ..PipeConfig::default()
    };
    let (mut pipe, mut drop_log) = (Pipe::new(&config, Duration::ZERO, Seed::new(1)), DropLog::new());
    let now = Instant::from_nanos(250_000);
    // Those of 0, 0.1 and 0.2 ms take 1 ms each.
    pipe.push(now, Load::Plain(1_000).packet(&mut Pool::default(), 0), &mut drop_log);
    pipe.change(now, &PipeChange { cross: Some(vec![]), ..PipeChange::default() }, &mut drop_log);
    let mut left = Vec::new();
    depart(&mut pipe, None, None, &mut left, &mut drop_log);
    assert_eq!(left, [(0, 1_000, Instant::from_nanos(4_000_000))]);
}

/// Of a recording whose packets all come at once, through a transmitter that takes no time.
#[test]
fn a_hundred_thousand_packets_at_one_instant_are_no_deep_recursion() {
    let packets = vec![(Duration::ZERO, Bytes::new(100)); 100_000];
    let replay = Replay { file: "x.pcap".into(), packets: packets.into(), repeat: false };
    let config = PipeConfig {
        rate: Rate::from_bits_per_second(u64::MAX).into(),
        cross: vec![CrossConfig { traffic: Traffic::Replay(replay), start: Duration::ZERO, stop: None }],
        ..PipeConfig::default()
    };
    let outcome = play(&Case { config, events: vec![] }, None);
    assert_eq!(outcome.counters.cross.departed.packets, 100_000);
}

//! Queue disciplines for one class of traffic: against a naive model of each, and whatever is done to them.
//!
//! The cases are the same in every run; `PROPTEST_CASES=20000` tries more of them.

mod naive;

use naive::{Fate, NANOS_PER_BYTE, Packet, nanos};
use netloom_link::{
    Cause, DropLog, DualPi2Config, Overload, PieConfig, Pipe, PipeChange, PipeConfig, QueueConfig, RateConfig,
    RedConfig,
};
use netloom_packet::{Ecn, Pool};
use netloom_testing::loads::{Load, Transport, alone, first_segment, number};
use netloom_units::{Bytes, Duration, Instant, Limit, Probability, Rate, Seed};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

const SEED: Seed = Seed::new(7);

fn rate() -> Rate {
    Rate::from_bits_per_second(8_000_000_000 / NANOS_PER_BYTE).expect("above zero")
}

fn share(thousandths: u64) -> Probability {
    Probability::from_parts_per_trillion(thousandths * 1_000_000_000).expect("at most 1")
}

fn limits() -> impl Strategy<Value = Limit> {
    prop_oneof![
        (0..60_u32).prop_map(Limit::Packets),
        (0..60_000_u64).prop_map(|bytes| Limit::Bytes(Bytes::new(bytes))),
        (0..60_000_000_u64).prop_map(|span| Limit::Time(nanos(span))),
    ]
}

prop_compose! {
    fn reds()(
        limit in limits(),
        (min, above) in (0..8_u32, 1..12_u32),
        in_bytes in any::<bool>(),
        (probability, weight) in (1..=1_000_u64, 1..=1_000_u64),
        (gentle, ecn, hard_drop, byte_mode, wait) in any::<(bool, bool, bool, bool, bool)>(),
        mean in 1..2_000_u64,
    ) -> QueueConfig {
        let level = |level: u32| if in_bytes { Limit::Bytes(Bytes::new(u64::from(level) * 900)) } else { Limit::Packets(level) };
        QueueConfig::Red(RedConfig {
            limit,
            min: level(min),
            max: level(min + above),
            probability: share(probability),
            weight: share(weight),
            gentle,
            ecn,
            hard_drop,
            byte_mode,
            wait,
            mean_packet: Bytes::new(mean),
        })
    }
}

prop_compose! {
    fn pies()(
        limit in limits(),
        target in 1..20_000_000_u64,
        update in 100_000..40_000_000_u64,
        burst in 0..60_000_000_u64,
        (ecn, byte_mode, derandomize) in any::<(bool, bool, bool)>(),
        mean in 1..1_500_u64,
    ) -> QueueConfig {
        QueueConfig::Pie(PieConfig {
            limit,
            target: nanos(target),
            update: nanos(update),
            burst: nanos(burst),
            ecn,
            byte_mode,
            mean_packet: Bytes::new(mean),
            derandomize,
        })
    }
}

prop_compose! {
    fn dual_pi2s()(
        limit in limits(),
        target in 1..20_000_000_u64,
        update in 100_000..40_000_000_u64,
        rtt_max in 1_000_000..100_000_000_u64,
        coupling in 1..4_u8,
        (min, range) in (0..4_000_000_u64, 0..4_000_000_u64),
        classic_share in 0..1_000_u64,
        overload in prop_oneof![Just(Overload::Rfc), Just(Overload::Linux), Just(Overload::Overflow)],
    ) -> QueueConfig {
        QueueConfig::DualPi2(DualPi2Config {
            limit,
            target: nanos(target),
            update: nanos(update),
            rtt_max: nanos(rtt_max),
            coupling,
            min: nanos(min),
            range: nanos(range),
            classic_share: share(classic_share),
            overload,
        })
    }
}

fn queues() -> impl Strategy<Value = QueueConfig> {
    prop_oneof![limits().prop_map(QueueConfig::DropHead), reds(), pies(), dual_pi2s()]
}

/// Arrivals about as fast as the transmitter, with bursts and pauses.
fn packets() -> impl Strategy<Value = Vec<Packet>> {
    let gap = prop_oneof![4 => Just(0), 8 => 0..1_000_000_u64, 4 => 0..3_000_000_u64, 1 => 0..200_000_000_u64];
    vec((gap, 20..1_500_u64, 0..4_u8), 1..150).prop_map(|all| {
        let mut now = 0;
        let numbered = all.into_iter().zip(0..);
        numbered
            .map(|((span, size, ecn), number)| {
                now += span;
                Packet { number, size, ecn, arrival: now }
            })
            .collect()
    })
}

fn pipe(queue: &QueueConfig) -> Pipe {
    let config = PipeConfig { rate: RateConfig::Constant(rate()), queue: queue.clone(), ..PipeConfig::default() };
    Pipe::new(&config, Duration::ZERO, SEED)
}

/// What becomes of these packets in a pipe without delay.
fn fates(queue: &QueueConfig, packets: &[Packet]) -> Vec<Fate> {
    let (mut pipe, mut pool, mut drop_log, mut fates) = (pipe(queue), Pool::default(), DropLog::new(), Vec::new());
    for packet in packets {
        let load = Load::Plain(usize::try_from(packet.size).expect("a short packet"));
        let made = load.packet_with(&mut pool, packet.number, packet.ecn);
        pipe.push(Instant::from_nanos(packet.arrival), made, &mut drop_log);
        assert!(pipe.counters().balance(), "{:?}", pipe.counters());
    }
    while let Some(departure) = pipe.pop(Instant::MAX, &mut drop_log) {
        let is_marked = departure.packet.ecn() == Some(Ecn::Congested);
        fates.push(Fate::Left(number(&departure.packet), departure.due.as_nanos(), is_marked));
    }
    fates.extend(drop_log.iter().map(|one| Fate::Dropped(number(&one.packet), one.at.as_nanos(), one.cause)));
    fates.sort();
    fates
}

#[derive(Clone, Debug)]
enum Event {
    Send(Load, u8),
    Queue(QueueConfig),
    Rate(u64),
    Up(bool),
}

fn events() -> impl Strategy<Value = Vec<(u64, Event)>> {
    let train = (any::<bool>(), 1..20_usize, 1..1_460_usize, 0..1_460_usize).prop_map(|(tcp, full, payload, last)| {
        let transport = if tcp { Transport::Tcp } else { Transport::Udp };
        Load::Train { transport, full, payload, last: last.min(payload - 1) }
    });
    let load = prop_oneof![(20..1_500_usize).prop_map(Load::Plain), train];
    let any_queue = prop_oneof![limits().prop_map(QueueConfig::DropTail), queues()];
    let event = prop_oneof![
        12 => (load, 0..4_u8).prop_map(|(load, ecn)| Event::Send(load, ecn)),
        2 => any_queue.prop_map(Event::Queue),
        1 => (1..100_000_000_u64).prop_map(Event::Rate),
        1 => any::<bool>().prop_map(Event::Up),
    ];
    let gap = prop_oneof![Just(0), 0..1_000_000_u64, 0..40_000_000_u64];
    vec((gap, event), 1..60)
}

/// One departure or drop of one segment: packet, segment, instant in nanoseconds, what.
type Line = (u32, u32, u64, String);

/// Plays events; `step`: departures are asked for at its multiples only, or whenever there are any.
fn lines(queue: &QueueConfig, events: &[(u64, Event)], step: Option<u64>, separately: bool) -> Vec<Line> {
    let (mut pipe, mut pool, mut drop_log, mut lines) = (pipe(queue), Pool::default(), DropLog::new(), Vec::new());
    let (mut now, mut count) = (0, 0);
    for (gap, event) in events {
        now += gap;
        let at = Instant::from_nanos(now);
        depart(&mut pipe, step, Some(now), &mut drop_log, &mut lines);
        match event {
            Event::Send(load, ecn) => {
                let packet = load.packet_with(&mut pool, count, *ecn);
                count += 1;
                let pieces = if separately { alone(packet) } else { vec![packet] };
                pieces.into_iter().for_each(|piece| pipe.push(at, piece, &mut drop_log));
            }
            Event::Queue(other) => {
                let change = PipeChange { queue: Some(other.clone()), ..PipeChange::default() };
                pipe.change(at, &change, &mut drop_log);
            }
            Event::Rate(bits) => {
                let rate = Rate::from_bits_per_second(*bits).expect("above zero");
                let change = PipeChange { rate: Some(RateConfig::Constant(rate)), ..PipeChange::default() };
                pipe.change(at, &change, &mut drop_log);
            }
            Event::Up(up) => pipe.set_up(at, *up, &mut drop_log),
        }
        assert!(pipe.counters().balance(), "after {event:?}: {:?}", pipe.counters());
    }
    depart(&mut pipe, step, None, &mut drop_log, &mut lines);
    let counters = pipe.counters();
    assert_eq!((counters.queued.packets, counters.travelling.packets), (0, 0), "an idle pipe is empty");
    for dropped in &drop_log {
        let first = first_segment(&dropped.packet);
        let what = format!("dropped by {}", dropped.cause);
        let all = first..first + dropped.packet.segments();
        lines.extend(all.map(|index| (number(&dropped.packet), index, dropped.at.as_nanos(), what.clone())));
    }
    lines.sort();
    lines
}

fn depart(pipe: &mut Pipe, step: Option<u64>, end: Option<u64>, drop_log: &mut DropLog, lines: &mut Vec<Line>) {
    while let Some(wake) = pipe.next_wake().map(Instant::as_nanos) {
        let call = step.map_or(wake, |step| wake.checked_next_multiple_of(step).unwrap_or(wake));
        if end.is_some_and(|end| call >= end) {
            return;
        }
        while let Some(departure) = pipe.pop(Instant::from_nanos(call), drop_log) {
            let ce = departure.packet.ecn() == Some(Ecn::Congested);
            let (packet, first) = (number(&departure.packet), first_segment(&departure.packet));
            lines.push((packet, first, departure.due.as_nanos(), format!("out, CE {ce}")));
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
    fn a_queue_does_what_its_definition_says(queue in queues(), packets in packets()) {
        prop_assert_eq!(fates(&queue, &packets), naive::play(&queue, SEED, &packets));
    }

    #[test]
    fn a_train_is_its_segments(queue in queues(), events in events()) {
        prop_assert_eq!(lines(&queue, &events, None, false), lines(&queue, &events, None, true));
    }

    #[test]
    fn late_calls_change_nothing(queue in queues(), events in events(), step in 1..40_000_000_u64) {
        prop_assert_eq!(lines(&queue, &events, Some(step), false), lines(&queue, &events, None, false));
    }

    #[test]
    fn what_is_kept_leaves_in_order_within_its_class(queue in queues(), packets in packets()) {
        let left: Vec<u32> = {
            let mut left: Vec<_> = fates(&queue, &packets).into_iter().filter_map(|fate| match fate {
                Fate::Left(number, at, _) => Some((at, number)),
                Fate::Dropped(..) => None,
            }).collect();
            left.sort_unstable();
            left.into_iter().map(|(_, number)| number).collect()
        };
        for class in [0, 1] {
            let own = left.iter().filter(|number| packets[**number as usize].ecn % 2 == class);
            prop_assert!(own.is_sorted(), "{left:?}");
        }
        let is_fifo = !matches!(queue, QueueConfig::DualPi2(_));
        prop_assert!(!is_fifo || left.is_sorted(), "{left:?}");
    }
}

/// A long silence costs nothing: updates that change nothing are passed over.
#[test]
fn a_long_silence_is_no_work() {
    let update = nanos(1);
    let queues = [
        QueueConfig::Pie(PieConfig { update, ..PieConfig::default() }),
        QueueConfig::DualPi2(DualPi2Config { update, ..DualPi2Config::default() }),
    ];
    for queue in queues {
        let packet = |number, arrival| Packet { number, size: 100, ecn: 0, arrival };
        let last = 1_000_000_000_000_000_000;
        let fates = fates(&queue, &[packet(0, 0), packet(1, last)]);
        assert_eq!(fates[1], Fate::Left(1, last + 100 * NANOS_PER_BYTE, false));
    }
}

/// An overloaded queue, and what it drops early of packets that come one by one, with so many seeds.
fn early_drops(config: PieConfig, seeds: u64) -> Vec<usize> {
    let queue = QueueConfig::Pie(config);
    let play = |seed: u64| {
        let of_pipe = PipeConfig { rate: RateConfig::Constant(rate()), queue: queue.clone(), ..PipeConfig::default() };
        let mut pipe = Pipe::new(&of_pipe, Duration::ZERO, Seed::new(seed));
        let (mut pool, mut drop_log) = (Pool::default(), DropLog::new());
        // A burst of which some thirty wait, and then one for each that leaves: 1,102 in all.
        for number in 0..1_102_u64 {
            let at = Instant::from_nanos(number.saturating_sub(30) * 1_000 * NANOS_PER_BYTE);
            let packet = Load::Plain(1_000).packet_with(&mut pool, u32::try_from(number).expect("few"), 0);
            pipe.push(at, packet, &mut drop_log);
            while pipe.pop(at, &mut drop_log).is_some() {}
        }
        usize::try_from(pipe.counters().dropped.early.packets).expect("few")
    };
    (0..seeds).map(play).collect()
}

/// RFC 8033, section 5.4: drops that are drawn independently may come early and close to each other; with derandomization, none comes before
/// the probabilities add up to 0.85. Both are PIE; Linux has the second.
#[test]
fn derandomized_drops_wait_for_their_turn() {
    let plain = PieConfig { target: nanos(29_000_000), burst: Duration::ZERO, byte_mode: true, ..PieConfig::default() };
    let independent = early_drops(plain, 150);
    let apart = early_drops(PieConfig { derandomize: true, ..plain }, 150);
    let runs_with_one = |all: &[usize]| all.iter().filter(|drops| **drops > 0).count();
    assert!((5..145).contains(&runs_with_one(&independent)), "{independent:?}");
    assert_eq!(runs_with_one(&apart), 0, "{apart:?}");
}

/// Twice as much comes as can be sent, all of it for the low-latency queue: what the three do with a base probability of 0.6 and more.
#[test]
fn overload_is_that_of_the_rfc_or_of_linux() {
    let play = |overload: Overload| {
        let config = DualPi2Config {
            limit: Limit::Packets(60),
            target: nanos(2_000_000),
            rtt_max: nanos(20_000_000),
            overload,
            ..DualPi2Config::default()
        };
        let packet = |number: u32| Packet { number, size: 1_000, ecn: 1, arrival: u64::from(number) * 500_000 };
        let all = fates(&QueueConfig::DualPi2(config), &(0..1_200).map(packet).collect::<Vec<_>>());
        let count = |is: &dyn Fn(&Fate) -> bool| all.iter().filter(|fate| is(fate)).count();
        let late = |number: u32| number > 400;
        [
            count(&|fate| matches!(fate, Fate::Dropped(number, _, cause) if late(*number) && *cause == Cause::Early)),
            count(&|fate| matches!(fate, Fate::Dropped(number, _, cause) if late(*number) && *cause == Cause::Full)),
            count(&|fate| matches!(fate, Fate::Left(number, _, false) if late(*number))),
        ]
    };
    let [rfc, linux, overflow] = [Overload::Rfc, Overload::Linux, Overload::Overflow].map(play);
    // Linux marks whatever it does not drop, and drops half when twice as much comes.
    assert_eq!(linux[2], 0, "{linux:?}");
    assert!(linux[0] > 300 && linux[1] < 50, "{linux:?}");
    assert!(rfc[0] > 300, "{rfc:?}");
    // Until the buffer is full, and then at its end.
    assert_eq!((overflow[0], overflow[2]), (0, 0), "{overflow:?}");
    assert!(overflow[1] > 300, "{overflow:?}");
}

//! What is on the way in no order, against a list that is searched from end to end.

use super::{free, ms};
use netloom_link::{
    ChanceConfig, Correlation, DelayConfig, Departure, Distribution, DropLog, Exponential, Normal, Order, Pipe,
    PipeChange, PipeConfig, ReorderConfig, Samples, Uniform, Values,
};
use netloom_packet::Pool;
use netloom_testing::loads::{Load, Transport, alone, first_segment, number};
use netloom_units::{Duration, Instant, Probability, Rate, Seed};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

#[derive(Clone, Debug)]
enum Event {
    Send(Load),
    Change(DelayConfig),
}

#[derive(Clone, Debug)]
struct Case {
    rate: Option<Rate>,
    delay: DelayConfig,
    coalesce: Duration,
    events: Vec<(Instant, Event)>,
}

fn distributions() -> impl Strategy<Value = Distribution> {
    let span = || (0..3_000_000_u64).prop_map(Duration::from_nanos);
    let few = "1 ms\n1 ms\n100 us\n2 ms\n0 ns";
    let samples = |replay| {
        let values = Values::parse(few).expect("delays");
        Distribution::Samples(Samples { values, file: String::new(), replay })
    };
    prop_oneof![
        span().prop_map(Distribution::Constant),
        (span(), span()).prop_map(|(from, width)| Distribution::Uniform(Uniform {
            from,
            to: from + width,
            below: Duration::ZERO
        })),
        (span(), span()).prop_map(|(mean, deviation)| Distribution::Normal(Normal { mean, deviation })),
        (span(), 1..3_000_000_u64).prop_map(|(shift, mean)| {
            Distribution::Exponential(Exponential { shift, mean: Duration::from_nanos(mean) })
        }),
        any::<bool>().prop_map(samples),
    ]
}

fn delays() -> impl Strategy<Value = DelayConfig> {
    let share = prop_oneof![3 => Just("0 %"), 1 => Just("80 %"), 1 => Just("-30 %"), 1 => Just("100 %")];
    let order = prop_oneof![3 => Just(Order::Free), 1 => Just(Order::Kept)];
    (distributions(), share, order).prop_map(|(distribution, text, order)| {
        let correlation: Correlation = text.parse().expect("a correlation");
        DelayConfig { distribution, correlation, order }
    })
}

fn cases() -> impl Strategy<Value = Case> {
    let train = (1..20_usize, 1..1_460_usize).prop_map(|(full, payload)| Load::Train {
        transport: Transport::Tcp,
        full,
        payload,
        last: 0,
    });
    let load = prop_oneof![(0..1_500_usize).prop_map(Load::Plain), train];
    let event = prop_oneof![30 => load.prop_map(Event::Send), 1 => delays().prop_map(Event::Change)];
    let gap = prop_oneof![Just(0), 1..20_000_u64, 1..1_000_000_u64];
    let rate = prop_oneof![Just(None), Just(Some(100_000_000)), Just(Some(9_999_999_967_u64))];
    let coalesce = prop_oneof![Just(0), 0..200_000_u64].prop_map(Duration::from_nanos);
    (rate, delays(), coalesce, vec((gap, event), 1..60)).prop_map(|(rate, delay, coalesce, events)| {
        let mut now = Instant::ZERO;
        let mut timed = Vec::new();
        for (nanos, one) in events {
            now = now + Duration::from_nanos(nanos);
            timed.push((now, one));
        }
        // What waits for a segment that is being sent cannot foresee that the segment's delay will change.
        let changes = timed.iter().any(|(_, one)| matches!(one, Event::Change(_)));
        let window = if changes { Duration::ZERO } else { coalesce };
        Case { rate: rate.and_then(Rate::from_bits_per_second), delay, coalesce: window, events: timed }
    })
}

/// A piece of a packet: its number, its first segment, how many it has, and when they were due.
type Piece = (Instant, u32, u32, u32, Instant);

fn piece(departure: &Departure) -> Piece {
    let Departure { packet, due, first_due, .. } = departure;
    (*due, number(packet), first_segment(packet), packet.segments(), *first_due)
}

/// What comes out. `step`: calls come at multiples of it only.
fn play(case: &Case, step: u64, separately: bool) -> (Vec<Piece>, u64) {
    let config = PipeConfig { rate: case.rate.into(), delay: case.delay.clone(), ..PipeConfig::default() };
    let mut pipe = Pipe::new(&config, case.coalesce, Seed::new(7));
    let (mut pool, mut drop_log, mut left) = (Pool::default(), DropLog::new(), Vec::new());
    for ((at, event), count) in case.events.iter().zip(0..) {
        left.extend(leave_until(&mut pipe, step, *at));
        match event {
            Event::Change(delay) => {
                let change = PipeChange { delay: Some(delay.clone()), ..PipeChange::default() };
                pipe.change(*at, &change, &mut drop_log);
            }
            Event::Send(load) => {
                let packet = load.packet(&mut pool, count);
                let pieces = if separately { alone(packet) } else { vec![packet] };
                pieces.into_iter().for_each(|one| pipe.push(*at, one, &mut drop_log));
            }
        }
    }
    left.extend(leave_until(&mut pipe, step, Instant::MAX));
    assert_eq!(pipe.counters().travelling.packets, 0, "an idle pipe is empty");
    assert!(drop_log.is_empty(), "nothing is dropped");
    (left, pipe.counters().reordered.packets)
}

/// What leaves at calls before `end`.
fn leave_until(pipe: &mut Pipe, step: u64, end: Instant) -> Vec<Piece> {
    let (mut drop_log, mut left) = (DropLog::new(), Vec::new());
    while let Some(wake) = pipe.next_wake() {
        let call = Instant::from_nanos(wake.as_nanos().next_multiple_of(step));
        if call >= end {
            break;
        }
        while let Some(departure) = pipe.pop(call, &mut drop_log) {
            assert!(departure.due <= call, "{departure:?} leaves at {call}");
            left.push(piece(&departure));
        }
        assert!(pipe.counters().balance() && drop_log.is_empty());
    }
    left
}

/// The pieces as segments.
fn segments(pieces: &[Piece]) -> Vec<(u32, u32)> {
    pieces
        .iter()
        .flat_map(|(_, number, first, count, _)| (*first..first + count).map(|index| (*number, index)))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(7),
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_train_is_its_segments(case in cases()) {
        prop_assert_eq!(play(&case, 1, false), play(&case, 1, true));
    }

    #[test]
    fn late_calls_change_nothing(case in cases(), step in 1..5_000_000_u64) {
        prop_assert_eq!(play(&case, step, false), play(&case, 1, false));
    }

    #[test]
    fn everything_leaves_once_in_order_of_instants(case in cases()) {
        let (left, _) = play(&case, 1, false);
        prop_assert!(left.is_sorted_by_key(|piece| piece.0), "{left:?}");
        let mut found = segments(&left);
        found.sort_unstable();
        let mut pool = Pool::default();
        let mut sent = Vec::new();
        for ((_, event), number) in case.events.iter().zip(0_u32..) {
            if let Event::Send(load) = event {
                sent.extend((0..load.packet(&mut pool, number).segments()).map(|index| (number, index)));
            }
        }
        prop_assert_eq!(found, sent);
    }

    #[test]
    fn who_overtakes_is_counted_and_only_if_allowed(case in cases()) {
        let single = Case { coalesce: Duration::ZERO, ..case };
        let (left, reordered) = play(&single, 1, true);
        let instant = |wanted: (u32, u32)| {
            left.iter().find(|(_, number, first, count, _)| *number == wanted.0 && (*first..first + count).contains(&wanted.1))
                .map(|piece| piece.0)
        };
        let mut sent = segments(&left);
        sent.sort_unstable();
        let (mut overtakers, mut latest) = (0, Instant::ZERO);
        for due in sent.into_iter().filter_map(instant) {
            overtakers += u64::from(due < latest);
            latest = latest.max(due);
        }
        prop_assert_eq!(overtakers, reordered);
        let kept = single.delay.order == Order::Kept
            && single.events.iter().all(|(_, event)| !matches!(event, Event::Change(delay) if delay.order == Order::Free));
        prop_assert!(!kept || reordered == 0);
    }
}

/// A million packets at once, in both orders: all of them come out in order of their instants.
#[test]
fn many_packets_in_flight() {
    const COUNT: u64 = 1_000_000;
    for order in [Order::Kept, Order::Free] {
        let delay = DelayConfig {
            order,
            ..free(Distribution::Uniform(Uniform { from: ms(1_000), to: ms(2_000), below: ms(0) }), "0 %")
        };
        let config = PipeConfig { delay, ..PipeConfig::default() };
        let mut pipe = Pipe::new(&config, Duration::ZERO, Seed::new(7));
        let (mut pool, mut drop_log) = (Pool::default(), DropLog::new());
        let packet = Load::Plain(64).packet(&mut pool, 0);
        for index in 0..COUNT {
            pipe.push(Instant::from_nanos(index), packet.duplicate(), &mut drop_log);
        }
        assert_eq!(pipe.counters().travelling.packets, COUNT);
        let (mut last, mut left) = (Instant::ZERO, 0);
        while let Some(wake) = pipe.next_wake() {
            while let Some(departure) = pipe.pop(wake, &mut drop_log) {
                assert!(departure.due >= last && departure.due == wake);
                last = departure.due;
                left += 1;
            }
        }
        assert_eq!(left, COUNT);
        assert_eq!(pipe.counters().reordered.packets > 0, order == Order::Free);
    }
}

/// Packets that enter and leave at one instant are a round of their own there, whether or not others are overtaken.
#[test]
fn what_overtakes_all_enters_at_the_instant_at_which_it_leaves() {
    let (mut pool, mut drop_log) = (Pool::default(), DropLog::new());
    let mut pipe =
        Pipe::new(&PipeConfig { delay: DelayConfig::from(ms(1)), ..PipeConfig::default() }, ms(0), Seed::new(1));
    let mut push = |into: &mut Pipe, at: Duration, index| {
        into.push(Instant::ZERO + at, Load::Plain(100).packet(&mut pool, index), &mut drop_log);
        into.is_head_instant()
    };
    assert!(!push(&mut pipe, ms(0), 0));
    let chance = ChanceConfig { probability: Probability::ONE, ..ChanceConfig::default() };
    let reorder = Some(ReorderConfig { chance, ..ReorderConfig::default() });
    pipe.change(Instant::ZERO, &PipeChange { reorder, ..PipeChange::default() }, &mut DropLog::new());
    assert!(push(&mut pipe, Duration::from_micros(500), 1));
    // One that is due at the same instant and was sent before leaves before.
    assert_eq!(number(&pipe.pop(Instant::ZERO + ms(1), &mut DropLog::new()).expect("the second").packet), 1);
    assert!(!pipe.is_head_instant());
    assert!(!push(&mut pipe, ms(1), 2));
}

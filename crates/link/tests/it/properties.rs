//! What holds for every pipe, whatever is sent through it and whenever it is called.
//!
//! The cases are the same in every run; `PROPTEST_CASES=20000` tries more of them.

use netloom_link::{Departure, DropLog, LossConfig, Pipe, PipeChange, PipeConfig, QueueConfig};
use netloom_packet::{Packet, Pool};
use netloom_testing::loads::{Load, Transport, alone, first_segment, number};
use netloom_units::{Bytes, Duration, Instant, Limit, Probability, Rate, Seed};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug)]
enum Event {
    Send(Load),
    Change(Box<PipeChange>),
    Up(bool),
}

#[derive(Clone, Debug)]
struct Case {
    config: PipeConfig,
    coalesce: Duration,
    events: Vec<(Instant, Event)>,
}

/// A segment: the number of its packet and its place in that.
type Segment = (u32, u32);

/// A packet that left, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Left {
    number: u32,
    first: u32,
    count: u32,
    size: Bytes,
    due: Instant,
    first_due: Instant,
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Outcome {
    left: Vec<Left>,
    dropped: BTreeSet<Segment>,
}

/// When departures are asked for.
#[derive(Clone, Copy, Debug)]
enum Calls {
    AtEveryWake,
    Every(Duration),
}

fn rates() -> impl Strategy<Value = Option<Rate>> {
    let rate = |bits| Rate::from_bits_per_second(bits);
    prop_oneof![
        1 => Just(None),
        8 => prop_oneof![
            Just(1_000_000), Just(7_000_003), Just(100_000_000), Just(999_999_937), Just(10_000_000_000_u64),
            Just(3_000_000_000_000), 1..u64::MAX,
        ].prop_map(rate),
    ]
}

pub(crate) fn delays() -> impl Strategy<Value = Duration> {
    prop_oneof![Just(0), 1..50_u64, 1..5_000_000_u64].prop_map(Duration::from_nanos)
}

fn queues() -> impl Strategy<Value = QueueConfig> {
    let limit = prop_oneof![
        (0..40_u32).prop_map(Limit::Packets),
        (0..40_000_u64).prop_map(|bytes| Limit::Bytes(Bytes::new(bytes))),
        (0..2_000_000_u64).prop_map(|ns| Limit::Time(Duration::from_nanos(ns))),
    ];
    limit.prop_map(QueueConfig::DropTail)
}

fn losses() -> impl Strategy<Value = LossConfig> {
    let share = |percent: u64| Probability::from_parts_per_trillion(percent * 10_000_000_000).expect("at most 1");
    prop_oneof![
        2 => Just(LossConfig::None),
        1 => (0..=100_u64).prop_map(move |percent| LossConfig::Independent(share(percent))),
    ]
}

pub(crate) fn loads() -> impl Strategy<Value = Load> {
    let transport = prop_oneof![Just(Transport::Tcp), Just(Transport::Udp)];
    let train =
        (transport, 1..30_usize, 1..1_460_usize, 0..1_460_usize).prop_map(|(transport, full, payload, last)| {
            Load::Train { transport, full, payload, last: last.min(payload - 1) }
        });
    prop_oneof![(0..1_500_usize).prop_map(Load::Plain), train]
}

fn changes() -> impl Strategy<Value = PipeChange> {
    prop_oneof![
        rates().prop_map(|rate| PipeChange { rate: Some(rate.into()), ..PipeChange::default() }),
        delays().prop_map(|delay| PipeChange { delay: Some(delay.into()), ..PipeChange::default() }),
        queues().prop_map(|queue| PipeChange { queue: Some(queue), ..PipeChange::default() }),
        losses().prop_map(|loss| PipeChange { loss: Some(loss), ..PipeChange::default() }),
    ]
}

fn configs() -> impl Strategy<Value = PipeConfig> {
    (rates(), delays(), queues(), losses()).prop_map(|(rate, delay, queue, loss)| PipeConfig {
        rate: rate.into(),
        delay: delay.into(),
        queue,
        loss,
        ..PipeConfig::default()
    })
}

fn timed(event: impl Strategy<Value = Event>) -> impl Strategy<Value = Vec<(Instant, Event)>> {
    let gap = prop_oneof![Just(0), 1..20_u64, 1..20_000_u64, 1..2_000_000_u64];
    vec((gap, event), 1..40).prop_map(|events| {
        let mut now = Instant::ZERO;
        let mut later = |nanos| {
            now = now + Duration::from_nanos(nanos);
            now
        };
        events.into_iter().map(|(nanos, one)| (later(nanos), one)).collect()
    })
}

/// A pipe that stays as it was made.
fn steady() -> impl Strategy<Value = Case> {
    let coalesce = prop_oneof![Just(0), 0..100_000_u64].prop_map(Duration::from_nanos);
    (configs(), coalesce, timed(loads().prop_map(Event::Send))).prop_map(|(config, coalesce, events)| Case {
        config,
        coalesce,
        events,
    })
}

/// A pipe that is changed, cut and restored; every segment leaves at its own instant.
fn changing() -> impl Strategy<Value = Case> {
    let event = prop_oneof![
        6 => loads().prop_map(Event::Send),
        2 => changes().prop_map(|change| Event::Change(Box::new(change))),
        1 => any::<bool>().prop_map(Event::Up),
    ];
    (configs(), timed(event)).prop_map(|(config, events)| Case { config, coalesce: Duration::ZERO, events })
}

fn any_case() -> impl Strategy<Value = Case> {
    prop_oneof![steady(), changing()]
}

/// Plays a case and checks on the way that nothing is lost from the books and that the pipe wakes for what it has.
fn play(case: &Case, calls: Calls, separately: bool) -> Outcome {
    let mut pipe = Pipe::new(&case.config, case.coalesce, Seed::new(7));
    let (mut pool, mut drop_log, mut outcome) = (Pool::default(), DropLog::new(), Outcome::default());
    let mut count = 0;
    for (at, event) in &case.events {
        depart(&mut pipe, calls, Some(*at), &mut outcome, &mut drop_log);
        match event {
            Event::Send(load) => {
                let packet = load.packet(&mut pool, count);
                count += 1;
                let pieces = if separately { alone(packet) } else { vec![packet] };
                pieces.into_iter().for_each(|piece| pipe.push(*at, piece, &mut drop_log));
            }
            Event::Change(change) => pipe.change(*at, change, &mut drop_log),
            Event::Up(up) => pipe.set_up(*at, *up, &mut drop_log),
        }
        assert!(pipe.counters().balance(), "after {event:?}: {:?}", pipe.counters());
    }
    depart(&mut pipe, calls, None, &mut outcome, &mut drop_log);
    let counters = pipe.counters();
    assert_eq!((counters.queued.packets, counters.travelling.packets), (0, 0), "an idle pipe is empty");
    assert_eq!((counters.queued.bytes, counters.travelling.bytes), (0, 0), "an idle pipe is empty");
    outcome.dropped = drop_log.iter().flat_map(|dropped| segments(&dropped.packet)).collect();
    outcome
}

fn depart(pipe: &mut Pipe, calls: Calls, end: Option<Instant>, outcome: &mut Outcome, drop_log: &mut DropLog) {
    while let Some(wake) = pipe.next_wake() {
        let call = match calls {
            Calls::AtEveryWake => wake,
            Calls::Every(step) => {
                let last = u64::MAX - u64::MAX % step.as_nanos();
                Instant::from_nanos(wake.as_nanos().checked_next_multiple_of(step.as_nanos()).unwrap_or(last))
            }
        };
        if end.is_some_and(|end| call >= end) {
            return;
        }
        while let Some(departure) = pipe.pop(call, drop_log) {
            assert!(departure.due <= call, "{departure:?} leaves at {call}");
            outcome.left.push(Left::from(&departure));
        }
        assert!(pipe.counters().balance(), "at {call}: {:?}", pipe.counters());
    }
}

impl Left {
    fn from(Departure { packet, due, first_due, .. }: &Departure) -> Self {
        Self {
            number: number(packet),
            first: first_segment(packet),
            count: packet.segments(),
            size: packet.size(),
            due: *due,
            first_due: *first_due,
        }
    }

    fn segments(&self) -> impl Iterator<Item = Segment> + use<> {
        let number = self.number;
        (self.first..self.first + self.count).map(move |index| (number, index))
    }
}

fn segments(packet: &Packet) -> impl Iterator<Item = Segment> + use<> {
    let (number, first) = (number(packet), first_segment(packet));
    (first..first + packet.segments()).map(move |index| (number, index))
}

/// Every segment that was sent, with its arrival.
fn arrivals(case: &Case) -> BTreeMap<Segment, Instant> {
    let mut pool = Pool::default();
    let sends = case.events.iter().filter_map(|(at, event)| match event {
        Event::Send(load) => Some((*at, *load)),
        _ => None,
    });
    let numbered = sends.zip(0..).map(|((at, load), number)| (at, load.packet(&mut pool, number)));
    numbered.flat_map(|(at, packet)| segments(&packet).map(move |segment| (segment, at))).collect()
}

/// The instants of segments when none leaves together with others.
fn dues(case: &Case) -> BTreeMap<Segment, Instant> {
    let single = Case { coalesce: Duration::ZERO, ..case.clone() };
    let outcome = play(&single, Calls::AtEveryWake, true);
    outcome.left.iter().flat_map(|left| left.segments().map(|segment| (segment, left.due))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(7),
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_train_is_its_segments(case in any_case()) {
        prop_assert_eq!(play(&case, Calls::AtEveryWake, false), play(&case, Calls::AtEveryWake, true));
    }

    #[test]
    fn late_calls_change_nothing(case in any_case(), step in 1..20_000_000_u64) {
        let late = Calls::Every(Duration::from_nanos(step));
        prop_assert_eq!(play(&case, late, false), play(&case, Calls::AtEveryWake, false));
    }

    #[test]
    fn everything_leaves_once_or_is_dropped_once_in_order(case in any_case()) {
        let outcome = play(&case, Calls::AtEveryWake, false);
        let arrived = arrivals(&case);
        let order: Vec<Segment> = outcome.left.iter().flat_map(Left::segments).collect();
        prop_assert!(order.is_sorted(), "overtaking: {order:?}");
        prop_assert!(outcome.left.is_sorted_by_key(|one| one.due));
        let mut all = outcome.dropped.clone();
        for segment in order {
            prop_assert!(all.insert(segment), "{segment:?} left twice, or was dropped as well");
        }
        prop_assert!(all.iter().eq(arrived.keys()));
    }

    #[test]
    fn nothing_arrives_before_its_time(case in steady()) {
        let arrived = arrivals(&case);
        for left in play(&case, Calls::AtEveryWake, false).left {
            let at = arrived[&(left.number, left.first)];
            // The exact time, rounded down to whole nanoseconds.
            let sent = case.config.rate.nominal().map_or(0, |rate| {
                u128::from(left.size.get() / u64::from(left.count)) * 8_000_000_000 / u128::from(rate.as_bits_per_second())
            });
            let earliest = at + Duration::from_nanos(u64::try_from(sent).unwrap_or(u64::MAX)) + case.config.delay.mean();
            prop_assert!(left.count > 1 || left.due >= earliest, "{left:?} came at {at}");
            prop_assert!(left.first_due >= at + case.config.delay.mean());
        }
    }

    /// Over every interval, not one bit more than the rate allows, plus the packet at its beginning. Instants are whole
    /// nanoseconds, rounded down: hence the one nanosecond.
    #[test]
    fn the_rate_is_never_exceeded(case in steady()) {
        let single = Case { coalesce: Duration::ZERO, ..case };
        let Some(rate) = single.config.rate.nominal() else { return Ok(()) };
        let left = play(&single, Calls::AtEveryWake, true).left;
        for (index, first) in left.iter().enumerate() {
            let mut bytes = 0;
            for last in &left[index + 1..] {
                bytes += last.size.get();
                let nanos = u128::from(last.due.since(first.due).as_nanos()) + 1;
                let allowed = nanos * u128::from(rate.as_bits_per_second());
                // Segments of one instant may have left as one train, the first of them included.
                let sent = u128::from(bytes) * 8_000_000_000;
                prop_assert!(last.due == Instant::MAX || sent <= allowed, "{bytes} B between {first:?} and {last:?}");
            }
        }
    }

    /// A window joins what leaves within it and moves no instant.
    #[test]
    fn coalescing_joins_neighbours_within_the_window(case in steady()) {
        let due = dues(&case);
        for left in play(&case, Calls::AtEveryWake, false).left {
            prop_assert_eq!(left.first_due, due[&(left.number, left.first)]);
            prop_assert_eq!(left.due, due[&(left.number, left.first + left.count - 1)]);
            prop_assert!(left.due <= left.first_due + case.coalesce);
            // The segment behind, if it was not dropped, was due too late for this window.
            let behind = due.get(&(left.number, left.first + left.count));
            prop_assert!(behind.is_none_or(|next| *next > left.first_due + case.coalesce));
        }
    }

    #[test]
    fn a_steady_pipe_is_a_fluid_queue(case in steady()) {
        let mut reference = case.clone();
        reference.config.loss = LossConfig::None;
        reference.coalesce = Duration::ZERO;
        let Some(rate) = reference.config.rate.nominal() else { return Ok(()) };
        let fluid = Fluid::new(rate, &reference.config).play(&reference.events);
        prop_assert_eq!(dues(&reference), fluid);
    }
}

/// The pipe by its definition, without any of its code: a list of all admitted segments and exact fractions.
struct Fluid {
    bits: u128,
    delay: Duration,
    queue: Limit,
    admitted: Vec<Admitted>,
}

/// Times in nanoseconds times the rate, so that fractions are whole numbers.
struct Admitted {
    segment: Segment,
    bytes: u128,
    start: u128,
    finish: u128,
}

impl Fluid {
    fn new(rate: Rate, config: &PipeConfig) -> Self {
        let QueueConfig::DropTail(queue) = config.queue else { unreachable!("the reference is of drop-tail") };
        Self { bits: u128::from(rate.as_bits_per_second()), delay: config.delay.mean(), queue, admitted: Vec::new() }
    }

    fn play(mut self, events: &[(Instant, Event)]) -> BTreeMap<Segment, Instant> {
        let mut pool = Pool::default();
        for ((at, event), packet_number) in events.iter().zip(0..) {
            let Event::Send(load) = event else { continue };
            let packet = load.packet(&mut pool, packet_number);
            for index in 0..packet.segments() {
                let bytes = u128::from(packet.segment_size(index).get());
                self.arrive(u128::from(at.as_nanos()), (packet_number, index), bytes);
            }
        }
        let due = |one: &Admitted| {
            let nanos = u64::try_from(one.finish / self.bits).unwrap_or(u64::MAX);
            (one.segment, Instant::from_nanos(nanos) + self.delay)
        };
        self.admitted.iter().map(due).collect()
    }

    fn arrive(&mut self, now: u128, segment: Segment, bytes: u128) {
        let before = self.admitted.last().map_or(0, |last| last.finish);
        let start = before.max(now * self.bits);
        if before / self.bits > now && !self.has_room(now, bytes) {
            return;
        }
        self.admitted.push(Admitted { segment, bytes, start, finish: start + bytes * 8_000_000_000 });
    }

    fn has_room(&self, now: u128, bytes: u128) -> bool {
        let (waiting, begun): (Vec<_>, Vec<_>) = self.admitted.iter().partition(|one| one.start / self.bits > now);
        let waiting_bytes: u128 = waiting.iter().map(|one| one.bytes).sum();
        match self.queue {
            Limit::Packets(limit) => waiting.len() < limit as usize,
            Limit::Bytes(limit) => waiting_bytes + bytes <= u128::from(limit.get()),
            Limit::Time(longest) => {
                let left = begun.last().map_or(0, |sending| sending.finish / self.bits - now);
                left + (waiting_bytes * 8_000_000_000).div_ceil(self.bits) <= u128::from(longest.as_nanos())
            }
        }
    }
}

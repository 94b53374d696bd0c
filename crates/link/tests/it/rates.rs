//! What holds for every model of the rate, for schedules and for overhead; and the models against naive ones.
//!
//! The cases are the same in every run; `PROPTEST_CASES=20000` tries more of them.

use crate::cell_traces::cells;
use crate::properties::{delays, loads};
use netloom_link::{
    DeliveryTimes, DeliveryTraceConfig, DropLog, Interpolation, OverheadConfig, PeakConfig, Pipe, PipeChange,
    PipeConfig, QueueConfig, RateConfig, ScheduleConfig, Step, Timetable, TokenBucketConfig,
};
use netloom_packet::Pool;
use netloom_testing::loads::{Load, alone, first_segment, number};
use netloom_units::{Bytes, Duration, Instant, Limit, Probability, Rate, Seed};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::collections::{BTreeSet, VecDeque};

#[derive(Clone, Debug)]
pub(crate) enum Event {
    Send(Load),
    Change(Box<PipeChange>),
    Up(bool),
}

#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) config: PipeConfig,
    pub(crate) events: Vec<(Instant, Event)>,
}

/// The number of a packet and the place of a segment in it.
pub(crate) type Segment = (u32, u32);

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// What left, how large it was, and when.
    pub(crate) left: Vec<(Segment, u64, Instant)>,
    pub(crate) dropped: BTreeSet<Segment>,
}

/// Plays a case and checks the books on the way. `every`: departures are asked for at multiples of this span only.
pub(crate) fn play(case: &Case, every: Option<Duration>, separately: bool) -> Outcome {
    let mut pipe = Pipe::new(&case.config, Duration::ZERO, Seed::new(7));
    let (mut pool, mut drop_log, mut outcome) = (Pool::default(), DropLog::new(), Outcome::default());
    let mut count = 0;
    for (at, event) in &case.events {
        depart(&mut pipe, every, Some(*at), &mut outcome, &mut drop_log);
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
    depart(&mut pipe, every, None, &mut outcome, &mut drop_log);
    let counters = pipe.counters();
    assert_eq!((counters.queued.packets, counters.travelling.packets), (0, 0), "an idle pipe is empty");
    for dropped in &drop_log {
        let (number, first) = (number(&dropped.packet), first_segment(&dropped.packet));
        outcome.dropped.extend((first..first + dropped.packet.segments()).map(|index| (number, index)));
    }
    outcome
}

fn depart(
    pipe: &mut Pipe,
    every: Option<Duration>,
    end: Option<Instant>,
    outcome: &mut Outcome,
    drop_log: &mut DropLog,
) {
    while let Some(wake) = pipe.next_wake() {
        let call = every.map_or(wake, |step| Instant::from_nanos(wake.as_nanos().next_multiple_of(step.as_nanos())));
        if end.is_some_and(|end| call >= end) {
            return;
        }
        while let Some(departure) = pipe.pop(call, drop_log) {
            assert!(departure.due <= call, "{departure:?} leaves at {call}");
            assert_eq!(departure.due, departure.first_due, "segments of different instants leave together");
            let (number, first) = (number(&departure.packet), first_segment(&departure.packet));
            let segments = (0..departure.packet.segments())
                .map(|index| ((number, first + index), departure.packet.segment_size(index).get(), departure.due));
            outcome.left.extend(segments);
        }
    }
}

/// Every segment that is sent: its arrival and its size.
pub(crate) fn arrivals(case: &Case) -> Vec<(Segment, Instant, u64)> {
    let mut pool = Pool::default();
    let sends = case.events.iter().filter_map(|(at, event)| match event {
        Event::Send(load) => Some((*at, *load)),
        _ => None,
    });
    let mut all = Vec::new();
    for ((at, load), number) in sends.zip(0..) {
        let packet = load.packet(&mut pool, number);
        all.extend((0..packet.segments()).map(|index| ((number, index), at, packet.segment_size(index).get())));
    }
    all
}

fn rate(bits: u64) -> Rate {
    Rate::from_bits_per_second(bits).expect("it is not zero")
}

fn rates() -> impl Strategy<Value = Rate> {
    prop_oneof![
        Just(100_000),
        Just(1_000_000),
        Just(7_000_003),
        Just(100_000_000),
        Just(999_999_937),
        Just(10_000_000_000_u64),
        100_000..3_000_000_000_000_u64
    ]
    .prop_map(rate)
}

fn sizes(range: std::ops::Range<u64>) -> impl Strategy<Value = Bytes> {
    range.prop_map(Bytes::new)
}

fn buckets() -> impl Strategy<Value = TokenBucketConfig> {
    let faster_by = of((1..2_000_000_000_u64, sizes(40..4_000)));
    (rates(), sizes(40..20_000), faster_by).prop_map(|(mean, burst, above)| {
        let faster = |more| rate(mean.as_bits_per_second() + more);
        let peak = above.map(|(more, size)| PeakConfig { rate: faster(more), burst: size });
        TokenBucketConfig { rate: mean, burst, peak }
    })
}

pub(crate) fn traces() -> impl Strategy<Value = DeliveryTraceConfig> {
    (vec(0..4_u64, 0..12), 1..10_u64, sizes(100..3_000), sizes(0..40)).prop_map(|(gaps, last, bytes, header)| {
        let mut time = 0;
        let mut text = String::new();
        for gap in gaps.into_iter().chain([last]) {
            time += gap;
            text += &format!("{time}\n");
        }
        let times: DeliveryTimes = text.parse().expect("it is a trace");
        DeliveryTraceConfig { times, file: "made up".into(), bytes, header }
    })
}

fn any_rate() -> impl Strategy<Value = RateConfig> {
    prop_oneof![
        1 => Just(RateConfig::Unlimited),
        2 => rates().prop_map(RateConfig::Constant),
        4 => buckets().prop_map(RateConfig::TokenBucket),
        4 => traces().prop_map(RateConfig::DeliveryTrace),
        4 => cells().prop_map(RateConfig::CellTrace),
    ]
}

fn overheads() -> impl Strategy<Value = OverheadConfig> {
    let frame = (sizes(0..100), sizes(0..200)).prop_map(|(bytes, minimum)| OverheadConfig::Frame { bytes, minimum });
    let cells = (sizes(0..60), sizes(20..60), sizes(0..20)).prop_map(|(bytes, payload, more)| OverheadConfig::Cells {
        bytes,
        payload,
        cell: Bytes::new(payload.get() + more.get()),
    });
    prop_oneof![
        3 => Just(OverheadConfig::None),
        1 => Just(OverheadConfig::ETHERNET),
        1 => Just(OverheadConfig::ATM),
        1 => frame,
        1 => cells,
    ]
}

fn limits() -> impl Strategy<Value = Limit> {
    prop_oneof![
        (0..40_u32).prop_map(Limit::Packets),
        sizes(0..40_000).prop_map(Limit::Bytes),
        delays().prop_map(Limit::Time),
    ]
}

fn losses() -> impl Strategy<Value = Probability> {
    let share = |percent: u64| Probability::from_parts_per_trillion(percent * 10_000_000_000).expect("at most 1");
    prop_oneof![Just(0), 0..=100_u64].prop_map(share)
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let gap = prop_oneof![1..2_000_u64, 1..3_000_000_u64];
    let step = (gap, of(rates()), of(delays()), of(losses()), of(limits()));
    (any::<bool>(), vec(step, 1..8)).prop_map(|(from_zero, rows)| {
        let mut at = Duration::ZERO;
        let mut steps = Vec::new();
        for (index, (nanos, rate, delay, loss, queue)) in rows.into_iter().enumerate() {
            at = at + Duration::from_nanos(if index == 0 && from_zero { 0 } else { nanos });
            steps.push(Step { at, rate, delay, loss, queue });
        }
        steps
    })
}

fn schedules() -> impl Strategy<Value = ScheduleConfig> {
    let interpolation = prop_oneof![Just(Interpolation::Step), Just(Interpolation::Linear)];
    let table = (steps(), interpolation, any::<bool>()).prop_map(|(steps, interpolation, repeat)| {
        // A period of less than a microsecond is legal, and has a test waiting for its steps only.
        let repeat = repeat && steps.last().is_some_and(|last| last.at > Duration::from_micros(1));
        Timetable::new(steps, interpolation, repeat).map_or(ScheduleConfig::None, ScheduleConfig::Table)
    });
    prop_oneof![1 => Just(ScheduleConfig::None), 3 => table]
}

fn changes() -> impl Strategy<Value = PipeChange> {
    let none = PipeChange::default;
    prop_oneof![
        3 => any_rate().prop_map(move |rate| PipeChange { rate: Some(rate), ..none() }),
        1 => overheads().prop_map(move |overhead| PipeChange { overhead: Some(overhead), ..none() }),
        1 => delays().prop_map(move |delay| PipeChange { delay: Some(delay.into()), ..none() }),
        1 => schedules().prop_map(move |schedule| PipeChange { schedule: Some(schedule), ..none() }),
        1 => limits().prop_map(move |limit| PipeChange { queue: Some(QueueConfig::DropTail(limit)), ..none() }),
    ]
}

fn configs() -> impl Strategy<Value = PipeConfig> {
    (any_rate(), overheads(), delays(), limits(), schedules()).prop_map(|(rate, overhead, delay, limit, schedule)| {
        let queue = QueueConfig::DropTail(limit);
        PipeConfig { rate, overhead, delay: delay.into(), queue, schedule, ..PipeConfig::default() }
    })
}

fn timed(event: impl Strategy<Value = Event>) -> impl Strategy<Value = Vec<(Instant, Event)>> {
    let gap =
        prop_oneof![Just(0), 1..20_u64, 1..20_000_u64, 1..2_000_000_u64, (1..9_u64).prop_map(|ms| ms * 1_000_000)];
    vec((gap, event), 1..40).prop_map(|events| {
        let mut now = Instant::ZERO;
        let mut timed = Vec::new();
        for (nanos, one) in events {
            now = now + Duration::from_nanos(nanos);
            timed.push((now, one));
        }
        timed
    })
}

/// Anything at all.
fn cases() -> impl Strategy<Value = Case> {
    let event = prop_oneof![
        8 => loads().prop_map(Event::Send),
        3 => changes().prop_map(|change| Event::Change(Box::new(change))),
        1 => any::<bool>().prop_map(Event::Up),
    ];
    (configs(), timed(event)).prop_map(|(config, events)| Case { config, events })
}

/// One model, packets, and nothing else.
pub(crate) fn steady(config: impl Strategy<Value = PipeConfig>) -> impl Strategy<Value = Case> {
    (config, timed(loads().prop_map(Event::Send))).prop_map(|(config, events)| Case { config, events })
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(7),
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_train_is_its_segments(case in cases()) {
        prop_assert_eq!(play(&case, None, false), play(&case, None, true));
    }

    #[test]
    fn late_calls_change_nothing(case in cases(), step in 1..20_000_000_u64) {
        prop_assert_eq!(play(&case, Some(Duration::from_nanos(step)), false), play(&case, None, false));
    }

    #[test]
    fn everything_leaves_once_or_is_dropped_once_in_order(case in cases()) {
        let outcome = play(&case, None, false);
        prop_assert!(outcome.left.is_sorted_by_key(|(_, _, due)| *due));
        prop_assert!(outcome.left.is_sorted_by_key(|(segment, _, _)| *segment), "overtaking");
        let mut all = outcome.dropped;
        for (segment, _, _) in outcome.left {
            prop_assert!(all.insert(segment), "{segment:?} left twice, or was dropped as well");
        }
        prop_assert!(all.into_iter().eq(arrivals(&case).into_iter().map(|(segment, _, _)| segment)));
    }

    /// Over every interval no more than the bucket holds and what flows in; with a peak, that holds for both buckets. A
    /// packet leaves at a whole nanosecond, after its exact instant: hence the one nanosecond.
    #[test]
    fn a_bucket_never_gives_more_than_it_holds(bucket in buckets(), overhead in overheads(), case in steady(Just(PipeConfig::default()))) {
        let config = PipeConfig { rate: RateConfig::TokenBucket(bucket), overhead, ..case.config };
        let left = play(&Case { config, ..case }, None, false).left;
        let all = [(bucket.rate, bucket.burst)].into_iter().chain(bucket.peak.map(|peak| (peak.rate, peak.burst)));
        for (rate, burst) in all {
            for (index, (_, _, begin)) in left.iter().enumerate() {
                let mut bits = 0;
                for (_, size, end) in &left[index..] {
                    let charged = overhead.charged(Bytes::new(*size)).get();
                    bits += u128::from(charged) * 8_000_000_000;
                    let flow = u128::from(rate.as_bits_per_second()) * u128::from(end.since(*begin).as_nanos() + 1);
                    // A packet larger than the bucket goes when that is full, and the excess is owed.
                    let excess = u128::from(charged.saturating_sub(burst.get())) * 8_000_000_000;
                    let depth = u128::from(burst.get()) * 8_000_000_000;
                    prop_assert!(bits <= depth + flow + excess, "{bits} > {depth} + {flow} + {excess}");
                }
            }
        }
    }

    /// Buckets by their definition: what flowed in since the beginning, less what overflowed and what was taken. A packet
    /// leaves at the first whole nanosecond after the exact instant at which the last of them lets it through.
    #[test]
    fn buckets_are_what_their_definition_says(bucket in buckets(), case in steady(Just(PipeConfig::default()))) {
        let config = PipeConfig {
            rate: RateConfig::TokenBucket(bucket),
            queue: QueueConfig::DropTail(Limit::Packets(u32::MAX)),
            ..case.config
        };
        let case = Case { config, ..case };
        let arrivals = arrivals(&case);
        let dues = by_definition(&bucket, arrivals.iter().map(|(_, at, size)| (*at, *size)));
        let wanted: Vec<_> = arrivals.iter().zip(dues).map(|((segment, _, size), due)| (*segment, *size, due)).collect();
        prop_assert_eq!(play(&case, None, false).left, wanted);
    }

    #[test]
    fn a_trace_is_replayed_as_mahimahi_does(trace in traces(), limit in 0..40_u32, case in steady(Just(PipeConfig::default()))) {
        let config = PipeConfig {
            rate: RateConfig::DeliveryTrace(trace.clone()),
            queue: QueueConfig::DropTail(Limit::Packets(limit)),
            ..case.config
        };
        let case = Case { config, ..case };
        prop_assert_eq!(play(&case, None, false), mahimahi(&trace, limit as usize, &arrivals(&case)));
    }

    /// Every step holds until the next: the bits that the rate allows until an instant are a sum of products.
    #[test]
    fn a_schedule_of_steps_is_a_fluid_queue(rates in vec(rates(), 1..9), width in 1_001..1_000_000_u64, case in steady(Just(PipeConfig::default()))) {
        let at = |index: u64| Duration::from_nanos(index * width);
        let steps = (0..).zip(&rates).map(|(index, rate)| Step { at: at(index), rate: Some(*rate), ..Step::default() });
        let case = with_schedule(case, steps.collect(), Interpolation::Step);
        let allowed = |now: Instant| {
            let whole = now.as_nanos() / width;
            let full = |index: u64| rates.get(usize::try_from(index).unwrap_or(usize::MAX)).or(rates.last());
            let bits = |index: u64| full(index).map_or(0, |rate| u128::from(rate.as_bits_per_second()));
            let last = rates.len() as u64;
            let past: u128 = (0..whole.min(last)).map(|index| bits(index) * u128::from(width)).sum();
            past + u128::from(whole.saturating_sub(last) * width) * bits(last) + bits(whole) * u128::from(now.as_nanos() % width)
        };
        prop_assert_eq!(play(&case, None, false).left, fluid(&arrivals(&case), 1, allowed));
    }

    /// From step to step in a straight line: the bits that the rate allows are trapezia. The rest of a packet that a step
    /// finds on the transmitter is known to a billionth of a bit: hence the one nanosecond.
    #[test]
    fn a_linear_schedule_is_a_fluid_queue(rates in vec(rates(), 2..9), width in 1_001..1_000_000_u64, case in steady(Just(PipeConfig::default()))) {
        let at = |index: u64| Duration::from_nanos(index * width);
        let steps = (0..).zip(&rates).map(|(index, rate)| Step { at: at(index), rate: Some(*rate), ..Step::default() });
        let case = with_schedule(case, steps.collect(), Interpolation::Linear);
        let bits: Vec<u128> = rates.iter().map(|rate| u128::from(rate.as_bits_per_second())).collect();
        let width = u128::from(width);
        // Times twice the width, so that everything is a whole number.
        let allowed = |now: Instant| {
            let mut sum = 0;
            let mut left = u128::from(now.as_nanos());
            for pair in bits.windows(2) {
                let part = left.min(width);
                sum += part * (pair[0] * width + pair[0] * (width - part) + pair[1] * part);
                left -= part;
            }
            sum + 2 * width * left * bits[bits.len() - 1]
        };
        let (left, wanted) = (play(&case, None, false).left, fluid(&arrivals(&case), 2 * width, allowed));
        prop_assert_eq!(left.len(), wanted.len());
        for (got, want) in left.iter().zip(&wanted) {
            let error = got.2.since(want.2).as_nanos().max(want.2.since(got.2).as_nanos());
            prop_assert!(got.0 == want.0 && error <= 1, "{got:?}, not {want:?}");
        }
    }

    /// However long a pipe was idle, it is where its schedule is.
    #[test]
    fn a_silent_pipe_follows_its_schedule(steps in steps(), linear in any::<bool>(), nanos in 2_000_000..20_000_000_u64) {
        let interpolation = if linear { Interpolation::Linear } else { Interpolation::Step };
        let Ok(table) = Timetable::new(steps, interpolation, false) else { return Ok(()) };
        let config = PipeConfig { schedule: ScheduleConfig::Table(table), ..PipeConfig::default() };
        let after = |spacing: u64| {
            let mut pipe = Pipe::new(&config, Duration::ZERO, Seed::new(7));
            let mut drop_log = DropLog::new();
            for at in (0..nanos).step_by(usize::try_from(spacing).expect("it fits")) {
                assert!(pipe.pop(Instant::from_nanos(at), &mut drop_log).is_none());
            }
            let packet = Load::Plain(1_000).packet(&mut Pool::default(), 0);
            pipe.push(Instant::from_nanos(nanos), packet, &mut drop_log);
            let mut outcome = Outcome::default();
            depart(&mut pipe, None, None, &mut outcome, &mut drop_log);
            (outcome, drop_log.len())
        };
        prop_assert_eq!(after(1_000), after(nanos));
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(7),
        ..ProptestConfig::default()
    })]

    /// What is no trace or table is an error that names a line or is about all of it.
    #[test]
    fn files_are_read_or_refused(text in r"(?s)(\PC|[0-9]{1,21}|[,.\n\r #+-]|time_us|rate_bit_s|queue_packets){0,40}") {
        let whole = |message: &str| ["the t", "no step", "a sch"].iter().any(|begin| message.starts_with(begin));
        let is_placed = |message: &str| message.starts_with("line ") || whole(message);
        prop_assert!(text.parse::<DeliveryTimes>().map_or_else(|wrong| is_placed(&wrong.message), |_| true));
        let table = Timetable::from_csv(&text, Interpolation::Linear, true);
        prop_assert!(table.map_or_else(|wrong| is_placed(&wrong.message), |_| true));
    }

    /// Any numbers in the right places.
    #[test]
    fn tables_are_read_or_refused(rows in vec((0..20_u64, any::<u64>(), 0..200_u64), 0..9), repeat in any::<bool>()) {
        let rows: String = rows.iter().map(|(time, rate, loss)| format!("{time},{rate},{loss}\n")).collect();
        let table = Timetable::from_csv(&format!("time_ns,rate_bit_s,loss_percent\n{rows}"), Interpolation::Linear, repeat);
        let Ok(table) = table else { return Ok(()) };
        let config = PipeConfig { schedule: ScheduleConfig::Table(table), ..PipeConfig::default() };
        let events = vec![(Instant::ZERO, Event::Send(Load::Plain(1))), (Instant::from_nanos(9), Event::Send(Load::Plain(1)))];
        play(&Case { config, events }, None, false);
    }
}

fn with_schedule(case: Case, steps: Vec<Step>, interpolation: Interpolation) -> Case {
    let table = Timetable::new(steps, interpolation, false).expect("the times rise");
    let queue = QueueConfig::DropTail(Limit::Packets(u32::MAX));
    let config = PipeConfig { schedule: ScheduleConfig::Table(table), queue, ..case.config };
    Case { config, ..case }
}

/// A queue without limit whose server gives `allowed` until each instant, in billionths of a bit times `scale`.
fn fluid(
    arrivals: &[(Segment, Instant, u64)],
    scale: u128,
    allowed: impl Fn(Instant) -> u128,
) -> Vec<(Segment, u64, Instant)> {
    let mut finish = 0;
    let mut left = Vec::new();
    for (segment, at, size) in arrivals {
        finish = allowed(*at).max(finish) + u128::from(*size) * 8_000_000_000 * scale;
        // The last whole nanosecond until which no more is allowed: found by bisection within a thousand seconds.
        let (mut least, mut most) = (at.as_nanos(), 1_000_000_000_000);
        while least < most {
            let middle = least + (most - least).div_ceil(2);
            if allowed(Instant::from_nanos(middle)) <= finish { least = middle } else { most = middle - 1 }
        }
        left.push((*segment, *size, Instant::from_nanos(least)));
    }
    left
}

/// What mahimahi does (`LinkQueue::rationalize`), written without any of the model's code: every opportunity in turn, until
/// nothing is left.
fn mahimahi(trace: &DeliveryTraceConfig, limit: usize, arrivals: &[(Segment, Instant, u64)]) -> Outcome {
    let mut outcome = Outcome::default();
    let mut coming: VecDeque<_> = arrivals.iter().copied().collect();
    let (mut queue, mut in_transit) = (VecDeque::new(), None);
    for round in 0.. {
        for time in trace.times.times() {
            let now = Instant::ZERO + trace.times.period() * round + *time;
            while let Some((segment, _, size)) = coming.front().copied().filter(|(_, at, _)| *at < now) {
                coming.pop_front();
                if queue.len() < limit {
                    queue.push_back((segment, size, size + trace.header.get()));
                } else {
                    outcome.dropped.insert(segment);
                }
            }
            let mut left_in_this_delivery = trace.bytes.get();
            while left_in_this_delivery > 0 {
                let Some((segment, size, to_transmit)) = in_transit.take().or_else(|| queue.pop_front()) else { break };
                let used = left_in_this_delivery.min(to_transmit);
                left_in_this_delivery -= used;
                if used == to_transmit {
                    outcome.left.push((segment, size, now));
                } else {
                    in_transit = Some((segment, size, to_transmit - used));
                }
            }
        }
        if coming.is_empty() && queue.is_empty() && in_transit.is_none() {
            break;
        }
    }
    outcome
}

const WEEK: Duration = Duration::from_secs(7 * 24 * 3_600);

/// Keeps a pipe busy for a week with packets of 1,000 bytes: how many were sent, and when the last was.
fn busy_week(config: &PipeConfig) -> (u64, Instant) {
    let mut pipe = Pipe::new(config, Duration::ZERO, Seed::new(7));
    let (mut pool, mut drop_log) = (Pool::default(), DropLog::new());
    let (mut sent, mut last, mut now) = (0, Instant::ZERO, Instant::ZERO);
    loop {
        while pipe.counters().queued.packets < 2 {
            let packet = Load::Plain(1_000).packet(&mut pool, 0);
            pipe.push(now, packet, &mut drop_log);
        }
        now = pipe.next_wake().expect("it is busy");
        if now > Instant::ZERO + WEEK {
            return (sent, last);
        }
        while let Some(departure) = pipe.pop(now, &mut drop_log) {
            sent += u64::from(departure.packet.segments());
            last = departure.due;
            pool.recycle(departure.packet);
        }
    }
}

/// When packets with these arrivals and sizes leave a token bucket, reckoned with instants that are exact to 2^-40 ns.
fn by_definition(config: &TokenBucketConfig, arrivals: impl Iterator<Item = (Instant, u64)>) -> Vec<Instant> {
    const ONE: i128 = 1 << 40;
    let exact = |bytes: u64| i128::from(bytes) * 8_000_000_000 * ONE;
    let all = [(config.rate, config.burst)].into_iter().chain(config.peak.map(|peak| (peak.rate, peak.burst)));
    // Rate, depth, and what is gone of all that flowed in since the beginning.
    let mut buckets: Vec<_> =
        all.map(|(r, b)| (i128::from(r.as_bits_per_second()), exact(b.get()), -exact(b.get()))).collect();
    let mut before = 0;
    let due = |(at, size): (Instant, u64)| {
        let needed = exact(size);
        let start = i128::from(at.as_nanos()).max(before);
        let lets_through =
            |&(rate, depth, gone): &(i128, i128, i128)| (gone + needed.min(depth) + rate - 1).div_euclid(rate);
        let instant = buckets.iter().map(lets_through).max().unwrap().max(start * ONE);
        for (rate, depth, gone) in &mut buckets {
            *gone = (*gone).max(*rate * instant - *depth) + needed;
        }
        // What is left of rounding does not make a nanosecond.
        before = (instant + ONE - 1 - (1 << 20)).div_euclid(ONE).max(start);
        Instant::from_nanos(u64::try_from(before).expect("it is not before the beginning"))
    };
    arrivals.map(due).collect()
}

/// A peak that is hardly above the rate: each packet finds the second bucket full since less than a nanosecond, of which
/// nothing may be lost.
#[test]
fn a_bucket_with_a_peak_is_exact() {
    let peak = PeakConfig { rate: rate(446_029_508), burst: Bytes::new(1_500) };
    let config = TokenBucketConfig { rate: rate(446_025_047), burst: Bytes::new(1_500), peak: Some(peak) };
    let queue = QueueConfig::DropTail(Limit::Packets(u32::MAX));
    let config = PipeConfig { rate: RateConfig::TokenBucket(config), queue, ..PipeConfig::default() };
    let events = vec![(Instant::ZERO, Event::Send(Load::Plain(1_500))); 10_001];
    let left = play(&Case { config, events }, None, false).left;
    // All but the first, for which both buckets were full, take 12,000 bit each.
    let (_, _, last) = left[10_000];
    assert_eq!(last, Instant::from_nanos(269_043_187));
}

/// Not a nanosecond is lost in a week, though no packet takes a whole number of them.
#[test]
fn a_bucket_is_exact_over_a_week() {
    let odd = 9_973;
    let config = TokenBucketConfig { rate: rate(odd), burst: Bytes::new(1_000), peak: None };
    let (sent, last) = busy_week(&PipeConfig { rate: RateConfig::TokenBucket(config), ..PipeConfig::default() });
    // All but the first, for which the bucket was full.
    let exact = (u128::from(sent - 1) * 8_000 * 1_000_000_000).div_ceil(u128::from(odd));
    assert_eq!(u128::from(last.as_nanos()), exact);
    assert_eq!(sent, 1 + odd * 7 * 24 * 3_600 / 8_000);
}

/// 1,008 B of a packet with the trailer fill 21 cells of 53 B.
#[test]
fn overhead_is_exact_over_a_week() {
    let odd = 9_973;
    let overhead = OverheadConfig::ATM;
    let (sent, last) =
        busy_week(&PipeConfig { rate: RateConfig::Constant(rate(odd)), overhead, ..PipeConfig::default() });
    let charged: u64 = 1_008_u64.div_ceil(48) * 53;
    assert_eq!(overhead.charged(Bytes::new(1_000)).get(), charged);
    assert_eq!(u128::from(last.as_nanos()), u128::from(sent * charged) * 8_000_000_000 / u128::from(odd));
}

#[test]
fn a_trace_is_exact_over_a_week() {
    let times: DeliveryTimes = "70\n70\n101\n".parse().expect("it is a trace");
    let trace = DeliveryTraceConfig { times, file: "made up".into(), bytes: Bytes::new(1_000), header: Bytes::new(0) };
    let (sent, _) = busy_week(&PipeConfig { rate: RateConfig::DeliveryTrace(trace), ..PipeConfig::default() });
    // Whole rounds of 101 ms; the one that is begun has more than 70 ms.
    let rounds = WEEK.as_nanos() / 101_000_000;
    assert!(WEEK.as_nanos() % 101_000_000 >= 70_000_000);
    assert_eq!(sent, 3 * rounds + 2);
}

/// A sawtooth of 20 s between 5 and 15 kbit/s sends 200 kbit per round, 25 packets. At each of its two steps a packet may
/// lose less than a billionth of a bit, less than 0.0002 ns, and in a week all of them together less than 13 ns.
#[test]
fn a_linear_schedule_is_exact_over_a_week() {
    let step = |at, bits| Step { at: Duration::from_secs(at), rate: Some(rate(bits)), ..Step::default() };
    let steps = vec![step(0, 5_000), step(10, 15_000), step(20, 5_000)];
    let table = Timetable::new(steps, Interpolation::Linear, true).expect("the times rise");
    let config = PipeConfig { schedule: ScheduleConfig::Table(table), ..PipeConfig::default() };
    let (sent, last) = busy_week(&config);
    assert_eq!(sent, 25 * WEEK.as_nanos() / 20_000_000_000);
    let early = (Instant::ZERO + WEEK).since(last);
    assert!(early <= Duration::from_nanos(13), "{early} before the end");
}

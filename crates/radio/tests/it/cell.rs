//! Cells against arithmetic: throughput, shares, delays, repeats, gaps; and what holds for every cell.

use netloom_radio::{
    AccessCategory, AntennaPattern, Cause, CellConfig, CellMedium, CellSignal, CellStation, CqiTable, Decibels,
    Destination, Drx, Frame, HandoverGaps, Metres, Path, Position, RadioConfig, RadioLinkControl, Scheduler, SlotUse,
    StationId, transport_block,
};
use netloom_units::{Bytes, Duration, Instant, Probability, Seed};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::collections::{BTreeMap, BTreeSet};

pub(crate) const BASE: StationId = StationId(0);

pub(crate) fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

pub(crate) fn at(ms: u64) -> Instant {
    Instant::ZERO + self::ms(ms)
}

pub(crate) fn station(name: &str, signal: CellSignal) -> CellStation {
    let path = Path::from(Position { x: Metres(0.0), y: Metres(0.0), z: Metres(1.5) });
    let (power, pattern) = (Decibels(23.0), AntennaPattern::default());
    CellStation { name: name.into(), signal, handovers: None, site: None, path, power, pattern }
}

/// A base station, and terminals with these CQI.
fn stations(cqi: &[u8]) -> Vec<CellStation> {
    let base = station("base", CellSignal::Fixed(1, 1));
    let terminals =
        cqi.iter().zip(1..).map(|(cqi, number)| station(&format!("ue{number}"), CellSignal::Fixed(*cqi, *cqi)));
    [base].into_iter().chain(terminals).collect()
}

/// Without errors.
pub(crate) fn quiet() -> CellConfig {
    CellConfig { errors: Probability::ZERO, repeat_errors: Probability::ZERO, ..CellConfig::default() }
}

pub(crate) const ALWAYS: Probability = Probability::from_parts_per_trillion(1_000_000_000_000).unwrap();

fn cell(config: &CellConfig, stations: &[CellStation]) -> CellMedium<u64> {
    CellMedium::new(config, (stations, 0), None, Seed::new(7)).expect("it is right")
}

pub(crate) fn frame(to: u32, size: u64, payload: u64) -> Frame<u64> {
    let (to, size) = (Destination::Station(StationId(to)), Bytes::new(size));
    Frame { to, size, category: AccessCategory::BestEffort, payload }
}

/// What is handed out until it is quiet: instant, frame and whether it was dropped.
pub(crate) fn play(cell: &mut CellMedium<u64>) -> Vec<(Instant, u64, Option<Cause>)> {
    let mut all = Vec::new();
    while let Some(wake) = cell.next_wake() {
        cell.advance(wake, |one| all.push((one.at, one.frame.payload, one.dropped)));
    }
    all
}

/// The bytes that each terminal gets in a time if there is always something for it, in bits per second.
fn saturated(config: &CellConfig, stations: &[CellStation], is_uplink: bool, span: Duration) -> Vec<f64> {
    let mut cell = cell(config, stations);
    let terminals = u32::try_from(stations.len()).expect("few") - 1;
    let (mut bytes, mut now) = (BTreeMap::<u64, u64>::new(), Instant::ZERO);
    let give = |into: &mut CellMedium<u64>, at, terminal: u32| {
        let from = if is_uplink { StationId(terminal) } else { BASE };
        into.enqueue(at, from, frame(if is_uplink { 0 } else { terminal }, 1_500, u64::from(terminal)));
    };
    (1..=terminals).for_each(|terminal| (0..config.queue / 5).for_each(|_| give(&mut cell, now, terminal)));
    while now < Instant::ZERO + span {
        now = cell.next_wake().expect("there is always something");
        let mut done = Vec::new();
        cell.advance(now, |one| done.push((one.frame.payload, one.dropped)));
        for (terminal, dropped) in done {
            assert_eq!(dropped, None);
            *bytes.entry(terminal).or_default() += 1_500;
            give(&mut cell, now, u32::try_from(terminal).expect("it was one"));
        }
    }
    (1..=u64::from(terminals))
        .map(|own| bytes.get(&own).copied().unwrap_or(0) as f64 * 8.0 / span.as_secs_f64())
        .collect()
}

fn close(found: f64, wanted: f64, share: f64) {
    assert!((found - wanted).abs() <= wanted * share, "{found} instead of {wanted}");
}

/// TS 38.214, 5.1.3.2 on 13,200 resource elements in each of 1,000 slots, which is the efficiency of table 7.2.3-1 of TS 36.213, rounded to sizes of blocks.
#[test]
fn one_terminal_gets_what_the_tables_say() {
    let qam64 = [
        0.1523, 0.2344, 0.3770, 0.6016, 0.8770, 1.1758, 1.4766, 1.9141, 2.4063, 2.7305, 3.3223, 3.9023, 4.5234, 5.1152,
        5.5547,
    ];
    for (efficiency, cqi) in qam64.into_iter().zip(1..) {
        let block = transport_block(CqiTable::Qam64, cqi, 13_200) as f64;
        close(block, efficiency * 13_200.0, 0.01);
        // What is lost to headers: 7 bytes of 1,507, and of each block for a packet that goes on in the next one.
        let headers = 7.0 / 1_507.0 + 56.0 / block;
        for is_uplink in [false, true] {
            let found = saturated(&quiet(), &stations(&[cqi]), is_uplink, ms(6_000))[0];
            close(found, block * 1_000.0 * (1.0 - headers), 0.01);
        }
    }
    let nr = CellConfig {
        slot: Duration::from_micros(500),
        blocks: 273,
        layers: 4,
        table: CqiTable::Qam256,
        queue: 20_000,
        ..quiet()
    };
    let found = saturated(&nr, &stations(&[15]), false, ms(500))[0];
    // 7.4063 bits on 132 * 273 * 4 elements in each of 2,000 slots.
    close(found, 7.4063 * 132.0 * 273.0 * 4.0 * 2_000.0 * (1.0 - 7.0 / 1_507.0), 0.01);
}

/// With channels that stay, proportional fairness gives everybody the same time, and so everybody its rate over their number.
#[test]
fn shares_are_those_of_time() {
    for scheduler in [Scheduler::ProportionalFair, Scheduler::RoundRobin] {
        let config = CellConfig { scheduler, ..quiet() };
        let cqi = [15, 9, 5];
        let alone: Vec<f64> =
            cqi.iter().map(|own| saturated(&config, &stations(&[*own]), false, ms(3_000))[0]).collect();
        let shared = saturated(&config, &stations(&cqi), false, ms(3_000));
        for (own, whole) in shared.iter().zip(alone) {
            close(*own, whole / 3.0, 0.02);
        }
    }
}

/// A channel that is good half of the time, of each terminal in turn: proportional fairness serves whoever is good, round robin does not look.
#[test]
fn proportional_fairness_follows_channels() {
    let trace = |first: u8, then: u8| CellSignal::Trace([(ms(0), first), (ms(20), then), (ms(40), first)].into());
    let turns =
        || vec![station("base", CellSignal::Fixed(1, 1)), station("ue1", trace(15, 7)), station("ue2", trace(7, 15))];
    let fair = saturated(&quiet(), &turns(), false, ms(4_000));
    let robin = CellConfig { scheduler: Scheduler::RoundRobin, ..quiet() };
    let robin = saturated(&robin, &turns(), false, ms(4_000));
    let (good, bad) = (5.5547 * 13.2e6, 1.4766 * 13.2e6);
    for own in 0..2 {
        close(fair[own], good / 2.0, 0.02);
        close(robin[own], (good + bad) / 4.0, 0.02);
    }
}

/// 1 ms for the slot and 3 ms to decode it; the uplink waits for the opportunity at 10 ms, and for the grant.
#[test]
fn delays_are_those_of_slots_and_grants() {
    let mut cell = cell(&quiet(), &stations(&[15]));
    cell.enqueue(at(2), BASE, frame(1, 100, 1));
    cell.enqueue(Instant::from_nanos(2_000_001), BASE, frame(1, 100, 2));
    // The request goes at 10 ms, takes a slot of 1 ms, and the grant is for 7 ms later: 18 + 1 + 3.
    cell.enqueue(at(3), StationId(1), frame(0, 100, 3));
    // What comes while something waits needs no request.
    cell.enqueue(at(15), StationId(1), frame(0, 100, 4));
    assert_eq!(play(&mut cell), [(at(6), 1, None), (at(7), 2, None), (at(22), 3, None), (at(22), 4, None)]);
    // Behind that, another one does: at 30 ms.
    cell.enqueue(at(23), StationId(1), frame(0, 100, 5));
    assert_eq!(play(&mut cell), [(at(42), 5, None)]);
    // Without requests, grants are there at all times.
    let mut free = self::cell(&CellConfig { request: ms(0), ..quiet() }, &stations(&[15]));
    free.enqueue(at(3), StationId(1), frame(0, 100, 1));
    assert_eq!(play(&mut free), [(at(7), 1, None)]);
}

/// Two attempts, both of which fail, 8 ms apart: the second is decoded, in vain, at 12 ms. Radio link control sends the block again 35 ms later.
#[test]
fn losses_become_delays() {
    let never = |attempts, rounds| CellConfig { errors: ALWAYS, repeat_errors: ALWAYS, attempts, rounds, ..quiet() };
    // The first attempt fails, the repeat does not: one round trip of HARQ.
    let mut cell = cell(&CellConfig { errors: ALWAYS, ..quiet() }, &stations(&[15]));
    cell.enqueue(at(0), BASE, frame(1, 100, 1));
    assert_eq!(play(&mut cell), [(at(8 + 4), 1, None)]);
    // HARQ gives up at 12 ms; from 47 ms on two more attempts; then at 59 ms it is lost.
    let mut lossy = self::cell(&never(2, 2), &stations(&[15]));
    lossy.enqueue(at(0), BASE, frame(1, 100, 1));
    assert_eq!(play(&mut lossy), [(at(47 + 8 + 4), 1, Some(Cause::Retries))]);
    // In unacknowledged mode at 12 ms.
    let mut giving_up =
        self::cell(&CellConfig { rlc: RadioLinkControl::Unacknowledged, ..never(2, 8) }, &stations(&[15]));
    giving_up.enqueue(at(0), BASE, frame(1, 100, 1));
    assert_eq!(play(&mut giving_up), [(at(12), 1, Some(Cause::Retries))]);
}

/// One attempt: half of the blocks get lost. What comes behind a lost one is held for the reordering time, and nothing overtakes.
#[test]
fn reordering_holds_what_comes_behind() {
    let half = Probability::from_parts_per_trillion(500_000_000_000).unwrap();
    let base = CellConfig { errors: half, repeat_errors: half, attempts: 1, request: ms(0), ..quiet() };
    let run = |rlc| {
        let mut cell = cell(&CellConfig { rlc, rounds: 32, ..base.clone() }, &stations(&[15]));
        (0..200).for_each(|number| cell.enqueue(at(number * 10), BASE, frame(1, 100, number)));
        play(&mut cell)
    };
    // Unacknowledged: as TS 36.322, 5.1.2.2 has it, for those that were not lost.
    let held = run(RadioLinkControl::Unacknowledged);
    let lost: BTreeSet<u64> =
        held.iter().filter(|(.., dropped)| dropped.is_some()).map(|(_, number, _)| *number).collect();
    assert!((70..130).contains(&lost.len()), "{lost:?}");
    let arrived: Vec<_> =
        held.iter().filter(|(.., dropped)| dropped.is_none()).map(|(at, number, _)| (*at, *number)).collect();
    assert_eq!(arrived, reordered((0..200).filter(|number| !lost.contains(number))));
    // Acknowledged: everything arrives, in order, and a lost block costs 4 + 35 ms or a multiple.
    let kept = run(RadioLinkControl::Acknowledged);
    assert!(kept.iter().zip(0..).all(|((_, number, dropped), wanted)| *number == wanted && dropped.is_none()));
    assert_eq!(kept.len(), 200);
    assert!(kept.iter().any(|(when, number, _)| when.since(at(number * 10)) == ms(39 + 4)));
}

/// When blocks are delivered that are decoded 4 ms behind every tenth millisecond, if others are missing.
fn reordered(decoded: impl Iterator<Item = u64>) -> Vec<(Instant, u64)> {
    let (mut delivered, mut held, mut front, mut expires) = (Vec::new(), BTreeSet::new(), 0, None::<u64>);
    for number in decoded.chain([u64::MAX]) {
        let now = number.saturating_mul(10).saturating_add(4);
        while let Some(end) = expires.filter(|end| *end < now) {
            front = *held.first().expect("something waits");
            while held.remove(&front) {
                delivered.push((at(end), front));
                front += 1;
            }
            expires = (!held.is_empty()).then_some(end + 35);
        }
        held.insert(number);
        while held.remove(&front) {
            delivered.push((at(now), front));
            front += 1;
        }
        expires = if held.is_empty() { None } else { expires.or(Some(now.saturating_add(35))) };
    }
    delivered
}

/// Cycles of 100 ms with 10 ms in which the terminal listens, and 20 ms behind each slot with data.
#[test]
fn a_sleeping_terminal_is_waited_for() {
    let drx = Drx { inactivity: ms(20), cycle: ms(100), on: ms(10) };
    let mut cell = cell(&CellConfig { drx: Some(drx), ..quiet() }, &stations(&[15]));
    cell.enqueue(at(105), BASE, frame(1, 100, 1));
    // It listens until 126 ms.
    cell.enqueue(at(125), BASE, frame(1, 100, 2));
    // And, after that one, until 146 ms: this one waits for 200 ms.
    cell.enqueue(at(146), BASE, frame(1, 100, 3));
    // It wakes up to send.
    cell.enqueue(at(350), StationId(1), frame(0, 100, 4));
    assert_eq!(play(&mut cell), [(at(109), 1, None), (at(129), 2, None), (at(204), 3, None), (at(362), 4, None)]);
}

#[test]
fn a_handover_is_a_gap() {
    let mut all = stations(&[15, 15]);
    all[1].handovers = Some(HandoverGaps { every: ms(1_000), gap: ms(50) });
    let mut cell = cell(&quiet(), &all);
    cell.begin_counting(at(100));
    for number in [1, 2] {
        cell.enqueue(at(1_110), BASE, frame(number, 100, u64::from(number)));
    }
    cell.enqueue(at(1_149), StationId(1), frame(0, 100, 3));
    // Terminal 1 is away from 1,100 to 1,150 ms, where it may ask at once.
    assert_eq!(play(&mut cell), [(at(1_114), 2, None), (at(1_154), 1, None), (at(1_162), 3, None)]);
}

/// Three slots down, one that is special, one up.
#[test]
fn both_directions_share_a_frequency() {
    use SlotUse::{Downlink, Special, Uplink};
    let pattern = vec![Downlink, Downlink, Downlink, Special, Uplink];
    let config = CellConfig { pattern, request: ms(0), ..quiet() };
    let whole = 5.5547 * 13.2e6 * (1.0 - 7.0 / 1_507.0);
    close(saturated(&config, &stations(&[15]), false, ms(3_000))[0], whole * 0.6, 0.01);
    close(saturated(&config, &stations(&[15]), true, ms(3_000))[0], whole * 0.2, 0.01);
    let mut cell = cell(&config, &stations(&[15]));
    cell.enqueue(at(3), BASE, frame(1, 100, 1));
    cell.enqueue(at(5), StationId(1), frame(0, 100, 2));
    assert_eq!(play(&mut cell), [(at(9), 1, None), (at(13), 2, None)]);
}

/// Free space, 2 GHz: 98.47 dB at 1 km; noise of 100 blocks of 180 kHz -101.41 dBm and 7 dB. 10 dBm - 98.47 + 94.41 = 5.94 dB: CQI 7. At twice the distance, 6.02 dB less:
/// -0.08 dB: CQI 3. Far away nothing is sent before the terminal comes back.
#[test]
fn indicators_follow_from_positions() {
    let place = |x: f64| Position { x: Metres(x), y: Metres(0.0), z: Metres(1.5) };
    let radio = RadioConfig { propagation: netloom_radio::Propagation::FreeSpace, ..RadioConfig::new(2_000_000_000) };
    let throughput = |x: f64| {
        let mut all = stations(&[1]);
        all[1].signal = CellSignal::Positions;
        (all[0].power, all[1].path) = (Decibels(10.0), Path::from(place(x)));
        let mut cell = CellMedium::new(&quiet(), (&all, 0), Some(&radio), Seed::new(7)).expect("it is right");
        (0..100).for_each(|number| cell.enqueue(at(0), BASE, frame(1, 1_500, number)));
        cell.advance(at(4), |_| {});
        cell.counters().next().expect("the base station").rates
    };
    assert_eq!(throughput(1_000.0), u128::from(transport_block(CqiTable::Qam64, 7, 13_200)) * 1_000 * 4);
    assert_eq!(throughput(2_000.0), u128::from(transport_block(CqiTable::Qam64, 3, 13_200)) * 1_000 * 4);
    assert_eq!(throughput(20_000.0), 0);
}

/// In the other direction 23 dBm arrive 13 dB more strongly, but on fewer blocks: at 4 km 23 - 110.51 + 94.41 = 6.9 dB, CQI 7 on all of them; at 40 km -13.1 dB, and
/// 6.02 dB more on a quarter of the blocks, 9.03 dB more on an eighth, of 12: CQI 2.
#[test]
fn terminals_concentrate_their_power() {
    let place = |x: f64| Position { x: Metres(x), y: Metres(0.0), z: Metres(1.5) };
    let radio = RadioConfig { propagation: netloom_radio::Propagation::FreeSpace, ..RadioConfig::new(2_000_000_000) };
    let first = |x: f64| {
        let mut all = stations(&[1]);
        all[1].signal = CellSignal::Positions;
        all[1].path = Path::from(place(x));
        let config = CellConfig { request: ms(0), ..quiet() };
        let mut cell = CellMedium::new(&config, (&all, 0), Some(&radio), Seed::new(7)).expect("it is right");
        (0..100).for_each(|number| cell.enqueue(at(0), StationId(1), frame(0, 1_500, number)));
        cell.advance(at(1), |_| {});
        cell.counters().nth(1).expect("the terminal").rates
    };
    assert_eq!(first(4_000.0), u128::from(transport_block(CqiTable::Qam64, 7, 13_200)) * 1_000);
    assert_eq!(first(40_000.0), u128::from(transport_block(CqiTable::Qam64, 2, 12 * 132)) * 1_000);
}

#[test]
fn everybody_hears_what_is_for_everybody() {
    let mut cell = cell(&CellConfig { errors: ALWAYS, ..quiet() }, &stations(&[15, 3]));
    let to = Destination::Everybody;
    cell.enqueue(at(0), BASE, Frame { to, size: Bytes::new(28), category: AccessCategory::BestEffort, payload: 1 });
    assert_eq!(play(&mut cell), [(at(4), 1, None)]);
    assert_eq!(cell.waiting(), 0);
}

#[test]
fn wrong_descriptions_are_refused() {
    let wrong = [
        (CellConfig { blocks: 0, ..quiet() }, "blocks"),
        (CellConfig { blocks: 2, ..quiet() }, "blocks"),
        (CellConfig { harq: ms(3), ..quiet() }, "harq"),
        (CellConfig { pattern: vec![SlotUse::Downlink], ..quiet() }, "pattern"),
        (CellConfig { drx: Some(Drx { inactivity: ms(0), cycle: ms(5), on: ms(10) }), ..quiet() }, "drx"),
    ];
    for (config, key) in wrong {
        assert_eq!(config.check().expect_err("it is wrong").key, key);
    }
    let far = stations(&[16]);
    assert_eq!(CellMedium::<u64>::new(&quiet(), (&far, 0), None, Seed::new(7)).expect_err("it is wrong").key, "cqi");
}

pub(crate) fn configs() -> impl Strategy<Value = CellConfig> {
    let errors = (0..1_000_000_000_000_u64).prop_map(|parts| Probability::from_parts_per_trillion(parts).unwrap());
    let modes = prop_oneof![Just(RadioLinkControl::Acknowledged), Just(RadioLinkControl::Unacknowledged)];
    let schedulers = prop_oneof![Just(Scheduler::ProportionalFair), Just(Scheduler::RoundRobin)];
    let drx = prop_oneof![Just(None), Just(Some(Drx { inactivity: ms(7), cycle: ms(40), on: ms(3) }))];
    let patterns = prop_oneof![Just(vec![]), Just(vec![SlotUse::Downlink, SlotUse::Special, SlotUse::Uplink])];
    ((errors.clone(), errors), modes, schedulers, drx, patterns, (6..100_u32, 1..4_u32, 1..4_u32, 1..20_u32)).prop_map(
        |((errors, repeat_errors), rlc, scheduler, drx, pattern, (blocks, attempts, rounds, queue))| CellConfig {
            errors,
            repeat_errors,
            rlc,
            scheduler,
            drx,
            pattern,
            blocks,
            attempts,
            rounds,
            queue,
            ..CellConfig::default()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(7),
        ..ProptestConfig::default()
    })]

    /// Every frame is delivered or dropped once, in order of instants; those of one sender and destination that are delivered, in their order. It does not
    /// matter how often the cell is called, nor in which order terminals are told at one instant, and what is foreseen arrives.
    #[test]
    fn every_frame_has_one_end(
        config in configs(),
        cqi in vec(1..16_u8, 1..4),
        sends in vec((0..3_000_000_u64, any::<bool>(), 0..3_usize, 1..3_000_u64), 1..60),
        step in 1..40_000_000_u64,
    ) {
        let mut now = 0;
        let terminals = cqi.len();
        let sends: Vec<_> = sends.into_iter().zip(0..).map(|((gap, is_uplink, terminal, size), number)| {
            now += gap / 1_000_000 * 500_000;
            let terminal = u32::try_from(terminal % terminals + 1).expect("few");
            let (from, to) = if is_uplink { (StationId(terminal), 0) } else { (BASE, terminal) };
            (Instant::from_nanos(now), from, frame(to, size, number))
        }).collect();
        let mut all = stations(&cqi);
        all[1].handovers = Some(HandoverGaps { every: ms(60), gap: ms(25) });
        let punctual = drive(&mut cell(&config, &all), &sends, None);
        let late = drive(&mut cell(&config, &all), &sends, Some(Duration::from_nanos(step)));
        prop_assert_eq!(&punctual, &late);
        // Others first at one instant: only the senders' own order counts.
        let mut turned = sends.clone();
        turned.sort_by_key(|(at, from, frame)| (*at, std::cmp::Reverse((*from, frame.to))));
        let mut other = drive(&mut cell(&config, &all), &turned, None);
        let mut wanted = punctual.clone();
        other.sort();
        wanted.sort();
        prop_assert_eq!(&other, &wanted);
        prop_assert!(punctual.is_sorted_by_key(|(at, ..)| *at));
        let mut numbers: Vec<_> = punctual.iter().map(|(_, number, _)| *number).collect();
        numbers.sort_unstable();
        prop_assert!(numbers.into_iter().eq(0..sends.len() as u64));
        for terminal in 0..=2 * terminals as u32 {
            let own = |number: &u64| {
                let (_, from, frame) = &sends[usize::try_from(*number).expect("few")];
                let way = if *from == BASE { frame.to } else { Destination::Station(StationId(from.0 + terminals as u32)) };
                way == Destination::Station(StationId(terminal))
            };
            let delivered = punctual.iter().filter(|(_, number, dropped)| dropped.is_none() && own(number));
            prop_assert!(delivered.map(|(_, number, _)| *number).is_sorted());
        }
    }
}

/// Sends all of it; called at each wake, or each so often.
pub(crate) fn drive(
    cell: &mut CellMedium<u64>,
    sends: &[(Instant, StationId, Frame<u64>)],
    step: Option<Duration>,
) -> Vec<(Instant, u64, Option<Cause>)> {
    let (mut all, mut foreseen) = (Vec::new(), BTreeMap::new());
    let mut sends = sends.iter().peekable();
    let mut now = Instant::ZERO;
    loop {
        let wake = step.map_or(cell.next_wake(), |step| cell.next_wake().map(|_| now + step));
        let send = sends.peek().map(|(at, ..)| *at);
        let Some(next) = wake.into_iter().chain(send).min() else { break };
        now = next;
        assert!(now < Instant::ZERO + Duration::from_secs(3_600), "it never ends");
        if Some(now) == send
            && let Some((at, from, frame)) = sends.next()
        {
            cell.enqueue(*at, *from, frame.clone());
        }
        let horizon = cell.lookahead_until(now);
        assert!(horizon >= now + cell.lookahead());
        cell.foresee(|at, frame| assert_eq!(foreseen.insert(frame.payload, at).unwrap_or(at), at));
        cell.advance(now, |one| {
            assert!(one.at <= now);
            if one.dropped.is_none() {
                assert_eq!(foreseen.get(&one.frame.payload), Some(&one.at), "it was not foreseen");
            }
            all.push((one.at, one.frame.payload, one.dropped));
        });
    }
    assert_eq!(cell.waiting(), 0);
    let sums = cell.counters().fold((0, 0), |sums, one| (sums.0 + one.frames, sums.1 + one.delivered + one.dropped));
    assert_eq!(sums.0, sums.1);
    all
}

//! Several sites of a base station: handovers by event A3, what becomes of queues, and interference, against arithmetic.
//!
//! Two sites are 1 km apart in free space, and so are signals: 20 log10 of the ratio of distances decides.

use crate::cell::{ALWAYS, BASE, at, configs, drive, frame, ms, play, quiet, station};
use netloom_radio::{
    AntennaPattern, Cause, CellConfig, CellMedium, CellSignal, CellSite, CellStation, CqiTable, Decibels, HandoverRule,
    Metres, Path, Position, Propagation, RadioConfig, RadioLinkControl, StationId, Wall, Waypoint, transport_block,
};
use netloom_units::{Duration, Instant, Probability, Seed};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

pub(crate) fn place(x: f64) -> Position {
    Position { x: Metres(x), y: Metres(0.0), z: Metres(10.0) }
}

fn site(name: &str, x: f64, carrier: u32) -> CellSite {
    let (power, pattern) = (Decibels(43.0), AntennaPattern::default());
    CellSite { name: name.into(), position: place(x), power, pattern, carrier }
}

/// Measurements each 40 ms without a filter, 3 dB and 1 dB, 160 ms, gaps of 50 ms.
pub(crate) fn two_sites(carrier: u32) -> CellConfig {
    let handover = HandoverRule { filter: 0, ..HandoverRule::default() };
    CellConfig { sites: vec![site("west", 0.0, 1), site("east", 1_000.0, carrier)], handover, ..quiet() }
}

pub(crate) fn terminal(name: &str, path: Path) -> CellStation {
    CellStation { path, ..station(name, CellSignal::Positions) }
}

/// From one place to another in so many seconds, and back if that is wanted.
pub(crate) fn walk(places: &[f64], seconds: u64) -> Path {
    let waypoint = |(x, leg): (&f64, u64)| Waypoint { at: Duration::from_secs(leg * seconds), position: place(*x) };
    let waypoints: Vec<_> = places.iter().zip(0..).map(waypoint).collect();
    Path::through(&waypoints, None).expect("it is right")
}

pub(crate) fn radio() -> RadioConfig {
    RadioConfig { propagation: Propagation::FreeSpace, ..RadioConfig::new(2_000_000_000) }
}

fn cell(config: &CellConfig, terminals: &[CellStation], radio: &RadioConfig) -> CellMedium<u64> {
    let base = CellStation { path: place(0.0).into(), ..station("base", CellSignal::Fixed(1, 1)) };
    let all: Vec<_> = [base].into_iter().chain(terminals.iter().cloned()).collect();
    let mut cell = CellMedium::new(config, (&all, 0), Some(radio), Seed::new(7)).expect("it is right");
    cell.begin_counting(Instant::ZERO);
    cell
}

/// One packet to the first terminal each millisecond: the instants between which none was delivered for more than a slot.
fn gaps(config: &CellConfig, path: Path, radio: &RadioConfig, seconds: u64) -> (Vec<(Instant, Instant)>, u64) {
    let mut cell = cell(config, &[terminal("walker", path)], radio);
    let (mut last, mut gaps) = (at(4), Vec::new());
    for number in 0..seconds * 1_000 {
        cell.enqueue(at(number), BASE, frame(1, 100, number));
        cell.advance(at(number), |one| {
            assert_eq!(one.dropped, None);
            if one.at.since(last) > ms(1) {
                gaps.push((last, one.at));
            }
            last = one.at;
        });
    }
    let handovers = cell.counters().nth(1).expect("the terminal").handovers;
    (gaps, handovers)
}

/// East is stronger by 4 dB where 20 log10(d / (1000 - d)) = 4: at 613.14 m, which is reached at 51.314 s with 10 m/s from 100 m on. The first measurement behind that
/// is at 51.32 s, the one 160 ms later triggers the handover. What was sent until then arrives 4 ms after its slot; the next slot is that behind the gap. On the way back
/// west is stronger by 4 dB at 386.86 m: 51.314 s behind the turn at 80 s.
#[test]
fn a3_triggers_at_its_instant() {
    let (found, handovers) = gaps(&two_sites(1), walk(&[100.0, 900.0, 100.0], 80), &radio(), 160);
    assert_eq!(found, [(at(51_483), at(51_534)), (at(131_483), at(131_534))]);
    assert_eq!(handovers, 2);
    // Without offset and hysteresis at the middle, plus the time to trigger.
    let rule = HandoverRule { offset: Decibels(0.0), hysteresis: Decibels(0.0), ..two_sites(1).handover };
    let middle = CellConfig { handover: rule, ..two_sites(1) };
    // At 40 s both are equal: the first stronger measurement is 40 ms later.
    assert_eq!(gaps(&middle, walk(&[100.0, 900.0], 80), &radio(), 60).0, [(at(40_203), at(40_254))]);
    // A carrier of its own changes nothing of that.
    assert_eq!(gaps(&two_sites(2), walk(&[100.0, 900.0], 80), &radio(), 60).0, [(at(51_483), at(51_534))]);
}

/// A wall that stands in the way of the west for 100 ms, 1 m of way: it has to stand longer than the time to trigger.
#[test]
fn only_what_lasts_triggers() {
    let place = |x, y| netloom_radio::Place { x: Metres(x), y: Metres(y) };
    // Walls on both sides of the terminal's way, right in front of it and behind it, would be passed; one that is as long as a metre is between it and the west.
    let wall = Wall { from: place(300.0, -1.0), to: place(300.0, 1.0), loss: Decibels(40.0), height: None };
    let radio = RadioConfig { walls: vec![wall], ..radio() };
    // 10 m/s along x = 301 m, across the shadow of the wall, which is 2 m wide there and lasts 0.2007 s.
    let across = |height: f64| {
        let position = |y| Position { x: Metres(301.0), y: Metres(y), z: Metres(height) };
        let waypoints = [(0, -30.0), (6, 30.0)];
        let waypoints = waypoints.map(|(at, y)| Waypoint { at: Duration::from_secs(at), position: position(y) });
        Path::through(&waypoints, None).expect("it is right")
    };
    let with = |trigger| {
        let handover = HandoverRule { trigger: ms(trigger), ..two_sites(1).handover };
        gaps(&CellConfig { handover, ..two_sites(1) }, across(10.0), &radio, 6)
    };
    assert_eq!(with(240).1, 0);
    // There at 2.92 s, and back again behind it, where the west is stronger.
    assert_eq!(with(80).1, 2);
}

fn rates(
    config: &CellConfig,
    terminals: &[CellStation],
    sends: impl Fn(u64, &mut CellMedium<u64>),
    who: usize,
) -> u128 {
    let mut cell = cell(config, terminals, &radio());
    let counted = |medium: &CellMedium<u64>| {
        let own = medium.counters().nth(who).expect("it is there");
        (own.rates, own.attempts)
    };
    for number in 0..100 {
        sends(number, &mut cell);
        cell.advance(at(number + 1), |_| ());
    }
    let before = counted(&cell);
    for number in 100..200 {
        sends(number, &mut cell);
        cell.advance(at(number + 1), |_| ());
    }
    let after = counted(&cell);
    (after.0 - before.0) / u128::from((after.1 - before.1).max(1))
}

fn rate(cqi: u8, blocks: u64) -> u128 {
    u128::from(transport_block(CqiTable::Qam64, cqi, blocks * 132)) * 1_000
}

/// A terminal 300 m from the west and 700 m from the east: 7.36 dB, CQI 7, if the east sends on all blocks; 3.01 dB more, 10.37 dB, CQI 9, if on a half of them; 15 if it is silent,
/// or on another carrier. The noise is 48 dB below.
#[test]
fn neighbours_interfere_by_their_load() {
    let pair = [terminal("near", place(300.0).into()), terminal("other", place(990.0).into())];
    let down = |carrier, blocks: u64| {
        let sends = move |number, cell: &mut CellMedium<u64>| {
            // More than fits, so that all blocks count.
            (0..8).for_each(|_| cell.enqueue(at(number), BASE, frame(1, 1_500, number)));
            if blocks > 0 {
                let size = transport_block(CqiTable::Qam64, 15, blocks * 132) / 8 - 7;
                cell.enqueue(at(number), BASE, frame(2, size, number));
            }
        };
        // The rate of the base station is that of both; that of the other is known.
        let all = rates(&CellConfig { queue: 10, ..two_sites(carrier) }, &pair, sends, 0);
        if blocks == 0 { all } else { 2 * all - rate(15, blocks) }
    };
    assert_eq!(down(1, 0), rate(15, 100));
    assert_eq!(down(2, 100), rate(15, 100));
    // 10 m from the east, 300 m from the west's terminal: the other has CQI 15 in both cases.
    assert_eq!(down(1, 100), rate(7, 100));
    assert_eq!(down(1, 50), rate(9, 100));
}

/// The same ratio in the uplink: 23 dBm from 300 m, and 23 dBm from the east's terminal at 700 m, of which 10 m more make it 7.24 dB.
#[test]
fn terminals_interfere_at_other_sites() {
    let own = terminal("near", place(300.0).into());
    let east = CellStation { site: Some(1), ..terminal("other", place(700.0).into()) };
    let config = CellConfig { request: ms(0), queue: 10, ..two_sites(1) };
    let up = |is_loud| {
        let sends = move |number, cell: &mut CellMedium<u64>| {
            (0..8).for_each(|_| cell.enqueue(at(number), StationId(1), frame(0, 1_500, number)));
            if is_loud {
                (0..8).for_each(|_| cell.enqueue(at(number), StationId(2), frame(0, 1_500, number)));
            }
        };
        rates(&config, &[own.clone(), east.clone()], sends, 1)
    };
    assert_eq!(up(false), rate(15, 100));
    assert_eq!(up(true), rate(7, 100));
}

/// Forty packets wait at the handover, at 51.48 s, and one is on its way of which every attempt fails. Acknowledged: all arrive behind the gap, in order. If nothing is handed on, all are
/// lost. Unacknowledged: what was on its way is lost, and the rest arrives.
#[test]
fn queues_are_handed_on_or_lost() {
    let outcomes = |rlc, forwards, errors| {
        let handover = HandoverRule { forwards, ..two_sites(1).handover };
        // A repeat comes behind the handover.
        let config =
            CellConfig { rlc, handover, errors, repeat_errors: errors, harq: ms(100), blocks: 6, ..two_sites(1) };
        let mut cell = cell(&config, &[terminal("walker", walk(&[100.0, 900.0], 80))], &radio());
        cell.enqueue(at(51_000), BASE, frame(1, 100, 99));
        let mut all = Vec::new();
        cell.advance(at(51_470), |one| all.push((one.frame.payload, one.dropped)));
        (0..40).for_each(|number| cell.enqueue(at(51_478), BASE, frame(1, 400, number)));
        while let Some(wake) = cell.next_wake().filter(|wake| *wake < at(53_000)) {
            cell.advance(wake, |one| all.push((one.frame.payload, one.dropped)));
        }
        all
    };
    // 6 blocks carry 4,392 bits or 549 bytes in a slot, the last two before the handover a packet and a part each.
    let kept = outcomes(RadioLinkControl::Acknowledged, true, Probability::ZERO);
    assert!(kept.iter().map(|(number, _)| *number).eq([99].into_iter().chain(0..40)));
    assert!(kept.iter().all(|(_, dropped)| dropped.is_none()));
    let lost = |all: &[(u64, Option<Cause>)]| {
        all.iter()
            .filter(|(_, dropped)| *dropped == Some(Cause::Retries))
            .map(|(number, _)| *number)
            .collect::<Vec<_>>()
    };
    // Two packets and a part of a third one had left.
    assert_eq!(lost(&outcomes(RadioLinkControl::Acknowledged, false, Probability::ZERO)), Vec::from_iter(2..40));
    // In unacknowledged mode the third one is lost, of which only a part got through.
    assert_eq!(lost(&outcomes(RadioLinkControl::Unacknowledged, true, Probability::ZERO)), [2]);
    // If nothing is ever decoded in time, what was on its way is lost, too, and everything else behind that.
    let failed = outcomes(RadioLinkControl::Unacknowledged, true, ALWAYS);
    assert!(lost(&failed).starts_with(&[0, 1, 2]) || lost(&failed).starts_with(&[99, 0, 1, 2]), "{failed:?}");
}

/// A terminal that has had nothing to send for 10 s has no connection that could be handed over: there is no gap.
#[test]
fn idle_terminals_choose_without_a_gap() {
    let mut cell = cell(&two_sites(1), &[terminal("walker", walk(&[100.0, 900.0], 80))], &radio());
    cell.enqueue(at(51_500), BASE, frame(1, 100, 1));
    assert_eq!(play(&mut cell), [(at(51_504), 1, None)]);
    assert_eq!(cell.counters().nth(1).expect("the terminal").handovers, 0);
    // One that had something to send a second before has one.
    let mut busy = self::cell(&two_sites(1), &[terminal("walker", walk(&[100.0, 900.0], 80))], &radio());
    busy.enqueue(at(50_500), BASE, frame(1, 100, 1));
    busy.enqueue(at(51_500), BASE, frame(1, 100, 2));
    assert_eq!(play(&mut busy), [(at(50_504), 1, None), (at(51_534), 2, None)]);
    assert_eq!(busy.counters().nth(1).expect("the terminal").handovers, 1);
}

#[test]
fn wrong_sites_are_refused() {
    let refused = |config: &CellConfig, own: CellStation| {
        let base = station("base", CellSignal::Fixed(1, 1));
        let made = CellMedium::<u64>::new(config, (&[base, own], 0), Some(&radio()), Seed::new(7));
        made.expect_err("it is wrong").key
    };
    let phone = || terminal("phone", place(1.0).into());
    let with = |sites| CellConfig { sites, ..quiet() };
    assert_eq!(refused(&with(vec![site("phone", 0.0, 1)]), phone()), "cells");
    assert_eq!(refused(&with(vec![site("a", 0.0, 1), site("a", 1.0, 1)]), phone()), "cells");
    assert_eq!(refused(&with((0..65).map(|number| site(&format!("s{number}"), 0.0, 1)).collect()), phone()), "cells");
    assert_eq!(refused(&with(vec![site("a", f64::NAN, 1)]), phone()), "position");
    assert_eq!(refused(&two_sites(1), CellStation { site: Some(2), ..phone() }), "cell");
    let odd = HandoverRule { period: Duration::from_micros(1_500), ..HandoverRule::default() };
    assert_eq!(refused(&CellConfig { handover: odd, ..two_sites(1) }, phone()), "handover");
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(11),
        ..ProptestConfig::default()
    })]

    /// As for one site: every frame has one end, in order, at the same instant however the medium is driven, while terminals rush from site to site.
    #[test]
    fn every_frame_has_one_end(
        config in configs(),
        (ends, forwards, carrier) in (vec((0.0..1_000.0, 0.0..1_000.0), 1..4), any::<bool>(), 1..3_u32),
        sends in vec((0..30_000_000_u64, any::<bool>(), 0..3_usize, 1..3_000_u64), 1..60),
        step in 1..40_000_000_u64,
    ) {
        let sites = two_sites(carrier);
        let handover = HandoverRule { forwards, trigger: ms(0), offset: Decibels(0.0), gap: ms(7), ..sites.handover };
        let config = CellConfig { sites: sites.sites, handover, ..config };
        let terminals: Vec<_> = ends.iter().zip(1..).map(|((from, to), number)| {
            terminal(&format!("ue{number}"), walk(&[*from, *to, *from, *to], 1))
        }).collect();
        let mut now = 0;
        let sends: Vec<_> = sends.into_iter().zip(0..).map(|((gap, is_uplink, terminal, size), number)| {
            now += gap / 1_000_000 * 500_000;
            let terminal = u32::try_from(terminal % ends.len() + 1).expect("few");
            let (from, to) = if is_uplink { (StationId(terminal), 0) } else { (BASE, terminal) };
            (Instant::from_nanos(now), from, frame(to, size, number))
        }).collect();
        let punctual = drive(&mut cell(&config, &terminals, &radio()), &sends, None);
        let late = drive(&mut cell(&config, &terminals, &radio()), &sends, Some(Duration::from_nanos(step)));
        prop_assert_eq!(&punctual, &late);
        let mut numbers: Vec<_> = punctual.iter().map(|(_, number, _)| *number).collect();
        numbers.sort_unstable();
        prop_assert!(numbers.into_iter().eq(0..sends.len() as u64));
        for terminal in 1..=ends.len() as u32 {
            for from in [BASE, StationId(terminal)] {
                let own = |number: &u64| {
                    let (_, sender, frame) = &sends[usize::try_from(*number).expect("few")];
                    *sender == from && (from != BASE || frame.to == netloom_radio::Destination::Station(StationId(terminal)))
                };
                let delivered = punctual.iter().filter(|(_, number, dropped)| dropped.is_none() && own(number));
                prop_assert!(delivered.map(|(_, number, _)| *number).is_sorted());
            }
        }
    }
}

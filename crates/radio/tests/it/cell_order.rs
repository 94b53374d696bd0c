//! Cells: results depend on terminals and their names, not on the order of ends, as long as the scheduler prefers one of them.
//!
//! Terminals that come first alike get their blocks in the order of ends. So they differ here: in their CQI, by which proportional fairness tells them apart from the
//! first slot on, and from what is for everybody, which has CQI 1; and nothing is repeated, since what is due at one instant is due alike.

use crate::cell::{configs, drive, ms, station};
use crate::cells::{place, radio, terminal, two_sites, walk};
use crate::common::cases_of;
use netloom_radio::{
    Cause, CellConfig, CellMedium, CellSignal, CellStation, Decibels, Destination, Frame, HandoverGaps, HandoverRule,
    RadioConfig, Scheduler, StationId,
};
use netloom_units::{Bytes, Instant, Probability, Seed};
use proptest::collection::vec;
use proptest::prelude::*;

/// The base station, at any place among its terminals: `order[new]` is the old number, and the base station is number 0.
fn cell(
    config: &CellConfig,
    stations: &[CellStation],
    radio: Option<&RadioConfig>,
    order: &[usize],
) -> CellMedium<u64> {
    let all: Vec<_> = order.iter().map(|old| stations[*old].clone()).collect();
    let base = order.iter().position(|old| *old == 0).expect("it is there");
    let mut cell = CellMedium::new(config, (&all, base), radio, Seed::new(7)).expect("it is right");
    cell.begin_counting(Instant::ZERO);
    cell
}

/// A frame that a terminal, by its old number, sends or is to get; or that is for all of them.
#[derive(Clone, Debug)]
struct Send {
    at: Instant,
    is_uplink: bool,
    terminal: Option<usize>,
    size: u64,
}

fn sends(terminals: usize) -> impl Strategy<Value = Vec<Send>> {
    let one = (0..3_000_000_u64, any::<bool>(), 0..=terminals, 1..3_000_u64);
    vec(one, 1..80).prop_map(move |all| {
        let mut now = 0;
        let timed = all.into_iter().map(|(gap, is_uplink, terminal, size)| {
            now += gap / 1_000_000 * 500_000;
            let terminal = (terminal > 0).then_some(terminal);
            Send { at: Instant::from_nanos(now), is_uplink: is_uplink && terminal.is_some(), terminal, size }
        });
        timed.collect()
    })
}

type Ending = (u64, Instant, Option<Cause>);

/// When each frame was delivered or dropped, and how often terminals changed their sites, by old numbers.
fn endings(mut cell: CellMedium<u64>, sends: &[Send], order: &[usize]) -> (Vec<Ending>, Vec<u64>) {
    let new = |old: usize| {
        StationId(u32::try_from(order.iter().position(|own| *own == old).expect("all are there")).expect("few"))
    };
    let frame = |(send, payload): (&Send, u64)| {
        let to = match (send.is_uplink, send.terminal) {
            (false, None) => Destination::Everybody,
            (false, Some(terminal)) => Destination::Station(new(terminal)),
            (true, _) => Destination::Station(new(0)),
        };
        let from = if send.is_uplink { send.terminal.map_or(new(0), new) } else { new(0) };
        let category = netloom_radio::AccessCategory::BestEffort;
        (send.at, from, Frame { to, size: Bytes::new(send.size), category, payload })
    };
    let frames: Vec<_> = sends.iter().zip(0..).map(frame).collect();
    let all = drive(&mut cell, &frames, None);
    let mut all: Vec<Ending> = all.into_iter().map(|(at, number, dropped)| (number, at, dropped)).collect();
    all.sort_unstable();
    let counters: Vec<_> = cell.counters().collect();
    let handovers = (0..order.len()).map(|old| counters[new(old).0 as usize].handovers);
    (all, handovers.collect())
}

fn told_apart(config: CellConfig) -> CellConfig {
    CellConfig {
        errors: Probability::ZERO,
        repeat_errors: Probability::ZERO,
        scheduler: Scheduler::ProportionalFair,
        ..config
    }
}

const SAME: [usize; 5] = [0, 1, 2, 3, 4];

proptest! {
    #![proptest_config(cases_of(200))]

    #[test]
    fn the_order_of_terminals_does_not_matter(
        config in configs(),
        cqi in Just((2..16_u8).collect::<Vec<_>>()).prop_shuffle(),
        sends in sends(4),
        order in Just(SAME.to_vec()).prop_shuffle(),
    ) {
        let config = told_apart(config);
        let terminals = cqi.iter().zip(1..5).map(|(cqi, number)| {
            let handovers = (number == 2).then_some(HandoverGaps { every: ms(60), gap: ms(25) });
            CellStation { handovers, ..station(&format!("ue{number}"), CellSignal::Fixed(*cqi, *cqi)) }
        });
        let all: Vec<_> = [station("base", CellSignal::Fixed(1, 1))].into_iter().chain(terminals).collect();
        let plain = endings(cell(&config, &all, None, &SAME), &sends, &SAME);
        let shuffled = endings(cell(&config, &all, None, &order), &sends, &order);
        prop_assert_eq!(plain, shuffled);
    }

    /// Terminals that rush from site to site, each of which sends so little that nobody waits for anybody else.
    #[test]
    fn the_order_of_terminals_does_not_matter_at_handovers(
        (ends, forwards, carrier) in (vec((0.0..1_000.0, 0.0..1_000.0), 4), any::<bool>(), 1..3_u32),
        sends in sends(4),
        order in Just(SAME.to_vec()).prop_shuffle(),
    ) {
        let sites = two_sites(carrier);
        let handover = HandoverRule { forwards, trigger: ms(0), offset: Decibels(0.0), gap: ms(7), ..sites.handover };
        let config = told_apart(CellConfig { sites: sites.sites, handover, blocks: 275, layers: 8, ..CellConfig::default() });
        let terminals = ends.iter().zip(1..).map(|((from, to), number)| {
            terminal(&format!("ue{number}"), walk(&[*from, *to, *from, *to], 1))
        });
        let base = CellStation { path: place(0.0).into(), ..station("base", CellSignal::Fixed(1, 1)) };
        let all: Vec<_> = [base].into_iter().chain(terminals).collect();
        let small: Vec<Send> = sends.iter().map(|send| Send { size: send.size % 40 + 1, ..send.clone() }).collect();
        let plain = endings(cell(&config, &all, Some(&radio()), &SAME), &small, &SAME);
        let shuffled = endings(cell(&config, &all, Some(&radio()), &order), &small, &order);
        prop_assert_eq!(plain, shuffled);
    }
}

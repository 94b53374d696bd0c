//! Networks with several access points: results depend on instants alone, not on the order of stations nor of calls.

use crate::common::cases_of;
use crate::conservation::{Arrival, arrivals};
use crate::radio_order::{Case, SAME, by_number, cases, renumbered};
use netloom_radio::{
    AccessPoint, AccessPoints, Associated, Decibels, Destination, Frame, Join, RadioMedium, Reception, RoamingRule,
    StationId,
};
use netloom_units::{Duration, Instant};
use proptest::prelude::*;

/// A random medium with two access points, between which the other two stations go to and fro.
#[derive(Clone, Debug)]
struct Network {
    case: Case,
    points: AccessPoints,
}

impl Network {
    /// The medium with its stations in another order: `order[new]` is the old number.
    fn medium(&self, order: &[usize]) -> RadioMedium<u64> {
        let new = |old: usize| order.iter().position(|own| *own == old).expect("all are there");
        let points = self.points.points.iter().map(|point| AccessPoint { station: new(point.station), ..*point });
        let kept = self.points.kept.iter().map(|(station, point)| (new(*station), *point));
        let points = AccessPoints { points: points.collect(), kept: kept.collect(), ..self.points.clone() };
        let medium = self.case.shuffled(order).with_access_points(&points, 36);
        let mut medium = medium.expect("the description is right");
        medium.begin_counting(Instant::ZERO);
        medium
    }
}

/// Beacons come so often, and gaps are so short, that much happens within some milliseconds, and at instants at which something else does.
fn networks() -> impl Strategy<Value = Network> {
    (cases(), any::<(bool, bool)>(), 0..5_u64, 0..3_u64, 1..3_u32).prop_map(
        |(case, (is_split, is_kept), gap, trigger, lost_after)| {
            let point = |(station, channel)| AccessPoint { station, channel };
            let points = [(0, 36), (1, if is_split { 40 } else { 36 })].map(point).into();
            let rule = RoamingRule {
                below: Decibels(-40.0),
                hysteresis: Decibels(1.0),
                trigger: Duration::from_millis(trigger),
                beacon: Duration::from_millis(2),
                lost_after,
                gap: Duration::from_millis(gap),
            };
            let kept = if is_kept { vec![(3, 1)] } else { Vec::new() };
            Network { case, points: AccessPoints { points, rule, kept } }
        },
    )
}

/// The outcomes, and the stations of which those behind access points were told.
type Played = (Vec<Reception<u64>>, Vec<Join>);

/// Lets all arrivals come, and 20 ms pass: stations may be with no access point for ever. The medium is called whenever it wants if `is_punctual`, else only when
/// something comes and at the end.
fn play(medium: &mut RadioMedium<u64>, arrivals: &[Arrival], is_punctual: bool) -> Played {
    let (mut outcomes, mut joins, mut now) = (Vec::new(), Vec::new(), Instant::ZERO);
    let mut look = |air: &mut RadioMedium<u64>, at: Instant| {
        air.advance(at, |outcome| outcomes.push(outcome));
        joins.extend(std::iter::from_fn(|| air.take_join(at)));
    };
    let mut wait = |air: &mut RadioMedium<u64>, until: Instant| {
        while let Some(wake) = air.next_wake().filter(|wake| is_punctual && *wake <= until) {
            look(air, wake);
        }
        look(air, until);
    };
    for arrival in arrivals {
        now = now + arrival.gap;
        wait(medium, now);
        medium.enqueue(now, StationId(arrival.station), arrival.frame.clone());
        // Every other frame comes with one of the network, to the same or to everybody.
        if arrival.frame.payload % 2 == 0 {
            let to = if arrival.frame.payload % 4 == 0 { Destination::Everybody } else { arrival.frame.to };
            let payload = MANAGEMENT + arrival.frame.payload;
            medium.enqueue_management(now, StationId(arrival.station), Frame { to, payload, ..arrival.frame.clone() });
        }
    }
    wait(medium, now + Duration::from_millis(20));
    (outcomes, joins)
}

/// The payloads of frames of the network are numbered from here on.
const MANAGEMENT: u64 = 1 << 32;

type Told = (Duration, usize, Option<usize>);

/// Who is with whom, by old numbers.
fn associations(medium: RadioMedium<u64>, order: &[usize]) -> Vec<Told> {
    let old = |station: StationId| order[station.0 as usize];
    let one = |one: Associated| (one.at, old(one.station), one.point.map(old));
    let mut all: Vec<_> = medium.associations(Duration::from_millis(100)).into_iter().map(one).collect();
    all.sort_unstable();
    all
}

/// The arrivals of stations of which those behind their access points are told, by old numbers.
fn told(joins: &[Join], order: &[usize]) -> Vec<(Instant, usize, usize)> {
    let old = |station: StationId| order[station.0 as usize];
    let mut all: Vec<_> =
        joins.iter().map(|Join { at, station, point, .. }| (*at, old(*station), old(*point))).collect();
    all.sort_unstable();
    all
}

proptest! {
    #![proptest_config(cases_of(200))]

    #[test]
    fn the_order_of_stations_does_not_matter(network in networks(), arrivals in arrivals(), order in Just(SAME.to_vec()).prop_shuffle()) {
        let (mut plain, mut shuffled) = (network.medium(&SAME), network.medium(&order));
        prop_assert_eq!(associations(plain.clone(), &SAME), associations(shuffled.clone(), &order));
        let (one, joins) = play(&mut plain, &arrivals, true);
        let (other, other_joins) = play(&mut shuffled, &renumbered(&arrivals, &order), true);
        prop_assert_eq!(by_number(&one, &SAME), by_number(&other, &order));
        prop_assert_eq!(plain.totals(), shuffled.totals());
        prop_assert_eq!(told(&joins, &SAME), told(&other_joins, &order));
        let counters: Vec<_> = shuffled.counters().collect();
        for (own, old) in counters.iter().zip(&order) {
            prop_assert_eq!(Some(*own), plain.counters().nth(*old));
        }
    }

    #[test]
    fn frames_are_handed_out_once_whoever_calls(network in networks(), arrivals in arrivals()) {
        let (mut punctual, mut late) = (network.medium(&SAME), network.medium(&SAME));
        let (outcomes, joins) = play(&mut punctual, &arrivals, true);
        let (late_outcomes, late_joins) = play(&mut late, &arrivals, false);
        prop_assert_eq!(by_number(&outcomes, &SAME), by_number(&late_outcomes, &SAME));
        prop_assert_eq!(told(&joins, &SAME), told(&late_joins, &SAME));
        let mut numbers: Vec<u64> = outcomes.iter().map(|one| one.outcome.frame.payload).collect();
        numbers.sort_unstable();
        prop_assert!(numbers.is_sorted_by(|one, other| one < other));
        numbers.retain(|number| *number < MANAGEMENT);
        let waiting: usize = (0..4).map(|station| punctual.waiting(StationId(station))).sum();
        prop_assert!(numbers.len() + waiting <= arrivals.len());
        prop_assert!(numbers.last().is_none_or(|last| *last < arrivals.len() as u64));
    }
}

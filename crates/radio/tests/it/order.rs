//! Results depend on instants alone: not on when the medium is called, nor on the order of calls at one instant.

use crate::common::cases_of;
use crate::conservation::{Arrival, arrivals, media_with_interferers, play};
use netloom_radio::{Cause, Medium, Outcome, StationId};
use netloom_units::Instant;
use proptest::prelude::*;

/// Enqueues everything, and asks once at the end.
fn play_late(medium: &mut Medium<u64>, arrivals: &[Arrival]) -> Vec<Outcome<u64>> {
    let mut now = Instant::ZERO;
    for arrival in arrivals {
        now = now + arrival.gap;
        medium.enqueue(now, StationId(arrival.station), arrival.frame.clone());
    }
    let mut outcomes = Vec::new();
    while let Some(wake) = medium.next_wake() {
        medium.advance(wake.max(now), |outcome| outcomes.push(outcome));
    }
    outcomes
}

/// The same arrivals, with those of one instant in the order of stations, or in the opposite one.
fn reordered(arrivals: &[Arrival], is_upwards: bool) -> Vec<Arrival> {
    let mut now = Instant::ZERO;
    let mut timed: Vec<(Instant, Arrival)> = Vec::new();
    for arrival in arrivals {
        now = now + arrival.gap;
        timed.push((now, arrival.clone()));
    }
    timed.sort_by_key(|(at, arrival)| (*at, if is_upwards { arrival.station } else { u32::MAX - arrival.station }));
    let mut before = Instant::ZERO;
    let again = timed.into_iter().map(|(at, arrival)| {
        let gap = at.since(before);
        before = at;
        Arrival { gap, ..arrival }
    });
    again.collect()
}

/// When each frame was delivered or dropped, by number.
fn by_number(outcomes: &[Outcome<u64>]) -> Vec<(u64, Instant, Option<Cause>)> {
    let mut all: Vec<_> = outcomes.iter().map(|outcome| (outcome.frame.payload, outcome.at, outcome.dropped)).collect();
    all.sort_unstable();
    all
}

proptest! {
    #![proptest_config(cases_of(300))]

    #[test]
    fn a_late_caller_gets_what_a_punctual_one_gets(medium in media_with_interferers(), arrivals in arrivals()) {
        let (mut punctual, mut late) = (medium.clone(), medium);
        prop_assert_eq!(play(&mut punctual, &arrivals), play_late(&mut late, &arrivals));
    }

    #[test]
    fn the_order_of_calls_at_one_instant_does_not_matter(medium in media_with_interferers(), arrivals in arrivals()) {
        let (mut one, mut other) = (medium.clone(), medium);
        let upwards = play(&mut one, &reordered(&arrivals, true));
        let downwards = play(&mut other, &reordered(&arrivals, false));
        prop_assert_eq!(by_number(&upwards), by_number(&downwards));
    }

    /// Two futures that part at one instant agree on all deliveries before the lookahead.
    #[test]
    fn deliveries_before_the_lookahead_are_certain(
        mut medium in media_with_interferers(),
        past in arrivals(),
        one in arrivals(),
        other in arrivals(),
    ) {
        let mut now = Instant::ZERO;
        for arrival in &past {
            now = now + arrival.gap;
            medium.enqueue(now, StationId(arrival.station), arrival.frame.clone());
        }
        let certain = medium.lookahead_until(now);
        prop_assert!(certain >= now + medium.lookahead());
        let future = |arrivals: &[Arrival]| {
            let mut copy = medium.clone();
            let mut at = now;
            for arrival in arrivals {
                copy.enqueue(at, StationId(arrival.station), arrival.frame.clone());
                at = at + arrival.gap;
            }
            let mut outcomes = Vec::new();
            copy.advance(at.max(certain), |outcome| outcomes.push(outcome));
            let known = outcomes.iter().filter(|outcome| outcome.at < certain && outcome.dropped != Some(Cause::Full));
            by_number(&known.cloned().collect::<Vec<_>>())
        };
        prop_assert_eq!(future(&one), future(&other));
    }
}

//! What must hold whatever stations send: times add up, frames are accounted for, receptions do not overlap.

use crate::common::{cases_of, frame, phy};
use netloom_radio::{
    Access, AccessCategory, Aggregation, Attempt, Destination, Discipline, Frame, Interferer, LinkConfig, Medium,
    MediumConfig, Mode, Outcome, Phy, Source, Standard, StationConfig, StationId,
};
use netloom_units::{Bytes, Duration, Instant, Probability, Seed};
use proptest::prelude::*;

pub(crate) const STATIONS: u32 = 4;

/// A frame that comes so long after the one before it.
#[derive(Clone, Debug)]
pub(crate) struct Arrival {
    pub(crate) gap: Duration,
    pub(crate) station: u32,
    pub(crate) frame: Frame<u64>,
}

/// Arrivals with many at one instant, and at instants at which something ends.
pub(crate) fn arrivals() -> impl Strategy<Value = Vec<Arrival>> {
    let gaps = prop_oneof![Just(0), 0_u64..400, 0_u64..20_000].prop_map(Duration::from_micros);
    let one = (gaps, 0..STATIONS, 0..=STATIONS, 0_u64..2_000, 0_usize..4);
    prop::collection::vec(one, 1..120).prop_map(|all| {
        let numbered = (0..).zip(all);
        numbered
            .map(|(number, (gap, station, to, size, category))| {
                let to = match to {
                    everybody if everybody == STATIONS || everybody == station => Destination::Everybody,
                    other => Destination::Station(StationId(other)),
                };
                let frame = Frame { to, category: AccessCategory::ALL[category], ..frame(0, size, number) };
                Arrival { gap, station, frame }
            })
            .collect()
    })
}

fn n_or_a(is_n: bool) -> (Phy, Mode) {
    if is_n { (phy(Standard::N, 36), Mode::mcs(3)) } else { (phy(Standard::A, 36), Mode::kilobits(12_000)) }
}

/// Media of all kinds, with losses.
pub(crate) fn media() -> impl Strategy<Value = Medium<u64>> {
    (any::<(bool, bool, bool, bool)>(), 0_u64..300, any::<u64>()).prop_map(
        |((is_n, is_ideal, is_fair, has_rts), lost, seed)| {
            let (phy, mode) = n_or_a(is_n);
            let usual = MediumConfig::new(phy);
            let amsdu = Bytes::new(if is_n && has_rts { 3_839 } else { 0 });
            let config = MediumConfig {
                access: if is_ideal { Access::Ideal } else { Access::Dcf },
                discipline: if is_fair { Discipline::AirtimeFq } else { Discipline::Fifo },
                rts_above: has_rts.then_some(Bytes::new(500)),
                aggregation: Aggregation { amsdu, ..usual.aggregation },
                queue: 20,
                ..usual
            };
            let error = Probability::from_parts_per_trillion(lost * 1_000_000_000).expect("below 1");
            let link = LinkConfig { mode, error };
            let stations: Vec<_> =
                (0..STATIONS).map(|number| StationConfig { name: format!("station{number}"), link }).collect();
            Medium::new(&config, &stations, Seed::new(seed)).expect("the description is right")
        },
    )
}

/// The same, with interferers on every second one on which stations contend.
pub(crate) fn media_with_interferers() -> impl Strategy<Value = Medium<u64>> {
    (media(), any::<bool>(), any::<u64>()).prop_map(|(medium, is_disturbed, seed)| {
        let interferer = |name: &str, percent: u64, burst| Interferer {
            name: name.into(),
            source: Source::Sensed,
            has_preamble: true,
            duty: Probability::from_parts_per_trillion(percent * 10_000_000_000).expect("up to 100 %"),
            burst: Duration::from_micros(burst),
        };
        let both = [interferer("upstairs", 5, 300), interferer("downstairs", 10, 3_000)];
        let with = medium.clone().with_interferers(&both[..if is_disturbed { 2 } else { 0 }], Seed::new(seed));
        let mut made = with.unwrap_or(medium);
        made.begin_counting(Instant::ZERO);
        made
    })
}

/// Lets all arrivals come, calling the medium whenever it wants, and returns what became of them.
pub(crate) fn play(medium: &mut Medium<u64>, arrivals: &[Arrival]) -> Vec<Outcome<u64>> {
    let (mut outcomes, mut now) = (Vec::new(), Instant::ZERO);
    for arrival in arrivals {
        now = now + arrival.gap;
        while let Some(wake) = medium.next_wake().filter(|wake| *wake <= now) {
            medium.advance(wake, |outcome| outcomes.push(outcome));
        }
        medium.enqueue(now, StationId(arrival.station), arrival.frame.clone());
        let airtime = medium.airtime(now);
        assert_eq!(airtime.total(), now.since(Instant::ZERO), "{airtime:?}");
    }
    while let Some(wake) = medium.next_wake() {
        medium.advance(wake, |outcome| outcomes.push(outcome));
    }
    outcomes
}

proptest! {
    #![proptest_config(cases_of(300))]

    #[test]
    fn frames_are_delivered_or_dropped_once(mut medium in media_with_interferers(), arrivals in arrivals()) {
        let outcomes = play(&mut medium, &arrivals);
        let mut numbers: Vec<u64> = outcomes.iter().map(|outcome| outcome.frame.payload).collect();
        numbers.sort_unstable();
        prop_assert!(numbers.into_iter().eq(0..arrivals.len() as u64));
        prop_assert!(outcomes.is_sorted_by_key(|outcome| outcome.at));
        for (counters, number) in medium.counters().zip(0..) {
            prop_assert_eq!(counters.frames, counters.delivered + counters.dropped);
            prop_assert_eq!(medium.waiting(StationId(number)), 0);
            prop_assert!(counters.collisions <= counters.attempts && counters.failed_mpdus <= counters.mpdus + counters.frames * 7);
        }
    }

    #[test]
    fn receptions_do_not_overlap(mut medium in media(), arrivals in arrivals()) {
        medium.record_attempts(true);
        let outcomes = play(&mut medium, &arrivals);
        let attempts: Vec<_> = medium.attempts().collect();
        // Attempts come one after the other, but for those that began at one instant: these collided.
        let (mut free, mut together, mut collisions) = (Instant::ZERO, Instant::ZERO, Duration::ZERO);
        for one in attempts.chunk_by(|one, next| one.start == next.start) {
            let (start, end) = (one[0].start, one.iter().map(|attempt| attempt.answered).max().expect("a chunk has attempts"));
            prop_assert!(start >= free && end > start, "{one:?}");
            prop_assert!(one.iter().all(|attempt| attempt.collided == (one.len() > 1)), "{one:?}");
            prop_assert!(one.iter().all(|attempt| !attempt.collided || attempt.decoded == 0), "{one:?}");
            free = end;
            if one.len() > 1 {
                collisions = collisions + end.since(start);
            } else {
                together = together + end.since(start);
            }
        }
        let airtime = medium.airtime(Instant::ZERO);
        prop_assert_eq!(airtime.collisions, collisions);
        // Spaces within a TXOP are its owner's.
        let alone = airtime.total() - airtime.idle - collisions;
        prop_assert!(alone >= together.since(Instant::ZERO));
        // What is delivered arrived with an attempt, or waited for one to be given up.
        for outcome in outcomes.iter().filter(|outcome| outcome.dropped.is_none()) {
            let came = |one: &Attempt| one.from == outcome.from && one.decoded > 0 && one.end == outcome.at;
            // A frame is given up behind an attempt, or when a more urgent category of its station begins.
            let is_over = |one: &Attempt| one.decoded < one.mpdus && one.answered == outcome.at || one.start == outcome.at;
            let gave_up = |one: &Attempt| one.from == outcome.from && is_over(one);
            prop_assert!(attempts.iter().any(|one| came(one) || gave_up(one)), "{outcome:?}");
        }
    }

    #[test]
    fn frames_of_a_flow_keep_their_order(mut medium in media_with_interferers(), arrivals in arrivals()) {
        let outcomes = play(&mut medium, &arrivals);
        let key = |outcome: &Outcome<u64>| (outcome.from, outcome.frame.to, outcome.frame.category);
        let mut delivered: Vec<_> = outcomes.iter().filter(|one| one.dropped.is_none()).map(|one| (key(one), one.frame.payload)).collect();
        // A stable sort: within a flow, what remains is the order of delivery.
        delivered.sort_by_key(|(flow, _)| *flow);
        prop_assert!(delivered.is_sorted(), "{:?}", delivered);
    }
}

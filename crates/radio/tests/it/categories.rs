//! EDCA: urgent categories, TXOPs, frames to everybody, and drops after the last attempt.

use crate::common::{frame, medium, phy, saturate, seconds, within};
use netloom_radio::{
    AccessCategory, Aggregation, Cause, Destination, Frame, LinkConfig, Medium, MediumConfig, Mode, Standard, StationId,
};
use netloom_units::{Bytes, Instant, Probability};

fn plain() -> MediumConfig {
    MediumConfig { aggregation: Aggregation::NONE, ..MediumConfig::new(phy(Standard::N, 36)) }
}

/// Lets station 0 send frames of all these categories without end until `end`; how many of each are delivered.
fn mixed(medium: &mut Medium<u64>, whose: &[(u32, AccessCategory)], end: Instant) -> Vec<u64> {
    let made = |category, number| Frame { category, ..frame(3, 1_500, number) };
    for (number, (station, category)) in (0..).zip(whose) {
        (0..20).for_each(|_| medium.enqueue(Instant::ZERO, StationId(*station), made(*category, number)));
    }
    let (mut found, mut delivered) = (Vec::new(), vec![0; whose.len()]);
    while let Some(wake) = medium.next_wake().filter(|wake| *wake <= end) {
        medium.advance(wake, |outcome| found.push(outcome));
        for outcome in found.drain(..) {
            delivered[outcome.frame.payload as usize] += u64::from(outcome.dropped.is_none());
            medium.enqueue(wake, outcome.from, outcome.frame);
        }
    }
    delivered
}

#[test]
fn urgent_categories_come_first() {
    use AccessCategory::{Background, BestEffort, Video, Voice};
    let modes = [Mode::mcs(7); 4];
    // In one station, and in three.
    let within_one = [(0, Background), (0, BestEffort), (0, Video), (0, Voice)];
    let apart = [(0, Background), (1, BestEffort), (2, Voice)];
    for whose in [&within_one[..], &apart[..]] {
        let mut medium = medium(&plain(), &modes, 2);
        let delivered = mixed(&mut medium, whose, seconds(5.0));
        assert!(delivered.is_sorted() && delivered[0] * 2 < delivered[1], "{delivered:?}");
        let all: u64 = delivered.iter().sum();
        assert!(delivered.last().is_some_and(|voice| voice * 10 > all * 4), "{delivered:?}");
    }
}

#[test]
fn a_txop_lasts_as_long_as_frames_fit() {
    let mut medium = medium(&plain(), &[Mode::mcs(7); 4], 2);
    let delivered = mixed(&mut medium, &[(0, AccessCategory::Video)], seconds(10.0));
    // A frame of 228 us and an acknowledgement of 28 us behind 16 us; 14 of them, 16 us apart, fit into 4.096 ms. The backoff has
    // 3.5 slots.
    let cycle = 34.0 + 3.5 * 9.0 + 14.0 * 272.0 + 13.0 * 16.0;
    within(0.002, delivered[0] as f64 / 10e6, 14.0 / cycle, "frames per microsecond");
    let counters = medium.counters().next().expect("there is a station");
    assert_eq!(counters.collisions, 0);
}

#[test]
fn a_txop_bounds_aggregates() {
    let config = MediumConfig::new(phy(Standard::N, 36));
    let mut medium = medium(&config, &[Mode::mcs(0); 4], 2);
    let delivered = mixed(&mut medium, &[(0, AccessCategory::Voice)], seconds(10.0));
    // In 2.08 ms fits one MPDU of 1,538 bytes with 475 symbols, and no second one. It is acknowledged at 6 Mbit/s.
    let cycle = 34.0 + 1.5 * 9.0 + 36.0 + 4.0 * 475.0 + 16.0 + 44.0;
    within(0.002, delivered[0] as f64 / 10e6, 1.0 / cycle, "frames per microsecond");
}

#[test]
fn frames_to_everybody_are_sent_once_at_the_basic_rate() {
    let mut medium = medium(&plain(), &[Mode::mcs(7); 4], 2);
    let broadcast = |number| Frame { to: Destination::Everybody, ..frame(3, 1_500, number) };
    let (mut found, mut outcomes) = (Vec::new(), Vec::new());
    for station in 0..3 {
        (0..500).for_each(|number| medium.enqueue(Instant::ZERO, StationId(station), broadcast(number)));
    }
    while let Some(wake) = medium.next_wake() {
        medium.advance(wake, |outcome| found.push(outcome));
        outcomes.append(&mut found);
    }
    assert_eq!(outcomes.len(), 1_500);
    let collided = outcomes.iter().filter(|outcome| outcome.dropped == Some(Cause::Collision)).count() as u64;
    assert!(collided > 0 && outcomes.iter().all(|outcome| matches!(outcome.dropped, None | Some(Cause::Collision))));
    for counters in medium.counters().take(3) {
        assert_eq!((counters.attempts, counters.frames), (500, 500));
    }
    assert_eq!(medium.counters().map(|counters| counters.collisions).sum::<u64>(), collided);
    // 12,304 bits and 22 more in symbols of 24 bits.
    let airtime = medium.airtime(Instant::ZERO);
    let on_air: u64 = airtime.stations.iter().map(|spent| spent.as_nanos()).sum();
    assert_eq!(on_air, (1_500 - collided) * (20 + 4 * 514) * 1_000);
}

#[test]
fn frames_are_dropped_after_their_last_attempt() {
    for (rts_above, attempts) in [(None, 7), (Some(Bytes::new(0)), 4)] {
        let config = MediumConfig { rts_above, ..plain() };
        let mut medium = medium(&config, &[Mode::mcs(7); 2], 2);
        let deaf = LinkConfig { mode: Mode::mcs(7), error: Probability::ONE };
        medium.set_link(Instant::ZERO, StationId(0), StationId(1), deaf).expect("there is MCS 7");
        let mut dropped = 0;
        saturate(&mut medium, 1, 1_500, 5, seconds(1.0), |outcome| {
            assert_eq!(outcome.dropped, Some(Cause::Retries));
            dropped += 1;
        });
        let counters = medium.counters().next().expect("there is a station");
        assert!(dropped > 10 && counters.attempts / attempts == dropped, "{counters:?}");
    }
}

#[test]
fn a_full_queue_drops_what_comes() {
    let config = MediumConfig { queue: 3, ..plain() };
    let mut medium = medium(&config, &[Mode::mcs(7); 2], 2);
    (0..5).for_each(|number| medium.enqueue(Instant::ZERO, StationId(0), frame(1, 100, number)));
    let mut dropped = Vec::new();
    medium.advance(Instant::ZERO, |outcome| dropped.push((outcome.frame.payload, outcome.dropped)));
    assert_eq!(dropped, [(3, Some(Cause::Full)), (4, Some(Cause::Full))]);
}

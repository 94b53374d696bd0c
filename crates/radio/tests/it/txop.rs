//! TXOPs of stations with positions: what one of them sends alone is the same as where all hear one another.

use crate::common::{self, frame, phy, seconds, within};
use crate::positions::station;
use netloom_radio::{
    AccessCategory, Aggregation, Decibels, Destination, Frame, MediumConfig, Mode, RadioConfig, RadioMedium,
    RateControl, Standard, StationId,
};
use netloom_units::{Bytes, Duration, Instant, Seed};

const SIFS: Duration = Duration::from_micros(16);

/// Stations 10 m from one another, with MCS 7.
fn with_positions(config: &MediumConfig, stations: usize) -> RadioMedium<u64> {
    let rate = RateControl::Fixed(Mode::mcs(7));
    let all: Vec<_> = (0..stations).map(|number| station(number, (10.0 * number as f64, 0.0), rate)).collect();
    let made = RadioMedium::new(config, &RadioConfig::new(5_180_000_000), &all, Seed::new(2));
    made.expect("the description is right")
}

fn alone() -> MediumConfig {
    MediumConfig { aggregation: Aggregation::NONE, ..MediumConfig::new(phy(Standard::N, 36)) }
}

/// Frames of one sender in all categories, of several sizes and some of them to everybody, come at the same instants, a SIFS later.
#[test]
fn one_sender_sends_as_where_all_hear_one_another() {
    let made = |number: u64| {
        let category = AccessCategory::ALL[(number * number % 7 % 4) as usize];
        let to = if number % 11 == 5 { Destination::Everybody } else { Destination::Station(StationId(1)) };
        Frame { category, to, ..frame(1, 100 + number * 211 % 1_400, number) }
    };
    let config = MediumConfig { rts_above: Some(Bytes::new(800)), ..alone() };
    let (mut plain, mut placed) = (common::medium(&config, &[Mode::mcs(7); 2], 2), with_positions(&config, 2));
    for number in 0..800 {
        plain.enqueue(Instant::ZERO, StationId(0), made(number));
        placed.enqueue(Instant::ZERO, StationId(0), made(number));
    }
    let (mut one, mut other) = (Vec::new(), Vec::new());
    while let Some(wake) = plain.next_wake() {
        plain.advance(wake, |outcome| one.push((outcome.at + SIFS, outcome.frame.payload, outcome.dropped)));
    }
    while let Some(wake) = placed.next_wake() {
        placed.advance(wake, |own| other.push((own.outcome.at, own.outcome.frame.payload, own.outcome.dropped)));
    }
    assert_eq!(one.len(), 800);
    assert_eq!(one, other);
    assert_eq!(plain.totals().attempts, placed.totals().attempts);
}

/// In 4.096 ms are 14 frames of 228 us with acknowledgements of 28 us behind 16 us, 16 us apart; the backoff has 3.5 slots.
#[test]
fn a_txop_lasts_as_long_as_frames_fit() {
    let mut medium = with_positions(&alone(), 2);
    let video = |number| Frame { category: AccessCategory::Video, ..frame(1, 1_500, number) };
    (0..20).for_each(|number| medium.enqueue(Instant::ZERO, StationId(0), video(number)));
    let (mut found, mut delivered) = (0, 0);
    while let Some(wake) = medium.next_wake().filter(|wake| *wake <= seconds(10.0)) {
        medium.advance(wake, |own| found += u64::from(own.outcome.dropped.is_none()));
        (0..found).for_each(|number| medium.enqueue(wake, StationId(0), video(number)));
        delivered += std::mem::take(&mut found);
    }
    let cycle = 34.0 + 3.5 * 9.0 + 14.0 * 272.0 + 13.0 * 16.0;
    within(0.002, delivered as f64 / 10e6, 14.0 / cycle, "frames per microsecond");
    // The station has the medium from the begin of a TXOP to its end.
    let airtime = medium.counters().next().expect("there are stations").airtime.as_secs_f64() / 10.0;
    within(0.002, airtime, 1.0 - (34.0 + 3.5 * 9.0) / cycle, "airtime");
}

/// Whoever hears a TXOP waits for its end; a hidden station may begin between two of its frames, and ends it.
#[test]
fn a_failed_exchange_ends_a_txop() {
    let run = |apart: f64| {
        let rate = RateControl::Fixed(Mode::mcs(0));
        let all = [station(0, (0.0, 0.0), rate), station(1, (-apart, 0.0), rate), station(2, (apart, 0.0), rate)];
        let radio = RadioConfig { capture: Some(Decibels(5.0)), ..RadioConfig::new(5_180_000_000) };
        let config = MediumConfig { aggregation: Aggregation::NONE, ..MediumConfig::new(phy(Standard::N, 36)) };
        let mut medium = RadioMedium::new(&config, &radio, &all, Seed::new(2)).expect("the description is right");
        for (from, number) in [1, 2].into_iter().flat_map(|from| (0..200).map(move |number| (from, number))) {
            let video = Frame { category: AccessCategory::Video, ..frame(0, 300, number) };
            medium.enqueue(Instant::ZERO, StationId(from), video);
        }
        let mut delivered = 0;
        while let Some(wake) = medium.next_wake() {
            medium.advance(wake, |own| delivered += u64::from(own.outcome.dropped.is_none()));
        }
        (delivered, medium.totals().collisions)
    };
    // 20 m apart from each other they collide at equal instants alone, of which bursts leave few; 80 m apart all the time.
    let ((near, few), (far, many)) = (run(10.0), run(40.0));
    assert_eq!(near, 400);
    assert!(few < 40 && many > 100 && far < 400, "{few} and {many} collisions, {far} of 400 delivered");
}

//! Neighbours' networks on the channel, with positions and where all stations hear one another.

use crate::common::{self, frame, phy, seconds, throughput, within};
use crate::positions::station;
use netloom_radio::{
    Access, Decibels, Interferer, Medium, MediumConfig, Metres, Mode, Position, RadioConfig, RadioMedium, RateControl,
    Source, Standard, StationId,
};
use netloom_units::{Bytes, Duration, Instant, Probability, Seed};

const SIX: RateControl = RateControl::Fixed(Mode::kilobits(6_000));
const SIZE: u64 = 1_500;

fn interferer(source: Source, percent: u64, has_preamble: bool) -> Interferer {
    let duty = Probability::from_parts_per_trillion(percent * 10_000_000_000).expect("up to 100 %");
    Interferer { name: "upstairs".into(), source, has_preamble, duty, burst: Duration::from_millis(20) }
}

/// Megabits per second that a station gets across for ten seconds over 30 m, or 40 m for the receiver alone; and the medium.
fn saturate(interferers: Vec<Interferer>) -> (f64, RadioMedium<u64>) {
    let radio = RadioConfig { interferers, ..RadioConfig::new(5_180_000_000) };
    let stations = [station(0, (0.0, 0.0), SIX), station(1, (30.0, 0.0), SIX)];
    let config = MediumConfig::new(phy(Standard::A, 36));
    let mut medium = RadioMedium::new(&config, &radio, &stations, Seed::new(11)).expect("the description is right");
    medium.begin_counting(Instant::ZERO);
    (0..64).for_each(|number| medium.enqueue(Instant::ZERO, StationId(1), frame(0, SIZE, number)));
    let mut found = Vec::new();
    while let Some(wake) = medium.next_wake().filter(|wake| *wake <= seconds(10.0)) {
        medium.advance(wake, |one| found.push(one.outcome.frame.payload));
        for number in found.drain(..) {
            medium.enqueue(wake, StationId(1), frame(0, SIZE, number + 64));
        }
    }
    let delivered: u64 = medium.counters().map(|counters| counters.delivered_bytes).sum();
    (delivered as f64 * 8.0 / 10.0 / 1e6, medium)
}

fn attempts(medium: &RadioMedium<u64>) -> (f64, f64) {
    let totals = medium.totals();
    (totals.attempts as f64, totals.failed_mpdus as f64 / totals.attempts as f64)
}

/// What all stations notice takes its share of the time from them, by its preamble or its energy; and of their frames it destroys those during
/// which it begins.
#[test]
fn stations_wait_for_what_they_notice() {
    let (alone, quiet) = saturate(Vec::new());
    assert!(quiet.totals().failed_mpdus == 0);
    for (power, has_preamble) in [(-75.0, true), (-55.0, false), (-55.0, true)] {
        for percent in [25, 50] {
            let own = interferer(Source::Everywhere(Decibels(power)), percent, has_preamble);
            let (found, medium) = saturate(vec![own]);
            let (_, lost) = attempts(&medium);
            // A frame takes 2.1 ms. In a period of 40 or 80 ms one is cut off, and the windows behind it are longer; and whoever sends while a burst
            // begins misses its preamble, so that it tries again until the burst is over, if that is below the threshold of energy.
            let share = found / alone / (1.0 - percent as f64 / 100.0);
            let is_energetic = power > -62.0;
            assert!((0.6..1.0).contains(&share), "{power} dBm, {percent} %: {share} of what is left");
            let most = if is_energetic { 0.2 } else { 0.5 };
            assert!(lost > 0.01 && lost < most, "{power} dBm, {percent} %: {lost} lost");
            let busy = medium.totals().busy.as_secs_f64() / 10.0;
            assert!(busy > 0.8, "{busy}");
        }
    }
    // Whoever always hears it never sends.
    let always = interferer(Source::Everywhere(Decibels(-70.0)), 100, true);
    assert_eq!(saturate(vec![always]).0, 0.0);
}

/// Noise below the threshold of energy is not noticed: stations send during it, in vain where it leaves too little, and as before where not.
#[test]
fn noise_counts_against_signals() {
    // Over 30 m with an exponent of 3 and 46.68 dB at 1 m, -75.0 dBm arrive; 6 Mbit/s need 1 dB.
    let (alone, _) = saturate(Vec::new());
    let of = |power| saturate(vec![interferer(Source::Everywhere(Decibels(power)), 50, false)]);
    let (weak, medium) = of(-85.0);
    within(0.001, weak, alone, "10 dB below");
    assert_eq!(medium.totals().failed_mpdus, 0);
    let (strong, disturbed) = of(-70.0);
    let (_, lost) = attempts(&disturbed);
    assert!(strong < 0.55 * alone && lost > 0.1, "{strong} of {alone}, {lost} lost");
}

/// A position decides who notices it: 10 m from the receiver, and beyond what the sender hears.
#[test]
fn interferers_are_somewhere() {
    let at = |x: f64, power| Source::At(Position { x: Metres(x), y: Metres(0.0), z: Metres(1.5) }, Decibels(power));
    let (alone, _) = saturate(Vec::new());
    // 10 m from the receiver and 40 m from the sender, which hears -84.7 dBm: hidden from it.
    let (hidden, medium) = saturate(vec![interferer(at(-10.0, 10.0), 50, true)]);
    let (_, lost) = attempts(&medium);
    assert!(hidden < 0.55 * alone && lost > 0.1, "{hidden} of {alone}, {lost} lost");
    let (far, unaware) = saturate(vec![interferer(at(5_000.0, 10.0), 100, true)]);
    within(0.001, far, alone, "5 km away");
    // Nobody notices it, so that it does not make the medium busy.
    assert!(unaware.totals().busy < Duration::from_secs(10));
}

/// A medium of 802.11a at 6 Mbit/s where all hear one another, with one interferer of this duty cycle.
fn shared(percent: u64, rts_above: Option<Bytes>) -> Medium<u64> {
    let config = MediumConfig { rts_above, ..MediumConfig::new(phy(Standard::A, 36)) };
    let medium = common::medium(&config, &[Mode::kilobits(6_000); 3], 2);
    let own = interferer(Source::Sensed, percent, true);
    let mut medium = medium.with_interferers(&[own], Seed::new(2)).expect("the description is right");
    medium.begin_counting(Instant::ZERO);
    medium
}

/// While nobody sends, interferers have exactly their share of the time.
#[test]
fn bursts_are_booked_as_theirs() {
    let mut medium = shared(25, None);
    // Ten periods of 80 ms.
    let airtime = medium.airtime(seconds(0.8));
    assert_eq!(airtime.interferers, Duration::from_millis(200));
    assert_eq!((airtime.idle, airtime.total()), (Duration::from_millis(600), Duration::from_millis(800)));
    assert_eq!(medium.totals().busy, Duration::from_millis(200));
    assert_eq!(medium.next_wake(), None);
}

/// Where all hear one another, stations have the rest of the time but for what each burst destroys and the wait behind it.
#[test]
fn stations_that_hear_one_another_share_the_rest() {
    let config = MediumConfig::new(phy(Standard::A, 36));
    let end = seconds(10.0);
    let alone = |senders| {
        let mut calm = common::medium(&config, &[Mode::kilobits(6_000); 3], 2);
        common::saturate(&mut calm, senders, SIZE, 10, end, |_| ());
        throughput(&calm, end)
    };
    for (senders, rts_above) in [(1, None), (2, None), (1, Some(Bytes::new(500)))] {
        for (percent, bursts) in [(25, 125), (50, 250)] {
            let mut medium = shared(percent, rts_above);
            let mut dropped = 0;
            common::saturate(&mut medium, senders, SIZE, 10, end, |outcome| {
                dropped += u32::from(outcome.dropped.is_some());
            });
            let share = throughput(&medium, end) / alone(senders) / (1.0 - percent as f64 / 100.0);
            assert!((0.8..1.0).contains(&share), "{senders} senders, {percent} %: {share} of what is left");
            assert_eq!(dropped, 0);
            let (totals, airtime) = (medium.totals(), medium.airtime(end));
            assert_eq!(airtime.total(), Duration::from_secs(10));
            // A burst destroys one frame of a single sender, unless it begins between frames.
            if senders == 1 {
                let hit = bursts * 3 / 4..=bursts;
                assert!(hit.contains(&totals.collisions), "{} of {bursts}", totals.collisions);
                assert_eq!(totals.failed_mpdus, totals.collisions);
            }
            // The rest of a burst is the interferer's.
            let own = airtime.interferers.as_secs_f64() / 10.0;
            assert!(own < percent as f64 / 100.0 && own > 0.9 * percent as f64 / 100.0, "{own}");
        }
    }
    let mut taken = shared(100, None);
    common::saturate(&mut taken, 1, SIZE, 10, end, |outcome| panic!("{outcome:?}"));
    assert_eq!(taken.airtime(end).interferers, Duration::from_secs(10));
}

/// A frame that comes during a burst goes an interframe space and its backoff behind it.
#[test]
fn frames_wait_for_the_end_of_a_burst() {
    let mut medium = shared(100, None);
    // A burst of 20 ms begins at once, and the next one at its end.
    medium.enqueue(Instant::from_nanos(1_000_000), StationId(0), frame(1, SIZE, 1));
    assert_eq!(medium.next_wake(), Some(Instant::from_nanos(20_000_000)));
    assert_eq!(medium.lookahead_until(Instant::from_nanos(2_000_000)), Instant::from_nanos(20_054_000));
    let ideal = MediumConfig { access: Access::Ideal, ..MediumConfig::new(phy(Standard::A, 36)) };
    let deaf = common::medium(&ideal, &[Mode::kilobits(6_000); 2], 2);
    assert!(deaf.with_interferers(&[interferer(Source::Sensed, 10, true)], Seed::new(2)).is_err());
}

//! Stations at positions: hidden and exposed ones, interference, capture, error rates and rate control.

use crate::common::{frame, phy, seconds, within};
use netloom_radio::{
    Aggregation, AntennaPattern, Coding, Decibels, MediumConfig, Metres, Mode, Position, Propagation, RadioConfig,
    RadioMedium, RadioStation, RateControl, Standard, StationId, packet_error_rate,
};
use netloom_units::{Bytes, Duration, Instant, Seed};

const SIX: RateControl = RateControl::Fixed(Mode::kilobits(6_000));

pub(crate) fn station(number: usize, (x, y): (f64, f64), rate: RateControl) -> RadioStation {
    let path = Position { x: Metres(x), y: Metres(y), z: Metres(1.5) }.into();
    RadioStation {
        name: format!("station{number}"),
        path,
        power: Decibels(16.0),
        pattern: AntennaPattern::default(),
        rate,
    }
}

fn medium(config: &MediumConfig, radio: &RadioConfig, places: &[(f64, f64)], rate: RateControl) -> RadioMedium<u64> {
    let stations: Vec<_> = places.iter().enumerate().map(|(number, at)| station(number, *at, rate)).collect();
    RadioMedium::new(config, radio, &stations, Seed::new(11)).expect("the description is right")
}

fn signals() -> RadioConfig {
    RadioConfig::new(5_180_000_000)
}

fn plain_a() -> MediumConfig {
    MediumConfig::new(phy(Standard::A, 36))
}

/// Lets stations send frames of this size without end, each to its own destination; returns bits per second of payload of each.
fn saturate(medium: &mut RadioMedium<u64>, pairs: &[(u32, u32)], size: u64, until: f64) -> Vec<f64> {
    let to = |from: StationId| pairs.iter().find(|(own, _)| *own == from.0).map_or(0, |(_, to)| *to);
    for (from, peer) in pairs {
        (0..64).for_each(|number| medium.enqueue(Instant::ZERO, StationId(*from), frame(*peer, size, number)));
    }
    let mut found = Vec::new();
    while let Some(wake) = medium.next_wake().filter(|wake| *wake <= seconds(until)) {
        medium.advance(wake, |one| found.push((one.outcome.from, one.outcome.frame.payload)));
        for (from, number) in found.drain(..) {
            medium.enqueue(wake, from, frame(to(from), size, number + 64));
        }
    }
    let delivered: Vec<u64> = medium.counters().map(|counters| counters.delivered_bytes).collect();
    pairs.iter().map(|(from, _)| delivered[*from as usize] as f64 * 8.0 / until).collect()
}

/// Where all hear one another, the model is Bianchi's: ns-3's reference for 802.11a at 6 Mbit/s and 1,500 B.
#[test]
fn stations_that_hear_one_another_have_the_throughput_of_the_reference() {
    for (stations, expected) in [(5_u32, 4.690), (10, 4.320)] {
        // All hear one another equally well.
        let propagation = Propagation::LogDistance { exponent: 0.0, reference: Decibels(60.0) };
        let places = vec![(0.0, 0.0); stations as usize + 1];
        let config = MediumConfig { retries: netloom_radio::RetryLimits { short: 1_000_000, long: 1 }, ..plain_a() };
        let mut medium = medium(&config, &RadioConfig { propagation, ..signals() }, &places, SIX);
        let pairs: Vec<_> = (1..=stations).map(|number| (number, 0)).collect();
        let found: f64 = saturate(&mut medium, &pairs, 1_500, 60.0).iter().sum();
        within(0.015, found / 1e6, expected, &format!("{stations} stations"));
    }
}

/// Two stations that do not hear each other, 40 m to both sides of their destination: it gets -78.7 dBm, and they -87.8 dBm of each other.
#[test]
fn hidden_stations_collide_and_requests_to_send_help() {
    let places = [(0.0, 0.0), (-40.0, 0.0), (40.0, 0.0)];
    let run = |rts_above: Option<u64>| {
        let config = MediumConfig { rts_above: rts_above.map(Bytes::new), ..plain_a() };
        let mut medium = medium(&config, &signals(), &places, SIX);
        let each = saturate(&mut medium, &[(1, 0), (2, 0)], 1_500, 30.0);
        let totals = medium.totals();
        let delivered: u64 = medium.counters().map(|counters| counters.delivered).sum();
        // Without noise worth mentioning, an attempt collides or arrives.
        assert!((delivered + totals.collisions).abs_diff(totals.attempts) <= 4, "{totals:?}, {delivered} delivered");
        (each.iter().sum::<f64>() / 1e6, totals.collisions as f64 / totals.attempts as f64)
    };
    let (plain, with_requests) = (run(None), run(Some(500)));
    // One station alone gets across 5.4 Mbit/s, or 5.1 behind RTS and CTS.
    assert!(plain.0 < 3.0 && plain.1 > 0.4, "{plain:?}");
    assert!(with_requests.0 > 3.9 && with_requests.1 < 0.5, "{with_requests:?}");
    // The same at 20 m: they hear each other.
    let mut near = medium(&plain_a(), &signals(), &[(0.0, 0.0), (-20.0, 0.0), (20.0, 0.0)], SIX);
    let both: f64 = saturate(&mut near, &[(1, 0), (2, 0)], 1_500, 30.0).iter().sum();
    assert!(both > 4.8e6, "{both}");
}

/// Two access points with a station each. Next to each other they share the channel, 200 m apart both have it.
#[test]
fn two_access_points_on_one_channel_share_it() {
    let run = |apart: f64| {
        let places = [(0.0, 0.0), (0.0, 5.0), (apart, 0.0), (apart, 5.0)];
        let mut medium = medium(&plain_a(), &signals(), &places, SIX);
        saturate(&mut medium, &[(0, 1), (2, 3)], 1_500, 60.0)
    };
    let alone = run(10_000.0);
    let (near, far) = (run(20.0), run(200.0));
    within(0.01, far[0] + far[1], alone[0] + alone[1], "far apart");
    // Frames that begin at one instant both arrive, 18 dB above each other.
    let together = (near[0] + near[1]) / alone[0];
    assert!((0.98..1.2).contains(&together), "{together}");
    within(0.1, near[0], near[1], "share");
}

/// ns-3's example `wifi-simple-ht-hidden-stations`: 32 MPDUs at MCS 7. Behind RTS and CTS it expects 56 to 57 Mbit/s of UDP, with control frames at 6.5 Mbit/s, which take 76 us more of
/// each 5.7 ms than ours. Without, it expects 59 to 60: what one station gets alone, since the other one never gets its address resolved. Where both send, each
/// aggregate of 5.4 ms begins during another one.
#[test]
fn aggregates_of_hidden_stations_need_requests_to_send() {
    let hidden = Propagation::LogDistance { exponent: 6.0, reference: Decibels(47.0) };
    let radio = RadioConfig { propagation: hidden, ..signals() };
    let places = [(0.0, 0.0), (-4.0, 0.0), (4.0, 0.0)];
    let run = |pairs: &[(u32, u32)], rts_above: Option<u64>| {
        let plain = MediumConfig::new(phy(Standard::N, 36));
        let aggregation = Aggregation { window: 32, ..plain.aggregation };
        let config = MediumConfig { rts_above: rts_above.map(Bytes::new), aggregation, ..plain };
        let mut medium = medium(&config, &radio, &places, RateControl::Fixed(Mode::mcs(7)));
        saturate(&mut medium, pairs, 1_500, 20.0).iter().sum::<f64>() * 1_472.0 / 1_500.0 / 1e6
    };
    within(0.01, run(&[(1, 0)], None), 59.55, "one that is alone");
    let (both, asking) = (run(&[(1, 0), (2, 0)], None), run(&[(1, 0), (2, 0)], Some(0)));
    assert!(both < 6.0, "{both}");
    let as_there = asking / (1.0 + 0.076 / 5.7);
    assert!((56.0..57.9).contains(&as_there), "{asking}, and {as_there} with control frames as slow as theirs");
}

/// Two senders that hear each other while their destinations do not hear the other one: they wait for each other in vain.
#[test]
fn exposed_stations_wait() {
    let run = |apart: f64| {
        let places = [(0.0, 0.0), (-40.0, 0.0), (apart, 0.0), (apart + 40.0, 0.0)];
        let mut medium = medium(&plain_a(), &signals(), &places, SIX);
        saturate(&mut medium, &[(0, 1), (2, 3)], 1_500, 20.0).iter().sum::<f64>()
    };
    let share = run(45.0) / run(400.0);
    assert!((0.48..0.62).contains(&share), "{share}");
}

/// A frame that is 10 dB stronger takes the receiver within 16 us, and not later.
#[test]
fn stronger_frames_capture_the_receiver() {
    let first_success = |capture, later: u64| {
        let radio = RadioConfig { capture, ..signals() };
        let mut medium = medium(&plain_a(), &radio, &[(0.0, 0.0), (-45.0, 0.0), (20.0, 0.0)], SIX);
        let at = Instant::from_nanos(1_000_000);
        let micros = |count| Duration::from_micros(count);
        medium.enqueue(at, StationId(1), frame(0, 1_000, 1));
        medium.enqueue(at + micros(later), StationId(2), frame(0, 1_000, 2));
        let mut first = None;
        medium.advance(at + micros(1_500), |one| first = first.or(Some(one.outcome.frame.payload)));
        first
    };
    let margin = Some(Decibels(5.0));
    assert_eq!(first_success(margin, 10), Some(2));
    assert_eq!(first_success(None, 10), None);
    assert_eq!(first_success(margin, 30), None);
    assert_eq!(first_success(Some(Decibels(15.0)), 10), None);
    // What does not overlap arrives.
    assert_eq!(first_success(None, 5_000), Some(1));
}

/// A medium on which every signal arrives with this ratio to noise.
fn at_ratio(config: &MediumConfig, snr: f64, rate: RateControl) -> RadioMedium<u64> {
    let noise = netloom_radio::noise_floor(20_000_000, Decibels(7.0)).0;
    let reference = Decibels(16.0 - noise - snr);
    let radio = RadioConfig {
        propagation: Propagation::LogDistance { exponent: 0.0, reference },
        sensitivity: Decibels(-120.0),
        ..signals()
    };
    medium(config, &radio, &[(0.0, 0.0), (10.0, 0.0)], rate)
}

/// The share of MPDUs of 1,458 bytes that are lost is that of the table within a tenth of a decibel.
#[test]
fn frames_are_lost_as_in_the_table() {
    let config = MediumConfig { aggregation: Aggregation::NONE, ..MediumConfig::new(phy(Standard::N, 36)) };
    for (index, ten_percent) in [(2, 6.43), (4, 12.80), (7, 19.63)] {
        let mode = Mode::mcs(index);
        let mut medium = at_ratio(&config, ten_percent, RateControl::Fixed(mode));
        saturate(&mut medium, &[(1, 0)], 1_420, 10.0);
        let counters = medium.counters().nth(1).expect("two stations");
        let found = counters.failed_mpdus as f64 / counters.mpdus as f64;
        let at =
            |snr| packet_error_rate(mode, Coding::Bcc, Decibels(snr), Bytes::new(1_458)).expect("a curve").as_f64();
        let (least, most) = (at(ten_percent + 0.1), at(ten_percent - 0.1));
        assert!(counters.mpdus > 5_000 && (least..most).contains(&found), "MCS {index}: {found} of {least} to {most}");
    }
}

/// ns-3's example of 14.25 dB: MCS 0 to 4 pass, faster ones get nothing across, and an ideal rate control takes MCS 4.
#[test]
fn a_ratio_carries_modes_up_to_its_own() {
    let config = MediumConfig { aggregation: Aggregation::NONE, ..MediumConfig::new(phy(Standard::N, 36)) };
    let run = |rate| saturate(&mut at_ratio(&config, 14.25, rate), &[(1, 0)], 1_420, 1.0)[0];
    let fixed: Vec<f64> = (0..8).map(|index| run(RateControl::Fixed(Mode::mcs(index)))).collect();
    assert!(fixed[..5].is_sorted_by(|slow, fast| slow * 1.05 < *fast), "{fixed:?}");
    assert!(fixed[5..].iter().all(|rate| *rate < 1e5), "{fixed:?}");
    within(0.01, run(RateControl::Ideal), fixed[4], "ideal");
}

/// The same by the model that was ns-3's default up to 3.32: its documentation has the rates of `wifi-spectrum-per-example`, 972 bytes of UDP in aggregates.
#[test]
fn a_closed_form_carries_what_it_carries_in_the_reference() {
    let config = MediumConfig::new(phy(Standard::N, 36));
    let run = |index: u8| {
        let noise = netloom_radio::noise_floor(20_000_000, Decibels(7.0)).0;
        let propagation = Propagation::LogDistance { exponent: 0.0, reference: Decibels(16.0 - noise - 14.25) };
        let radio = RadioConfig { propagation, coding: Coding::Nist, ..signals() };
        let rate = RateControl::Fixed(Mode::mcs(index));
        let mut medium = medium(&config, &radio, &[(0.0, 0.0), (10.0, 0.0)], rate);
        saturate(&mut medium, &[(1, 0)], 1_000, 10.0)[0] * 0.972 / 1e6
    };
    for (index, expected) in (0..).zip([5.77, 11.58, 17.39, 22.96]) {
        within(0.01, run(index), expected, &format!("MCS {index}"));
    }
    (4..8).for_each(|index| assert!(run(index) == 0.0, "MCS {index}"));
}

/// At 14.25 dB MCS 4 arrives and MCS 5 does not: one PPDU in 11 of ARF is a probe in vain, and one in 51 of its adaptive form.
#[test]
fn probes_of_arf_are_as_rare_as_it_says() {
    let config = MediumConfig { aggregation: Aggregation::NONE, ..MediumConfig::new(phy(Standard::N, 36)) };
    for (rate, expected) in [(RateControl::Arf, 1.0 / 11.0), (RateControl::Aarf, 1.0 / 51.0)] {
        let mut medium = at_ratio(&config, 14.25, rate);
        saturate(&mut medium, &[(1, 0)], 1_420, 20.0);
        let counters = medium.counters().nth(1).expect("two stations");
        let found = counters.failed_mpdus as f64 / counters.mpdus as f64;
        // MCS 4 loses less than one in a thousand, which a hundredth of the adaptive form notices.
        within(0.05, found, expected, &format!("{rate:?}"));
    }
}

/// Minstrel finds the mode with the greatest throughput, and loses the samples: a tenth of its PPDUs.
#[test]
fn minstrel_comes_near_to_the_best_mode() {
    let config = MediumConfig { aggregation: Aggregation::NONE, ..MediumConfig::new(phy(Standard::N, 36)) };
    let run = |rate, snr| saturate(&mut at_ratio(&config, snr, rate), &[(1, 0)], 1_420, 10.0)[0];
    for (snr, best) in [(5.0, 1), (14.25, 4), (30.0, 7)] {
        let (found, fixed) = (run(RateControl::Minstrel, snr), run(RateControl::Fixed(Mode::mcs(best)), snr));
        // A sample in vain takes less time than a PPDU in the best mode, and a longer backoff follows.
        assert!((0.85..1.0).contains(&(found / fixed)), "{snr} dB: {found} of {fixed}");
    }
    // All modes are slower than the best at 30 dB, so that there is nothing to try.
    within(0.02, run(RateControl::Minstrel, 30.0), run(RateControl::Fixed(Mode::mcs(7)), 30.0), "at 30 dB");
}

#[test]
fn wrong_descriptions_are_refused() {
    let of = |radio: &RadioConfig, stations: &[RadioStation]| {
        let config = MediumConfig::new(phy(Standard::Ax, 36));
        RadioMedium::<u64>::new(&config, radio, stations, Seed::new(1)).map(|_| ()).map_err(|wrong| wrong.key)
    };
    let fast = RateControl::Fixed(Mode::mcs(11));
    assert_eq!(of(&signals(), &[station(0, (0.0, 0.0), fast)]), Err("rate"));
    assert_eq!(of(&RadioConfig { coding: Coding::Ldpc, ..signals() }, &[station(0, (0.0, 0.0), fast)]), Ok(()));
    assert_eq!(of(&signals(), &[station(0, (f64::NAN, 0.0), RateControl::Ideal)]), Err("position"));
    let mut low = station(0, (0.0, 0.0), RateControl::Ideal);
    low.path = Position { z: Metres(0.0), ..low.path.position(Duration::ZERO) }.into();
    assert_eq!(of(&RadioConfig { propagation: Propagation::TwoRay, ..signals() }, &[low]), Err("position"));
    let many: Vec<_> = (0..257).map(|number| station(number, (0.0, 0.0), RateControl::Ideal)).collect();
    assert_eq!(of(&signals(), &many), Err("stations"));
}

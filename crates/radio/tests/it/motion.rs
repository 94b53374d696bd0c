//! Stations that move: what arrives follows where they are, and rate control follows what arrives.

use crate::common::{frame, phy, seconds};
use netloom_radio::{
    AntennaPattern, Decibels, MediumConfig, Metres, Mode, Path, Position, RadioConfig, RadioMedium, RadioStation,
    RateControl, Standard, StationId, Waypoint,
};
use netloom_units::{Duration, Instant, Seed};

fn at(x: f64) -> Position {
    Position { x: Metres(x), y: Metres(0.0), z: Metres(1.5) }
}

fn station(name: &str, path: Path, rate: RateControl) -> RadioStation {
    RadioStation { name: name.into(), path, power: Decibels(16.0), pattern: AntennaPattern::default(), rate }
}

/// From 2 m to 50 m within 10 s, and back.
fn away() -> Path {
    let waypoint = |seconds, x| Waypoint { at: Duration::from_secs(seconds), position: at(x) };
    Path::through(&[waypoint(0, 2.0), waypoint(10, 50.0), waypoint(20, 2.0)], None).expect("a path")
}

fn medium(path: Path, rate: RateControl) -> RadioMedium<u64> {
    let stations = [station("ap", at(0.0).into(), rate), station("sta", path, rate)];
    let config = MediumConfig::new(phy(Standard::A, 36));
    // With a figure of 15 dB, 4.3 dB are left at 50 m, where a preamble needs 4 dB.
    let radio = RadioConfig { noise_figure: Decibels(15.0), ..RadioConfig::new(5_180_000_000) };
    RadioMedium::new(&config, &radio, &stations, Seed::new(3)).expect("the description is right")
}

/// Megabits per second that a station gets across in each second of a medium, when it always has something to send.
fn throughput(medium: &mut RadioMedium<u64>, until: u64) -> Vec<f64> {
    (0..64).for_each(|number| medium.enqueue(Instant::ZERO, StationId(1), frame(0, 1_500, number)));
    let mut bits = vec![0.0; until as usize];
    let mut count = 0;
    while let Some(wake) = medium.next_wake().filter(|wake| *wake < seconds(until as f64)) {
        medium.advance(wake, |one| {
            count += 1;
            if one.outcome.dropped.is_none() {
                bits[(one.outcome.at.as_nanos() / 1_000_000_000) as usize] += 12_000.0 / 1e6;
            }
        });
        (0..count).for_each(|number| medium.enqueue(wake, StationId(1), frame(0, 1_500, number)));
        count = 0;
    }
    bits
}

#[test]
fn a_rate_falls_and_rises_with_the_distance() {
    for rate in [RateControl::Ideal, RateControl::Minstrel, RateControl::Aarf] {
        let mut medium = medium(away(), rate);
        medium.begin_counting(Instant::ZERO);
        let found = throughput(&mut medium, 20);
        let far = found[9].max(found[10]);
        assert!(found[0] > 20.0 && found[19] > 20.0, "{rate:?}: {found:?}");
        assert!(found[9].min(found[10]) > 1.0 && far < 0.5 * found[0], "{rate:?}: {found:?}");
        for middle in [5, 14] {
            assert!(found[middle] > 1.15 * far && found[middle] < 0.95 * found[0], "{rate:?}: {found:?}");
        }
    }
}

#[test]
fn until_counting_begins_nobody_walks() {
    let found = throughput(&mut medium(away(), RateControl::Ideal), 20);
    assert!(found.iter().all(|rate| *rate > 20.0), "{found:?}");
}

/// The ratio of a moving station is that of one that stands where it is.
#[test]
fn ratios_are_those_of_the_place() {
    let fixed = RateControl::Fixed(Mode::kilobits(6_000));
    let mut moving = medium(away(), fixed);
    moving.begin_counting(Instant::ZERO);
    for millis in [0_u64, 777, 5_000, 10_000, 15_000, 30_000] {
        let now = Instant::ZERO + Duration::from_millis(millis);
        let place = away().position(Duration::from_millis(millis));
        let mut standing = medium(place.into(), fixed);
        for (from, to) in [(StationId(0), StationId(1)), (StationId(1), StationId(0))] {
            assert_eq!(moving.signal_to_noise(from, to, now), standing.signal_to_noise(from, to, now), "{millis} ms");
        }
    }
}

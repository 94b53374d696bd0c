//! Networks with several access points: when stations go from one to another, what becomes of what waits, and channels, against arithmetic.
//!
//! With 16 dBm, an exponent of 3 and 46.6777 dB at one metre, -70 dBm arrive at 20.45 m and -82 dBm at 51.37 m; 8 dB are a ratio of distances of 1.84785.

use crate::common::{frame, phy, within};
use crate::positions::station;
use netloom_radio::{
    AccessPoint, AccessPoints, Associated, Cause, Decibels, MediumConfig, Metres, Mode, Path, Position, RadioConfig,
    RadioMedium, RadioStation, RateControl, RoamingRule, Standard, StationId, Waypoint,
};
use netloom_units::{Duration, Instant, Seed};

const SIX: RateControl = RateControl::Fixed(Mode::kilobits(6_000));

fn micros(count: u64) -> Duration {
    Duration::from_micros(count)
}

fn at(count: u64) -> Instant {
    Instant::ZERO + micros(count)
}

/// A station that is at each of these places so many seconds behind the one before.
fn walker(places: &[f64], seconds: u64) -> RadioStation {
    let position = |x: f64| Position { x: Metres(x), y: Metres(0.0), z: Metres(1.5) };
    let waypoint = |(x, leg): (&f64, u64)| Waypoint { at: Duration::from_secs(leg * seconds), position: position(*x) };
    let waypoints: Vec<_> = places.iter().zip(0..).map(waypoint).collect();
    let path = Path::through(&waypoints, None).expect("it is right");
    RadioStation { path, ..station(9, (0.0, 0.0), SIX) }
}

fn network(channels: &[u8], rule: RoamingRule) -> AccessPoints {
    let points = channels.iter().enumerate().map(|(station, channel)| AccessPoint { station, channel: *channel });
    AccessPoints { points: points.collect(), rule, kept: Vec::new() }
}

fn medium(stations: &[RadioStation], points: &AccessPoints) -> RadioMedium<u64> {
    let config = MediumConfig::new(phy(Standard::A, 36));
    let medium = RadioMedium::new(&config, &RadioConfig::new(5_180_000_000), stations, Seed::new(11));
    medium.expect("it is right").with_access_points(points, 36).expect("it is right")
}

/// Two access points 60 m apart, and a walker with 1 m/s from 10 m to 50 m and back.
fn walk(rule: RoamingRule) -> RadioMedium<u64> {
    let points = [station(0, (0.0, 0.0), SIX), station(1, (60.0, 0.0), SIX)];
    let all: Vec<_> = points.into_iter().chain([walker(&[10.0, 50.0, 10.0], 40)]).collect();
    medium(&all, &network(&[36, 36], rule))
}

/// What becomes of the walker, in microseconds.
fn history(medium: RadioMedium<u64>, seconds: u64) -> Vec<(u64, Option<u32>)> {
    let all = medium.associations(Duration::from_secs(seconds));
    let last = all.iter().map(|one| one.station.0).max().expect("stations");
    let own = all.into_iter().filter(|one| one.station.0 == last);
    own.map(|Associated { at, point, .. }| (at.as_nanos() / 1_000, point.map(|point| point.0))).collect()
}

/// The other one is stronger by 8 dB from 38.93 m on, and the own one far below -70 dBm: at 28.931 s. The beacon behind that is the 283rd, and 300 ms later the 286th shows it still, at
/// 29.2864 s. On the way back at 21.07 m, 28.931 s behind the turn: at 68.931 s; beacon 674 comes at 69.0176 s, and 677 at 69.3248 s.
#[test]
fn a_station_goes_to_the_stronger_access_point_and_back() {
    let found = history(walk(RoamingRule::default()), 80);
    let there = [(0, Some(0)), (29_286_400, None), (29_336_400, Some(1))];
    let back = [(69_324_800, None), (69_374_800, Some(0))];
    assert_eq!(found, [&there[..], &back[..]].concat());
    // Without a gap it is never away. What must show for no time at all shows at once.
    let rule = RoamingRule { gap: Duration::ZERO, trigger: Duration::ZERO, ..RoamingRule::default() };
    assert_eq!(history(walk(rule), 40), [(0, Some(0)), (28_979_200, Some(1))]);
    // A threshold that it does not reach: at 50 m it still has -81.6 dBm.
    let content = RoamingRule { below: Decibels(-81.9), ..RoamingRule::default() };
    assert_eq!(history(walk(content), 80), [(0, Some(0))]);
}

/// At 51.37 m, 41.374 s, beacons are no longer heard: the first of seven is the 405th, the last the 411th at 42.0864 s. Back again below 51.37 m, the way turning at 60 s at 70 m, at 78.626 s: the
/// 768th beacon at 78.6432 s.
#[test]
fn who_hears_no_beacons_loses_the_access_point_and_finds_it_again() {
    let all = [station(0, (0.0, 0.0), SIX), walker(&[10.0, 70.0, 10.0], 60)];
    let found = history(medium(&all, &network(&[36], RoamingRule::default())), 100);
    assert_eq!(found, [(0, Some(0)), (42_086_400, None), (78_693_200, Some(0))]);
    // Who begins out of range is with none.
    let far = [station(0, (0.0, 0.0), SIX), station(1, (60.0, 0.0), SIX)];
    assert_eq!(history(medium(&far, &network(&[36], RoamingRule::default())), 10), [(0, None)]);
}

#[test]
fn a_station_may_stay_with_one() {
    let points = [station(0, (0.0, 0.0), SIX), station(1, (60.0, 0.0), SIX)];
    let all: Vec<_> = points.into_iter().chain([walker(&[10.0, 50.0], 40)]).collect();
    let kept = AccessPoints { kept: vec![(2, 0)], ..network(&[36, 40], RoamingRule::default()) };
    assert_eq!(history(medium(&all, &kept), 40), [(0, Some(0))]);
    let other = AccessPoints { kept: vec![(2, 1)], ..kept };
    // 50 m away, at -81.6 dBm.
    assert_eq!(history(medium(&all, &other), 40), [(0, Some(1))]);
    let wrong = |stay, places: &[usize]| {
        let named = places.iter().map(|station| AccessPoint { station: *station, channel: 36 }).collect();
        AccessPoints { points: named, rule: RoamingRule::default(), kept: stay }
    };
    let config = MediumConfig::new(phy(Standard::A, 36));
    for network in [wrong(vec![(0, 0)], &[0]), wrong(vec![(2, 1)], &[0]), wrong(vec![], &[]), wrong(vec![], &[3])] {
        let medium = RadioMedium::<u64>::new(&config, &RadioConfig::new(5_180_000_000), &all, Seed::new(1));
        assert!(medium.expect("it is right").with_access_points(&network, 36).is_err(), "{network:?}");
    }
}

/// Forty frames wait at the access point when its station goes: what is on the air still arrives, and all others are lost within a SIFS behind that. The station hears nothing before it arrives.
#[test]
fn what_waits_at_the_old_access_point_is_lost() {
    for (from, to) in [(0, 2), (2, 0)] {
        let mut medium = walk(RoamingRule::default());
        medium.begin_counting(Instant::ZERO);
        (0..40).for_each(|number| medium.enqueue(at(29_280_000), StationId(from), frame(to, 1_500, number)));
        let (mut arrived, mut lost, mut joined) = (Vec::new(), Vec::new(), None);
        while let Some(wake) = medium.next_wake().filter(|wake| *wake <= at(29_400_000)) {
            medium.advance(wake, |one| match one.outcome.dropped {
                None => arrived.push(one.outcome.at),
                Some(cause) => lost.push((cause, one.outcome.at)),
            });
            joined = medium.take_join(wake).or(joined);
        }
        // 2.1 ms each, of 6.4 ms.
        assert!((2..=4).contains(&arrived.len()), "{arrived:?}");
        assert_eq!(arrived.len() + lost.len(), 40);
        let last = *arrived.last().expect("some");
        for (cause, when) in lost {
            assert_eq!(cause, Cause::Left);
            assert!(when >= at(29_286_400) && when <= last.max(at(29_286_400)) + micros(200), "{when:?}");
        }
        assert_eq!(medium.waiting(StationId(from)), 0);
        let joined = joined.expect("it has arrived");
        assert_eq!((joined.station, joined.point, joined.at), (StationId(2), StationId(1), at(29_336_416)));
        let counters: Vec<_> = medium.counters().collect();
        assert_eq!([0, 1, 2].map(|own| (counters[own].clients, counters[own].handovers)), [(0, 0), (1, 0), (0, 1)]);
        assert_eq!(counters[from as usize].lost, counters[from as usize].dropped);
    }
}

/// Access points on two channels have both of them; on one, they share it.
#[test]
fn channels_do_not_disturb_one_another() {
    let run = |channels: [u8; 2]| {
        let all = [(0.0, 0.0), (20.0, 0.0), (0.0, 5.0), (20.0, 5.0)].map(|place| station(0, place, SIX));
        let named = all.into_iter().enumerate().map(|(number, own)| RadioStation { name: format!("s{number}"), ..own });
        let stations: Vec<_> = named.collect();
        let mut medium = medium(&stations, &network(&channels, RoamingRule::default()));
        for point in [0, 1] {
            (0..4_000).for_each(|number| medium.enqueue(at(0), StationId(point), frame(point + 2, 1_500, number)));
        }
        medium.advance(at(1_900_000), |_| ());
        let found: Vec<u64> = medium.counters().map(|own| own.delivered).collect();
        (found[0] + found[1], medium.totals().collisions)
    };
    let (both, together) = (run([36, 40]), run([36, 36]));
    assert_eq!(both.1, 0);
    // 2,072 us for 1,536 bytes, 16 and 44 us for the answer, 34 us and 7.5 slots of 9 us until the next one.
    within(0.01, both.0 as f64, 2.0 * 1_900.0 / 2.2335, "two channels");
    within(0.1, together.0 as f64, both.0 as f64 / 2.0, "one channel");
}

/// Who is called when, and in which order stations stand, makes no difference.
#[test]
fn associations_do_not_depend_on_calls() {
    let run = |step: u64| {
        let mut medium = walk(RoamingRule::default());
        medium.begin_counting(Instant::ZERO);
        let mut found = Vec::new();
        for number in 0..3_000 {
            medium.enqueue(at(28_000_000 + number * 1_000), StationId(2), frame(0, 500, number));
            if number % step == 0 {
                medium
                    .advance(at(28_000_000 + number * 1_000), |one| found.push((one.outcome.at, one.outcome.dropped)));
            }
        }
        medium.advance(at(32_000_000), |one| found.push((one.outcome.at, one.outcome.dropped)));
        found
    };
    let often = run(1);
    assert_eq!(often.len(), 3_000);
    assert_eq!(often, run(97));
}

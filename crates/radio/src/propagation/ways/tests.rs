use super::*;
use crate::antenna::Beam;
use crate::fading::FadingModel;
use crate::path::{Circle, Waypoint};
use crate::path_loss::Metres;
use crate::propagation::{FadingConfig, Propagation, ShadowingConfig};
use crate::shadowing::Place;
use crate::wall::Wall;
use alloc::format;

const ALL: Surroundings = Surroundings {
    propagation: Propagation::FreeSpace,
    walls: Vec::new(),
    shadowing: Some(ShadowingConfig { deviation: Decibels(6.0), correlation: Metres(10.0) }),
    fading: Some(FadingConfig { model: FadingModel::Rayleigh, speed: 1.0 }),
    hertz: 5_180_000_000,
};

fn at(x: f64, y: f64) -> Position {
    Position { x: Metres(x), y: Metres(y), z: Metres(1.5) }
}

fn antenna<'a>(name: &'a str, path: &'a Path) -> Antenna<'a> {
    Antenna { name, path, power: Decibels(16.0), pattern: AntennaPattern::default() }
}

/// Walls, antennas and positions make what arrives, to the bit, alike for a station that passes and one that stands there.
#[test]
fn walls_and_antennas_count_on_all_ways() {
    let place = |x: f64, y: f64| Place { x: Metres(x), y: Metres(y) };
    let wall = Wall { from: place(20.0, -10.0), to: place(20.0, 10.0), loss: Decibels(6.9), height: None };
    let bare = Surroundings { shadowing: None, fading: None, ..ALL };
    let walled = Surroundings { walls: alloc::vec![wall], ..bare.clone() };
    let beam = Beam { azimuth: 90.0, width: 65.0, front_to_back: Decibels(30.0), tilt: 0.0, vertical_width: None };
    let sector = AntennaPattern { gain: Decibels(14.0), beam: Some(beam) };
    let waypoint = |seconds: u64, position| Waypoint { at: Duration::from_secs(seconds), position };
    let walk = Path::through(&[waypoint(0, at(10.0, 0.0)), waypoint(30, at(40.0, 0.0))], None).expect("a path");
    let origin = Path::from(at(0.0, 0.0));
    let powers = |surroundings: &Surroundings, pattern, path: &Path, seconds| {
        let ap = Antenna { pattern, ..antenna("ap", &origin) };
        let mut ways = surroundings.ways(&[ap, antenna("sta", path)], Seed::new(5));
        ways.begin(Instant::ZERO);
        let now = Instant::ZERO + Duration::from_secs(seconds);
        assert_eq!(ways.power(0, 1, now), ways.power(1, 0, now));
        ways.power(0, 1, now)
    };
    let plain = AntennaPattern::default();
    for (seconds, lost) in [(5, 0.0), (15, 6.9), (30, 6.9)] {
        let there = Path::from(walk.position(Duration::from_secs(seconds)));
        let found = powers(&walled, plain, &walk, seconds);
        assert_eq!(found, powers(&walled, plain, &there, seconds));
        let ratio = powers(&bare, plain, &walk, seconds).over(found).0;
        assert!(libm::fabs(ratio - lost) < 1e-4, "{seconds} s: {ratio} dB");
        // On the axis of the beam it is the gain more.
        let gain = powers(&walled, sector, &walk, seconds).over(found).0;
        assert!(libm::fabs(gain - 14.0) < 1e-4, "{seconds} s: {gain} dB");
    }
}

/// From the origin to the north-east, 5 m each second.
fn walking() -> Path {
    let waypoint = |seconds: u64, position| Waypoint { at: Duration::from_secs(seconds), position };
    Path::through(&[waypoint(0, at(0.0, 0.0)), waypoint(100, at(300.0, 400.0))], None).expect("a path")
}

fn circling() -> Path {
    let period = Duration::from_secs(60);
    Path::around(Circle { centre: at(40.0, 0.0), radius: Metres(30.0), period, start: 90.0, is_clockwise: true })
        .expect("a circle")
}

#[test]
fn pairs_are_alike_in_both_directions_and_in_any_order() {
    let paths = [at(0.0, 0.0).into(), walking(), circling(), at(70.0, 0.0).into()];
    let all: Vec<_> = ["a", "b", "c", "d"].into_iter().zip(&paths).map(|(name, path)| antenna(name, path)).collect();
    let mut ways = ALL.ways(&all, Seed::new(5));
    let turned: Vec<_> =
        ["d", "c", "b", "a"].into_iter().zip(paths.iter().rev()).map(|(name, path)| antenna(name, path)).collect();
    let mut other = ALL.ways(&turned, Seed::new(5));
    for begins in [false, true] {
        for now in [0, 1_000_000, 77_123_456_789].map(Instant::from_nanos) {
            for (one, two) in [(0, 1), (0, 2), (1, 2), (0, 3), (2, 3)] {
                assert_eq!(ways.power(one, two, now), ways.power(two, one, now));
                assert_eq!(ways.power(one, two, now), other.power(3 - one, 3 - two, now));
            }
        }
        assert_ne!(ways.power(0, 1, Instant::ZERO), ways.power(0, 1, Instant::from_nanos(50_000_000)));
        if !begins {
            ways.begin(Instant::from_nanos(500));
            other.begin(Instant::from_nanos(500));
        }
    }
}

#[test]
fn a_station_under_way_is_heard_like_one_that_stands_there() {
    let (origin, begin) = (Path::from(at(10.0, 0.0)), Instant::from_nanos(7_000_000_123));
    for path in [walking(), circling()] {
        let mut moving = ALL.ways(&[antenna("ap", &origin), antenna("sta", &path)], Seed::new(5));
        moving.begin(begin);
        for millis in [0_u64, 1, 500, 33_333, 99_999, 200_000] {
            let time = Duration::from_millis(millis);
            let there = Path::from(path.position(time));
            let mut standing = ALL.ways(&[antenna("ap", &origin), antenna("sta", &there)], Seed::new(5));
            // Positions are those of the beginning of the millisecond, fading is that of the instant.
            for now in [begin + time, begin + time + Duration::from_nanos(999_999)] {
                assert_eq!(moving.power(0, 1, now), standing.power(0, 1, now), "{millis} ms");
                assert_eq!(moving.power(1, 0, now), standing.power(1, 0, now), "{millis} ms");
            }
        }
    }
}

#[test]
fn nobody_moves_before_paths_begin() {
    let (origin, path) = (Path::from(at(10.0, 0.0)), walking());
    let surroundings = Surroundings { fading: None, ..ALL };
    let mut ways = surroundings.ways(&[antenna("ap", &origin), antenna("sta", &path)], Seed::new(5));
    let later = Instant::from_nanos(50_000_000_000);
    let first = ways.power(0, 1, Instant::ZERO);
    assert_eq!(ways.power(0, 1, later), first);
    ways.begin(later);
    assert_eq!(ways.power(0, 1, later), first);
    assert_ne!(ways.power(0, 1, later + Duration::from_secs(20)), first);
}

#[test]
fn what_is_remembered_makes_no_difference() {
    // 100 stations have more pairs than those whose shadowing is ready.
    let names: Vec<_> = (0..100).map(|number| format!("sta{number}")).collect();
    let path = |number: usize| {
        let end = Waypoint { at: Duration::from_secs(10), position: at(number as f64, 50.0) };
        let begin = Waypoint { at: Duration::ZERO, position: at(0.0, number as f64) };
        Path::through(&[begin, end], None).expect("a path")
    };
    let paths: Vec<_> = (0..100).map(path).collect();
    let all: Vec<_> = names.iter().zip(&paths).map(|(name, own)| antenna(name, own)).collect();
    let mut busy = ALL.ways(&all, Seed::new(1));
    busy.begin(Instant::ZERO);
    assert!(busy.moving.as_ref().is_some_and(|moving| moving.shadowings.len() == READY));
    let fresh = busy.clone();
    for seconds in [3, 1, 3] {
        let now = Instant::ZERO + Duration::from_secs(seconds);
        for (from, to) in (0..100).flat_map(|from| (0..100).map(move |to| (from, to))).filter(|(from, to)| from != to) {
            let power = busy.power(from, to, now);
            if (from * 7 + to) % 97 == 0 {
                assert_eq!(power, fresh.clone().power(from, to, now), "{from} to {to}");
            }
        }
    }
}

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
            let now = begin + time;
            assert_eq!(moving.power(0, 1, now), standing.power(0, 1, now), "{millis} ms");
            assert_eq!(moving.power(1, 0, now), standing.power(1, 0, now), "{millis} ms");
        }
    }
}

#[test]
fn losses_are_those_of_the_beginning_of_the_millisecond() {
    let (origin, path) = (Path::from(at(10.0, 0.0)), walking());
    let powers = |fading| {
        let surroundings = Surroundings { fading, ..ALL };
        let mut ways = surroundings.ways(&[antenna("ap", &origin), antenna("sta", &path)], Seed::new(5));
        ways.begin(Instant::ZERO);
        [5_000_000_000, 5_000_999_999, 5_001_000_000].map(|now| ways.power(0, 1, Instant::from_nanos(now)))
    };
    let [first, last, next] = powers(None);
    assert!(first == last && last != next);
    // Fading is that of the instant.
    let [early, late, _] = powers(ALL.fading);
    assert_ne!(early, late);
}

/// Around a station at 10 m/s, where the path loss stays the same, the power crosses a level upwards sqrt(2 π) fd ρ exp(-ρ²) times in a second, where fd is
/// the Doppler shift and ρ² the level over the mean (Rice 1944; Jakes 1974, 1.3-35).
#[test]
fn fades_are_as_frequent_as_stations_are_fast() {
    let around = |speed: f64| {
        let period = Duration::from_nanos((2.0 * core::f64::consts::PI * 50.0 / speed * 1e9) as u64);
        Path::around(Circle { centre: at(0.0, 0.0), radius: Metres(50.0), period, start: 0.0, is_clockwise: false })
            .expect("a circle")
    };
    let origin = Path::from(at(0.0, 0.0));
    let fading = Some(FadingConfig { model: FadingModel::Rayleigh, speed: 0.0 });
    let surroundings = Surroundings { shadowing: None, fading, ..ALL };
    let bare = Surroundings { fading: None, ..surroundings.clone() };
    for speed in [2.0, 10.0] {
        let path = around(speed);
        let antennas = [antenna("ap", &origin), antenna("sta", &path)];
        let mean = bare.ways(&antennas, Seed::new(0)).power(0, 1, Instant::ZERO);
        // One in 29 of the time of a wavelength.
        let step = 2_000_000.0 / speed;
        let powers = |seed: u64| {
            let mut ways = surroundings.ways(&antennas, Seed::new(seed));
            ways.begin(Instant::ZERO);
            let mut power = |number: u64| ways.power(0, 1, Instant::from_nanos((number as f64 * step) as u64));
            (0..2_500).map(|number| power(number).over(mean).ratio()).collect::<Vec<f64>>()
        };
        let all: Vec<Vec<f64>> = (0..40).map(powers).collect();
        for level in [0.1_f64, 0.5, 1.0] {
            let crossings =
                all.iter().flat_map(|own| own.windows(2)).filter(|pair| pair[0] <= level && pair[1] > level);
            let doppler = speed * 5_180_000_000.0 / 299_792_458.0;
            let expected = libm::sqrt(2.0 * core::f64::consts::PI * level) * doppler * libm::exp(-level);
            let found = crossings.count() as f64 / (40.0 * 2_500.0 * step / 1e9);
            assert!(libm::fabs(found / expected - 1.0) < 0.12, "{speed} m/s, {level}: {found} instead of {expected}");
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

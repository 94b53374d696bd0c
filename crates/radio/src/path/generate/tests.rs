use super::*;
use random_waypoint::mean_distance;

const AREA: Area = Area {
    corner: Position { x: Metres(-20.0), y: Metres(30.0), z: Metres(1.5) },
    width: Metres(200.0),
    height: Metres(100.0),
};
const STATIONS: u64 = 3_000;

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn paths(generator: Generator, span: u64) -> Vec<Path> {
    (0..STATIONS).map(|seed| generator.path(AREA, seconds(span), Seed::new(seed)).expect("a path")).collect()
}

/// The speed at a time, within a microsecond.
fn speed(path: &Path, time: Duration) -> f64 {
    let later = Duration::from_nanos(time.as_nanos() + 1_000);
    path.position(time).distance(path.position(later)) / 1e-6
}

/// The mean of something over all stations.
fn mean(paths: &[Path], of: impl Fn(&Path) -> f64) -> f64 {
    paths.iter().map(of).sum::<f64>() / paths.len() as f64
}

fn within(share: f64, found: f64, expected: f64, what: &str) {
    assert!(libm::fabs(found / expected - 1.0) <= share, "{what}: {found} instead of {expected}");
}

/// Whether nothing at this time is outside of the area.
fn is_inside(path: &Path, time: Duration) -> bool {
    let Position { x, y, z } = path.position(time);
    (-20.0..=180.0).contains(&x.0) && (30.0..=130.0).contains(&y.0) && z.0 == 1.5
}

#[test]
fn the_mean_distance_is_that_of_the_literature() {
    // Navidi and Camp: 0.521405 in a unit square. A long strip has a third of its length.
    within(1e-5, mean_distance(1.0, 1.0), 0.521_405, "square");
    within(1e-3, mean_distance(1_000.0, 1.0), 1_000.0 / 3.0, "strip");
}

/// Speeds, pauses and places are distributed as they will be ever after: of those who move the mean speed is (v1 - v0) / ln(v1 / v0), and the share of
/// those who pause is what mean times say.
#[test]
fn random_waypoint_begins_in_its_stationary_distribution() {
    let (slow, fast) = (0.5, 10.0);
    let own = RandomWaypoint { speed: (slow, fast), pause: (seconds(0), seconds(30)) };
    let all = paths(Generator::RandomWaypoint(own), 2_000);
    let expected = (fast - slow) / libm::log(fast / slow);
    let moving = mean_distance(200.0, 100.0) * libm::log(fast / slow) / (fast - slow);
    let resting = 15.0 / (15.0 + moving);
    let middle = |path: &Path, time| {
        let Position { x, y, .. } = path.position(time);
        f64::from(u8::from(libm::fabs(x.0 - 80.0) < 50.0 && libm::fabs(y.0 - 80.0) < 25.0))
    };
    let late = mean(&all, |path| middle(path, seconds(1_500)));
    for time in [0, 10, 100, 1_000].map(seconds) {
        let speeds: Vec<f64> = all.iter().map(|path| speed(path, time)).filter(|speed| *speed > 0.1).collect();
        let found = speeds.iter().sum::<f64>() / speeds.len() as f64;
        within(0.05, found, expected, "mean speed");
        let share = 1.0 - speeds.len() as f64 / STATIONS as f64;
        assert!(libm::fabs(share - resting) < 0.03, "{share} pause instead of {resting}");
        // In the middle quarter are more than a quarter, at the beginning as later.
        let central = mean(&all, |path| middle(path, time));
        assert!(libm::fabs(central - late) < 0.03 && central > 0.3, "{central} in the middle, later {late}");
        assert!(all.iter().all(|path| is_inside(path, time)));
    }
}

/// Velocities have the mean speed at all times, and the memory from step to step; places are uniform.
#[test]
fn gauss_markov_keeps_its_speed_and_its_memory() {
    let own = GaussMarkov { speed: 2.0, memory: 0.75, step: seconds(1) };
    let all = paths(Generator::GaussMarkov(own), 200);
    for time in [500, 50_500, 190_500].map(Duration::from_millis) {
        within(0.05, mean(&all, |path| speed(path, time)), 2.0, "mean speed");
        // The mean of a uniform distribution is the centre, and its deviation the side over the root of 12.
        let east = mean(&all, |path| path.position(time).x.0 - 80.0);
        let square = mean(&all, |path| path.position(time).x.0 - 80.0) * east;
        assert!(libm::fabs(east) < 4.0, "{east}");
        let spread = libm::sqrt(mean(&all, |path| libm::pow(path.position(time).x.0 - 80.0, 2.0)) - square);
        within(0.05, spread, 200.0 / libm::sqrt(12.0), "spread");
        assert!(all.iter().all(|path| is_inside(path, time)));
    }
    let step = |path: &Path, from: u64| path.position(seconds(from + 1)).x.0 - path.position(seconds(from)).x.0;
    let product = mean(&all, |path| step(path, 20) * step(path, 21));
    let square = mean(&all, |path| libm::pow(step(path, 20), 2.0));
    let memory = product / square;
    assert!(libm::fabs(memory - 0.75) < 0.05, "{memory}");
}

#[test]
fn manhattan_stays_on_its_streets_and_turns_as_often_as_it_should() {
    let own = Manhattan { block: Metres(10.0), speed: (10.0, 10.0), pause: (Duration::ZERO, Duration::ZERO) };
    let all = paths(Generator::Manhattan(own), 100);
    let is_street = |metres: f64| libm::fabs(metres / 10.0 - libm::round(metres / 10.0)) < 1e-6;
    let (mut straight, mut left, mut right) = (0, 0, 0);
    for path in &all {
        for millis in [300, 5_700, 77_100, 100_000].map(Duration::from_millis) {
            let Position { x, y, .. } = path.position(millis);
            assert!((is_street(x.0) || is_street(y.0)) && is_inside(path, millis), "{x:?} {y:?}");
        }
        // A block takes a second. Turns count where all streets are.
        for time in 1..99 {
            let [before, here, after] = [time - 1, time, time + 1].map(|at| path.position(seconds(at)));
            if !((-15.0..175.0).contains(&here.x.0) && (35.0..125.0).contains(&here.y.0)) {
                continue;
            }
            let (one, other) =
                ((here.x.0 - before.x.0, here.y.0 - before.y.0), (after.x.0 - here.x.0, after.y.0 - here.y.0));
            match one.0 * other.1 - one.1 * other.0 {
                turn if turn > 50.0 => left += 1,
                turn if turn < -50.0 => right += 1,
                _ => straight += 1,
            }
            assert!(one.0 * other.0 + one.1 * other.1 > -50.0, "nobody turns around");
        }
    }
    let total = f64::from(straight + left + right);
    for (count, expected) in [(straight, 0.5), (left, 0.25), (right, 0.25)] {
        within(0.02, f64::from(count) / total, expected, "share of turns");
    }
}

#[test]
fn each_seed_has_a_path_of_its_own() {
    let pause = (seconds(0), seconds(3));
    let generators = [
        Generator::RandomWaypoint(RandomWaypoint { speed: (1.0, 2.0), pause }),
        Generator::GaussMarkov(GaussMarkov { speed: 1.0, memory: 0.5, step: seconds(1) }),
        Generator::Manhattan(Manhattan { block: Metres(20.0), speed: (1.0, 2.0), pause }),
    ];
    for generator in generators {
        let path = |seed| generator.path(AREA, seconds(600), Seed::new(seed)).expect("a path");
        assert_eq!(path(1), path(1));
        assert_ne!(path(1), path(2));
        // A longer path begins as a shorter one.
        let longer = generator.path(AREA, seconds(6_000), Seed::new(1)).expect("a path");
        assert_eq!(path(1).position(seconds(599)), longer.position(seconds(599)));
    }
}

#[test]
fn wrong_models_are_refused() {
    let pause = (seconds(0), seconds(3));
    let walk = RandomWaypoint { speed: (1.0, 2.0), pause };
    let wind = GaussMarkov { speed: 1.0, memory: 0.5, step: seconds(1) };
    let drive = Manhattan { block: Metres(20.0), speed: (1.0, 2.0), pause };
    let cases = [
        (Generator::RandomWaypoint(RandomWaypoint { speed: (0.0, 2.0), ..walk }), "speed"),
        (Generator::RandomWaypoint(RandomWaypoint { speed: (3.0, 2.0), ..walk }), "speed"),
        (Generator::RandomWaypoint(RandomWaypoint { speed: (3.0, f64::NAN), ..walk }), "speed"),
        (Generator::RandomWaypoint(RandomWaypoint { pause: (seconds(2), seconds(1)), ..walk }), "pause"),
        (Generator::GaussMarkov(GaussMarkov { memory: 1.0, ..wind }), "memory"),
        (Generator::GaussMarkov(GaussMarkov { step: seconds(0), ..wind }), "step"),
        (Generator::GaussMarkov(GaussMarkov { step: Duration::from_nanos(1), ..wind }), "span"),
        (Generator::Manhattan(Manhattan { block: Metres(101.0), ..drive }), "block"),
        (Generator::Manhattan(Manhattan { block: Metres(0.0), ..drive }), "block"),
        (
            Generator::Manhattan(Manhattan {
                block: Metres(0.001),
                speed: (10.0, 10.0),
                pause: (seconds(0), seconds(0)),
            }),
            "span",
        ),
        (Generator::Manhattan(Manhattan { speed: (2e4, 2e4), block: Metres(100.0), ..drive }), "path"),
    ];
    for (generator, key) in cases {
        assert_eq!(
            generator.path(AREA, seconds(60), Seed::new(1)).map_err(|wrong| wrong.key),
            Err(key),
            "{generator:?}"
        );
    }
    let none = Area { width: Metres(0.0), ..AREA };
    let path = Generator::RandomWaypoint(walk).path(none, seconds(60), Seed::new(1));
    assert_eq!(path.map_err(|wrong| wrong.key), Err("area"));
}

/// A leader that goes to the east at 2 m/s, turns back after 100 s, and is 3 m high.
fn leader() -> Path {
    let at = |x: f64, y: f64| Position { x: Metres(x), y: Metres(y), z: Metres(3.0) };
    let ways = [(0, at(10.0, 20.0)), (100, at(210.0, 20.0)), (200, at(10.0, 20.0))];
    let waypoints = ways.map(|(time, position)| Waypoint { at: seconds(time), position });
    Path::through(&waypoints, None).expect("a path")
}

const GROUP: Group =
    Group { offset: (Metres(5.0), Metres(-8.0)), radius: Metres(12.0), height: None, step: Duration::from_secs(4) };

/// At the end of each step all are around the reference point: lengths are uniform up to the radius, with means of a half and of the squares of a third of it,
/// and directions are, too. In between, where the leader goes straight, nobody is farther away.
#[test]
fn groups_stay_around_their_leader() {
    let leader = leader();
    let all: Vec<Path> =
        (0..STATIONS).map(|seed| GROUP.path(&leader, seconds(160), Seed::new(seed)).expect("a path")).collect();
    for time in [0, 4, 40, 100, 156, 160].map(seconds) {
        let point = leader.position(time);
        let way = |path: &Path| {
            let own = path.position(time);
            assert_eq!(own.z, Metres(3.0));
            (own.x.0 - point.x.0 - 5.0, own.y.0 - point.y.0 + 8.0)
        };
        let length = |path: &Path| libm::hypot(way(path).0, way(path).1);
        assert!(all.iter().all(|path| length(path) <= 12.0 + 1e-6));
        within(0.03, mean(&all, length), 6.0, "length");
        within(0.05, mean(&all, |path| length(path) * length(path)), 48.0, "square");
        assert!(libm::fabs(mean(&all, |path| way(path).0)) < 0.4 && libm::fabs(mean(&all, |path| way(path).1)) < 0.4);
    }
    let between = |path: &Path| {
        let (own, point) = (path.position(seconds(42)), leader.position(seconds(42)));
        libm::hypot(own.x.0 - point.x.0 - 5.0, own.y.0 - point.y.0 + 8.0)
    };
    assert!(all.iter().all(|path| between(path) <= 12.0 + 1e-6));
    // Behind its span nobody moves.
    assert!(all.iter().all(|path| path.position(seconds(160)) == path.position(seconds(190))));
}

#[test]
fn groups_are_drawn_from_their_seeds() {
    let of = |group: Group, seed| group.path(&leader(), seconds(60), Seed::new(seed)).map_err(|wrong| wrong.key);
    assert_eq!(of(GROUP, 3), of(GROUP, 3));
    assert_ne!(of(GROUP, 3), of(GROUP, 4));
    let high = of(Group { height: Some(Metres(1.5)), ..GROUP }, 3).expect("a path");
    assert_eq!(high.position(seconds(10)).z, Metres(1.5));
    // A leader that stands is one, too.
    let around = GROUP.path(&Position::default().into(), seconds(60), Seed::new(3)).expect("a path");
    assert!(
        around.position(seconds(30)).distance(Position { y: Metres(-8.0), x: Metres(5.0), z: Metres(0.0) }) <= 12.0
    );
    assert_eq!(of(Group { radius: Metres(0.0), ..GROUP }, 3), Err("radius"));
    assert_eq!(of(Group { step: Duration::ZERO, ..GROUP }, 3), Err("step"));
    assert_eq!(of(Group { radius: Metres(1e6), step: Duration::from_millis(1), ..GROUP }, 3), Err("path"));
    assert_eq!(of(Group { step: Duration::from_micros(100), radius: Metres(0.01), ..GROUP }, 3), Err("span"));
}

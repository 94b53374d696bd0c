use super::*;
use netloom_units::Seed;
use proptest::prelude::*;

fn at(x: f64, y: f64) -> Position {
    Position { x: Metres(x), y: Metres(y), z: Metres(1.5) }
}

fn waypoint(millis: u64, position: Position) -> Waypoint {
    Waypoint { at: Duration::from_millis(millis), position }
}

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

#[test]
fn stations_go_straight_from_waypoint_to_waypoint() {
    let ways = [waypoint(1_000, at(0.0, 0.0)), waypoint(5_000, at(40.0, -20.0)), waypoint(6_000, at(40.0, 0.0))];
    let path = Path::through(&ways, None).expect("a path");
    let cases = [
        (0, (0.0, 0.0)),
        (1_000, (0.0, 0.0)),
        (2_000, (10.0, -5.0)),
        (5_000, (40.0, -20.0)),
        (5_500, (40.0, -10.0)),
        (9_000, (40.0, 0.0)),
    ];
    for (millis, (x, y)) in cases {
        assert_eq!(path.position(ms(millis)), at(x, y), "{millis} ms");
    }
    assert!(libm::fabs(path.fastest() - 20.0) < 1e-9 && !path.is_standing() && path.waypoints() == 3);
    // Waypoints at one place are no motion.
    let same = Path::through(&[waypoint(0, at(1.0, 1.0)), waypoint(9, at(1.0, 1.0))], None).expect("a path");
    assert_eq!(same, at(1.0, 1.0).into());
}

#[test]
fn paths_begin_again_after_their_period() {
    let ways = [waypoint(1_000, at(0.0, 0.0)), waypoint(3_000, at(20.0, 0.0))];
    let path = Path::through(&ways, Some(ms(6_000))).expect("a path");
    // Two seconds there, four back.
    let cases = [
        (0, 0.0),
        (2_000, 10.0),
        (3_000, 20.0),
        (5_000, 10.0),
        (7_000, 0.0),
        (8_000, 10.0),
        (601_000, 0.0),
        (603_000, 20.0),
    ];
    for (millis, x) in cases {
        assert_eq!(path.position(ms(millis)), at(x, 0.0), "{millis} ms");
    }
    let closed = [waypoint(0, at(0.0, 0.0)), waypoint(10, at(1.0, 0.0)), waypoint(20, at(0.0, 0.0))];
    let round = Path::through(&closed, Some(ms(20))).expect("no time is needed for a way back");
    assert_eq!(round.position(ms(25)), at(0.5, 0.0));
    assert_eq!(round.position(ms(30)), at(1.0, 0.0));
}

#[test]
fn circles_are_gone_around_in_their_period() {
    let circle =
        Circle { centre: at(10.0, 5.0), radius: Metres(20.0), period: ms(8_000), start: 0.0, is_clockwise: false };
    let near = |one: Position, other: Position| one.distance(other) < 1e-9;
    let path = Path::around(circle).expect("a circle");
    for (millis, (x, y)) in
        [(0, (30.0, 5.0)), (2_000, (10.0, 25.0)), (4_000, (-10.0, 5.0)), (86_400_002_000, (10.0, 25.0))]
    {
        assert!(near(path.position(ms(millis)), at(x, y)), "{millis} ms: {:?}", path.position(ms(millis)));
    }
    let other = Path::around(Circle { start: 90.0, is_clockwise: true, ..circle }).expect("a circle");
    assert!(near(other.position(ms(2_000)), at(30.0, 5.0)), "{:?}", other.position(ms(2_000)));
    assert!(libm::fabs(path.fastest() - 20.0 * TURN / 8.0) < 1e-9);
}

#[test]
fn wrong_paths_are_refused() {
    let (near, far) = (at(0.0, 0.0), at(0.0, 2e7));
    let line = |ways: &[Waypoint], period| Path::through(ways, period).map_err(|wrong| wrong.message);
    let cases: [(&[Waypoint], Option<Duration>, &str); 9] = [
        (&[], None, "at least one waypoint"),
        (&[waypoint(0, far)], None, "waypoint 1: at most 10000 km"),
        (&[waypoint(0, at(f64::NAN, 0.0))], None, "waypoint 1: at most 10000 km"),
        (&[waypoint(5, near), waypoint(5, at(1.0, 0.0))], None, "waypoint 2: it is at 5 ms and the one before at 5 ms"),
        (
            &[waypoint(0, near), waypoint(1, at(11.0, 0.0))],
            None,
            "waypoint 2: at most 10000 m/s, and this is 11000 m/s",
        ),
        (&[waypoint(0, near), waypoint(9, at(1.0, 0.0))], Some(ms(9)), "the way back to the first takes time"),
        (&[waypoint(0, near), waypoint(9, near)], Some(ms(8)), "from the first waypoint to the last are 9 ms"),
        (&[waypoint(0, near), waypoint(9, at(50.0, 0.0))], Some(ms(10)), "the way back: at most 10000 m/s"),
        (&[waypoint(7, near), waypoint(9, at(1.0, 0.0))], Some(Duration::from_nanos(u64::MAX)), "longer than any lab"),
    ];
    for (ways, period, expected) in cases {
        let found = line(ways, period).expect_err(expected);
        assert!(found.contains(expected), "{found}");
    }
    let many: Vec<_> = (0..=MOST_WAYPOINTS as u64).map(|millis| waypoint(millis, near)).collect();
    assert!(line(&many, None).is_err_and(|message| message.contains("at most 100000 waypoints, found 100001")));
    let circle = Circle { centre: near, radius: Metres(20.0), period: ms(8_000), start: 0.0, is_clockwise: false };
    let around = |other| Path::around(other).map_err(|wrong| wrong.key);
    assert_eq!(around(Circle { radius: Metres(0.0), ..circle }), Err("radius"));
    assert_eq!(around(Circle { radius: Metres(f64::NAN), ..circle }), Err("radius"));
    assert_eq!(around(Circle { radius: Metres(2e7), ..circle }), Err("centre"));
    assert_eq!(around(Circle { period: ms(0), ..circle }), Err("period"));
    assert_eq!(around(Circle { period: ms(1), ..circle }), Err("period"));
    assert_eq!(around(Circle { start: 361.0, ..circle }), Err("start"));
}

/// A path of any kind.
fn paths() -> impl Strategy<Value = Path> {
    let legs = prop::collection::vec((1..50_000_u64, -500.0..500.0, -500.0..500.0), 1..8);
    let ways = (legs, prop::option::of(1..5_000_u64)).prop_map(|(legs, more)| {
        let mut now = 0;
        let made = legs.into_iter().map(|(gap, x, y)| {
            now += gap;
            waypoint(now, at(x, y))
        });
        let made: Vec<_> = made.collect();
        let span = nanos_between(made[0].at, made[made.len() - 1].at);
        Path::through(&made, more.map(|more| Duration::from_nanos(span + more * 1_000_000)))
    });
    let circle =
        (1..60_000_u64, 0.1..500.0, -360.0..360.0, any::<bool>()).prop_map(|(millis, radius, start, is_clockwise)| {
            Path::around(Circle {
                centre: at(3.0, 4.0),
                radius: Metres(radius),
                period: ms(millis),
                start,
                is_clockwise,
            })
        });
    let area = Area { corner: at(-100.0, 0.0), width: Metres(300.0), height: Metres(200.0) };
    let pause = (ms(0), ms(3_000));
    let generators = prop_oneof![
        Just(Generator::RandomWaypoint(RandomWaypoint { speed: (0.5, 20.0), pause })),
        Just(Generator::GaussMarkov(GaussMarkov { speed: 2.0, memory: 0.8, step: ms(700) })),
        Just(Generator::Manhattan(Manhattan { block: Metres(50.0), speed: (1.0, 15.0), pause })),
    ];
    let drawn = (generators, any::<u64>())
        .prop_map(move |(generator, seed)| generator.path(area, ms(200_000), Seed::new(seed)));
    // Those that are too fast are refused.
    prop_oneof![ways, circle, drawn].prop_filter_map("too fast", Result::ok)
}

proptest! {
    /// Nobody jumps: between any two times the distance is at most what the greatest speed allows.
    #[test]
    fn motion_is_continuous_and_as_fast_as_said(path in paths(), time in 0..400_000_000_000_u64, step in 0..2_000_000_000_u64) {
        let (one, other) = (path.position(Duration::from_nanos(time)), path.position(Duration::from_nanos(time + step)));
        let most = path.fastest() * step as f64 / 1e9;
        prop_assert!(one.distance(other) <= most * (1.0 + 1e-9) + 1e-9, "{one:?} to {other:?} in {step} ns, at most {most} m");
    }

    /// All positions are between the extremes, which are what is checked.
    #[test]
    fn positions_are_between_the_extremes(path in paths(), time in 0..400_000_000_000_u64) {
        let found = path.position(Duration::from_nanos(time));
        let all: Vec<_> = path.extremes().collect();
        let is_within = |of: fn(&Position) -> f64| {
            let least = all.iter().map(of).fold(f64::INFINITY, f64::min);
            let most = all.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
            (least - 1e-9..=most + 1e-9).contains(&of(&found))
        };
        prop_assert!(is_within(|own| own.x.0) && is_within(|own| own.y.0) && is_within(|own| own.z.0), "{found:?}");
    }

    #[test]
    fn circles_and_rounds_repeat(path in paths(), time in 0..100_000_000_000_u64, rounds in 1..1_000_u64) {
        let period = match &path.0 {
            Shape::Ways { period: Some(period), .. } => period.as_nanos(),
            Shape::Around(circle) => circle.period.as_nanos(),
            _ => return Ok(()),
        };
        let begin = if let Shape::Ways { waypoints, .. } = &path.0 { waypoints[0].at.as_nanos() } else { 0 };
        let again = path.position(Duration::from_nanos(begin + time + rounds * period));
        prop_assert_eq!(path.position(Duration::from_nanos(begin + time)), again);
    }
}

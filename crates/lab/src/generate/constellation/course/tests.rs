use super::super::access::{EVERY, LEVEL, OUTAGE, SPIKES, Terminal};
use super::super::orbits::{Phasing, Reach, Shell, Station};
use super::super::satellites::Orbits;
use super::*;
use netloom_units::{Rate, Seed};

const SECOND: u64 = 1_000_000_000;

/// Two pairs of stations below Kuiper's first shell.
fn sky() -> Sky {
    let place =
        |latitude: f64, longitude: f64| Station { latitude: latitude.to_radians(), longitude: longitude.to_radians() };
    let stations = vec![place(14.604_2, 120.982_2), place(38.912_22, 121.602_22), place(-1.283_33, 36.816_67)];
    let inclination = 51.9_f64.to_radians();
    let orbits =
        Orbits::Shell(Shell { planes: 34, each: 34, altitude: 630e3, inclination, phasing: Phasing::Alternate });
    Sky { lasers: orbits.lasers(), orbits, stations, reach: Reach::Range(1_260e3) }
}

fn times(routes: Option<u64>, second: u64) -> Times {
    Times { end: 60 * SECOND, routes, second, convergence: 0, step: SECOND }
}

/// The delay that a schedule has at an instant, with its straight lines, and whether all is lost then.
fn at(steps: &[MadeStep], instant: u64) -> (u64, bool) {
    let points: Vec<(u64, u64)> =
        steps.iter().filter_map(|step| Some((step.at.as_nanos(), step.delay?.as_nanos()))).collect();
    let after = points.partition_point(|point| point.0 <= instant);
    let (from, value) = points[after - 1];
    let delay = points.get(after).map_or(value, |(to, next)| {
        let (gap, part) = (i128::from(*next) - i128::from(value), i128::from(instant - from));
        u64::try_from(i128::from(value) + gap * part / i128::from(to - from)).expect("a delay")
    });
    let lost = steps.iter().filter(|step| step.at.as_nanos() <= instant).filter_map(|step| step.is_lost).next_back();
    (delay, lost.unwrap_or(false))
}

#[test]
fn instantly_is_never_longer_than_now_and_then() {
    let sky = sky();
    let [seldom, often] =
        [times(Some(15 * SECOND), 15 * SECOND), times(None, SECOND)].map(|times| courses(&sky, &times, None));
    let mut gained = 0;
    for ((ends, before), (_, after)) in seldom.iter().zip(&often) {
        for instant in (0..59 * SECOND).step_by(250_000_000) {
            let ((slow, is_lost), (fast, is_gone)) = (at(before, instant), at(after, instant));
            assert!(!is_gone || is_lost, "{ends:?} at {instant}");
            // A straight line of a second leaves an arc by a microsecond at most.
            assert!(is_gone || is_lost || fast <= slow + 1_000, "{ends:?} at {instant}: {fast} and {slow}");
            gained += u64::from(is_lost && !is_gone || fast + 100_000 < slow);
        }
    }
    assert!(gained > 0, "no path was ever better");
    // Paths change where both are equally long, and later by what a daemon takes.
    let late = courses(&sky, &Times { convergence: 3 * SECOND, ..times(None, SECOND) }, None);
    assert_ne!(often, late);
    let jumps = |steps: &[MadeStep]| {
        let delays = steps.iter().filter_map(|step| Some((step.at.as_nanos(), step.delay?.as_nanos())));
        let delays: Vec<(u64, u64)> = delays.collect();
        delays.windows(2).filter(|pair| pair[1].0 - pair[0].0 == 1).map(|pair| pair[1].0).collect::<Vec<_>>()
    };
    let (soon, later) = (jumps(&often[0].1), jumps(&late[0].1));
    assert!(!soon.is_empty());
    let shifted: Vec<u64> = soon.iter().map(|at| at + 3 * SECOND).filter(|at| *at < 60 * SECOND).collect();
    assert!(later.iter().all(|at| shifted.contains(at) || soon.contains(at)), "{soon:?} {later:?}");
}

#[test]
fn an_access_is_added_to_its_paths() {
    let sky = sky();
    let rate = |mega: u64| Rate::from_bits_per_second(mega * 1_000_000).expect("a rate");
    let terminals = ["a", "b", "c"].map(|name| Terminal { seed: Seed::new(7).derive(name), rain: None }).to_vec();
    let rates = Some([[rate(60), rate(160)], [rate(8), rate(20)]]);
    let access =
        Access { every: EVERY, first: 12 * SECOND, outage: OUTAGE, level: LEVEL, spikes: SPIKES, rates, terminals };
    let times = times(Some(EVERY), 12 * SECOND);
    let [without, with] = [None, Some(&access)].map(|access| courses(&sky, &times, access));
    for ((ends, bare), (_, steps)) in without.iter().zip(&with) {
        for instant in (0..59 * SECOND).step_by(9_999_991) {
            let ((delay, is_lost), (longer, is_gone)) = (at(bare, instant), at(steps, instant));
            let extra = access.state(*ends, instant).extra;
            assert_eq!(is_gone, is_lost || extra.is_none(), "{ends:?} at {instant}");
            if let Some(extra) = extra.filter(|_| !is_lost) {
                // Straight lines of a second, which the points of the access divide.
                assert!(longer.abs_diff(delay + extra) < 2_000, "{ends:?} at {instant}: {longer}, {delay} and {extra}");
            }
        }
        assert!(steps.windows(2).all(|pair| pair[0].at < pair[1].at), "steps are in order");
        // Rates change at boundaries, and hold until just before the next one.
        let changes: Vec<u64> =
            steps.iter().filter(|step| step.rates.is_some()).map(|step| step.at.as_nanos()).collect();
        let edges = [0, 12, 27, 42, 57].map(|edge| edge * SECOND);
        let expected = edges.iter().flat_map(|edge| [edge.saturating_sub(1), *edge]);
        let mut expected: Vec<u64> = expected.collect();
        expected.dedup();
        assert_eq!(changes, expected, "{ends:?}");
    }
    assert_eq!(with, courses(&sky, &times, Some(&access)));
}

#[test]
fn choices_are_counted() {
    for (end, second, expected) in
        [(1, 15, 1), (15, 15, 1), (16, 15, 2), (60, 12, 5), (10, 12, 1), (12, 12, 1), (13, 12, 2)]
    {
        let times = Times { end, routes: Some(15), second, convergence: 0, step: 1 };
        assert_eq!(times.choices(), expected, "{end} from {second}");
    }
}

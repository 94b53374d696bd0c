//! Clocks of nodes that step, drift and leap, and nodes that stand still. The oracle is arithmetic: what a clock shows beside that of a
//! node that is right, at the same instant of virtual time.

use crate::fixture::{Fixture, User};
use std::fs;
use std::path::Path;

/// Programs look at the clock within microseconds of their start.
const TOLERANCE_NS: i128 = 50_000;

const LAB: &str = "
clock: virtual
nodes:
  right: {}
  wrong: {}
  skewed: {clock: {skew: -40 ms, drift: 200 ppm}}
links: {l: {ends: [right, wrong]}, m: {ends: [right, skewed]}}
timeline:
  - {at: 2 s, on: wrong, clock: {step: 3 s}}
  - {at: 4 s, on: wrong, clock: {drift: 500 ppm}}
  - {at: 15 s, on: wrong, clock: {step: -1 s, drift: -5 %}}
  - {at: 26 s, on: wrong, clock: {drift: 0}}
  - {at: 38 s, on: right, run: date -u -s @1000000000, as: set}
";

/// Has these nodes write down their clocks at these instants.
fn with_looks(lab: &str, nodes: &str, seconds: &[u32]) -> String {
    let look =
        |at: &u32| format!("  - {{at: {at} s, on: [{nodes}], run: date +%s%N, as: at-{at}, save: at-{at}.txt}}\n");
    lab.to_owned() + &seconds.iter().map(look).collect::<String>()
}

/// What a node's clock showed, in nanoseconds.
fn shown(fixture: &Fixture, lab: &str, at: u32, node: &str) -> i128 {
    let text = fs::read_to_string(fixture.latest(lab).join(format!("at-{at}-{node}.txt"))).unwrap();
    text.trim().parse().unwrap_or_else(|_| panic!("{node} at {at} s: {text:?}"))
}

fn assert_near(found: i128, expected: i128, what: &str) {
    assert!((found - expected).abs() <= TOLERANCE_NS, "{what}: {found} ns, and {expected} ns is right");
}

#[test]
fn clocks_step_and_drift_by_what_the_lab_file_says() {
    for user in User::some() {
        let fixture = Fixture::with_kernel(user);
        fixture.write("clocks.yaml", &with_looks(LAB, "right, wrong, skewed", &[1, 3, 14, 25, 36, 39]));
        fixture.netloom(&["run", "clocks.yaml"]).expect_code(0);
        let beside =
            |at, node: &str, other: &str| shown(&fixture, "clocks", at, node) - shown(&fixture, "clocks", at, other);
        // 3 s; 500 ppm of 11 s; a step of -1 s; -5 % of 11 s.
        let wrong_us =
            [(1, 0), (3, 3_000_000), (14, 3_005_000), (25, 3_005_500 - 1_000_000 - 500_000), (36, 1_455_500)];
        for (at, us) in wrong_us {
            assert_near(beside(at, "wrong", "right"), i128::from(us) * 1_000, &format!("wrong at {at} s"));
            let skewed_us = -40_000 + 200 * i128::from(at);
            assert_near(beside(at, "skewed", "right"), skewed_us * 1_000, &format!("skewed at {at} s"));
        }
        // What a program of a node sets, it sets there alone.
        assert_near(shown(&fixture, "clocks", 39, "right"), 1_000_000_001_000_000_000, "set");
        assert_near(beside(39, "wrong", "skewed"), 1_000 * (1_455_500 + 40_000 - 200 * 39), "the others");
        let events = fs::read_to_string(fixture.latest("clocks").join("events.jsonl")).unwrap();
        assert_eq!(events.matches("\"event\":\"clock\"").count(), 4, "{events}");
        fixture.assert_nothing_is_left("clocks");
    }
}

/// A crash at 5 s takes the step with it, and not what the drift has made of the clock.
#[test]
fn a_clock_drifts_on_after_a_crash() {
    let fixture = Fixture::with_kernel(User::Own);
    let lab = "
clock: virtual
nodes: {right: {}, wrong: {clock: {skew: -40 ms, drift: 500 ppm}}}
links: {l: {ends: [right, wrong]}}
timeline:
  - {at: 2 s, on: wrong, clock: {step: 3 s}}
  - {at: 5 s, crash: wrong, for: 1 s}
";
    fixture.write("crash.yaml", &with_looks(lab, "right, wrong", &[4, 8, 18]));
    fixture.netloom(&["run", "crash.yaml"]).expect_code(0);
    for (at, ms) in [(4, 3_000 - 40), (8, -40), (18, -40)] {
        let beside = shown(&fixture, "crash", at, "wrong") - shown(&fixture, "crash", at, "right");
        assert_near(beside, i128::from(ms) * 1_000_000 + 500_000 * i128::from(at), &format!("at {at} s"));
    }
}

/// A day ends 10 s after its clock was set forward: one has 86,401 seconds then, and another 86,399.
#[test]
fn leap_seconds_come_at_the_end_of_the_day() {
    let fixture = Fixture::with_kernel(User::Own);
    let lab = "
clock: virtual
start: 2016-12-31
nodes: [right, more, less]
links: {l: {ends: [right, more]}, m: {ends: [right, less]}}
timeline:
  - {at: 1 s, on: more, clock: {step: 86389 s, leap: insert}}
  - {at: 1 s, on: less, clock: {step: 86389 s, leap: delete}}
";
    fixture.write("leap.yaml", &with_looks(lab, "right, more, less", &[3, 30]));
    fixture.netloom(&["run", "leap.yaml"]).expect_code(0);
    let beside = |at, node: &str| shown(&fixture, "leap", at, node) - shown(&fixture, "leap", at, "right");
    for (at, node, seconds) in [(3, "more", 86_389), (3, "less", 86_389), (30, "more", 86_388), (30, "less", 86_390)] {
        assert_near(beside(at, node), seconds * 1_000_000_000, &format!("{node} at {at} s"));
    }
}

/// In real time a kernel has a clock of its own, too; how exact it is, depends on the machine.
#[test]
fn kernels_in_real_time_have_clocks_of_their_own() {
    let fixture = Fixture::with_kernel(User::Own);
    let lab = "
bounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}
nodes: {right: {}, wrong: {stack: kernel, clock: {skew: 1000 s}}}
links: {l: {ends: [right, wrong]}}
timeline:
  - {at: 1 s, on: wrong, clock: {step: -3000 s}}
  - {at: 2 s, on: [right, wrong], run: date +%s%N, as: at-2, save: at-2.txt}
";
    fixture.write("real.yaml", lab);
    fixture.netloom(&["run", "real.yaml"]).expect_code(0);
    let beside = shown(&fixture, "real", 2, "wrong") - shown(&fixture, "real", 2, "right");
    assert!((beside + 2_000_000_000_000).abs() < 500_000_000_000, "{beside} ns");
}

/// A program that sleeps for 6 s by CLOCK_MONOTONIC, of which its node stands still for 5 s more; and a packet that waits for the node.
const FROZEN: &str = "
clock: virtual
nodes: [n1, n2]
links: {l: {ends: [n1, n2], delay: 1 ms}}
timeline:
  - {at: 5 s, freeze: n1, for: 5 s}
  - {at: 1 s, on: n1, as: nap, save: nap.txt, run: [python3, -c, 'import time; m, r = time.monotonic_ns(), time.time_ns(); time.sleep(6); print(time.monotonic_ns() - m, time.time_ns() - r)']}
  - {at: 6 s, on: n2, run: ping -n -c 1 -W 20 n1, as: ping, save: ping.txt}
  - {at: 13 s, on: n2, run: ping -n -c 1 -W 20 n1, as: later, save: later.txt}
expect:
  - nap.exit == 0
  - nap.duration within 10 ms of 11 s
  - ping.exit == 0
  - later.exit == 0
";

#[test]
fn a_frozen_node_does_not_notice_but_for_its_wall_clock() {
    let fixture = Fixture::with_kernel(User::Own);
    fixture.write("frozen.yaml", FROZEN);
    let mut runs = Vec::new();
    for _ in 0..2 {
        fixture.netloom(&["run", "frozen.yaml"]).expect_code(0);
        let read = |name: &str| fs::read_to_string(fixture.latest("frozen").join(name)).unwrap();
        runs.push([read("nap.txt"), read("ping.txt"), read("later.txt")]);
    }
    assert_eq!(runs[0], runs[1]);
    let [nap, ping, later] = &runs[0];
    let times: Vec<i64> = nap.split_whitespace().map(|word| word.parse().unwrap()).collect();
    let [monotonic, wall] = times[..] else { panic!("{nap}") };
    // What is beyond whole seconds is the program's own time.
    assert!((6_000_000_000..6_010_000_000).contains(&monotonic), "{monotonic}");
    assert!((11_000_000_000..11_010_000_000).contains(&wall), "{wall}");
    assert!(ping.contains("time=4001 ms"), "{ping}");
    assert!(later.contains("time=2.0"), "{later}");
}

/// Half of the asymmetry of its path is what NTP cannot know.
#[test]
fn ntp_is_wrong_by_half_the_asymmetry_of_its_path() {
    let fixture = Fixture::with_kernel(User::Own);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/ntp.yaml");
    fixture.netloom(&["run", path.to_str().unwrap()]).expect_code(0);
}

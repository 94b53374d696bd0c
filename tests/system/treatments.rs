//! Further pipes for some of the traffic, and partitions.

use crate::bed::{Bed, User};

/// What packets meet when depends on what else the machine does, but for virtual time.
const LAB: &str = "
bounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}
nodes: {a: {}, r: {kind: router}, b: {}, c: {}}
links:
  up: {ends: [a, r], forward: {delay: 5 ms, pipes: {far: {match: {to: c}, delay: 150 ms}}}}
  near: {ends: [r, b]}
  distant: {ends: [r, c]}
timeline:
  - {on: a, run: ping -c 5 -i 0.1 b, as: to-near}
  - {on: a, run: ping -c 5 -i 0.1 c, as: to-far}
  - {at: 1 s, link: up, pipe: far, set: {delay: 60 ms}}
  - {at: 1100 ms, on: a, run: ping -c 3 -i 0.1 c, as: later}
  - {at: 2 s, partition: [[a]], for: 500 ms}
  - {at: 2100 ms, on: a, run: ping -c 2 -i 0.1 -W 0.2 b, as: cut-off, may_fail: true}
  - {at: 3 s, on: a, run: ping -c 2 -i 0.1 b, as: healed}
expect:
  - to-near.exit == 0
  - to-far.exit == 0
  - later.exit == 0
  - healed.exit == 0
  - cut-off.exit == 1
  - up.forward.delay within 1 us of 5 ms
  - up.forward.far.delay within 1 us of 150 ms during 0 s..900 ms
  - up.forward.far.delay within 1 us of 60 ms during 1 s..2 s
  - up.forward.far.packets == 8
  - up.forward.drops > 0 during 2 s..2500 ms
";

#[test]
fn traffic_is_treated_by_destination_and_partitions_heal() {
    let bed = Bed::with_kernel(User::Own);
    bed.write("treated.yaml", LAB);
    bed.netloom(&["run", "treated.yaml", "--clock", "virtual", "-q"]).expect_code(0);
    assert_treated(&bed);
}

/// The same way for packets of namespace nodes.
#[test]
fn traffic_is_treated_by_destination_in_real_time_too() {
    let bed = Bed::new(User::Own);
    let (top, _) = LAB.split_once("  - {at: 1 s").unwrap();
    let expect = "expect: [to-near.exit == 0, to-far.exit == 0, up.forward.far.packets == 5, \
                  up.forward.delay >= 5 ms, up.forward.far.delay >= 150 ms]\n";
    bed.write("treated.yaml", &format!("{top}{expect}"));
    let run = bed.netloom(&["run", "treated.yaml"]).expect_code(0);
    assert!(run.stdout.contains("up.far a>r"), "{run:#?}");
    assert_treated(&bed);
}

fn assert_treated(bed: &Bed) {
    let rows = std::fs::read_to_string(bed.latest("treated").join("pipes.csv")).unwrap();
    assert!(rows.lines().any(|row| row.starts_with("up,forward,far,a,r,")), "{rows}");
    let samples = std::fs::read_to_string(bed.latest("treated").join("samples.csv")).unwrap();
    assert!(samples.contains(",up,forward,far,") && samples.contains(",up,forward,,"), "{samples}");
}

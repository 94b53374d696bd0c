//! Faults of nodes: clocks, freezes, and signals to single processes.

use netloom_lab::{Action, ClockChange, Disturbance, LeapSecond, Plan, Standstill, Whose, parse};
use netloom_units::{Drift, Duration, SignedDuration};

fn plan(more: &str) -> Plan {
    let text = format!(
        "clock: virtual\nnodes: {{n1: {{}}, n2: {{clock: {{skew: -40 ms, drift: 200 ppm}}}}, r: {{kind: transit}}}}\n\
         links: {{a: {{ends: [n1, r]}}, b: {{ends: [n2, r]}}}}\n{more}"
    );
    parse(&text, "test.yaml").unwrap_or_else(|wrong| panic!("{wrong}")).plan
}

/// The instant of a disturbance in seconds, what it is, its target, its processes and its length.
type Disturbed = (u64, Disturbance, String, Option<String>, Option<Duration>);

fn disturbances(plan: &Plan) -> Vec<Disturbed> {
    let told = plan.timeline.iter().filter_map(|event| match &event.action {
        Action::Disturb { how, whose, process, duration } => {
            let at = event.at.unwrap_or_default().as_nanos() / 1_000_000_000;
            Some((at, *how, plan.whose_name(*whose).to_owned(), process.as_deref().map(str::to_owned), *duration))
        }
        _ => None,
    });
    told.collect()
}

#[test]
fn clocks_change_on_all_nodes_that_are_named() {
    let plan = plan(
        "timeline: [{at: 1 s, on: n*, clock: {step: -3 s, drift: 0.5 ppm, leap: delete}, every: 2 s, times: 2}]\n",
    );
    assert_eq!(
        (plan.nodes[0].clock.is_right(), plan.nodes[1].clock.skew),
        (true, SignedDuration::from_nanos(-40_000_000))
    );
    assert_eq!(plan.nodes[1].clock.drift, Drift::from_ppt(200_000_000).unwrap());
    let change = ClockChange {
        step: Some(SignedDuration::from_nanos(-3_000_000_000)),
        drift: Drift::from_ppt(500_000),
        leap: Some(LeapSecond::Delete),
    };
    let one = |at, node: &str| (at, Disturbance::Clock(change), node.to_owned(), None, None);
    assert_eq!(disturbances(&plan), [one(1, "n1"), one(1, "n2"), one(3, "n1"), one(3, "n2")]);
    let described = plan.describe();
    assert_eq!(described["nodes"][1]["clock"]["drift_ppt"], 200_000_000);
    assert_eq!(described["timeline"][0]["clock"]["step_ns"], -3_000_000_000_i64);
    assert_eq!(described["timeline"][0]["clock"]["node"], "n1");
}

#[test]
fn nodes_freeze_and_single_processes_are_signalled() {
    let plan = plan(
        "timeline:
  - {on: n1, run: ./serve, as: server, service: true}
  - {at: 5 s, freeze: [n1, n2], for: 5 s}
  - {at: 1 s, pause: server, process: \"*worker*\", for: 2 s}
  - {at: 20 s, signal: SIGHUP, to: n2, process: daemon}
",
    );
    let five = Some(Duration::from_secs(5));
    let expected = [
        (5, Disturbance::Freeze(Standstill::Pause), "n1".to_owned(), None, five),
        (5, Disturbance::Freeze(Standstill::Pause), "n2".to_owned(), None, five),
        (1, Disturbance::Pause, "server".to_owned(), Some("*worker*".to_owned()), Some(Duration::from_secs(2))),
    ];
    assert_eq!(disturbances(&plan)[..3], expected);
    assert_eq!(plan.describe()["timeline"][4]["signal"]["process"], "daemon");
    assert!(matches!(plan.timeline[3].action, Action::Disturb { whose: Whose::Command(0), .. }));
}

#[test]
fn faults_of_programs_mean_all_nodes_that_are_named_and_keep_what_is_usual() {
    let plan = plan(
        "timeline:
  - {at: 1 s, on: n*, fail: {call: [fsync, read], error: EIO, nth: 3, path: /var/*, process: 'db *'}, for: 2 s}
  - {at: 2 s, on: n1, fail: {call: write, most: 1 B, probability: 10 %, nth: 2}}
  - {at: 3 s, on: n1, fail: none}
  - {at: 4 s, on: n2, starve: {share: 10 %}, for: 50 ms}
  - {at: 5 s, on: n1, schedule: {}}
  - {at: 6 s, on: n1, oom: sleep *}
  - {at: 7 s, freeze: n1, for: 1 s, kind: stall}
",
    );
    let told: Vec<(String, String)> =
        disturbances(&plan).into_iter().map(|(_, how, node, ..)| (node, how.to_string())).collect();
    let expected = [
        ("n1", "fail {call: [read, fsync], error: EIO, nth: 3, times: 1, path: /var/*}"),
        ("n2", "fail {call: [read, fsync], error: EIO, nth: 3, times: 1, path: /var/*}"),
        ("n1", "fail {call: write, most: 1 B, nth: 2, probability: 10 %}"),
        ("n1", "fail none"),
        ("n2", "starve {share: 10 %, spans: [1 ms, 2 s]}"),
        ("n1", "schedule {priorities: random, changes: 3, within: 1000}"),
        ("n1", "oom"),
        ("n1", "freeze (stall)"),
    ];
    assert_eq!(told, expected.map(|(node, how)| (node.to_owned(), how.to_owned())));
    let all = disturbances(&plan);
    assert_eq!((all[0].3.as_deref(), all[0].4), (Some("db *"), Some(Duration::from_secs(2))));
    assert_eq!((all[6].3.as_deref(), all[6].4), (Some("sleep *"), None));
    let described = plan.describe();
    assert_eq!(described["timeline"][1]["fail"]["node"], "n2");
    assert_eq!(described["timeline"][7]["freeze"]["kind"], "stall");
}

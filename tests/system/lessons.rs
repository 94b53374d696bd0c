//! The lessons of `examples/lessons`, played by somebody who does what their tasks ask for: in virtual time, where the tasks are met at
//! the same instants on any machine.

use crate::fixture::{Fixture, User, is_root};
use serde_json::Value;

/// Plays a lesson for so long in which these things are done.
fn play(fixture: &Fixture, name: &str, text: &str, duration: &str, done: &[&str]) -> Value {
    let line = text.lines().find(|line| line.starts_with("duration:")).expect("a duration");
    let entries: String = done.iter().map(|entry| format!("  - {entry}\n")).collect();
    let played = text.replace(&format!("{line}\n"), &format!("{entries}duration: {duration}\n"));
    let file = format!("{name}.yaml");
    fixture.write(&file, &played);
    let run = fixture.netloom(&["run", &file, "--clock", "virtual", "--wall-limit", "200s"]);
    assert!(run.stdout.contains("verdict: as described"), "{run:#?}");
    let report = fixture.json(&format!("lesson-{name}"), "report.json");
    assert_eq!(fixture.json(&format!("lesson-{name}"), "exercise.json"), report["exercise"]);
    report
}

/// When each task was met, in seconds.
fn met(report: &Value) -> Vec<Option<f64>> {
    let tasks = report["exercise"]["tasks"].as_array().expect("tasks");
    tasks.iter().map(|task| task["met_ns"].as_f64().map(|ns| ns / 1e9)).collect()
}

fn fixture() -> Fixture {
    Fixture::with_kernel(if is_root() { User::Nobody } else { User::Own })
}

#[test]
fn a_queue_fills_and_codel_makes_it_short() {
    let text = include_str!("../../examples/lessons/bufferbloat.yaml");
    let fixture = fixture();
    let codel = "{at: 12 s, link: bottleneck, direction: forward, set: {queue: {kind: codel, limit: 400 packets}}}";
    let report = play(&fixture, "bufferbloat", text, "30 s", &[codel]);
    let [Some(full), Some(bloated), Some(short)] = met(&report)[..] else { panic!("{report:#}") };
    assert!(2.0 < full && full < bloated && bloated < 12.0 && 12.0 < short, "{:?}", met(&report));
    let summary = std::fs::read_to_string(fixture.latest("lesson-bufferbloat").join("summary.txt")).unwrap();
    assert!(summary.contains("met    1. See the bottleneck carry"), "{summary}");
    let events = std::fs::read_to_string(fixture.latest("lesson-bufferbloat").join("events.jsonl")).unwrap();
    assert_eq!(events.matches("\"task met\"").count(), 3, "{events}");
    // Without it, the last task is never met, and what was found says why. The same run again has the same instants.
    let without = play(&fixture, "bufferbloat", text, "12 s", &[]);
    assert_eq!(met(&without), [Some(full), Some(bloated), None], "{without:#}");
    let last = &without["exercise"]["tasks"][2];
    assert!(last["next"] == true && last["checks"][0]["explanation"].as_str().unwrap().contains("measured"), "{last}");
    fixture.assert_nothing_is_left("lesson-bufferbloat");
}

#[test]
fn a_ring_of_ospf_routers_heals() {
    let text = include_str!("../../examples/lessons/ospf.yaml");
    let fixture = fixture();
    let done = ["{at: 5 s, link: north, down: true}", "{at: 12 s, link: north, up: true}"];
    let report = play(&fixture, "ospf", text, "40 s", &done);
    let [Some(there), Some(cut), Some(round), Some(back)] = met(&report)[..] else { panic!("{report:#}") };
    assert!(there < 5.0 && 5.0 < cut && cut <= round && round < 12.0 && 12.0 < back, "{:?}", met(&report));
    fixture.assert_nothing_is_left("lesson-ospf");
}

#[test]
fn bbr_and_cubic_share_as_the_queue_wants() {
    let text = include_str!("../../examples/lessons/bbr.yaml");
    let fixture = fixture();
    let done = [
        "{at: 15 s, link: bottleneck, direction: forward, set: {queue: 600 packets}}",
        "{at: 60 s, link: bottleneck, direction: forward, set: {queue: {kind: fq_codel}}}",
    ];
    let report = play(&fixture, "bbr", text, "80 s", &done);
    let [Some(bbr), Some(cubic), Some(both)] = met(&report)[..] else { panic!("{report:#}") };
    assert!(bbr < 15.0 && 15.0 < cubic && cubic < 60.0 && 60.0 < both, "{:?}", met(&report));
    fixture.assert_nothing_is_left("lesson-bbr");
}

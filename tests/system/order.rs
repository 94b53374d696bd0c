//! What happens before what: setups, services, and commands that wait for others; and how programs end.

use crate::fixture::{Fixture, User};

const LAB: &str = "
name: order
bounds: {lateness: 10 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 10 s, starts: 60 s}
links: {l: {ends: [a, b], delay: 1 ms}}
";

/// Each command writes its name when it begins, and most when they end.
#[test]
fn setups_services_and_those_that_wait_come_in_order() {
    for user in User::some() {
        let fixture = Fixture::new(user);
        let say = |word: &str| format!("echo {word} >> trace");
        let lab = format!(
            "{LAB}
nodes:
  a: {{setup: ['sleep 0.2; {0}', [sh, -c, '{1}']]}}
  b: {{}}
setup: [{{on: b, run: '{2}'}}]
timeline:
  - {{on: b, run: '{6}', as: last, after: [load, late]}}
  - {{on: a, run: '{3}; touch up; sleep 100', as: server, ready: {{file: up}}}}
  - {{on: b, run: 'sleep 0.2; {4}', as: migration, service: once, after: server}}
  - {{on: a, run: '{5}; sleep 0.3', as: load}}
  - {{at: 100 ms, on: a, run: [sleep, '0.1'], as: late}}
expect: [last.exit == 0]
",
            say("node-1"),
            say("node-2"),
            say("lab"),
            say("server"),
            say("migration"),
            say("load"),
            say("last"),
        );
        fixture.write("order.yaml", &lab);
        fixture.netloom(&["run", "order.yaml"]).expect_code(0);
        let trace = std::fs::read_to_string(fixture.work().join("trace")).unwrap();
        let words: Vec<&str> = trace.split_whitespace().collect();
        assert_eq!(words, ["node-1", "node-2", "lab", "server", "migration", "load", "last"]);
        let rows = fixture.json("order", "commands.json");
        let row = |name: &str| rows.as_array().unwrap().iter().find(|row| row["name"] == name).unwrap().clone();
        assert!(row("migration")["end_ns"].as_i64().unwrap() < 0, "time zero waits for it");
        assert_eq!((&row("migration")["failed"], &row("server")["failed"]), (&false.into(), &false.into()));
        assert!(row("last")["start_ns"].as_i64() >= row("load")["end_ns"].as_i64());
        fixture.assert_nothing_is_left("order");
    }
}

#[test]
fn a_setup_that_fails_ends_the_run_before_any_service() {
    let fixture = Fixture::new(User::Own);
    fixture.write("order.yaml", &format!("{LAB}nodes: [a, b]\n"));
    fixture.netloom(&["run", "order.yaml", "-q"]).expect_code(0);
    let good = fixture.latest("order").canonicalize().unwrap();
    let lab = "nodes: {a: {setup: ['true', 'echo no such schema >&2; exit 3', 'touch after']}, b: {}}
timeline: [{on: b, run: 'touch served; sleep 9', as: server, service: true}]
";
    fixture.write("order.yaml", &format!("{LAB}{lab}"));
    let run = fixture.netloom(&["run", "order.yaml"]).expect_code(1);
    assert_eq!(
        fixture.latest("order").canonicalize().unwrap(),
        good,
        "a run that never began took the place of one that did"
    );
    assert!(run.stderr.contains("order.yaml:5: setup of a: `echo` ended with code 3"), "{run:#?}");
    assert!(run.stderr.contains("| no such schema"), "{run:#?}");
    assert!(!fixture.work().join("after").exists() && !fixture.work().join("served").exists());
    fixture.assert_nothing_is_left("order");
}

#[test]
fn what_waits_for_a_failure_does_not_start() {
    let fixture = Fixture::new(User::Own);
    let lab = "nodes: [a, b]
timeline:
  - {on: a, run: 'exit 4', as: load, may_fail: true}
  - {on: a, run: 'touch checked', as: check, after: load}
  - {on: a, run: 'touch reported', as: report, after: check, may_fail: true}
";
    fixture.write("order.yaml", &format!("{LAB}{lab}"));
    let run = fixture.netloom(&["run", "order.yaml", "-q"]).expect_code(1);
    assert!(run.stdout.contains("check on a: was not started: load did not succeed"), "{run:#?}");
    assert!(!run.stdout.contains("report on a"), "{run:#?}");
    assert!(!fixture.work().join("checked").exists() && !fixture.work().join("reported").exists());
}

#[test]
fn a_program_has_the_time_to_end_that_it_is_given() {
    let fixture = Fixture::new(User::Own);
    let slow = |seconds: u32| {
        format!("trap \"sleep {seconds}; exit 0\" TERM; touch up-{seconds}; while :; do sleep 0.1; done")
    };
    let lab = format!(
        "nodes: [a, b]
duration: 500 ms
timeline:
  - {{on: a, run: '{}', as: patient, ready: {{file: up-1}}, stop: 40 s}}
  - {{on: b, run: '{}', as: hasty, ready: {{file: up-40}}}}
",
        slow(1),
        slow(40),
    );
    fixture.write("order.yaml", &format!("{LAB}{lab}"));
    fixture.netloom(&["run", "order.yaml", "-q"]).expect_code(0);
    let rows = fixture.json("order", "commands.json");
    let row = |name: &str| rows.as_array().unwrap().iter().find(|row| row["name"] == name).unwrap().clone();
    assert_eq!((&row("patient")["exit_code"], &row("hasty")["signal"]), (&0.into(), &9.into()));
}

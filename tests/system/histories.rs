//! Histories: written by the programs of a node, and judged.

use crate::fixture::{Fixture, User};
use serde_json::Value;
use std::fs;

/// A client that writes 5 to a register and then reads it.
fn lab(fixture: &Fixture, history: &str, result: &str) -> String {
    let op = format!("{} op", fixture.path().join("netloom").display());
    let calls = [
        format!("{op} invoke write 5 -k x"),
        format!("{op} ok write -k x"),
        format!("{op} invoke read -k x"),
        format!("{op} ok read {result} -k x"),
    ];
    format!(
        "name: register\nnodes: {{a: {{env: {{NETLOOM_HISTORY: {history}}}}}}}\n\
         bounds: {{lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}}\n\
         timeline: [{{on: a, run: '{}', as: client}}]\n",
        calls.join(" && ")
    )
}

#[test]
fn a_program_of_a_lab_writes_a_history_that_is_judged() {
    let fixture = Fixture::new(User::some()[0]);
    for (result, verdict, code) in [("5", "valid", 0), ("null", "contradiction", 1)] {
        let history = fixture.work().join(format!("{verdict}.jsonl")).display().to_string();
        fixture.write("register.yaml", &lab(&fixture, &history, result));
        fixture.netloom(&["run", "register.yaml", "-q"]).expect_code(0);
        let check = ["history", "check", &history, "--model", "register"];
        let found = fixture.netloom(&[&check[..], &["--json"]].concat()).expect_code(code);
        let outcome: Value = serde_json::from_str(&found.stdout).unwrap();
        assert_eq!((&outcome["operations"], &outcome["verdict"]), (&2.into(), &verdict.into()));
        let drawn = fixture.netloom(&[&check[..], &["--svg", "-"]].concat()).expect_code(code);
        assert_eq!(drawn.stdout.contains("class=\"culprit\""), code == 1);
    }
}

#[test]
fn the_exit_code_tells_the_verdict_and_what_is_wrong() {
    let fixture = Fixture::new(User::some()[0]);
    let event = |rest: &str| format!("{{\"process\": 1, {rest}}}\n");
    let added = [event("\"type\": \"invoke\", \"f\": \"add\", \"value\": 1"), event("\"type\": \"ok\"")].concat();
    fixture.write("added.jsonl", &added);
    fixture.netloom(&["history", "check", "added.jsonl", "--model", "set-full"]).expect_code(9);
    fixture.netloom(&["history", "check", "added.jsonl", "--model", "set-full", "--total", "5"]).expect_code(2);
    let wrong = fixture.netloom(&["history", "check", "added.jsonl", "--model", "queue"]).expect_code(2);
    assert!(wrong.stderr.contains("added.jsonl:1: `f` is \"add\""), "{}", wrong.stderr);
    fixture.netloom(&["history", "convert", "added.jsonl", "--to", "elle", "-o", "elle.json"]).expect_code(0);
    let events: Value = serde_json::from_str(&fs::read_to_string(fixture.work().join("elle.json")).unwrap()).unwrap();
    assert_eq!(events[1]["type"], "ok");
    fixture.netloom(&["op", "invoke", "read"]).expect_code(2);
}

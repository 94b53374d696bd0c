//! Signals to single processes of commands and nodes.

use crate::fixture::{Fixture, User};
use std::fs;

/// A program with two processes, of which the timeline ends one after the other.
const LAB: &str = "
bounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}
nodes: [a, b]
links: {l: {ends: [a, b]}}
timeline:
  - on: a
    as: workers
    save: workers.txt
    env: {ONE: 6100, OTHER: 6200}
    run: sleep $ONE & one=$!; sleep $OTHER & other=$!; wait $one; echo first $?; wait $other; echo second $?
  - {at: 1 s, kill: workers, process: sleep 61*}
  - {at: 2 s, signal: SIGTERM, to: a, process: sleep 6200}
  - {at: 2 s, signal: SIGTERM, to: b, process: sleep 6200}
expect:
  - workers.exit == 0
";

#[test]
fn single_processes_are_signalled_by_their_command_lines() {
    for user in User::some() {
        let fixture = Fixture::with_kernel(user);
        fixture.write("workers.yaml", LAB);
        for clock in ["real", "virtual"] {
            let run = fixture.netloom(&["run", "workers.yaml", "--clock", clock]).expect_code(0);
            let folder = fixture.latest("workers");
            let text = fs::read_to_string(folder.join("workers.txt")).unwrap();
            assert_eq!(text, "first 137\nsecond 143\n", "{clock}");
            let events = fs::read_to_string(folder.join("events.jsonl")).unwrap();
            let told = |count: u32| events.matches(&format!("\"processes\":{count}")).count();
            assert_eq!((told(1), told(0)), (2, 1), "{clock}: {events}");
            // What reached nothing is told.
            let report = fixture.json("workers", "report.json");
            let warnings = report["warnings"].to_string();
            assert!(warnings.contains("no process of b was like `sleep 6200`"), "{clock}: {run:#?} {warnings}");
        }
        fixture.assert_nothing_is_left("workers");
    }
}

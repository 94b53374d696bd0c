//! What helps to find the cause of a failure: a debugger at an instant, and when logs grew.

use crate::fixture::{Fixture, User, not_run};
use serde_json::Value;
use std::process::Command;

/// A program whose variable says how long it has run.
const COUNTER: &str = "#include <time.h>
unsigned long turns;
__attribute__((noinline)) void step(unsigned long next) { turns = next; }
int main(void) {
    const struct timespec pause = {.tv_nsec = 10000000};
    for (;;) {
        nanosleep(&pause, 0);
        step(turns + 1);
    }
}
";

const LAB: &str = "name: bugs
clock: virtual
duration: 3 s
nodes: {a: {memory: 256 MB}, b: }
links: {l: {ends: [a, b]}}
timeline: [{on: a, run: exec ./counter, as: count, service: true}]
";

/// The debugger finds the same at the same instant in each run, and leaves the program as it was.
#[test]
fn gdb_finds_a_program_as_it_stands_at_an_instant() {
    if !Command::new("gdb").arg("--version").output().is_ok_and(|found| found.status.success()) {
        return not_run("gdb at an instant: there is no gdb on this machine (package: gdb)");
    }
    let fixture = Fixture::with_kernel(User::Own);
    let (source, program) = (fixture.write("counter.c", COUNTER), fixture.work().join("counter"));
    assert!(Command::new("cc").args(["-g", "-O0", "-o"]).arg(&program).arg(source).status().unwrap().success());
    fixture.write("bugs.yaml", LAB);
    let commands = ["print turns", "break step", "continue", "print next", "info breakpoints"];
    let said = |at: &str| {
        let mut told = vec!["run", "bugs.yaml", "--stop-at", at, "--gdb", "a:counter"];
        commands.iter().for_each(|command| told.extend(["--gdb-command", command]));
        let run = fixture.netloom(&told).expect_code(0);
        run.stdout.split_once("\ngdb\n").map(|(_, said)| said.to_owned()).unwrap_or_else(|| panic!("{run:#?}"))
    };
    let value = |said: &str, name: &str| {
        let line = said.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_else(|| panic!("{said}"));
        line.trim().parse::<u64>().unwrap_or_else(|error| panic!("{error}: {said}"))
    };
    let first = said("1.5s");
    // Each turn takes 10 ms and a little more, by which the kernel's timers are late.
    let turns = value(&first, "$1 =");
    assert!((130..150).contains(&turns), "{first}");
    assert_eq!(value(&first, "$2 ="), turns + 1, "{first}");
    assert!(first.contains("breakpoint already hit 1 time"), "{first}");
    assert_eq!(said("1.5s"), first);
    assert!(value(&said("1.2s"), "$1 =") < turns);
    let missing = fixture.netloom(&["run", "bugs.yaml", "--stop-at", "1s", "--gdb", "a:nothing-like-it"]);
    assert!(missing.stdout.contains("no program matches nothing-like-it"), "{missing:#?}");
    let refused = fixture.netloom(&["run", "bugs.yaml", "--stop-at", "1s", "--gdb", "counter"]).expect_code(2);
    assert!(refused.stderr.contains("write NODE:PATTERN"), "{refused:#?}");
    fixture.assert_nothing_is_left("bugs");
}

/// The lines of `log-times.jsonl`: the number of the command, its stream, the time, and the length.
fn grown(fixture: &Fixture) -> Vec<(u64, String, u64, u64)> {
    let text = std::fs::read_to_string(fixture.latest("grows").join("log-times.jsonl")).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let number = |line: &Value, key: &str| line[key].as_u64().unwrap_or_else(|| panic!("{line}"));
    lines
        .map(|line| {
            let stream = line["stream"].as_str().unwrap().to_owned();
            (number(&line, "number"), stream, number(&line, "time_ns"), number(&line, "bytes"))
        })
        .collect()
}

/// A node's output comes at the end of a synchronization round of 10 ms, and is looked at once in each.
#[test]
fn a_journal_comes_with_the_times_at_which_logs_grew() {
    let fixture = Fixture::with_kernel(User::Own);
    let lab = "name: grows
clock: virtual
nodes: [a, b]
links: {l: {ends: [a, b]}}
journal: all
timeline:
  - {on: a, run: 'echo one; sleep 1.5; echo three; echo four >&2', as: talk}
  - {at: 700 ms, on: b, run: 'echo from b', as: other}
";
    fixture.write("grows.yaml", lab);
    fixture.netloom(&["run", "grows.yaml", "-q"]).expect_code(0);
    let first = grown(&fixture);
    let wanted = [(0, "stdout", 0, 4), (1, "stdout", 700, 7), (0, "stdout", 1_500, 10), (0, "stderr", 1_500, 5)];
    assert_eq!(first.len(), wanted.len(), "{first:?}");
    for ((number, stream, time, bytes), (own, of, least_ms, length)) in first.iter().zip(wanted) {
        assert_eq!((*number, &**stream, *bytes), (own, of, length), "{first:?}");
        assert!((least_ms..least_ms + 50).contains(&(time / 1_000_000)), "{first:?}");
    }
    fixture.netloom(&["run", "grows.yaml", "-q"]).expect_code(0);
    assert_eq!(grown(&fixture), first, "they are the same in every run");
    // Without a journal nobody looks.
    fixture.write("grows.yaml", &lab.replace("journal: all\n", ""));
    fixture.netloom(&["run", "grows.yaml", "-q"]).expect_code(0);
    assert!(!fixture.latest("grows").join("log-times.jsonl").exists());
    fixture.assert_nothing_is_left("grows");
}

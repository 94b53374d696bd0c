//! What helps to find the cause of a failure: a debugger at an instant, and when logs grew.

use crate::fixture::{Fixture, User, not_run};
use netloom_host::terminal::{Pty, open_pty};
use serde_json::Value;
use std::fs::File;
use std::io::{Read, Write};
use std::process::{Command, Stdio};

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

/// A fixture with the lab and its program; none if there is no gdb.
fn with_counter() -> Option<Fixture> {
    if !Command::new("gdb").arg("--version").output().is_ok_and(|found| found.status.success()) {
        not_run("gdb at an instant: there is no gdb on this machine (package: gdb)");
        return None;
    }
    let fixture = Fixture::with_kernel(User::Own);
    let (source, program) = (fixture.write("counter.c", COUNTER), fixture.work().join("counter"));
    assert!(Command::new("cc").args(["-g", "-O0", "-o"]).arg(&program).arg(source).status().unwrap().success());
    fixture.write("bugs.yaml", LAB);
    Some(fixture)
}

/// The number behind these words at the start of a line.
fn value(said: &str, name: &str) -> u64 {
    let line = said.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_else(|| panic!("{said}"));
    line.trim().parse().unwrap_or_else(|error| panic!("{error}: {said}"))
}

/// The debugger finds the same at the same instant in each run, and leaves the program as it was.
#[test]
fn gdb_finds_a_program_as_it_stands_at_an_instant() {
    let Some(fixture) = with_counter() else { return };
    let commands = ["print turns", "break step", "continue", "print next", "info breakpoints"];
    let said = |at: &str| {
        let mut told = vec!["run", "bugs.yaml", "--stop-at", at, "--gdb", "a:counter"];
        commands.iter().for_each(|command| told.extend(["--gdb-command", command]));
        let run = fixture.netloom(&told).expect_code(0);
        run.stdout.split_once("\ngdb\n").map(|(_, said)| said.to_owned()).unwrap_or_else(|| panic!("{run:#?}"))
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

/// How fast commands come changes nothing: lab time stands between them.
#[test]
fn a_talk_with_gdb_is_the_same_in_each_run() {
    let Some(fixture) = with_counter() else { return };
    let talk = |pause_ms: u64| {
        let told = ["run", "bugs.yaml", "--stop-at", "1.5s", "--gdb", "a:counter", "--gdb-command", "-"];
        let mut command = fixture.command(&told);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        for line in [
            "print turns",
            "break step",
            "continue",
            "print next",
            "ignore 1 20",
            "continue",
            "print next",
            "info breakpoints",
        ] {
            std::thread::sleep(std::time::Duration::from_millis(pause_ms));
            writeln!(input, "{line}").unwrap();
        }
        drop(input);
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{text} {}", String::from_utf8_lossy(&output.stderr));
        let (said, report) = text.rsplit_once("(gdb) ").unwrap_or_else(|| panic!("{text}"));
        assert!(report.contains("as described"), "the run came to its end: {text}");
        said.to_owned()
    };
    let first = talk(0);
    let values: Vec<u64> = (1..=3).map(|number| value(&first, &format!("(gdb) ${number} ="))).collect();
    assert!((130..=151).contains(&values[0]), "{first}");
    assert_eq!(values, [values[0], values[0] + 1, values[0] + 22], "{first}");
    assert!(first.contains("breakpoint already hit 22 times"), "{first}");
    assert_eq!(talk(100), first);
    // A run whose debugger could not be started does not stand for ever.
    for (place, why) in [("nowhere:counter", "nowhere"), ("a:nothing-like-it", "no program matches nothing-like-it")] {
        let told = ["run", "bugs.yaml", "--stop-at", "1.5s", "--gdb", place, "--gdb-command", "-"];
        let run = fixture.netloom(&told).expect_code(0);
        assert!(format!("{} {}", run.stdout, run.stderr).contains(why), "{run:#?}");
    }
    fixture.assert_nothing_is_left("bugs");
}

/// Reads from a terminal until `wanted` appears.
fn read_until(terminal: &mut File, wanted: &str) -> String {
    let (mut shown, mut buffer) = (String::new(), [0; 4096]);
    while !shown.contains(wanted) {
        let length = terminal.read(&mut buffer).unwrap_or(0);
        assert!(length > 0, "the terminal was closed before it showed {wanted:?}: {shown}");
        shown.push_str(&String::from_utf8_lossy(&buffer[..length]));
    }
    shown
}

/// Ctrl-C ends the run, whatever gdb does.
#[test]
fn a_user_at_a_terminal_talks_to_gdb() {
    let Some(fixture) = with_counter() else { return };
    // It would be over while the test looks away.
    fixture.write("bugs.yaml", &LAB.replace("duration: 3 s", "duration: 1000 s"));
    let Pty { master, slave } = open_pty().unwrap();
    let mut command =
        fixture.command(&["run", "bugs.yaml", "--stop-at", "1.5s", "--gdb", "a:counter", "--wall-limit", "200s"]);
    command.stdin(slave.try_clone().unwrap()).stdout(slave.try_clone().unwrap()).stderr(slave);
    let mut child = command.spawn().unwrap();
    drop(command);
    let mut terminal = File::from(master);
    read_until(&mut terminal, "(gdb) ");
    terminal.write_all(b"print turns > 100\n").unwrap();
    read_until(&mut terminal, "$1 = 1");
    terminal.write_all(b"break step\n").unwrap();
    read_until(&mut terminal, "Breakpoint 1 at");
    terminal.write_all(b"continue\n").unwrap();
    read_until(&mut terminal, "step (next=1");
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(child.id().cast_signed()), nix::sys::signal::Signal::SIGINT)
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
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

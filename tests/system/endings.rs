//! Runs that are ended by their user.

use crate::bed::{Bed, Finished, User};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

const LONG: &str = "
name: long
nodes: [a, b]
links: {l: {ends: [a, b], delay: 1 ms}}
timeline:
  - {on: b, run: sleep 1000, as: service, service: true}
  - {on: a, run: ping -i 0.1 b, as: ping, save: ping.txt}
  - {on: a, run: trap '' TERM; sleep 1000, as: stubborn}
";

/// Starts a run and returns when its timeline plays.
fn start(bed: &Bed) -> Child {
    bed.write("long.yaml", LONG);
    let mut command = bed.command(&["run", "long.yaml"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.as_mut().unwrap()).lines();
    let running = lines.find(|line| line.as_ref().is_ok_and(|text| text.contains("stubborn started")));
    assert!(running.is_some());
    std::thread::sleep(Duration::from_millis(500));
    child
}

fn send(child: &Child, signal: Signal) {
    kill(Pid::from_raw(child.id().cast_signed()), signal).unwrap();
}

#[test]
fn an_interrupted_run_leaves_complete_results() {
    for (user, signal) in User::all().into_iter().zip([Signal::SIGINT, Signal::SIGTERM]) {
        let bed = Bed::new(user);
        let child = start(&bed);
        let begun = Instant::now();
        send(&child, signal);
        Finished::of(&child.wait_with_output().unwrap()).expect_code(130);
        // The stubborn program has a second of grace, and would sleep for a thousand.
        assert!(begun.elapsed() < Duration::from_secs(100), "it took {:?}", begun.elapsed());
        let report = bed.json("long", "report.json");
        assert_eq!(report["interrupted"], true);
        assert!(report["pipes"][0]["departed_packets"].as_u64().unwrap() > 2);
        assert!(std::fs::read_to_string(bed.latest("long").join("ping.txt")).unwrap().contains("64 bytes from"));
        for file in ["provenance.json", "lab.yaml", "pipes.csv", "commands.json", "verdict.json", "summary.txt"] {
            assert!(bed.latest("long").join(file).exists(), "{file}");
        }
        bed.assert_nothing_is_left("long");
        assert!(bed.runtime_files().is_empty());
    }
}

#[test]
fn a_second_interruption_kills_at_once() {
    let bed = Bed::new(User::Own);
    let child = start(&bed);
    let begun = Instant::now();
    send(&child, Signal::SIGINT);
    std::thread::sleep(Duration::from_millis(100));
    send(&child, Signal::SIGINT);
    Finished::of(&child.wait_with_output().unwrap()).expect_code(130);
    assert!(begun.elapsed() < Duration::from_millis(900), "it took {:?}", begun.elapsed());
    bed.assert_nothing_is_left("long");
}

#[test]
fn a_run_can_be_taken_down_from_elsewhere() {
    let bed = Bed::new(User::Own);
    let child = start(&bed);
    bed.netloom(&["down", "long"]).expect_code(0);
    Finished::of(&child.wait_with_output().unwrap()).expect_code(130);
    assert_eq!(bed.json("long", "report.json")["interrupted"], true);
}

#[test]
fn a_run_that_is_stopped_and_continued_goes_on() {
    let bed = Bed::new(User::Own);
    let child = start(&bed);
    send(&child, Signal::SIGSTOP);
    std::thread::sleep(Duration::from_millis(500));
    bed.netloom(&["exec", "long", "a", "--", "ping", "-c", "1", "b"]).expect_code(0);
    send(&child, Signal::SIGCONT);
    send(&child, Signal::SIGINT);
    Finished::of(&child.wait_with_output().unwrap()).expect_code(130);
    bed.assert_nothing_is_left("long");
}

#[test]
fn the_duration_ends_a_run_and_what_still_runs_is_no_failure() {
    let bed = Bed::new(User::Own);
    bed.write(
        "long.yaml",
        &format!("{LONG}duration: 1 s\nbounds: {{lateness: 100 s, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}}\n"),
    );
    bed.netloom(&["run", "long.yaml", "-q"]).expect_code(0);
    let report = bed.json("long", "report.json");
    assert_eq!(report["interrupted"], false);
    let seconds = report["duration_ns"].as_f64().unwrap() / 1e9;
    assert!((1.0..100.0).contains(&seconds), "{seconds}");
    bed.assert_nothing_is_left("long");
}

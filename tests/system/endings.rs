//! Runs that are ended by their user.

use crate::fixture::{Finished, Fixture, User};
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::signal::{Signal, kill};
use nix::sys::stat::Mode;
use nix::unistd::{Pid, mkfifo};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::OpenOptionsExt;
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

/// Starts a run and returns when its timeline runs.
fn start(fixture: &Fixture) -> Child {
    fixture.write("long.yaml", LONG);
    let mut command = fixture.command(&["run", "long.yaml"]);
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
        let fixture = Fixture::new(user);
        let child = start(&fixture);
        let begun = Instant::now();
        send(&child, signal);
        Finished::of(&child.wait_with_output().unwrap()).expect_code(130);
        // The stubborn program has a second of grace, and would sleep for a thousand.
        assert!(begun.elapsed() < Duration::from_secs(100), "it took {:?}", begun.elapsed());
        let report = fixture.json("long", "report.json");
        assert_eq!(report["interrupted"], true);
        assert!(report["pipes"][0]["departed_packets"].as_u64().unwrap() > 2);
        assert!(fs::read_to_string(fixture.latest("long").join("ping.txt")).unwrap().contains("64 bytes from"));
        for file in ["provenance.json", "lab.yaml", "pipes.csv", "commands.json", "verdict.json", "summary.txt"] {
            assert!(fixture.latest("long").join(file).exists(), "{file}");
        }
        fixture.assert_nothing_is_left("long");
        assert!(fixture.runtime_files().is_empty());
    }
}

/// A run that reads its kernel from a pipe stays in its first moments until that has a writer that ends.
#[test]
fn a_run_that_is_interrupted_before_there_is_a_lab_prints_its_document() {
    let fixture = Fixture::new(User::Own);
    fixture.write("long.yaml", &LONG.replace("[a, b]\nlinks", "{a: {stack: kernel}, b: {}}\nlinks"));
    let kernel = fixture.work().join("kernel");
    mkfifo(&kernel, Mode::S_IRUSR | Mode::S_IWUSR).unwrap();
    let mut command = fixture.command(&["run", "long.yaml", "--json"]);
    let child = command.env("NETLOOM_KERNEL", &kernel).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    let writer = loop {
        match fs::File::options().write(true).custom_flags(OFlag::O_NONBLOCK.bits()).open(&kernel) {
            Ok(writer) => break writer,
            Err(error) => assert!(begun.elapsed() < Duration::from_secs(100), "nobody reads the kernel: {error}"),
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    send(&child, Signal::SIGINT);
    drop(writer);
    let run = Finished::of(&child.wait_with_output().unwrap()).expect_code(130);
    let document: serde_json::Value = serde_json::from_str(&run.stdout).expect("a document");
    assert_eq!((&document["exit_code"], &document["interrupted"]), (&130.into(), &true.into()));
    assert!(fixture.runtime_files().is_empty());
}

#[test]
fn a_second_interruption_kills_the_programs_and_keeps_the_results() {
    let fixture = Fixture::new(User::Own);
    let child = start(&fixture);
    send(&child, Signal::SIGINT);
    std::thread::sleep(Duration::from_millis(100));
    send(&child, Signal::SIGINT);
    Finished::of(&child.wait_with_output().unwrap()).expect_code(130);
    assert_eq!(fixture.json("long", "report.json")["interrupted"], true);
    let commands = fixture.json("long", "commands.json");
    let stubborn = commands.as_array().unwrap().iter().find(|row| row["name"] == "stubborn").unwrap();
    // It had a second of grace, but for the second interruption.
    let lasted =
        stubborn["end_ns"].as_i64().unwrap() - fixture.json("long", "report.json")["duration_ns"].as_i64().unwrap();
    assert!(lasted < 1_000_000_000, "{lasted}");
    fixture.assert_nothing_is_left("long");
}

/// Whoever ends a whole group of processes, or is asked twice itself, may send it twice.
#[test]
fn a_second_request_to_terminate_loses_nothing() {
    let fixture = Fixture::new(User::Own);
    let child = start(&fixture);
    for _ in 0..3 {
        send(&child, Signal::SIGTERM);
        std::thread::sleep(Duration::from_millis(50));
        send(&child, Signal::SIGHUP);
    }
    Finished::of(&child.wait_with_output().unwrap()).expect_code(130);
    assert_eq!(fixture.json("long", "report.json")["interrupted"], true);
    assert!(fixture.latest("long").join("summary.txt").exists());
    fixture.assert_nothing_is_left("long");
    assert!(fixture.runtime_files().is_empty());
}

const TALKATIVE: &str = "
name: talkative
bounds: {lateness: 10 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 10 s, starts: 60 s}
nodes: [a, b]
links: {l: {ends: [a, b], delay: 1 ms}}
duration: 1 s
timeline:
  - {on: a, run: 'true'}
";

/// A lab that tells of forty changes, more than a full pipe takes.
fn talkative(fixture: &Fixture) {
    let change = |number: u32| format!("  - {{at: {} ms, link: l, set: {{delay: {number} ms}}}}\n", 10 * number);
    fixture.write("talkative.yaml", &format!("{TALKATIVE}{}", (1..=40).map(change).collect::<String>()));
}

#[test]
fn a_reader_that_does_not_read_keeps_nothing_waiting() {
    let fixture = Fixture::new(User::Own);
    talkative(&fixture);
    let (_unread, mut full) = std::io::pipe().unwrap();
    fcntl(&full, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).unwrap();
    while full.write(&[b'x'; 512]).is_ok() {}
    fcntl(&full, FcntlArg::F_SETFL(OFlag::empty())).unwrap();
    let run = fixture.netloom_telling(full.into(), &["run", "talkative.yaml"]).expect_code(0);
    assert!(run.stdout.contains("verdict: as described"), "{run:#?}");
    assert_eq!(fixture.json("talkative", "report.json")["events"]["link_changes"]["count"], 40);
    fixture.assert_nothing_is_left("talkative");
    assert!(fixture.runtime_files().is_empty());
}

#[test]
fn a_reader_that_has_gone_ends_nothing() {
    for quiet in [false, true] {
        let fixture = Fixture::new(User::Own);
        talkative(&fixture);
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let options: &[&str] = if quiet { &["run", "talkative.yaml", "-q"] } else { &["run", "talkative.yaml"] };
        let run = fixture.netloom_telling(writer.into(), options).expect_code(0);
        assert!(run.stdout.contains("verdict: as described"), "{run:#?}");
        fixture.assert_nothing_is_left("talkative");
        assert!(fixture.runtime_files().is_empty());
    }
    // What is refused is refused with its own code, whoever hears it.
    let fixture = Fixture::new(User::Own);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    fixture.netloom_telling(writer.into(), &["run", "missing.yaml"]).expect_code(3);
}

#[test]
fn results_that_grow_beyond_a_limit_are_told_of() {
    let fixture = Fixture::new(User::Own);
    talkative(&fixture);
    let limited = ["sh", "-c", "ulimit -f 4; exec \"$@\"", "sh"];
    let run = fixture.wrapped(&limited, &["run", "talkative.yaml"]).expect_code(6);
    assert!(run.stderr.contains("File too large"), "{run:#?}");
    fixture.assert_nothing_is_left("talkative");
    assert!(fixture.runtime_files().is_empty());
}

/// As `netloom stats LAB --json | head -1` does.
#[test]
fn statistics_end_with_their_reader() {
    let fixture = Fixture::new(User::Own);
    let child = start(&fixture);
    for arguments in [&["stats", "long", "--json"][..], &["stats", "long"]] {
        let mut stats = fixture.command(arguments).stdout(Stdio::piped()).spawn().unwrap();
        let mut reader = BufReader::new(stats.stdout.take().unwrap());
        reader.read_line(&mut String::new()).unwrap();
        drop(reader);
        let begun = Instant::now();
        let ended = loop {
            match stats.try_wait().unwrap() {
                Some(status) => break status,
                None => assert!(begun.elapsed() < Duration::from_secs(30), "it goes on without a reader"),
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        assert_eq!(ended.code(), Some(0));
    }
    send(&child, Signal::SIGINT);
    Finished::of(&child.wait_with_output().unwrap()).expect_code(130);
}

#[test]
fn a_run_can_be_taken_down_from_elsewhere() {
    let fixture = Fixture::new(User::Own);
    let child = start(&fixture);
    fixture.netloom(&["down", "long"]).expect_code(0);
    Finished::of(&child.wait_with_output().unwrap()).expect_code(130);
    assert_eq!(fixture.json("long", "report.json")["interrupted"], true);
}

#[test]
fn a_run_that_is_stopped_and_continued_goes_on() {
    let fixture = Fixture::new(User::Own);
    let child = start(&fixture);
    send(&child, Signal::SIGSTOP);
    std::thread::sleep(Duration::from_millis(500));
    fixture.netloom(&["exec", "long", "a", "--", "ping", "-c", "1", "b"]).expect_code(0);
    send(&child, Signal::SIGCONT);
    send(&child, Signal::SIGINT);
    Finished::of(&child.wait_with_output().unwrap()).expect_code(130);
    fixture.assert_nothing_is_left("long");
}

#[test]
fn the_duration_ends_a_run_and_what_still_runs_is_no_failure() {
    let fixture = Fixture::new(User::Own);
    fixture.write(
        "long.yaml",
        &format!("{LONG}duration: 1 s\nbounds: {{lateness: 100 s, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}}\n"),
    );
    fixture.netloom(&["run", "long.yaml", "-q"]).expect_code(0);
    let report = fixture.json("long", "report.json");
    assert_eq!(report["interrupted"], false);
    let seconds = report["duration_ns"].as_f64().unwrap() / 1e9;
    assert!((1.0..100.0).contains(&seconds), "{seconds}");
    fixture.assert_nothing_is_left("long");
}

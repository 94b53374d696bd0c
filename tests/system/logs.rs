//! What programs wrote, and what a run says when it fails.

use crate::fixture::{Finished, Fixture, User};
use crate::wait::wait_until;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

const LAB: &str = "
bounds: {lateness: 10 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 10 s, starts: 60 s}
nodes: [a, b]
links: {l: {ends: [a, b], delay: 1 ms}}
";

/// The one document on standard output.
#[track_caller]
fn document(run: &Finished) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:#?}"))
}

#[test]
fn what_failed_is_quoted_and_no_terminal_obeys_it() {
    let fixture = Fixture::new(User::Own);
    let timeline = r#"timeline:
  - {on: a, run: 'for i in 1 2 3 4 5 6 7; do echo "line $i" >&2; done; printf "\033[2Jgone\n" >&2; exit 3', as: load}
  - {on: b, run: 'echo well >&2', as: good}
  - {on: b, run: 'echo no such table >&2; sleep 0.1', as: db, service: true}
  - {on: a, run: sleep 0.5}
"#;
    fixture.write("words.yaml", &format!("{LAB}{timeline}"));
    for quiet in [false, true] {
        let options: &[&str] = if quiet { &["run", "words.yaml", "-q"] } else { &["run", "words.yaml"] };
        let run = fixture.netloom(options).expect_code(1);
        let lines: Vec<&str> = run.stdout.lines().map(str::trim).collect();
        let failed = lines.iter().position(|line| line.starts_with("failed  load")).unwrap();
        assert_eq!(lines[failed + 1..failed + 6], ["| line 4", "| line 5", "| line 6", "| line 7", r"| \u{1b}[2Jgone"]);
        assert!(run.stdout.contains("| no such table") && !run.stdout.contains("| well"), "{run:#?}");
    }
    let report = fixture.json("words", "report.json");
    let tail = |name: &str| {
        let row = report["commands"].as_array().unwrap().iter().find(|row| row["name"] == name).unwrap();
        row["stderr_tail"].clone()
    };
    assert_eq!(tail("load").as_array().unwrap().len(), 5);
    assert_eq!((tail("db"), tail("good")), (serde_json::json!(["no such table"]), Value::Null));
}

/// A script that asks for the document gets it, with the same members, whatever goes wrong.
#[test]
fn the_document_comes_whatever_fails() {
    let fixture = Fixture::new(User::Own);
    let error = |name: &str, text: &str, code: i32, wanted: &str| {
        fixture.write(name, text);
        let run = fixture.netloom(&["run", name, "--json"]).expect_code(code);
        let report = document(&run);
        assert_eq!(report["exit_code"], code, "{report:#}");
        let said = report["error"].as_str().unwrap();
        assert!(said.contains(wanted) && !said.contains('\u{1b}'), "{said}");
        assert!(run.stderr.contains(wanted), "{run:#?}");
        assert!(report["commands"].is_array() && report["verdict"]["as_described"].is_null(), "{report:#}");
        report
    };
    let wrong = error("wrong.yaml", "nodes: [a]\nlinks: {l: {ends: [a, z]}}\n", 3, "wrong.yaml:2");
    assert!(wrong["results"].is_null());
    let missing = format!("{LAB}timeline: [{{on: a, run: no-such-program}}]\n");
    error("missing.yaml", &missing, 4, "no-such-program");
    let setup = format!("{LAB}setup: [{{on: a, run: 'echo no such schema >&2; exit 3', as: schema}}]\n");
    let report = error("setup.yaml", &setup, 1, "no such schema");
    assert_eq!(report["commands"][0]["stderr_tail"][0], "no such schema");
    let kept = std::fs::read_to_string(format!("{}/report.json", report["results"].as_str().unwrap())).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&kept).unwrap(), report);
    let unclocked =
        fixture.netloom(&["run", "missing.yaml", "--json", "--clock", "virtual", "--auto-dilate"]).expect_code(2);
    assert!(document(&unclocked)["error"].as_str().unwrap().contains("--auto-dilate"), "{unclocked:#?}");
    let no_kernel = ["run", "setup.yaml", "--json", "--clock", "virtual", "--kernel", "/nowhere/linux"];
    let no_kernel = fixture.netloom(&no_kernel).expect_code(4);
    assert!(document(&no_kernel)["error"].as_str().unwrap().contains("/nowhere/linux"), "{no_kernel:#?}");
    let absent = fixture.netloom(&["run", "absent.yaml", "--json"]).expect_code(3);
    assert!(document(&absent)["error"].as_str().unwrap().contains("absent.yaml"), "{absent:#?}");
}

const DAY: &str = "
bounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}
nodes: {a: {collect: [/var/data/kept], files: {/var/data: empty}}, b: {}}
links: {l: {ends: [a, b], delay: 1 ms}}
capture: [l]
timeline:
  - {on: b, run: 'echo up; echo trouble >&2; touch said; while ! test -e die; do sleep 0.05; done; echo out of luck >&2; exit 7', as: web, ready: {file: said}}
  - {on: a, run: 'while :; do echo tick; sleep 0.05; done', as: clock, service: true}
  - {on: b, run: 'true', as: never}
";

/// What `netloom ps --json` says of the services of the only lab.
fn services(fixture: &Fixture) -> Value {
    let listed = fixture.netloom(&["ps", "--json"]).expect_code(0);
    document(&listed)[0]["services"].clone()
}

#[test]
fn a_lab_that_is_up_keeps_results_and_is_judged_when_it_is_taken_down() {
    for user in User::some() {
        let fixture = Fixture::new(user);
        fixture.write("day.yaml", DAY);
        fixture.netloom(&["up", "day.yaml"]).expect_code(0);
        fixture
            .netloom(&["exec", "day", "a", "--", "sh", "-c", "ping -c 2 -i 0.1 b; echo kept > /var/data/kept"])
            .expect_code(0);
        let down = fixture.netloom(&["down"]).expect_code(0);
        assert!(down.stdout.contains("verdict: as described"), "{down:#?}");
        let report = fixture.json("day", "report.json");
        assert_eq!((&report["exit_code"], &report["interrupted"]), (&0.into(), &false.into()));
        assert!(report["pipes"][0]["departed_packets"].as_u64().unwrap() >= 2, "{report:#}");
        assert_eq!(report["commands"].as_array().unwrap().len(), 2, "the timeline belongs to runs: {report:#}");
        assert_eq!(fixture.json("day", "provenance.json")["mode"], "up");
        let folder = fixture.latest("day");
        assert_eq!(std::fs::read_to_string(folder.join("nodes/a/var/data/kept")).unwrap(), "kept\n");
        assert!(std::fs::metadata(folder.join("captures/l.pcapng")).unwrap().len() > 500);
        assert!(std::fs::read_to_string(folder.join("events.jsonl")).unwrap().contains("it was taken down"));
        assert!(std::fs::read_to_string(folder.join("summary.txt")).unwrap().contains("verdict: as described"));
        fixture.assert_nothing_is_left("day");
        assert!(fixture.runtime_files().is_empty());
    }
}

#[test]
fn a_service_that_dies_is_seen_and_fails_the_lab() {
    let fixture = Fixture::new(User::Own);
    fixture.write("day.yaml", DAY);
    fixture.netloom(&["up", "day.yaml", "-q"]).expect_code(0);
    assert_eq!((&services(&fixture)[0]["state"], &services(&fixture)[1]["name"]), (&"ready".into(), &"clock".into()));
    fixture.write("die", "");
    while services(&fixture)[0]["state"] != "dead" {}
    let dead = &services(&fixture)[0];
    assert_eq!((&dead["exit_code"], &dead["signal"]), (&7.into(), &Value::Null));
    assert!(dead["ended_since_ns"].is_u64());
    let listed = fixture.netloom(&["ps"]).expect_code(0);
    assert!(listed.stdout.contains("2, 1 dead"), "{listed:#?}");
    assert!(listed.stdout.contains("day: service web on b is dead: exit 7, "), "{listed:#?}");
    let down = fixture.netloom(&["down", "day"]).expect_code(1);
    assert!(down.stdout.contains("failed  web on b: exit 7 before the run was over"), "{down:#?}");
    // Whether a kernel has sent something of itself since time zero is chance; without that, nothing was judged.
    assert!(down.stdout.contains("| out of luck") && !down.stdout.contains("NOT as described"), "{down:#?}");
    assert_eq!(fixture.json("day", "report.json")["exit_code"], 1);
    fixture.assert_nothing_is_left("day");
}

#[test]
fn a_network_that_was_not_as_described_is_five_when_it_is_taken_down() {
    let fixture = Fixture::new(User::Own);
    fixture.write("day.yaml", &DAY.replace("lateness: 100 s", "lateness: 1 ns"));
    fixture.netloom(&["up", "day.yaml", "-q"]).expect_code(0);
    fixture.netloom(&["exec", "day", "a", "--", "ping", "-c", "5", "-i", "0.05", "b"]).expect_code(0);
    let down = fixture.netloom(&["down"]).expect_code(5);
    assert!(down.stdout.contains("verdict: NOT as described: l "), "{down:#?}");
}

/// Whoever ends it, and however.
#[test]
fn a_lab_that_is_up_and_ended_by_others_keeps_its_results() {
    let fixture = Fixture::new(User::Own);
    fixture.write("day.yaml", DAY);
    for (victim, signal, code) in
        [("guard_pid", Signal::SIGTERM, 0), ("guard_pid", Signal::SIGKILL, 0), ("lab_pid", Signal::SIGKILL, 8)]
    {
        fixture.netloom(&["up", "day.yaml", "-q"]).expect_code(0);
        let state = std::fs::read_to_string(fixture.path().join("runtime/netloom/day/lab.json")).unwrap();
        let state: Value = serde_json::from_str(&state).unwrap();
        kill(Pid::from_raw(i32::try_from(state[victim].as_i64().unwrap()).unwrap()), signal).unwrap();
        fixture.assert_nothing_is_left("day");
        let report = fixture.json("day", "report.json");
        assert_eq!(report["exit_code"], code, "{victim} {signal}: {report:#}");
        assert_eq!(report["error"].is_string(), code == 8, "{report:#}");
        // Of a lab that died nothing was judged, nor of one that carried nothing.
        assert_ne!(report["verdict"]["as_described"], code != 0);
    }
    assert!(fixture.netloom(&["ps"]).expect_code(0).stdout.is_empty());
}

#[test]
fn what_programs_wrote_is_shown_and_followed() {
    for user in User::some() {
        let fixture = Fixture::new(user);
        fixture.write("day.yaml", DAY);
        fixture.netloom(&["up", "day.yaml", "-q"]).expect_code(0);
        while fixture.netloom(&["logs", "day", "clock"]).expect_code(0).stdout.is_empty() {}
        let all = fixture.netloom(&["logs", "day", "web"]).expect_code(0);
        assert_eq!(all.stdout, "web on b | up\nweb on b ! trouble\n");
        let errors = fixture.netloom(&["logs", "day", "b", "--only", "stderr"]).expect_code(0);
        assert_eq!(errors.stdout, "web on b ! trouble\n");
        let one = fixture.netloom(&["logs", "--tail", "1"]).expect_code(0);
        assert_eq!(one.stdout, "web on b   | up\nweb on b   ! trouble\nclock on a | tick\n");
        let wrong = fixture.netloom(&["logs", "day", "wed"]).expect_code(7);
        assert!(wrong.stderr.contains("`wed`: there are web on b, clock on a"), "{wrong:#?}");

        // One that is interrupted ends itself alone, one without a reader too, and one goes on to the lab's end.
        let follow = |arguments: &[&str]| {
            let mut command = fixture.command(&[&["logs", "day", "--follow"], arguments].concat());
            command.stdout(Stdio::piped()).spawn().unwrap()
        };
        let mut interrupted = follow(&[]);
        kill(Pid::from_raw(interrupted.id().cast_signed()), Signal::SIGTERM).unwrap();
        interrupted.wait().unwrap();
        let mut unread = follow(&["clock"]);
        drop(unread.stdout.take());
        assert_eq!(unread.wait().unwrap().code(), Some(0));
        let mut followed = follow(&["--tail", "0"]);
        let mut lines = BufReader::new(followed.stdout.as_mut().unwrap()).lines();
        let tick = lines.next().unwrap().unwrap();
        assert_eq!(tick, "clock on a | tick");
        fixture.write("die", "");
        assert!(lines.any(|line| line.unwrap() == "web on b   ! out of luck"));
        fixture.netloom(&["down"]).expect_code(1);
        assert!(lines.all(|line| line.unwrap().ends_with("tick")));
        assert_eq!(followed.wait().unwrap().code(), Some(0));

        // What has ended can be read in its results.
        let gone = fixture.netloom(&["logs", "day"]).expect_code(7);
        assert!(gone.stderr.contains("netloom logs results/day/latest"), "{gone:#?}");
        let kept = fixture.netloom(&["logs", "results/day/latest", "web", "--follow"]).expect_code(0);
        assert_eq!(kept.stdout, "web on b | up\nweb on b ! trouble\nweb on b ! out of luck\n");
        fixture.netloom(&["logs", "results/day"]).expect_code(7);
        fixture.assert_nothing_is_left("day");
    }
}

#[test]
fn a_run_shows_what_programs_write() {
    let fixture = Fixture::new(User::Own);
    let timeline = "timeline:
  - {on: a, run: 'echo one; sleep 0.3; echo two >&2; printf three', as: said}
  - {on: b, run: sleep 0.5, as: sleeper}
";
    fixture.write("said.yaml", &format!("{LAB}{timeline}"));
    for options in [&["--follow"][..], &["-f", "-q"], &["-f", "--json"]] {
        let run = fixture.netloom(&[&["run", "said.yaml"], options].concat()).expect_code(0);
        for line in ["said on a    | one\n", "said on a    ! two\n", "said on a    | three\n"] {
            assert_eq!(run.stderr.matches(line).count(), 1, "{run:#?}");
            assert!(!run.stdout.contains(line), "{run:#?}");
        }
        assert_eq!(run.stderr.contains("said started"), options.len() == 1, "{run:#?}");
    }
    assert!(!fixture.netloom(&["run", "said.yaml"]).expect_code(0).stderr.contains("said on a"));
}

/// Half a million lines that nobody reads until the lab is gone: it ended as soon as it would have without.
#[test]
fn a_reader_that_does_not_read_what_programs_write_keeps_no_lab_waiting() {
    let fixture = Fixture::new(User::Own);
    let timeline = "timeline: [{on: a, run: 'yes | head -c 1000000', as: flood}]\n";
    fixture.write("flood.yaml", &format!("{LAB}{timeline}"));
    let mut run =
        fixture.command(&["run", "flood.yaml", "-f"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("the end of a lab that waits for no reader", || {
        fixture.latest("flood").join("summary.txt").exists() && fixture.runtime_files().is_empty()
    });
    assert!(run.try_wait().unwrap().is_none(), "there is more to be read");
    let lines = BufReader::new(run.stderr.take().unwrap()).lines();
    assert_eq!(lines.filter(|line| line.as_ref().is_ok_and(|text| text == "flood on a | y")).count(), 500_000);
    Finished::of(&run.wait_with_output().unwrap()).expect_code(0);
}

#[test]
fn programs_in_virtual_time_are_read_in_the_same_way() {
    let fixture = Fixture::with_kernel(User::Own);
    let timeline = "clock: virtual
timeline: [{on: a, run: 'echo one; sleep 100; echo two >&2; exit 2', as: said}]
";
    fixture.write("said.yaml", &format!("{LAB}{timeline}"));
    let run = fixture.netloom(&["run", "said.yaml", "-f", "-q"]).expect_code(1);
    assert!(run.stderr.contains("said on a | one\n") && run.stderr.contains("said on a ! two\n"), "{run:#?}");
    assert!(run.stdout.contains("        | two\n"), "{run:#?}");
    let kept = fixture.netloom(&["logs", "results/said/latest", "a"]).expect_code(0);
    assert_eq!(kept.stdout, "said on a | one\nsaid on a ! two\n");
}

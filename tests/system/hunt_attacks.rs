//! Attacks on a hunt: it is killed at any moment, others have its names and its disk, and what it starts does not end.

use crate::fixture::{Fixture, User, is_root, not_run};
use crate::kills::sweep;
use crate::wait::wait_until;
use netloom_testing::chance::Chance;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::Instant;

/// A run takes half a second, and one in a few has each of the failures.
const LAB: &str = "
name: cheap
clock: virtual
duration: 3 s
nodes: [a, b]
links: {l: {ends: [a, b], delay: 1 ms}}
timeline:
  - {at: 500 ms, on: a, run: ping -c 1 -W 1 b, as: early, may_fail: true}
  - {at: 1500 ms, on: a, run: ping -c 1 -W 1 b, as: late, may_fail: true}
hunt:
  faults: {cut: on, partition: on}
  quiet: 500 ms
  always: [early.exit == 0, late.exit == 0]
";
/// The folder of a finding has these files.
const OF_A_FINDING: [&str; 8] = [
    "finding.json",
    "finding.txt",
    "choices.json",
    "cause.svg",
    "minimal.yaml",
    "original.yaml",
    "minimal/report.json",
    "original/report.json",
];

fn fixture() -> Fixture {
    let fixture = Fixture::with_kernel(User::Own);
    fixture.write("cheap.yaml", LAB);
    fixture
}

/// The arguments of a hunt that goes on in this folder.
fn hunt<'a>(out: &'a str, runs: &'a str) -> [&'a str; 13] {
    let bounds = ["--shrink-runs", "8", "--moment", "2s"];
    let [shrink, most, moment, time] = bounds;
    ["hunt", "cheap.yaml", "-o", out, "--runs", runs, "--json", "--resume", "-q", shrink, most, moment, time]
}

fn document(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The failures of the findings in a document.
fn failures(document: &Value) -> BTreeSet<String> {
    document["findings"].as_array().unwrap().iter().map(|finding| finding["failure"].to_string()).collect()
}

fn start(fixture: &Fixture, out: &str, runs: &str) -> Child {
    fixture.command(&hunt(out, runs)).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Looks at what a hunt that was killed has left: the failures of its findings, each of which is complete, and the lines of its runs, all but the
/// last whole.
fn look(out: &Path, what: &str) -> (BTreeSet<String>, usize) {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(out.join("findings")).into_iter().flatten().flatten() {
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        let home = entry.path();
        for name in OF_A_FINDING {
            assert!(home.join(name).exists(), "{what}: {} has no {name}", home.display());
        }
        let record = document(&fs::read_to_string(home.join("finding.json")).unwrap());
        found.insert(record["failure"].to_string());
    }
    let runs = fs::read_to_string(out.join("runs.jsonl")).unwrap_or_default();
    let whole: Vec<&str> = runs.split_inclusive('\n').filter(|line| line.ends_with('\n')).collect();
    whole.iter().for_each(|line| drop(document(line)));
    (found, whole.len())
}

#[test]
fn a_hunt_that_is_killed_at_many_moments_loses_no_finding() {
    let fixture = fixture();
    let begun = Instant::now();
    let undisturbed = document(&fixture.netloom(&hunt("undisturbed", "12")).expect_code(1).stdout);
    let length = begun.elapsed();
    assert_eq!(failures(&undisturbed).len(), 2, "{undisturbed:#}");
    let rounds = if std::env::var_os("NETLOOM_TEST_ALL").is_some() { 40 } else { 5 };
    let out = fixture.work().join("killed");
    let (mut chance, mut known) = (Chance::new(1), (BTreeSet::new(), 0));
    for round in 0..rounds {
        // A hunt that goes on has less to do than a whole one.
        let moment = chance.span(if round % 2 == 0 { length } else { length / 3 });
        let mut child = start(&fixture, "killed", "12");
        sleep(moment);
        // Every other time all that it has started is killed as well, in one blow.
        let others = if round % 2 == 0 { Vec::new() } else { fixture.processes() };
        child.kill().unwrap();
        for pid in &others {
            // It may have ended meanwhile.
            let _ = kill(Pid::from_raw(*pid), Signal::SIGKILL);
        }
        child.wait().unwrap();
        let what = format!("round {round}: killed after {moment:?}, with {} others", others.len());
        eprintln!("{what}");
        sweep(&fixture, &others);
        fixture.assert_nothing_is_left("cheap-h00");
        let left = look(&out, &what);
        assert!(left.0.is_superset(&known.0) && left.1 >= known.1, "{what}: {known:?}, then {left:?}");
        known = left;
    }
    let ended = document(&fixture.netloom(&hunt("killed", "12")).expect_code(1).stdout);
    assert_eq!((failures(&ended), &ended["runs"]), (failures(&undisturbed), &12.into()), "{ended:#}");
    assert_eq!(ended["error_count"], 0, "{ended:#}");
    look(&out, "in the end");
    assert!(!out.join("work").exists() && !out.join("findings/.unfinished").exists());
}

#[test]
fn a_failure_that_was_seen_while_another_was_shrunk_survives_a_kill() {
    let fixture = fixture();
    let both =
        document(&fixture.netloom(&[&hunt("out", "6")[..], &["--findings", "1"]].concat()).expect_code(1).stdout);
    assert_eq!(failures(&both).len(), 1, "{both:#}");
    // As if the run had failed in one way alone, and its shrinking had shown the other one.
    let out = fixture.work().join("out");
    let lines = fs::read_to_string(out.join("runs.jsonl")).unwrap();
    let mut lines: Vec<Value> = lines.lines().map(document).collect();
    let failed = lines.iter_mut().find(|line| line.get("failures").is_some()).unwrap();
    let (first, choices) = (failed["failures"][0].clone(), failed["choices"].clone());
    let other = first.to_string().replace("early", "other").replace("late", "other");
    failed["failures"] = Value::Array(vec![first]);
    fs::write(out.join("runs.jsonl"), lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    let place = out.join("findings/0001/choices.json");
    let mut kept = document(&fs::read_to_string(&place).unwrap());
    kept["others"] = serde_json::json!([[document(&other), choices]]);
    fs::write(place, kept.to_string()).unwrap();
    let resumed =
        document(&fixture.netloom(&[&hunt("out", "6")[..], &["--findings", "2"]].concat()).expect_code(1).stdout);
    assert!(failures(&resumed).contains(&document(&other).to_string()), "{resumed:#}");
    fixture.assert_nothing_is_left("cheap-h00");
}

#[test]
fn hunts_of_one_lab_are_in_nobodys_way() {
    let fixture = fixture();
    // Whoever has the name of its labs, for however long.
    fixture.write("taken.yaml", "name: cheap-h00\nnodes: [a, b]\nlinks: {l: {ends: [a, b]}}\n");
    fixture.netloom(&["up", "taken.yaml", "-q"]).expect_code(0);
    let found = document(&fixture.netloom(&[&hunt("alone", "4")[..], &["-j", "1"]].concat()).expect_code(1).stdout);
    assert_eq!((&found["runs"], &found["error_count"]), (&4.into(), &0.into()), "{found:#}");
    let mut other = start(&fixture, "other", "4");
    let beside = document(&fixture.netloom(&hunt("beside", "4")).expect_code(1).stdout);
    assert_eq!(other.wait().unwrap().code(), Some(1));
    let written = document(&fs::read_to_string(fixture.work().join("other/hunt.json")).unwrap());
    for own in [&beside, &written] {
        assert_eq!((failures(own), &own["error_count"]), (failures(&found), &0.into()), "{own:#}");
    }
    // A finding can be played meanwhile: its lab has a name that no hunt takes.
    let minimal = fs::read_to_string(fixture.work().join("alone/findings/0001/minimal.yaml")).unwrap();
    assert!(minimal.contains("cheap-h99"), "{minimal}");
    fixture.netloom(&["down", "cheap-h00"]).expect_code(0);
    fixture.assert_nothing_is_left("cheap-h00");
}

#[test]
fn a_checker_that_never_ends_dies_with_its_hunt() {
    let fixture = fixture();
    fixture.write("cheap.yaml", &LAB.replace("[early.exit == 0, ", "[{command: sleep 1234 & sleep 1235}, "));
    let mut child = start(&fixture, "out", "4");
    let sleeps = || {
        let named = |pid: &i32| {
            fs::read_to_string(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line.contains("sleep\x00123"))
        };
        fixture.processes().iter().filter(|pid| named(pid)).count()
    };
    wait_until("the checker", || sleeps() >= 2);
    child.kill().unwrap();
    child.wait().unwrap();
    fixture.assert_nothing_is_left("cheap-h00");
}

#[test]
fn a_full_disk_ends_a_hunt_and_loses_nothing() {
    if !is_root() {
        return not_run("a hunt on a full disk, which only root mounts");
    }
    let fixture = fixture();
    fs::create_dir(fixture.work().join("disk")).unwrap();
    // Room for the first runs, and none for their results.
    let script = "mount -t tmpfs -o size=SIZE none disk || exit 90
        \"$0\" \"$@\" >full.json 2>full.txt; echo $? >full.code
        mount -o remount,size=200m disk || exit 90
        \"$0\" \"$@\"";
    for size in ["64k", "512k"] {
        let own = script.replace("SIZE", size);
        let arguments = hunt("disk/out", "12");
        let resumed = fixture.wrapped(&["unshare", "-m", "sh", "-c", &own], &arguments).expect_code(1);
        let read = |name: &str| fs::read_to_string(fixture.work().join(name)).unwrap();
        assert_eq!(read("full.code").trim(), "6", "{size}: {}", read("full.txt"));
        assert!(read("full.txt").contains("No space left on device"), "{size}: {}", read("full.txt"));
        let found = document(&resumed.stdout);
        assert_eq!(
            (failures(&found).len(), &found["runs"], &found["error_count"]),
            (2, &12.into(), &0.into()),
            "{found:#}"
        );
    }
    fixture.assert_nothing_is_left("cheap-h00");
}

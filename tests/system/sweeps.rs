//! Sweeps: many runs of one file, whatever ends them.

use crate::fixture::{Fixture, User};
use crate::wait::wait_until;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::Duration;

const VIRTUAL: &str = "
name: pings
clock: virtual
vary:
  count: [2, 3]
  delay: {path: links.l.delay, values: [5 ms, 10 ms]}
repeat: 2
figures: {time: ping.duration, packets: l.forward.packets}
nodes: [a, b]
links: {l: {ends: [a, b], forward: {loss: 1 %}}}
timeline: [{on: a, run: 'ping -c ${count} -i 0.1 b', as: ping, may_fail: true}]
";

/// Runs that last a moment, next to one another.
const SLOW: &str = "
name: naps
bounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}
sweep: {processors: 1}
vary: {nap: [0.1, 0.2, 30, 0.3]}
nodes: [a]
timeline: [{on: a, run: 'sleep ${nap}', as: nap}]
";

fn table(fixture: &Fixture, folder: &str, name: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(fixture.work().join(folder).join(name)).unwrap();
    text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

fn document(fixture: &Fixture, folder: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(fixture.work().join(folder).join("sweep.json")).unwrap()).unwrap()
}

/// What does not tell of wall time.
fn timeless(mut rows: Vec<Vec<String>>) -> Vec<Vec<String>> {
    let gone: Vec<usize> =
        ["wall_s", "results"].iter().filter_map(|name| rows[0].iter().position(|cell| cell == name)).collect();
    for row in &mut rows {
        gone.iter().for_each(|place| row[*place].clear());
    }
    rows
}

#[test]
fn a_sweep_in_virtual_time_is_the_same_twice() {
    let fixture = Fixture::with_kernel(User::Own);
    fixture.write("pings.yaml", VIRTUAL);
    let first = fixture.netloom(&["sweep", "pings.yaml", "-o", "first"]).expect_code(0);
    assert!(first.stdout.contains("8 runs: 8 as described, 0 not, 0 failed"), "{first:#?}");
    let rows = table(&fixture, "first", "runs.csv");
    assert_eq!(rows.len(), 9);
    assert_eq!(&rows[8][..6], ["8", "4", "2", rows[2][3].as_str(), "3", "10 ms"], "repetitions share seeds");
    fixture.netloom(&["sweep", "pings.yaml", "-o", "second", "--jobs", "3", "-q"]).expect_code(0);
    assert_eq!(timeless(rows), timeless(table(&fixture, "second", "runs.csv")));
    assert_eq!(table(&fixture, "first", "points.csv"), table(&fixture, "second", "points.csv"));
    assert_eq!(document(&fixture, "first")["points"][3]["figures"]["time"]["n"], 2);
    // What lies beside a run is what was run.
    let played = fixture.work().join("first/runs/pings-0008/lab.yaml");
    fixture.netloom(&["run", &played.to_string_lossy(), "-q"]).expect_code(0);
    fixture.assert_nothing_is_left("pings-0008");
}

#[test]
fn a_sweep_is_checked_before_it_begins() {
    let fixture = Fixture::new(User::Own);
    fixture.write(
        "wrong.yaml",
        "vary: {rate: {path: links.l.rate, values: [1 Mbit/s, 2 Mbps]}}\nnodes: [a, b]\nlinks: {l: {ends: [a, b]}}\n",
    );
    let refused = fixture.netloom(&["sweep", "wrong.yaml"]).expect_code(3);
    assert!(refused.stderr.contains("at the point rate=2 Mbps"), "{refused:#?}");
    fixture.write("many.yaml", "vary: {n: {from: 1, to: 2000, step: 1}}\nnodes: {a: {env: {N: '${n}'}}}\n");
    let asked = fixture.netloom(&["sweep", "many.yaml"]).expect_code(2);
    assert!(asked.stderr.contains("this file describes 2000 runs: --yes runs them"), "{asked:#?}");
    let list = fixture.netloom(&["sweep", "many.yaml", "--list"]).expect_code(0);
    assert_eq!(list.stdout.lines().count(), 2001, "{list:#?}");
    assert!(!fixture.work().join("sweeps").exists(), "no run was started");
}

#[test]
fn a_run_that_fails_is_alone_in_that() {
    let fixture = Fixture::new(User::Own);
    let text = SLOW.replace("[0.1, 0.2, 30, 0.3]", "[0.1, 30]");
    fixture.write("naps.yaml", &text);
    let limit = ["--wall-limit", "5 s"];
    let sweep = |more: &[&str]| fixture.netloom(&[&["sweep", "naps.yaml", "-o", "out"], &limit[..], more].concat());
    let first = sweep(&[]).expect_code(124);
    assert!(first.stdout.contains("2 runs: 1 as described, 0 not, 1 failed"), "{first:#?}");
    assert!(first.stdout.contains("not counted: naps-0002: it took longer than --wall-limit"), "{first:#?}");
    let runs = table(&fixture, "out", "runs.csv");
    assert_eq!(runs[2][5..7], ["failed", "124"]);
    let second = sweep(&["--resume"]).expect_code(124);
    assert!(second.stderr.contains("2 of 2 runs have ended already, 1 of them without a verdict"), "{second:#?}");
    assert_eq!(table(&fixture, "out", "runs.csv"), runs, "it is not played again unasked");
    let others = sweep(&[]).expect_code(2);
    assert!(others.stderr.contains("holds a sweep already"), "{others:#?}");
    sweep(&["--retry"]).expect_code(124);
    // What differs is named.
    fixture.write("naps.yaml", &text.replace("30", "31"));
    let refused = sweep(&["--resume"]).expect_code(2);
    assert!(refused.stderr.contains("what differs: `vary.nap[1]`"), "{refused:#?}");
    fixture.assert_nothing_is_left("naps-0002");
}

fn start(fixture: &Fixture, more: &[&str]) -> Child {
    let mut command = fixture.command(&[&["sweep", "naps.yaml", "-o", "out"], more].concat());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn records(fixture: &Fixture) -> Vec<PathBuf> {
    let runs = fixture.work().join("out/runs");
    let folders = fs::read_dir(runs).map(|all| all.map(|one| one.unwrap().path().join("run.json")).collect());
    let mut found: Vec<PathBuf> = folders.unwrap_or_default();
    found.retain(|path| path.exists());
    found
}

/// Waits until all that is short has ended, and the long run goes on.
fn until_only_the_long_one_is_left(fixture: &Fixture) {
    wait_until("all short runs", || records(fixture).len() >= 3);
    sleep(Duration::from_millis(500));
}

/// The exit code, standard output and standard error.
fn ended(child: Child) -> (Option<i32>, String, String) {
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_sweep_that_is_killed_goes_on() {
    let fixture = Fixture::new(User::Own);
    fixture.write("naps.yaml", SLOW);
    let mut killed = start(&fixture, &[]);
    until_only_the_long_one_is_left(&fixture);
    let busy = fixture.netloom(&["sweep", "naps.yaml", "-o", "out", "--resume"]).expect_code(7);
    assert!(busy.stderr.contains("another process runs the sweep"), "{busy:#?}");
    killed.kill().unwrap();
    killed.wait().unwrap();
    let before = records(&fixture);
    // The long one is cut short for this test.
    let resumed = ended(start(&fixture, &["--resume", "--wall-limit", "5 s"]));
    assert_eq!(resumed.0, Some(124), "{resumed:#?}");
    assert!(resumed.1.contains("4 runs: 3 as described, 0 not, 1 failed"), "{resumed:#?}");
    assert!(before.iter().all(|path| records(&fixture).contains(path)));
    fixture.assert_nothing_is_left("naps-0003");
}

#[test]
fn a_sweep_that_is_interrupted_says_how_to_go_on() {
    let fixture = Fixture::new(User::Own);
    fixture.write("naps.yaml", SLOW);
    let sweep = start(&fixture, &[]);
    until_only_the_long_one_is_left(&fixture);
    kill(Pid::from_raw(i32::try_from(sweep.id()).unwrap()), Signal::SIGINT).unwrap();
    let sweep = ended(sweep);
    assert_eq!(sweep.0, Some(130), "{sweep:#?}");
    assert!(sweep.2.contains("1 of 4 runs left; to continue: netloom sweep naps.yaml"), "{sweep:#?}");
    assert_eq!(document(&fixture, "out")["complete"], false);
    assert!(!fixture.work().join("out/runs/naps-0003/run.json").exists());
    fixture.assert_nothing_is_left("naps-0003");
}

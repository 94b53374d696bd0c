//! Whatever is killed, and whenever: nothing is left behind.

use crate::fixture::{Fixture, User, children, is_root, lab_of};
use crate::wait::wait_until;
use netloom_testing::chance::Chance;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

const LAB: &str = "
name: victim
bounds: {lateness: 100 s}
nodes: {a: NODE, r: {kind: router}, b: {}}
links: {l: {ends: [a, r], delay: 1 ms}, m: {ends: [r, b], rate: 10 Mbit/s}}
timeline:
  - {on: b, run: sleep 1000, as: service, service: true}
  - {on: a, run: ping -c 4 -i 0.05 b}
  - {on: a, run: trap '' TERM; sleep 1000, as: stubborn, for: 100 ms}
";

/// Who is killed.
#[derive(Clone, Copy, Debug)]
enum Victim {
    /// The process that the user started.
    Guard,
    /// The process in which the lab lives.
    Lab,
    /// A node's first process.
    Node(usize),
    /// Guard and lab in one blow: then the next netloom command removes what nobody could.
    Both,
}

const VICTIMS: [Victim; 5] = [Victim::Guard, Victim::Lab, Victim::Node(0), Victim::Both, Victim::Node(2)];

fn write_lab(fixture: &Fixture) {
    // Only root has cgroups on every machine.
    let node = if is_root() && fixture.user() == User::Own { "{cpus: 0.5}" } else { "{}" };
    fixture.write("victim.yaml", &LAB.replace("NODE", node));
}

fn start(fixture: &Fixture) -> Child {
    fixture.command(&["run", "victim.yaml"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Kills the victim, or whoever is there in its place so early; who was killed.
fn strike(victim: Victim, guard: i32) -> Vec<i32> {
    let lab = lab_of(guard);
    let targets = match (victim, lab) {
        (Victim::Guard, _) | (_, None) => vec![guard],
        (Victim::Lab, Some(lab)) => vec![lab],
        (Victim::Node(number), Some(lab)) => vec![children(lab).get(number).copied().unwrap_or(lab)],
        (Victim::Both, Some(lab)) => vec![guard, lab],
    };
    for pid in &targets {
        // One that has ended meanwhile needs no killing. The guard is our child, and nobody else reaps it.
        let _ = kill(Pid::from_raw(*pid), Signal::SIGKILL);
    }
    targets
}

/// How long a whole run takes when nobody is killed.
fn length_of_a_run(fixture: &Fixture) -> Duration {
    let begun = Instant::now();
    assert!(start(fixture).wait().unwrap().code().is_some());
    begun.elapsed()
}

/// The next netloom command removes what is left when nobody could. It sees that a lab is dead when the kernel has
/// ended the last of its threads, which takes it a moment.
pub(crate) fn sweep(fixture: &Fixture, killed: &[i32]) {
    wait_until("the end of what was killed", || !killed.iter().any(|pid| is_dying(*pid)));
    fixture.netloom(&["ps"]).expect_code(0);
}

/// Whether a process that was killed still has a thread besides what is left for its parent to reap.
fn is_dying(pid: i32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let threads = fs::read_dir(format!("/proc/{pid}/task")).map_or(0, Iterator::count);
    threads > 1 || (threads == 1 && !status.contains("State:\tZ"))
}

fn kill_at_many_moments(user: User, times: usize, seed: u64) {
    let fixture = Fixture::new(user);
    write_lab(&fixture);
    let length = length_of_a_run(&fixture);
    let mut chance = Chance::new(seed);
    for round in 0..times {
        // Set-up takes some tens of milliseconds; it is as interesting as all the rest.
        let span = if round % 2 == 0 { Duration::from_millis(60) } else { length };
        let (moment, victim) = (chance.span(span), VICTIMS[round % VICTIMS.len()]);
        let mut child = start(&fixture);
        sleep(moment);
        let killed = strike(victim, child.id().cast_signed());
        let code = child.wait().unwrap().code();
        let what = format!("round {round}: {victim:?} killed after {moment:?}");
        eprintln!("{what}");
        let is_set_up = round % 2 == 0;
        if is_set_up && !killed.contains(&child.id().cast_signed()) {
            assert_eq!(code, Some(8), "{what}");
        }
        if matches!(victim, Victim::Both) {
            sweep(&fixture, &killed);
        }
        fixture.assert_nothing_is_left("victim");
        fixture.netloom(&["ps"]).expect_code(0);
        assert!(fixture.runtime_files().is_empty(), "{what}: {:?}", fixture.runtime_files());
    }
}

#[test]
fn a_kill_at_any_moment_leaves_nothing_behind() {
    for (user, seed) in User::all().into_iter().zip([1, 2]) {
        kill_at_many_moments(user, 30, seed);
    }
}

#[test]
fn a_killed_node_ends_the_run_with_eight_and_keeps_its_results() {
    // The lab is to be up when its node is killed.
    let fixture = Fixture::new(User::Own).alone();
    write_lab(&fixture);
    fixture.write("long.yaml", &LAB.replace("NODE", "{}").replace("-c 4 -i 0.05", "-i 0.05"));
    let mut child =
        fixture.command(&["run", "long.yaml"]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    sleep(Duration::from_millis(700));
    strike(Victim::Node(1), child.id().cast_signed());
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(8));
    let stderr = std::io::read_to_string(child.stderr.take().unwrap()).unwrap();
    assert!(stderr.contains("the init process of node `r` was killed"), "{stderr}");
    assert_eq!(fixture.json("victim", "report.json")["exit_code"], 8);
    fixture.assert_nothing_is_left("victim");
}

#[test]
fn a_lab_that_is_up_survives_no_kill_either() {
    let fixture = Fixture::new(User::Own);
    write_lab(&fixture);
    for victim in [Victim::Guard, Victim::Lab, Victim::Node(1), Victim::Both] {
        fixture.netloom(&["up", "victim.yaml", "-q"]).expect_code(0);
        let labs: serde_json::Value = serde_json::from_str(&fixture.netloom(&["ps", "--json"]).stdout).unwrap();
        let guard = i32::try_from(labs[0]["pid"].as_i64().unwrap()).unwrap();
        let killed = strike(victim, guard);
        if matches!(victim, Victim::Both) {
            sweep(&fixture, &killed);
        }
        fixture.assert_nothing_is_left("victim");
        fixture.netloom(&["ps"]).expect_code(0);
        assert!(fixture.runtime_files().is_empty(), "{victim:?}");
    }
}

//! Labs in virtual time that cannot go on: each ends by itself, says why, and leaves nothing behind but its results.

use crate::fixture::{Finished, Fixture, User, lab_of};
use crate::wait::wait_until;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Nothing here takes a second on an idle machine; what should not end would take hours.
const PATIENCE: Duration = Duration::from_secs(100);

/// A lab of three kernels that is busy for hours of lab time.
const BUSY: &str = "
name: busy
clock: virtual
nodes: {a: {}, r: {kind: router}, b: {}}
links: {l: {ends: [a, r], rate: 10 Mbit/s, delay: 1 ms}, m: {ends: [r, b], delay: 1 ms}}
timeline:
  - {on: b, run: iperf3 -s, as: sink, ready: {tcp: 5201}}
  - {on: a, run: ping -4 -i 0.1 b, as: ping, save: ping.txt}
  - {on: a, run: iperf3 -c b -t 80000, as: transfer}
";

fn start(fixture: &Fixture, text: &str) -> Child {
    fixture.write("lab.yaml", text);
    fixture.command(&["run", "lab.yaml"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Starts the lab and returns when its ping has been answered a few times.
fn start_busy(fixture: &Fixture) -> Child {
    let child = start(fixture, BUSY);
    let log = fixture.latest("busy").join("logs/02-a-ping.stdout");
    wait_until("a ping", || fs::read_to_string(&log).is_ok_and(|text| text.contains("icmp_seq=3")));
    child
}

fn send(pid: i32, signal: Signal) {
    kill(Pid::from_raw(pid), signal).unwrap();
}

/// What there is of the results of a run that failed.
fn assert_results_so_far(fixture: &Fixture, lab: &str, code: i32) {
    assert_eq!(fixture.json(lab, "report.json")["exit_code"], code);
    for file in ["provenance.json", "lab.yaml", "pipes.csv", "samples.csv", "commands.json", "verdict.json"] {
        assert!(fixture.latest(lab).join(file).exists(), "{file}");
    }
}

fn assert_nothing_is_left(fixture: &Fixture, lab: &str) {
    fixture.assert_nothing_is_left(lab);
    fixture.netloom(&["ps"]).expect_code(0);
    assert!(fixture.runtime_files().is_empty(), "{:?}", fixture.runtime_files());
}

#[test]
fn a_killed_kernel_ends_the_run_with_eight_and_keeps_its_results() {
    for user in User::some() {
        let fixture = Fixture::with_kernel(user);
        let child = start_busy(&fixture);
        let kernels = fixture.kernels();
        assert_eq!(kernels.len(), 3, "{kernels:?}");
        send(kernels[1], Signal::SIGKILL);
        let run = Finished::of(&child.wait_with_output().unwrap()).expect_code(8);
        // The scheduler sees that it has hung up; whoever waits for its end, which may be seen first, by what.
        let told = ["ended unexpectedly", "was ended by signal 9"].map(|end| format!("node `r`: its kernel {end}"));
        assert!(told.iter().any(|end| run.stderr.contains(end)), "{}", run.stderr);
        assert!(run.stderr.contains("results so far: "), "{}", run.stderr);
        assert_results_so_far(&fixture, "busy", 8);
        assert!(fixture.json("busy", "pipes.json")[0]["departed_packets"].as_u64().unwrap() > 10);
        assert_nothing_is_left(&fixture, "busy");
    }
}

#[test]
fn a_kernel_that_panics_ends_the_run_and_shows_its_last_words() {
    // Whoever kills the first process of a kernel, or takes all its memory, has it panic.
    for (clock, victim) in [("virtual", "a"), ("virtual", "b"), ("{dilation: 2}", "b")] {
        let fixture = Fixture::with_kernel(User::Own);
        let lab = format!(
            "name: panics\nclock: {clock}\nnodes: {{a: {{memory: 64 MB}}, b: {{memory: 64 MB}}}}\n\
             links: {{l: {{ends: [a, b], delay: 1 ms}}}}\nduration: 20 s\ntimeline:\n\
             \x20 - {{on: a, run: ping -4 -i 0.1 b, as: ping}}\n\
             \x20 - {{at: 500 ms, on: {victim}, run: 'echo 1 > /proc/sys/vm/panic_on_oom; tail /dev/zero', as: glutton}}\n"
        );
        let run = Finished::of(&start(&fixture, &lab).wait_with_output().unwrap()).expect_code(8);
        assert!(run.stderr.contains(&format!("node `{victim}`")), "{}", run.stderr);
        assert!(run.stderr.contains("panic"), "{}", run.stderr);
        assert_results_so_far(&fixture, "panics", 8);
        assert_nothing_is_left(&fixture, "panics");
    }
}

#[test]
fn a_kernel_that_stands_still_is_named() {
    let fixture = Fixture::with_kernel(User::Own);
    let child = start_busy(&fixture);
    let kernels = fixture.kernels();
    send(kernels[2], Signal::SIGSTOP);
    let run = Finished::of(&child.wait_with_output().unwrap()).expect_code(8);
    assert!(run.stderr.contains("node `b`: its kernel neither computes nor answers"), "{}", run.stderr);
    assert_results_so_far(&fixture, "busy", 8);
    assert_nothing_is_left(&fixture, "busy");
}

/// Interrupts a run, and says how long it took to end.
fn interrupt(fixture: &Fixture, child: Child) -> Duration {
    let begun = Instant::now();
    send(child.id().cast_signed(), Signal::SIGINT);
    Finished::of(&child.wait_with_output().unwrap()).expect_code(130);
    let took = begun.elapsed();
    fixture.assert_nothing_is_left("busy");
    took
}

#[test]
fn an_interruption_ends_a_long_run() {
    for user in User::some() {
        let fixture = Fixture::with_kernel(user);
        let child = start_busy(&fixture);
        let took = interrupt(&fixture, child);
        assert!(took < PATIENCE, "it took {took:?}");
        assert_eq!(fixture.json("busy", "report.json")["interrupted"], true);
        assert_results_so_far(&fixture, "busy", 130);
        assert!(fs::read_to_string(fixture.latest("busy").join("logs/02-a-ping.stdout")).unwrap().contains("64 bytes"));
    }
}

/// A program that computes for ever keeps lab time from going on, and the user from nothing.
#[test]
fn an_interruption_ends_a_run_whose_program_computes_for_ever() {
    let fixture = Fixture::with_kernel(User::Own);
    let child =
        start(&fixture, &format!("{BUSY}  - {{at: 1 s, on: b, run: 'echo here; while :; do :; done', as: spin}}\n"));
    let log = fixture.latest("busy").join("logs/04-b-spin.stdout");
    wait_until("the loop", || log.exists());
    sleep(Duration::from_millis(500));
    let took = interrupt(&fixture, child);
    assert!(took < PATIENCE, "it took {took:?}");
    assert_results_so_far(&fixture, "busy", 130);
    let commands = fixture.json("busy", "commands.json");
    let spin = commands.as_array().unwrap().iter().find(|row| row["name"] == "spin").unwrap();
    assert_eq!((&spin["interrupted"], &spin["failed"]), (&true.into(), &false.into()), "{spin}");
    assert!(spin["start_ns"].as_u64().is_some_and(|start| start >= 1_000_000_000), "{spin}");
    let summary = fs::read_to_string(fixture.latest("busy").join("summary.txt")).unwrap();
    let row = summary.lines().find(|line| line.contains("spin")).unwrap();
    assert!(row.starts_with("cut short") && row.ends_with("interrupted"), "{row}");
    assert!(summary.contains("not judged: the rest of the run, which was interrupted after"), "{summary}");
}

#[test]
fn an_interruption_ends_the_boot() {
    let fixture = Fixture::with_kernel(User::Own);
    let child = start(&fixture, BUSY);
    wait_until("a boot", || !fixture.kernels().is_empty());
    let took = interrupt(&fixture, child);
    assert!(took < PATIENCE, "it took {took:?}");
    assert_nothing_is_left(&fixture, "busy");
}

#[test]
fn a_run_that_would_wait_for_ever_ends() {
    let fixture = Fixture::with_kernel(User::Own);
    let lab = "
name: idle
clock: virtual
nodes: [a, b]
links: {l: {ends: [a, b], delay: 1 ms}}
timeline:
  - {on: a, run: sleep infinity, as: sleeper}
  - {on: b, run: 'mkfifo /tmp/never; cat /tmp/never', as: reader}
  - {on: b, run: 'true', as: short}
";
    let run = Finished::of(&start(&fixture, lab).wait_with_output().unwrap()).expect_code(8);
    assert!(run.stderr.contains("nothing will ever happen again"), "{}", run.stderr);
    assert!(run.stderr.contains("`sleeper`, `reader`;"), "{}", run.stderr);
    assert_results_so_far(&fixture, "idle", 8);
    assert_nothing_is_left(&fixture, "idle");
}

#[test]
fn a_kill_at_any_moment_leaves_nothing_behind() {
    for user in User::some() {
        let fixture = Fixture::with_kernel(user);
        // From the first moments of the boot to the middle of the transfer.
        for (round, ms) in [20, 150, 400, 900, 60, 1_300].into_iter().enumerate() {
            let mut child = start(&fixture, BUSY);
            sleep(Duration::from_millis(ms));
            let guard = child.id().cast_signed();
            let lab = lab_of(guard);
            let targets: Vec<i32> = match (round % 3, lab) {
                (1, Some(lab)) => vec![lab],
                (2, Some(lab)) => vec![guard, lab],
                _ => vec![guard],
            };
            targets.iter().for_each(|pid| send(*pid, Signal::SIGKILL));
            child.wait().unwrap();
            fixture.assert_nothing_is_left("busy");
            // What nobody could remove, the next command does.
            fixture.netloom(&["ps"]).expect_code(0);
            assert!(fixture.runtime_files().is_empty(), "round {round}, {ms} ms: {:?}", fixture.runtime_files());
        }
    }
}

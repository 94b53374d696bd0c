//! More than the machine, or a node, can take: it is counted, it turns the verdict, and nothing grows or dies of it.

use crate::fixture::{Finished, Fixture, User, lab_of};
use crate::wait::wait_until;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::fs;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

/// What a busy machine does to small labs is not looked at here.
const LENIENT: &str =
    "bounds: {lateness: 100 s, rate: 90 %, delay: 90 %, starvation: 100 %, events: 10 s, starts: 60 s}";

/// A flood of small packets from `a` to `b`; `c` says little.
fn flood(link: &str, more: &str) -> String {
    format!(
        "name: flood
{LENIENT}
nodes: [a, b, c]
links: {{l: {{ends: [a, b]{link}}}, m: {{ends: [a, c]}}}}
timeline:
  - {{on: b, run: iperf3 -s, as: server, service: true, ready: {{tcp: 5201}}}}
  - {{on: a, run: iperf3 -c b -u -b 0 -l 64 -t 5, as: flood, for: 6 s}}
  - {{on: a, run: ping -c 3 -i 0.2 -W 5 c, for: 4 s}}
{more}"
    )
}

/// The lab process, once it is there.
fn await_lab(guard: u32) -> i32 {
    wait_until("the lab process", || lab_of(guard.cast_signed()).is_some());
    lab_of(guard.cast_signed()).unwrap()
}

/// The most memory that a process had so far, in MiB.
fn peak_mib(pid: i32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() >> 10
}

fn engine_finding(verdict: &Value) -> Option<&str> {
    let findings = verdict["findings"].as_array().unwrap();
    findings.iter().find(|finding| finding["subject"] == "engine")?["text"].as_str()
}

/// An engine that stands still for a while stands for any that is too slow: its ring of 16,384 packets is full soon.
#[test]
fn what_a_full_ring_cost_is_counted_and_its_port_is_named() {
    for user in User::some() {
        let fixture = Fixture::new(user);
        fixture.write("flood.yaml", &flood("", ""));
        let mut command = fixture.command(&["run", "flood.yaml", "--json"]);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let lab = await_lab(child.id());
        let log = fixture.latest("flood").join("logs/02-a-flood.stdout");
        wait_until("a flood", || log.exists());
        sleep(Duration::from_millis(700));
        kill(Pid::from_raw(lab), Signal::SIGSTOP).unwrap();
        // A sender that has a tenth of a processor fills the ring, too.
        sleep(Duration::from_secs(2));
        kill(Pid::from_raw(lab), Signal::SIGCONT).unwrap();
        let done = Finished::of(&child.wait_with_output().unwrap()).expect_code(5);
        let report: Value = serde_json::from_str(&done.stdout).unwrap();
        let text = engine_finding(&report["verdict"]).unwrap_or_else(|| panic!("{report:#}"));
        assert!(text.contains("most between node a and link l"), "{text}");
        let losses = report["losses"].as_array().unwrap();
        assert_eq!((&losses[0]["link"], &losses[0]["node"]), (&"l".into(), &"a".into()), "{losses:?}");
        let sum: u64 = losses.iter().map(|loss| loss["lost_arriving_packets"].as_u64().unwrap()).sum();
        assert!(sum > 1_000, "{losses:?}");
        assert!(text.contains(&format!("{sum} on the way in")), "{text}: {losses:?}");
        assert!(report["verdict"]["dilation"].as_u64().is_some_and(|dilation| dilation >= 2));
        let summary = fs::read_to_string(fixture.latest("flood").join("summary.txt")).unwrap();
        assert!(summary.contains("between node a and link l"), "{summary}");
        fixture.assert_nothing_is_left("flood");
    }
}

/// What a node's own kernel drops because its program does not read is the node's business.
#[test]
fn a_node_that_never_reads_spoils_nothing_and_lets_nothing_grow() {
    for user in User::some() {
        let fixture = Fixture::new(user);
        let deaf = "  - {at: 1 s, on: b, run: kill -STOP -1; sleep 3; cat /proc/net/snmp6, as: deaf}\n";
        let lab = flood(", rate: 100 Mbit/s", deaf).replace("-b 0 -l 64", "-b 50M -l 500");
        fixture.write("flood.yaml", &lab);
        let mut command = fixture.command(&["run", "flood.yaml", "--json"]);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let lab_process = await_lab(child.id());
        sleep(Duration::from_millis(3_500));
        let peak = peak_mib(lab_process);
        let done = Finished::of(&child.wait_with_output().unwrap());
        let report: Value = serde_json::from_str(&done.stdout).unwrap_or_else(|_| panic!("{done:#?}"));
        assert_eq!(report["losses"], serde_json::json!([]), "{report:#}");
        assert_eq!(report["verdict"]["as_described"], true, "{report:#}");
        assert!(peak < 300, "{peak} MiB");
        let commands = report["commands"].as_array().unwrap();
        let log = commands.iter().find(|row| row["name"] == "deaf").unwrap()["stdout"].as_str().unwrap();
        let said = fs::read_to_string(fixture.latest("flood").join(log)).unwrap();
        let dropped = said.lines().find_map(|line| line.strip_prefix("Udp6RcvbufErrors")).unwrap();
        let dropped: u64 = dropped.trim().parse().unwrap();
        assert!(dropped > 1_000, "the node's own kernel dropped {dropped}");
        fixture.assert_nothing_is_left("flood");
    }
}

/// 60 million packets a second, which no processor computes in a second.
#[test]
fn a_rate_that_the_machine_cannot_carry_is_told_with_a_proposal() {
    for user in User::some() {
        let fixture = Fixture::new(user);
        fixture.write(
            "fast.yaml",
            "name: fast
nodes: [a, b]
links: {l: {ends: [a, b], rate: 100 Gbit/s, cross: [{kind: constant, rate: 95 Gbit/s, size: 200 B}]}}
timeline:
  - {on: a, run: ping -c 10 -i 0.1 -W 5 b, as: ping, for: 3 s}
",
        );
        let done = fixture.netloom(&["run", "fast.yaml", "--json"]).expect_code(5);
        let report: Value = serde_json::from_str(&done.stdout).unwrap();
        let verdict = &report["verdict"];
        // Whether a ping comes through in time, whose delay is printed too, the machine decides.
        assert!(engine_finding(verdict).unwrap().contains("of lab time it had computed"), "{verdict:#}");
        let dilation = verdict["dilation"].as_u64().unwrap();
        assert!((2..1_000).contains(&dilation), "{verdict:#}");
        fixture.assert_nothing_is_left("fast");
    }
}

#[test]
fn a_lab_that_needs_more_memory_than_there_is_is_told_so_beforehand() {
    let fixture = Fixture::new(User::Own);
    fixture.write("long.yaml", "nodes: [a, b]\nlinks: {moon: {ends: [a, b], rate: 100 Gbit/s, delay: 1 h}}\n");
    let said = fixture.netloom(&["check", "long.yaml"]).expect_code(0).stderr;
    for part in ["would take", "link `moon`", "30000000000 on their way", "delay"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    fixture.write("short.yaml", "nodes: [a, b]\nlinks: {l: {ends: [a, b], rate: 1 Gbit/s, delay: 20 ms}}\n");
    assert_eq!(fixture.netloom(&["check", "short.yaml"]).expect_code(0).stderr, "");
}

/// A minute of a flood does not fit into the memory that this process may have: it never takes more, and says what it lost.
#[test]
fn a_delay_line_stops_growing_before_the_memory_ends() {
    for user in User::some() {
        let fixture = Fixture::new(user);
        let lab = flood(", mtu: 9000", "  - {at: 1 s, link: l, set: {delay: 60 s}}\n");
        // Each packet of more than 2 KiB takes a buffer for a super-packet, so that a slow machine gets there, too.
        fixture.write("flood.yaml", &lab.replace("-l 64", "-l 3000"));
        let limited = ["sh", "-c", "ulimit -v 600000 && exec \"$@\"", "sh"];
        let done = fixture.wrapped(&limited, &["run", "flood.yaml", "--json"]).expect_code(5);
        let report: Value = serde_json::from_str(&done.stdout).unwrap();
        let text = engine_finding(&report["verdict"]).unwrap_or_else(|| panic!("{report:#}"));
        assert!(text.contains("all memory that it may use"), "{text}");
        assert_eq!((&report["losses"][0]["link"], &report["losses"][0]["node"]), (&"l".into(), &"a".into()));
        fixture.assert_nothing_is_left("flood");
    }
}

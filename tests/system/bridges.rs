//! Switches that are bridges of the kernel.

use crate::fixture::{Fixture, User, lab_of};
use crate::kills::sweep;
use crate::wait::wait_until;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::process::Stdio;

/// Two switches in the kernel, and a LAN behind a router in the engine.
const LAB: &str = "
name: mixed
arp: true
bounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}
nodes: {a: {}, b: {}, r: {kind: router}, c: {}, d: {}, left: {kind: switch}, right: {kind: switch}}
links:
  la: {ends: [{node: a, interface: wired}, left], mtu: 9000, bypass: BYPASS}
  riser: {ends: [left, right], mtu: 9000, bypass: BYPASS}
  lb: {ends: [b, right], mtu: 9000, bypass: BYPASS}
  lr: {ends: [r, right], mtu: 9000, bypass: BYPASS}
  far: {ends: [r, c, d], delay: 1 ms}
timeline:
  - {on: b, run: iperf3 -s, as: sink, ready: {tcp: 5201}}
  - {on: a, run: ping -4 -c 2 -i 0.1 -W 5 -M do -s 8900 b, as: near}
  - {on: r, run: ping -6 -c 2 -i 0.1 -W 5 a, as: near6}
  - {on: a, run: ping -4 -c 3 -i 0.1 -W 5 d, as: far4}
  - {at: 1 s, on: a, run: iperf3 -c b -t 1 --json, as: transfer}
expect:
  - near.exit == 0
  - near6.exit == 0
  - far4.exit == 0
  - transfer.json.end.sum_received.bytes > 1e6
  - far-d.forward.packets > 2 packets
";

fn lab(bypass: &str) -> String {
    LAB.replace("BYPASS", bypass)
}

#[test]
fn hosts_reach_one_another_over_bridges_of_the_kernel() {
    for user in User::some() {
        let fixture = Fixture::new(user);
        fixture.write("mixed.yaml", &lab("true"));
        let run = fixture.netloom(&["run", "mixed.yaml"]).expect_code(0);
        let not_judged = "not judged: 4 of 7 links, joined in the kernel and not measured: la, riser, lb, lr; 2 switches, \
                          which are bridges of the kernel";
        // The text is folded.
        let told = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(told.contains(not_judged), "{run:#?}");
        let rows = fixture.json("mixed", "pipes.json");
        for row in rows.as_array().unwrap() {
            let is_far = row["link"].as_str().unwrap().starts_with("far");
            assert_eq!((&row["joined_in_kernel"], is_far), (&Value::Bool(!is_far), is_far), "{row}");
            // The transfer had more than a megabyte.
            assert!(row["arrived_bytes"].as_u64() < Some(100_000), "{row}");
        }
        let switches = fixture.json("mixed", "switches.json");
        assert!(switches.as_array().unwrap().iter().all(|row| row["node"] == "far"), "{switches}");
        fixture.assert_nothing_is_left("mixed");
        assert!(fixture.runtime_files().is_empty());
    }
}

/// What the nodes of a lab that is up see of their networks.
fn look(fixture: &Fixture) -> Vec<String> {
    let mut lines = Vec::new();
    for node in ["a", "b", "r"] {
        let script = "ping -c 1 -W 5 a >/dev/null; ip -br link; ip -br addr; ip route; ip -6 route; cat /etc/hosts";
        let told = fixture.netloom(&["exec", "mixed", node, "--", "sh", "-c", script]).expect_code(0).stdout;
        // `eth0@if7`: what an interface is joined to has another number.
        let plain = |word: &str| word.split_once("@if").map_or(word.to_owned(), |(name, _)| name.to_owned());
        let line = |line: &str| line.split_whitespace().map(plain).collect::<Vec<_>>().join(" ");
        lines.extend(told.lines().map(|told| format!("{node}: {}", line(told))));
    }
    lines.sort();
    lines
}

#[test]
fn a_bridge_looks_like_a_switch_to_nodes() {
    for user in User::some() {
        let fixture = Fixture::new(user);
        let seen = ["false", "true"].map(|bypass| {
            fixture.write("mixed.yaml", &lab(bypass));
            fixture.netloom(&["up", "mixed.yaml"]).expect_code(0);
            let seen = look(&fixture);
            if bypass == "true" {
                only_the_engine_can_change_or_count(&fixture);
            }
            fixture.netloom(&["down", "mixed"]).expect_code(0);
            seen
        });
        assert_eq!(seen[0], seen[1]);
        fixture.assert_nothing_is_left("mixed");
    }
}

fn only_the_engine_can_change_or_count(fixture: &Fixture) {
    let refused = fixture.netloom(&["set", "mixed", "riser", "delay=1 ms"]).expect_code(2);
    assert!(refused.stderr.contains("`riser` is joined in the kernel, past the engine"), "{refused:#?}");
    let uncaught = fixture.netloom(&["capture", "mixed", "la", "-w", "la.pcapng"]).expect_code(2);
    assert!(uncaught.stderr.contains("cannot be captured: write `bypass: false` for it"), "{uncaught:#?}");
    let table = fixture.netloom(&["stats", "mixed", "--once"]).expect_code(0).stdout;
    assert!(table.lines().any(|line| line.starts_with("riser left>right  in the kernel")), "{table}");
    let told = fixture.netloom(&["stats", "mixed", "--once", "--json"]).expect_code(0).stdout;
    let stats: Value = serde_json::from_str(&told).unwrap();
    let ports: Vec<&Value> = stats["switches"].as_array().unwrap().iter().map(|row| &row["node"]).collect();
    assert_eq!(ports, ["far"; 3], "{told}");
}

#[test]
fn a_killed_lab_leaves_no_bridge() {
    for user in User::all() {
        let fixture = Fixture::new(user);
        fixture.write("mixed.yaml", &lab("true"));
        let mut command = fixture.command(&["run", "mixed.yaml"]);
        let mut guard = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let pid = guard.id().cast_signed();
        wait_until("a lab", || fixture.netloom(&["exec", "mixed", "a", "--", "true"]).code == Some(0));
        let lab = lab_of(pid).unwrap();
        for victim in [lab, pid] {
            kill(Pid::from_raw(victim), Signal::SIGKILL).unwrap();
        }
        guard.wait().unwrap();
        sweep(&fixture, &[lab, pid]);
        fixture.assert_nothing_is_left("mixed");
        assert!(fixture.runtime_files().is_empty());
    }
}

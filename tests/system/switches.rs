//! Switches and hubs: what programs see of a LAN, and what its switches count.

use crate::bed::{Bed, User};
use std::fs;
use std::process::Command;

/// Two hosts and a transit router at three switches, a hub in between; links of 1 ms, but for those of hosts.
const LAN: &str = "
bounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}
nodes:
  a: {}
  b: {}
  c: {}
  out: {}
  r: {kind: transit}
  s1: {kind: switch}
  s2: {kind: switch}
  s3: {kind: switch}
  h: {kind: hub}
links:
  la: {ends: [a, s1]}
  lb: {ends: [b, s3]}
  lc: {ends: [c, h]}
  one: {ends: [s1, s2], rate: 100 Mbit/s, delay: 1 ms}
  two: {ends: [s2, h], rate: 100 Mbit/s, delay: 1 ms}
  three: {ends: [h, s3], rate: 100 Mbit/s, delay: 1 ms}
  up: {ends: [r, s2]}
  wan: {ends: [r, out], delay: 5 ms}
";

const TIMELINE: &str = "
timeline:
  - {on: b, run: iperf3 -s, as: sink, ready: {tcp: 5201}}
  - {on: a, run: ping -c 3 -i 0.2 b, as: near}
  - {on: c, run: ping -6 -c 3 -i 0.2 b, as: near6}
  - {on: b, run: ping -c 3 -i 0.2 out, as: far}
  - {on: a, run: ping -6 -c 3 -i 0.2 out, as: far6}
  - {on: out, run: ping -c 3 -i 0.2 c, as: back}
  - {at: 1500 ms, on: a, run: iperf3 -c b -t 1, as: transfer}
expect:
  - near.exit == 0
  - near6.exit == 0
  - far.exit == 0
  - far6.exit == 0
  - back.exit == 0
  - transfer.exit == 0
";

/// The shortest round trip that a ping has seen, in milliseconds.
fn least(ping: &str) -> f64 {
    ping.split("min/avg/max/mdev = ").nth(1).unwrap().split('/').next().unwrap().parse().unwrap()
}

fn runs(bed: Bed, clock: &str) -> Bed {
    bed.write("lan.yaml", &format!("name: lan\nclock: {clock}\narp: true\n{LAN}{TIMELINE}"));
    bed.netloom(&["run", "lan.yaml"]).expect_code(0);
    let folder = bed.latest("lan");
    let log = |name: &str| fs::read_to_string(folder.join(format!("logs/{name}.stdout"))).unwrap();
    // Three links of 1 ms there and back; and the first of them with the WAN.
    assert!(least(&log("02-a-near")) >= 6.0, "{}", log("02-a-near"));
    assert!((12.0..1_000.0).contains(&least(&log("05-a-far6"))), "{}", log("05-a-far6"));
    let ports = bed.json("lan", "switches.json");
    let port = |node: &str, link: &str| {
        let rows = ports.as_array().unwrap().iter();
        rows.clone().find(|row| row["node"] == node && row["link"] == link).cloned().unwrap()
    };
    let count = |node: &str, link: &str, what: &str| port(node, link)[what].as_u64().unwrap();
    assert_eq!(ports.as_array().unwrap().len(), 7);
    // The transfer, as frames; it goes by c, which is at a hub, and not by the router.
    assert!(count("s1", "la", "received_frames") > 100 && count("s3", "lb", "sent_frames") > 100, "{ports}");
    assert!(count("s2", "up", "sent_frames") < 100, "{ports}");
    // Behind the hub are b and c.
    assert!(count("s2", "two", "learned_addresses") >= 2 && count("s1", "la", "learned_addresses") == 1, "{ports}");
    assert_eq!(count("s1", "la", "moved_addresses"), 0);
    bed
}

#[test]
fn hosts_of_a_lan_reach_one_another_and_the_world() {
    for user in User::all() {
        runs(Bed::new(user), "real");
    }
}

#[test]
fn a_lan_in_virtual_time_is_the_same_every_time() {
    let reports = [(); 2].map(|()| {
        let bed = runs(Bed::with_kernel(User::all().remove(0)), "virtual");
        let near = fs::read_to_string(bed.latest("lan").join("logs/02-a-near.stdout")).unwrap();
        (bed.json("lan", "switches.json"), bed.json("lan", "pipes.json"), near)
    });
    assert_eq!(reports[0], reports[1]);
}

/// The example: pings go on over the link that was blocked, and the capture has what the switches say of that.
fn heals(bed: Bed, clock: &str) -> (serde_json::Value, Vec<u8>) {
    let example = include_str!("../../examples/spanning-tree.yaml");
    let loose = "bounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}";
    bed.write(
        "tree.yaml",
        &example.replace("name: spanning-tree\n", &format!("name: tree\nclock: {clock}\n{loose}\n")),
    );
    bed.netloom(&["run", "tree.yaml"]).expect_code(0);
    let ports = bed.json("tree", "switches.json");
    let blocked = ports.as_array().unwrap().iter().find(|row| row["node"] == "s3" && row["link"] == "s3-s4").unwrap();
    let tree = &blocked["tree"];
    assert_eq!((&tree["role"], &tree["state"]), (&"alternate".into(), &"discarding".into()), "{ports}");
    assert!(tree["state_changes"].as_u64().unwrap() >= 2 && blocked["malformed_bpdus"] == 0, "{ports}");
    let capture = bed.latest("tree").join("captures/s3-s4.pcapng");
    let read = Command::new("tcpdump").args(["-nvr", capture.to_str().unwrap(), "stp"]).output().unwrap();
    let told = String::from_utf8(read.stdout).unwrap();
    for wanted in ["STP 802.1w, Rapid STP", "port-role Root", "port-role Designated"] {
        assert!(told.contains(wanted), "{wanted}: {told}");
    }
    (ports, fs::read(capture).unwrap())
}

#[test]
fn a_ring_heals_after_a_cut() {
    for user in User::all() {
        heals(Bed::new(user), "real");
    }
}

#[test]
fn a_ring_heals_in_virtual_time_the_same_every_time() {
    let [first, second] = [(); 2].map(|()| heals(Bed::with_kernel(User::all().remove(0)), "virtual"));
    assert!(first == second, "the same ports and captures");
}

#[test]
fn nobody_runs_a_program_on_a_switch() {
    let bed = Bed::new(User::all().remove(0));
    bed.write("lan.yaml", &format!("name: lan\n{LAN}"));
    bed.netloom(&["up", "lan.yaml"]).expect_code(0);
    let refused = bed.netloom(&["exec", "lan", "s1", "--", "true"]).expect_code(2);
    assert!(refused.stderr.contains("`s1` is a switch and runs no programs"), "{refused:#?}");
    bed.netloom(&["down", "lan"]).expect_code(0);
}

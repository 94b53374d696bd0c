//! Switches and hubs: what programs see of a LAN, and what its switches count.

use crate::fixture::{Fixture, User};
use serde_json::Value;
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

fn runs(fixture: Fixture, clock: &str) -> Fixture {
    fixture.write("lan.yaml", &format!("name: lan\nclock: {clock}\narp: true\n{LAN}{TIMELINE}"));
    fixture.netloom(&["run", "lan.yaml"]).expect_code(0);
    let folder = fixture.latest("lan");
    let log = |name: &str| fs::read_to_string(folder.join(format!("logs/{name}.stdout"))).unwrap();
    // Three links of 1 ms there and back; and the first of them with the WAN.
    assert!(least(&log("02-a-near")) >= 6.0, "{}", log("02-a-near"));
    assert!((12.0..1_000.0).contains(&least(&log("05-a-far6"))), "{}", log("05-a-far6"));
    let ports = fixture.json("lan", "switches.json");
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
    fixture
}

#[test]
fn hosts_of_a_lan_reach_one_another_and_the_world() {
    for user in User::some() {
        runs(Fixture::new(user), "real");
    }
}

#[test]
fn a_lan_in_virtual_time_is_the_same_every_time() {
    let reports = [(); 2].map(|()| {
        let fixture = runs(Fixture::with_kernel(User::all().remove(0)), "virtual");
        let near = fs::read_to_string(fixture.latest("lan").join("logs/02-a-near.stdout")).unwrap();
        (fixture.json("lan", "switches.json"), fixture.json("lan", "pipes.json"), near)
    });
    assert_eq!(reports[0], reports[1]);
}

/// The example: pings go on over the link that was blocked, and the capture has what the switches say of that.
fn heals(fixture: &Fixture, clock: &str) -> (Value, Vec<u8>) {
    let example = include_str!("../../examples/spanning-tree.yaml");
    let loose = "bounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}";
    let lab = example.replace("name: spanning-tree\n", &format!("name: tree\nclock: {clock}\n{loose}\n"));
    // On a busy machine ping sends fewer.
    let most = if clock == "real" { ">= 20" } else { ">= 56" };
    fixture.write("tree.yaml", &lab.replace(">= 56", most));
    fixture.netloom(&["run", "tree.yaml"]).expect_code(0);
    let ports = fixture.json("tree", "switches.json");
    let blocked = ports.as_array().unwrap().iter().find(|row| row["node"] == "s3" && row["link"] == "s3-s4").unwrap();
    let tree = &blocked["tree"];
    assert_eq!((&tree["role"], &tree["state"]), (&"alternate".into(), &"discarding".into()), "{ports}");
    assert!(tree["state_changes"].as_u64().unwrap() >= 2 && blocked["malformed_bpdus"] == 0, "{ports}");
    let capture = fixture.latest("tree").join("captures/s3-s4.pcapng");
    let read = Command::new("tcpdump").args(["-nvr", capture.to_str().unwrap(), "stp"]).output().unwrap();
    let told = String::from_utf8(read.stdout).unwrap();
    for wanted in ["STP 802.1w, Rapid STP", "port-role Root", "port-role Designated"] {
        assert!(told.contains(wanted), "{wanted}: {told}");
    }
    (ports, fs::read(capture).unwrap())
}

#[test]
fn a_ring_heals_after_a_cut() {
    for user in User::some() {
        heals(&Fixture::new(user), "real");
    }
}

#[test]
fn a_ring_heals_in_virtual_time_the_same_every_time() {
    let [first, second] = [(); 2].map(|()| heals(&Fixture::with_kernel(User::all().remove(0)), "virtual"));
    assert!(first == second, "the same ports and captures");
}

#[test]
fn nobody_runs_a_program_on_a_switch() {
    let fixture = Fixture::new(User::all().remove(0));
    fixture.write("lan.yaml", &format!("name: lan\n{LAN}"));
    fixture.netloom(&["up", "lan.yaml"]).expect_code(0);
    let refused = fixture.netloom(&["exec", "lan", "s1", "--", "true"]).expect_code(2);
    assert!(refused.stderr.contains("`s1` is a switch and runs no programs"), "{refused:#?}");
    fixture.netloom(&["down", "lan"]).expect_code(0);
}

/// While a lab is up: what switches have counted, and that they forget who was behind a link that is cut.
#[test]
fn switches_tell_what_they_count_while_they_do() {
    let fixture = Fixture::new(User::all().remove(0));
    fixture.write("lan.yaml", &format!("name: lan\n{LAN}"));
    fixture.netloom(&["up", "lan.yaml"]).expect_code(0);
    let ping =
        || drop(fixture.netloom(&["exec", "lan", "a", "--", "ping", "-c", "2", "-i", "0.2", "b"]).expect_code(0));
    let port = |node: &str, link: &str, what: &str| {
        let told = fixture.netloom(&["stats", "lan", "--once", "--json"]).expect_code(0);
        let stats: Value = serde_json::from_str(&told.stdout).unwrap();
        let rows = stats["switches"].as_array().unwrap();
        let row = rows.iter().find(|row| row["node"] == node && row["link"] == link).unwrap();
        row[what].as_u64().unwrap()
    };
    ping();
    assert!(port("s1", "la", "received_frames") >= 2 && port("s3", "lb", "learned_addresses") == 1);
    let table = fixture.netloom(&["stats", "lan", "--once"]).expect_code(0).stdout;
    assert!(table.contains("switch") && table.contains("flooded"), "{table}");
    fixture.netloom(&["set", "lan", "lb", "state=down"]).expect_code(0);
    fixture.netloom(&["set", "lan", "lb", "state=up"]).expect_code(0);
    ping();
    assert_eq!(port("s3", "lb", "learned_addresses"), 2, "learned again");
    fixture.netloom(&["down", "lan"]).expect_code(0);
}

/// Two VLANs over a trunk, each with an end of a router: hosts reach those of their own VLAN at once, and others over the router.
const VLANS: &str = "
bounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}
nodes: {a10: {}, a20: {}, b10: {}, b20: {}, left: {kind: switch}, right: {kind: switch}, r: {kind: transit}}
links:
  desk1: {ends: [a10, left], vlans: 10}
  desk2: {ends: [a20, left], vlans: 20}
  desk3: {ends: [b10, right], vlans: 10}
  desk4: {ends: [b20, right], vlans: 20}
  trunk: {ends: [left, right], vlans: {trunk: [10, 20]}, rate: 100 Mbit/s, delay: 1 ms}
  door10: {ends: [r, right], vlans: 10, delay: 5 ms}
  door20: {ends: [r, right], vlans: 20}
timeline:
  - {on: b10, run: iperf3 -s, as: sink, ready: {tcp: 5201}}
  - {on: a10, run: ping -c 3 -i 0.2 b10, as: near}
  - {on: a10, run: ping -6 -c 3 -i 0.2 b20, as: far}
  - {at: 1500 ms, on: a10, run: iperf3 -c b10 -t 1, as: transfer}
expect: [near.exit == 0, far.exit == 0, transfer.exit == 0]
";

fn runs_vlans(fixture: &Fixture, clock: &str) {
    fixture.write("vlans.yaml", &format!("name: vlans\nclock: {clock}\narp: true\n{VLANS}"));
    fixture.netloom(&["run", "vlans.yaml"]).expect_code(0);
    let log = |name: &str| fs::read_to_string(fixture.latest("vlans").join(format!("logs/{name}.stdout"))).unwrap();
    assert!(least(&log("02-a10-near")) >= 2.0, "{}", log("02-a10-near"));
    assert!(least(&log("03-a10-far")) >= 12.0, "over the router: {}", log("03-a10-far"));
    let ports = fixture.json("vlans", "switches.json");
    let rows = ports.as_array().unwrap();
    let row = |link: &str| rows.iter().find(|row| row["link"] == link).unwrap();
    assert!(row("desk1")["received_frames"].as_u64().unwrap() > 100, "{ports}");
    // Those of VLAN 20 hear nothing of the transfer.
    assert!(
        row("desk2")["sent_frames"].as_u64().unwrap() < 50 && row("desk4")["sent_frames"].as_u64().unwrap() < 50,
        "{ports}"
    );
}

#[test]
fn vlans_are_apart_in_real_time() {
    for user in User::some() {
        runs_vlans(&Fixture::new(user), "real");
    }
}

#[test]
fn switches_and_vlans_work_in_dilated_time() {
    runs_vlans(&Fixture::with_kernel(User::all().remove(0)), "{dilation: 4}");
}

/// The example: who has joined gets the group, who has not gets nothing of it, and the switches tell what they know.
fn prunes(fixture: &Fixture, clock: &str, expected: bool) -> Value {
    let example = include_str!("../../examples/snooping.yaml");
    let (lab, expect) = example.split_once("\nexpect:\n").unwrap();
    // How many packets a busy machine sends in six seconds is not for this test to say.
    let expect = if expected { expect } else { "  - corridor.forward.packets < 60\n" };
    let loose = "bounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}";
    let lab = lab.replace("name: snooping\n", &format!("name: groups\nclock: {clock}\n{loose}\n"));
    fixture.write("groups.yaml", &format!("{lab}\nexpect:\n{expect}"));
    let ran = fixture.netloom(&["run", "groups.yaml"]).expect_code(0);
    assert!(ran.stdout.contains("members behind") && ran.stdout.contains("239.1.1.1"), "{ran:#?}");
    let ports = fixture.json("groups", "switches.json");
    let port = |link: &str, node: &str| {
        let rows = ports.as_array().unwrap().iter();
        rows.clone().find(|row| row["link"] == link && row["node"] == node).unwrap()["snooping"].clone()
    };
    let knows = |own: &Value| own["groups"].as_array().unwrap().iter().any(|group| group["group"] == "239.1.1.1");
    let ways = [("desk1", "office"), ("desk2", "office"), ("corridor", "office"), ("riser", "hall")];
    let [screen, visitor, bystander, riser] = ways.map(|(link, node)| port(link, node));
    // The screen has left a second before the end, or is still asked after.
    assert!(screen["received_reports"].as_u64().unwrap() >= 2, "{ports}");
    assert!(
        visitor["joined_groups"].as_u64().unwrap() >= 1 && visitor["left_groups"].as_u64().unwrap() >= 1,
        "{ports}"
    );
    assert!(!knows(&visitor) && !knows(&bystander), "{ports}");
    assert!(riser["received_reports"].as_u64().unwrap() >= 2, "reports reach the switch that asks: {ports}");
    for own in [&screen, &visitor, &bystander, &riser] {
        assert_eq!(own["malformed_messages"], 0, "{ports}");
    }
    ports
}

#[test]
fn multicast_goes_where_it_is_asked_for() {
    for user in User::some() {
        prunes(&Fixture::new(user), "real", false);
    }
}

#[test]
fn multicast_goes_where_it_is_asked_for_in_virtual_time_the_same_every_time() {
    let [first, second] = [(); 2].map(|()| prunes(&Fixture::with_kernel(User::all().remove(0)), "virtual", true));
    assert!(first == second, "the same ports");
}

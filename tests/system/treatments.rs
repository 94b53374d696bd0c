//! Further pipes for some of the traffic, and partitions.

use crate::fixture::{Fixture, User};

/// What packets meet when depends on what else the machine does, but for virtual time.
const LAB: &str = "
bounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}
nodes: {a: {}, r: {kind: router}, b: {}, c: {}}
links:
  up: {ends: [a, r], forward: {delay: 5 ms, pipes: {far: {match: {to: c}, delay: 150 ms}}}}
  near: {ends: [r, b]}
  distant: {ends: [r, c]}
timeline:
  - {on: a, run: ping -c 5 -i 0.1 b, as: to-near}
  - {on: a, run: ping -c 5 -i 0.1 c, as: to-far}
  - {at: 1 s, link: up, pipe: far, set: {delay: 60 ms}}
  - {at: 1100 ms, on: a, run: ping -c 3 -i 0.1 c, as: later}
  - {at: 2 s, partition: [[a]], for: 500 ms}
  - {at: 2100 ms, on: a, run: ping -c 2 -i 0.1 -W 0.2 b, as: cut-off, may_fail: true}
  - {at: 3 s, on: a, run: ping -c 2 -i 0.1 b, as: healed}
expect:
  - to-near.exit == 0
  - to-far.exit == 0
  - later.exit == 0
  - healed.exit == 0
  - cut-off.exit == 1
  - up.forward.delay within 1 us of 5 ms
  - up.forward.far.delay within 1 us of 150 ms during 0 s..900 ms
  - up.forward.far.delay within 1 us of 60 ms during 1 s..2 s
  - up.forward.far.packets == 8
  - up.forward.drops > 0 during 2 s..2500 ms
";

#[test]
fn traffic_is_treated_by_destination_and_partitions_heal() {
    let fixture = Fixture::with_kernel(User::Own);
    fixture.write("treated.yaml", LAB);
    fixture.netloom(&["run", "treated.yaml", "--clock", "virtual", "-q"]).expect_code(0);
    assert_treated(&fixture);
}

/// The same way for packets of namespace nodes.
#[test]
fn traffic_is_treated_by_destination_in_real_time_too() {
    let fixture = Fixture::new(User::Own);
    let (top, _) = LAB.split_once("  - {at: 1 s").unwrap();
    let expect = "expect: [to-near.exit == 0, to-far.exit == 0, up.forward.far.packets == 5, \
                  up.forward.delay >= 5 ms, up.forward.far.delay >= 150 ms]\n";
    fixture.write("treated.yaml", &format!("{top}{expect}"));
    let run = fixture.netloom(&["run", "treated.yaml"]).expect_code(0);
    assert!(run.stdout.contains("up.far a>r"), "{run:#?}");
    assert_treated(&fixture);
}

fn assert_treated(fixture: &Fixture) {
    let rows = std::fs::read_to_string(fixture.latest("treated").join("pipes.csv")).unwrap();
    assert!(rows.lines().any(|row| row.starts_with("up,forward,far,a,r,")), "{rows}");
    let samples = std::fs::read_to_string(fixture.latest("treated").join("samples.csv")).unwrap();
    assert!(samples.contains(",up,forward,far,") && samples.contains(",up,forward,,"), "{samples}");
}

/// Who is the leader is known when it is time, by a name or an address; nobody is parted for a command that names nobody.
#[test]
fn a_leader_is_parted_from_the_others() {
    let fixture = Fixture::with_kernel(User::Own);
    fixture.write(
        "leader.yaml",
        "name: leader
clock: virtual
nodes: [a, b, c]
links: {lan: {ends: [a, b, c], delay: 1 ms}}
timeline:
  - {at: 1 s, partition: {leader: 'echo b; echo a', on: c, of: [a, b]}, for: 1 s}
  - {at: 1100 ms, on: a, run: ping -c 2 -i 0.1 -W 0.4 b, as: parted, may_fail: true}
  - {at: 1100 ms, on: c, run: ping -c 2 -i 0.1 -W 0.4 b, as: joined}
  - {at: 2100 ms, on: a, run: ping -c 2 -i 0.1 -W 0.4 b, as: over}
  - {at: 3 s, partition: {leader: \"getent hosts a | cut -d' ' -f1\", on: b}}
  - {at: 3100 ms, on: c, run: ping -c 2 -i 0.1 -W 0.4 a, as: alone, may_fail: true}
  - {at: 4 s, heal: true}
  - {at: 4100 ms, on: c, run: ping -c 2 -i 0.1 -W 0.4 a, as: healed}
  - {at: 5 s, partition: {leader: echo nobody, on: c}}
  - {at: 5100 ms, on: c, run: ping -c 2 -i 0.1 -W 0.4 a, as: whole}
expect: [parted.exit == 1, joined.exit == 0, over.exit == 0, alone.exit == 1, healed.exit == 0, whole.exit == 0]
",
    );
    let told = || {
        fixture.netloom(&["run", "leader.yaml"]).expect_code(0);
        let events = std::fs::read_to_string(fixture.latest("leader").join("events.jsonl")).unwrap();
        events.lines().filter(|line| line.contains("\"partition\"")).map(str::to_owned).collect::<Vec<_>>()
    };
    let events = told();
    assert!(events[0].contains("b | a\"") && events[0].contains("\"by\":\"timeline\""), "{events:?}");
    assert!(events.last().is_some_and(|last| last.contains("`nobody` is neither a node")), "{events:?}");
    let verdict = fixture.json("leader", "verdict.json");
    assert!(verdict["notes"].to_string().contains("nobody was parted"), "{verdict:#}");
    assert_eq!(events, told(), "every run is the same");
}

/// A LAN, VLANs over two switches, and a shared medium, each with three hosts: of the first group, of the second, and of none.
fn parted() -> String {
    let mut lab = String::from(
        "
bounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}
nodes: {la: {}, lb: {}, lc: {}, va: {}, vb: {}, vc: {}, ma: {}, mb: {}, mc: {}, left: {kind: switch}, right: {kind: switch}}
links:
  lan: {ends: [la, lb, lc], delay: 1 ms}
  va: {ends: [va, left], vlans: 10}
  vb: {ends: [vb, right], vlans: 10}
  vc: {ends: [vc, left], vlans: 10}
  trunk: {ends: [left, right], vlans: {trunk: [10, 20]}, delay: 1 ms}
  bus: {ends: [ma, mb, mc], medium: shared, delay: 1 ms}
timeline:
  - {at: 500 ms, partition: [[la, va, ma], [lb, vb, mb]], for: 1500 ms}
",
    );
    let (mut expect, ping) = (String::from("expect:\n"), "ping -4 -c 2 -i 0.1 -W 0.4");
    for net in ["l", "v", "m"] {
        for (name, at, [from, to], code) in [
            ("before", 100, ["a", "b"], 0),
            ("parted", 600, ["a", "b"], 1),
            ("one", 600, ["a", "c"], 0),
            ("other", 600, ["c", "b"], 0),
            ("healed", 2_500, ["b", "a"], 0),
        ] {
            let command = format!("{ping} {net}{to}");
            lab += &format!("  - {{at: {at} ms, on: {net}{from}, run: {command}, as: {net}-{name}, may_fail: true}}\n");
            expect += &format!("  - {net}-{name}.exit == {code}\n");
        }
    }
    lab + &expect
}

/// In namespaces and on kernels of the nodes' own: members of one group and who is in none reach each other, members of different groups do not.
#[test]
fn partitions_of_lans_part_groups_and_nobody_else() {
    let fixture = Fixture::with_kernel(User::Own);
    fixture.write("parted.yaml", &parted());
    for clock in ["real", "virtual"] {
        let run = fixture.netloom(&["run", "parted.yaml", "--clock", clock]).expect_code(0);
        assert!(!run.stdout.contains("NOT as described"), "{clock}: {run:#?}");
        let rows = fixture.json("parted", "pipes.json");
        let dropped: u64 =
            rows.as_array().unwrap().iter().map(|row| row["dropped_partition_packets"].as_u64().unwrap()).sum();
        // Two pings at least on the LAN and on the VLAN; a shared medium counts otherwise.
        assert!(dropped >= 4, "{clock}: {rows:#}");
    }
    fixture.assert_nothing_is_left("parted");
}

/// Hosts behind a router of the kernel, which is in no group, and behind a bridge that a program makes in a node. Addresses of the other
/// group are resolved by nobody, and the router passes on what is for others.
const ROUTED: &str = "
bounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s, changes: true}
nodes: {a: {}, b: {}, c: {}, r: {kind: router}, x: {}, y: {}, z: {}, br: {}}
links:
  ar: {ends: [a, r]}
  rb: {ends: [r, b]}
  rc: {ends: [r, c]}
  xb: {ends: [x, br]}
  yb: {ends: [y, br]}
  zb: {ends: [z, br]}
setup:
  # Addresses that the lab file does not know.
  - {on: x, run: ip addr add 10.99.0.1/24 dev eth0}
  - {on: y, run: ip addr add 10.99.0.2/24 dev eth0}
  - {on: z, run: ip addr add 10.99.0.3/24 dev eth0}
  - {on: br, run: 'ip link add br0 type bridge && for i in eth0 eth1 eth2; do ip link set $i master br0; done && ip link set br0 up'}
timeline:
  - {at: 1 s, partition: [[a, x], [b, y]], for: 2 s}
  - {at: 5 s, partition: [[a, r, x], [b, y]], slow: 2 s, for: 3 s}
";

fn routed() -> String {
    let (mut lab, mut expect, ping) = (ROUTED.to_owned(), String::from("expect:\n"), "ping -4 -c 2 -i 0.1 -W 0.4");
    for (from, to, third, mark) in [("a", "b", "c", "routed"), ("x", "10.99.0.2", "10.99.0.3", "bridged")] {
        for (name, at, target, code) in [
            ("before", 500, to, 0),
            ("parted", 1_500, to, 1),
            ("other", 1_500, third, 0),
            ("healed", 3_500, to, 0),
            // What is slower comes too late.
            ("slow", 5_500, to, 1),
            ("fast", 5_500, third, 0),
        ] {
            let command = format!("{ping} {target}");
            lab += &format!("  - {{at: {at} ms, on: {from}, run: {command}, as: {mark}-{name}, may_fail: true}}\n");
            expect += &format!("  - {mark}-{name}.exit == {code}\n");
        }
    }
    lab + &expect
}

#[test]
fn partitions_reach_over_routers_and_bridges_of_the_kernel() {
    let fixture = Fixture::with_kernel(User::Own);
    fixture.write("routed.yaml", &routed());
    for clock in ["real", "virtual"] {
        let run = fixture.netloom(&["run", "routed.yaml", "--clock", clock, "--no-plots"]).expect_code(0);
        assert!(!run.stdout.contains("NOT as described"), "{clock}: {run:#?}");
        let rows = fixture.json("routed", "pipes.json");
        let dropped: u64 =
            rows.as_array().unwrap().iter().map(|row| row["dropped_partition_packets"].as_u64().unwrap()).sum();
        assert!(dropped >= 4, "{clock}: {rows:#}");
        let events = std::fs::read_to_string(fixture.latest("routed").join("events.jsonl")).unwrap();
        assert_eq!(events.matches("\"event\":\"partition\"").count(), 4, "{events}");
    }
    fixture.assert_nothing_is_left("routed");
}

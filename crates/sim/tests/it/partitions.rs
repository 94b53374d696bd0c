//! Partitions of LANs and shared media: groups go on talking, and nothing crosses.

use netloom_lab::Plan;
use netloom_sim::{Outcome, simulate};
use netloom_units::Duration;

fn plan(text: &str) -> Plan {
    netloom_lab::parse(text, "t.yaml").unwrap_or_else(|errors| panic!("{errors}")).plan
}

fn run(plan: &Plan) -> Outcome {
    simulate(plan, Duration::from_secs(10), Duration::from_secs(1), None, &mut |_| ()).expect("it can be simulated")
}

/// 100 packets per second from 0 s to 10 s, the last one at 10 s.
fn from_to(from: &str, to: &str) -> String {
    format!("  - {{from: {from}, to: {to}, kind: constant, rate: 800 kbit/s, size: 1000 B}}\n")
}

/// What the sources lose: within the first group, within the second, across, and from the node in no group to each.
fn lost(network: &str, timeline: &str) -> Vec<u64> {
    let pairs = [("n1", "n2"), ("n4", "n3"), ("n1", "n3"), ("n5", "n1"), ("n5", "n3")];
    let traffic: String = pairs.iter().map(|(from, to)| from_to(from, to)).collect();
    let plan = plan(&format!("name: t\n{network}timeline: [{timeline}]\ntraffic:\n{traffic}"));
    run(&plan).sources.iter().map(netloom_sim::SourceOutcome::lost_packets).collect()
}

const NETWORKS: [&str; 4] = [
    "nodes: [n1, n2, n3, n4, n5]\nlinks: {lan: {ends: [n1, n2, n3, n4, n5]}}\n",
    "nodes: [n1, n2, n3, n4, n5]\nlinks: {air: {ends: [n1, n2, n3, n4, n5], medium: shared, rate: 100 Mbit/s}}\n",
    // The groups are mixed behind a trunk.
    "nodes: {n1: {}, n2: {}, n3: {}, n4: {}, n5: {}, s: {kind: switch}, h: {kind: hub}}
links: {a: {ends: [n1, s]}, b: {ends: [n3, s]}, c: {ends: [n2, h]}, d: {ends: [n4, h]}, e: {ends: [h, n5]}, t: {ends: [s, h]}}
",
    // What further pipes carry is parted, too.
    "nodes: {n1: {}, n2: {}, n3: {}, n4: {}, n5: {}, s: {kind: switch}}
links:
  a: {ends: [n1, s]}
  b: {ends: [n2, s]}
  c: {ends: [s, n3], forward: {pipes: {all: {match: {protocol: udp}, delay: 1 ms}}}}
  d: {ends: [n4, s]}
  e: {ends: [n5, s]}
",
];

#[test]
fn groups_are_parted_and_nobody_else() {
    let parted = "{at: 1005 ms, partition: [[n1, n2], [n3, n4]], for: 4 s}";
    let healed = "{at: 1005 ms, partition: [[n1, n2], [n3, n4]]}, {at: 5005 ms, heal: true}";
    for network in NETWORKS {
        for timeline in [parted, healed] {
            assert_eq!(lost(network, timeline), [0, 0, 400, 0, 0], "{network}{timeline}");
        }
    }
}

/// A group alone is parted from everybody; two partitions at a time are in force together.
#[test]
fn a_group_alone_and_partitions_that_overlap() {
    for network in NETWORKS {
        assert_eq!(lost(network, "{at: 1005 ms, partition: [[n1]], for: 4 s}"), [400, 0, 400, 400, 0], "{network}");
        let both = "{at: 1005 ms, partition: [[n1, n2], [n3, n4]], for: 4 s}, {at: 3005 ms, partition: [[n5], [n3]], for: 4 s}";
        assert_eq!(lost(network, both), [0, 0, 400, 0, 400], "{network}");
    }
}

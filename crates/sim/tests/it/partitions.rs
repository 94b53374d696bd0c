//! Partitions of LANs and shared media: groups go on talking, and nothing crosses.

use netloom_lab::Plan;
use netloom_sim::{Outcome, simulate};
use netloom_units::Duration;

pub(crate) fn plan(text: &str) -> Plan {
    netloom_lab::parse(text, "t.yaml").unwrap_or_else(|errors| panic!("{errors}")).plan
}

pub(crate) fn run(plan: &Plan) -> Outcome {
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

/// Five hosts n0 to n4, joined by something else each time.
const JOINED: [&str; 6] = [
    "nodes: [n0, n1, n2, n3, n4]\nlinks: {lan: {ends: [n0, n1, n2, n3, n4]}}\n",
    "nodes: [n0, n1, n2, n3, n4]\nlinks: {air: {ends: [n0, n1, n2, n3, n4], medium: shared, rate: 1 Gbit/s}}\n",
    // A star of one router, of the kernel or of the engine.
    "nodes: {n0: {}, n1: {}, n2: {}, n3: {}, n4: {}, r: {kind: router}}
links: {a: {ends: [n0, r]}, b: {ends: [n1, r]}, c: {ends: [n2, r]}, d: {ends: [n3, r]}, e: {ends: [n4, r]}}
",
    "nodes: {n0: {}, n1: {}, n2: {}, n3: {}, n4: {}, r: {kind: transit}}
links: {a: {ends: [n0, r]}, b: {ends: [n1, r]}, c: {ends: [n2, r]}, d: {ends: [n3, r]}, e: {ends: [n4, r]}}
",
    // A LAN behind a router, and hosts behind another one.
    "nodes: {n0: {}, n1: {}, n2: {}, n3: {}, n4: {}, r: {kind: router}, q: {kind: transit}}
links: {lan: {ends: [n0, n3, r]}, t: {ends: [r, q]}, c: {ends: [n1, q]}, d: {ends: [n2, q]}, e: {ends: [n4, q]}}
",
    // All in a chain of routers that are hosts themselves.
    "nodes: {n0: {kind: router}, n1: {kind: router}, n2: {kind: router}, n3: {kind: router}, n4: {kind: router}}
links: {a: {ends: [n0, n1]}, b: {ends: [n1, n2]}, c: {ends: [n2, n3]}, d: {ends: [n3, n4]}}
",
];

/// Which ordered pairs of five hosts a partition parts.
type Relation = fn(usize, usize) -> bool;

/// Partitions, each with the pairs that it parts by its definition.
const PARTITIONS: [(&str, Relation); 8] = [
    ("partition: {halves: n*}", |from, to| (from < 2) != (to < 2)),
    // n2 is the bridge.
    ("partition: {bridge: n*}", |from, to| from < 2 && to > 2 || from > 2 && to < 2),
    // A majority of five is three: itself, and one at each side.
    ("partition: {ring: n*}", |from, to| ![0, 1, 4].contains(&from.abs_diff(to))),
    ("partition: {isolate: n3, of: n*}", |from, to| from == 3 || to == 3),
    ("partition: [[n0, n1], [n1, n2], [n3]]", |from, to| {
        // n4 is in no group, and n1 in two.
        from != 4 && to != 4 && (from == 3 || to == 3 || from == 0 && to == 2 || from == 2 && to == 0)
    }),
    ("partition: [[n0, n1]], others: isolated", |from, to| from > 1 || to > 1),
    ("partition: [[n1], [n0, n4]], direction: to", |from, to| to == 1 && (from == 0 || from == 4)),
    ("partition: [[n1], [n0, n4]], direction: from", |from, to| from == 1 && (to == 0 || to == 4)),
];

/// 20 packets per second from each host to each other one, and what is lost of each.
fn lost_by_pair(network: &str, timeline: &str) -> Vec<((usize, usize), u64)> {
    let pairs: Vec<(usize, usize)> =
        (0..5).flat_map(|from| (0..5).map(move |to| (from, to))).filter(|(from, to)| from != to).collect();
    let source = |(from, to): &(usize, usize)| {
        format!("  - {{from: n{from}, to: n{to}, kind: constant, rate: 160 kbit/s, size: 1000 B}}\n")
    };
    let traffic: String = pairs.iter().map(source).collect();
    let outcome = run(&plan(&format!("name: t\n{network}timeline: [{timeline}]\ntraffic:\n{traffic}")));
    pairs.into_iter().zip(outcome.sources.iter().map(netloom_sim::SourceOutcome::lost_packets)).collect()
}

#[test]
fn parted_pairs_exchange_nothing_and_all_others_everything_whatever_joins_them() {
    for network in JOINED {
        for (partition, is_parted) in PARTITIONS {
            let lost = lost_by_pair(network, &format!("{{at: 1010 ms, {partition}, for: 4 s}}"));
            for ((from, to), count) in lost {
                let wanted = if is_parted(from, to) { 80 } else { 0 };
                assert_eq!(count, wanted, "n{from} to n{to} with {partition} in\n{network}");
            }
        }
    }
}

/// Packets that are held come later, and none is lost.
#[test]
fn slow_and_jammed_partitions_lose_nothing() {
    for network in JOINED {
        for kind in ["slow: 300 ms", "jam: true"] {
            let lost = lost_by_pair(network, &format!("{{at: 1010 ms, partition: {{halves: n*}}, {kind}, for: 4 s}}"));
            assert!(lost.iter().all(|(_, lost)| *lost == 0), "{kind}: {lost:?} in\n{network}");
        }
    }
}

/// However many links are between, a packet is slowed once.
#[test]
fn a_slow_partition_takes_its_time_once() {
    for network in JOINED {
        let traffic = "  - {from: n0, to: n4, kind: constant, rate: 160 kbit/s, size: 1000 B}\n";
        let timeline = "{partition: {halves: n*}, slow: 300 ms}";
        let outcome = run(&plan(&format!("name: t\n{network}timeline: [{timeline}]\ntraffic:\n{traffic}")));
        let delays = &outcome.sources[0].delays;
        let (least, most) = (delays.least().unwrap(), delays.most().unwrap());
        assert!((300.0..302.0).contains(&(least.as_secs_f64() * 1e3)), "{least} in\n{network}");
        assert!((300.0..302.0).contains(&(most.as_secs_f64() * 1e3)), "{most} in\n{network}");
    }
}

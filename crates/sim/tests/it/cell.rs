//! Cells of lab files against the standards' tables: what `netloom sim` finds is the model's.

use crate::radio::within;
use netloom_lab::Plan;
use netloom_sim::{Outcome, simulate};
use netloom_units::Duration;

fn plan(text: &str) -> Plan {
    netloom_lab::parse(text, "t.yaml").unwrap_or_else(|errors| panic!("{errors}")).plan
}

/// A tower that sends to terminals more than they can get, or that gets it from them.
fn cell(medium: &str, terminals: &[&str], is_uplink: bool) -> Plan {
    let all = terminals.join(", ");
    let traffic = |name: &&str| {
        let (from, to) = if is_uplink { (*name, "tower") } else { ("tower", *name) };
        format!("  - {{from: {from}, to: {to}, kind: constant, rate: 150 Mbit/s, size: 1500 B}}\n")
    };
    let traffic: String = terminals.iter().map(traffic).collect();
    plan(&format!(
        "nodes: [tower, {all}]\nlinks:\n  cell: {{ends: [tower, {all}], medium: {{kind: cell, base: tower, {medium}}}}}\ntraffic:\n{traffic}"
    ))
}

fn run(plan: &Plan, seconds: u64) -> Outcome {
    let step = Duration::from_secs(seconds);
    let outcome = simulate(plan, step, step, None, &mut |_| ()).expect("it can be simulated");
    assert!(outcome.pipes[0].counters.balance(), "{:?}", outcome.pipes[0].counters);
    outcome
}

/// Bits per second of IP packets.
fn throughput(outcome: &Outcome) -> f64 {
    outcome.pipes[0].counters.departed.bytes as f64 * 8.0 / outcome.duration.as_secs_f64()
}

/// CQI 12 on 100 blocks: a transport block of 51,216 bits (TS 38.214, 5.1.3.2 for 13,200 elements of 6 bits with a code rate of 666 / 1024) in each
/// millisecond; 7 bytes of headers for each packet, and for one more part of a packet in each block.
#[test]
fn a_terminal_gets_the_blocks_of_its_indicator() {
    let whole = 51_216_000.0 * (1.0 - 7.0 / 1_507.0 - 56.0 / 51_216.0);
    for is_uplink in [false, true] {
        let found = run(&cell("errors: 0, terminals: {phone: {cqi: 12}}", &["phone"], is_uplink), 10);
        within(0.01, throughput(&found), whole, "without errors");
        // A tenth is sent twice, a hundredth of that three times: 1 / 1.101 of the blocks are new.
        let lossy = run(&cell("terminals: {phone: {cqi: 12}}", &["phone"], is_uplink), 10);
        within(0.015, throughput(&lossy), whole / 1.101, "with repeats");
        assert_eq!(lossy.pipes[0].counters.dropped.air.packets, 0);
        let share = lossy.pipes[0].counters.air.retries as f64 / lossy.pipes[0].counters.air.attempts as f64;
        within(0.05, share, 0.101 / 1.101, "share of repeats");
    }
}

/// 14.1 dB are CQI 11, 44,040 bits; half of the time each.
#[test]
fn terminals_share_time() {
    let medium = "errors: 0, terminals: {one: {cqi: 12}, two: {sinr: 14.1 dB}}";
    let found = run(&cell(medium, &["one", "two"], false), 10);
    let headers = 1.0 - 7.0 / 1_507.0 - 56.0 / 47_000.0;
    within(0.015, throughput(&found), (51_216_000.0 + 44_040_000.0) / 2.0 * headers, "both");
}

/// The example: away from the tower, the walker gets less and less of the blocks' bits, and nothing is lost but what finds no room.
#[test]
fn the_example_plays() {
    let plan = plan(include_str!("../../../../examples/cell.yaml"));
    let found = run(&plan, 12);
    let link = plan.links.iter().position(|link| link.name == "cell").expect("it is there");
    let pipe = found.pipes.iter().find(|pipe| pipe.counters.air.attempts > 0).expect("the cell");
    assert!(plan.links[link].is_shared);
    assert_eq!(pipe.counters.dropped.air.packets, 0);
    let rate = pipe.counters.departed.bytes as f64 * 8.0 / found.duration.as_secs_f64();
    assert!((8e6..25e6).contains(&rate), "{rate}");
}

/// The example: the bus is handed over twice or more often, home never, and what waits at a handover is handed on.
#[test]
fn the_bus_is_handed_over() {
    let plan = plan(include_str!("../../../../examples/handover.yaml"));
    let found = run(&plan, 30);
    let pipe = found.pipes.iter().find(|pipe| pipe.counters.air.attempts > 0).expect("the cell");
    assert_eq!(pipe.counters.dropped.air.packets, 0);
    let handovers: Vec<u64> = pipe.stations.iter().map(|own| own.handovers).collect();
    assert_eq!([handovers[0], handovers[3]], [0, 0], "{handovers:?}");
    assert!((2..=8).contains(&handovers[1]) && (2..=8).contains(&handovers[2]), "{handovers:?}");
}

/// Without forwarding, what waits is lost at each handover.
#[test]
fn queues_are_lost_without_forwarding() {
    let text =
        include_str!("../../../../examples/handover.yaml").replace("gap: 50 ms}", "gap: 50 ms, forwarding: false}");
    let found = run(&plan(&text), 30);
    let pipe = found.pipes.iter().find(|pipe| pipe.counters.air.attempts > 0).expect("the cell");
    assert!(pipe.counters.dropped.air.packets > 0);
}

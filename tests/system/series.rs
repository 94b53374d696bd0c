//! Samples of links and nodes.

use crate::fixture::{Fixture, User};
use crate::measuring::packets;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// A transfer over a bottleneck, and a program that computes.
const LAB: &str = "
name: series
CLOCK
duration: 2 s
nodes: {client: {}, server: {}}
links: {bottleneck: {ends: [client, server], rate: 10 Mbit/s, delay: 10 ms, queue: 40 packets}}
measure: {pipes: 10 ms, node: 50 ms}
capture: [bottleneck]
timeline:
  - {on: server, run: iperf3 -s, service: true, ready: {tcp: 5201}, as: sink}
  - {at: 100 ms, on: client, run: iperf3 -c server -t 20, as: transfer, may_fail: true}
  - {at: 200 ms, on: client, run: while true; do true; done, as: spin, for: 500 ms}
  - {at: 1200 ms, link: bottleneck, set: {rate: 5 Mbit/s}}
";

type Row = BTreeMap<String, String>;

fn rows(folder: &Path, file: &str) -> Vec<Row> {
    let text = fs::read_to_string(folder.join(file)).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned));
    let names: Vec<String> = lines.next().unwrap().collect();
    lines.map(|line| names.iter().cloned().zip(line).collect()).collect()
}

fn number(row: &Row, column: &str) -> u64 {
    row[column].parse().unwrap_or_else(|_| panic!("{column} in {row:?}"))
}

/// Samples of the direction that carries the transfer, each with its instant in nanoseconds.
fn forward(folder: &Path) -> Vec<(u64, Row)> {
    let is_forward = |row: &Row| row["link"] == "bottleneck" && row["direction"] == "forward";
    let nanoseconds = |row: &Row| (row["time_s"].parse::<f64>().unwrap() * 1e9).round() as u64;
    rows(folder, "samples.csv").into_iter().filter(is_forward).map(|row| (nanoseconds(&row), row)).collect()
}

/// What must be true whatever the clock.
fn check_links(fixture: &Fixture) {
    let all = forward(&fixture.latest("series"));
    assert!(all.len() > 150, "{} samples", all.len());
    // In real time, programs take a moment to stop after the two seconds.
    assert!(all.iter().all(|(at, _)| at % 10_000_000 == 0 && *at <= 4_000_000_000));
    let report = fixture.json("series", "report.json");
    assert_eq!(
        (report["samples"]["step_ns"].as_u64(), report["samples"]["delays"].as_bool()),
        (Some(10_000_000), Some(true))
    );
    assert_eq!(report["samples"]["left_out"], 0);
    for (at, row) in &all {
        let rate = if *at < 1_200_000_000 { 10_000_000 } else { 5_000_000 };
        assert_eq!(number(row, "rate_bits_per_second"), rate, "{row:?}");
        // What waits, and the packet that is being sent.
        let waiting = number(row, "queue_bytes") * 8_000_000_000 / rate;
        let queue = number(row, "queue_ns");
        assert!((waiting..waiting + 2_500_000).contains(&queue), "{row:?}");
        if !row["one_way_delay_max_ns"].is_empty() {
            let [p50, p99, max] = ["p50", "p99", "max"].map(|name| number(row, &format!("one_way_delay_{name}_ns")));
            assert!(10_000_000 < p50 && p50 <= p99 && p99 <= max && max < 150_000_000, "{row:?}");
        }
    }
    // A full queue delays by what it holds.
    let longest = all.iter().map(|(_, row)| number(row, "queue_packets")).max().unwrap();
    assert!(longest > 30, "{longest}");
}

fn check_nodes(fixture: &Fixture, has_kernel: bool) {
    let folder = fixture.latest("series");
    let all = rows(&folder, "nodes.csv");
    assert_eq!(fixture.json("series", "report.json")["nodes"]["rows"], all.len());
    // There is a row where something has changed: a program that computes makes many, one that waits few.
    for (node, fewest) in [("client", 4), ("server", 1)] {
        let own: Vec<&Row> = all.iter().filter(|row| row["node"] == node).collect();
        let used = |row: &Row| number(row, "user_ns") + number(row, "system_ns");
        assert!(own.is_sorted_by_key(|row| used(row)), "{node}: {own:?}");
        // Before its first program and after its last, a node has none.
        let running: Vec<_> = own.iter().filter(|row| number(row, "processes") > 0).collect();
        assert!(
            running.len() >= fewest && running.iter().all(|row| number(row, "process_memory_bytes") > 0),
            "{node}: {own:?}"
        );
        assert!(own.iter().all(|row| row["softnet_dropped_packets"].is_empty() != has_kernel));
        assert!(own.iter().all(|row| row["used_memory_bytes"].is_empty() != has_kernel));
    }
}

#[test]
fn links_and_nodes_are_sampled_in_real_time() {
    for user in User::some() {
        let fixture = Fixture::new(user);
        fixture.write("lab.yaml", &LAB.replace("CLOCK", ""));
        fixture.netloom(&["run", "lab.yaml", "-q"]).expect_end();
        check_links(&fixture);
        check_nodes(&fixture, false);
        let mut client = rows(&fixture.latest("series"), "nodes.csv").into_iter().filter(|row| row["node"] == "client");
        let last = client.next_back().unwrap();
        // A busy machine gives it less than a processor, but not none.
        assert!(number(&last, "user_ns") > 50_000_000, "{last:?}");
        fixture.netloom(&["results", "plot", "results/series/latest"]).expect_code(0);
        let picture = fs::read_to_string(fixture.latest("series").join("plots/bottleneck-forward.svg")).unwrap();
        assert!(picture.contains("one-way delay"), "{picture}");
        fixture.assert_nothing_is_left("series");
    }
}

/// Counters and delays of each sample are those that follow from the capture, to the packet and the nanosecond.
#[test]
fn samples_in_virtual_time_are_exact() {
    let fixture = Fixture::with_kernel(User::Own);
    // A program that only computes would never let time go on.
    let lab = LAB.replace("CLOCK", "clock: virtual").replace("while true; do true; done", "sleep 9");
    fixture.write("lab.yaml", &lab);
    fixture.netloom(&["run", "lab.yaml", "-q"]).expect_code(0);
    check_links(&fixture);
    check_nodes(&fixture, true);
    let folder = fixture.latest("series");
    let seen = packets(&folder.join("captures/bottleneck.pcapng"));
    // What the client sent forward, and what arrived of it: by the Ethernet source address.
    let source = seen[&0][0].1[6..12].to_vec();
    let own = |interface: u32| -> Vec<(u64, &Vec<u8>)> {
        let all = seen[&interface].iter().filter(|(_, bytes)| bytes[6..12] == source);
        all.map(|(at, bytes)| (*at, bytes)).collect()
    };
    let (entered, left) = (own(0), own(1));
    // Nothing overtakes, so that what left at a place is the first of the same bytes that had not left before.
    let mut taken = vec![false; entered.len()];
    let mut delays = Vec::new();
    for (at, bytes) in &left {
        let place = (0..entered.len()).find(|place| !taken[*place] && entered[*place].1 == *bytes);
        // What entered before time zero is in no capture.
        let Some(place) = place else { continue };
        taken[place] = true;
        delays.push((*at, at - entered[place].0));
    }
    let all = forward(&folder);
    let (mut first, mut before) = (None, 0);
    for (at, row) in &all {
        let count = |packets: &[(u64, &Vec<u8>)]| packets.iter().filter(|(time, _)| time < at).count() as u64;
        // Counters begin with the lab, and captures at time zero.
        let counted = [number(row, "arrived_packets"), number(row, "departed_packets")];
        let offsets = [counted[0] - count(&entered), counted[1] - count(&left)];
        assert_eq!(*first.get_or_insert(offsets), offsets, "at {at} ns");
        let mut step: Vec<u64> =
            delays.iter().filter(|(due, _)| (before..*at).contains(due)).map(|(_, took)| *took).collect();
        step.sort_unstable();
        before = *at;
        if *at < 50_000_000 || step.is_empty() {
            continue;
        }
        let rank = |share: usize| step[(step.len() * share).div_ceil(100) - 1];
        let expected = [rank(50), rank(99), step[step.len() - 1]];
        let found = ["p50", "p99", "max"].map(|name| number(row, &format!("one_way_delay_{name}_ns")));
        assert_eq!(found, expected, "at {at} ns");
    }
}

/// A simulation tells the same of a queue that is worked out by hand: 1,250 bytes take 1 ms, and come twice as fast.
#[test]
fn simulations_sample_as_often_as_wanted() {
    let fixture = Fixture::new(User::Own);
    fixture.write(
        "lab.yaml",
        "
name: hand
nodes: [a, b]
links: {l: {ends: [a, b], rate: 10 Mbit/s, delay: 5 ms, queue: 10 packets}}
measure: {pipes: 500 us}
traffic: [{from: a, to: b, kind: constant, rate: 20 Mbit/s, size: 1250 B}]
",
    );
    fixture.netloom(&["sim", "lab.yaml", "-q", "--for", "50ms"]).expect_code(0);
    let folder = fixture.latest("hand");
    let all = rows(&folder, "samples.csv");
    let forward: Vec<&Row> = all.iter().filter(|row| row["direction"] == "forward").collect();
    let at =
        |seconds: &str| *forward.iter().find(|row| row["time_s"] == seconds).unwrap_or_else(|| panic!("{seconds}"));
    // Packets enter at 0, 0.5, 1 ms and so on. At 3 ms six have come before that instant and one at it; three are sent.
    let early = at("0.003");
    let column = |row: &Row, names: [&str; 3]| names.map(|name| row[name].clone());
    assert_eq!(column(early, ["arrived_packets", "queue_packets", "queue_ns"]), ["7", "3", "4000000"]);
    // The first to arrive has not waited: 1 ms and 5 ms.
    let first = at("0.006");
    assert_eq!(
        column(first, ["departed_packets", "one_way_delay_p50_ns", "one_way_delay_max_ns"]),
        ["1", "6000000", "6000000"]
    );
    // A packet that found ten waiting, and one just begun, takes 11 ms and 5 ms.
    let late = at("0.040");
    assert_eq!(column(late, ["queue_packets", "queue_ns", "rate_bits_per_second"]), ["10", "11000000", "10000000"]);
    assert_eq!(late["one_way_delay_max_ns"], "16000000");
    assert!(number(late, "dropped_queue_packets") > 20);
    let plot = fixture.netloom(&["results", "plot", folder.to_str().unwrap()]);
    plot.expect_code(0);
}

//! What runs should show, alone and together.

use crate::fixture::{Fixture, User};
use serde_json::Value;
use std::fs;

/// Two transfers of the same node at the same time, one of them with two flows.
const FLOWS: &str = "
name: flows
duration: 6 s
CLOCK
nodes: {client: {}, server: {}}
links: {backbone: {ends: [client, server], rate: 20 Mbit/s, delay: 20 ms, queue: 60 packets}}
measure: {tcp: 10 ms}
timeline:
  - {on: server, run: iperf3 -s, service: true, ready: {tcp: 5201}, as: one}
  - {on: server, run: iperf3 -s -p 5202, service: true, ready: {tcp: 5202}, as: other}
  - {on: client, run: iperf3 -c server -P 2 -t 5, as: pair}
  - {on: client, run: iperf3 -c server -p 5202 -b 1M -t 5 --json, as: slow}
figures:
  p95: p95(backbone.forward.delay)
  printed: slow.json.end.sum_received.bits_per_second in bit/s
expect:
  - p99(backbone.forward.delay) within 5 % of 20 ms
  - backbone.forward.delay.p99 within 5 % of 20 ms during 2 s..4 s
  - backbone.forward.queue.max == backbone.forward.queue_max
  - median(backbone.forward.queue) > 5 packets during 2 s..4 s
  - median(backbone.forward.throughput) > 15 Mbit/s
  - slow.goodput within 10 % of printed
  - slow.goodput within 10 % of 1 Mbit/s during 1 s..4 s
  - pair.goodput between 10 Mbit/s and 20 Mbit/s during 1 s..4 s
  - count(pair.flows.goodput) == 2
  - count(slow.flows.goodput) == 1
  - count(flows.goodput) == 3
  - jain(pair.flows.goodput) > 0.5
  - jain(flows.goodput) < 0.95
  - pair.cwnd.max < 200 packets during 2 s..4 s
  - min(client.srtt) between 40 ms and 60 ms
  - server.goodput within 5 % of client.goodput
  - one.goodput_received > 10 Mbit/s
";

/// Each expectation, whether it was met, and why.
fn expectations(fixture: &Fixture, lab: &str) -> Vec<(String, bool, String)> {
    let rows = fixture.json(lab, "expectations.json");
    let text = |row: &Value, name: &str| row[name].as_str().unwrap().to_owned();
    let rows = rows.as_array().unwrap().iter();
    rows.map(|row| (text(row, "text"), row["met"] == true, text(row, "explanation"))).collect()
}

#[test]
fn many_values_are_judged_in_virtual_time_and_the_same_twice() {
    let fixture = Fixture::with_kernel(User::Own);
    fixture.write("lab.yaml", &FLOWS.replace("CLOCK", "clock: virtual"));
    let mut all = Vec::new();
    for _ in 0..2 {
        fixture.netloom(&["run", "lab.yaml", "-q"]).expect_code(0);
        all.push(expectations(&fixture, "flows"));
    }
    assert!(all[0].iter().all(|(_, met, _)| *met), "{:#?}", all[0]);
    // Without the connections over which both ends of iperf3 agree.
    let without = "without 1 connection that carried next to nothing";
    assert!(all[0][8].2.contains(&format!("2 flows, {without}")), "{:#?}", all[0]);
    assert_eq!(all[0], all[1]);
    let figures = fixture.json("flows", "report.json")["figures"].clone();
    assert!((19e6..22e6).contains(&figures[0]["value"].as_f64().unwrap()), "{figures}");
}

/// Where time is real, too, and as an ordinary user: whose connections they are, and what is not there.
#[test]
fn connections_are_found_by_their_commands() {
    for user in User::some() {
        let fixture = Fixture::new(user);
        let text = FLOWS.replace(
            "CLOCK",
            "bounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}",
        );
        let head = text.split("expect:").next().unwrap();
        let more = "expect:
  - count(pair.flows.goodput) == 2
  - count(slow.flows.goodput) == 1
  - slow.goodput < pair.goodput
  - idle.goodput > 1 Mbit/s
  - pair.goodput > 1 Mbit/s during 5 s..6 s
";
        let idle = "  - {on: client, run: 'true', as: idle}\nfigures:";
        fixture.write("lab.yaml", &format!("{}{more}", head.replace("figures:", idle)));
        let run = fixture.netloom(&["run", "lab.yaml", "-q", "--junit", "out.xml", "--annotations", "github"]);
        let run = run.expect_code(1);
        let rows = expectations(&fixture, "flows");
        assert!(rows[..3].iter().all(|(_, met, _)| *met), "{rows:#?}");
        let unmet = "not measured: no TCP connection of it was sampled; wanted more than 1 Mbit/s";
        assert_eq!((rows[3].1, rows[3].2.as_str()), (false, unmet));
        let line = 1 + text.lines().position(|line| line == "expect:").unwrap() + 1 + 4;
        let annotation = format!("::error file=lab.yaml,line={line},title=flows%3A idle.goodput > 1 Mbit/s::{unmet}");
        assert!(run.stderr.contains(&annotation), "{annotation} in {run:#?}");
        let junit = fs::read_to_string(fixture.work().join("out.xml")).unwrap();
        assert!(
            junit.contains("<testcase classname=\"flows.expectations\" name=\"idle.goodput &gt; 1 Mbit/s\""),
            "{junit}"
        );
        assert!(junit.contains(&format!("<failure message=\"{unmet}\">")), "{junit}");
        assert!(junit.contains("classname=\"flows.commands\" name=\"pair on client\""), "{junit}");
    }
}

/// What a file that cannot be read or a lab that cannot run leaves for continuous integration.
#[test]
fn what_could_not_run_is_an_error() {
    let fixture = Fixture::new(User::Own);
    fixture.write("lab.yaml", "nodes: [a]\nexpect: [b.exit == 0]\n");
    let run =
        fixture.netloom(&["run", "lab.yaml", "-q", "--junit", "out.xml", "--annotations", "github"]).expect_code(3);
    let annotated = run
        .stderr
        .lines()
        .any(|line| line.starts_with("::error file=lab.yaml,line=2,title=lab.yaml%3A as described::"));
    assert!(annotated, "{run:#?}");
    let junit = fs::read_to_string(fixture.work().join("out.xml")).unwrap();
    assert!(
        junit.contains("failures=\"0\" errors=\"1\"") && junit.contains("no command, link, node or figure"),
        "{junit}"
    );
    fixture.write("lab.yaml", "nodes: [a]\n");
    let full = fixture.netloom(&["run", "lab.yaml", "-q", "--junit", "/dev/full"]).expect_code(6);
    assert!(full.stderr.contains("writing /dev/full"), "{full:#?}");
}

const SWEEP: &str = "
name: both
clock: virtual
vary: {cc: {path: nodes.client.congestion, values: [cubic, reno]}}
repeat: 2
nodes: {client: {}, server: {}}
links: {bottleneck: {ends: [client, server], rate: 10 Mbit/s, delay: 10 ms, queue: 20 packets}}
measure: {tcp: 10 ms}
timeline:
  - {on: server, run: iperf3 -s, service: true, ready: {tcp: 5201}}
  - {on: client, run: iperf3 -c server -t 1 --json, as: transfer}
figures: {goodput: transfer.json.end.sum_received.bits_per_second in bit/s}
expect:
  - transfer.exit == 0
  - all runs as described
  - mean(transfer.goodput) > 5 Mbit/s over runs
  - max(p99(bottleneck.forward.delay)) within 5 % of 10 ms over runs
  - mean(goodput | cc=cubic) > 0.5 * mean(goodput | cc=reno)
  - median(goodput | cc=cubic) > 2 * median(goodput | cc=reno)
";

#[test]
fn a_sweep_judges_all_runs_together() {
    let fixture = Fixture::with_kernel(User::Own);
    fixture.write("both.yaml", SWEEP);
    let sweep = fixture.netloom(&["sweep", "both.yaml", "-o", "out", "--junit", "out.xml"]).expect_code(1);
    let text = fs::read_to_string(fixture.work().join("out/sweep.json")).unwrap();
    let document: Value = serde_json::from_str(&text).unwrap();
    let rows = document["expectations"].as_array().unwrap();
    let met: Vec<bool> = rows.iter().map(|row| row["met"] == true).collect();
    assert_eq!(met, [true, true, true, true, false], "{rows:#?}");
    assert_eq!((&rows[1]["measured"][0]["runs"], &rows[1]["measured"][0]["unit"]), (&4.into(), &"bit/s".into()));
    assert!(rows[1]["measured"][0]["ci95"][0].as_f64() < rows[1]["measured"][0]["value"].as_f64(), "{rows:#?}");
    assert_eq!((&rows[3]["measured"][1]["runs"], &rows[3]["line"]), (&2.into(), &18.into()));
    assert!(sweep.stdout.contains("NOT met  median(goodput | cc=cubic) > 2 * median(goodput | cc=reno)"), "{sweep:#?}");
    assert!(sweep.stdout.contains("with 95 % confidence"), "{sweep:#?}");
    // Tables have the figures of the lab file alone.
    let points = fs::read_to_string(fixture.work().join("out/points.csv")).unwrap();
    assert!(points.contains(",goodput,bit/s,2,") && !points.contains("over-runs"), "{points}");
    let junit = fs::read_to_string(fixture.work().join("out.xml")).unwrap();
    assert!(junit.contains("tests=\"9\" failures=\"1\" errors=\"0\""), "{junit}");
    assert!(junit.contains("name=\"both-0003 cc=reno\""), "{junit}");
    // A single run leaves that to sweeps, and what was run runs by itself.
    let single = fixture.netloom(&["check", "both.yaml"]).expect_code(0);
    assert!(
        single.stderr.contains("5 expectations are of all runs together: `netloom sweep` judges that"),
        "{single:#?}"
    );
    let played = fixture.work().join("out/runs/both-0003/lab.yaml");
    fixture.netloom(&["run", &played.to_string_lossy(), "-q"]).expect_code(0);
}

/// The programs' packets take another way than over `l`; what is there are the kernels' own.
#[test]
fn programs_are_told_from_kernels() {
    let fixture = Fixture::with_kernel(User::Own);
    fixture.write(
        "detour.yaml",
        r#"
clock: virtual
duration: 3 s
nodes: {a: {}, b: {}, r: {kind: router}}
links:
  l: {ends: [a, b], rate: 1 Mbit/s, delay: 50 ms}
  x: {ends: [a, r]}
  y: {ends: [r, b]}
timeline:
  - {on: a, run: "ip route add 10.0.0.2/32 via 10.0.0.6; ping -4 -c 3 -i 0.2 10.0.0.2"}
expect:
  - l.forward.packets > 0
  - l.forward.packets match (programs) == 0
  - l.forward.packets match (kernels icmpv6) == l.forward.packets
  - l.forward.delay match (programs) > 40 ms
  - x.forward.packets match (programs) == 3
  - x.forward.packets match (icmp from a to 10.0.0.2) == 3 during 0 s..2 s
  - p99(x.forward.delay match (programs)) < 1 ms
"#,
    );
    fixture.netloom(&["run", "detour.yaml", "-q"]).expect_code(1);
    let all = expectations(&fixture, "detour");
    let met: Vec<bool> = all.iter().map(|(_, met, _)| *met).collect();
    assert_eq!(met, [true, true, true, false, true, true, true], "{all:#?}");
    assert!(all[0].2.contains("all of them are what kernels exchange by themselves"), "{all:#?}");
    assert!(all[3].2.contains("no such packet was delivered"), "{all:#?}");
}

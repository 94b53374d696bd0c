//! An engine in several shards, on real stacks: each thread reads its own ports and no other, and a link that is cut between
//! two of them carries what one thread would carry.

use crate::fixture::{Fixture, User};
use std::fs;

/// What is measured on a busy build machine is not the subject.
const BOUNDS: &str =
    "bounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}";

fn count(capture: &[u8], needle: &[u8]) -> usize {
    capture.windows(needle.len()).filter(|window| *window == needle).count()
}

#[test]
fn each_shard_carries_its_own_links() {
    let lab = format!(
        "name: pairs\nshards: 3\n{BOUNDS}
nodes: {{a: {{}}, b: {{}}, c: {{}}, d: {{}}, e: {{}}, f: {{}}}}
links:
  ab: {{ends: [a, b], rate: 20 Mbit/s, delay: 2 ms}}
  cd: {{ends: [c, d], rate: 20 Mbit/s, delay: 2 ms}}
  ef: {{ends: [e, f], delay: 2 ms}}
timeline:
  - {{on: b, run: iperf3 -s, as: sink, ready: {{tcp: 5201}}}}
  - {{on: d, run: iperf3 -s, as: sink2, ready: {{tcp: 5201}}}}
  - {{at: 0 s, on: a, run: iperf3 -c b -t 1, as: first}}
  - {{at: 0 s, on: c, run: iperf3 -c d -t 1 -R, as: second}}
  - {{at: 0 s, on: e, run: ping -c 20 -i 0.05 -p 6e65746c6f6f6d f, as: ping}}
capture: [ef]
expect:
  - first.exit == 0
  - second.exit == 0
  - ping.stdout contains \"20 received\"
  - ab.forward.throughput > 1 Mbit/s
  - cd.backward.throughput > 1 Mbit/s
"
    );
    for user in User::some() {
        let fixture = Fixture::new(user);
        fixture.write("pairs.yaml", &lab);
        let check = fixture.netloom(&["check", "pairs.yaml"]).expect_code(0);
        assert!(check.stdout.contains("balanced, 3 shards"), "{check:#?}");
        let run = fixture.netloom(&["run", "pairs.yaml"]).expect_code(0);
        assert!(run.stdout.contains("engine: 3 shards, "), "{run:#?}");
        assert_eq!(fixture.json("pairs", "provenance.json")["shards"], 3);
        let report = fixture.json("pairs", "report.json");
        let threads = report["effort"]["engine_thread_shares"].as_array().unwrap();
        assert_eq!(threads.len(), 3);
        assert!(threads.iter().all(|share| share.as_f64().unwrap() > 0.0), "{threads:?}");
        // 20 requests and 20 replies, each at both ends.
        let captured = fs::read(fixture.latest("pairs").join("captures/ef.pcapng")).unwrap();
        assert_eq!(count(&captured, b"netloomnetloomnetloomnetloomnetloom"), 80);
    }
}

#[test]
fn a_chain_in_two_shards_passes_what_it_passes_in_one() {
    let lab = format!(
        "name: chain\n{BOUNDS}
nodes: {{client: {{}}, r1: {{kind: transit}}, r2: {{kind: transit}}, server: {{}}}}
links:
  in: {{ends: [client, r1], rate: 100 Mbit/s}}
  middle: {{ends: [r1, r2], rate: 20 Mbit/s, delay: 5 ms}}
  out: {{ends: [r2, server], rate: 100 Mbit/s}}
timeline:
  - {{on: server, run: iperf3 -s, as: sink, ready: {{tcp: 5201}}}}
  - {{at: 0 s, on: client, run: ping -c 10 -i 0.05 -p 6e65746c6f6f6d server, as: ping}}
  - {{at: 600 ms, on: client, run: iperf3 -c server -t 1, as: transfer}}
  - {{at: 600 ms, link: middle, set: {{delay: 6 ms}}}}
capture: [middle]
expect:
  - ping.stdout contains \"10 received\"
  - transfer.exit == 0
  - middle.forward.throughput > 1 Mbit/s
"
    );
    for user in User::some() {
        let fixture = Fixture::new(user);
        fixture.write("chain.yaml", &lab);
        for shards in ["1", "2"] {
            let run = fixture.netloom(&["run", "chain.yaml", "--shards", shards]).expect_code(0);
            assert_eq!(run.stdout.contains("engine: 2 shards, "), shards == "2", "{run:#?}");
            let folder = fixture.latest("chain");
            let ping = fs::read_to_string(folder.join("logs/02-client-ping.stdout")).unwrap();
            let least: f64 =
                ping.split("min/avg/max/mdev = ").nth(1).unwrap().split('/').next().unwrap().parse().unwrap();
            assert!(least >= 10.0, "twice 5 ms: {ping}");
            let captured = fs::read(folder.join("captures/middle.pcapng")).unwrap();
            assert_eq!(count(&captured, b"netloomnetloomnetloomnetloomnetloom"), 40, "shards: {shards}");
            let pipes = fixture.json("chain", "pipes.json");
            let number = |at: usize, key: &str| pipes[at][key].as_u64().unwrap();
            let [arrived, departed] =
                ["arrived_packets", "departed_packets"].map(|key| move |at: usize| number(at, key));
            // Forward and backward of each link in turn: nothing is lost or made up at the border, whatever TCP makes the queue drop.
            // What is on its way when the run ends has not come everywhere.
            let alike = |one: u64, other: u64| one > 100 && one.abs_diff(other) <= 20;
            assert!(alike(departed(0), arrived(2)) && alike(departed(2), departed(4)), "{pipes}");
            assert!(alike(departed(5), arrived(3)) && alike(departed(3), departed(1)), "{pipes}");
            let routers = fixture.json("chain", "routers.json");
            let dropped = |at: usize| number(at, "dropped_queue_packets");
            let forwarded = |at: usize, less: u64| routers[at]["forwarded_packets"].as_u64().unwrap() - less;
            assert!(alike(forwarded(0, dropped(2)), forwarded(1, dropped(3))), "{routers}");
        }
    }
}

#[test]
fn shards_are_shown_before_they_are_made() {
    let fixture = Fixture::new(User::Own);
    let lab = "nodes: {a: {}, r1: {kind: transit}, r2: {kind: transit}, b: {}}
links: {in: {ends: [a, r1]}, middle: {ends: [r1, r2], delay: 1 ms}, out: {ends: [r2, b]}}
";
    fixture.write("cut.yaml", &format!("shards: 2\n{lab}"));
    let check = fixture.netloom(&["check", "cut.yaml"]).expect_code(0);
    assert!(check.stdout.contains("between shards: middle"), "{check:#?}");
    let json = fixture.netloom(&["check", "cut.yaml", "--json"]).expect_code(0);
    let plan: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!((&plan["shards"], &plan["shards_here"]["count"]), (&2.into(), &2.into()));
    assert_eq!(plan["shards_here"]["cut"], serde_json::json!(["middle"]));
    fixture.write("many.yaml", &format!("shards: 9\n{lab}"));
    let many = fixture.netloom(&["check", "many.yaml"]).expect_code(0);
    assert!(many.stdout.contains("9 shards were asked for, and there are 2"), "{many:#?}");
    fixture.write("wrong.yaml", &format!("shards: 0\n{lab}"));
    let wrong = fixture.netloom(&["check", "wrong.yaml"]).expect_code(3);
    assert!(wrong.stderr.contains("write `auto`, or how many threads the packet engine has: 1 to 64"), "{wrong:#?}");
    let usage = fixture.netloom(&["run", "cut.yaml", "--shards", "many"]).expect_code(2);
    assert!(usage.stderr.contains("write auto, or a number from 1 to 64"), "{usage:#?}");
}

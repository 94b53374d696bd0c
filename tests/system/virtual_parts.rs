//! Labs in virtual time that are played in parts, each by a process of its own: they give the bytes of the lab in one piece.

use crate::fixture::{Finished, Fixture, User};
use crate::virtual_time::{assert_same, results};
use std::collections::BTreeMap;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// Two sites and the line between them. What happens on one follows from the other: services are awaited, and the end comes when all
/// commands have ended.
const SITES: &str = "
name: sites
clock: virtual
seed: 7
machines: {a: {}, b: {}}
nodes: {client: {machine: a}, server: {machine: b}}
links:
  line: {ends: [client, server], rate: 20 Mbit/s, delay: 10 ms, loss: 1 %, queue: 50 packets}
capture: [line]
journal: [line]
timeline:
  - {on: server, run: iperf3 -s, as: sink, ready: {tcp: 5201}}
  - {on: client, run: iperf3 -c server -t 2 --json, as: transfer, save: transfer.json}
  - {on: server, run: 'date +%s.%N; cat /proc/uptime; head -c 16 /dev/urandom | od -x; echo $$ $RANDOM', as: chance}
  - {at: 500 ms, on: server, run: ping -c 5 -i 0.1 client, as: back}
  - {on: client, run: ping -c 2 server, after: back}
  - {at: 1 s, link: line, set: {delay: 20 ms}}
  - {at: 1500 ms, link: line, down: 100 ms}
expect: [transfer.json.end.sum_sent.retransmits > 0, line.forward.throughput < 20 Mbit/s]
";

/// Four sites around a transit router and a LAN of hosts, one on each machine.
const FOUR: &str = "
name: four
clock: virtual
seed: 3
machines: {a: {}, b: {}, c: {}, d: {}}
nodes:
  core: {kind: transit, machine: a}
  n1: {machine: a}
  n2: {machine: b}
  n3: {machine: c}
  n4: {machine: d}
links:
  l1: {ends: [n1, core], rate: 100 Mbit/s, delay: 1 ms}
  l2: {ends: [n2, core], rate: 50 Mbit/s, delay: 2 ms}
  l3: {ends: [n3, core], rate: 10 Mbit/s, delay: 3 ms, loss: 2 %}
  l4: {ends: [n4, core], rate: 100 Mbit/s, delay: {kind: uniform, from: 1 ms, to: 4 ms}}
capture: [l1, l3]
journal: [l2, l3]
timeline:
  - {on: n3, run: iperf3 -s, as: sink, ready: {tcp: 5201}}
  - {on: n1, run: iperf3 -c n3 -t 1 --json, as: transfer}
  - {on: n2, run: ping -c 20 -i 0.05 n4, as: pings}
  - {on: n4, run: ping -c 20 -i 0.05 n1, as: others}
";

/// Two sites of two nodes each: those of one site take turns, as there is no delay between them, and what they send to the other site follows
/// from what comes from there.
const PAIRS: &str = "
name: pairs
clock: virtual
seed: 5
machines: {a: {}, b: {}}
nodes:
  client: {machine: a}
  near: {kind: router, machine: a}
  far: {kind: router, machine: b}
  server: {machine: b}
links:
  here: {ends: [client, near], rate: 100 Mbit/s}
  line: {ends: [near, far], rate: 20 Mbit/s, delay: 5 ms, loss: 1 %, queue: 50 packets}
  there: {ends: [far, server], rate: 100 Mbit/s, delay: 1 ms}
capture: [line, there]
journal: [here, line]
timeline:
  - {on: server, run: iperf3 -s, as: sink, ready: {tcp: 5201}}
  - {on: client, run: iperf3 -c server -t 1 --json, as: transfer, save: transfer.json}
  - {on: near, run: ping -c 10 -i 0.05 server, as: pings}
  - {at: 500 ms, on: far, run: ping -c 5 -i 0.1 client, as: back}
";

/// Nodes with disks of two parts crash, alone and together, and boot anew; what has become of their disks, all parts report.
const CRASHES: &str = "
name: crashes
clock: virtual
seed: 3
machines: {a: {}, b: {}}
nodes:
  r: {kind: transit, machine: a}
  n1: {machine: a, disk: {at: /data, size: 20 MB, flush: 2 ms, journal: true}}
  n2: {machine: b, disk: {at: /data, size: 20 MB, flush: 2 ms}}
links:
  l1: {ends: [n1, r], delay: 1 ms}
  l2: {ends: [n2, r], delay: 2 ms, loss: 1 %}
capture: [l1]
journal: all
timeline:
  - {on: [n1, n2], run: 'while :; do date +%s.%N >> /data/log; sync /data/log; dd if=/dev/urandom of=/data/more bs=4k count=8 2> /dev/null; sleep 0.05; done', as: writer, service: true}
  - {on: n1, run: ping -i 0.05 n2, as: pings, service: true}
  - {at: 400 ms, disk: n2, slow: 20 ms, for: 200 ms}
  - {at: 600 ms, disk: n1, error: flush, count: 1}
  - {at: 1 s, crash: n2, keep: torn, for: 200 ms}
  - {at: 1500 ms, crash: n1, keep: some, for: 300 ms}
  - {at: 2500 ms, crash: [n1, n2], for: 200 ms}
  - {at: 3500 ms, on: [n1, n2], run: 'wc -l /data/log; ls -l /data', as: kept}
duration: 4 s
";

/// The way to play a machine's part of a lab, whose parts meet at Unix sockets in the fixture's folder.
fn part(fixture: &Fixture, machines: &[&str], machine: &str) -> Child {
    let mut arguments: Vec<String> =
        ["run", "lab.yaml", "-q", "--no-report", "--key", "key", "--part", machine].map(str::to_owned).to_vec();
    for other in machines {
        arguments.extend(["--at".to_owned(), format!("{other}={}", fixture.work().join(other).display())]);
    }
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    fixture.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
}

fn play(fixture: &Fixture, machines: &[&str]) -> Vec<Finished> {
    let parts: Vec<Child> = machines.iter().map(|machine| part(fixture, machines, machine)).collect();
    parts.into_iter().map(|part| Finished::of(&part.wait_with_output().expect("it ends"))).collect()
}

/// The results with or without a page.
fn files(fixture: &Fixture, lab: &str) -> BTreeMap<String, Vec<u8>> {
    let page = fixture.latest(lab).join("report.html");
    if !page.exists() {
        std::fs::write(&page, "").expect("a file can be written");
    }
    let mut files = results(fixture, lab);
    // What a kernel says on its console is on its own machine.
    files.retain(|name, _| !name.contains("console-") && name != "disks.csv");
    files
}

fn are_equal(user: User, lab: &str, name: &str, machines: &[&str]) {
    let fixture = Fixture::with_kernel(user);
    fixture.write("lab.yaml", lab);
    fixture.write("key", &"5a".repeat(32));
    let begin = Instant::now();
    fixture.netloom(&["run", "lab.yaml", "-q", "--no-report"]).expect_code(0);
    let whole = begin.elapsed();
    let piece = files(&fixture, name);
    let parts_begin = Instant::now();
    // All of them, since who ends first is seldom who knows why.
    let all = play(&fixture, machines);
    assert!(all.iter().all(|finished| finished.code == Some(0)), "{all:#?}");
    let parts = parts_begin.elapsed();
    crate::fixture::tell(&format!("{name}: {whole:?} in one piece, {parts:?} in {} parts", machines.len()));
    assert!(
        piece.keys().any(|file| file.starts_with("captures/")) == lab.contains("capture:")
            && piece.contains_key("journal.arrows")
    );
    for machine in machines {
        let own = format!("{name}-{machine}");
        assert_same(&piece, &files(&fixture, &own));
        fixture.assert_nothing_is_left(&own);
    }
}

#[test]
fn two_parts_give_the_bytes_of_one_piece() {
    for user in User::some() {
        are_equal(user, SITES, "sites", &["a", "b"]);
    }
}

#[test]
fn two_parts_with_two_kernels_each_give_the_bytes_of_one_piece() {
    are_equal(User::Own, PAIRS, "pairs", &["a", "b"]);
}

#[test]
fn parts_that_hear_only_headers_of_others_give_the_bytes_of_one_piece() {
    let without = PAIRS.replace("name: pairs\n", "name: headers\n").replace("capture: [line, there]\n", "");
    let corrupt =
        without.replace("here: {ends: [client, near], ", "here: {ends: [client, near], delay: 1 ms, corrupt: 0.1 %, ");
    are_equal(User::Own, &corrupt, "headers", &["a", "b"]);
}

#[test]
fn four_parts_give_the_bytes_of_one_piece() {
    are_equal(User::Own, FOUR, "four", &["a", "b", "c", "d"]);
}

#[test]
fn nodes_of_parts_crash_as_in_one_piece() {
    are_equal(User::Own, CRASHES, "crashes", &["a", "b"]);
}

#[test]
fn a_part_whose_peer_is_killed_ends_soon_and_names_it() {
    let fixture = Fixture::with_kernel(User::Own);
    let endless = SITES.replace("name: sites", "name: killed").replace(
        "timeline:",
        "duration: 100000 s\ntimeline:\n  - {on: client, run: ping -i 0.001 -q server, as: pings}",
    );
    fixture.write("lab.yaml", &endless);
    fixture.write("key", &"5a".repeat(32));
    let machines = ["a", "b"];
    let (one, mut other) = (part(&fixture, &machines, "a"), part(&fixture, &machines, "b"));
    let end = Instant::now() + Duration::from_secs(60);
    while !fixture.latest("killed-a").exists() && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(50));
    }
    other.kill().expect("it runs");
    let killed = Instant::now();
    let finished = Finished::of(&one.wait_with_output().expect("it ends")).expect_code(8);
    let took = killed.elapsed();
    assert!(finished.stderr.contains("part `b` of the lab is lost"), "{}", finished.stderr);
    // It says so within two seconds, and then its results are written; beside other tests all of that takes longer.
    assert!(took < Duration::from_secs(20), "{took:?}");
    other.wait().expect("it was killed");
    fixture.assert_nothing_is_left("killed-a");
    fixture.assert_nothing_is_left("killed-b");
}

#[test]
fn parts_with_another_lab_file_are_refused_with_the_difference() {
    let fixture = Fixture::with_kernel(User::Own);
    fixture.write("key", &"5a".repeat(32));
    let lab = SITES.replace("name: sites", "name: others");
    fixture.write("lab.yaml", &lab);
    let one = part(&fixture, &["a", "b"], "a");
    std::thread::sleep(Duration::from_secs(2));
    fixture.write("lab.yaml", &lab.replace("loss: 1 %", "loss: 2 %"));
    let other = part(&fixture, &["a", "b"], "b");
    for part in [one, other] {
        let finished = Finished::of(&part.wait_with_output().expect("it ends"));
        assert!(finished.stderr.contains("the lab file: "), "{}", finished.stderr);
    }
    fixture.assert_nothing_is_left("others-a");
}

//! All faults at once, and partitions behind a bridge of a node's own kernel, in virtual time.

use crate::fixture::{Fixture, User, is_left_to_test_all};
use crate::virtual_time::{assert_same, results};
use std::fs;

/// Answers each line with its own time, and keeps it on the disk; or asks a node again and again, and prints what it is told and what fails.
const TALK: &str = r#"import os, socket, sys, threading, time

def answer(client):
    with client, client.makefile("rb") as lines:
        for line in lines:
            with open("/data/records", "ab") as records:
                records.write(line)
                records.flush()
                if line.endswith(b"0\n"):
                    os.fsync(records)
            client.sendall(b"%d %s" % (time.time_ns(), line))

def serve():
    listener = socket.create_server(("", 7000))
    while True:
        threading.Thread(target=answer, args=(listener.accept()[0],)).start()

def ask(node):
    number = 0
    while True:
        try:
            with socket.create_connection((node, 7000), 0.3) as connection, connection.makefile("rb") as answers:
                while True:
                    number += 1
                    connection.sendall(b"record %d\n" % number)
                    print(time.monotonic_ns(), answers.readline().decode().strip(), flush=True)
                    time.sleep(0.05)
        except OSError as error:
            print(time.monotonic_ns(), type(error).__name__, flush=True)
            time.sleep(0.1)

{"serve": serve, "ask": ask}[sys.argv[1]](*sys.argv[2:])
"#;

/// Each fault that a kernel node in virtual time can have.
const LAB: &str = "name: all-faults
clock: virtual
seed: 3
nodes:
  n1: &node {clock: {skew: -40 ms, drift: 100 ppm}, files: &program {/srv/talk.py: ./talk.py}, disk: {at: /data, size: 16 MB, flush: 2 ms}}
  n2: *node
  n3: *node
  r: {kind: router}
  c: {files: *program}
links:
  lan: {ends: [n1, n2, n3, r], delay: 1 ms, loss: 0.5 %}
  way: {ends: [c, r], rate: 10 Mbit/s, delay: 5 ms, corrupt: 0.5 %, duplicate: 1 %, reorder: 2 %}
journal: all
timeline:
  - {on: [n1, n2, n3], run: exec python3 /srv/talk.py serve, as: server, ready: {tcp: 7000}}
  - {on: c, run: exec python3 /srv/talk.py ask n1, as: ask1, for: 9500 ms}
  - {on: c, run: exec python3 /srv/talk.py ask n2, as: ask2, for: 9500 ms}
  - {on: n1, run: exec python3 /srv/talk.py ask n3, as: ask3, service: true}
  - {at: {mean: 500 ms}, link: lan-n2, down: 50 ms, every: {mean: 1 s}, until: 9 s}
  - {at: 600 ms, partition: {random: n*}, every: 1500 ms, times: 5, for: 300 ms}
  - {at: 700 ms, partition: {isolate: one, of: n*}, slow: 20 ms, for: 2 s}
  - {at: 800 ms, partition: [[c], [n2]], jam: true, for: 400 ms}
  - {at: 900 ms, partition: {ring: [n1, n2, n3, c]}, for: 100 ms}
  - {at: 1 s, partition: {leader: echo n2, on: c, of: n*}, direction: to, for: 300 ms}
  - {at: 1 s, link: way, direction: forward, packet: {match: {to_port: 7000}, nth: 3, of: flow}, do: drop}
  - {at: 1 s, link: way, direction: backward, packet: {match: {from_port: 7000}, probability: 5 %}, do: {hold: 30 ms}}
  - {at: 2 s, link: way, reset: {to_port: 7000}}
  - {at: 2 s, link: lan-n3, down: {carrier: true, for: 300 ms}}
  - {at: 2500 ms, link: way, set: {loss: 3 %, delay: 20 ms}}
  - {at: 3 s, on: n2, clock: {step: 3 s}}
  - {at: 3 s, on: n3, clock: {drift: -300 ppm}}
  - {at: 3100 ms, freeze: n2, for: 700 ms}
  - {at: 3850 ms, kill: server, for: 100 ms}
  - {at: 4 s, limit: n1, pids: 50, memory: 100 MB}
  - {at: 4 s, limit: n3, fds: 20}
  - {at: 4200 ms, pause: n3, for: 500 ms}
  - {at: 4500 ms, signal: SIGWINCH, to: n3, process: '*serve*'}
  - {at: 5 s, crash: n1, keep: some, for: 500 ms}
  - {at: 5 s, crash: n2, keep: torn, for: 700 ms}
  - {at: 6500 ms, reboot: n3, for: 300 ms}
  - {at: 7 s, stop: n2, for: 500 ms}
  - {at: 8 s, crash: [n1, n2, n3], for: 300 ms}
  - {at: 8800 ms, restart: n2}
  - {at: 9 s, flap: r, for: 200 ms}
";

/// Plays it in `make test-all` alone: it takes seconds.
#[test]
fn all_faults_at_once_give_the_same_bytes_in_each_run() {
    if is_left_to_test_all("all faults at once") {
        return;
    }
    let fixture = Fixture::with_kernel(User::Own);
    fixture.write("talk.py", TALK);
    fixture.write("lab.yaml", LAB);
    let [first, second] = [1, 2].map(|_| {
        fixture.netloom(&["run", "lab.yaml", "-q"]).expect_code(0);
        results(&fixture, "all-faults")
    });
    assert_same(&first, &second);
    let events = String::from_utf8(first["events.jsonl"].clone()).unwrap();
    for what in ["crashed", "boots", "runs again", "partition", "frozen", "goes on", "clock", "carrier off", "limited"]
    {
        assert!(events.contains(&format!("\"event\":\"{what}\"")), "{what}: {events}");
    }
    fixture.assert_nothing_is_left("all-faults");
}

/// Five hosts whose network is a bridge in a node's kernel; each says whom it reaches.
fn bridged(partition: &str) -> String {
    let hosts = 1..=5;
    let nodes: String =
        hosts.clone().map(|n| format!("  n{n}: {{setup: [ip address add 10.0.0.{n}/24 dev eth0]}}\n")).collect();
    let ports: String = (0..5).map(|port| format!(", ip link set eth{port} master br0")).collect();
    let links: String = hosts.clone().map(|n| format!("  l{n}: {{ends: [n{n}, b], delay: 1 ms}}\n")).collect();
    let look = "for n in 1 2 3 4 5; do ping -c 2 -i 0.2 -W 0.5 -q 10.0.0.$n > /tmp/$n & done; wait; \
                for n in 1 2 3 4 5; do if grep -q ' 2 received' /tmp/$n; then printf $n; fi; done";
    let looks: String = [(200, "before"), (1_100, "during"), (3_200, "after")]
        .iter()
        .flat_map(|(at, when)| hosts.clone().map(move |n| (at, when, n)))
        .map(|(at, when, n)| {
            format!("  - {{at: {at} ms, on: n{n}, as: {when}-{n}, save: {when}-{n}.txt, run: \"{look}\"}}\n")
        })
        .collect();
    format!(
        "name: bridged\nclock: virtual\nroutes: none\naddresses: none\narp: true\nbounds: {{changes: true}}\nnodes:\n{nodes}  \
         b: {{setup: [ip link add br0 type bridge, ip link set br0 up{ports}]}}\nlinks:\n{links}timeline:\n  \
         - {{at: 1 s, partition: {partition}, for: 2 s}}\n{looks}"
    )
}

#[test]
fn nodes_behind_a_bridge_of_a_kernel_are_parted_by_pairs() {
    let fixture = Fixture::with_kernel(User::Own);
    let all = ["12345"; 5];
    for (partition, during) in [
        ("{ring: n*}", ["125", "123", "234", "345", "145"]),
        ("{bridge: n*}", ["123", "123", "12345", "345", "345"]),
        ("[[n1, n2], [n3]]", ["1245", "1245", "345", "12345", "12345"]),
    ] {
        fixture.write("bridged.yaml", &bridged(partition));
        fixture.netloom(&["run", "bridged.yaml", "-q"]).expect_code(0);
        for (when, wanted) in [("before", all), ("during", during), ("after", all)] {
            let read = |n| fs::read_to_string(fixture.latest("bridged").join(format!("{when}-{n}.txt"))).unwrap();
            assert_eq!([1, 2, 3, 4, 5].map(read), wanted, "{partition} {when}");
        }
    }
    fixture.assert_nothing_is_left("bridged");
}

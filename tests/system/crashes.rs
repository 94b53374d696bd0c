//! Nodes with disks that crash: what was flushed is there when they have booted again, and nothing else.

use crate::fixture::{Fixture, User};
use crate::vms::BOUNDS;
use std::fs;
use std::path::Path;

/// A service that takes whatever it is sent, on a port of its own.
const SERVES: &str = "import socket
own = socket.create_server(('', 7000))
while True:
    other, _ = own.accept()
    while other.recv(65536):
        pass
";

/// A program that sends a byte every 100 ms, and says when its connection is over and why.
const TALKS: &str = "import socket, sys, time
s = socket.create_connection(('a', 7000))
try:
    for step in range(200):
        s.send(b'x')
        time.sleep(0.1)
except OSError as error:
    print(type(error).__name__, flush=True)
";

/// A record that is written with fsync, one that is written without, and what is there after a crash by this rule.
fn lab(keep: &str) -> String {
    format!(
        "
name: crashes
clock: virtual
nodes:
  a: {{disk: {{at: /data, size: 32 MB, latency: 100 us, flush: 2 ms}}}}
  b: {{}}
links: {{l: {{ends: [a, b], delay: 1 ms}}}}
timeline:
  - {{on: a, run: 'date +%s >> /data/boots; sync /data/boots; exec python3 serves.py', as: server, ready: {{tcp: 7000}}}}
  - {{on: a, run: 'echo kept > /data/kept && sync /data/kept', as: flushed}}
  - {{at: 1 s, on: a, run: 'echo one > /data/one; echo two > /data/two; dd if=/dev/urandom of=/data/raw bs=64k count=1 oflag=direct', as: unflushed}}
  - {{at: 500 ms, on: b, run: python3 talks.py, as: talks}}
  - {{at: 2 s, crash: a, keep: {keep}, for: 1 s}}
  - {{at: 4 s, on: a, run: 'cd /data && ls && cat kept && wc -l < boots', as: after}}
  - {{at: 4 s, on: b, run: 'ping -c 3 -i 0.2 a', as: ping}}
"
    )
}

fn write(fixture: &Fixture, keep: &str) {
    fixture.write("serves.py", SERVES);
    fixture.write("talks.py", TALKS);
    fixture.write("lab.yaml", &lab(keep));
}

fn log(folder: &Path, name: &str) -> String {
    let logs = fs::read_dir(folder.join("logs")).unwrap().flatten();
    let end = format!("-{name}.stdout");
    let found = logs.map(|entry| entry.path()).find(|path| path.to_str().is_some_and(|path| path.ends_with(&end)));
    fs::read_to_string(found.unwrap_or_else(|| panic!("no log of {name}"))).unwrap()
}

#[test]
fn what_was_flushed_survives_a_crash_and_what_was_not_is_lost() {
    for user in User::some() {
        let fixture = Fixture::with_kernel(user);
        write(&fixture, "flushed");
        fixture.netloom(&["run", "lab.yaml"]).expect_code(0);
        let first = fixture.latest("crashes").canonicalize().unwrap();
        assert_eq!(log(&first, "a-after"), "boots\nkept\nkept\n2\n");
        // Silence for as long as the node is away, then the end of a connection that it knows nothing of.
        assert_eq!(log(&first, "b-talks"), "ConnectionResetError\n");
        assert_eq!(log(&first, "b-ping").matches("icmp_seq=").count(), 3);
        let crashed = events(&first).into_iter().find(|event| event["event"] == "crashed").unwrap();
        assert_eq!((&crashed["node"], &crashed["disk"]["keep"]), (&"a".into(), &"flushed".into()), "{crashed}");
        assert!(crashed["disk"]["lost_writes"].as_u64().unwrap() > 0, "{crashed}");
        assert_eq!(crashed["disk"]["lost_writes"], crashed["disk"]["cached_writes"], "{crashed}");
        fixture.netloom(&["run", "lab.yaml"]).expect_code(0);
        let second = fixture.latest("crashes").canonicalize().unwrap();
        assert_ne!(first, second);
        for name in ["a-after", "b-talks", "b-ping", "a-server"] {
            assert_eq!(log(&first, name), log(&second, name), "{name}");
        }
        assert_eq!(events(&first), events(&second));
        fixture.assert_nothing_is_left("crashes");
    }
}

/// A database that recovers by another command, a job that runs once, and a service that comes again as it is.
#[test]
fn services_say_whether_they_start_after_a_crash() {
    let fixture = Fixture::with_kernel(User::all().pop().unwrap());
    let lab = "
name: recovers
clock: virtual
nodes:
  a: {disk: {at: /data, size: 32 MB}, collect: [/data/starts]}
  b: {}
links: {l: {ends: [a, b], delay: 1 ms}}
timeline:
  - {on: a, run: 'echo first >> /data/starts; sync; sleep 100', as: first, service: true, on_restart: never}
  - {on: a, run: 'echo both >> /data/starts; sync; sleep 100', as: both, service: true}
  - {on: a, run: 'echo recovery >> /data/starts; sync; exit 0', as: recovery, service: once, on_restart: only, after: both}
  - {on: a, run: 'echo again >> /data/starts; sync; sleep 100', as: again, service: true, on_restart: only, after: recovery}
  - {on: b, run: 'echo never', as: idle, service: once, on_restart: only}
  - {at: 2 s, crash: a, for: 1 s}
  - {at: 4 s, on: a, run: cat /data/starts, as: look, save: starts}
  - {at: 5 s, crash: a}
  - {at: 5500 ms, log: the end}
duration: 6 s
";
    fixture.write("recovers.yaml", lab);
    fixture.netloom(&["run", "recovers.yaml"]).expect_code(0);
    let results = fixture.latest("recovers").canonicalize().unwrap();
    let starts = fs::read_to_string(results.join("starts")).unwrap();
    let mut lines: Vec<&str> = starts.lines().collect();
    lines[..2].sort_unstable();
    assert_eq!(lines, ["both", "first", "both", "recovery", "again"], "{starts}");
    // It has crashed for good, and another kernel reads what is on its disk: no program has started since.
    assert_eq!(fs::read_to_string(results.join("nodes/a/data/starts")).unwrap(), starts);
    let report = fixture.json("recovers", "report.json");
    let commands = report["commands"].as_array().unwrap();
    let ran: Vec<&str> = commands.iter().map(|command| command["name"].as_str().unwrap()).collect();
    assert!(ran.contains(&"a-again") || ran.contains(&"again"), "{ran:?}");
    assert!(!ran.iter().any(|name| name.contains("idle")), "it had no occasion: {ran:?}");
    fixture.assert_nothing_is_left("recovers");
}

/// In real and dilated time the kernel's process is killed, and another connects where it was.
#[test]
fn kernels_crash_on_every_clock() {
    for (user, clock) in [(User::Own, "real"), (User::all().pop().unwrap(), "{dilation: 3}")] {
        let fixture = Fixture::with_kernel(user);
        let lab = format!(
            "
name: cut
clock: {clock}
nodes:
  a: {{stack: kernel, disk: {{at: /data, size: 32 MB}}}}
  b: {{stack: kernel}}
links: {{l: {{ends: [a, b], delay: 5 ms}}}}
timeline:
  - {{on: a, run: 'echo kept > /data/kept; sync /data/kept; echo lost > /data/lost; sleep 1000', as: writer, service: true}}
  - {{on: b, run: 'ping -c 1 -W 5 a', as: before}}
  - {{at: 4 s, crash: a, keep: flushed, for: 1 s}}
  - {{at: 6 s, on: a, run: 'rm -f /data/more; ls /data; cut -d. -f1 /proc/uptime', as: look, save: look}}
  - {{on: b, run: 'ping -c 3 -W 5 a', as: after, after: look}}
{BOUNDS}"
        );
        fixture.write("cut.yaml", &lab);
        fixture.netloom(&["run", "cut.yaml"]).expect_code(0);
        let looked = fs::read_to_string(fixture.latest("cut").join("look")).unwrap();
        assert!(looked.contains("kept"), "{looked}");
        assert!(fixture.latest("cut").join("logs/console-a-1.log").exists());
        let crashed = events(&fixture.latest("cut")).into_iter().find(|event| event["event"] == "crashed").unwrap();
        assert_eq!(crashed["disk"]["lost_writes"], crashed["disk"]["cached_writes"], "{crashed}");
        fixture.assert_nothing_is_left("cut");
    }
}

/// A power cut takes the carrier of whoever is at the other end of a cable; it comes back with the node.
#[test]
fn neighbours_of_a_node_that_crashes_lose_their_carrier() {
    let fixture = Fixture::with_kernel(User::Own);
    let lab = "
clock: virtual
nodes: {a: {}, b: {}, s: {kind: switch}, c: {}}
links: {l: {ends: [a, b]}, m: {ends: [a, s]}, n: {ends: [s, c]}}
timeline:
  - {at: 2 s, crash: a, for: 2 s}
";
    let looks = [1, 3, 6].map(|at| {
        format!(
            "  - {{at: {at} s, on: [b, c], run: cat /sys/class/net/eth0/carrier, as: at-{at}, save: at-{at}.txt}}\n"
        )
    });
    fixture.write("carrier.yaml", &(lab.to_owned() + &looks.concat()));
    fixture.netloom(&["run", "carrier.yaml"]).expect_code(0);
    let seen = |node: &str| {
        [1, 3, 6].map(|at| fs::read_to_string(fixture.latest("carrier").join(format!("at-{at}-{node}.txt"))).unwrap())
    };
    assert_eq!(seen("b"), ["1\n", "0\n", "1\n"]);
    // The switch between them keeps the carrier of this one.
    assert_eq!(seen("c"), ["1\n", "1\n", "1\n"]);
    let told = events(&fixture.latest("carrier").canonicalize().unwrap());
    let count = |what: &str| told.iter().filter(|event| event["event"] == what).count();
    assert_eq!((count("carrier off"), count("carrier on")), (2, 2), "{told:#?}");
}

/// A rack that loses its power: the second hears of the carrier that the first takes away, and goes at the same instant.
#[test]
fn neighbours_crash_at_one_instant() {
    let fixture = Fixture::with_kernel(User::all().pop().unwrap());
    let lab = "
name: rack
clock: virtual
nodes: {a: {}, b: {}}
links: {l: {ends: [a, b], delay: 1 ms}}
timeline:
  - {on: a, run: ping -i 0.1 b, as: talks, may_fail: true}
  - {at: 2 s, crash: [a, b], for: 1 s}
  - {at: 4 s, on: b, run: 'ping -c 1 a', as: ping}
";
    fixture.write("rack.yaml", lab);
    fixture.netloom(&["run", "rack.yaml"]).expect_code(0);
}

#[test]
fn a_rule_says_what_is_on_the_disk_beside_what_was_flushed() {
    let fixture = Fixture::with_kernel(User::Own);
    for keep in ["all", "some", "torn"] {
        write(&fixture, keep);
        fixture.netloom(&["run", "lab.yaml"]).expect_code(0);
        let folder = fixture.latest("crashes").canonicalize().unwrap();
        // The file system is whole whatever was kept of what was not flushed, and so is what was.
        assert!(log(&folder, "a-after").contains("\nkept\n2\n"), "{keep}");
        let crashed = events(&folder).into_iter().find(|event| event["event"] == "crashed").unwrap();
        assert_eq!(crashed["disk"]["keep"], keep);
        assert_eq!(crashed["disk"]["torn"], keep == "torn", "{crashed}");
    }
}

fn events(folder: &Path) -> Vec<serde_json::Value> {
    let text = fs::read_to_string(folder.join("events.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

//! Labs in virtual time: the same to the last byte, and exact to the nanosecond.

use crate::fixture::{Fixture, User};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A transfer over a link that loses packets, and whatever else programs could take chance or time from.
pub(crate) const TWIN: &str = "
name: twin
clock: virtual
seed: SEED
nodes: {client: {}, router: {kind: router}, server: {}}
links:
  access: {ends: [client, router], rate: 1 Gbit/s, delay: 100 us}
  far: {ends: [router, server], rate: 20 Mbit/s, delay: 10 ms, loss: 1 %, queue: 50 packets}
capture: [far, access]
timeline:
  - {on: server, run: iperf3 -s -1, as: sink, ready: {tcp: 5201}}
  - {on: client, run: iperf3 -c server -t 2 --json, as: transfer, save: transfer.json}
  - {on: router, run: 'date +%s.%N; cat /proc/uptime; head -c 16 /dev/urandom | od -x; echo $$ $RANDOM', as: chance}
  - {at: 500 ms, on: server, run: ping -c 5 -i 0.1 client}
  - {at: 1 s, link: far, set: {delay: 20 ms}}
  - {at: 1500 ms, link: far, down: 100 ms}
expect:
  - transfer.json.end.sum_sent.retransmits > 0
  - far.forward.throughput < 20 Mbit/s
";

/// All files of a run that its seed decides, by name.
pub(crate) fn results(fixture: &Fixture, lab: &str) -> BTreeMap<String, Vec<u8>> {
    let folder = fixture.latest(lab);
    let mut files = BTreeMap::new();
    for part in ["", "logs", "captures", "plots"] {
        let Ok(entries) = fs::read_dir(folder.join(part)) else { continue };
        for path in entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file()) {
            let name = path.strip_prefix(&folder).unwrap().to_string_lossy().into_owned();
            files.insert(name, fs::read(&path).unwrap());
        }
    }
    // When and where the run was, and the name of its folder.
    for own in ["provenance.json", "report.json", "summary.txt"] {
        assert!(files.remove(own).is_some(), "{own}");
    }
    // When the run ended; labs whose nodes are all in the fabric have none.
    files.remove("machine-files.json");
    // It shows the summary and the provenance.
    assert!(files.remove("report.html").is_some());
    files
}

/// Runs a lab; its results.
fn play(fixture: &Fixture, lab: &str, text: &str) -> BTreeMap<String, Vec<u8>> {
    fixture.write("lab.yaml", text);
    fixture.netloom(&["run", "lab.yaml", "-q"]).expect_code(0);
    fixture.assert_nothing_is_left(lab);
    results(fixture, lab)
}

/// Fails where two runs differ, and says where.
#[track_caller]
pub(crate) fn assert_same(one: &BTreeMap<String, Vec<u8>>, other: &BTreeMap<String, Vec<u8>>) {
    assert_eq!(one.keys().collect::<Vec<_>>(), other.keys().collect::<Vec<_>>());
    for (name, bytes) in one {
        let place = bytes.iter().zip(&other[name]).position(|(a, b)| a != b);
        let line = place.map(|place| bytes[..place].iter().filter(|byte| **byte == b'\n').count() + 1);
        let lengths = (bytes.len(), other[name].len());
        assert!(*bytes == other[name], "{name} differs from byte {place:?}, line {line:?}, on; lengths {lengths:?}");
    }
}

/// Programs that keep all processors busy until this is dropped.
struct Load(Vec<Child>);

impl Load {
    fn on_all_processors() -> Self {
        let count = std::thread::available_parallelism().map_or(2, usize::from) + 1;
        let spin = || Command::new("/bin/sh").args(["-c", "while :; do :; done"]).stdin(Stdio::null()).spawn().unwrap();
        Self((0..count).map(|_| spin()).collect())
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        for child in &mut self.0 {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}

#[test]
fn runs_with_one_seed_are_the_same_to_the_last_byte() {
    for user in User::some() {
        let fixture = Fixture::with_kernel(user);
        let lab = TWIN.replace("SEED", "7");
        let first = play(&fixture, "twin", &lab);
        for file in ["pipes.csv", "samples.csv", "events.jsonl", "commands.json", "expectations.json", "verdict.json"] {
            assert!(first[file].len() > 10, "{file}");
        }
        assert!(first["captures/far.pcapng"].len() > 1_000_000 && first["transfer.json"].len() > 1_000);
        assert_same(&first, &play(&fixture, "twin", &lab));
        let load = Load::on_all_processors();
        let busy = play(&fixture, "twin", &lab);
        drop(load);
        assert_same(&first, &busy);
        let other = play(&fixture, "twin", &TWIN.replace("SEED", "8"));
        for file in ["captures/far.pcapng", "pipes.csv", "samples.csv", "transfer.json", "logs/03-router-chance.stdout"]
        {
            assert!(first[file] != other[file], "{file} does not depend on the seed");
        }
    }
}

/// Nodes of one kind are copies of a kernel that has booted once; they compute what they would if each had booted by itself.
#[test]
fn copied_kernels_compute_what_kernels_compute_that_boot() {
    for user in User::some() {
        let fixture = Fixture::with_kernel(user);
        let copied = play(&fixture, "twin", &TWIN.replace("SEED", "9"));
        fixture.wrapped(&["env", "NETLOOM_BOOT=each"], &["run", "lab.yaml", "-q"]).expect_code(0);
        fixture.assert_nothing_is_left("twin");
        let booted = results(&fixture, "twin");
        assert_same(&copied, &booted);
    }
}

/// Static routes around a ring: the lab computes them itself.
#[test]
fn twenty_kernels_on_a_ring_reach_one_another() {
    let fixture = Fixture::with_kernel(User::Own);
    let mut text = String::from("name: ring\nclock: virtual\nnodes:\n");
    for node in 0..20 {
        writeln!(text, "  n{node}: {{kind: router}}").unwrap();
    }
    text.push_str("links:\n");
    for node in 0..20 {
        let next = (node + 1) % 20;
        writeln!(text, "  l{node}: {{ends: [n{node}, n{next}], rate: 100 Mbit/s, delay: 1 ms}}").unwrap();
    }
    text.push_str("timeline:\n");
    for node in 0..20 {
        let others = (0..20).filter(|other| *other != node).map(|other| format!("ping -c 1 -W 1 n{other}"));
        let all = others.collect::<Vec<_>>().join(" && ");
        writeln!(text, "  - {{on: n{node}, run: '{all}', as: p{node}}}").unwrap();
    }
    fixture.write("ring.yaml", &text);
    fixture.netloom(&["run", "ring.yaml", "-q"]).expect_code(0);
    // Ten links there and ten back.
    let farthest = fs::read_to_string(fixture.latest("ring").join("logs/01-n0-p0.stdout")).unwrap();
    let times = round_trips(&farthest);
    assert_eq!(times.len(), 19, "{farthest}");
    assert!((20.0..20.6).contains(&times[9]), "{times:?}");
    fixture.assert_nothing_is_left("ring");
}

/// Where nothing happens, kernels are let run for their own housekeeping alone.
#[test]
fn idle_kernels_are_seldom_woken() {
    let fixture = Fixture::with_kernel(User::Own);
    let lab = "
name: calm
clock: virtual
duration: 100 s
nodes: [a, b]
links: {l: {ends: [a, b], delay: 1 ms}}
timeline:
  - {on: a, run: 'true'}
";
    play(&fixture, "calm", lab);
    let report = fixture.json("calm", "report.json");
    let grants = report["effort"]["scheduler"]["grants"].as_u64().unwrap();
    // With a thread that wakes every 100 ms there were 43 per second.
    assert!(grants < 1_500, "{grants}");
}

/// A packet counts once, however many links it crosses, and the wall time of a run has five phases.
#[test]
fn a_run_says_what_it_cost() {
    let fixture = Fixture::with_kernel(User::Own);
    let nodes = "{a: {}, r: {kind: transit}, b: {}}";
    let links = "{one: {ends: [a, r], delay: 1 ms}, two: {ends: [r, b], delay: 1 ms}}";
    ping(&fixture, nodes, links);
    let report = fixture.json("ping", "report.json");
    let count = |row: &serde_json::Value| row["arrived_packets"].as_u64().unwrap();
    let pipes = report["pipes"].as_array().unwrap();
    let sent: u64 = pipes.iter().filter(|row| row["from"] != "r").map(count).sum();
    let effort = &report["effort"];
    assert!(sent >= 8 && effort["scheduler"]["packets"] == sent, "{effort:#}");
    let phases = &effort["phases"];
    for phase in ["setup_ns", "boot_ns", "lab_ns", "end_ns", "results_ns"] {
        assert!(phases[phase].as_u64().unwrap() > 0, "{phase}: {phases:#}");
    }
    assert_eq!(phases["lab_ns"], effort["wall_ns"]);
    let summary = fs::read_to_string(fixture.latest("ping").join("summary.txt")).unwrap();
    assert!(summary.contains(" packets sent, ") && summary.contains("wall time: "), "{summary}");
}

/// The round-trip times that ping prints, in milliseconds.
fn round_trips(text: &str) -> Vec<f64> {
    let times = text.split("time=").skip(1);
    times.map(|rest| rest.split_whitespace().next().unwrap().parse().unwrap()).collect()
}

/// The least and the longest round-trip time of a ping from node `a` to `b`, in milliseconds. What ping prints may be up to a
/// microsecond too short: it counts whole microseconds of a clock that goes in steps of 256 ns.
fn ping(fixture: &Fixture, nodes: &str, links: &str) -> Vec<f64> {
    let text = format!(
        "name: ping\nclock: virtual\nnodes: {nodes}\nlinks: {links}\ntimeline:\n  - {{on: a, run: ping -4 -c 4 -i 0.1 b, as: ping}}\n"
    );
    play(fixture, "ping", &text);
    let printed = fs::read_to_string(fixture.latest("ping").join("logs/01-a-ping.stdout")).unwrap();
    assert!(printed.contains(" 4 received"), "{printed}");
    // rtt min/avg/max/mdev = 20.001/20.002/20.003/0.001 ms
    let (_, figures) = printed.split_once("mdev = ").unwrap();
    let figures: Vec<&str> = figures.split('/').collect();
    [figures[0], figures[2]].map(|figure| figure.parse().unwrap()).to_vec()
}

fn assert_all_between(times: &[f64], from: f64, to: f64) {
    assert!(times.iter().all(|time| (from..=to).contains(time)), "{times:?} are not all from {from} to {to} ms");
}

#[test]
fn links_without_lookahead_are_exact_too() {
    let fixture = Fixture::with_kernel(User::Own);
    // Neither delay nor rate: every instant is computed in rounds.
    assert_all_between(&ping(&fixture, "[a, b]", "{l: {ends: [a, b]}}"), 0.0, 0.02);
    let nodes = "{a: {}, r: {kind: router}, s: {kind: router}, b: {}}";
    let links = "{x: {ends: [a, r]}, y: {ends: [r, s], rate: 10 Mbit/s, delay: 50 ms}, z: {ends: [s, b]}}";
    // 84 bytes at 10 Mbit/s take 67.2 us, twice. One may wait for a neighbour's or router's message before it, as long.
    let times = ping(&fixture, nodes, links);
    assert_all_between(&times[..1], 100.134, 100.16);
    assert_all_between(&times[1..], 100.134, 100.3);
}

#[test]
fn delays_and_the_processor_show_in_round_trips() {
    let fixture = Fixture::with_kernel(User::Own);
    assert_all_between(&ping(&fixture, "[a, b]", "{l: {ends: [a, b], delay: 10 ms}}"), 19.999, 20.02);
    // Sent and received by either: four times 250 us, and 84 bytes of 1 us each.
    let slow = "{a: {cpu: {packet: 250 us, byte: 1 us}}, b: {cpu: {packet: 250 us, byte: 1 us}}}";
    let times = ping(&fixture, slow, "{l: {ends: [a, b], delay: 10 ms}}");
    assert_all_between(&times[..1], 21.335, 21.36);
    // One may wait until a processor is done with a message by which a neighbour joins a group: 250 us, and its bytes.
    assert_all_between(&times[1..], 21.335, 21.75);
}

#[test]
fn what_the_timeline_does_happens_at_its_instant() {
    let fixture = Fixture::with_kernel(User::Own);
    let lab = "
name: instants
clock: virtual
start: 2026-01-01
nodes: [a, b]
links: {l: {ends: [a, b], delay: 10 ms}}
timeline:
  - {on: a, run: 'date +%s.%N', as: first}
  - {on: b, run: 'date +%s.%N', as: second}
  - {at: 1 s, on: a, run: ping -4 -c 20 -i 0.1 -W 1 b, as: ping, may_fail: true}
  - {at: 1 s, on: b, run: 'date +%s.%N', as: third}
  - {at: 1 s, on: b, run: 'date +%s.%N', as: fourth}
  - {at: 1 s, link: l, set: {queue: 900 packets}}
  - {at: 1000001 us, link: l, set: {queue: 800 packets}}
  - {at: 1450 ms, link: l, set: {delay: 25 ms}}
  - {at: 1950 ms, link: l, down: 200 ms}
  - {at: 3 s, on: a, run: sleep 1000, as: sleeper}
  - {at: 5 s, on: a, run: sleep 1, as: second-sleeper}
";
    play(&fixture, "instants", lab);
    let took = fixture.turn_lasted();
    assert!(took.as_secs() < 100, "a thousand seconds of sleep took {took:?}");
    let commands = fixture.json("instants", "commands.json");
    let row = |name: &str| commands.as_array().unwrap().iter().find(|row| row["name"] == name).unwrap().clone();
    for (name, at) in [("first", 0), ("second", 0), ("ping", 1), ("third", 1), ("fourth", 1), ("sleeper", 3)] {
        assert_eq!(row(name)["start_lateness_ns"], 0, "{name}");
        assert_eq!(row(name)["start_ns"], at * 1_000_000_000_u64, "{name}");
    }
    // To start three programs takes longer than the microsecond between the first two changes.
    let events = fs::read_to_string(fixture.latest("instants").join("events.jsonl")).unwrap();
    let noted = events.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let changes: Vec<_> = noted.filter(|event| event["event"].as_str().unwrap().starts_with("link ")).collect();
    let planned = [1_000_000_000, 1_000_001_000, 1_450_000_000, 1_950_000_000, 2_150_000_000_u64];
    assert_eq!(changes.iter().map(|change| change["time_ns"].as_u64().unwrap()).collect::<Vec<_>>(), planned);
    assert!(changes.iter().all(|change| change["lateness_ns"] == 0), "{changes:#?}");
    // To start a program, and to hear of its end, takes as long as its kernel looks at its clock meanwhile: 256 ns each time,
    // and how often depends on the machine's programs and files.
    let lasted = |name: &str| row(name)["end_ns"].as_u64().unwrap() - row(name)["start_ns"].as_u64().unwrap();
    for (name, ns) in [("sleeper", 1_000_000_000_000), ("second-sleeper", 1_000_000_000), ("third", 0)] {
        assert!((ns..ns + 5_000_000).contains(&lasted(name)), "{name} took {} ns", lasted(name));
    }
    let log = |file: &str| fs::read_to_string(fixture.latest("instants").join("logs").join(file)).unwrap();
    // Programs of one instant see the same time of day, each a little later for what it did before it looked.
    let seconds = |file: &str| log(file).trim().split_once('.').map(|(s, ns)| (s.to_owned(), ns.to_owned())).unwrap();
    let [first, second] = ["01-a-first.stdout", "02-b-second.stdout"].map(seconds);
    assert_eq!(first.0, second.0);
    let third = seconds("04-b-third.stdout");
    assert_eq!(third.0.parse::<u64>().unwrap(), first.0.parse::<u64>().unwrap() + 1);
    // 1 January 2026, when kernels have settled.
    assert!(first.0.starts_with("17672"), "{first:?}");
    // Sent at 1.0, 1.1 ... 1.4 s; at 1.5 s and later with the new delay.
    let times = round_trips(&log("03-a-ping.stdout"));
    assert_all_between(&times[..5], 20.0, 20.03);
    assert_all_between(&times[5..], 50.0, 50.03);
    assert_eq!(times.len(), 20 - 2, "two were sent while the link was cut: {times:?}");
    let at = |what: &str| -> Vec<u64> {
        let lines = events.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        lines.filter(|event| event["event"] == what).map(|event| event["time_ns"].as_u64().unwrap()).collect()
    };
    assert_eq!((at("link down"), at("link up")), (vec![1_950_000_000], vec![2_150_000_000]));
}

#[test]
fn without_a_kernel_for_it_virtual_time_is_refused() {
    let fixture = Fixture::new(User::Own);
    fixture.write("lab.yaml", "clock: virtual\nnodes: [a, b]\nlinks: {l: {ends: [a, b]}}\n");
    let mut command = fixture.command(&["run", "lab.yaml"]);
    command.env_remove("NETLOOM_KERNEL").env("XDG_CACHE_HOME", fixture.work());
    let output = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{stderr}");
    if Path::new("/usr/bin/linux.uml").exists() {
        assert!(stderr.contains("built without virtual time"), "{stderr}");
    }
    assert!(stderr.contains("netloom kernel build"), "{stderr}");
    fixture.assert_nothing_is_left("lab");
}

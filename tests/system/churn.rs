//! Programs that the timeline ends, holds and starts again, and the order in which programs are asked to end.

use crate::fixture::{Fixture, User};
use crate::virtual_time::{assert_same, results};
use serde_json::Value;

const LAB: &str = "
name: churn
bounds: {lateness: 10 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 10 s, starts: 60 s}
nodes: [a, b]
links: {l: {ends: [a, b], delay: 1 ms}}
";

/// A server that says what happens to it, and a clock that ticks.
const COMING_AND_GOING: &str = "
duration: 6 s
timeline:
  - {on: b, run: 'trap \"echo asked; exit 0\" TERM; echo begins; while :; do sleep 0.05; done', as: server, service: true}
  - {on: a, run: 'while :; do date +%s%N; sleep 0.1; done', as: ticker, service: true, after: server}
  - {on: a, run: 'sleep 0.5', as: load}
  - {on: b, run: 'true', as: later, after: load, delay: 300 ms}
  - {at: 1 s, kill: server, for: 500 ms}
  - {at: 2 s, restart: server}
  - {at: 3 s, pause: ticker, for: 1 s}
  - {at: 4500 ms, reboot: a, for: 500 ms}
  - {at: 5500 ms, kill: b}
expect: [later.exit == 0, l.forward.drops >= 0]
";

struct Events(Vec<Value>);

impl Events {
    fn of(fixture: &Fixture) -> Self {
        let text = std::fs::read_to_string(fixture.latest("churn").join("events.jsonl")).unwrap();
        Self(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
    }

    /// When this happened to a command, a node or a link, in milliseconds after time zero.
    fn at(&self, what: &str, whom: &str) -> Vec<i64> {
        let is_meant = |event: &&Value| {
            event["event"] == what && ["command", "node", "link"].iter().any(|kind| event[*kind] == whom)
        };
        self.0.iter().filter(is_meant).map(|event| event["time_ns"].as_i64().map_or(-1, |at| at / 1_000_000)).collect()
    }
}

fn log(fixture: &Fixture, name: &str) -> String {
    let logs = fixture.latest("churn").join("logs");
    let mut files = std::fs::read_dir(&logs).unwrap().map(|entry| entry.unwrap().path());
    let file = files.find(|path| path.to_string_lossy().ends_with(&format!("-{name}.stdout")));
    std::fs::read_to_string(file.unwrap()).unwrap()
}

#[test]
fn programs_are_killed_held_and_started_again_at_their_instants() {
    for user in User::some() {
        let fixture = Fixture::new(user);
        fixture.write("churn.yaml", &format!("{LAB}{COMING_AND_GOING}"));
        let run = fixture.netloom(&["run", "churn.yaml"]).expect_code(0);
        assert_eq!(log(&fixture, "server"), "begins\nbegins\nasked\nbegins\n", "{run:#?}");
        let events = Events::of(&fixture);
        for (what, whom, least) in [
            ("killed", "server", 1_000),
            ("asked to restart", "server", 2_000),
            ("paused", "ticker", 3_000),
            ("goes on", "ticker", 4_000),
            ("killed", "a", 4_500),
            ("link down", "l", 4_500),
            ("link up", "l", 5_000),
            ("killed", "b", 5_500),
        ] {
            assert!(matches!(events.at(what, whom)[..], [at] if at >= least), "{whom} {what}: {:?}", events.0);
        }
        let (server, ticker) = (events.at("started", "server"), events.at("started", "ticker"));
        assert!(matches!(server[..], [-1, again, last] if again >= 1_500 && last >= 2_000), "{server:?}");
        assert!(matches!(ticker[..], [-1, again] if again >= 5_000), "{ticker:?}");
        // The longest time without a tick is that of the pause, however busy the machine is.
        let ticks: Vec<i64> = log(&fixture, "ticker").lines().map(|tick| tick.parse().unwrap()).collect();
        let longest = ticks.windows(2).map(|two| two[1] - two[0]).max().unwrap();
        assert!(longest >= 900_000_000, "{longest} ns");
        let rows = fixture.json("churn", "commands.json");
        let row = |name: &str| rows.as_array().unwrap().iter().find(|row| row["name"] == name).unwrap().clone();
        assert_eq!((&row("server")["restarts"], &row("server")["failed"]), (&2.into(), &false.into()));
        assert!(run.stdout.contains("stopped by signal 9, started again 2 times"), "{run:#?}");
        assert!(row("later")["start_ns"].as_i64().unwrap() >= row("load")["end_ns"].as_i64().unwrap() + 300_000_000);
        fixture.assert_nothing_is_left("churn");
    }
}

#[test]
fn in_virtual_time_they_come_and_go_at_the_same_nanosecond() {
    let play = || {
        let fixture = Fixture::with_kernel(User::Own);
        fixture.write("churn.yaml", &format!("{LAB}clock: virtual\n{COMING_AND_GOING}"));
        fixture.netloom(&["run", "churn.yaml", "-q"]).expect_code(0);
        assert_eq!(log(&fixture, "server"), "begins\nbegins\nasked\nbegins\n");
        let events = Events::of(&fixture);
        assert_eq!(events.at("started", "server")[1], 1_500);
        assert_eq!(events.at("started", "ticker")[1], 5_000);
        assert_eq!((events.at("paused", "ticker"), events.at("goes on", "ticker")), (vec![3_000], vec![4_000]));
        assert_eq!(events.at("started", "later"), [800]);
        results(&fixture, "churn")
    };
    assert_same(&play(), &play());
}

/// The client is no service and ends first; then what waits for others, and what these wait for last. A held one hears that it is to end.
#[test]
fn programs_end_in_the_opposite_order_of_their_starts() {
    let fixture = Fixture::new(User::Own);
    let lab = "
duration: 1 s
stop: 20 s
timeline:
  - {on: b, run: 'trap \"date +%s%N; exit 0\" TERM; echo up > up-1; while :; do sleep 0.05; done', as: store, ready: {file: up-1}}
  - {on: a, run: 'trap \"sleep 0.3; date +%s%N; exit 0\" TERM; echo up > up-2; while :; do sleep 0.05; done', as: front, ready: {file: up-2}, after: store}
  - {on: a, run: 'trap \"sleep 0.3; date +%s%N; exit 0\" TERM; while :; do sleep 0.05; done', as: client}
  - {at: 500 ms, pause: client}
";
    fixture.write("churn.yaml", &format!("{LAB}{lab}"));
    let run = fixture.netloom(&["run", "churn.yaml", "-q"]).expect_code(0);
    let ended = |name: &str| log(&fixture, name).trim().parse::<i64>().unwrap_or_else(|_| panic!("{name}: {run:#?}"));
    assert!(ended("client") < ended("front") && ended("front") < ended("store"), "{run:#?}");
}

/// A node stops and starts, and changes its network itself before.
const STOPPING: &str = "
name: churn
bounds: {lateness: 10 s, rate: 100 %, delay: 100 %, starvation: 100 %, standstill: 60 s, events: 10 s, starts: 60 s}
nodes:
  a:
  b: {sysctl: {net.ipv4.ip_default_ttl: 33}, setup: ['ip addr add 10.9.9.9/32 dev lo']}
  c:
links: {l: {ends: [a, b], delay: 1 ms}, m: {ends: [b, c]}}
timeline:
  - {on: b, run: 'trap \"echo asked; exit 0\" TERM; echo begins; while :; do sleep 0.05; done', as: server, service: true}
  - {at: 200 ms, on: b, run: 'ip addr add 10.8.8.8/24 dev eth0; ip route add blackhole 10.7.0.0/16; sysctl -qw net.ipv4.ip_default_ttl=44', as: own}
  - {at: 1 s, stop: [b, c], for: 2 s}
  - {at: 1500 ms, on: a, run: 'ip -o link show eth0 | grep -c LOWER_UP; ! ping -c 1 -W 1 b', as: away}
  - {at: 2 s, on: b, run: 'true', as: never, may_fail: true}
  - {at: 3 s, on: c, run: 'true', as: at-once}
  - {at: 3500 ms, on: a, run: 'until ping -c 1 -W 1 b; do sleep 0.1; done; ip -o link show eth0 | grep -c LOWER_UP', as: back}
  - {on: b, run: 'ip -o addr; ip route; cat /proc/sys/net/ipv4/ip_default_ttl', as: look, after: back}
expect: [away.exit == 0, at-once.exit == 0, l.forward.drops >= 0]
";

/// What a kernel would still send when its network goes is no packet that was lost: at these instants IPv6 leaves its groups.
#[test]
fn what_a_node_loses_by_stopping_is_not_judged() {
    let fixture = Fixture::with_kernel(User::Own);
    let lab = "
clock: virtual
duration: 3 s
nodes: [a, b]
links: {l: {ends: [a, b], delay: 1 ms}}
timeline:
  - {at: 500 ms, stop: a}
  - {at: 1 s, stop: b, for: 500 ms}
";
    fixture.write("stopped.yaml", lab);
    fixture.netloom(&["run", "stopped.yaml"]).expect_code(0);
}

#[test]
fn a_node_that_stops_has_the_network_of_the_lab_file_when_it_starts() {
    let played = |fixture: &Fixture, clock: &str| {
        fixture.write("churn.yaml", &format!("{STOPPING}{clock}"));
        let run = fixture.netloom(&["run", "churn.yaml"]).expect_code(0);
        assert_eq!(log(fixture, "server"), "begins\nasked\nbegins\nasked\n", "{run:#?}");
        let told = [log(fixture, "away"), log(fixture, "back")]
            .map(|text| text.lines().filter(|line| line.len() == 1).collect::<String>());
        assert_eq!(told, ["0", "1"], "the carrier goes with the neighbour: {run:#?}");
        let look = log(fixture, "look");
        assert!(["10.0.0.", "10.9.9.9/32", "\n33\n"].iter().all(|own| look.contains(own)), "{look}");
        assert!(!["10.8.8.8", "blackhole", "\n44\n"].iter().any(|gone| look.contains(gone)), "{look}");
        let events = Events::of(fixture);
        for what in ["asked to stop", "has stopped", "starts again", "runs again"] {
            assert_eq!(events.at(what, "b").len(), 1, "{what}: {run:#?}");
        }
        let of_nodes =
            events.0.iter().filter(|event| event["event"] == "asked to stop" || event["event"] == "starts again");
        let late: Vec<&Value> = of_nodes.map(|event| &event["lateness_ns"]).collect();
        assert!(late.len() == 4 && (clock.is_empty() || late.iter().all(|late| **late == 0)), "{late:?}: {run:#?}");
        let report = fixture.json("churn", "report.json");
        let never = report["commands"].as_array().unwrap().iter().find(|row| row["name"] == "never").unwrap();
        assert_eq!((&never["node_stopped"], &never["start_ns"]), (&true.into(), &Value::Null), "{never}");
        assert!(report["pipes"][0]["dropped_down_packets"].as_u64() >= Some(u64::from(!clock.is_empty())), "{report}");
        fixture.assert_nothing_is_left("churn");
    };
    for user in User::some() {
        played(&Fixture::new(user), "");
    }
    played(&Fixture::with_kernel(User::Own), "clock: virtual\n");
}

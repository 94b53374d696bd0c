//! Faults that happen in a lab that is up since somebody asks for them: each kind by command, and all through one request of the protocol.

use crate::fixture::{Fixture, User};
use serde_json::Value;
use std::fs;

/// Node `a` has a disk, `s` is a switch, and link `m` is ready for resets.
const LAB: &str = "
name: hand
clock: virtual
nodes:
  a: {disk: {at: /data, size: 32 MB}}
  b: {}
  s: {kind: switch}
links: {l: {ends: [a, s], delay: 1 ms}, m: {ends: [b, s]}}
timeline:
  - {at: 1 s, link: m, reset: true}
  - {on: b, run: sleep 100000000, as: nap, service: true}
  - {on: a, run: python3 serves.py, as: server, ready: {tcp: 7000}}
  - {on: b, run: python3 talks.py, as: talks, service: true, after: server}
";

/// A service that takes whatever it is sent.
const SERVES: &str = "import socket
own = socket.create_server(('', 7000))
while True:
    other, _ = own.accept()
    try:
        while other.recv(65536):
            pass
    except OSError:
        pass
";

/// A program that sends a byte every 100 ms, and says why its connection is over.
const TALKS: &str = "import socket, time
s = socket.create_connection(('a', 7000))
try:
    while True:
        s.send(b'x')
        time.sleep(0.1)
except OSError as error:
    print(type(error).__name__, flush=True)
time.sleep(1e9)
";

/// A lab that is up, in virtual time, which stands at time zero.
struct Up {
    fixture: Fixture,
}

impl Up {
    fn new() -> Self {
        let fixture = Fixture::with_kernel(User::Own);
        fixture.write("serves.py", SERVES);
        fixture.write("talks.py", TALKS);
        fixture.write("hand.yaml", LAB);
        fixture.netloom(&["up", "hand.yaml", "-q"]).expect_code(0);
        Self { fixture }
    }

    fn fault(&self, entry: &str) {
        self.fixture.netloom(&["fault", "hand", entry]).expect_code(0);
    }

    fn refused(&self, entry: &str) -> String {
        self.fixture.netloom(&["fault", "hand", entry]).expect_code(2).stderr
    }

    fn advance(&self, time: &str) {
        self.fixture.netloom(&["advance", "hand", time]).expect_code(0);
    }

    /// What a command in a node prints; lab time goes on until it has ended.
    fn says(&self, node: &str, command: &str) -> String {
        self.fixture.netloom(&["resume", "hand"]).expect_code(0);
        let finished = self.fixture.netloom(&["exec", "hand", node, "--", "sh", "-c", command]);
        self.fixture.netloom(&["pause", "hand"]).expect_code(0);
        finished.expect_code(0).stdout
    }

    fn state(&self, node: &str) -> String {
        let labs = self.fixture.netloom(&["ps", "--json"]).expect_code(0).stdout;
        let labs: Value = serde_json::from_str(&labs).unwrap();
        let own = labs.as_array().into_iter().flatten().find(|lab| lab["name"] == "hand");
        let nodes =
            own.unwrap_or_else(|| panic!("{labs}"))["nodes"].as_array().cloned().unwrap_or_else(|| panic!("{labs}"));
        let found = nodes.iter().find(|one| one["name"] == node).unwrap_or_else(|| panic!("{labs}"));
        found["state"].as_str().unwrap().to_owned()
    }

    fn down(self) -> Vec<Value> {
        self.fixture.netloom(&["down", "hand"]).expect_code(0);
        let text = fs::read_to_string(self.fixture.latest("hand").join("events.jsonl")).unwrap();
        self.fixture.assert_nothing_is_left("hand");
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

fn count(events: &[Value], what: &str) -> usize {
    events.iter().filter(|event| event["event"] == what).count()
}

#[test]
fn a_node_crashes_and_boots_by_hand() {
    let lab = Up::new();
    lab.says("a", "echo kept > /data/kept && sync /data/kept");
    lab.fault("{crash: a, for: 1 s}");
    assert_eq!(lab.state("a"), "crashed");
    // Nothing else can be asked of it meanwhile, and its neighbour sees a switch whose port is down.
    assert!(lab.refused("{freeze: a, for: 1 s}").contains("has crashed"), "{}", lab.refused("{freeze: a, for: 1 s}"));
    assert!(lab.refused("{crash: a}").contains("has crashed already"));
    lab.advance("500 ms");
    assert_eq!(lab.state("a"), "crashed");
    lab.advance("2 s");
    assert_eq!(lab.state("a"), "running");
    assert_eq!(lab.says("a", "cat /data/kept"), "kept\n");
    // Without a time it boots when somebody starts it; the time of an earlier crash has no say in that.
    lab.fault("{crash: [a], keep: all}");
    lab.advance("3 s");
    assert_eq!(lab.state("a"), "crashed");
    lab.fixture.netloom(&["start", "hand", "a"]).expect_code(0);
    lab.advance("2 s");
    assert_eq!(lab.state("a"), "running");
    let events = lab.down();
    assert_eq!((count(&events, "crashed"), count(&events, "runs again")), (2, 2), "{events:#?}");
}

/// Linux keeps no time before 1970, so the kernels refuse such a clock. The one who asks is told, and the lab goes on.
#[test]
fn what_the_agent_of_a_node_refuses_is_an_error_of_that_command_alone() {
    let lab = Up::new();
    let refused = |entry: &str| lab.fixture.netloom(&["fault", "hand", entry]).expect_code(4).stderr;
    let said = refused("{on: b, clock: {step: -9000000000 s}}");
    assert!(said.contains("node b"), "{said}");
    let both = refused("{on: [a, b], clock: {step: -9000000000 s}}");
    assert!(both.contains("node a"), "{both}");
    // A file that is not there has no sectors.
    let disk = refused("{disk: a, error: read, path: /data/nothing}");
    assert!(disk.contains("node a"), "{disk}");
    assert_eq!((lab.state("a"), lab.state("b")), ("running".to_owned(), "running".to_owned()));
    lab.advance("1 s");
    lab.fault("{on: b, clock: {step: 3 s}}");
    let events = lab.down();
    assert_eq!((count(&events, "clock"), count(&events, "disk fault")), (1, 0), "{events:#?}");
}

#[test]
fn clocks_and_freezes_by_hand_are_those_of_the_timeline() {
    let lab = Up::new();
    let now = || lab.says("b", "date +%s").trim().parse::<i64>().unwrap();
    let before = now();
    lab.fault("{on: b, clock: {step: -100000000 s}}");
    // Lab time runs as fast as this machine computes while it is asked.
    let after = now();
    assert!(before - after > 50_000_000, "{before} and {after}");
    lab.fault("{freeze: b, for: 2 s}");
    assert_eq!(lab.state("b"), "frozen");
    assert!(lab.refused("{kill: b}").contains("stands still"), "{}", lab.refused("{kill: b}"));
    lab.advance("3 s");
    assert_eq!(lab.state("b"), "running");
    lab.fault("{kill: nap, for: 1 s}");
    lab.advance("2 s");
    let events = lab.down();
    assert_eq!((count(&events, "frozen"), count(&events, "goes on")), (1, 1));
    // The step, and that of the freeze.
    assert_eq!(count(&events, "clock"), 2, "{events:#?}");
    let naps = events.iter().filter(|event| event["event"] == "started" && event["command"] == "nap");
    assert_eq!(naps.count(), 2);
}

#[test]
fn packets_are_picked_by_hand_and_connections_end() {
    let lab = Up::new();
    // Of three pings, the second request is dropped.
    lab.fault("{link: l, direction: backward, packet: {match: {protocol: icmp}, nth: 2}, do: drop}");
    let pings = lab.says("b", "ping -4 -n -c 3 -i 0.2 -W 1 a; true");
    assert!(pings.contains("icmp_seq=1") && !pings.contains("icmp_seq=2") && pings.contains("icmp_seq=3"), "{pings}");
    // Links that are not ready for answers say what to do.
    let why = lab.refused("{link: l, reset: true}");
    assert!(why.contains("is not ready for resets"), "{why}");
    lab.fault("{link: m, reset: true}");
    lab.advance("1 s");
    let logs = lab.fixture.latest("hand").join("logs");
    let said = fs::read_dir(logs).unwrap().flatten().map(|entry| entry.path());
    let mut said = said.filter(|path| path.to_str().is_some_and(|path| path.ends_with("-b-talks.stdout")));
    assert_eq!(fs::read_to_string(said.next().expect("a log of talks")).unwrap(), "ConnectionResetError\n");
    lab.fault("{link: l, down: 100 ms}");
    lab.fault("{partition: [[a], [b]]}");
    assert!(lab.says("b", "ping -4 -n -c 1 -W 0.5 a; true").contains(" 0 received"));
    lab.fixture.netloom(&["heal", "hand"]).expect_code(0);
    assert!(lab.says("b", "ping -4 -n -c 1 -W 2 a; true").contains(" 1 received"));
    let events = lab.down();
    let mut treated: Vec<&Value> = events.iter().filter(|event| event["event"] == "packet fault").collect();
    treated.retain(|event| event["do"] == "drop");
    assert_eq!(treated.len(), 1, "{events:#?}");
    assert_eq!((&treated[0]["link"], &treated[0]["line"]), (&Value::from("l"), &Value::Null));
}

/// A node in real time has the clock and the kernel of this machine: the reasons come with the refusals.
#[test]
fn what_real_time_cannot_do_is_refused_by_hand_with_the_reason() {
    let fixture = Fixture::new(User::Own);
    fixture.write("hand.yaml", "name: hand\nnodes: [a, b]\nlinks: {l: {ends: [a, b], delay: 1 ms}}\n");
    fixture.netloom(&["up", "hand.yaml", "-q"]).expect_code(0);
    for (entry, why) in [
        ("{crash: a}", "it has the kernel of this machine"),
        ("{freeze: a, for: 1 s}", "`pause: a`"),
        ("{on: a, clock: {step: 1 s}}", "the clock of the whole machine"),
        ("{at: 1 s, crash: a}", "it happens at once"),
        ("{run: true, on: a}", "netloom exec"),
    ] {
        let refused = fixture.netloom(&["fault", "hand", entry]).expect_code(2);
        assert!(refused.stderr.contains(why), "{entry}: {}", refused.stderr);
    }
    let all = fixture.netloom(&["fault", "hand"]).expect_code(0).stdout;
    assert!(all.contains("a  stop    '{stop: a, for: 1 s}'\n") && all.contains("b  freeze  cannot be: `b`"), "{all}");
    fixture.netloom(&["fault", "hand", "{stop: a, for: 200 ms}"]).expect_code(0);
    let again = "for i in $(seq 100); do ping -4 -n -c 1 -W 1 a > /dev/null && exit 0; done; exit 1";
    fixture.netloom(&["exec", "hand", "b", "--", "sh", "-c", again]).expect_code(0);
    fixture.netloom(&["down", "hand"]).expect_code(0);
    fixture.assert_nothing_is_left("hand");
}

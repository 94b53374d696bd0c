//! The control protocol as its page of the manual describes it.

use crate::bed::{Bed, User};
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

const PAGE: &str = include_str!("../../docs/protocol.md");
const LAB: &str = include_str!("../../examples/star.yaml");
/// What the page writes where machines differ.
const ANYTHING: &str = "…";

/// The lines of the page's session, in which those with `> ` are requests.
fn session() -> Vec<&'static str> {
    let block = PAGE.split("```session\n").nth(1).and_then(|rest| rest.split("```").next());
    block.expect("the page has a session").lines().collect()
}

/// Whether an answer has the form that the page shows: the same keys and words, and numbers where there are numbers.
fn is_like(shown: &Value, got: &Value) -> bool {
    match (shown, got) {
        (Value::String(text), Value::String(_)) if text == ANYTHING => true,
        (Value::Number(_), Value::Number(_)) => true,
        (Value::Array(shown), Value::Array(got)) => {
            shown.len() == got.len() && shown.iter().zip(got).all(|(one, other)| is_like(one, other))
        }
        (Value::Object(shown), Value::Object(got)) => {
            let same = shown.keys().eq(got.keys());
            same && shown.iter().all(|(key, value)| is_like(value, &got[key]))
        }
        (shown, got) => shown == got,
    }
}

#[test]
fn the_session_on_the_page_can_be_replayed() {
    let bed = Bed::new(User::Own);
    bed.write("star.yaml", LAB);
    bed.netloom(&["up", "star.yaml", "-q"]).expect_code(0);
    let socket = bed.path().join("runtime/netloom/star/control.sock");
    let mut stream = UnixStream::connect(socket).unwrap();
    // A lab that does not answer fails the test rather than holding it up.
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let mut answers = BufReader::new(stream.try_clone().unwrap()).lines();
    let lines = session();
    assert!(lines.len() > 10, "{lines:?}");
    for line in lines {
        if let Some(request) = line.strip_prefix("> ") {
            stream.write_all(format!("{request}\n").as_bytes()).unwrap();
            continue;
        }
        let answer = answers.next().unwrap_or_else(|| panic!("no answer; the page has {line}")).unwrap();
        let (shown, got): (Value, Value) =
            (serde_json::from_str(line).unwrap(), serde_json::from_str(&answer).unwrap());
        assert!(is_like(&shown, &got), "the page has\n  {line}\nand the lab answers\n  {answer}");
    }
    // The session ends the lab, whose end `netloom down` waits for where it is not over yet.
    bed.netloom(&["down", "star"]);
    bed.assert_nothing_is_left("star");
}

/// The answer to a request that stands alone.
fn ask(bed: &Bed, lab: &str, request: &str) -> Value {
    let socket = bed.path().join(format!("runtime/netloom/{lab}/control.sock"));
    let mut stream = UnixStream::connect(socket).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream.write_all(format!("{request}\n").as_bytes()).unwrap();
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer).unwrap();
    serde_json::from_str(&answer).unwrap()
}

const WAYS: &str = "
nodes: {a: {expose: {38471: 80}}, r: {kind: router}, b: {}}
links:
  near: {ends: [{node: a, interface: wired, address: 192.168.7.2/24}, r], mtu: 9000, bypass: true}
  far: {ends: [r, b], delay: 2 ms, forward: {rate: 10 Mbit/s}}
timeline:
  - {on: b, run: sleep 1000, as: server, service: true}
";

#[test]
fn the_topology_tells_what_is_there_and_what_is_in_force_now() {
    let bed = Bed::new(User::Own);
    bed.write("ways.yaml", WAYS);
    bed.netloom(&["up", "ways.yaml", "-q"]).expect_code(0);
    bed.netloom(&["set", "ways", "far.backward", "delay=80 ms", "state=down"]).expect_code(0);
    let topology = ask(&bed, "ways", r#"{"request":"topology"}"#);
    let interface = &topology["nodes"][0]["interfaces"][0];
    assert_eq!((&interface["name"], &interface["mtu_bytes"]), (&"wired".into(), &9000.into()));
    assert_eq!(interface["addresses"][0], "192.168.7.2/24");
    assert_eq!(interface["mac"].as_str().unwrap().len(), "00:00:00:00:00:00".len());
    let [near, far] = &topology["links"].as_array().unwrap()[..] else { panic!("{topology:#}") };
    assert_eq!((&near["joined_in_kernel"], &far["joined_in_kernel"]), (&true.into(), &false.into()));
    assert_eq!(far["ends"][1], serde_json::json!({ "node": "b", "interface": "eth0" }));
    let [forward, backward] = &far["pipes"].as_array().unwrap()[..] else { panic!("{far:#}") };
    assert_eq!(
        (&forward["settings"]["rate"], &forward["settings"]["delay"], &forward["up"]),
        (&"10 Mbit/s".into(), &"2 ms".into(), &true.into())
    );
    assert_eq!((&backward["settings"]["delay"], &backward["up"]), (&"80 ms".into(), &false.into()));
    assert_eq!(topology["exposed"], serde_json::json!([{ "port": 38471, "node": "a", "to": 80 }]));
    assert_eq!(
        (&topology["services"][0]["name"], &topology["services"][0]["state"]),
        (&"server".into(), &"ready".into())
    );
    bed.netloom(&["down"]);
    bed.assert_nothing_is_left("ways");
}

/// Every request of the schema is on the page.
#[test]
fn the_page_names_every_request() {
    let bed = Bed::new(User::Own);
    let printed = bed.netloom(&["schema", "--protocol"]).expect_code(0);
    let schema: Value = serde_json::from_str(&printed.stdout).unwrap();
    let requests = schema["$defs"]["Request"]["oneOf"].as_array().unwrap();
    assert!(requests.len() > 5);
    for request in requests {
        let name = request["properties"]["request"]["const"].as_str().unwrap();
        assert!(PAGE.contains(&format!("| `{name}` |")), "docs/protocol.md lacks `{name}`");
    }
}

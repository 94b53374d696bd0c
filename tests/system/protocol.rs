//! The control protocol as its page of the manual describes it.

use crate::client::{Client, socket_of};
use crate::fixture::{Fixture, User};
use serde_json::Value;

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

/// Whether a client that knows the form of an answer finds in it what it knows: there may be more keys and words by now, and the words
/// of messages are for people.
fn is_enough(known: &Value, got: &Value) -> bool {
    match (known, got) {
        (Value::String(_), Value::String(_)) | (Value::Number(_), Value::Number(_)) => is_like(known, got),
        (Value::Array(known), Value::Array(got)) => {
            known.iter().all(|one| got.iter().any(|other| is_enough(one, other)))
        }
        (Value::Object(known), Value::Object(got)) => known.iter().all(|(key, value)| match got.get(key) {
            Some(other) if key == "message" => other.is_string(),
            Some(other) => is_enough(value, other),
            None => false,
        }),
        (known, got) => known == got,
    }
}

/// Plays a session whose answers have the form that it shows.
fn replay(fixture: &Fixture, lines: &[&str], has_form: impl Fn(&Value, &Value) -> bool) {
    assert!(lines.len() > 10, "{lines:?}");
    fixture.write("star.yaml", LAB);
    fixture.netloom(&["up", "star.yaml", "-q"]).expect_code(0);
    let mut client = Client::connect(fixture, "star");
    let mut asked = None;
    for line in lines {
        let shown = line.strip_prefix("> ").unwrap_or(line);
        let value: Value = serde_json::from_str(shown).unwrap_or_else(|error| panic!("{error}: {line}"));
        if line.starts_with("> ") {
            client.send(shown);
            asked = Some(value);
            continue;
        }
        let answer = client.next();
        assert!(has_form(&value, &answer), "the session has\n  {line}\nand the lab answers\n  {answer}");
        let Some(request) = asked.take() else { continue };
        assert!(answer["reply"] == "refused" || client.is_request(&request), "the schema refuses {request}");
    }
    // The session ends the lab, whose end `netloom down` waits for where it is not over yet.
    let ended = fixture.netloom(&["down", "star"]);
    assert!(matches!(ended.code, Some(0 | 1 | 5 | 7 | 9)), "{ended:#?}");
    fixture.assert_nothing_is_left("star");
}

#[test]
fn the_session_on_the_page_can_be_replayed() {
    User::some().into_iter().for_each(|user| replay(&Fixture::new(user), &session(), is_like));
}

/// Sessions of clients as they were when their version of the protocol was the newest.
#[test]
fn clients_of_earlier_versions_find_what_they_know() {
    for text in [include_str!("../golden/protocol/1.0.session"), include_str!("../golden/protocol/1.1.session")] {
        replay(&Fixture::new(User::Own), &text.lines().collect::<Vec<_>>(), is_enough);
    }
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
    let fixture = Fixture::new(User::Own);
    fixture.write("ways.yaml", WAYS);
    fixture.netloom(&["up", "ways.yaml", "-q"]).expect_code(0);
    fixture.netloom(&["set", "ways", "far.backward", "delay=80 ms", "state=down"]).expect_code(0);
    let mut client = Client::connect(&fixture, "ways");
    let topology = client.ask(r#"{"request":"topology"}"#);
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
    assert_eq!(topology["exposed"], serde_json::json!([{ "port": 38471, "udp": false, "node": "a", "to": 80 }]));
    assert_eq!(
        (&topology["services"][0]["name"], &topology["services"][0]["state"]),
        (&"server".into(), &"ready".into())
    );
    let info = client.ask(r#"{"request":"info"}"#);
    assert_eq!((&info["name"], &info["mode"], &info["links"]), (&"ways".into(), &"up".into(), &2.into()));
    assert_eq!(info["services"], topology["services"]);
    let now = client.ask(r#"{"request":"now"}"#);
    assert!(now["since_zero_ns"].as_u64() < now["at_ns"].as_u64(), "{now}");
    assert_eq!((&now["clock"], &now["dilation"], &now["stalled"]), (&"real".into(), &1.0.into(), &Value::Null));
    assert_eq!(client.ask(r#"{"request":"stats"}"#)["pipes"].as_array().unwrap().len(), 4);
    fixture.netloom(&["down"]).expect_end();
    fixture.assert_nothing_is_left("ways");
}

/// The page's program sends from one node to another, and runs in neither.
#[test]
fn the_program_on_the_page_opens_sockets_inside_nodes() {
    let program = PAGE.split("```python\n").nth(1).and_then(|rest| rest.split("```").next());
    for user in User::some() {
        let fixture = Fixture::new(user);
        fixture.write("star.yaml", LAB);
        fixture.write("hello.py", program.expect("the page has a program"));
        fixture.netloom(&["up", "star.yaml", "-q"]).expect_code(0);
        let socket = socket_of(&fixture, "star");
        let hello = fixture.run("python3", &["hello.py", socket.to_str().unwrap()]).expect_code(0);
        assert!(hello.stdout.ends_with(" says hello over two links\n"), "{hello:#?}");
        let mut client = Client::connect(&fixture, "star");
        raw_sockets_of_nodes(&mut client);
        fixture.netloom(&["down", "star"]).expect_end();
        fixture.assert_nothing_is_left("star");
    }
}

fn raw_sockets_of_nodes(client: &mut Client) {
    assert_eq!(client.ask(r#"{"request":"socket","node":"h1","type":"raw","protocol":1}"#)["reply"], "socket");
    for (keys, code, part) in [
        (r#""node":"h1","type":"stream","bind":"192.0.2.7:1""#, 4, "bind an IPv4 stream socket to 192.0.2.7:1: Cannot"),
        (r#""node":"h9","type":"stream""#, 7, "no node is called `h9`: there are center, h1"),
    ] {
        let answer = client.ask(&format!("{{\"request\":\"socket\",{keys}}}"));
        assert_eq!((&answer["reply"], &answer["code"]), (&"refused".into(), &code.into()));
        assert!(answer["message"].as_str().unwrap().contains(part), "{answer}");
    }
}

const NO_SOCKETS: &str = "
nodes: {a: {stack: kernel}, t: {kind: transit}, b: {}}
links: {near: {ends: [a, t]}, far: {ends: [t, b]}}
";

#[test]
fn nodes_without_sockets_of_this_machine_refuse_to_open_one() {
    let fixture = Fixture::with_kernel(User::Own);
    fixture.write("none.yaml", NO_SOCKETS);
    fixture.netloom(&["up", "none.yaml", "-q"]).expect_code(0);
    let mut client = Client::connect(&fixture, "none");
    for (node, part) in [("a", "`a` has a kernel of its own"), ("t", "`t` is a transit router")] {
        let answer = client.ask(&format!(r#"{{"request":"socket","node":"{node}","type":"stream"}}"#));
        assert_eq!((&answer["reply"], &answer["code"]), (&"refused".into(), &2.into()));
        assert!(answer["message"].as_str().unwrap().contains(part), "{answer}");
    }
    assert_eq!(client.ask(r#"{"request":"socket","node":"b","type":"stream"}"#)["reply"], "socket");
    fixture.netloom(&["down"]).expect_code(0);
}

/// Every request and every event of the schema is on the page.
#[test]
fn the_page_names_every_request_and_event() {
    let fixture = Fixture::new(User::Own);
    let printed = fixture.netloom(&["schema", "--protocol"]).expect_code(0);
    let schema: Value = serde_json::from_str(&printed.stdout).unwrap();
    for (kind, tag) in [("Request", "request"), ("Event", "event")] {
        let all = schema["$defs"][kind]["oneOf"].as_array().unwrap();
        assert!(all.len() > 3);
        for message in all {
            let name = message["properties"][tag]["const"].as_str().unwrap();
            assert!(PAGE.contains(&format!("| `{name}` |")), "docs/protocol.md lacks the {tag} `{name}`");
        }
    }
}

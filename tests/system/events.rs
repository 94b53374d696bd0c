//! What clients receive that have subscribed to it.

use crate::client::{Client, socket_of};
use crate::fixture::{Fixture, User};
use serde_json::{Value, json};
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

const NEWS: &str = "
bounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}
nodes: [a, b]
links: {l: {ends: [a, b], delay: 1 ms}}
timeline:
  - {on: a, run: 'echo first; echo oops >&2; while [ ! -e go ]; do sleep 0.02; done; echo second; printf rest',
     as: talker, service: true, may_fail: true}
  - {on: b, run: 'echo nothing', as: other, service: once}
";

#[test]
fn clients_are_told_what_happens_and_what_programs_write() {
    for user in User::some() {
        let fixture = Fixture::new(user);
        fixture.write("news.yaml", NEWS);
        fixture.netloom(&["up", "news.yaml", "-q"]).expect_code(0);
        what_happens_is_told(&fixture);
        what_programs_write_is_told(&fixture);
        fixture.netloom(&["down"]).expect_code(0);
        fixture.assert_nothing_is_left("news");
    }
}

fn what_happens_is_told(fixture: &Fixture) {
    let mut client = Client::connect(fixture, "news");
    assert_eq!(client.ask(r#"{"id":"h","request":"subscribe","events":"lab","from_start":true}"#)["reply"], "done");
    let started = client.next();
    assert_eq!((&started["id"], &started["event"], &started["what"]), (&"h".into(), &"lab".into(), &"started".into()));
    assert_eq!(started["since_zero_ns"], Value::Null);
    client.next_that(|event| event["what"] == "time zero" && event["since_zero_ns"] == 0);
    let mut late = Client::connect(fixture, "news");
    late.ask(r#"{"request":"subscribe","events":"lab"}"#);
    client.send(r#"{"request":"set","link":"l","changes":[["delay","2 ms"]]}"#);
    for subscribed in [&mut client, &mut late] {
        let changed = subscribed.next_that(|message| message["event"] == "lab");
        assert_eq!(changed["what"], "link changed");
        assert_eq!(changed["details"]["set"], json!({ "delay": "2 ms" }));
        assert!(changed["at_ns"].as_u64() > started["at_ns"].as_u64());
    }
    assert_eq!(late.ask(r#"{"request":"unsubscribe","events":"lab"}"#)["reply"], "done");
    late.ask(r#"{"request":"set","link":"l","changes":[["delay","3 ms"]]}"#);
    late.send(r#"{"request":"now"}"#);
    assert_eq!(late.next()["reply"], "now", "nothing is told any more");
}

fn what_programs_write_is_told(fixture: &Fixture) {
    let mut both = Client::connect(fixture, "news");
    both.ask(r#"{"id":1,"request":"subscribe","events":"output","commands":["talker"],"from_start":true}"#);
    let mut errors = Client::connect(fixture, "news");
    errors.ask(r#"{"request":"subscribe","events":"output","stream":"stderr","from_start":true}"#);
    let told = |stream: &str, lines: &[&str]| {
        let (command, node, partial) = ("talker", "a", false);
        json!({"event": "output", "command": command, "node": node, "stream": stream, "lines": lines, "partial": partial})
    };
    assert_eq!(errors.next(), told("stderr", &["oops"]));
    let mut first = [both.next(), both.next()].map(|mut event| {
        assert_eq!(event.as_object_mut().unwrap().remove("id"), Some(1.into()));
        event
    });
    first.sort_by_key(|event| event["stream"] == "stdout");
    assert_eq!(first, [told("stderr", &["oops"]), told("stdout", &["first"])]);
    let mut late = Client::connect(fixture, "news");
    late.ask(r#"{"request":"subscribe","events":"output"}"#);
    late.ask(r#"{"request":"subscribe","events":"lab"}"#);
    fixture.write("go", "");
    // The end of the line is never written, and the program ends.
    let mut lines = Vec::new();
    while lines.last() != Some(&Value::from("rest")) {
        let event = late.next();
        lines.extend(event["lines"].as_array().into_iter().flatten().cloned());
    }
    assert_eq!(lines, ["second", "rest"]);
    std::fs::remove_file(fixture.work().join("go")).unwrap();
}

#[test]
fn samples_come_at_the_step_that_was_asked_for() {
    let fixture = Fixture::new(User::Own);
    fixture.write("news.yaml", NEWS);
    fixture.netloom(&["up", "news.yaml", "-q"]).expect_code(0);
    let mut client = Client::connect(&fixture, "news");
    let early = client.ask(r#"{"request":"subscribe","events":"stats","every_ns":1000000}"#);
    assert_eq!((&early["reply"], &early["code"], &early["key"]), (&"refused".into(), &2.into(), &"every_ns".into()));
    assert!(early["message"].as_str().unwrap().contains("10 ms and above"), "{early}");
    assert_eq!(client.ask(r#"{"id":7,"request":"subscribe","events":"stats","every_ns":20000000}"#)["reply"], "done");
    let twice = client.ask(r#"{"request":"subscribe","events":"stats","every_ns":20000000}"#);
    assert!(twice["message"].as_str().unwrap().contains("a subscription to `stats` already"), "{twice}");
    let samples = [(); 5].map(|()| client.next_that(|message| message["event"] == "stats"));
    for two in samples.windows(2) {
        assert!(two[0]["at_ns"].as_u64() < two[1]["at_ns"].as_u64());
        assert_eq!((&two[1]["id"], two[1]["pipes"].as_array().unwrap().len()), (&7.into(), 2));
    }
    assert_eq!(client.ask(r#"{"request":"unsubscribe","events":"stats"}"#)["reply"], "done");
    let none = client.ask(r#"{"request":"unsubscribe","events":"stats"}"#);
    assert!(none["message"].as_str().unwrap().contains("has no subscription to `stats`"), "{none}");
    let unknown = client.ask(r#"{"request":"subscribe","events":"output","commands":["other","pong"]}"#);
    assert_eq!(unknown["key"], "commands[1]");
    assert!(unknown["message"].as_str().unwrap().contains("`pong`: there are talker, other"), "{unknown}");
    fixture.netloom(&["down"]).expect_code(0);
}

/// A step of lab time takes ten times as long.
#[test]
fn samples_come_in_lab_time() {
    let fixture = Fixture::with_kernel(User::Own);
    fixture.write("slow.yaml", &format!("clock: {{dilation: 10}}{NEWS}"));
    fixture.netloom(&["up", "slow.yaml", "-q"]).expect_code(0);
    let mut client = Client::connect(&fixture, "slow");
    let begun = Instant::now();
    client.send(r#"{"request":"subscribe","events":"stats","every_ns":10000000}"#);
    assert_eq!(client.next()["reply"], "done");
    let first = client.next();
    let mut last = first.clone();
    let mut steps = 0;
    while steps < 10 {
        last = client.next();
        steps += 1 + last["lost"].as_u64().unwrap();
    }
    let at = |sample: &Value| sample["at_ns"].as_u64().unwrap();
    let passed = at(&last) - at(&first);
    // The first sample may be late by less than a step, or the one behind it says so.
    assert!(passed > (steps - 1) * 10_000_000, "{passed} ns in {steps} steps");
    assert!(begun.elapsed() >= Duration::from_nanos(10 * passed));
    fixture.netloom(&["down"]).expect_code(0);
}

/// How many lines the program writes, of a thousand bytes each.
const FLOOD: usize = 30_000;
/// The client of a test checks each line against the schema.
const LONGEST_READING: Duration = Duration::from_secs(300);
/// What the lab may need for a client, in KiB: much less than the program writes, and more than what is read at once.
const ROOM_KIB: u64 = 8_000;

/// The memory of the lab process, in KiB.
fn memory_of(fixture: &Fixture, lab: &str) -> u64 {
    let state = std::fs::read_to_string(fixture.path().join(format!("runtime/netloom/{lab}/lab.json"))).unwrap();
    let state: Value = serde_json::from_str(&state).unwrap();
    let status = std::fs::read_to_string(format!("/proc/{}/status", state["lab_pid"])).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// It is sent everything and reads nothing for a long time, and then all of it.
#[test]
fn a_client_that_does_not_read_costs_no_memory_and_misses_no_line() {
    let fixture = Fixture::new(User::Own);
    let flood = format!("yes $(printf %0999d 7) | head -n {FLOOD}");
    fixture.write(
        "flood.yaml",
        &NEWS.replace("echo nothing", &format!("while [ ! -e flow ]; do sleep 0.02; done; {flood}")),
    );
    let text = std::fs::read_to_string(fixture.work().join("flood.yaml")).unwrap();
    fixture.write("flood.yaml", &text.replace("service: once", "service: true, may_fail: true"));
    fixture.netloom(&["up", "flood.yaml", "-q"]).expect_code(0);
    let mut idle = Client::connect(&fixture, "flood");
    idle.ask(r#"{"request":"subscribe","events":"lab"}"#);
    idle.ask(r#"{"request":"subscribe","events":"output","commands":["other"]}"#);
    idle.ask(r#"{"request":"subscribe","events":"stats","every_ns":10000000}"#);
    let mut other = Client::connect(&fixture, "flood");
    other.ask(r#"{"request":"subscribe","events":"lab"}"#);
    let before = memory_of(&fixture, "flood");
    fixture.write("flow", "");
    other.next_that(|event| event["what"] == "ended" && event["details"]["command"] == "other");
    for _ in 0..100 {
        other.ask(r#"{"request":"set","link":"l","changes":[["delay","2 ms"]]}"#);
    }
    let after = memory_of(&fixture, "flood");
    assert!(after < before + ROOM_KIB, "{before} KiB, and {after} KiB with an idle client");
    // Logs are looked at every 100 ms. Only what is more than the socket holds keeps samples from coming.
    sleep(Duration::from_secs(1));
    let (mut lines, mut changes, mut lost) = (0, 0, 0);
    let begun = Instant::now();
    // Once it reads, samples come again, and say how many did not.
    while lines < FLOOD || changes < 100 || lost == 0 {
        assert!(begun.elapsed() < LONGEST_READING, "{lines} lines, {changes} changes, {lost} samples lost");
        let event = idle.next();
        lines += event["lines"].as_array().map_or(0, Vec::len);
        changes += usize::from(event["what"] == "link changed");
        lost += event["lost"].as_u64().unwrap_or(0);
    }
    assert_eq!((lines, changes), (FLOOD, 100));
    fixture.netloom(&["down"]).expect_code(0);
}

const ON_TIME: &str = "
name: on-time
bounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}
nodes: [a, b]
links: {l: {ends: [a, b], delay: 1 ms}}
duration: 3 s
timeline:
  - {on: a, run: 'while :; do echo a line; done', as: talker, service: true}
  - {at: 2 s, link: l, set: {delay: 2 ms}}
  - {at: 2 s, on: b, run: 'echo still here', as: late}
";

/// Ten clients want everything and read nothing, or ask and do not read.
#[test]
fn no_client_keeps_a_run_from_its_end() {
    let fixture = Fixture::new(User::Own);
    fixture.write("on-time.yaml", ON_TIME);
    let run =
        fixture.command(&["run", "on-time.yaml", "-q"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let connect = || loop {
        match UnixStream::connect(socket_of(&fixture, "on-time")) {
            Ok(stream) => return stream,
            Err(_) => sleep(Duration::from_millis(10)),
        }
    };
    let clients: Vec<UnixStream> = (0..10).map(|_| connect()).collect();
    for mut client in &clients {
        for keys in [r#""lab","from_start":true"#, r#""output","from_start":true"#, r#""stats","every_ns":10000000"#] {
            client.write_all(format!("{{\"request\":\"subscribe\",\"events\":{keys}}}\n").as_bytes()).unwrap();
        }
        client.set_nonblocking(true).unwrap();
        // As much as it takes without an answer being read.
        while client.write(b"{\"request\":\"topology\"}\n").is_ok() {}
    }
    let ended = crate::fixture::Finished::of(&run.wait_with_output().unwrap());
    assert_eq!(ended.code, Some(0), "{ended:#?}");
    let events = std::fs::read_to_string(fixture.latest("on-time").join("events.jsonl")).unwrap();
    assert!(events.contains("link changed"), "{events}");
    drop(clients);
    fixture.assert_nothing_is_left("on-time");
}

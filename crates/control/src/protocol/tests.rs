use super::*;
use jsonschema::validator_for;
use netloom_judge::{ExerciseReport, ExpectationRow, SwitchRow, TaskRow, Verdict};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// One message of every kind, as a client may send it.
const REQUESTS: [&str; 33] = [
    r#"{"request": "verdict"}"#,
    r#"{"request": "exercise"}"#,
    r#"{"request": "restart", "name": "web"}"#,
    r#"{"request": "stop", "node": "a"}"#,
    r#"{"request": "start", "node": "a"}"#,
    r#"{"request": "topology"}"#,
    r#"{"request": "now"}"#,
    r#"{"request": "advance", "by_ns": 100000000}"#,
    r#"{"request": "pause"}"#,
    r#"{"request": "resume"}"#,
    r#"{"id": 1, "request": "hello", "version": 1}"#,
    r#"{"request": "info"}"#,
    r#"{"id": "a", "request": "stats"}"#,
    r#"{"request": "exec", "node": "a", "argv": ["true"]}"#,
    r#"{"request": "exec", "node": "a", "argv": ["true"], "env": [["A", "b"]], "cwd": "/", "terminal": false, "user": null}"#,
    r#"{"request": "capture", "link": "l", "direction": null, "at": "sent", "snaplen_bytes": 96}"#,
    r#"{"request": "capture", "link": "wifi", "headers": "radiotap"}"#,
    r#"{"request": "signal", "signal": 15}"#,
    r#"{"request": "set", "link": "l", "changes": [["delay", "80 ms"]]}"#,
    r#"{"request": "set", "link": "l", "direction": "forward", "pipe": "voip", "changes": []}"#,
    r#"{"request": "partition", "entry": "{partition: [[a], [b]]}"}"#,
    r#"{"request": "heal"}"#,
    r#"{"request": "fault", "entry": "{on: a, clock: {step: 3 s}}"}"#,
    r#"{"request": "fault", "entry": "{crash: a, keep: torn, for: 1 s}"}"#,
    r#"{"request": "subscribe", "events": "lab", "from_start": true}"#,
    r#"{"request": "subscribe", "events": "stats", "every_ns": 100000000}"#,
    r#"{"request": "subscribe", "events": "packets", "every_ns": 100000000}"#,
    r#"{"request": "subscribe", "events": "output", "commands": ["ping"], "stream": "stderr"}"#,
    r#"{"request": "unsubscribe", "events": "output"}"#,
    r#"{"request": "socket", "node": "a", "type": "dgram"}"#,
    r#"{"request": "console", "node": "a"}"#,
    r#"{"request": "socket", "node": "a", "family": "inet6", "type": "stream", "protocol": 6, "bind": "[::1]:80", "connect": null, "listen": 8}"#,
    r#"{"id": -7, "request": "down"}"#,
];

/// Wrong requests, the key that is wrong, and a part of the message.
const WRONG: [(&str, Option<&str>, &str); 16] = [
    ("nonsense", None, "this is no JSON"),
    ("[]", None, "this is no JSON object; a request is an object"),
    ("{}", Some("request"), "a request has the key `request`: there are advance, capture, "),
    (r#"{"request": 1}"#, Some("request"), "write its name"),
    (r#"{"request": "inof"}"#, Some("request"), "no request is called `inof`: did you mean `info`?"),
    (r#"{"request": "xyz"}"#, Some("request"), "no request is called `xyz`: there are advance, capture, "),
    (r#"{"request": "info", "x": 1}"#, Some("x"), "`info` takes no key `x`: it takes none"),
    (r#"{"request": "exec", "nod": "a"}"#, Some("nod"), "`exec` takes no key `nod`: did you mean `node`?"),
    (r#"{"request": "exec", "node": "a"}"#, Some("argv"), "`exec` lacks the key `argv`"),
    (
        r#"{"request": "exec", "node": 1, "argv": []}"#,
        Some("node"),
        "`node`: invalid type: integer `1`, expected a string",
    ),
    (r#"{"request": "exec", "node": "a", "argv": ["a", 3]}"#, Some("argv[1]"), "`argv[1]`: invalid type: integer `3`"),
    (r#"{"request": "set", "link": "a", "changes": [["delay"]]}"#, Some("changes[0]"), "expected a tuple of size 2"),
    (r#"{"request": "hello", "version": -1}"#, Some("version"), "`version`: invalid value"),
    (r#"{"request": "subscribe", "events": "news"}"#, Some("events"), "unknown variant `news`, expected one of `lab`"),
    (r#"{"request": "info", "id": [1]}"#, Some("id"), "a whole number or a string"),
    (r#"{"request": "info", "id": 1.5}"#, Some("id"), "a whole number or a string"),
];

fn is_valid(message: &Value, of: &str) -> bool {
    let mut all = schema();
    all["oneOf"] = json!([{ "$ref": format!("#/$defs/{of}") }]);
    validator_for(&all).unwrap().is_valid(message)
}

#[test]
fn every_request_is_read_written_again_and_as_the_schema_says() {
    for text in REQUESTS {
        let message = read(text.as_bytes()).unwrap_or_else(|(_, refused)| panic!("{text}: {refused:?}"));
        let written = serde_json::to_value(&message).unwrap();
        assert_eq!(read(written.to_string().as_bytes()).unwrap(), message);
        for value in [written, serde_json::from_str(text).unwrap()] {
            assert!(is_valid(&value, "Request"), "{value}");
        }
    }
    let names = REQUESTS.iter().map(|text| serde_json::from_str::<Value>(text).unwrap()["request"].to_string());
    let named: BTreeSet<String> = names.map(|name| name.trim_matches('"').to_owned()).collect();
    assert!(named.iter().eq(schema::REQUESTS.keys()), "a request is missing here: {named:?}");
}

#[test]
fn what_is_wrong_is_said_with_its_key_and_refused_by_the_schema_too() {
    for (text, key, part) in WRONG {
        let (_, refused) = read(text.as_bytes()).expect_err(text);
        assert_eq!(refused.key.as_deref(), key, "{text}: {refused:?}");
        assert!(refused.message.contains(part), "{text}: {}", refused.message);
        if let Ok(value) = serde_json::from_str::<Value>(text) {
            assert!(!is_valid(&value, "Request"), "the schema allows {text}");
        }
    }
}

/// Of every request, with the keys that it needs.
#[test]
fn optional_keys_may_be_null_and_are_then_as_if_they_were_not_there() {
    let mut tried = 0;
    for text in REQUESTS {
        let request: Value = serde_json::from_str(text).unwrap();
        let name = request["request"].as_str().unwrap();
        let (mut with_null, mut without) = (request.clone(), request.clone());
        for (key, _) in schema::REQUESTS[name].iter().filter(|(_, is_required)| !is_required) {
            with_null[key] = Value::Null;
            without.as_object_mut().unwrap().remove(key);
            tried += 1;
        }
        let [with_null, without] = [with_null, without].map(|value| (read(value.to_string().as_bytes()), value));
        assert_eq!(with_null.0, without.0);
        // A subscription to samples lacks its step then.
        assert!(with_null.0.is_ok() || name == "subscribe", "{with_null:?}");
        assert!(is_valid(&with_null.1, "Request"), "{}", with_null.1);
    }
    assert!(tried > 10);
    let (_, refused) = read(br#"{"request": "exec", "node": null, "argv": []}"#).unwrap_err();
    assert_eq!(refused.key.as_deref(), Some("node"));
}

#[test]
fn a_socket_needs_an_address_with_a_port() {
    let text = r#"{"request": "socket", "node": "a", "type": "stream", "connect": "localhost:80"}"#;
    let (_, refused) = read(text.as_bytes()).unwrap_err();
    assert_eq!(refused.key.as_deref(), Some("connect"));
    assert!(refused.message.contains("invalid socket address"), "{}", refused.message);
}

#[test]
fn a_subscription_has_the_keys_of_its_topic() {
    for (keys, wrong, part) in [
        (r#""events": "stats""#, "every_ns", "needs the key `every_ns`"),
        (r#""events": "packets""#, "every_ns", "to `packets` needs the key `every_ns`"),
        (r#""events": "packets", "every_ns": 1, "from_start": true"#, "from_start", "to `packets` takes no key"),
        (r#""events": "lab", "every_ns": 1"#, "every_ns", "to `lab` takes no key `every_ns`"),
        (r#""events": "stats", "every_ns": 1, "from_start": true"#, "from_start", "to `stats` takes no key"),
        (r#""events": "tcp", "nodes": ["a"]"#, "every_ns", "`tcp` needs the key `every_ns`"),
        (r#""events": "stats", "every_ns": 1, "nodes": []"#, "nodes", "to `stats` takes no key `nodes`"),
        (r#""events": "lab", "stream": "stdout""#, "stream", "takes no key `stream`"),
    ] {
        let (_, refused) = read(format!(r#"{{"request": "subscribe", {keys}}}"#).as_bytes()).unwrap_err();
        assert_eq!(refused.key.as_deref(), Some(wrong), "{keys}");
        assert!(refused.message.contains(part), "{keys}: {}", refused.message);
    }
}

/// A client that asked for several things can tell which of them was wrong.
#[test]
fn a_wrong_request_keeps_its_identifier() {
    let (id, _) = read(br#"{"id": "x", "request": "exec"}"#).unwrap_err();
    assert_eq!(id, Some(Id::Text("x".into())));
    let long = format!(r#"{{"id": "{}", "request": "info"}}"#, "x".repeat(129));
    assert_eq!(read(long.as_bytes()).unwrap_err().1.key.as_deref(), Some("id"));
}

#[test]
fn long_names_are_not_repeated_in_full() {
    let text = format!(r#"{{"request": "{}"}}"#, "ü".repeat(100_000));
    assert!(read(text.as_bytes()).unwrap_err().1.message.len() < 500);
}

#[test]
fn every_reply_is_as_the_schema_says() {
    let all = replies();
    for reply in &all {
        for id in [None, Some(&Id::Number(3))] {
            let value = serde_json::to_value(Answer { id, reply }).unwrap();
            assert!(is_valid(&value, "Reply"), "{value}");
            assert!(!is_valid(&value, "Request") && !is_valid(&value, "Event"), "{value}");
        }
    }
    assert!(all_names("Reply", "reply").eq(names(&all, "reply")), "a reply is missing here");
}

#[test]
fn every_event_is_as_the_schema_says() {
    let all = events();
    for event in &all {
        for id in [None, Some(&Id::Text("a".into()))] {
            let value = serde_json::to_value(Notice { id, event }).unwrap();
            assert!(is_valid(&value, "Event"), "{value}");
            assert!(!is_valid(&value, "Request") && !is_valid(&value, "Reply"), "{value}");
        }
    }
    assert!(all_names("Event", "event").eq(names(&all, "event")), "an event is missing here");
}

/// The kinds of messages of which there are examples.
fn names<T: serde::Serialize>(messages: &[T], tag: &str) -> impl Iterator<Item = String> {
    let name = |message: &T| serde_json::to_value(message).unwrap()[tag].as_str().unwrap().to_owned();
    messages.iter().map(name).collect::<BTreeSet<String>>().into_iter()
}

/// Those that the schema has.
fn all_names(definition: &str, tag: &str) -> impl Iterator<Item = String> {
    let schema = schema();
    let variants = schema["$defs"][definition]["oneOf"].as_array().unwrap();
    let name = |variant: &Value| variant["properties"][tag]["const"].as_str().unwrap().to_owned();
    variants.iter().map(name).collect::<BTreeSet<String>>().into_iter()
}

fn pipe_stats() -> LabStats {
    let pipe = PipeStats { rate_bits_per_second: Some(1), pipe: Some("voip".into()), ..PipeStats::default() };
    let port = SwitchRow { node: "s".into(), received_frames: 3, ..SwitchRow::default() };
    LabStats { at_ns: 1, pipes: vec![PipeStats::default(), pipe], switches: vec![port], stations: Vec::new() }
}

fn replies() -> Vec<Reply> {
    let service = ServiceInfo {
        name: "web".into(),
        node: "a".into(),
        state: ServiceState::Dead,
        exit_code: None,
        signal: Some(9),
        ended_since_ns: Some(5),
    };
    vec![
        Reply::Hello(greet(&Hello { version: 1 }, "lab", &["exec"]).unwrap()),
        Reply::Info(info(service.clone())),
        Reply::Topology(topology(service)),
        Reply::Now(now()),
        Reply::Stats(pipe_stats()),
        Reply::Verdict(so_far()),
        Reply::Exercise(exercise()),
        Reply::Started,
        Reply::Socket,
        Reply::Console { log: "/l".into() },
        Reply::Exited { code: 137 },
        Reply::Done,
        Reply::Refused(Refused { key: Some("argv[0]".into()), ..Refused::usage("no") }),
        Reply::Refused(Refused::usage("no")),
    ]
}

fn row() -> ExpectationRow {
    ExpectationRow { text: "l.forward.drops = 0".into(), line: 9, met: true, explanation: "measured 0".into() }
}

fn so_far() -> SoFar {
    let pipes = vec![PipeLateness { link: "l".into(), packets: 1, p99_ns: Some(7), ..PipeLateness::default() }];
    SoFar { at_ns: 2, since_zero_ns: 1, verdict: Verdict::default(), expectations: vec![row()], pipes }
}

fn exercise() -> ExerciseReport {
    let task = TaskRow { title: "See it fill".into(), checks: vec![row()], met_ns: Some(3), ..TaskRow::default() };
    ExerciseReport { title: "A queue".into(), text: String::new(), tasks: vec![task] }
}

fn now() -> Now {
    Now {
        at_ns: 7,
        since_zero_ns: None,
        clock: "dilated".into(),
        paused: false,
        dilation: Some(2.5),
        stalled: Some("a".into()),
    }
}

fn info(service: ServiceInfo) -> LabInfo {
    LabInfo {
        name: "lab".into(),
        mode: "up".into(),
        file: "lab.yaml".into(),
        pid: 1,
        age_ns: 2,
        folder: "results".into(),
        nodes: vec![NodeInfo {
            name: "a".into(),
            kind: "host".into(),
            state: NodeState::Stopped,
            addresses: vec!["10.0.0.1/24".into()],
        }],
        links: 1,
        exposed: vec!["localhost:80".into()],
        diverted: Some("{to: 10.1.0.0/16}".into()),
        services: vec![service],
        longest_stop_ns: 3,
        stalled: None,
        paused: true,
    }
}

fn topology(service: ServiceInfo) -> Topology {
    let interface = Interface {
        name: "eth0".into(),
        link: "l".into(),
        mac: "02:00:00:00:00:01".into(),
        mtu_bytes: 1_500,
        addresses: vec!["10.0.0.1/24".into()],
    };
    let pipe = Pipe { direction: "forward".into(), pipe: None, up: true, settings: serde_json::Map::new() };
    let node = Node {
        name: "a".into(),
        kind: "host".into(),
        state: NodeState::Crashed,
        stack: "namespace".into(),
        faults: [("clock".into(), Some("it is a namespace node".into())), ("crash".into(), None)].into(),
        interfaces: vec![interface],
    };
    let ends = vec![End { node: "a".into(), interface: "eth0".into() }];
    let link = Link { name: "l".into(), ends, mtu_bytes: 1_500, joined_in_kernel: false, pipes: vec![pipe] };
    let exposed = vec![ExposedPort { port: 8_080, udp: false, node: "a".into(), to: 80 }];
    Topology { nodes: vec![node], links: vec![link], exposed, services: vec![service] }
}

fn tcp_sample() -> TcpSample {
    let connection = TcpConnection {
        connection: 17,
        local: "10.0.0.1:40000".into(),
        remote: "[fd00::2]:80".into(),
        congestion: "bbr".into(),
        state: "established".into(),
        ca_state: "open".into(),
        app_limited: true,
        figures: json!({ "cwnd_packets": 10, "bbr_pacing_gain": 2.887 }).as_object().unwrap().clone(),
    };
    let node = |node: &str, connections: Vec<TcpConnection>, failure: Option<String>| NodeConnections {
        node: node.into(),
        at_ns: 3,
        connections,
        left_out: 1,
        failure,
    };
    let nodes = vec![node("a", vec![connection], None), node("b", Vec::new(), Some("it does not answer".into()))];
    TcpSample { at_ns: 4, since_zero_ns: None, lost: 0, nodes }
}

/// One that travels, and one that was dropped and is no IP packet.
fn packets() -> PacketSample {
    let flow = PacketFlow { source: "10.0.0.1:9".into(), destination: "10.0.0.2:80".into(), protocol: "tcp".into() };
    let travels = PacketRecord { start_ns: Some(1), sent_ns: Some(2), due_ns: Some(9), flow: Some(flow), ..one(1) };
    let dropped = PacketRecord { dropped: Some(PacketDrop { at_ns: 5, cause: "queue".into() }), ..one(2) };
    PacketSample { at_ns: 6, since_zero_ns: Some(5), lost: 3, packets: vec![travels, dropped] }
}

fn one(packet: u64) -> PacketRecord {
    PacketRecord { pipe: 1, packet, bytes: 1_500, segments: 1, ..PacketRecord::default() }
}

fn events() -> Vec<Event> {
    let details = json!({ "link": "l", "set": { "delay": "1 ms" } }).as_object().unwrap().clone();
    let output = Output {
        command: "ping".into(),
        node: "a".into(),
        stream: Stream::Stderr,
        lines: vec!["no route".into(), String::new()],
        partial: false,
    };
    vec![
        Event::Lab(Happened { at_ns: 1, since_zero_ns: None, what: "link changed".into(), details }),
        Event::Stats(Sample { since_zero_ns: Some(4), lost: 2, stats: pipe_stats() }),
        Event::Tcp(tcp_sample()),
        Event::Packets(packets()),
        Event::Output(output),
        Event::Ended { events: Topic::Output, because: "it is over".into() },
    ]
}

#[test]
fn another_major_version_is_refused_and_both_are_named() {
    for version in [0, 2] {
        let refused = greet(&Hello { version }, "lab", &[]).unwrap_err();
        assert!(refused.message.contains("version 1 of"), "{}", refused.message);
        assert!(refused.message.contains(&format!("the client version {version}")), "{}", refused.message);
    }
}

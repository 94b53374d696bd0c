use super::*;
use jsonschema::validator_for;
use serde_json::{Value, json};

/// One message of every kind, as a client may send it.
const REQUESTS: [&str; 12] = [
    r#"{"request": "topology"}"#,
    r#"{"request": "now"}"#,
    r#"{"id": 1, "request": "hello", "version": 1}"#,
    r#"{"request": "info"}"#,
    r#"{"id": "a", "request": "stats"}"#,
    r#"{"request": "exec", "node": "a", "argv": ["true"]}"#,
    r#"{"request": "exec", "node": "a", "argv": ["true"], "env": [["A", "b"]], "cwd": "/", "terminal": false, "user": null}"#,
    r#"{"request": "capture", "link": "l", "direction": null, "at": "sent", "snaplen_bytes": 96}"#,
    r#"{"request": "signal", "signal": 15}"#,
    r#"{"request": "set", "link": "l", "changes": [["delay", "80 ms"]]}"#,
    r#"{"request": "set", "link": "l", "direction": "forward", "pipe": "voip", "changes": []}"#,
    r#"{"id": -7, "request": "down"}"#,
];

/// Wrong requests, the key that is wrong, and a part of the message.
const WRONG: [(&str, Option<&str>, &str); 15] = [
    ("nonsense", None, "this is no JSON"),
    ("[]", None, "this is no JSON object; a request is an object"),
    ("{}", Some("request"), "a request has the key `request`: there are capture, "),
    (r#"{"request": 1}"#, Some("request"), "write its name"),
    (r#"{"request": "inof"}"#, Some("request"), "no request is called `inof`: did you mean `info`?"),
    (r#"{"request": "xyz"}"#, Some("request"), "no request is called `xyz`: there are capture, "),
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
    let named: std::collections::BTreeSet<String> = names.map(|name| name.trim_matches('"').to_owned()).collect();
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
    let greeting = greet(&Hello { version: 1 }, "lab", &["exec"]).unwrap();
    let replies = [
        Reply::Hello(greeting),
        Reply::Stats(LabStats { at_ns: 1, pipes: vec![PipeStats::default()] }),
        Reply::Started,
        Reply::Exited { code: 137 },
        Reply::Done,
        Reply::Refused(Refused::usage("no")),
    ];
    for reply in &replies {
        for id in [None, Some(&Id::Number(3))] {
            let value = serde_json::to_value(Answer { id, reply }).unwrap();
            assert!(is_valid(&value, "Reply"), "{value}");
            assert!(!is_valid(&value, "Request"), "{value}");
        }
    }
}

#[test]
fn another_major_version_is_refused_and_both_are_named() {
    for version in [0, 2] {
        let refused = greet(&Hello { version }, "lab", &[]).unwrap_err();
        assert!(refused.message.contains("version 1 of"), "{}", refused.message);
        assert!(refused.message.contains(&format!("the client version {version}")), "{}", refused.message);
    }
}

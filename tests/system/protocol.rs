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

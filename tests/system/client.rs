//! A client of the control socket that checks every line against the JSON schema.

use crate::fixture::Fixture;
use jsonschema::Validator;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// A lab that does not answer fails a test rather than holding it up.
const LONGEST_ANSWER: Duration = Duration::from_secs(60);

/// See the module.
pub(crate) struct Client {
    stream: UnixStream,
    lines: BufReader<UnixStream>,
    said: Validator,
    asked: Validator,
}

/// Where a lab's control socket is.
pub(crate) fn socket_of(fixture: &Fixture, lab: &str) -> PathBuf {
    fixture.path().join(format!("runtime/netloom/{lab}/control.sock"))
}

impl Client {
    pub(crate) fn connect(fixture: &Fixture, lab: &str) -> Self {
        let stream = UnixStream::connect(socket_of(fixture, lab)).unwrap();
        stream.set_read_timeout(Some(LONGEST_ANSWER)).unwrap();
        let lines = BufReader::new(stream.try_clone().unwrap());
        Self { stream, lines, said: validator(&["Reply", "Event"]), asked: validator(&["Request"]) }
    }

    /// Sends a line, whatever it is.
    pub(crate) fn send(&mut self, line: &str) {
        self.stream.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// The next message.
    #[track_caller]
    pub(crate) fn next(&mut self) -> Value {
        self.line().unwrap_or_else(|| panic!("the lab has closed the connection"))
    }

    /// The next message; none when the lab has closed the connection.
    #[track_caller]
    pub(crate) fn line(&mut self) -> Option<Value> {
        let mut line = String::new();
        if self.lines.read_line(&mut line).unwrap_or_else(|error| panic!("no message: {error}")) == 0 {
            return None;
        }
        let message = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert!(self.said.is_valid(&message), "not as the schema says: {line}");
        Some(message)
    }

    /// What the lab answers; events that come before are passed over.
    #[track_caller]
    pub(crate) fn ask(&mut self, request: &str) -> Value {
        self.send(request);
        let answer = self.next_that(|message| message.get("reply").is_some());
        let request: Value = serde_json::from_str(request).unwrap();
        assert!(answer["reply"] == "refused" || self.is_request(&request), "the schema refuses {request}");
        answer
    }

    /// The next message for which `is_wanted` holds.
    #[track_caller]
    pub(crate) fn next_that(&mut self, is_wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.next();
            if is_wanted(&message) {
                return message;
            }
        }
    }

    /// Asks what time it is until the answer is one for which `is_wanted` holds.
    #[track_caller]
    pub(crate) fn next_now_that(&mut self, is_wanted: impl Fn(&Value) -> bool) -> Value {
        let begun = Instant::now();
        loop {
            let now = self.ask(r#"{"request":"now"}"#);
            if is_wanted(&now) {
                return now;
            }
            assert!(begun.elapsed() < LONGEST_ANSWER, "{now}");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Whether the schema has this request.
    pub(crate) fn is_request(&self, request: &Value) -> bool {
        self.asked.is_valid(request)
    }
}

fn validator(definitions: &[&str]) -> Validator {
    let mut schema = netloom_control::schema();
    let reference = |name: &&str| json!({ "$ref": format!("#/$defs/{name}") });
    schema["oneOf"] = definitions.iter().map(reference).collect();
    jsonschema::validator_for(&schema).unwrap()
}

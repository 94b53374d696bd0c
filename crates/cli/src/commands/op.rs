//! `netloom op`

use super::{DONE, Failure, Outcome};
use crate::args::{OpArgs, OpKind};
use netloom_judge::ExitCode;
use nix::time::{ClockId, clock_gettime};
use serde_json::{Map, Value, json};
use std::env;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::process::parent_id;
use std::path::PathBuf;

pub(super) fn op(args: &OpArgs) -> Outcome {
    let file = args.file.clone().or_else(|| env::var_os("NETLOOM_HISTORY").map(PathBuf::from));
    let Some(file) = file else {
        let message = "which file? Name it with --file, or in the variable NETLOOM_HISTORY";
        return Err(Failure::new(ExitCode::Usage, message));
    };
    let line = line(args, now()?);
    // One call writes the whole line, so that lines of processes that write at once do not mix.
    let opened = OpenOptions::new().append(true).create(true).open(&file);
    let written = opened.and_then(|mut history| history.write_all(line.as_bytes()));
    written.map_err(|error| Failure::new(ExitCode::Results, format!("writing {}: {error}", file.display())))?;
    DONE
}

/// Returns the event as a line.
fn line(args: &OpArgs, time: u64) -> String {
    let kind = match args.kind {
        OpKind::Invoke => "invoke",
        OpKind::Ok => "ok",
        OpKind::Fail => "fail",
        OpKind::Info => "info",
    };
    let mut event = Map::new();
    event.insert("process".to_owned(), json!(process(args)));
    event.insert("type".to_owned(), json!(kind));
    event.insert("f".to_owned(), json!(args.function));
    if let Some(key) = &args.key {
        event.insert("key".to_owned(), value(key));
    }
    if args.value.is_some() || args.kind == OpKind::Invoke {
        event.insert("value".to_owned(), args.value.as_deref().map_or(Value::Null, value));
    }
    if let Some(error) = &args.error {
        event.insert("error".to_owned(), json!(error));
    }
    event.insert("time".to_owned(), json!(time));
    format!("{}\n", Value::Object(event))
}

/// Returns JSON as it is, and anything else as a text.
fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| json!(text))
}

/// Returns who calls: by default the shell that calls this program, which has a name of its own in the whole lab.
fn process(args: &OpArgs) -> String {
    if let Some(name) = args.process.clone().or_else(|| env::var("NETLOOM_PROCESS").ok()) {
        return name;
    }
    let shell = caller();
    env::var("NETLOOM_NODE").map_or_else(|_| shell.to_string(), |node| format!("{node}/{shell}"))
}

/// Returns the number of the calling shell. A shell becomes the last program of `sh -c` itself: then the agent of the node is the parent.
fn caller() -> u32 {
    let parent = parent_id();
    let name = std::fs::read_to_string(format!("/proc/{parent}/comm")).unwrap_or_default();
    if parent <= 1 || name.starts_with("netloom") { std::process::id() } else { parent }
}

/// Returns the time since the start of this kernel in nanoseconds. On a node that is lab time.
fn now() -> Result<u64, Failure> {
    let failed = |error| Failure::new(ExitCode::Machine, format!("reading the clock: {error}"));
    let clock = if env::var_os("NETLOOM_HISTORY_CLOCK").is_some_and(|name| name == "realtime") {
        ClockId::CLOCK_REALTIME
    } else {
        ClockId::CLOCK_MONOTONIC
    };
    let time = clock_gettime(clock).map_err(failed)?;
    let [seconds, nanoseconds] = [time.tv_sec(), time.tv_nsec()].map(|part| u64::try_from(part).unwrap_or(0));
    Ok(seconds * 1_000_000_000 + nanoseconds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command};
    use clap::Parser;

    fn event(words: &[&str]) -> Value {
        let cli = Cli::parse_from([&["netloom", "op"], words].concat());
        let Command::Op(args) = cli.command else { panic!("op was asked for") };
        serde_json::from_str(&line(&args, 7)).unwrap()
    }

    #[test]
    fn an_event_has_what_the_words_say() {
        let found = event(&["invoke", "cas", "[1, 2]", "-k", "x", "-p", "c1"]);
        let expected = json!({"process": "c1", "type": "invoke", "f": "cas", "key": "x", "value": [1, 2], "time": 7});
        assert_eq!(found, expected);
        assert_eq!(event(&["ok", "read", "-5", "-p", "c1"])["value"], json!(-5));
        assert_eq!(event(&["ok", "read", "hello world", "-p", "c1"])["value"], json!("hello world"));
        let failed = event(&["fail", "write", "-p", "c1", "--error", "refused"]);
        assert_eq!((failed.get("value"), &failed["error"]), (None, &json!("refused")));
        assert_eq!(event(&["invoke", "read", "-p", "c1"])["value"], Value::Null);
    }
}

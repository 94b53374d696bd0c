//! `events.jsonl`: what happened and when, one JSON object per line.

use crate::Folder;
use netloom_judge::RunError;
use netloom_units::Instant;
use serde::Serialize;
use serde_json::Value;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

#[derive(Serialize)]
struct Line<'a> {
    /// After time zero; null before it.
    time_ns: Option<u64>,
    /// After the start of the engine.
    since_start_ns: u64,
    event: &'a str,
    #[serde(flatten)]
    details: Value,
}

/// The log of what happened. Every line is written at once: an event is rare, and a run that is killed keeps it.
#[derive(Debug)]
pub struct EventLog {
    file: File,
    path: PathBuf,
}

impl EventLog {
    /// Creates the log in `folder`.
    pub fn create(folder: &Folder) -> Result<Self, RunError> {
        Ok(Self { file: folder.file("events.jsonl")?, path: folder.path().join("events.jsonl") })
    }

    /// Adds that `what` happened at `at`; `zero` is when time zero was, if it has come.
    pub fn add(&mut self, at: Instant, zero: Option<Instant>, what: &str, details: Value) -> Result<(), RunError> {
        let time_ns = zero.map(|zero| at.since(zero).as_nanos());
        let line = Line { time_ns, since_start_ns: at.as_nanos(), event: what, details };
        let mut text = serde_json::to_vec(&line).expect("an event has string keys only");
        text.push(b'\n');
        self.file.write_all(&text).map_err(RunError::results(&self.path))
    }
}

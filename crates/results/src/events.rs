//! `events.jsonl`: what happened and when, one JSON object per line.

use crate::Folder;
use crate::WriteError;
use netloom_units::Instant;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

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

/// An event, read back from its line in the log.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct LoggedEvent {
    /// The lab time of the event since time zero; none before time zero.
    pub time_ns: Option<u64>,
    /// The lab time of the event since the start of the engine.
    pub since_start_ns: u64,
    /// The name of the event, for example `time zero`.
    pub event: String,
    /// The other keys of the event.
    #[serde(flatten)]
    pub details: Map<String, Value>,
}

/// The log of a run's events. Every line is written at once: an event is rare, and a run that is killed keeps it.
#[derive(Debug)]
pub struct EventLog {
    file: File,
    path: PathBuf,
    length: u64,
}

impl EventLog {
    /// Creates the log in `folder`.
    pub fn create(folder: &Folder) -> Result<Self, WriteError> {
        Ok(Self { file: folder.file("events.jsonl")?, path: folder.path().join("events.jsonl"), length: 0 })
    }

    /// Adds that the event `what` happened at `at`; `zero` is the instant of time zero, if it has come.
    pub fn add(&mut self, at: Instant, zero: Option<Instant>, what: &str, details: Value) -> Result<(), WriteError> {
        let time_ns = zero.map(|zero| at.since(zero).as_nanos());
        let line = Line { time_ns, since_start_ns: at.as_nanos(), event: what, details };
        let mut text = serde_json::to_vec(&line).expect("an event has string keys only");
        text.push(b'\n');
        self.file.write_all(&text).map_err(WriteError::file(&self.path))?;
        self.length += text.len() as u64;
        Ok(())
    }

    /// Returns the path of the log.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns how many bytes have been written to the log.
    pub fn length(&self) -> u64 {
        self.length
    }
}

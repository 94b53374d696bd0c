//! Records as rows of CSV and as JSON, with the names of the file's columns.

use super::columns::{COLUMNS, OUTCOMES, all_columns};
use super::record::{AirAttempt, Fate, JournalPipe, Record, cause_name};
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// The heading of a CSV file of records.
pub fn csv_heading() -> String {
    COLUMNS.map(|(name, ..)| name).join(",")
}

/// The heading of a CSV file of attempts on the air.
pub fn attempts_heading() -> String {
    all_columns(true).map(|(name, ..)| *name).collect::<Vec<_>>().join(",")
}

/// The row of a record of this pipe. Names of links and addresses have no commas.
pub fn csv_row(record: &Record, pipe: &JournalPipe) -> String {
    let mut row = String::with_capacity(160);
    for (number, value) in values(record, pipe).into_iter().enumerate() {
        if number > 0 {
            row.push(',');
        }
        // To write to a text cannot fail.
        let _ = match value {
            Value::Null => Ok(()),
            Value::String(text) => row.write_str(&text),
            other => write!(row, "{other}"),
        };
    }
    row
}

/// The same as a JSON object.
pub fn json_row(record: &Record, pipe: &JournalPipe) -> Value {
    let columns = all_columns(record.attempt.is_some());
    let named = columns.map(|(name, ..)| (*name).to_owned()).zip(values(record, pipe));
    Value::Object(named.collect::<Map<_, _>>())
}

fn values(record: &Record, pipe: &JournalPipe) -> Vec<Value> {
    let (outcome, delivered, dropped, cause) = match record.fate {
        Fate::Delivered { .. } if record.attempt.is_some() => (3, None, None, None),
        _ if record.attempt.is_some() => (4, None, None, None),
        Fate::Delivered { at_ns } => (0, Some(at_ns), None, None),
        Fate::Dropped { at_ns, cause } => (1, None, Some(at_ns), Some(cause_name(cause))),
        Fate::Inside => (2, None, None, None),
    };
    let flow = record.flow.as_ref();
    let port = |port: u16| Some(port).filter(|port| *port > 0);
    let mut values = vec![
        json!(pipe.link),
        json!(pipe.direction),
        json!(pipe.pipe),
        json!(OUTCOMES[outcome]),
        json!(cause),
        json!(record.arrived_ns),
        json!(record.started_ns),
        json!(record.sent_ns),
        json!(record.due_ns),
        json!(delivered),
        json!(dropped),
        json!(record.marked_ns),
        json!(record.size_bytes),
        json!(flow.map(|flow| flow.protocol)),
        json!(flow.map(|flow| flow.dscp)),
        json!(flow.map(|flow| flow.source)),
        json!(flow.and_then(|flow| port(flow.source_port))),
        json!(flow.map(|flow| flow.destination)),
        json!(flow.and_then(|flow| port(flow.destination_port))),
        json!(record.sequence),
    ];
    if let Some(AirAttempt { number, kilobits_per_second, sender, receiver }) = &record.attempt {
        values.extend([json!(number), json!(kilobits_per_second), json!(sender), json!(receiver)]);
    }
    values
}

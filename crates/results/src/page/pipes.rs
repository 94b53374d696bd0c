//! Pipes: what was described and measured in all, and over time.

use super::{Notes, columns};
use crate::plots::{Log, Subject, Traffic};
use netloom_units::Duration;
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// How many pipes are in the table at most, and how many are drawn.
const MOST_ROWS: usize = 1_000;
const MOST_DRAWN: usize = 48;
/// How many points all curves together have at most, and each.
const POINTS: usize = 48_000;
const MOST_POINTS: usize = 1_200;

/// A row of the table: that of `pipes.json`.
pub(super) type PipeData = Value;

/// What a pipe carried over time: the mean rates and the longest queues between the instants of `t`, of which the first interval begins at zero.
#[derive(Debug, Serialize)]
pub(super) struct Series {
    link: String,
    direction: String,
    pipe: Option<String>,
    #[serde(serialize_with = "columns::full")]
    t: Vec<f64>,
    /// In bits per second.
    #[serde(serialize_with = "columns::full")]
    rate: Vec<f64>,
    #[serde(serialize_with = "columns::full")]
    queue_packets: Vec<f64>,
    #[serde(serialize_with = "columns::full")]
    queue_bytes: Vec<f64>,
    /// Packets, by cause; causes of which there are none are left out.
    drops: BTreeMap<&'static str, Vec<u64>>,
    /// How long packets took from end to end: the median and the 99th percentile, in nanoseconds; nothing if that was not sampled.
    #[serde(serialize_with = "columns::column", skip_serializing_if = "Vec::is_empty")]
    one_way_p50: Vec<Option<f64>>,
    #[serde(serialize_with = "columns::column", skip_serializing_if = "Vec::is_empty")]
    one_way_p99: Vec<Option<f64>>,
    /// The described rate in bits per second from which instant on; null: unlimited or not constant.
    rates: Vec<(f64, Option<u64>)>,
}

/// What the lab file says of a pipe.
#[derive(Debug, Serialize)]
pub(super) struct Described {
    link: String,
    direction: String,
    pipe: Option<String>,
    from: String,
    to: String,
    models: BTreeMap<String, String>,
}

/// All of that.
#[derive(Default)]
pub(super) struct Shown {
    pub(super) pipes: Vec<PipeData>,
    pub(super) left_out: usize,
    pub(super) series: Vec<Series>,
    pub(super) described: Vec<Described>,
}

/// Link, direction, and the name of a further pipe or nothing.
type Key = (String, String, String);

impl Series {
    /// When it ends, in seconds.
    pub(super) fn end(&self) -> Option<f64> {
        self.t.last().copied()
    }
}

/// Gathers what there is to show.
pub(super) fn gather(
    folder: &Path,
    subjects: Vec<Subject>,
    rows: Value,
    log: &Log,
    interval: Duration,
    notes: &mut Notes,
) -> Shown {
    let mut shown = Shown::default();
    let samples = folder.join("samples.csv");
    let totals = if samples.exists() {
        let known = crate::plots::totals_of_rows(&rows);
        known.unwrap_or_else(|| notes.of("samples.csv", crate::plots::totals(&samples)))
    } else {
        BTreeMap::new()
    };
    (shown.pipes, shown.left_out) = busiest(rows);
    let kept: BTreeSet<Key> = shown.pipes.iter().map(key_of).collect();
    let mut busy: Vec<(u64, Subject)> = Vec::new();
    for subject in subjects {
        let key = subject.key();
        if kept.contains(&key) {
            shown.described.push(described(&subject));
        }
        if let Some(total) = totals.get(&key) {
            busy.push((*total, subject));
        }
    }
    busy.sort_by_key(|(total, _)| std::cmp::Reverse(*total));
    busy.truncate(MOST_DRAWN);
    if busy.is_empty() {
        return shown;
    }
    let drawn: Vec<Subject> = busy.into_iter().map(|(_, subject)| subject).collect();
    let points = (POINTS / drawn.len()).min(MOST_POINTS);
    let keys: Vec<Key> = drawn.iter().map(Subject::key).collect();
    let traffic = notes.of("samples.csv", crate::plots::traffic(&samples, &keys, interval, log.end, points));
    shown.series = drawn.iter().zip(&traffic).map(|(subject, traffic)| series(subject, traffic, log)).collect();
    shown
}

/// The rows of the pipes that carried or dropped most, in their own order, and how many others there are.
fn busiest(rows: Value) -> (Vec<PipeData>, usize) {
    let Value::Array(rows) = rows else { return (Vec::new(), 0) };
    let count = rows.len();
    let packets = |row: &Value| row["arrived_packets"].as_u64().unwrap_or(0);
    let mut by_packets: Vec<(usize, Value)> = rows.into_iter().enumerate().collect();
    by_packets.sort_by_key(|(_, row)| std::cmp::Reverse(packets(row)));
    by_packets.truncate(MOST_ROWS);
    by_packets.sort_by_key(|(place, _)| *place);
    (by_packets.into_iter().map(|(_, row)| row).collect(), count.saturating_sub(MOST_ROWS))
}

fn key_of(row: &Value) -> Key {
    let word = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
    (word("link"), word("direction"), word("pipe"))
}

fn described(subject: &Subject) -> Described {
    Described {
        link: subject.link.clone(),
        direction: subject.direction.to_owned(),
        pipe: subject.further.clone(),
        from: subject.from.clone(),
        to: subject.to.clone(),
        models: subject.models.clone(),
    }
}

fn series(subject: &Subject, traffic: &Traffic, log: &Log) -> Series {
    let spans = &traffic.spans;
    let rate = |bits: f64, seconds: f64| if seconds > 0.0 { (bits / seconds).round() } else { 0.0 };
    let causes = ["queue", "early", "loss", "down"];
    let drops = causes.into_iter().enumerate().filter_map(|(cause, name)| {
        let column: Vec<u64> = spans.iter().map(|span| span.dropped[cause]).collect();
        column.iter().any(|count| *count > 0).then_some((name, column))
    });
    let one_way = |part: usize| -> Vec<Option<f64>> {
        let column = spans.iter().map(|span| span.one_way.map(|both| both[part] as f64));
        if spans.iter().any(|span| span.one_way.is_some()) { column.collect() } else { Vec::new() }
    };
    Series {
        link: subject.link.clone(),
        direction: subject.direction.to_owned(),
        pipe: subject.further.clone(),
        t: spans.iter().map(|span| columns::seconds(span.to)).collect(),
        rate: spans.iter().map(|span| rate(span.bits, span.to - span.from)).collect(),
        queue_packets: spans.iter().map(|span| span.queued_packets as f64).collect(),
        queue_bytes: spans.iter().map(|span| span.queued_bytes as f64).collect(),
        drops: drops.collect(),
        one_way_p50: one_way(0),
        one_way_p99: one_way(1),
        rates: log.rates(subject),
    }
}

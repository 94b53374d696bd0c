//! `samples.csv`, read line by line: that of a large lab has a hundred megabytes.

use crate::ReadError;
use crate::rows::{self, Lines};
use netloom_units::Duration;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Link, direction, and the name of a further pipe or nothing.
pub(crate) type Key = (String, String, String);

/// Samples come a little after they are due.
const SLACK: f64 = 1.5;

/// What is read of a row, in this order.
const COLUMNS: [&str; FIGURES] = [
    "departed_bytes",
    "queue_packets",
    "queue_bytes",
    "dropped_queue_packets",
    "dropped_early_packets",
    "dropped_loss_packets",
    "dropped_down_packets",
    "dropped_partition_packets",
    "dropped_fault_packets",
    "dropped_air_packets",
    "cross_queue_packets",
    "cross_queue_bytes",
    "one_way_delay_p50_ns",
    "one_way_delay_p99_ns",
];
/// How many they are, and from which on a field may be empty.
const FIGURES: usize = 14;
const DELAYS: usize = 12;
const KEYS: [&str; 4] = ["time_s", "link", "direction", "pipe"];

/// What happened in a pipe between two instants.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Span {
    /// Seconds after time zero.
    pub(crate) from: f64,
    pub(crate) to: f64,
    /// Delivered.
    pub(crate) bits: f64,
    /// The most that waited, at any sample from its beginning to its end; cross traffic included.
    pub(crate) queued_packets: u64,
    pub(crate) queued_bytes: u64,
    /// Dropped: queue full, early, loss, link down, partition, fault, air.
    pub(crate) dropped: [u64; 7],
    /// How long packets took from end to end, in nanoseconds: the median and the 99th percentile, of several samples the largest of
    /// each. None if that was not measured, or nothing was delivered.
    pub(crate) one_way: Option<[u64; 2]>,
}

/// A pipe over the whole time.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Traffic {
    /// One behind the other from time zero to the end, without gaps.
    pub(crate) spans: Vec<Span>,
}

/// Returns how much each pipe carried and dropped in all, in bytes and packets, from the rows of `pipes.json`. Pipes in which nothing
/// happened are left out. Returns none if these are no rows.
pub(crate) fn totals_of_rows(rows: &Value) -> Option<BTreeMap<Key, u64>> {
    const COUNTED: [&str; 8] = [
        "departed_bytes",
        "dropped_queue_packets",
        "dropped_early_packets",
        "dropped_loss_packets",
        "dropped_down_packets",
        "dropped_partition_packets",
        "dropped_fault_packets",
        "dropped_air_packets",
    ];
    let total = |row: &Value| {
        let word = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
        let count = COUNTED.iter().filter_map(|name| row[name].as_u64()).fold(0, u64::saturating_add);
        (count > 0).then(|| ((word("link"), word("direction"), word("pipe")), count))
    };
    Some(rows.as_array()?.iter().filter_map(total).collect())
}

/// Returns the same figures from the samples, for a run that was cut off before it wrote `pipes.json`.
pub(crate) fn totals(path: &Path) -> Result<BTreeMap<Key, u64>, ReadError> {
    let mut totals: BTreeMap<String, (Key, u64)> = BTreeMap::new();
    let mut rows = Rows::open(path)?;
    let mut name = String::new();
    while let Some(row) = rows.next()? {
        let numbers = row.numbers()?;
        let total = numbers[0] + numbers[3..10].iter().sum::<u64>();
        row.name(&mut name);
        match totals.get_mut(&name) {
            Some((_, known)) => *known = total,
            None if total > 0 => drop(totals.insert(name.clone(), (row.key(), total))),
            None => {}
        }
    }
    Ok(totals.into_values().collect())
}

/// What happened in each of `wanted`, up to the `end` of the run if that is known. Samples are `interval` apart, and
/// of more than `most` several become one.
pub(super) fn read(
    path: &Path,
    wanted: &[Key],
    (interval, most): (Duration, usize),
    end: Option<f64>,
) -> Result<Vec<Traffic>, ReadError> {
    let interval = interval.as_secs_f64();
    let names = wanted.iter().map(|(link, direction, pipe)| joined([link, direction, pipe]));
    let places: BTreeMap<String, usize> = names.zip(0..).collect();
    let mut lines = vec![Line::default(); wanted.len()];
    let mut last = 0.0_f64;
    let mut rows = Rows::open(path)?;
    let mut name = String::new();
    while let Some(row) = rows.next()? {
        row.name(&mut name);
        // The figures of other pipes need not be parsed: those of a large lab are most of the file.
        if let Some(line) = places.get(&name) {
            last = last.max(row.time);
            lines[*line].add(row.time, row.numbers()?, interval);
        }
    }
    let end = end.unwrap_or(last).max(last);
    let width = (end / most as f64).max(interval);
    Ok(lines.into_iter().map(|line| Traffic { spans: merged(line.until(end), width) }).collect())
}

/// A pipe of which samples are added one by one.
#[derive(Clone, Default)]
struct Line {
    spans: Vec<Span>,
    before: [u64; FIGURES],
}

impl Line {
    fn add(&mut self, time: f64, numbers: [u64; FIGURES], interval: f64) {
        // What was counted before time zero is not a part of the run.
        if time < interval * 0.9 {
            self.before = numbers;
            return;
        }
        self.idle_until(time - interval * SLACK, time - interval);
        let from = self.spans.last().map_or(0.0, |span| span.to);
        let (waited, waiting) = (queued(&self.before), queued(&numbers));
        let grown = |column: usize| numbers[column].saturating_sub(self.before[column]);
        self.spans.push(Span {
            from,
            to: time,
            bits: grown(0) as f64 * 8.0,
            queued_packets: waiting.0.max(waited.0),
            queued_bytes: waiting.1.max(waited.1),
            dropped: [3, 4, 5, 6, 7, 8, 9].map(grown),
            one_way: Some([numbers[DELAYS], numbers[DELAYS + 1]]).filter(|delays| delays[1] > 0),
        });
        self.before = numbers;
    }

    /// A pipe whose counters stay the same has no rows: what waited goes on to wait. It did so until `to`, if its last row
    /// is older than `oldest`.
    fn idle_until(&mut self, oldest: f64, to: f64) {
        let from = self.spans.last().map_or(0.0, |span| span.to);
        if from < oldest {
            let (queued_packets, queued_bytes) = queued(&self.before);
            self.spans.push(Span { from, to, queued_packets, queued_bytes, ..Span::default() });
        }
    }

    fn until(mut self, end: f64) -> Vec<Span> {
        let last = self.spans.last().map_or(0.0, |span| span.to);
        self.idle_until(end, end.max(last));
        self.spans
    }
}

/// Packets and bytes, cross traffic included.
fn queued(numbers: &[u64; FIGURES]) -> (u64, u64) {
    (numbers[1] + numbers[10], numbers[2] + numbers[11])
}

/// The same with spans that are at least so wide.
fn merged(spans: Vec<Span>, width: f64) -> Vec<Span> {
    let mut all: Vec<Span> = Vec::new();
    for span in spans {
        match all.last_mut() {
            Some(last) if last.to - last.from + (span.to - span.from) <= width * 1.01 => {
                last.to = span.to;
                last.bits += span.bits;
                last.queued_packets = last.queued_packets.max(span.queued_packets);
                last.queued_bytes = last.queued_bytes.max(span.queued_bytes);
                last.one_way = match (last.one_way, span.one_way) {
                    (Some(one), Some(other)) => Some([one[0].max(other[0]), one[1].max(other[1])]),
                    (one, other) => one.or(other),
                };
                last.dropped.iter_mut().zip(span.dropped).for_each(|(sum, more)| *sum += more);
            }
            _ => all.push(span),
        }
    }
    all
}

/// The rows of the file, one by one.
struct Rows {
    lines: Lines,
    /// Where each of [`KEYS`] and [`COLUMNS`] stands.
    keys: [usize; 4],
    columns: [Option<usize>; FIGURES],
    /// How many fields a row has at least.
    least: usize,
}

/// A row of the file, of which the figures are not parsed yet.
struct Row<'a> {
    rows: &'a Rows,
    fields: Vec<&'a str>,
    /// In seconds after time zero.
    time: f64,
}

impl Rows {
    fn open(path: &Path) -> Result<Self, ReadError> {
        let lines = Lines::open(path, "samples")?;
        let mut keys = [0; 4];
        for (place, name) in keys.iter_mut().zip(KEYS) {
            *place = lines.column(name)?;
        }
        // Files of older versions lack some.
        let columns = COLUMNS.map(|name| lines.find(name));
        let least = keys.into_iter().chain(columns.into_iter().flatten()).max().map_or(0, |last| last + 1);
        Ok(Self { lines, keys, columns, least })
    }

    fn next(&mut self) -> Result<Option<Row<'_>>, ReadError> {
        if !self.lines.read()? {
            return Ok(None);
        }
        let fields = self.lines.fields();
        if fields.len() < self.least {
            return Err(self.lines.wrong());
        }
        let time = rows::time(fields[self.keys[0]]).ok_or_else(|| self.lines.wrong())?;
        Ok(Some(Row { rows: self, fields, time }))
    }
}

impl Row<'_> {
    /// The link, the direction, and the further pipe or nothing.
    fn place(&self) -> [&str; 3] {
        let [_, link, direction, pipe] = self.rows.keys;
        [link, direction, pipe].map(|column| self.fields[column])
    }

    /// Puts the words of its place into `name`, as [`joined`] has them.
    fn name(&self, name: &mut String) {
        let [link, direction, pipe] = self.place();
        name.clear();
        [link, ",", direction, ",", pipe].into_iter().for_each(|word| name.push_str(word));
    }

    fn key(&self) -> Key {
        let [link, direction, pipe] = self.place().map(str::to_owned);
        (link, direction, pipe)
    }

    fn numbers(&self) -> Result<[u64; FIGURES], ReadError> {
        let mut numbers = [0; FIGURES];
        for (index, (number, column)) in numbers.iter_mut().zip(self.rows.columns).enumerate() {
            let Some(column) = column else { continue };
            let text = self.fields[column];
            if index < DELAYS || !text.is_empty() {
                *number = text.parse().map_err(|_| self.rows.lines.wrong())?;
            }
        }
        Ok(numbers)
    }
}

/// The name of a place in one word: no name has a comma.
fn joined(place: [&str; 3]) -> String {
    place.join(",")
}

//! `tcp.csv`, read line by line.

use crate::regular;
use netloom_judge::RunError;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// Points that a curve has at most; more could not be told apart.
const MOST_POINTS: f64 = 900.0;

/// Which connection.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Name {
    pub(crate) node: String,
    pub(crate) connection: u64,
}

/// A connection over the whole time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Curve {
    pub(crate) local: String,
    pub(crate) remote: String,
    pub(crate) congestion: String,
    pub(crate) points: Vec<Point>,
}

/// A connection at one instant.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Point {
    /// Seconds after time zero.
    pub(crate) time: f64,
    /// Packets.
    pub(crate) window: Option<f64>,
    pub(crate) threshold: Option<f64>,
    /// Microseconds.
    pub(crate) rtt: Option<f64>,
    pub(crate) least_rtt: Option<f64>,
    /// Bits per second.
    pub(crate) rate: Option<f64>,
    /// Bytes since the connection began.
    pub(crate) sent: Option<f64>,
    pub(crate) acked: Option<f64>,
    pub(crate) received: Option<f64>,
    /// Packets since then.
    pub(crate) retransmissions: Option<f64>,
}

/// What is read of a row, in this order.
const COLUMNS: [&str; 15] = [
    "time_s",
    "node",
    "connection",
    "local",
    "remote",
    "congestion",
    "cwnd_packets",
    "ssthresh_packets",
    "srtt_us",
    "min_rtt_us",
    "delivery_rate_bits_per_second",
    "bytes_sent",
    "bytes_acked",
    "bytes_received",
    "retransmissions",
];

/// The connections that sent most, up to the `end` of the run if that is known, in the order of their names.
pub(crate) fn busiest(path: &Path, most: usize, end: Option<f64>) -> Result<Vec<(Name, Curve)>, RunError> {
    let (mut totals, mut last) = (BTreeMap::<Name, u64>::new(), 0.0_f64);
    let mut rows = Rows::open(path)?;
    while let Some(row) = rows.next()? {
        last = last.max(row.time);
        totals.insert(row.name, row.sent);
    }
    let mut chosen: Vec<(Name, u64)> = totals.into_iter().filter(|(_, sent)| *sent > 0).collect();
    chosen.sort_by_key(|(_, sent)| std::cmp::Reverse(*sent));
    chosen.truncate(most);
    let mut curves: BTreeMap<Name, Curve> = chosen.into_iter().map(|(name, _)| (name, Curve::default())).collect();
    let width = end.unwrap_or(last).max(last) / MOST_POINTS;
    rows = Rows::open(path)?;
    while let Some(row) = rows.next()? {
        if let Some(curve) = curves.get_mut(&row.name) {
            curve.add(row.point, width);
            [curve.local, curve.remote, curve.congestion] = row.words;
        }
    }
    Ok(curves.into_iter().collect())
}

impl Curve {
    /// Of points that are closer than `width`, the last counts.
    fn add(&mut self, point: Point, width: f64) {
        let slot = |time: f64| (time / width).floor();
        match self.points.last_mut() {
            Some(last) if width > 0.0 && slot(last.time) == slot(point.time) => *last = point,
            _ => self.points.push(point),
        }
    }
}

/// The rows of the file, one by one.
struct Rows {
    reader: BufReader<File>,
    path: PathBuf,
    /// Where each of [`COLUMNS`] stands.
    columns: [usize; COLUMNS.len()],
    line: String,
    number: usize,
}

struct Row {
    time: f64,
    name: Name,
    /// Local and remote address, and the algorithm.
    words: [String; 3],
    point: Point,
    sent: u64,
}

impl Rows {
    fn open(path: &Path) -> Result<Self, RunError> {
        let file = regular::open(path).map_err(|error| unreadable(path, &error.to_string()))?;
        let reader = BufReader::with_capacity(1 << 16, file);
        let mut rows =
            Self { reader, path: path.to_owned(), columns: [0; COLUMNS.len()], line: String::new(), number: 0 };
        rows.read_line()?;
        let names: Vec<&str> = rows.line.trim_end().split(',').collect();
        for (place, name) in rows.columns.iter_mut().zip(COLUMNS) {
            let found = names.iter().position(|known| *known == name);
            *place = found.ok_or_else(|| unreadable(path, &format!("line 1: there is no column `{name}`")))?;
        }
        Ok(rows)
    }

    /// False at the end of the file. A run that is killed leaves half a line at most, which is left out.
    fn read_line(&mut self) -> Result<bool, RunError> {
        self.number += 1;
        let read = regular::read_line(&mut self.reader, &mut self.line);
        read.map_err(|error| unreadable(&self.path, &format!("line {}: {error}", self.number)))?;
        Ok(self.line.ends_with('\n'))
    }

    fn next(&mut self) -> Result<Option<Row>, RunError> {
        if !self.read_line()? {
            return Ok(None);
        }
        let fields: Vec<&str> = self.line.trim_end().split(',').collect();
        let wrong = || unreadable(&self.path, &format!("line {}: this is not a row of TCP connections", self.number));
        let values = self.columns.map(|place| fields.get(place).copied());
        if values.contains(&None) {
            return Err(wrong());
        }
        let [time, node, connection, local, remote, congestion, figures @ ..] = values.map(Option::unwrap_or_default);
        let time: f64 = time.parse().ok().filter(|time: &f64| time.is_finite() && *time >= 0.0).ok_or_else(wrong)?;
        let connection = connection.parse().map_err(|_| wrong())?;
        let figures = figures.map(|text| text.parse::<u64>().ok());
        let total = figures[5].unwrap_or_default();
        let [window, threshold, rtt, least_rtt, rate, sent, acked, received, retransmissions] =
            figures.map(|value| value.map(|value| value as f64));
        Ok(Some(Row {
            time,
            name: Name { node: node.to_owned(), connection },
            words: [local, remote, congestion].map(str::to_owned),
            point: Point { time, window, threshold, rtt, least_rtt, rate, sent, acked, received, retransmissions },
            sent: total,
        }))
    }
}

fn unreadable(path: &Path, why: &str) -> RunError {
    RunError::Lab(format!("{}: {why}", path.display()))
}

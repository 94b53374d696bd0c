//! `tcp.csv`, read line by line.

use crate::ReadError;
use crate::rows;
use std::collections::BTreeMap;
use std::path::Path;

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
pub(crate) fn busiest(path: &Path, most: usize, end: Option<f64>) -> Result<Vec<(Name, Curve)>, ReadError> {
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
struct Rows(rows::Rows<{ COLUMNS.len() }>);

struct Row {
    time: f64,
    name: Name,
    /// Local and remote address, and the algorithm.
    words: [String; 3],
    point: Point,
    sent: u64,
}

impl Rows {
    fn open(path: &Path) -> Result<Self, ReadError> {
        rows::Rows::open(path, COLUMNS, "TCP connections").map(Self)
    }

    fn next(&mut self) -> Result<Option<Row>, ReadError> {
        let Some(values) = self.0.next()? else { return Ok(None) };
        match Row::read(values) {
            Some(row) => Ok(Some(row)),
            None => Err(self.0.wrong()),
        }
    }
}

impl Row {
    /// None if it is no such row.
    fn read([time, node, connection, local, remote, congestion, figures @ ..]: [&str; COLUMNS.len()]) -> Option<Self> {
        let time = rows::time(time)?;
        let connection = connection.parse().ok()?;
        let figures = figures.map(|text| text.parse::<u64>().ok());
        let total = figures[5].unwrap_or_default();
        let [window, threshold, rtt, least_rtt, rate, sent, acked, received, retransmissions] =
            figures.map(|value| value.map(|value| value as f64));
        Some(Self {
            time,
            name: Name { node: node.to_owned(), connection },
            words: [local, remote, congestion].map(str::to_owned),
            point: Point { time, window, threshold, rtt, least_rtt, rate, sent, acked, received, retransmissions },
            sent: total,
        })
    }
}

//! What can be measured of TCP connections that are sampled inside nodes.

use super::{Dimension, Spread};
use std::fmt;

/// The TCP connections that a term measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TcpPart {
    /// The connections of all nodes, each at the end that sends more.
    All,
    /// The connections of the node at this place of the plan.
    Node(usize),
    /// The connections of the command at this place of the timeline.
    Command(usize),
}

/// A metric of TCP connections. Those that are sampled have the names of columns of `tcp.csv`, without their unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TcpMetric {
    /// The rate of payload that was acknowledged or received.
    Goodput,
    /// The rate of payload that was acknowledged.
    GoodputSent,
    /// The rate of payload that was received.
    GoodputReceived,
    /// A column of `tcp.csv`.
    Column(Column),
}

/// A column of `tcp.csv`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Column {
    /// The metric's name, and the column's without its unit.
    pub name: &'static str,
    /// The column's name.
    pub column: &'static str,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Packets,
    Microseconds,
    Rate,
    /// What only grows: of interest is by how much.
    CountedPackets,
    CountedBytes,
}

const fn column(name: &'static str, column: &'static str, kind: Kind) -> Column {
    Column { name, column, kind }
}

const RATES: [(&str, TcpMetric); 3] = [
    ("goodput", TcpMetric::Goodput),
    ("goodput_sent", TcpMetric::GoodputSent),
    ("goodput_received", TcpMetric::GoodputReceived),
];

const COLUMNS: [Column; 16] = [
    column("cwnd", "cwnd_packets", Kind::Packets),
    column("ssthresh", "ssthresh_packets", Kind::Packets),
    column("srtt", "srtt_us", Kind::Microseconds),
    column("rttvar", "rttvar_us", Kind::Microseconds),
    column("min_rtt", "min_rtt_us", Kind::Microseconds),
    column("rto", "rto_us", Kind::Microseconds),
    column("delivery_rate", "delivery_rate_bits_per_second", Kind::Rate),
    column("pacing_rate", "pacing_rate_bits_per_second", Kind::Rate),
    column("unacked", "unacked_packets", Kind::Packets),
    column("bytes_sent", "bytes_sent", Kind::CountedBytes),
    column("bytes_acked", "bytes_acked", Kind::CountedBytes),
    column("bytes_received", "bytes_received", Kind::CountedBytes),
    column("bytes_retransmitted", "bytes_retransmitted", Kind::CountedBytes),
    column("retransmissions", "retransmissions", Kind::CountedPackets),
    column("delivered", "delivered_packets", Kind::CountedPackets),
    column("delivered_ce", "delivered_ce_packets", Kind::CountedPackets),
];

impl TcpMetric {
    /// All names, for messages.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        RATES.iter().map(|(name, _)| *name).chain(COLUMNS.iter().map(|column| column.name))
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        let rate = RATES.iter().find(|(known, _)| *known == name).map(|(_, metric)| *metric);
        rate.or_else(|| COLUMNS.iter().find(|column| column.name == name).map(|column| Self::Column(*column)))
    }

    /// Returns the unit in which the metric is measured.
    pub fn dimension(self) -> Dimension {
        match self {
            Self::Goodput | Self::GoodputSent | Self::GoodputReceived => Dimension::Rate,
            Self::Column(column) => match column.kind {
                Kind::Packets | Kind::CountedPackets => Dimension::Packets,
                Kind::Microseconds => Dimension::Duration,
                Kind::Rate => Dimension::Rate,
                Kind::CountedBytes => Dimension::Bytes,
            },
        }
    }

    /// Whether it has one value or many.
    pub(crate) fn spread(self) -> Spread {
        match self {
            Self::Goodput | Self::GoodputSent | Self::GoodputReceived => Spread::Optional,
            Self::Column(column) if column.is_counted() => Spread::One,
            Self::Column(_) => Spread::Needed,
        }
    }
}

impl Column {
    /// Whether the column is a counter, which only grows.
    pub fn is_counted(self) -> bool {
        matches!(self.kind, Kind::CountedPackets | Kind::CountedBytes)
    }

    /// Returns the factor by which a value of the column is multiplied to be in the unit of its dimension.
    pub fn factor(self) -> f64 {
        if self.kind == Kind::Microseconds { 1e3 } else { 1.0 }
    }
}

impl fmt::Display for TcpMetric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Column(column) => f.write_str(column.name),
            _ => f.write_str(RATES.iter().find(|(_, metric)| metric == self).map_or("", |(name, _)| name)),
        }
    }
}

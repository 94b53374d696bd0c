//! What can be measured of nodes that are sampled.

use super::{Dimension, Spread};
use std::fmt;

/// A metric of a node that is sampled. All but [`Processor`](Self::Processor) have the names of columns of `nodes.csv`, without
/// their unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeMetric {
    /// The processor time of programs and kernel, as a share of one processor's.
    Processor,
    /// A column of `nodes.csv`.
    Column(NodeColumn),
}

/// A column of `nodes.csv`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeColumn {
    /// The metric's name, and the column's without its unit.
    pub name: &'static str,
    /// The column's name.
    pub column: &'static str,
    dimension: Dimension,
    /// Whether the column is a counter, which only grows: of interest is by how much.
    pub is_counted: bool,
}

const PROCESSOR: &str = "processor";

const fn now(name: &'static str, column: &'static str, dimension: Dimension) -> NodeColumn {
    NodeColumn { name, column, dimension, is_counted: false }
}

const fn counted(name: &'static str, column: &'static str, dimension: Dimension) -> NodeColumn {
    NodeColumn { name, column, dimension, is_counted: true }
}

const COLUMNS: [NodeColumn; 9] = [
    counted("user", "user_ns", Dimension::Duration),
    counted("system", "system_ns", Dimension::Duration),
    now("processes", "processes", Dimension::Number),
    now("threads", "threads", Dimension::Number),
    now("process_memory", "process_memory_bytes", Dimension::Bytes),
    now("used_memory", "used_memory_bytes", Dimension::Bytes),
    counted("interface_dropped", "interface_dropped_packets", Dimension::Packets),
    counted("softnet_dropped", "softnet_dropped_packets", Dimension::Packets),
    counted("softnet_squeezed", "softnet_squeezed", Dimension::Number),
];

impl NodeMetric {
    /// All names, for messages.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        [PROCESSOR].into_iter().chain(COLUMNS.iter().map(|column| column.name))
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        if name == PROCESSOR {
            return Some(Self::Processor);
        }
        COLUMNS.iter().find(|column| column.name == name).map(|column| Self::Column(*column))
    }

    /// Returns the unit in which the metric is measured.
    pub fn dimension(self) -> Dimension {
        match self {
            Self::Processor => Dimension::Share,
            Self::Column(column) => column.dimension,
        }
    }

    /// Whether it has one value or many.
    pub(crate) fn spread(self) -> Spread {
        match self {
            Self::Processor => Spread::Optional,
            Self::Column(column) if column.is_counted => Spread::One,
            Self::Column(_) => Spread::Needed,
        }
    }
}

impl fmt::Display for NodeMetric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Processor => f.write_str(PROCESSOR),
            Self::Column(column) => f.write_str(column.name),
        }
    }
}

//! What nodes use over time, from `nodes.csv`.

use super::columns;
use crate::ReadError;
use crate::rows::{self, Rows};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// How many nodes are drawn: those that computed most.
const MOST: usize = 16;
/// Points that a curve has at most; more could not be told apart.
const MOST_POINTS: f64 = 600.0;

const COLUMNS: [&str; 8] = [
    "time_s",
    "node",
    "user_ns",
    "system_ns",
    "process_memory_bytes",
    "used_memory_bytes",
    "interface_dropped_packets",
    "softnet_dropped_packets",
];

/// A node. All columns have as many values as `t`.
#[derive(Debug, Default, Serialize)]
pub(super) struct Node {
    node: String,
    /// Whether `memory_bytes` is what its kernel could not give to programs, rather than what its processes have.
    has_kernel: bool,
    /// Seconds after time zero.
    #[serde(serialize_with = "columns::full")]
    t: Vec<f64>,
    /// Processor time since the node began.
    #[serde(serialize_with = "columns::full")]
    processor_ns: Vec<f64>,
    #[serde(serialize_with = "columns::full")]
    memory_bytes: Vec<f64>,
    /// At interfaces and in the kernel's queues, since the node began.
    #[serde(serialize_with = "columns::full")]
    dropped_packets: Vec<f64>,
}

/// The nodes that computed most, up to the `end` of the run if that is known; and how many others there are.
pub(super) fn gather(folder: &Path, end: Option<f64>) -> Result<(Vec<Node>, usize), ReadError> {
    let table = folder.join(crate::nodes::FILE);
    if !table.exists() {
        return Ok((Vec::new(), 0));
    }
    let (mut totals, mut last) = (BTreeMap::<String, u64>::new(), 0.0_f64);
    each(&table, |row| {
        last = last.max(row.time);
        totals.insert(row.node.to_owned(), row.processor_ns);
    })?;
    let all = totals.len();
    let mut chosen: Vec<(String, u64)> = totals.into_iter().collect();
    chosen.sort_by_key(|(_, used)| std::cmp::Reverse(*used));
    chosen.truncate(MOST);
    let left_out = all - chosen.len();
    let mut nodes: BTreeMap<String, Node> =
        chosen.into_iter().map(|(node, _)| (node.clone(), Node { node, ..Node::default() })).collect();
    let width = end.unwrap_or(last).max(last) / MOST_POINTS;
    each(&table, |row| {
        if let Some(node) = nodes.get_mut(row.node) {
            node.add(&row, width);
        }
    })?;
    Ok((nodes.into_values().collect(), left_out))
}

/// A row of the table.
struct Row<'a> {
    time: f64,
    node: &'a str,
    processor_ns: u64,
    memory_bytes: u64,
    dropped_packets: u64,
    has_kernel: bool,
}

fn each(table: &Path, mut take: impl FnMut(Row<'_>)) -> Result<(), ReadError> {
    let mut rows = Rows::open(table, COLUMNS, "what nodes use")?;
    loop {
        let Some(values) = rows.next()? else { return Ok(()) };
        match Row::read(values) {
            Some(row) => take(row),
            None => return Err(rows.wrong()),
        }
    }
}

impl<'a> Row<'a> {
    /// None if it is no such row. What only kernels of their own tell is empty of others.
    fn read([time, node, user, system, own, used, interface, softnet]: [&'a str; COLUMNS.len()]) -> Option<Self> {
        let number = |text: &str| text.parse::<u64>().ok();
        let or_none = |text: &str| if text.is_empty() { Some(None) } else { number(text).map(Some) };
        let used = or_none(used)?;
        Some(Self {
            time: rows::time(time)?,
            node,
            processor_ns: number(user)?.saturating_add(number(system)?),
            memory_bytes: used.unwrap_or(number(own)?),
            dropped_packets: number(interface)?.saturating_add(or_none(softnet)?.unwrap_or(0)),
            has_kernel: used.is_some(),
        })
    }
}

impl Node {
    /// Of samples that are closer than `width` seconds, the last counts.
    fn add(&mut self, row: &Row<'_>, width: f64) {
        let slot = |time: f64| (time / width).floor();
        let is_close = |last: &f64| width > 0.0 && slot(*last) == slot(row.time);
        if self.t.last().is_some_and(is_close) {
            for column in [&mut self.t, &mut self.processor_ns, &mut self.memory_bytes, &mut self.dropped_packets] {
                column.pop();
            }
        }
        self.has_kernel = row.has_kernel;
        self.t.push(columns::seconds(row.time));
        self.processor_ns.push(row.processor_ns as f64);
        self.memory_bytes.push(row.memory_bytes as f64);
        self.dropped_packets.push(row.dropped_packets as f64);
    }
}

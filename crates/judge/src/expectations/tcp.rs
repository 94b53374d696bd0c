//! What terms about TCP connections are, from samples taken inside nodes.
//!
//! A connection has a sample when something of it has changed, so each stands for the time up to the next one. A *flow* is a
//! connection that carries data: one that carried less than [`LITTLE`] and had something to send for less than half of its time is
//! none, as the connection over which programs agree on a measurement. One that starves has something to send all the time, and
//! is one. Where all are small, all are flows.

use super::Found;
use netloom_lab::{Function, Measured, Plan, Subject, TcpMetric, TcpPart, Term, Window};
use netloom_units::Duration;
use std::collections::BTreeMap;

/// Bytes of payload.
const LITTLE: u64 = 100_000;
/// The steps of a series of rates.
const STEP: Duration = Duration::from_millis(100);
const ACKED: &str = "bytes_acked";
const RECEIVED: &str = "bytes_received";
const BUSY: &str = "busy_us";
/// There is no such value.
const NONE: u64 = u64::MAX;

/// The samples of TCP connections that expectations and figures need.
#[derive(Clone, Debug, Default)]
pub struct TcpWatch {
    /// What is kept of a sample; empty: no sample is.
    columns: Vec<&'static str>,
    /// How long after a sample of each node the next one is taken.
    every: Vec<Duration>,
    /// By node and number.
    connections: BTreeMap<(usize, u64), Connection>,
}

/// The connection that a sample is of, and the instant at which it was taken.
#[derive(Clone, Copy, Debug)]
pub struct TcpSeen {
    /// The instant after time zero; a sample from before counts as taken then.
    pub at: Duration,
    /// The node's place in the plan.
    pub node: usize,
    /// The connection's number in the node.
    pub connection: u64,
}

#[derive(Clone, Debug, Default)]
struct Connection {
    command: Option<usize>,
    /// In nanoseconds after time zero.
    times: Vec<u64>,
    /// As many for each sample as there are columns.
    values: Vec<u64>,
}

impl TcpWatch {
    /// Creates a watch for the columns that the expectations and figures of `plan` need.
    pub fn of(plan: &Plan) -> Self {
        let mut watch = Self::default();
        for term in plan.terms() {
            let Subject::Tcp { metric, .. } = &term.subject else { continue };
            if watch.columns.is_empty() {
                watch.columns.extend([ACKED, RECEIVED, BUSY]);
                watch.every = plan.nodes.iter().map(|node| node.measure.tcp.unwrap_or_default()).collect();
            }
            if let TcpMetric::Column(column) = metric
                && !watch.columns.contains(&column.column)
            {
                watch.columns.push(column.column);
            }
        }
        watch
    }

    /// Adds a sample; `value` returns the columns of `tcp.csv`.
    pub fn add(&mut self, seen: TcpSeen, value: impl Fn(&str) -> Option<u64>) {
        if self.columns.is_empty() {
            return;
        }
        let connection = self.connections.entry((seen.node, seen.connection)).or_default();
        let at = seen.at.as_nanos();
        if connection.times.last() == Some(&at) {
            connection.times.pop();
            connection.values.truncate(connection.values.len() - self.columns.len());
        }
        connection.times.push(at);
        connection.values.extend(self.columns.iter().map(|column| value(column).unwrap_or(NONE)));
    }

    /// Records that a connection of a node is that of the command at this place of the timeline.
    pub fn is_of(&mut self, node: usize, connection: u64, command: usize) {
        if let Some(connection) = self.connections.get_mut(&(node, connection)) {
            connection.command = Some(command);
        }
    }

    /// What a term is, in a run that ended at `end`.
    pub(super) fn value(&self, part: TcpPart, each: bool, metric: TcpMetric, term: &Term, end: Duration) -> Found {
        let Chosen { flows, left_out } = self.flows(part, term.window);
        let value = self.of_flows(&flows, each, metric, term, end).map(Measured::Number);
        let connections =
            |count: usize| if count == 1 { "1 connection".to_owned() } else { format!("{count} connections") };
        let count = match flows.len() {
            1 => "1 flow".to_owned(),
            count => format!("{count} flows"),
        };
        let without = (left_out > 0).then(|| format!("without {} that carried next to nothing", connections(left_out)));
        let note = match without {
            _ if value.is_err() => None,
            Some(without) => Some(format!("{count}, {without}")),
            None => each.then_some(count),
        };
        Found { value, note }
    }

    fn of_flows(
        &self,
        flows: &[Flow<'_>],
        each: bool,
        metric: TcpMetric,
        term: &Term,
        end: Duration,
    ) -> Result<f64, String> {
        if let Some(window) = term.window.filter(|window| window.to > end) {
            return Err(format!("the run ended before {}", window.to));
        }
        let (series, of_all) = term.steps();
        if each && of_all == Some(Function::Count) {
            return Ok(flows.len() as f64);
        }
        if flows.is_empty() {
            let during =
                term.window.map_or_else(String::new, |window| format!(" between {} and {}", window.from, window.to));
            return Err(format!("no TCP connection of it was sampled{during}"));
        }
        let look = Look { watch: self, metric, window: term.window, end };
        match of_all {
            Some(function) if each => {
                let values: Result<Vec<f64>, String> =
                    flows.iter().map(|flow| look.value(std::slice::from_ref(flow), series)).collect();
                function.of(&values?).ok_or_else(|| format!("{function} wants more than {} flow", flows.len()))
            }
            _ => look.value(flows, series),
        }
    }

    /// The flows that are meant, and how many connections are none.
    fn flows(&self, part: TcpPart, window: Option<Window>) -> Chosen<'_> {
        let is_meant = |(node, connection): (usize, &Connection)| match part {
            TcpPart::All => self.total(connection, ACKED) > self.total(connection, RECEIVED),
            TcpPart::Node(own) => own == node,
            TcpPart::Command(event) => connection.command == Some(event),
        };
        let all = self.connections.iter().filter(|((node, _), connection)| is_meant((*node, connection)));
        let all: Vec<Flow<'_>> = all
            .map(|((node, _), connection)| Flow {
                connection,
                every: self.every.get(*node).copied().unwrap_or_default(),
            })
            .collect();
        let is_flow = |flow: &Flow<'_>| self.carries(flow);
        let is_any = all.iter().any(is_flow);
        let count = all.len();
        let flows: Vec<Flow<'_>> = all.into_iter().filter(|flow| !is_any || is_flow(flow)).collect();
        let left_out = count - flows.len();
        let is_there = |flow: &Flow<'_>| {
            let [first, last] = flow.span();
            window.is_none_or(|window| {
                first <= window.to.as_nanos() && last + flow.every.as_nanos() >= window.from.as_nanos()
            })
        };
        Chosen { flows: flows.into_iter().filter(is_there).collect(), left_out }
    }

    /// Whether a connection carries data.
    fn carries(&self, flow: &Flow<'_>) -> bool {
        let [first, last] = flow.span();
        let busy_ns = self.total(flow.connection, BUSY).saturating_mul(1_000);
        let carried = self.total(flow.connection, ACKED) + self.total(flow.connection, RECEIVED);
        carried >= LITTLE || last > first && busy_ns.saturating_mul(2) >= last - first
    }

    /// What a column came to.
    fn total(&self, connection: &Connection, column: &str) -> u64 {
        connection.times.len().checked_sub(1).map_or(0, |row| self.number(connection, row, column).unwrap_or(0))
    }

    fn number(&self, connection: &Connection, row: usize, column: &str) -> Option<u64> {
        let place = self.columns.iter().position(|known| *known == column)?;
        connection.values.get(row * self.columns.len() + place).copied().filter(|value| *value != NONE)
    }
}

/// A connection, and how long after a sample of it the next one is taken.
#[derive(Clone, Copy)]
struct Flow<'a> {
    connection: &'a Connection,
    every: Duration,
}

struct Chosen<'a> {
    flows: Vec<Flow<'a>>,
    left_out: usize,
}

impl Flow<'_> {
    /// When it was first sampled, and last.
    fn span(&self) -> [u64; 2] {
        let times = &self.connection.times;
        [times.first().copied().unwrap_or(0), times.last().copied().unwrap_or(0)]
    }

    /// The last sample up to an instant.
    fn row_at(&self, at: u64) -> Option<usize> {
        self.connection.times.partition_point(|time| *time <= at).checked_sub(1)
    }
}

/// How flows are looked at.
struct Look<'a> {
    watch: &'a TcpWatch,
    metric: TcpMetric,
    window: Option<Window>,
    end: Duration,
}

impl Look<'_> {
    /// The one value of these flows together.
    fn value(&self, flows: &[Flow<'_>], series: Option<Function>) -> Result<f64, String> {
        match (self.metric, series) {
            (TcpMetric::Column(column), Some(function)) => {
                let mut samples: Vec<(f64, f64)> =
                    flows.iter().flat_map(|flow| self.samples(flow, column.column, column.factor())).collect();
                function.of_weighted(&mut samples).ok_or_else(|| "no sample has a value".into())
            }
            (TcpMetric::Column(column), None) => {
                Ok(flows.iter().map(|flow| self.grown(flow, &[column.column])).sum::<u64>() as f64 * column.factor())
            }
            (_, Some(function)) => {
                let mut steps = self.steps(flows);
                function.of_weighted(&mut steps).ok_or_else(|| self.too_short(flows))
            }
            (_, None) => self.rate(flows),
        }
    }

    /// The columns that the metric adds up.
    fn columns(&self) -> &'static [&'static str] {
        match self.metric {
            TcpMetric::GoodputSent => &[ACKED],
            TcpMetric::GoodputReceived => &[RECEIVED],
            _ => &[ACKED, RECEIVED],
        }
    }

    /// The values of a column, each with the seconds that it lasted.
    fn samples(&self, flow: &Flow<'_>, column: &str, factor: f64) -> Vec<(f64, f64)> {
        let times = &flow.connection.times;
        let (from, to) = self.window.map_or((0, self.end.as_nanos()), |w| (w.from.as_nanos(), w.to.as_nanos()));
        let lasting = |row: usize| {
            let next = times.get(row + 1).copied().unwrap_or(times[row] + flow.every.as_nanos().max(1));
            next.min(to).saturating_sub(times[row].max(from)) as f64 / 1e9
        };
        let value = |row: usize| Some(self.watch.number(flow.connection, row, column)? as f64 * factor);
        (0..times.len())
            .filter_map(|row| Some((value(row)?, lasting(row))))
            .filter(|(_, lasting)| *lasting > 0.0)
            .collect()
    }

    /// By how much these columns grew. What a connection had at time zero was before.
    fn grown(&self, flow: &Flow<'_>, columns: &[&str]) -> u64 {
        let at = |time: u64| flow.row_at(time).map_or(0, |row| self.sum(flow, row, columns));
        match self.window {
            Some(window) => at(window.to.as_nanos()).saturating_sub(at(window.from.as_nanos())),
            None => at(u64::MAX).saturating_sub(at(0)),
        }
    }

    fn sum(&self, flow: &Flow<'_>, row: usize, columns: &[&str]) -> u64 {
        columns.iter().map(|column| self.watch.number(flow.connection, row, column).unwrap_or(0)).sum()
    }

    /// Bits per second: within the window, or from the first sample of these flows to the last.
    fn rate(&self, flows: &[Flow<'_>]) -> Result<f64, String> {
        if let Some(window) = self.window {
            let bytes: u64 = flows.iter().map(|flow| self.grown(flow, self.columns())).sum();
            return Ok(bytes as f64 * 8.0 / (window.to.as_secs_f64() - window.from.as_secs_f64()));
        }
        let [first, last] = span(flows);
        let of_flow = |flow: &Flow<'_>| {
            let rows = flow.connection.times.len();
            self.sum(flow, rows - 1, self.columns()).saturating_sub(self.sum(flow, 0, self.columns()))
        };
        let bytes: u64 = flows.iter().map(of_flow).sum();
        if last == first { Err(self.too_short(flows)) } else { Ok(bytes as f64 * 8e9 / (last - first) as f64) }
    }

    /// The rate of each step, with the seconds that it lasted.
    fn steps(&self, flows: &[Flow<'_>]) -> Vec<(f64, f64)> {
        let [from, to] = match self.window {
            Some(window) => [window.from.as_nanos(), window.to.as_nanos()],
            None => span(flows),
        };
        let at = |time: u64| -> u64 {
            flows.iter().filter_map(|flow| Some(self.sum(flow, flow.row_at(time)?, self.columns()))).sum()
        };
        let (mut steps, mut begin, mut before) = (Vec::new(), from, at(from));
        while begin < to {
            let end = (begin + STEP.as_nanos()).min(to);
            let after = at(end);
            let seconds = (end - begin) as f64 / 1e9;
            steps.push((after.saturating_sub(before) as f64 * 8.0 / seconds, seconds));
            (begin, before) = (end, after);
        }
        steps
    }

    fn too_short(&self, flows: &[Flow<'_>]) -> String {
        let every = flows.iter().map(|flow| flow.every).max().unwrap_or_default();
        format!("its connections were sampled only once: write a shorter time than {every} in `measure: {{tcp: ...}}`")
    }
}

/// From the first sample of all flows to the last.
fn span(flows: &[Flow<'_>]) -> [u64; 2] {
    let spans = || flows.iter().map(Flow::span);
    [spans().map(|[first, _]| first).min().unwrap_or(0), spans().map(|[_, last]| last).max().unwrap_or(0)]
}

#[cfg(test)]
mod tests;

//! What terms about nodes are, from samples taken inside them.
//!
//! A node has a sample when one of its figures has changed, so each stands for the time up to the next one.

use netloom_lab::{Function, Measured, NodeColumn, NodeMetric, Plan, Subject, Term, Window};
use netloom_units::Duration;
use std::collections::BTreeMap;

/// The least step of a series of shares; kernels count processor time in steps of 10 ms.
const STEP: Duration = Duration::from_millis(100);
const USER: &str = "user_ns";
const SYSTEM: &str = "system_ns";
/// There is no such value.
const NONE: u64 = u64::MAX;

/// The samples of nodes that expectations and figures need.
#[derive(Clone, Debug, Default)]
pub struct NodeWatch {
    /// What is kept of a sample.
    columns: Vec<&'static str>,
    /// Of those nodes that are wanted, by their place in the plan.
    nodes: BTreeMap<usize, Samples>,
}

#[derive(Clone, Debug, Default)]
struct Samples {
    /// How long after a sample the next one is taken.
    every: Duration,
    /// In nanoseconds after time zero; what was before counts as then.
    times: Vec<u64>,
    /// As many for each sample as there are columns.
    values: Vec<u64>,
}

impl NodeWatch {
    /// Creates a watch for the nodes and columns that the expectations and figures of `plan` need.
    pub fn of(plan: &Plan) -> Self {
        let mut watch = Self::default();
        for term in plan.terms() {
            let Subject::Node { node, metric } = &term.subject else { continue };
            let every = plan.nodes[*node].measure.node.unwrap_or_default();
            watch.nodes.entry(*node).or_default().every = every;
            for column in columns(*metric) {
                if !watch.columns.contains(&column) {
                    watch.columns.push(column);
                }
            }
        }
        watch
    }

    /// Adds a sample of the node at this place, taken at this time after time zero; `value` returns the columns of `nodes.csv`.
    pub fn add(&mut self, at: Duration, node: usize, value: impl Fn(&str) -> Option<u64>) {
        let Some(samples) = self.nodes.get_mut(&node) else { return };
        if samples.times.last() == Some(&at.as_nanos()) {
            samples.times.pop();
            samples.values.truncate(samples.values.len() - self.columns.len());
        }
        samples.times.push(at.as_nanos());
        samples.values.extend(self.columns.iter().map(|column| value(column).unwrap_or(NONE)));
    }

    /// What a term is, in a run that ended at `end`.
    pub(super) fn value(
        &self,
        node: usize,
        metric: NodeMetric,
        term: &Term,
        end: Duration,
    ) -> Result<Measured, String> {
        if let Some(window) = term.window.filter(|window| window.to > end) {
            return Err(format!("the run ended before {}", window.to));
        }
        let samples = self.nodes.get(&node).filter(|samples| !samples.times.is_empty());
        let samples = samples.ok_or("the node was not sampled")?;
        let span = term.window.unwrap_or(Window { from: Duration::ZERO, to: end });
        let view = View { columns: &self.columns, samples, span };
        view.value(metric, term.steps().0).map(Measured::Number)
    }
}

/// The columns that a metric adds up.
fn columns(metric: NodeMetric) -> Vec<&'static str> {
    match metric {
        NodeMetric::Processor => vec![USER, SYSTEM],
        NodeMetric::Column(column) => vec![column.column],
    }
}

/// A node within a part of the run.
struct View<'a> {
    columns: &'a [&'static str],
    samples: &'a Samples,
    span: Window,
}

impl View<'_> {
    fn value(&self, metric: NodeMetric, function: Option<Function>) -> Result<f64, String> {
        let [from, to] = [self.span.from.as_nanos(), self.span.to.as_nanos()];
        match (metric, function) {
            (NodeMetric::Processor, None) if to > from => Ok(self.grown(metric, from, to)? as f64 / (to - from) as f64),
            (NodeMetric::Processor, None) => Err("the run had no length".into()),
            (NodeMetric::Processor, Some(function)) => {
                let mut steps = self.steps(metric)?;
                function.of_weighted(&mut steps).ok_or_else(|| "the run had no length".into())
            }
            (NodeMetric::Column(column), Some(function)) => {
                let mut lasting = self.lasting(column);
                function.of_weighted(&mut lasting).ok_or_else(|| missing(column))
            }
            (NodeMetric::Column(_), None) => Ok(self.grown(metric, from, to)? as f64),
        }
    }

    /// By how much what only grows grew. What the node had at time zero was before.
    fn grown(&self, metric: NodeMetric, from: u64, to: u64) -> Result<u64, String> {
        let at = |time: u64| {
            let row = self.samples.times.partition_point(|own| *own <= time).saturating_sub(1);
            columns(metric).into_iter().try_fold(0, |sum, column| Some(sum + self.number(row, column)?))
        };
        let none = || match metric {
            NodeMetric::Column(column) => missing(column),
            NodeMetric::Processor => "the node was not sampled".into(),
        };
        let [before, after] = [from, to].map(at);
        Ok(after.ok_or_else(none)?.saturating_sub(before.ok_or_else(none)?))
    }

    /// The share of each step, with the seconds that it lasted.
    fn steps(&self, metric: NodeMetric) -> Result<Vec<(f64, f64)>, String> {
        let step = STEP.max(self.samples.every).as_nanos();
        let (mut steps, mut begin, to) = (Vec::new(), self.span.from.as_nanos(), self.span.to.as_nanos());
        while begin < to {
            let end = (begin + step).min(to);
            let length = (end - begin) as f64;
            steps.push((self.grown(metric, begin, end)? as f64 / length, length / 1e9));
            begin = end;
        }
        Ok(steps)
    }

    /// The values of a column, each with the seconds that it lasted.
    fn lasting(&self, column: NodeColumn) -> Vec<(f64, f64)> {
        let times = &self.samples.times;
        let [from, to] = [self.span.from.as_nanos(), self.span.to.as_nanos()];
        let seconds = |row: usize| {
            let next = times.get(row + 1).copied().unwrap_or(to);
            next.min(to).saturating_sub(times[row].max(from)) as f64 / 1e9
        };
        let value = |row: usize| Some((self.number(row, column.column)? as f64, seconds(row)));
        (0..times.len()).filter_map(value).filter(|(_, lasting)| *lasting > 0.0).collect()
    }

    fn number(&self, row: usize, column: &str) -> Option<u64> {
        let place = self.columns.iter().position(|known| *known == column)?;
        self.samples.values.get(row * self.columns.len() + place).copied().filter(|value| *value != NONE)
    }
}

/// Why a column has no values.
fn missing(column: NodeColumn) -> String {
    format!("`{}` is only of nodes with a kernel of their own", column.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAB: &str = "
nodes: [a, b]
links: {l: {ends: [a, b]}}
measure: {node: 100 ms}
figures:
  whole: a.processor
  part: a.processor during 1 s..2 s
  most: a.processor.max
  memory: a.process_memory.max
  usual: a.process_memory.median
  drops: a.interface_dropped
  none: a.softnet_dropped
  unseen: b.processor
";

    /// Half a second of processor time in the second second, 1 MB, then 3 MB from 1.5 s on, and 7 drops at its end.
    fn watch() -> (Plan, NodeWatch) {
        let plan = netloom_lab::parse(LAB, "test.yaml").expect("a lab").plan;
        let mut watch = NodeWatch::of(&plan);
        let samples: [(u64, [u64; 4]); 4] = [
            (0, [100, 100, 1_000_000, 5]),
            (1_000, [100, 100, 1_000_000, 5]),
            (1_500, [300, 200, 3_000_000, 5]),
            (2_000, [400, 300, 3_000_000, 12]),
        ];
        for (at, [user, system, memory, drops]) in samples {
            watch.add(Duration::from_millis(at), 0, |column| match column {
                "user_ns" => Some(user * 1_000_000),
                "system_ns" => Some(system * 1_000_000),
                "process_memory_bytes" => Some(memory),
                "interface_dropped_packets" => Some(drops),
                _ => None,
            });
        }
        (plan, watch)
    }

    #[test]
    fn shares_sizes_and_counts_are_those_of_the_samples() {
        let (plan, watch) = watch();
        let value = |name: &str| {
            let term = &plan.figures.iter().find(|figure| figure.name == name).expect("a figure").term;
            let Subject::Node { node, metric } = term.subject else { panic!("{term:?}") };
            match watch.value(node, metric, term, Duration::from_secs(4)) {
                Ok(Measured::Number(number)) => Ok(number),
                Ok(text) => panic!("{text:?}"),
                Err(why) => Err(why),
            }
        };
        assert_eq!(value("whole"), Ok(0.5 / 4.0));
        assert_eq!(value("part"), Ok(0.5));
        // Within 100 ms that end at a sample: 300 ms of two threads.
        assert_eq!(value("most"), Ok(3.0));
        assert_eq!(value("memory"), Ok(3e6));
        assert_eq!(value("usual"), Ok(3e6));
        assert_eq!(value("drops"), Ok(7.0));
        assert!(value("none").unwrap_err().contains("kernel of their own"));
        assert!(value("unseen").unwrap_err().contains("not sampled"));
    }
}

//! Whether a run shows what is expected of it: finds what each expectation is about, and has it judged.

mod look;
mod nodes;
mod parts;
mod pipes;
mod stations;
mod tasks;
mod tcp;
mod watches;

use crate::measure::Mark;
use crate::{ExpectationRow, FigureRow, PipePlace, PipeState};
pub use look::Look;
use netloom_figures::Snapshot;
use netloom_lab::{CommandMetric, Expectation, Figure, FigureUnit, Judgement, Measured, Plan, Subject, Term};
use netloom_units::Duration;
pub use nodes::NodeWatch;
use std::collections::BTreeMap;
pub use tasks::{Tasks, so_far};
pub use tcp::{TcpSeen, TcpWatch};
pub use watches::Watches;

/// All that a run measured.
#[derive(Clone, Copy)]
pub struct Measurements<'a> {
    /// The plan of the lab: what was described.
    pub plan: &'a Plan,
    /// The function that returns the value of a metric of the command at a place of the timeline.
    pub of_command: &'a dyn Fn(usize, &CommandMetric) -> Value,
    /// The state of each pipe at the end.
    pub pipes: &'a [PipeState],
    /// The counters of each pipe at time zero.
    pub first: &'a [Mark],
    /// The counters of each pipe at the end.
    pub ends: &'a [Mark],
    /// The engine's snapshot at the end: all that was measured then.
    pub last: &'a Snapshot,
    /// The measurements at the beginnings and ends of windows, as far as the run came.
    pub windows: &'a BTreeMap<Duration, Look>,
    /// The longest queues and the series of pipes, which were watched in between.
    pub watches: &'a Watches,
    /// The samples of TCP connections.
    pub tcp: &'a TcpWatch,
    /// The samples of nodes.
    pub nodes: &'a NodeWatch,
}

/// The instants after time zero at which everything has to be measured.
pub fn instants(plan: &Plan) -> Vec<Duration> {
    let of_links = plan.terms().filter(|term| matches!(term.subject, Subject::Link { .. }));
    let windows = of_links.filter_map(|term| term.window);
    let mut all: Vec<Duration> = windows.flat_map(|window| [window.from, window.to]).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Judges every expectation, in the order of the lab file.
pub fn judge(measurements: &Measurements<'_>) -> Vec<ExpectationRow> {
    measurements.plan.expect.iter().map(|expectation| row(expectation, measurements)).collect()
}

/// Evaluates every figure, in the order of the lab file: for a link without a direction, one row for each direction.
pub fn figures(measurements: &Measurements<'_>) -> Vec<FigureRow> {
    measurements.plan.figures.iter().flat_map(|figure| figure_rows(figure, measurements)).collect()
}

fn figure_rows(figure: &Figure, measurements: &Measurements<'_>) -> Vec<FigureRow> {
    let all = measurements.of_term(&figure.term);
    let is_one = all.len() == 1;
    let row = |(place, found): (Option<&PipePlace>, Found)| {
        let name = match place {
            Some(place) if !is_one => format!("{}.{}", figure.name, place.direction),
            _ => figure.name.clone(),
        };
        figure_row(name, figure.unit, found.value)
    };
    all.into_iter().map(row).collect()
}

fn figure_row(name: String, unit: FigureUnit, value: Value) -> FigureRow {
    let (value, missing) = match value.and_then(|value| number(&value)) {
        Ok(number) => (Some(number * unit.factor), None),
        Err(reason) => (None, Some(reason)),
    };
    FigureRow { name, unit: unit.name.to_owned(), value, missing }
}

/// A measured value, or the reason why there is none.
pub type Value = Result<Measured, String>;

/// A value, and what else is to be said of it.
struct Found {
    value: Value,
    note: Option<String>,
}

impl From<Value> for Found {
    fn from(value: Value) -> Self {
        Self { value, note: None }
    }
}

fn number(value: &Measured) -> Result<f64, String> {
    let number = match value {
        Measured::Number(number) => Some(*number),
        Measured::Text(text) => text.parse().ok(),
    };
    let number = number.ok_or("it is a text")?;
    if number.is_finite() { Ok(number) } else { Err("it is no finite number".into()) }
}

fn row(expectation: &Expectation, measurements: &Measurements<'_>) -> ExpectationRow {
    let settled = expectation.settle(&mut |term| measurements.number_of(term));
    let judged = |found: Found| -> Judgement {
        let judgement = match (&settled, &found.value) {
            (Ok(settled), Ok(measured)) => settled.judge(measured),
            (Err(reason), Ok(_)) => expectation.unmeasured(&format!("what it is compared with: {reason}")),
            (_, Err(reason)) => expectation.unmeasured(reason),
        };
        let note = found.note.map_or_else(String::new, |note| format!(" ({note})"));
        Judgement { explanation: judgement.explanation + &note, ..judgement }
    };
    let all = measurements.of_term(&expectation.term);
    let is_of_both = matches!(expectation.term.subject, Subject::Link { direction: None, .. });
    let judgements: Vec<(String, Judgement)> = all
        .into_iter()
        .map(|(place, found)| {
            let label = place.filter(|_| is_of_both).map_or_else(String::new, |place| format!("{}: ", place.direction));
            (label, judged(found))
        })
        .collect();
    ExpectationRow {
        text: expectation.text.clone(),
        line: expectation.line,
        met: !judgements.is_empty() && judgements.iter().all(|(_, judgement)| judgement.met),
        explanation: judgements
            .iter()
            .map(|(label, judgement)| format!("{label}{}", judgement.explanation))
            .collect::<Vec<_>>()
            .join("; "),
    }
}

impl Measurements<'_> {
    /// What a term is; of a link without a direction, in each of them.
    fn of_term(&self, term: &Term) -> Vec<(Option<&PipePlace>, Found)> {
        let in_unit = |found: Found| match found.value {
            Ok(Measured::Number(number)) => Found { value: Ok(Measured::Number(number * term.factor)), ..found },
            _ => found,
        };
        match &term.subject {
            Subject::Command { event, metric } => vec![(None, in_unit((self.of_command)(*event, metric).into()))],
            Subject::Node { node, metric } => {
                vec![(None, in_unit(self.nodes.value(*node, *metric, term, self.duration()).into()))]
            }
            Subject::Tcp { part, each, metric } => {
                vec![(None, in_unit(self.tcp.value(*part, *each, *metric, term, self.duration())))]
            }
            Subject::Link { link, direction, pipe, metric, station, only } => {
                let is_wanted = |place: &PipePlace| place.is_of(*link, *direction) && place.pipe == *pipe;
                let places = self.pipes.iter().map(|state| &state.place).enumerate();
                let wanted = places.filter(|(_, place)| is_wanted(place));
                let found = |own: usize| -> Found {
                    if station.is_some() {
                        return self.of_stations(own, *station, *metric, term.window).into();
                    }
                    let Some(only) = only else {
                        let note = self.chatter(own, *metric, term);
                        return Found { value: self.of_pipe(own, *metric, term), note };
                    };
                    self.of_part(own, only, *metric, term).into()
                };
                wanted.map(|(own, place)| (Some(place), in_unit(found(own)))).collect()
            }
        }
    }

    /// The one number that a term is.
    fn number_of(&self, term: &Term) -> Result<f64, String> {
        let found = self.of_term(term).into_iter().next().ok_or_else(|| format!("`{}` is of no pipe", term.text))?;
        number(&found.1.value?)
    }

    /// How long the run was.
    fn duration(&self) -> Duration {
        self.last.at.since(self.first.first().map_or(self.last.at, |mark| mark.at))
    }
}

//! Whether a run shows what is expected of it: finds what each expectation is about, and has it judged.

mod queue_watch;

use crate::measure::{Flow, Mark};
use crate::{ExpectationRow, FigureRow, PipePlace, PipeState};
use netloom_dataplane::Snapshot;
use netloom_lab::{
    CommandMetric, Expectation, Figure, FigureUnit, Judgement, Measured, PipeMetric, Plan, Subject, Window,
};
use netloom_units::Duration;
pub use queue_watch::QueueWatches;
use std::collections::BTreeMap;

/// All that a run measured.
pub struct Measurements<'a> {
    /// What was described.
    pub plan: &'a Plan,
    /// What the command at this place of the timeline shows of a metric.
    pub of_command: &'a dyn Fn(usize, &CommandMetric) -> Value,
    /// What was in force at the end.
    pub pipes: &'a [PipeState],
    /// At time zero.
    pub first: &'a [Mark],
    /// At the end.
    pub ends: &'a [Mark],
    /// All that was measured then.
    pub last: &'a Snapshot,
    /// At the beginnings and ends of windows, as far as the run came.
    pub windows: &'a BTreeMap<Duration, Vec<Mark>>,
    /// The longest queues within windows.
    pub queues: &'a QueueWatches,
}

/// The instants after time zero at which everything has to be measured.
pub fn instants(plan: &Plan) -> Vec<Duration> {
    let figures = plan.figures.iter().filter_map(|figure| figure.window);
    let windows = plan.expect.iter().filter_map(|e| e.window).chain(figures);
    let mut all: Vec<Duration> = windows.flat_map(|window| [window.from, window.to]).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Judges every expectation, in the order of the lab file.
pub fn judge(measurements: &Measurements<'_>) -> Vec<ExpectationRow> {
    measurements.plan.expect.iter().map(|expectation| row(expectation, measurements)).collect()
}

/// What every figure is, in the order of the lab file: of a link without a direction, one for each.
pub fn figures(measurements: &Measurements<'_>) -> Vec<FigureRow> {
    measurements.plan.figures.iter().flat_map(|figure| figure_rows(figure, measurements)).collect()
}

fn figure_rows(figure: &Figure, measurements: &Measurements<'_>) -> Vec<FigureRow> {
    match &figure.subject {
        Subject::Command { event, metric } => {
            vec![figure_row(figure.name.clone(), figure.unit, (measurements.of_command)(*event, metric))]
        }
        Subject::Link { link, direction, pipe, metric } => {
            let is_wanted = |place: &PipePlace| place.is_of(*link, *direction) && place.pipe == *pipe;
            let places = measurements.pipes.iter().map(|state| &state.place).enumerate();
            let wanted: Vec<_> = places.filter(|(_, place)| is_wanted(place)).collect();
            let is_one = wanted.len() == 1;
            let row = |(number, place): (usize, &PipePlace)| {
                let name = if is_one { figure.name.clone() } else { format!("{}.{}", figure.name, place.direction) };
                figure_row(name, figure.unit, measurements.of_pipe(number, *metric, figure.window))
            };
            wanted.into_iter().map(row).collect()
        }
    }
}

fn figure_row(name: String, unit: FigureUnit, value: Value) -> FigureRow {
    let (value, missing) = match value {
        Ok(Measured::Number(number)) if number.is_finite() => (Some(number * unit.factor), None),
        Ok(Measured::Number(_)) => (None, Some("it is no finite number".to_owned())),
        Ok(Measured::Text(text)) => match text.parse().ok().filter(|number: &f64| number.is_finite()) {
            Some(number) => (Some(number * unit.factor), None),
            None => (None, Some("it is a text".to_owned())),
        },
        Err(reason) => (None, Some(reason)),
    };
    FigureRow { name, unit: unit.name.to_owned(), value, missing }
}

/// What could be measured, or why it could not.
pub type Value = Result<Measured, String>;

fn row(expectation: &Expectation, measurements: &Measurements<'_>) -> ExpectationRow {
    let judgements: Vec<(String, Judgement)> = match &expectation.subject {
        Subject::Command { event, metric } => {
            vec![(String::new(), judged(expectation, (measurements.of_command)(*event, metric)))]
        }
        Subject::Link { link, direction, pipe, metric } => {
            let is_wanted = |place: &PipePlace| place.is_of(*link, *direction) && place.pipe == *pipe;
            let places = measurements.pipes.iter().map(|state| &state.place).enumerate();
            let each = places.filter(|(_, place)| is_wanted(place)).map(|(number, place)| {
                let value = measurements.of_pipe(number, *metric, expectation.window);
                let label = if direction.is_none() { format!("{}: ", place.direction) } else { String::new() };
                (label, judged(expectation, value))
            });
            each.collect()
        }
    };
    ExpectationRow {
        text: expectation.text.clone(),
        line: expectation.line,
        met: judgements.iter().all(|(_, judgement)| judgement.met),
        explanation: judgements
            .iter()
            .map(|(label, judgement)| format!("{label}{}", judgement.explanation))
            .collect::<Vec<_>>()
            .join("; "),
    }
}

fn judged(expectation: &Expectation, value: Value) -> Judgement {
    match value {
        Ok(measured) => expectation.judge(&measured),
        Err(reason) => expectation.unmeasured(&reason),
    }
}

impl Measurements<'_> {
    fn of_pipe(&self, pipe: usize, metric: PipeMetric, window: Option<Window>) -> Value {
        let flow = Flow::between(&self.mark(pipe, window.map(|w| w.from))?, &self.mark_at_end(pipe, window)?);
        let report = &self.last.pipes[pipe];
        let unmeasured = || flow.why_unmeasured();
        let known = |duration: Option<Duration>| duration.map(|d| d.as_nanos() as f64).ok_or_else(unmeasured);
        let number = match metric {
            PipeMetric::Throughput => flow.throughput(),
            PipeMetric::Offered => flow.offered(),
            PipeMetric::Delay => flow.delay_ns.ok_or_else(unmeasured)?,
            PipeMetric::DelayP50 => known(report.delay.quantile(0.5))?,
            PipeMetric::DelayP99 => known(report.delay.quantile(0.99))?,
            PipeMetric::QueueMax => self.queue_max(pipe, window) as f64,
            PipeMetric::Drops => flow.drops() as f64,
            PipeMetric::Marks => flow.effects.marked_packets as f64,
            PipeMetric::Loss if flow.arrived_packets == 0 => return Err("no packet arrived".into()),
            PipeMetric::Loss => flow.drops() as f64 / flow.arrived_packets as f64,
            PipeMetric::Utilization => {
                let rate = self.pipes[pipe].config.rate.nominal().ok_or("its rate is unlimited")?;
                flow.throughput() / rate.as_bits_per_second() as f64
            }
            PipeMetric::LatenessP99 => known(report.lateness.quantile(0.99))?,
            PipeMetric::Packets => flow.departed_packets as f64,
            PipeMetric::Bytes => flow.departed_bytes as f64,
        };
        Ok(Measured::Number(number))
    }

    fn queue_max(&self, pipe: usize, window: Option<Window>) -> u64 {
        match window {
            Some(window) => self.queues.peak(pipe, window),
            None => self.last.pipes[pipe].counters.queue_peak,
        }
    }

    /// The mark at the beginning of a window, or of the run.
    fn mark(&self, pipe: usize, at: Option<Duration>) -> Result<Mark, String> {
        let Some(at) = at else { return Ok(self.first[pipe]) };
        self.windows.get(&at).map(|marks| marks[pipe]).ok_or_else(|| format!("the run ended before {at}"))
    }

    fn mark_at_end(&self, pipe: usize, window: Option<Window>) -> Result<Mark, String> {
        match window {
            Some(window) => self.mark(pipe, Some(window.to)),
            None => Ok(self.ends[pipe]),
        }
    }
}

impl Flow {
    /// Why there is no delay and no lateness.
    fn why_unmeasured(&self) -> String {
        let why = if self.departed_packets > 0 {
            "a transit router is at its end, where packets go on in computed time and nothing is measured"
        } else {
            "no packet was delivered"
        };
        why.into()
    }
}

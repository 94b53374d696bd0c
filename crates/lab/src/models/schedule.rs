//! `schedule`: changes of a pipe at known times.

use crate::diagnostics::Diagnostic;
use crate::errors::{Errors, keep};
use crate::fields::Fields;
use crate::forms::{Maybe, OrZero, Word, forms};
use crate::keyed::{Keyed, WrittenKeys, sections};
use crate::models::quoted;
use crate::scalar;
use crate::section::{Form, Key, Kind, Written, key};
use crate::words::words;
use crate::yaml::{Content, Node};
use netloom_link::{Interpolation, ScheduleConfig, Step, Timetable};
use netloom_units::{Duration, Limit, Probability, Rate};

pub(crate) const KEY: Key = key!(
    /// Changes at known times: steps, here or in a CSV file. Default: none.
    schedule = Kind::OneOf(&[Kind::Word(&["none"]), Schedule::KIND]),
        "{steps: [{at: 1 s, rate: 5 Mbit/s}, {at: 2 s, rate: 1 Mbit/s}], repeat: true}"
);

words!(Interpolation { "step" = Self::Step, "linear" = Self::Linear });

forms! {
    /// The rate of a step, which is not unlimited.
    struct StepRate = Rate, Rate::KIND, step_rate;
}

sections! {
    /// Changes at known times, counted from the beginning of the run or from the change that brings the schedule.
    struct Schedule = "schedule" {
        /// The steps, in order of time.
        steps = Kind::list(&Step::KIND, 1), "[{at: 1 s, rate: 5 Mbit/s}, {at: 2 s, rate: 1 Mbit/s, delay: 50 ms}]";
        /// A CSV file with the steps, instead of `steps`.
        file = Kind::Text("."), "traces/train.csv";
        /// step: each step holds until the next; linear: rate, delay and loss go straight to their next value. Default: step.
        interpolation: Word<Interpolation>, "linear";
        /// Whether the schedule begins again at the time of its last step. Default: false.
        repeat: bool, "true";
    }

    /// What changes at an instant; what is not named stays as it is.
    for Step = "step" {
        /// When, since the schedule began.
        at: OrZero<Duration>, required "1 s";
        /// The rate.
        rate: Maybe<StepRate>, "5 Mbit/s" else None;
        /// The propagation delay.
        delay: Maybe<OrZero<Duration>>, "50 ms" else None;
        /// The probability with which each packet is lost.
        loss: Maybe<OrZero<Probability>>, "1 %" else None;
        /// The limit of the queue.
        queue: Maybe<Limit>, "100 packets" else None;
    }
}

/// Every form that it can take.
pub(crate) const EXAMPLES: &[&str] = &[
    "none",
    "{steps: [{at: 1 s, rate: 5 Mbit/s}, {at: 2 s, rate: 1 Mbit/s, delay: 50 ms}], repeat: true}",
    "{steps: [{at: 0, loss: 1 %}, {at: 1 us, queue: 7 packets, delay: 0, loss: 0}], interpolation: linear}",
    "{file: tests/files/schedule.csv, interpolation: linear, repeat: true}",
];

pub(crate) fn decode(node: &Node, errors: &mut Errors) -> Option<ScheduleConfig> {
    if !matches!(node.content, Content::Map(_)) {
        return keep(scalar::word(node, &[("none", ScheduleConfig::None)]), errors);
    }
    let fields = Fields::open(node, &Schedule::SECTION, errors)?;
    let Schedule { interpolation, repeat } = Schedule::read_keys(&fields, errors)?;
    let (interpolation, repeat) = (interpolation.unwrap_or_default(), repeat.unwrap_or_default());
    match (fields.get("steps"), fields.get("file")) {
        (Some(list), None) => {
            let table = Timetable::new(steps(list, errors)?, interpolation, repeat);
            fields.checked(table, errors).map(ScheduleConfig::Table)
        }
        (None, Some(name)) => {
            let text = keep(errors.read_text(name), errors)?;
            let file = name.text()?;
            let table = Timetable::from_csv(&text, interpolation, repeat);
            let mut table = keep(table.map_err(|wrong| name.error(format!("{file}: {}", wrong.message))), errors)?;
            table.file = Some(file.into());
            Some(ScheduleConfig::Table(table))
        }
        _ => errors.reject(node.error("a schedule has either `steps` or a `file` with them")),
    }
}

/// All steps; none if one is wrong.
fn steps(node: &Node, errors: &mut Errors) -> Option<Vec<Step>> {
    let Content::List(items) = &node.content else {
        return errors.reject(node.expected("a list of steps like `[{at: 1 s, rate: 5 Mbit/s}]`"));
    };
    let before = errors.len();
    let steps = items.iter().filter_map(|item| Step::open(item, errors)).collect();
    (errors.len() == before).then_some(steps)
}

fn step_rate(node: &Node) -> Result<Rate, Diagnostic> {
    scalar::rate(node)?.ok_or_else(|| node.error("a schedule tells how fast it sends: write a rate, not unlimited"))
}

pub(crate) fn write(config: &ScheduleConfig) -> String {
    let ScheduleConfig::Table(table) = config else { return "none".into() };
    let mut text = match &table.file {
        Some(file) => format!("{{file: {}", quoted(file)),
        None => format!("{{steps: [{}]", table.steps().iter().map(Step::write_map).collect::<Vec<_>>().join(", ")),
    };
    if table.interpolation == Interpolation::Linear {
        text += ", interpolation: linear";
    }
    if table.is_repeated() {
        text += ", repeat: true";
    }
    text + "}"
}

impl Written for StepRate {
    fn write(rate: &Rate) -> String {
        rate.to_string()
    }
}

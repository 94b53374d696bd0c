//! `schedule`: changes of a pipe at known times.

use super::rate::quoted;
use crate::errors::{Errors, keep};
use crate::fields::Fields;
use crate::keys::{DURATION_OR_ZERO, Key, Kind, Quantity, SHARE_OR_ZERO, Section};
use crate::scalar;
use crate::yaml::{Content, Node};
use netloom_link::{Interpolation, ScheduleConfig, Step, Timetable};

pub(crate) const KEY: Key = Key::new(
    "schedule",
    Kind::OneOf(&[Kind::Word(&["none"]), Kind::Section(&SCHEDULE)]),
    "{steps: [{at: 1 s, rate: 5 Mbit/s}, {at: 2 s, rate: 1 Mbit/s}], repeat: true}",
    "Changes at known times: steps, here or in a CSV file. Default: none.",
);

/// A schedule.
const SCHEDULE: Section = Section {
    name: "schedule",
    doc: "Changes at known times, counted from the beginning of the run or from the change that brings the schedule.",
    groups: &[&[
        Key::new(
            "steps",
            Kind::List { items: &Kind::Section(&STEP), least: 1, most: None },
            "[{at: 1 s, rate: 5 Mbit/s}, {at: 2 s, rate: 1 Mbit/s, delay: 50 ms}]",
            "The steps, in order of time.",
        ),
        Key::new("file", Kind::Text("."), "traces/train.csv", "A CSV file with the steps, instead of `steps`."),
        Key::new(
            "interpolation",
            Kind::Word(&["step", "linear"]),
            "linear",
            "step: each step holds until the next; linear: rate, delay and loss go straight to their next value. \
             Default: step.",
        ),
        Key::new(
            "repeat",
            Kind::Flag,
            "true",
            "Whether the schedule begins again at the time of its last step. Default: false.",
        ),
    ]],
};

/// A step of a schedule.
const STEP: Section = Section {
    name: "step",
    doc: "What changes at an instant; what is not named stays as it is.",
    groups: &[&[
        Key::new("at", DURATION_OR_ZERO, "1 s", "When, since the schedule began.").required(),
        Key::new("rate", Kind::Quantity(Quantity::Rate), "5 Mbit/s", "The rate."),
        Key::new("delay", DURATION_OR_ZERO, "50 ms", "The propagation delay."),
        Key::new("loss", SHARE_OR_ZERO, "1 %", "The probability with which each packet is lost."),
        Key::new("queue", Kind::Quantity(Quantity::Limit), "100 packets", "The limit of the queue."),
    ]],
};

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
    let fields = Fields::open(node, &SCHEDULE, errors)?;
    let words = [("step", Interpolation::Step), ("linear", Interpolation::Linear)];
    let interpolation = fields.read("interpolation", |value| scalar::word(value, &words), errors).unwrap_or_default();
    let repeat = fields.read("repeat", scalar::flag, errors).unwrap_or(false);
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
        _ => {
            errors.push(node.error("a schedule has either `steps` or a `file` with them"));
            None
        }
    }
}

/// All steps; none if one is wrong.
fn steps(node: &Node, errors: &mut Errors) -> Option<Vec<Step>> {
    let Content::List(items) = &node.content else {
        errors.push(node.expected("a list of steps like `[{at: 1 s, rate: 5 Mbit/s}]`"));
        return None;
    };
    let before = errors.len();
    let steps = items.iter().filter_map(|item| step(item, errors)).collect();
    (errors.len() == before).then_some(steps)
}

fn step(node: &Node, errors: &mut Errors) -> Option<Step> {
    let fields = Fields::open(node, &STEP, errors)?;
    let rate = fields.get("rate").and_then(|value| match keep(scalar::rate(value), errors)? {
        Some(rate) => Some(rate),
        None => {
            errors.push(value.error("a schedule tells how fast it sends: write a rate, not unlimited"));
            None
        }
    });
    let delay = fields.read("delay", scalar::duration_or_zero, errors);
    let loss = fields.read("loss", scalar::probability_or_zero, errors);
    let queue = fields.read("queue", scalar::quantity, errors);
    let at = fields.read("at", scalar::duration_or_zero, errors)?;
    Some(Step { at, rate, delay, loss, queue })
}

pub(crate) fn write(config: &ScheduleConfig) -> String {
    let ScheduleConfig::Table(table) = config else { return "none".into() };
    let mut text = match &table.file {
        Some(file) => format!("{{file: {}", quoted(file)),
        None => format!("{{steps: [{}]", table.steps().iter().map(written).collect::<Vec<_>>().join(", ")),
    };
    if table.interpolation == Interpolation::Linear {
        text += ", interpolation: linear";
    }
    if table.is_repeated() {
        text += ", repeat: true";
    }
    text + "}"
}

fn written(step: &Step) -> String {
    let mut text = format!("{{at: {}", step.at);
    let mut add = |key: &str, value: Option<String>| {
        if let Some(value) = value {
            text += &format!(", {key}: {value}");
        }
    };
    add("rate", step.rate.map(|rate| rate.to_string()));
    add("delay", step.delay.map(|delay| delay.to_string()));
    add("loss", step.loss.map(|loss| loss.to_string()));
    add("queue", step.queue.map(|queue| queue.to_string()));
    text + "}"
}

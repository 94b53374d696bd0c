//! The tables of an exercise and its tasks.

use super::kinds::DURATION;
use super::{Key, Kind, Section};

const TEXT: Kind = Kind::Text("\\S");
const TEXTS: Kind = Kind::List { items: &TEXT, least: 0, most: Some(MOST_LINES) };
/// What a person can keep in mind; clients are told all of it at once.
pub(crate) const MOST_TASKS: u64 = 50;
/// Checks and hints of a task.
pub(crate) const MOST_LINES: u64 = 20;

/// `exercise`.
pub(crate) const EXERCISE: Section = Section {
    name: "exercise",
    doc: "What somebody who learns with this lab is to do.",
    groups: &[&[
        Key::new("title", TEXT, "A bottleneck and its queue", "What it is called. Default: the lab's name."),
        Key::new("text", TEXT, "A queue fills. Make it short again.", "What it is about; empty lines part paragraphs."),
        Key::new(
            "tasks",
            Kind::List { items: &Kind::Section(&TASK), least: 1, most: Some(MOST_TASKS) },
            "[{title: Fill the queue, check: backbone.forward.queue_max > 50 packets}]",
            "The tasks, which are met one after the other.",
        )
        .required(),
    ]],
};

/// A task.
pub(crate) const TASK: Section = Section {
    name: "task",
    doc: "A task, which is met when its checks hold.",
    groups: &[&[
        Key::new("title", TEXT, "Fill the queue", "What is to be done, in a line.").required(),
        Key::new("text", TEXT, "Start the flow, and look at what waits.", "More about it."),
        Key::new(
            "check",
            Kind::OneOf(&[TEXT, TEXTS]),
            "backbone.forward.queue_max > 50 packets",
            "What must hold, in the language of `expect`, or a list of which everything must.",
        )
        .required(),
        Key::new(
            "last",
            DURATION,
            "5 s",
            "The checks look at so much lab time up to now, 1 s to 60 s. Default: at everything since time zero.",
        ),
        Key::new(
            "hints",
            TEXTS,
            "[The flow begins after two seconds.]",
            "What helps, one after the other. Default: none.",
        ),
    ]],
};

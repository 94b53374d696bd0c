//! What somebody who learns with the lab is to do.

use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::{Errors, keep};
use crate::fields::Fields;
use crate::forms::{Filled, Placed, forms};
use crate::keyed::{Keyed, sections};
use crate::plan::TaskPlan;
use crate::scalar::{duration, filled};
use crate::section::{Form, Kind};
use crate::spec::{ExerciseSpec, TaskSpec};
use crate::yaml::{Content, Node};
use netloom_units::Duration;

/// What a person can keep in mind; clients are told all of it at once.
const MOST_TASKS: u64 = 50;
/// Checks and hints of a task.
const MOST_LINES: u64 = 20;

forms! {
    /// A text for people.
    pub(crate) struct ForPeople = String, Filled::KIND, said;
    /// The length of the time up to now that checks look at.
    pub(crate) struct Last = Duration, Duration::KIND, span;
}

/// A list of texts.
const TEXTS: Kind = Kind::List { items: &Filled::KIND, least: 0, most: Some(MOST_LINES) };

sections! {
    /// An exercise for those who learn with this lab.
    pub(crate) struct Exercise = "exercise" {
        /// What it is called. Default: the lab's name.
        title: ForPeople, "A bottleneck and its queue";
        /// What it is about; empty lines part paragraphs.
        text: ForPeople, "A queue fills. Make it short again.";
        /// The tasks, which are met one after the other.
        tasks = Kind::List { items: &Task::KIND, least: 1, most: Some(MOST_TASKS) },
            required "[{title: Fill the queue, check: backbone.forward.queue_max > 50 packets}]";
    }

    /// A task, which is met when its checks hold.
    pub(crate) struct Task = "task" {
        /// What is to be done, in a line.
        title: Placed<ForPeople>, required "Fill the queue";
        /// More about it.
        text: ForPeople, "Start the flow, and look at what waits.";
        /// What must hold, in the language of `expect`, or a list of which everything must.
        check = Kind::OneOf(&[Filled::KIND, TEXTS]), required "backbone.forward.queue_max > 50 packets";
        /// The checks look at so much lab time up to now, 1 s to 60 s. Default: at everything since time zero.
        last: Last, "5 s";
        /// What helps, one after the other. Default: none.
        hints = TEXTS, "[The flow begins after two seconds.]";
    }
}

/// Texts go to everybody who looks on, and so have a limit.
const LONGEST: usize = 10_000;

/// The exercise; none after an error was noted.
pub(super) fn exercise(node: &Node, errors: &mut Errors) -> Option<ExerciseSpec> {
    let fields = Fields::open(node, &Exercise::SECTION, errors)?;
    let Exercise { title, text } = Exercise::read_keys(&fields, errors)?;
    let tasks = fields.get("tasks")?;
    let Content::List(items) = &tasks.content else {
        errors.push(tasks.expected("a list of tasks: begin each with `- title: `"));
        return None;
    };
    if items.is_empty() || items.len() as u64 > MOST_TASKS {
        let message = format!("an exercise has 1 to {MOST_TASKS} tasks, and this one has {}", items.len());
        errors.push(tasks.error(message));
    }
    let read = items.iter().filter_map(|item| task(item, errors)).collect();
    Some(ExerciseSpec { title, text: text.unwrap_or_default(), tasks: read })
}

fn task(node: &Node, errors: &mut Errors) -> Option<TaskSpec> {
    let fields = Fields::open(node, &Task::SECTION, errors)?;
    let keys = Task::read_keys(&fields, errors);
    let checks = fields.get("check").map_or_else(Vec::new, |own| several(own, errors));
    if let Some(empty) = fields.get("check").filter(|own| is_empty(own)) {
        errors.push(empty.expected("what must hold, for example `ping.exit == 0`, or a list of that"));
    }
    let hints = fields.get("hints").map_or_else(Vec::new, |own| hints(own, errors));
    let Task { title, text, last } = keys?;
    Some(TaskSpec { title, text: text.unwrap_or_default(), checks, last, hints })
}

fn is_empty(node: &Node) -> bool {
    match &node.content {
        Content::List(items) => items.is_empty(),
        content => *content == Content::Empty,
    }
}

/// One expression, or a list of them.
fn several(node: &Node, errors: &mut Errors) -> Vec<Spanned<String>> {
    let items = match &node.content {
        Content::List(items) => within_limit(node, items, errors),
        Content::Empty => &[],
        _ => std::slice::from_ref(node),
    };
    items.iter().filter_map(|item| keep(said(item).map(|text| item.spanned(text)), errors)).collect()
}

fn hints(node: &Node, errors: &mut Errors) -> Vec<String> {
    let items = match &node.content {
        Content::List(items) => within_limit(node, items, errors),
        Content::Empty => &[],
        _ => {
            errors.push(node.expected("a list of hints: begin each with `- `"));
            &[]
        }
    };
    items.iter().filter_map(|item| keep(said(item), errors)).collect()
}

fn within_limit<'a>(node: &Node, items: &'a [Node], errors: &mut Errors) -> &'a [Node] {
    if items.len() as u64 > MOST_LINES {
        errors.push(node.error(format!("a task has at most {MOST_LINES} of them, and here are {}", items.len())));
        return &[];
    }
    items
}

fn said(node: &Node) -> Result<String, Diagnostic> {
    let text = filled(node)?;
    if text.len() > LONGEST {
        return Err(node.error(format!("this text has {} bytes: it may have {LONGEST}", text.len())));
    }
    Ok(text.trim_end().to_owned())
}

fn span(node: &Node) -> Result<Duration, Diagnostic> {
    let span = duration(node)?;
    let [least, most] = TaskPlan::LAST;
    if !(least..=most).contains(&span) {
        return Err(node.error(format!("checks look at the last {least} to {most}, not {span}")));
    }
    Ok(span)
}

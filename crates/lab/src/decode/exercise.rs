//! What somebody who learns with the lab is to do.

use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::{Errors, keep};
use crate::fields::Fields;
use crate::keys::{EXERCISE, MOST_LINES, MOST_TASKS, TASK};
use crate::plan::TaskPlan;
use crate::scalar::{duration, filled};
use crate::spec::{ExerciseSpec, TaskSpec};
use crate::yaml::{Content, Node};
use netloom_units::Duration;

/// Texts go to everybody who looks on, and so have a limit.
const LONGEST: usize = 10_000;

/// The exercise; none after an error was noted.
pub(super) fn exercise(node: &Node, errors: &mut Errors) -> Option<ExerciseSpec> {
    let fields = Fields::open(node, &EXERCISE, errors)?;
    let title = fields.read("title", said, errors);
    let text = fields.read("text", said, errors).unwrap_or_default();
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
    Some(ExerciseSpec { title, text, tasks: read })
}

fn task(node: &Node, errors: &mut Errors) -> Option<TaskSpec> {
    let fields = Fields::open(node, &TASK, errors)?;
    let title = fields.read("title", |own| said(own).map(|words| own.spanned(words)), errors);
    let text = fields.read("text", said, errors).unwrap_or_default();
    let checks = fields.get("check").map_or_else(Vec::new, |own| several(own, errors));
    if let Some(empty) = fields.get("check").filter(|own| is_empty(own)) {
        errors.push(empty.expected("what must hold, for example `ping.exit == 0`, or a list of that"));
    }
    let last = fields.read("last", span, errors);
    let hints = fields.get("hints").map_or_else(Vec::new, |own| hints(own, errors));
    Some(TaskSpec { title: title?, text, checks, last, hints })
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

/// A text for people.
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

//! What somebody who learns with the lab is to do.

use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::Errors;
use crate::forms::{Filled, Placed, forms};
use crate::keyed::{Keyed, sections};
use crate::plan::TaskPlan;
use crate::scalar::{duration, filled};
use crate::section::{Form, Kind};
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
    /// The tasks of an exercise.
    pub(crate) struct Tasks = Vec<TaskSpec>, Kind::List { items: &TaskSpec::KIND, least: 1, most: Some(MOST_TASKS) }, noting tasks;
    /// One expression, or a list of them.
    pub(crate) struct Checks = Vec<Spanned<String>>, Kind::OneOf(&[Filled::KIND, TEXTS]), noting checks;
    /// Texts that help.
    pub(crate) struct Hints = Vec<String>, TEXTS, noting hints;
}

/// A list of texts.
const TEXTS: Kind = Kind::List { items: &Filled::KIND, least: 0, most: Some(MOST_LINES) };

sections! {
    /// An exercise for those who learn with this lab.
    #[derive(Debug)]
    pub(crate) struct ExerciseSpec = "exercise" {
        /// What it is called. Default: the lab's name.
        title: ForPeople, "A bottleneck and its queue";
        /// What it is about; empty lines part paragraphs.
        text: ForPeople, "A queue fills. Make it short again." else String::new();
        /// The tasks, which are met one after the other.
        tasks: Tasks, required "[{title: Fill the queue, check: backbone.forward.queue_max > 50 packets}]";
    }

    /// A task, which is met when its checks hold.
    #[derive(Debug)]
    pub(crate) struct TaskSpec = "task" {
        /// What is to be done, in a line.
        title: Placed<ForPeople>, required "Fill the queue";
        /// More about it.
        text: ForPeople, "Start the flow, and look at what waits." else String::new();
        /// What must hold, in the language of `expect`, or a list of which everything must.
        check: Checks, required "backbone.forward.queue_max > 50 packets";
        /// The checks look at so much lab time up to now, 1 s to 60 s. Default: at everything since time zero.
        last: Last, "5 s";
        /// What helps, one after the other. Default: none.
        hints: Hints, "[The flow begins after two seconds.]" else Vec::new();
    }
}

/// Texts go to everybody who looks on, and so have a limit.
const LONGEST: usize = 10_000;

fn tasks(node: &Node, errors: &mut Errors) -> Option<Vec<TaskSpec>> {
    let Content::List(items) = &node.content else {
        return errors.reject(node.expected("a list of tasks: begin each with `- title: `"));
    };
    if items.is_empty() || items.len() as u64 > MOST_TASKS {
        let message = format!("an exercise has 1 to {MOST_TASKS} tasks, and this one has {}", items.len());
        errors.push(node.error(message));
    }
    Some(items.iter().filter_map(|item| TaskSpec::open(item, errors)).collect())
}

fn checks(node: &Node, errors: &mut Errors) -> Option<Vec<Spanned<String>>> {
    let items = match &node.content {
        Content::List(items) => within_limit(node, items, errors),
        Content::Empty => &[],
        _ => std::slice::from_ref(node),
    };
    if node.content == Content::Empty || node.items().is_empty() {
        errors.push(node.expected("what must hold, for example `ping.exit == 0`, or a list of that"));
    }
    Some(items.iter().filter_map(|item| Placed::<ForPeople>::read(item, errors)).collect())
}

fn hints(node: &Node, errors: &mut Errors) -> Option<Vec<String>> {
    let items = match &node.content {
        Content::List(items) => within_limit(node, items, errors),
        Content::Empty => &[],
        _ => {
            errors.push(node.expected("a list of hints: begin each with `- `"));
            &[]
        }
    };
    Some(items.iter().filter_map(|item| ForPeople::read(item, errors)).collect())
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

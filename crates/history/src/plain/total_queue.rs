//! Queues without an order: what goes in comes out (Jepsen's `total-queue`).
//!
//! What is lost shows only in a queue that was found empty: by a `drain` that took all, or a `dequeue` that returned null. An element that was
//! acknowledged before that, and that nobody ever took, is lost, unless a dequeue without a definite end may have taken it.

use super::objects::{Object, objects};
use crate::error::WrongHistory;
use crate::history::{History, Operation, Status};
use crate::outcome::{Contradiction, Outcome};
use crate::values::{list, shown};
use netloom_units::quantity;
use serde_json::Value;
use std::collections::BTreeMap;

/// The operations that show an element.
#[derive(Default)]
struct Element {
    /// Its enqueues that took effect, in the order of their completions, and those that may have.
    done: Vec<usize>,
    perhaps: Vec<usize>,
    failed: Vec<usize>,
    /// The operations that took it.
    taken: Vec<usize>,
}

/// Checks all queues.
pub(crate) fn check(history: &History, strict: bool) -> Result<Outcome, WrongHistory> {
    let (mut contradictions, mut notes) = (Vec::new(), Vec::new());
    let mut undecided = Vec::new();
    for object in objects(history) {
        undecided.extend(check_object(history, &object, strict, &mut contradictions, &mut notes)?);
    }
    let outcome = Outcome::new("total-queue", contradictions, notes);
    Ok(undecided.into_iter().fold(outcome, Outcome::undecided))
}

/// Checks a queue, and returns why it cannot be decided whether something is lost.
fn check_object(
    history: &History,
    object: &Object<'_>,
    strict: bool,
    contradictions: &mut Vec<Contradiction>,
    notes: &mut Vec<String>,
) -> Result<Option<String>, WrongHistory> {
    let wrong = |operation: &Operation, message| history.wrong(operation, message);
    let mut elements: BTreeMap<String, Element> = BTreeMap::new();
    let mut empty = None;
    for (index, operation) in &object.operations {
        match (operation.function.as_str(), operation.status) {
            ("enqueue", status) => {
                let element = elements.entry(operation.given().to_string()).or_default();
                let into = match status {
                    Status::Ok => &mut element.done,
                    Status::Info => &mut element.perhaps,
                    Status::Fail => &mut element.failed,
                };
                into.push(*index);
            }
            (_, Status::Ok) => {
                let found = operation.brought().and_then(|value| taken(operation, value));
                for value in found.map_err(|message| wrong(operation, message))? {
                    elements.entry(value.to_string()).or_default().taken.push(*index);
                }
                if operation.function == "drain" || operation.result == Some(Value::Null) {
                    empty = empty.max(Some((operation.start, *index)));
                }
            }
            _ => {}
        }
    }
    let open = |function: &str| object.perhaps(function).filter(|(_, one)| one.status == Status::Info).count();
    let (mut twice, mut recovered) = (0, 0);
    let mut lost = Vec::new();
    for (text, element) in &elements {
        contradictions.extend(unexpected(history, element, text).map(|found| found.about(object.key)));
        let (sent, taken) = (element.done.len() + element.perhaps.len(), element.taken.len());
        recovered += usize::from(element.done.is_empty() && sent > 0 && taken > 0);
        if taken > sent && sent > 0 {
            twice += 1;
            if strict {
                let message = format!("{text} was enqueued {}, and taken {}", times(sent), times(taken));
                let operations = [&element.done[..], &element.perhaps, &element.taken].concat();
                contradictions.push(Contradiction::new("duplicated", message, operations).about(object.key));
            }
        }
        if let Some((start, by)) = empty {
            let before =
                element.done.iter().filter(|index| history.operations[**index].end.is_some_and(|end| end < start));
            lost.extend(before.skip(taken).map(|index| (*index, by)));
        }
    }
    if twice > 0 && !strict {
        notes.push(format!("{} delivered more than once (--strict contradicts)", quantity::counted(twice, "element")));
    }
    if recovered > 0 {
        notes.push(format!("{} taken whose enqueue was indeterminate", quantity::counted(recovered, "element")));
    }
    let (dequeues, drains) = (open("dequeue"), open("drain"));
    if drains > 0 || lost.len() <= dequeues {
        notes.extend((!lost.is_empty()).then(|| {
            format!("{} missing, which indeterminate dequeues may have taken", quantity::counted(lost.len(), "element"))
        }));
    } else {
        contradictions
            .extend(lost.into_iter().map(|(index, by)| missing(history, index, by, dequeues).about(object.key)));
    }
    let acknowledged = elements.values().any(|element| element.done.len() > element.taken.len());
    let why = "the queue was never found empty, so nobody can tell what is lost: end with a `drain`";
    Ok((acknowledged && empty.is_none()).then(|| why.to_owned()))
}

/// Returns what an operation took.
fn taken<'a>(operation: &Operation, value: &'a Value) -> Result<Vec<&'a Value>, String> {
    match (operation.function.as_str(), value) {
        ("drain", Value::Null) | ("dequeue", Value::Null) => Ok(Vec::new()),
        ("drain", value) => Ok(list(value, "all that it took")?.iter().collect()),
        _ => Ok(vec![value]),
    }
}

/// Returns the contradiction that something was taken that nobody had brought.
fn unexpected(history: &History, element: &Element, text: &str) -> Option<Contradiction> {
    let first = *element.taken.iter().min_by_key(|index| history.operations[**index].end)?;
    let end = history.operations[first].end.unwrap_or(usize::MAX);
    let brought = element.done.iter().chain(&element.perhaps);
    let (why, others) = match brought.clone().min_by_key(|index| history.operations[**index].start) {
        Some(add) if history.operations[*add].start < end => return None,
        Some(add) => ("is enqueued later", vec![*add, first]),
        None => match element.failed.first() {
            Some(add) => ("was not enqueued: that failed", vec![*add, first]),
            None => ("was never enqueued", vec![first]),
        },
    };
    let message = format!("{text} {why}: {}", history.describe(first));
    let mut found = Contradiction::new("unexpected", message, others);
    found.culprit = Some(first);
    Some(found)
}

/// Returns the contradiction that an element never came out.
fn missing(history: &History, index: usize, by: usize, dequeues: usize) -> Contradiction {
    let (element, seen) = (shown(history.operations[index].given()), history.describe(by));
    let mut message = format!(
        "{element} is lost: it was acknowledged ({}), nobody took it, and then the queue was empty: {seen}",
        history.place(index)
    );
    if dequeues > 0 {
        let others = quantity::counted(dequeues, "indeterminate dequeue");
        message = format!("{message}; more elements are missing than {others} may have taken");
    }
    Contradiction::new("lost", message, vec![index, by])
}

fn times(count: usize) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        more => format!("{more} times"),
    }
}

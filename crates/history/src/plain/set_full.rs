//! Sets that only grow: what was added is read from then on (Jepsen's `set` and `set-full`).
//!
//! An element is *known* once its addition or a read of it has completed. It is *lost* if a read misses it that began after that, and no read
//! that was under way then or began later has it; *stale* if reads miss it for a while only.

use super::objects::{Object, objects};
use crate::error::WrongHistory;
use crate::history::{History, Operation, Status};
use crate::outcome::{Contradiction, Outcome};
use crate::values::{list, shown};
use netloom_units::quantity;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The operations that show an element.
#[derive(Default)]
struct Element {
    /// Its first addition that took effect or may have, and whether one failed.
    added: Option<usize>,
    failed: Option<usize>,
    /// The first completion that shows it, and the operation.
    known: Option<(usize, usize)>,
    /// The last completion of a read that has it.
    seen: Option<usize>,
    acknowledged: bool,
    /// Its first and its last read that misses it, though it is known.
    missed: Option<(usize, usize)>,
}

/// Checks all elements.
pub(crate) fn check(history: &History, strict: bool) -> Result<Outcome, WrongHistory> {
    let (mut contradictions, mut notes) = (Vec::new(), Vec::new());
    let (mut unread, mut acknowledged) = (0, 0);
    for object in objects(history) {
        let (of_unread, of_all) = check_object(history, &object, strict, &mut contradictions, &mut notes)?;
        unread += of_unread;
        acknowledged += of_all;
    }
    let why = format!("no read began after {} had been added", quantity::counted(unread, "acknowledged element"));
    if unread > 0 && unread < acknowledged {
        notes.push(why);
        return Ok(Outcome::new("set-full", contradictions, notes));
    }
    let outcome = Outcome::new("set-full", contradictions, notes);
    Ok(if unread == 0 { outcome } else { outcome.undecided(format!("{why}: end with a read")) })
}

/// Checks one set, and returns how many acknowledged elements no read could have shown, and how many there are.
fn check_object(
    history: &History,
    object: &Object<'_>,
    strict: bool,
    contradictions: &mut Vec<Contradiction>,
    notes: &mut Vec<String>,
) -> Result<(usize, usize), WrongHistory> {
    let mut elements = added(object);
    let reads = reads(history, object)?;
    for (read, values) in &reads {
        observe(history, object, (*read, values), &mut elements, contradictions);
    }
    miss(history, &reads, &mut elements);
    let last_read = reads.iter().map(|(read, _)| history.operations[*read].start).max();
    let (mut unread, mut stale, mut recovered) = (0, 0, 0);
    for (text, element) in &elements {
        let is_unread =
            element.seen.is_none() && element.known.is_some_and(|(known, _)| last_read.is_none_or(|last| last < known));
        unread += usize::from(element.acknowledged && is_unread);
        recovered += usize::from(!element.acknowledged && element.seen.is_some());
        let (Some((_, known_by)), Some((first, last))) = (element.known, element.missed) else { continue };
        let gone = element.seen.is_none_or(|seen| seen < history.operations[last].start);
        stale += usize::from(!gone);
        if gone || strict {
            let (kind, by) = if gone { ("lost", last) } else { ("stale", first) };
            let (place, known) = (short(history, by), history.describe(known_by));
            let message = format!("{text} is {kind}: a read of {place} misses it, though {known} had completed");
            contradictions.push(Contradiction::new(kind, message, vec![known_by, by]).about(object.key));
        }
    }
    if stale > 0 && !strict {
        let count = quantity::counted(stale, "element");
        notes.push(format!(
            "{count} stale: missed by a read after they were known, and read later (--strict contradicts)"
        ));
    }
    if recovered > 0 {
        notes.push(format!("{} read whose addition was indeterminate", quantity::counted(recovered, "element")));
    }
    Ok((unread, elements.values().filter(|element| element.acknowledged).count()))
}

/// Returns the elements by their additions.
fn added(object: &Object<'_>) -> BTreeMap<String, Element> {
    let mut elements: BTreeMap<String, Element> = BTreeMap::new();
    for (index, add) in object.of("add") {
        let element = elements.entry(add.given().to_string()).or_default();
        if add.status == Status::Fail {
            element.failed.get_or_insert(index);
            continue;
        }
        element.added.get_or_insert(index);
        let Some(end) = add.end else { continue };
        element.acknowledged = true;
        if element.known.is_none_or(|(known, _)| end < known) {
            element.known = Some((end, index));
        }
    }
    elements
}

/// Returns the reads with what they returned.
fn reads<'a>(history: &History, object: &Object<'a>) -> Result<Vec<(usize, &'a [Value])>, WrongHistory> {
    let values = |(index, read): (usize, &'a Operation)| {
        let found = read.brought().and_then(|value| list(value, "the elements"));
        found.map(|values| (index, values)).map_err(|message| history.wrong(read, message))
    };
    object.done("read").map(values).collect()
}

/// Notes what a read shows, and what it cannot show.
fn observe(
    history: &History,
    object: &Object<'_>,
    (read, values): (usize, &[Value]),
    elements: &mut BTreeMap<String, Element>,
    contradictions: &mut Vec<Contradiction>,
) {
    let operation = &history.operations[read];
    let mut twice = BTreeSet::new();
    for value in values {
        let text = value.to_string();
        if !twice.insert(text.clone()) {
            let message = format!("a read of {} has {} twice", short(history, read), shown(value));
            contradictions.push(Contradiction::new("duplicated", message, vec![read]).about(object.key));
        }
        let element = elements.entry(text).or_default();
        let begun =
            element.added.is_some_and(|add| operation.end.is_none_or(|end| history.operations[add].start < end));
        if !begun {
            let place = short(history, read);
            let (why, others) = match (element.added, element.failed) {
                (Some(add), _) => ("is added later", vec![add, read]),
                (None, Some(add)) => ("was not added: its addition failed", vec![add, read]),
                (None, None) => ("was never added", vec![read]),
            };
            let message = format!("a read of {place} has {}, which {why}", shown(value));
            let mut found = Contradiction::new("unexpected", message, others).about(object.key);
            found.culprit = Some(read);
            contradictions.push(found);
        }
        let end = operation.end.unwrap_or(usize::MAX);
        element.seen = element.seen.max(Some(end));
        if element.known.is_none_or(|(known, _)| end < known) {
            element.known = Some((end, read));
        }
    }
}

/// Notes for each element the reads that miss it after it is known.
fn miss(history: &History, reads: &[(usize, &[Value])], elements: &mut BTreeMap<String, Element>) {
    let mut by_known: Vec<(usize, String)> =
        elements.iter().filter_map(|(text, element)| Some((element.known?.0, text.clone()))).collect();
    by_known.sort_unstable();
    for (read, values) in reads {
        let start = history.operations[*read].start;
        let due = by_known.partition_point(|(known, _)| *known < start);
        if due == 0 {
            continue;
        }
        let has: BTreeSet<String> = values.iter().map(Value::to_string).collect();
        for (_, text) in by_known[..due].iter().filter(|(_, text)| !has.contains(text)) {
            let element = elements.get_mut(text).expect("these are their names");
            let first = element.missed.map_or(*read, |(first, _)| first);
            element.missed = Some((first, *read));
        }
    }
}

/// Returns the process and place of an operation whose words would be long.
fn short(history: &History, index: usize) -> String {
    format!("process {} ({})", history.operations[index].process, history.place(index))
}

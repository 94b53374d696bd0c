//! What the reads of lists show: anomalies of single transactions, and dependencies between transactions.

use super::graph::{Edge, Graph, Kind};
use super::parse::{Part, Transaction};
use crate::error::WrongHistory;
use crate::history::{History, Status};
use crate::outcome::Contradiction;
use netloom_units::quantity;
use std::collections::{BTreeMap, BTreeSet};

/// How many dependencies of transactions that no read shows are kept for one list. Fewer find fewer anomalies, and none that is not there.
const MOST_UNSEEN: usize = 1_000_000;

/// Dependencies and anomalies that the reads show.
pub(super) struct Inferred {
    pub(super) graph: Graph,
    pub(super) anomalies: Vec<Contradiction>,
    pub(super) notes: Vec<String>,
}

/// Who wrote an element.
#[derive(Clone, Copy)]
struct Writer {
    operation: usize,
    status: Status,
    /// Whether it is the last element that its transaction appended to the list.
    is_last: bool,
}

/// A read of a list by a transaction that committed.
struct Read<'a> {
    operation: usize,
    elements: &'a [String],
    /// How many of them were there before the transaction; the rest it appended itself.
    external: usize,
}

/// The writers and reads of a list.
#[derive(Default)]
struct List<'a> {
    writers: BTreeMap<&'a str, Writer>,
    reads: Vec<Read<'a>>,
}

/// Returns what transactions show.
pub(super) fn infer(history: &History, transactions: &[Transaction]) -> Result<Inferred, WrongHistory> {
    let mut inferred = Inferred { graph: Graph::default(), anomalies: Vec::new(), notes: Vec::new() };
    let mut lists: BTreeMap<&str, List<'_>> = BTreeMap::new();
    for transaction in transactions {
        note_writes(history, transaction, &mut lists)?;
        if transaction.status == Status::Ok {
            inferred.anomalies.extend(note_reads(history, transaction, &mut lists));
        }
    }
    for (key, list) in &lists {
        inferred.anomalies.extend(list.reads.iter().filter_map(|read| wrong_read(history, key, list, read)));
        add_dependencies(history, key, list, &mut inferred);
    }
    Ok(inferred)
}

fn note_writes<'a>(
    history: &History,
    transaction: &'a Transaction,
    lists: &mut BTreeMap<&'a str, List<'a>>,
) -> Result<(), WrongHistory> {
    let mut seen = BTreeSet::new();
    for part in transaction.parts.iter().rev() {
        let Part::Append { key, element } = part else { continue };
        let is_last = seen.insert(key);
        let writer = Writer { operation: transaction.operation, status: transaction.status, is_last };
        if let Some(other) = lists.entry(key).or_default().writers.insert(element, writer) {
            let place = history.place(other.operation);
            let message = format!(
                "{element} is appended to {key} a second time, first at {place}: different elements would be right"
            );
            return Err(history.wrong(&history.operations[transaction.operation], message));
        }
    }
    Ok(())
}

/// Notes what a transaction read, and returns what contradicts its own parts.
fn note_reads<'a>(
    history: &History,
    transaction: &'a Transaction,
    lists: &mut BTreeMap<&'a str, List<'a>>,
) -> Option<Contradiction> {
    let mut own: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut base: BTreeMap<&str, &[String]> = BTreeMap::new();
    let mut wrong = None;
    for part in &transaction.parts {
        match part {
            Part::Append { key, element } => own.entry(key).or_default().push(element),
            Part::Read { key, elements } => {
                let elements = elements.as_deref().unwrap_or_default();
                let added = own.get(key.as_str()).map_or(&[][..], Vec::as_slice);
                let external = elements.len().saturating_sub(added.len());
                let (before, mine) = elements.split_at(external);
                let is_own = mine.len() == added.len() && mine.iter().zip(added).all(|(one, other)| one == other);
                if !is_own || base.get(key.as_str()).is_some_and(|known| *known != before) {
                    wrong = wrong.or(Some(key));
                    continue;
                }
                base.insert(key, before);
                let read = Read { operation: transaction.operation, elements, external };
                lists.entry(key).or_default().reads.push(read);
            }
        }
    }
    wrong.map(|key| {
        let operation = transaction.operation;
        let message =
            format!("a read of {key} contradicts what the transaction did before: {}", history.describe(operation));
        Contradiction::new("internal", message, vec![operation])
    })
}

/// Returns what is wrong with a read by itself.
fn wrong_read(history: &History, key: &str, list: &List<'_>, read: &Read<'_>) -> Option<Contradiction> {
    let reader = history.describe(read.operation);
    let mut seen = BTreeSet::new();
    for element in read.elements {
        if !seen.insert(element) {
            let message = format!("a read of {key} has {element} twice: {reader}");
            return Some(Contradiction::new("duplicate elements", message, vec![read.operation]));
        }
        match list.writers.get(element.as_str()) {
            None => {
                let message = format!("a read of {key} has {element}, which nobody appended: {reader}");
                return Some(Contradiction::new("unexpected element", message, vec![read.operation]));
            }
            Some(writer) if writer.status == Status::Fail => {
                let failed = history.describe(writer.operation);
                let message =
                    format!("a read of {key} has {element} of a transaction that failed ({failed}): {reader}");
                return Some(Contradiction::new("G1a", message, vec![writer.operation, read.operation]));
            }
            Some(_) => {}
        }
    }
    let last = read.elements[..read.external].last()?;
    let writer = list.writers.get(last.as_str())?;
    if writer.is_last || writer.operation == read.operation {
        return None;
    }
    let other = history.describe(writer.operation);
    let message = format!(
        "a read of {key} ends with {last}, behind which the same transaction appended more ({other}): {reader}"
    );
    Some(Contradiction::new("G1b", message, vec![writer.operation, read.operation]))
}

/// Adds the dependencies that a list shows.
fn add_dependencies(history: &History, key: &str, list: &List<'_>, inferred: &mut Inferred) {
    // Of the longest, the first: a stable choice.
    let Some(longest) = list.reads.iter().min_by_key(|read| (usize::MAX - read.elements.len(), read.operation)) else {
        return;
    };
    let order = longest.elements;
    let owner = |element: &String| {
        let writer = list.writers.get(element.as_str())?;
        (writer.status != Status::Fail).then_some(writer.operation)
    };
    let edge = |to: usize, kind: Kind, before: Option<&String>, after: Option<&String>| Edge {
        to,
        kind,
        key: key.to_owned(),
        before: before.cloned(),
        after: after.cloned(),
    };
    for pair in order.windows(2) {
        if let (Some(from), Some(to)) = (owner(&pair[0]), owner(&pair[1])) {
            inferred.graph.add(from, edge(to, Kind::Ww, Some(&pair[0]), Some(&pair[1])));
        }
    }
    let shown: BTreeSet<&str> = order.iter().map(String::as_str).collect();
    let unseen =
        list.writers.iter().filter(|(element, writer)| !shown.contains(*element) && writer.status == Status::Ok);
    let unseen: Vec<(String, usize)> =
        unseen.map(|(element, writer)| ((*element).to_owned(), writer.operation)).collect();
    if let Some(last) = order.last()
        && let Some(from) = owner(last)
    {
        for (element, to) in &unseen {
            inferred.graph.add(from, edge(*to, Kind::Ww, Some(last), Some(element)));
        }
    }
    let mut of_unseen = 0;
    for read in &list.reads {
        if !order.starts_with(read.elements) {
            let (one, other) = (history.describe(read.operation), history.describe(longest.operation));
            let message = format!("two reads of {key} have no common order: {one}, and {other}");
            let operations = vec![longest.operation, read.operation];
            inferred.anomalies.push(Contradiction::new("incompatible order", message, operations));
            continue;
        }
        let last = read.elements[..read.external].last();
        if let Some(from) = last.and_then(owner) {
            inferred.graph.add(from, edge(read.operation, Kind::Wr, last, None));
        }
        let next = order.get(read.external);
        if let Some(to) = next.and_then(owner) {
            inferred.graph.add(read.operation, edge(to, Kind::Rw, last, next));
        } else if of_unseen < MOST_UNSEEN {
            for (element, to) in &unseen {
                inferred.graph.add(read.operation, edge(*to, Kind::Rw, last, Some(element)));
                of_unseen += 1;
            }
        }
    }
    if of_unseen >= MOST_UNSEEN {
        let elements = quantity::counted(unseen.len(), "element");
        inferred
            .notes
            .push(format!("list {key}: {elements} appended that no read shows; not all that follows was looked at"));
    }
}

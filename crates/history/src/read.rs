//! Reads files of events, and pairs invocations with completions.

use crate::error::WrongHistory;
use crate::event::{Event, Kind, parse};
use crate::history::{History, Operation, Status};
use netloom_units::{Duration, Instant, quantity};
use serde_json::Value;
use std::collections::BTreeMap;

/// The largest number of events of a history: more would take gigabytes of memory.
const MOST_EVENTS: usize = 20_000_000;
/// By how much times may go back from one line to the next: writers take the time before they write.
const SLACK: Duration = Duration::from_secs(1);

/// A file of events.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The name for messages.
    pub name: &'a str,
    /// The contents, one JSON object a line.
    pub text: &'a str,
}

/// The rule that orders the events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The order of their lines, in one file.
    Lines,
    /// The order of their times. At the same instant invocations come first, so that nothing is taken for ordered that may not be.
    Times,
}

/// An event with its place.
struct Placed {
    file: usize,
    line: usize,
    event: Event,
}

impl History {
    /// Reads files of events. One file counts in the order of its lines, several are merged by their times, and each keeps the order of
    /// its lines; processes of different files are different ones. `order` overrides that.
    ///
    /// # Errors
    /// The first line that is no event or fits no other, or that the order is not known.
    pub fn read(sources: &[Source<'_>], order: Option<Order>) -> Result<Self, WrongHistory> {
        let mut history =
            Self { files: sources.iter().map(|source| source.name.to_owned()).collect(), ..Self::default() };
        let mut events = Vec::new();
        for (file, source) in sources.iter().enumerate() {
            read_lines(&mut events, &mut history.notes, file, source)?;
        }
        let mut operations = pair(&events, &history)?;
        let ranks = ranks(&events, sources.len(), order, &history)?;
        for operation in &mut operations {
            operation.start = ranks[operation.start];
            operation.end = operation.end.map(|end| ranks[end]);
            if operation.end.is_some_and(|end| end < operation.start) {
                let message = "the completion has an earlier `time` than its invocation".to_owned();
                return Err(history.wrong(operation, message));
            }
        }
        operations.sort_by_key(|operation| operation.start);
        history.operations = operations;
        Ok(history)
    }
}

fn read_lines(
    events: &mut Vec<Placed>,
    notes: &mut Vec<String>,
    file: usize,
    source: &Source<'_>,
) -> Result<(), WrongHistory> {
    let last = source.text.lines().count();
    for (number, text) in source.text.lines().enumerate() {
        let line = number + 1;
        if text.trim().is_empty() {
            continue;
        }
        let wrong = |message| WrongHistory { file: source.name.to_owned(), line: Some(line), message };
        match parse(text) {
            Ok(Some(event)) => events.push(Placed { file, line, event }),
            Ok(None) => {}
            // Whoever wrote it was killed. What was not written whole was not begun, or has no known end.
            Err(_) if line == last && !source.text.ends_with('\n') && serde_json::from_str::<Value>(text).is_err() => {
                notes.push(format!("{}:{line}: the last line is torn, and left out", source.name));
            }
            Err(message) => return Err(wrong(message)),
        }
        if events.len() > MOST_EVENTS {
            return Err(wrong(format!("more than {MOST_EVENTS} events: check parts of it")));
        }
    }
    Ok(())
}

/// Makes operations, whose places are numbers of events.
fn pair(events: &[Placed], history: &History) -> Result<Vec<Operation>, WrongHistory> {
    let mut operations: Vec<Operation> = Vec::new();
    let mut open: BTreeMap<(usize, &str), usize> = BTreeMap::new();
    for (number, Placed { file, line, event }) in events.iter().enumerate() {
        let wrong = |message| WrongHistory { file: history.files[*file].clone(), line: Some(*line), message };
        let caller = (*file, event.process.as_str());
        if event.kind == Kind::Invoke {
            // Elle's transactions name no function.
            let is_transaction = || event.value.as_ref().is_some_and(|value| value.get(0).is_some_and(Value::is_array));
            let Some(function) = event.function.clone().or_else(|| is_transaction().then(|| "txn".to_owned())) else {
                return Err(wrong(
                    "`f` is missing: the name of what was invoked, such as \"read\", would be right".to_owned(),
                ));
            };
            // A process that begins anew was killed: its last operation never completes.
            open.insert(caller, operations.len());
            operations.push(Operation {
                process: event.process.clone(),
                function,
                key: event.key.clone(),
                value: event.value.clone().unwrap_or(Value::Null),
                result: None,
                status: Status::Info,
                error: None,
                start: number,
                end: None,
                invoked: event.time,
                completed: None,
                file: *file,
                line: *line,
                last_line: None,
            });
            continue;
        }
        let Some(operation) = open.remove(&caller).map(|index| &mut operations[index]) else {
            let process = &event.process;
            return Err(wrong(format!(
                "process {process} has nothing to complete: an `invoke` before it would be right"
            )));
        };
        complete(operation, event, number, *line).map_err(wrong)?;
    }
    Ok(operations)
}

/// Adds the completion to an operation.
fn complete(operation: &mut Operation, event: &Event, number: usize, line: usize) -> Result<(), String> {
    if let Some(function) = event.function.as_ref().filter(|function| **function != operation.function) {
        let (right, invoked) = (&operation.function, operation.line);
        return Err(format!(
            "`f` is {function:?}: {right:?}, which the process invoked at line {invoked}, would be right"
        ));
    }
    if event.key.is_some() && operation.key.is_some() && event.key != operation.key {
        return Err(format!("`key` is another one than that of the invocation at line {}", operation.line));
    }
    operation.key = operation.key.take().or_else(|| event.key.clone());
    operation.result.clone_from(&event.value);
    operation.error.clone_from(&event.error);
    operation.completed = event.time;
    operation.last_line = Some(line);
    (operation.status, operation.end) = match event.kind {
        Kind::Ok => (Status::Ok, Some(number)),
        Kind::Fail => (Status::Fail, Some(number)),
        _ => (Status::Info, None),
    };
    Ok(())
}

/// Returns the place of each event in the order of all.
fn ranks(events: &[Placed], files: usize, order: Option<Order>, history: &History) -> Result<Vec<usize>, WrongHistory> {
    let wrong = |event: &Placed, message| WrongHistory {
        file: history.files[event.file].clone(),
        line: Some(event.line),
        message,
    };
    if order == Some(Order::Lines) && files > 1 {
        let message = format!("{files} files have no common order of lines: their times can order them");
        return Err(WrongHistory { file: history.files[0].clone(), line: None, message });
    }
    if order.is_none()
        && let Some((event, back)) = goes_back(events)
    {
        let span = quantity::span(back.as_nanos());
        let message = format!(
            "`time` goes back by {span}: give files of several clocks one by one, or say whether lines or times order them (--order)"
        );
        return Err(wrong(event, message));
    }
    let by_time = order == Some(Order::Times);
    if !by_time && files <= 1 {
        return Ok((0..events.len()).collect());
    }
    let mut places: Vec<(Instant, bool, usize)> = Vec::with_capacity(events.len());
    let mut latest: BTreeMap<usize, Instant> = BTreeMap::new();
    for (number, event) in events.iter().enumerate() {
        let Some(time) = event.event.time else {
            return Err(wrong(
                event,
                "`time` is missing: nanoseconds, by which events are ordered, would be right".to_owned(),
            ));
        };
        let before = latest.entry(event.file).or_insert(time);
        *before = time.max(*before);
        places.push((if by_time { time } else { *before }, event.event.kind != Kind::Invoke, number));
    }
    let sorted = if by_time {
        places.sort_unstable();
        places.into_iter().map(|(_, _, number)| number).collect()
    } else {
        merged(events, &places)
    };
    let mut ranks = vec![0; events.len()];
    for (rank, number) in sorted.into_iter().enumerate() {
        ranks[number] = rank;
    }
    Ok(ranks)
}

/// Returns the first event whose time is well before that of an earlier line of its file, and by how much.
fn goes_back(events: &[Placed]) -> Option<(&Placed, Duration)> {
    let mut latest: BTreeMap<usize, Instant> = BTreeMap::new();
    events.iter().find_map(|event| {
        let time = event.event.time?;
        let before = latest.entry(event.file).or_insert(time);
        let back = before.since(time);
        *before = time.max(*before);
        (back > SLACK).then_some((event, back))
    })
}

/// Merges files by time, each in its own order; of several heads of one instant, invocations come first.
fn merged(events: &[Placed], places: &[(Instant, bool, usize)]) -> Vec<usize> {
    let mut lines: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (number, event) in events.iter().enumerate().rev() {
        lines.entry(event.file).or_default().push(number);
    }
    let mut heads: std::collections::BTreeSet<(Instant, bool, usize)> =
        lines.values().filter_map(|numbers| numbers.last().map(|number| places[*number])).collect();
    let mut sorted = Vec::with_capacity(events.len());
    while let Some((_, _, number)) = heads.pop_first() {
        sorted.push(number);
        let rest = lines.get_mut(&events[number].file).expect("each event's file has lines");
        rest.pop();
        heads.extend(rest.last().map(|next| places[*next]));
    }
    sorted
}

#[cfg(test)]
mod tests;

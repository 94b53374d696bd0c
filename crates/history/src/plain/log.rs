//! Logs that agree: of two reads of a log, whoever made them, one begins with the other.

use super::objects::objects;
use crate::error::WrongHistory;
use crate::history::{History, Status};
use crate::outcome::{Contradiction, Outcome};
use crate::values::{list, shown};
use serde_json::Value;
use std::collections::BTreeMap;

/// Checks all reads of each log against the longest.
pub(crate) fn check(history: &History) -> Result<Outcome, WrongHistory> {
    let mut contradictions = Vec::new();
    for object in objects(history) {
        let mut reads: Vec<(usize, &[Value])> = Vec::new();
        for (index, read) in object.done("read") {
            let entries = read.brought().and_then(|value| list(value, "the entries"));
            reads.push((index, entries.map_err(|message| history.wrong(read, message))?));
        }
        let Some((longest, all)) =
            reads.iter().copied().max_by_key(|(index, entries)| (entries.len(), usize::MAX - index))
        else {
            continue;
        };
        let mut appended: BTreeMap<String, bool> = BTreeMap::new();
        for (_, append) in object.of("append") {
            *appended.entry(append.given().to_string()).or_default() |= append.status != Status::Fail;
        }
        for (index, entries) in &reads {
            if let Some(at) = entries.iter().zip(all).position(|(one, other)| one != other) {
                let (one, other) = (shown(&entries[at]), shown(&all[at]));
                let message = format!(
                    "at entry {at} process {} has {one} ({}), and process {} has {other} ({})",
                    history.operations[*index].process,
                    history.place(*index),
                    history.operations[longest].process,
                    history.place(longest)
                );
                contradictions
                    .push(Contradiction::new("different entries", message, vec![longest, *index]).about(object.key));
            }
            let foreign =
                entries.iter().find(|entry| !appended.is_empty() && appended.get(&entry.to_string()) != Some(&true));
            if let Some(entry) = foreign {
                let why = if appended.contains_key(&entry.to_string()) {
                    "whose `append` failed"
                } else {
                    "which nobody appended"
                };
                let (process, place) = (&history.operations[*index].process, history.place(*index));
                let message = format!("process {process} has {} ({place}), {why}", shown(entry));
                contradictions.push(Contradiction::new("unexpected", message, vec![*index]).about(object.key));
            }
        }
    }
    Ok(Outcome::new("log", contradictions, Vec::new()))
}

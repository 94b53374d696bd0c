//! Transactions as the history has them.

use crate::error::WrongHistory;
use crate::history::{History, Operation, Status};
use crate::values::shown;
use serde_json::Value;

/// A part of a transaction; keys and elements are JSON as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Append {
        key: String,
        element: String,
    },
    /// A read, with what it returned if that is known.
    Read {
        key: String,
        elements: Option<Vec<String>>,
    },
}

/// A transaction.
#[derive(Clone, Debug)]
pub(super) struct Transaction {
    /// The number of its operation.
    pub(super) operation: usize,
    pub(super) status: Status,
    pub(super) parts: Vec<Part>,
}

/// Returns all transactions.
pub(super) fn transactions(history: &History) -> Result<Vec<Transaction>, WrongHistory> {
    let parse = |(operation, one): (usize, &Operation)| {
        let parts = parts(one).map_err(|message| history.wrong(one, message))?;
        Ok(Transaction { operation, status: one.status, parts })
    };
    history.operations.iter().enumerate().map(parse).collect()
}

fn parts(operation: &Operation) -> Result<Vec<Part>, String> {
    let is_done = operation.status == Status::Ok;
    let value = if is_done { operation.brought()? } else { operation.given() };
    let right = "a list of [\"append\", KEY, ELEMENT] and [\"r\", KEY, null or what was read]";
    let wrong = || format!("`value` is {}: {right} would be right", shown(value));
    let parts: Vec<Part> =
        value.as_array().ok_or_else(wrong)?.iter().map(|one| part(one, is_done)).collect::<Result<_, _>>()?;
    if let Some(invoked) = operation.value.as_array().filter(|_| is_done)
        && (invoked.len() != parts.len() || !invoked.iter().zip(&parts).all(|(asked, done)| is_same(asked, done)))
    {
        return Err(format!("`value` has other parts than the invocation at line {}", operation.line));
    }
    Ok(parts)
}

fn part(value: &Value, is_done: bool) -> Result<Part, String> {
    let wrong = |right: &str| format!("`value` has the part {}: {right} would be right", shown(value));
    let parts = value.as_array().map(Vec::as_slice);
    let Some([Value::String(function), key, element]) = parts else {
        return Err(wrong("[\"append\", KEY, ELEMENT] or [\"r\", KEY, null]"));
    };
    let key = key.to_string();
    match (function.trim_start_matches(':'), element) {
        ("append", _) => Ok(Part::Append { key, element: element.to_string() }),
        ("r", Value::Array(elements)) => {
            let elements = is_done.then(|| elements.iter().map(Value::to_string).collect());
            Ok(Part::Read { key, elements })
        }
        // A list that does not exist is read as null.
        ("r", Value::Null) => Ok(Part::Read { key, elements: is_done.then(Vec::new) }),
        ("r", _) => Err(wrong("[\"r\", KEY, [ELEMENT, …]]")),
        _ => Err(wrong("`append` or `r`")),
    }
}

/// Whether a part was asked for as it was done.
fn is_same(asked: &Value, done: &Part) -> bool {
    match (part(asked, false), done) {
        (Ok(Part::Append { key, element }), Part::Append { key: other, element: its }) => {
            key == *other && element == *its
        }
        (Ok(Part::Read { key, .. }), Part::Read { key: other, .. }) => key == *other,
        _ => false,
    }
}

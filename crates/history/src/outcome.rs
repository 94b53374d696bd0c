//! Verdicts on histories.

use crate::history::{History, Status};
use crate::values::shown;
use netloom_units::Instant;
use serde_json::{Value, json};
use std::fmt;

/// The statement whether a model explains a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The model explains it.
    Valid,
    /// The model does not explain it, whatever became of indeterminate operations.
    Contradiction,
    /// The checker reached its limits, or the history does not show enough.
    Unknown,
}

impl Verdict {
    /// Returns its name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Contradiction => "contradiction",
            Self::Unknown => "unknown",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A dependency between two operations of a contradiction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrow {
    /// The operation that must come first.
    pub from: usize,
    /// The operation that must come later.
    pub to: usize,
    /// The kind of dependency: `ww`, `wr`, `rw` or `rt`.
    pub kind: &'static str,
    /// The reason for it.
    pub reason: String,
}

/// Operations that the model cannot explain together.
#[derive(Clone, Debug, PartialEq)]
pub struct Contradiction {
    /// The name of what is wrong, such as `lost` or `G-single`.
    pub kind: &'static str,
    /// The key of the object that they are about, if there is one.
    pub key: Option<Value>,
    /// A sentence that says what is wrong.
    pub message: String,
    /// The operations, in the order of their invocations.
    pub operations: Vec<usize>,
    /// The operation that nothing explains.
    pub culprit: Option<usize>,
    /// The longest order of the others that the model allows.
    pub order: Vec<usize>,
    /// Dependencies between them, the first of each before the second.
    pub arrows: Vec<Arrow>,
}

impl Contradiction {
    /// Returns a contradiction between some operations, the last of which nothing explains.
    pub(crate) fn new(kind: &'static str, message: String, mut operations: Vec<usize>) -> Self {
        let culprit = operations.last().copied();
        operations.sort_unstable();
        operations.dedup();
        Self { kind, key: None, message, operations, culprit, order: Vec::new(), arrows: Vec::new() }
    }

    /// Adds the key of the object, and names it in the message.
    pub(crate) fn about(mut self, key: Option<&Value>) -> Self {
        if let Some(key) = key {
            self.message = format!("key {}: {}", shown(key), self.message);
            self.key = Some(key.clone());
        }
        self
    }
}

/// The findings of a checker.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The name of the model.
    pub model: &'static str,
    /// Whether the model explains the history.
    pub verdict: Verdict,
    /// The contradictions, the first and shortest ones first; no more than [`Outcome::MOST`].
    pub contradictions: Vec<Contradiction>,
    /// How many contradictions there are in all.
    pub found: usize,
    /// Notes on what the verdict does not say, such as operations that could not be judged.
    pub notes: Vec<String>,
}

impl Outcome {
    /// The number of contradictions that are kept.
    pub const MOST: usize = 20;

    /// Returns the outcome of a checker that found these contradictions, in any order, and decided all else.
    pub(crate) fn new(model: &'static str, mut contradictions: Vec<Contradiction>, notes: Vec<String>) -> Self {
        let found = contradictions.len();
        contradictions.sort_by_key(|one| (one.culprit, one.operations.len()));
        contradictions.truncate(Self::MOST);
        let verdict = if found == 0 { Verdict::Valid } else { Verdict::Contradiction };
        Self { model, verdict, contradictions, found, notes }
    }

    /// Says that the checker could not decide, unless it found a contradiction.
    pub(crate) fn undecided(mut self, why: String) -> Self {
        if self.verdict == Verdict::Valid {
            self.verdict = Verdict::Unknown;
        }
        self.notes.push(why);
        self
    }

    /// Returns the outcome as JSON, with the operations of each contradiction.
    pub fn to_json(&self, history: &History) -> Value {
        let contradictions: Vec<Value> = self.contradictions.iter().map(|one| as_json(one, history)).collect();
        json!({
            "model": self.model,
            "verdict": self.verdict.name(),
            "operations": history.operations().len(),
            "found": self.found,
            "contradictions": contradictions,
            "notes": self.notes.iter().chain(history.notes()).collect::<Vec<_>>(),
        })
    }
}

fn as_json(contradiction: &Contradiction, history: &History) -> Value {
    let operations: Vec<Value> =
        contradiction.operations.iter().map(|index| operation_as_json(history, *index)).collect();
    let dependencies: Vec<Value> = contradiction
        .arrows
        .iter()
        .map(|arrow| json!({"from": arrow.from, "to": arrow.to, "kind": arrow.kind, "reason": arrow.reason}))
        .collect();
    json!({
        "kind": contradiction.kind,
        "key": contradiction.key,
        "message": contradiction.message,
        "operations": operations,
        "culprit": contradiction.culprit,
        "order": contradiction.order,
        "dependencies": dependencies,
    })
}

fn operation_as_json(history: &History, index: usize) -> Value {
    let operation = &history.operations()[index];
    json!({
        "index": index,
        "process": operation.process,
        "f": operation.function,
        "key": operation.key,
        "value": operation.value,
        "result": operation.result,
        "status": match operation.status {
            Status::Ok => "ok",
            Status::Fail => "fail",
            Status::Info => "info",
        },
        "place": history.place(index),
        "invoked_ns": operation.invoked.map(Instant::as_nanos),
        "completed_ns": operation.completed.map(Instant::as_nanos),
    })
}

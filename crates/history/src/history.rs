//! Operations of a history.

use crate::error::WrongHistory;
use crate::values::shown;
use netloom_units::Instant;
use serde_json::Value;

/// How an operation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The operation took effect.
    Ok,
    /// The operation took no effect, and never will.
    Fail,
    /// Nobody knows: the operation may take effect at any time after its invocation, or never.
    Info,
}

/// An operation: its invocation and, if there was one, its completion.
#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    /// Who called.
    pub process: String,
    /// The name of what was called: `read`, `write`, ….
    pub function: String,
    /// The object that it was called on, if the history names one.
    pub key: Option<Value>,
    /// The value of the invocation, null if it has none.
    pub value: Value,
    /// The value of the completion, if that has one.
    pub result: Option<Value>,
    /// How the operation ended.
    pub status: Status,
    /// Why it failed, if the completion says so.
    pub error: Option<String>,
    /// The place of its invocation in the order of all events.
    pub start: usize,
    /// The place of its completion in the order of all events; none if its effect may come later.
    pub end: Option<usize>,
    /// The instant of its invocation.
    pub invoked: Option<Instant>,
    /// The instant of its completion, also of an indeterminate one.
    pub completed: Option<Instant>,
    /// The number of its file.
    pub(crate) file: usize,
    /// The line of its invocation, from 1.
    pub line: usize,
    /// The line of its completion.
    pub(crate) last_line: Option<usize>,
}

impl Operation {
    /// Whether the operation ended before another began.
    pub fn precedes(&self, other: &Self) -> bool {
        self.end.is_some_and(|end| end < other.start)
    }

    /// Returns the operation in words, such as `read → 5`.
    pub fn words(&self) -> String {
        let mut words = self.function.clone();
        let result = self.result.as_ref().filter(|result| self.status == Status::Ok && **result != self.value);
        // The parts of a transaction stand in its result again.
        let is_repeated = result.is_some_and(Value::is_array) && self.value.is_array();
        if !self.value.is_null() && !is_repeated {
            words = format!("{words} {}", shown(&self.value));
        }
        match (result, self.status) {
            (Some(result), _) if !result.is_null() => format!("{words} → {}", shown(result)),
            (_, Status::Ok) if self.value.is_null() && self.result.is_some() => format!("{words} → null"),
            (_, Status::Ok) => words,
            (_, Status::Fail) => format!("{words} (failed)"),
            (_, Status::Info) => format!("{words} (indeterminate)"),
        }
    }

    /// Returns what the completion brought.
    ///
    /// # Errors
    /// That it lacks a value.
    pub(crate) fn brought(&self) -> Result<&Value, String> {
        let lacks = || {
            let function = &self.function;
            format!("an `ok` of `{function}` lacks `value`: what it returned would be right, null if that was nothing")
        };
        self.result.as_ref().ok_or_else(lacks)
    }

    /// Returns the value that was asked for or, if the invocation has none, the one of the completion.
    pub(crate) fn given(&self) -> &Value {
        if self.value.is_null() { self.result.as_ref().unwrap_or(&Value::Null) } else { &self.value }
    }

    /// Returns the key as text, empty if there is none.
    pub(crate) fn key_text(&self) -> String {
        self.key.as_ref().map_or_else(String::new, Value::to_string)
    }
}

/// The operations of one or more files, in the order of their invocations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    pub(crate) files: Vec<String>,
    pub(crate) operations: Vec<Operation>,
    pub(crate) notes: Vec<String>,
}

impl History {
    /// Returns all operations, in the order of their invocations.
    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// Returns what the reader left out.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Returns the file and line of an operation's invocation.
    pub fn place(&self, operation: usize) -> String {
        let found = &self.operations[operation];
        format!("{}:{}", self.files[found.file], found.line)
    }

    /// Returns an error about an operation, at its completion if it has one.
    pub(crate) fn wrong(&self, operation: &Operation, message: String) -> WrongHistory {
        WrongHistory {
            file: self.files[operation.file].clone(),
            line: Some(operation.last_line.unwrap_or(operation.line)),
            message,
        }
    }

    /// Returns the text of an operation in messages, with its process and place.
    pub(crate) fn describe(&self, operation: usize) -> String {
        let found = &self.operations[operation];
        format!("process {}: {} ({})", found.process, found.words(), self.place(operation))
    }
}

use super::ExpectationRow;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How far somebody who learns with a lab has come.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExerciseReport {
    /// What it is called.
    pub title: String,
    /// What it is about; empty lines part paragraphs.
    pub text: String,
    /// The tasks in their order; empty if the lab has no exercise.
    pub tasks: Vec<TaskRow>,
}

/// A task of an exercise.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskRow {
    /// What is to be done, in a line.
    pub title: String,
    /// More about it; may be empty.
    pub text: String,
    /// Its line in the lab file.
    pub line: usize,
    /// At how much lab time up to now its checks look; none: at all since time zero.
    pub last_ns: Option<u64>,
    /// What must hold, all of it, and how far it did when it was looked at last.
    pub checks: Vec<ExpectationRow>,
    /// When it was met, after time zero; none: it is to be done.
    pub met_ns: Option<u64>,
    /// Whether it is the one that is to be done next: later ones are looked at when it is met.
    pub next: bool,
    /// What helps.
    pub hints: Vec<String>,
}

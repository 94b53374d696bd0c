use super::ExpectationRow;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The progress of somebody who learns with a lab.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExerciseReport {
    /// The title of the exercise.
    pub title: String,
    /// The introduction to the exercise; empty lines separate paragraphs.
    pub text: String,
    /// The tasks in their order; empty if the lab has no exercise.
    pub tasks: Vec<TaskRow>,
}

/// A task of an exercise.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskRow {
    /// The title of the task: what is to be done, in a line.
    pub title: String,
    /// Further text about the task; may be empty.
    pub text: String,
    /// The task's line in the lab file.
    pub line: usize,
    /// The span of lab time up to now that the checks look at, in nanoseconds; null if they look at all since time zero.
    pub last_ns: Option<u64>,
    /// The conditions of the task, which must all hold, with what the last look at them found.
    pub checks: Vec<ExpectationRow>,
    /// When the task was met, in nanoseconds of lab time after time zero; null if it is still to be done.
    pub met_ns: Option<u64>,
    /// Whether the task is the next one to be done. The checks of later tasks are not looked at before it is met.
    pub next: bool,
    /// The hints that help with the task.
    pub hints: Vec<String>,
}

//! An exercise as it is written.

use crate::diagnostics::Spanned;
use netloom_units::Duration;

/// An exercise.
#[derive(Debug, Default)]
pub(crate) struct ExerciseSpec {
    /// None: as the lab.
    pub(crate) title: Option<String>,
    pub(crate) text: String,
    pub(crate) tasks: Vec<TaskSpec>,
}

/// A task.
#[derive(Debug)]
pub(crate) struct TaskSpec {
    pub(crate) title: Spanned<String>,
    pub(crate) text: String,
    pub(crate) checks: Vec<Spanned<String>>,
    pub(crate) last: Option<Duration>,
    pub(crate) hints: Vec<String>,
}

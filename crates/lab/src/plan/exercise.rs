//! What somebody who learns with a lab is to do.

use crate::expect::{Expectation, Term};
use netloom_units::Duration;

/// An exercise.
#[derive(Clone, Debug, PartialEq)]
pub struct ExercisePlan {
    /// The title of the exercise.
    pub title: String,
    /// The text of the exercise, which says what it is about; empty lines part paragraphs.
    pub text: String,
    /// The tasks, which are met one after the other.
    pub tasks: Vec<TaskPlan>,
}

/// A task.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskPlan {
    /// Its line in the lab file.
    pub line: usize,
    /// The title of the task: what is to be done, in a line.
    pub title: String,
    /// The text of the task, which says more about it; may be empty.
    pub text: String,
    /// The expectations that must all hold for the task to be met.
    pub checks: Vec<Expectation>,
    /// The length of the time up to now that the checks look at; none: all since time zero.
    pub last: Option<Duration>,
    /// The hints that help with the task.
    pub hints: Vec<String>,
}

impl TaskPlan {
    /// The shortest and the longest time up to now that checks look at.
    pub const LAST: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(60)];

    /// Returns all terms that have to be measured for the task.
    pub fn terms(&self) -> impl Iterator<Item = &Term> {
        self.checks.iter().flat_map(Expectation::terms)
    }
}

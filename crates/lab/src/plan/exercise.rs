//! What somebody who learns with a lab is to do.

use crate::expect::{Expectation, Term};
use netloom_units::Duration;

/// An exercise.
#[derive(Clone, Debug, PartialEq)]
pub struct ExercisePlan {
    /// What it is called.
    pub title: String,
    /// What it is about; empty lines part paragraphs.
    pub text: String,
    /// The tasks, which are met one after the other.
    pub tasks: Vec<TaskPlan>,
}

/// A task.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskPlan {
    /// Its line in the lab file.
    pub line: usize,
    /// What is to be done, in a line.
    pub title: String,
    /// More about it; may be empty.
    pub text: String,
    /// What must hold, all of it.
    pub checks: Vec<Expectation>,
    /// At how much time up to now the checks look; none: at all since time zero.
    pub last: Option<Duration>,
    /// What helps.
    pub hints: Vec<String>,
}

impl TaskPlan {
    /// The shortest and the longest time up to now that checks look at.
    pub const LAST: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(60)];

    /// All that has to be measured for it.
    pub fn terms(&self) -> impl Iterator<Item = &Term> {
        self.checks.iter().flat_map(Expectation::terms)
    }
}

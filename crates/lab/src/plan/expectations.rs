//! What has to be measured for expectations, figures and the tasks of an exercise.

use super::Plan;
use crate::expect::{Expectation, Subject, Term};
use netloom_link::Subset;
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

impl Plan {
    /// Returns all terms that have to be measured for the expectations of a single run, for figures and for tasks.
    pub fn terms(&self) -> impl Iterator<Item = &Term> {
        let expected = self.expect.iter().flat_map(Expectation::terms);
        let tasks = self.exercise.iter().flat_map(|exercise| &exercise.tasks);
        expected.chain(self.figures.iter().map(|figure| &figure.term)).chain(tasks.flat_map(TaskPlan::terms))
    }

    /// Returns the packets that have to be counted for themselves, by pipe: those that terms are limited to, and for terms that are
    /// not, those that kernels exchange by themselves.
    pub fn watched(&self) -> Vec<Vec<Subset>> {
        let mut all: Vec<Vec<Subset>> = self.pipes().map(|_| Vec::new()).collect();
        for term in self.terms() {
            let Subject::Link { link, direction, pipe, only, .. } = &term.subject else { continue };
            let subset = only.as_ref().map_or_else(Subset::of_kernels, |only| (**only).clone());
            for (own, watched) in self.pipes().zip(&mut all) {
                let name = own.treatment.map(|treatment| &treatment.name);
                let is_meant =
                    own.link == *link && direction.is_none_or(|one| one == own.direction) && name == pipe.as_ref();
                if is_meant && !watched.contains(&subset) {
                    watched.push(subset.clone());
                }
            }
        }
        all
    }
}

use super::{Plan, TaskPlan};
use crate::expect::{Expectation, Term};

impl Plan {
    /// All that has to be measured for the expectations of a single run, for figures and for tasks.
    pub fn terms(&self) -> impl Iterator<Item = &Term> {
        let expected = self.expect.iter().flat_map(Expectation::terms);
        let tasks = self.exercise.iter().flat_map(|exercise| &exercise.tasks);
        expected.chain(self.figures.iter().map(|figure| &figure.term)).chain(tasks.flat_map(TaskPlan::terms))
    }
}

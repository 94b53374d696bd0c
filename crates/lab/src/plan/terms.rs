use super::{Plan, TaskPlan};
use crate::expect::{Expectation, Subject, Term};
use netloom_link::Subset;

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

use super::Plan;
use crate::expect::Term;

impl Plan {
    /// All that has to be measured for the expectations of a single run, and for figures.
    pub fn terms(&self) -> impl Iterator<Item = &Term> {
        let expected = self.expect.iter().flat_map(|one| std::iter::once(&one.term).chain(one.test.terms()));
        expected.chain(self.figures.iter().map(|figure| &figure.term))
    }
}

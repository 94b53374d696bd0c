//! Expectations of what all runs of a sweep show together.

use super::{Condition, Term, Test};
use crate::diagnostics::nearest;
use std::sync::Arc;

/// An expectation of many runs.
#[derive(Clone, Debug, PartialEq)]
pub struct OverRuns {
    /// Its place in the lab file's list, from 0.
    pub item: usize,
    /// Its line in the lab file.
    pub line: usize,
    /// The text of the expectation, as the lab file has it.
    pub text: String,
    /// The test that all runs together must pass.
    pub test: RunsTest,
}

/// A test of all runs of a sweep together.
#[derive(Clone, Debug, PartialEq)]
pub enum RunsTest {
    /// Every run came to its end, and its network was as described.
    AllAsDescribed,
    /// The value of the term over many runs passes the test.
    Holds(Box<Term>, Test),
}

/// A term that each run has to measure for an expectation of many runs.
#[derive(Clone, Debug, PartialEq)]
pub struct RunsTerm<'a> {
    /// The term.
    pub term: &'a Term,
    /// The factor by which its value is multiplied before it is compared; 1 on the left side.
    pub times: f64,
    /// The name of the figure under which each run reports its value.
    pub figure: String,
    /// Whether the run at the point that was read has to measure it.
    pub is_here: bool,
}

impl OverRuns {
    /// Returns the terms that each run has to measure, the one on the left first.
    pub fn terms(&self) -> Vec<RunsTerm<'_>> {
        let RunsTest::Holds(left, test) = &self.test else { return Vec::new() };
        let all = std::iter::once((1.0, &**left)).chain(test.multiples()).enumerate();
        all.filter_map(|(place, (times, term))| {
            let over = term.over.as_ref()?;
            let own = || format!("{}{}-{}", Self::FIGURE, self.item + 1, place + 1);
            Some(RunsTerm { term, times, figure: over.figure.clone().unwrap_or_else(own), is_here: over.is_here })
        })
        .collect()
    }

    /// The prefix of the names of figures that are measured for expectations of many runs alone.
    pub const FIGURE: &'static str = "over-runs-";
}

/// Parameters that change together, each with its values.
pub(crate) type Groups = Vec<Vec<(String, Vec<String>)>>;

/// The points of a sweep, as far as conditions are about them; of a file in which nothing varies there are none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Points {
    /// See [`Groups`].
    pub(crate) groups: Arc<Groups>,
    /// The value of each parameter at the point that is read.
    pub(crate) here: Vec<(String, String)>,
}

impl Points {
    /// The condition `parameter=value` as a sweep has it, or what is wrong with it.
    pub(super) fn condition(&self, parameter: &str, value: &str) -> Result<Condition, String> {
        let all = || self.groups.iter().flatten();
        let Some((_, values)) = all().find(|(name, _)| name == parameter) else {
            let names: Vec<&str> = all().map(|(name, _)| name.as_str()).collect();
            let hint = match nearest(parameter, names.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None if names.is_empty() => "nothing varies in this file (`vary`)".into(),
                None => format!("`vary` has {}", names.join(", ")),
            };
            return Err(format!("there is no parameter `{parameter}`: {hint}"));
        };
        let found = values.iter().find(|known| is_same(known, value));
        let value = found.ok_or_else(|| {
            let near = nearest(value, values.iter().map(String::as_str));
            let hint = near.map_or_else(String::new, |near| format!("did you mean `{near}`? "));
            const SHOWN: usize = 10;
            let known: Vec<&str> = values.iter().take(SHOWN).map(String::as_str).collect();
            let more = if values.len() > SHOWN { format!(" and {} more", values.len() - SHOWN) } else { String::new() };
            format!("`{parameter}` never is `{value}`: {hint}its values are {}{more}", known.join(", "))
        })?;
        Ok(Condition { parameter: parameter.to_owned(), value: value.clone() })
    }

    /// Whether there is a point at which all of these hold.
    pub(super) fn have(&self, conditions: &[Condition]) -> bool {
        self.groups.iter().all(|group| {
            let rows = group.first().map_or(0, |(_, values)| values.len());
            let holds = |row: usize, condition: &Condition| {
                let own = group.iter().find(|(name, _)| *name == condition.parameter);
                own.is_none_or(|(_, values)| values[row] == condition.value)
            };
            (0..rows).any(|row| conditions.iter().all(|condition| holds(row, condition)))
        })
    }

    /// Whether all of these hold at the point that is read.
    pub(super) fn is_here(&self, conditions: &[Condition]) -> bool {
        let holds = |condition: &Condition| {
            self.here.iter().any(|(name, value)| *name == condition.parameter && *value == condition.value)
        };
        conditions.iter().all(holds)
    }
}

/// Blanks make no difference: `10 Mbit/s` and `10Mbit/s` are the same.
fn is_same(one: &str, other: &str) -> bool {
    let bare = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    one == other || bare(one) == bare(other)
}

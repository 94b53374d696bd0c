//! What all runs of a hunt show together, beside their failures: what was reached in which number of them, and what they did not decide.

use crate::folder::RunLine;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// So many runs are the last ones.
const RECENT: usize = 100;

/// A property that must hold in at least one run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Reached {
    /// The property, as the lab file has it.
    pub property: String,
    /// In how many runs it held.
    pub runs: u64,
}

/// Counts of what runs showed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    /// In how many runs each property held that must hold sometimes.
    reached: BTreeMap<String, u64>,
    /// The assertions of programs that must be reached, beside what the lab file says.
    wanted: BTreeSet<String>,
    /// In how many runs each property was not decided.
    undecided: BTreeMap<String, u64>,
    /// How many runs showed something.
    judged: u64,
    behaviours: BTreeSet<u64>,
    /// Whether each of the last runs showed something new.
    recent: VecDeque<bool>,
    /// How many runs in a row showed nothing new, up to the last.
    since_new: u64,
}

impl Tally {
    /// Counts a run.
    pub(crate) fn count(&mut self, line: &RunLine) {
        self.judged += u64::from(line.error.is_none());
        self.wanted.extend(line.wanted.iter().cloned());
        self.behaviours.extend(&line.behaviours);
        if line.error.is_none() {
            self.take_news(!line.behaviours.is_empty());
        }
        for (counts, texts) in [(&mut self.reached, &line.reached), (&mut self.undecided, &line.undecided)] {
            for text in texts {
                *counts.entry(text.clone()).or_default() += 1;
            }
        }
    }

    fn take_news(&mut self, is_new: bool) {
        self.since_new = if is_new { 0 } else { self.since_new + 1 };
        self.recent.push_back(is_new);
        if self.recent.len() > RECENT {
            self.recent.pop_front();
        }
    }

    /// The behaviours among these that no run showed before.
    pub(crate) fn new_among(&self, behaviours: &[u64]) -> Vec<u64> {
        behaviours.iter().copied().filter(|one| !self.behaviours.contains(one)).collect()
    }

    /// How many of the last runs showed something new, and how many these are.
    pub(crate) fn news(&self) -> (usize, usize) {
        (self.recent.iter().filter(|is_new| **is_new).count(), self.recent.len())
    }

    /// How many runs in a row showed nothing new, up to the last.
    pub(crate) fn since_new(&self) -> u64 {
        self.since_new
    }

    /// How many behaviours all runs have shown.
    pub(crate) fn behaviours(&self) -> u64 {
        self.behaviours.len() as u64
    }

    /// In how many runs each of these held, and all that programs want beside them.
    pub(crate) fn sometimes(&self, named: &[String]) -> Vec<Reached> {
        let more = self.wanted.iter().filter(|text| !named.contains(text)).cloned();
        let all: Vec<String> = named.iter().cloned().chain(more).collect();
        self.named(all)
    }

    /// In how many runs each of these held.
    pub(crate) fn named(&self, all: Vec<String>) -> Vec<Reached> {
        all.into_iter()
            .map(|property| Reached { runs: self.reached.get(&property).copied().unwrap_or(0), property })
            .collect()
    }

    /// The properties that were not decided in some runs, and in how many.
    pub(crate) fn undecided(&self) -> Vec<Reached> {
        let own = self.undecided.iter();
        own.map(|(property, runs)| Reached { property: property.clone(), runs: *runs }).collect()
    }

    /// The properties that no run decided.
    pub(crate) fn never_decided(&self) -> Vec<String> {
        let own = self.undecided.iter().filter(|(_, runs)| **runs >= self.judged);
        own.map(|(property, _)| property.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_run_showed_before_is_new() {
        let mut tally = Tally::default();
        for shown in [&[1, 2][..], &[2], &[2, 3], &[1]] {
            let behaviours = tally.new_among(shown);
            tally.count(&RunLine { behaviours, ..RunLine::default() });
        }
        assert_eq!((tally.news(), tally.since_new(), tally.behaviours()), ((2, 4), 1, 3));
        // A run that showed nothing says nothing about what is new.
        tally.count(&RunLine { error: Some("x".into()), ..RunLine::default() });
        assert_eq!((tally.news(), tally.since_new()), ((2, 4), 1));
        (0..200).for_each(|_| tally.count(&RunLine::default()));
        assert_eq!((tally.news(), tally.since_new(), tally.behaviours()), ((0, RECENT), 201, 3));
    }

    #[test]
    fn what_programs_want_counts_as_what_the_lab_file_names() {
        let line = |reached: &[&str], wanted: &[&str], undecided: &[&str]| {
            let texts = |all: &[&str]| all.iter().map(|text| (*text).to_owned()).collect();
            RunLine {
                reached: texts(reached),
                wanted: texts(wanted),
                undecided: texts(undecided),
                ..RunLine::default()
            }
        };
        let mut tally = Tally::default();
        tally.count(&line(&["a"], &["b", "c"], &["d", "e"]));
        tally.count(&line(&["a", "c"], &["b"], &["e"]));
        let void = RunLine { error: Some("x".into()), ..RunLine::default() };
        tally.count(&void);
        let of = |property: &str, runs| Reached { property: property.into(), runs };
        assert_eq!(tally.sometimes(&["a".into(), "z".into()]), [of("a", 2), of("z", 0), of("b", 0), of("c", 1)]);
        assert_eq!(tally.undecided(), [of("d", 1), of("e", 2)]);
        assert_eq!(tally.never_decided(), ["e"]);
    }
}

//! The choices that make a run: whole numbers, drawn or replayed.
//!
//! The idea is that of Hypothesis (MacIver and Donaldson, *Test-case reduction via test-case generation*, ECOOP 2020): what is shrunk is not
//! what was generated, but the choices of the generator. Every sequence of numbers makes a run: a number that is too large counts as the
//! largest one, and one that is missing as 0, which a generator gives the simplest meaning.

use netloom_link::Spans;
use netloom_units::Seed;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The way in which a choice becomes simpler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The choice is simpler if it is smaller.
    Plain,
    /// The choice is an instant in nanoseconds, and simpler if it is rounder.
    Instant,
}

/// A choice that was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// The number.
    pub value: u64,
    /// The number that was too large.
    pub end: u64,
    /// The way in which it becomes simpler.
    pub role: Role,
}

/// Choices that were made, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sequence {
    /// The choices.
    pub choices: Vec<Choice>,
    /// The parts that belong together, as one fault does: in order, none inside another.
    pub spans: Vec<Range<usize>>,
}

impl Sequence {
    /// Returns the numbers alone, by which all of it can be replayed.
    pub fn values(&self) -> Vec<u64> {
        self.choices.iter().map(|choice| choice.value).collect()
    }
}

/// The source of choices.
#[derive(Clone, Debug)]
pub struct Choices {
    source: Source,
    made: Sequence,
}

#[derive(Clone, Debug)]
enum Source {
    Drawn(Box<Spans>),
    Replayed { values: Vec<u64>, next: usize },
}

impl Choices {
    /// Creates a source that draws from this seed.
    pub fn drawn(seed: Seed) -> Self {
        Self { source: Source::Drawn(Box::new(Spans::new(seed))), made: Sequence::default() }
    }

    /// Creates a source that repeats these numbers.
    pub fn replayed(values: Vec<u64>) -> Self {
        Self { source: Source::Replayed { values, next: 0 }, made: Sequence::default() }
    }

    /// Chooses a number below `end`, all with the same probability.
    pub fn below(&mut self, end: u64) -> u64 {
        self.choose(end, Role::Plain, |random| random.below(end.max(1)))
    }

    /// Chooses the place of an item in a list of so many.
    pub fn place(&mut self, count: usize) -> usize {
        usize::try_from(self.below(count as u64)).unwrap_or(usize::MAX)
    }

    /// Chooses a number below `end`; if it is drawn, by `draw`.
    pub fn choose(&mut self, end: u64, role: Role, draw: impl FnOnce(&mut Spans) -> u64) -> u64 {
        let most = end.saturating_sub(1);
        let value = match &mut self.source {
            Source::Drawn(random) => draw(random).min(most),
            Source::Replayed { values, next } => {
                let value = values.get(*next).copied().unwrap_or(0).min(most);
                *next += 1;
                value
            }
        };
        self.made.choices.push(Choice { value, end: most.saturating_add(1), role });
        value
    }

    /// Makes choices that belong together.
    pub fn span<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> T {
        let start = self.made.choices.len();
        let made = make(self);
        self.made.spans.push(start..self.made.choices.len());
        made
    }

    /// Returns the choices that were made.
    pub fn finish(self) -> Sequence {
        self.made
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make(choices: &mut Choices) -> Vec<u64> {
        let first = choices.span(|inner| inner.below(10));
        let second = choices.span(|inner| inner.choose(1_000, Role::Instant, |random| 500 + random.below(500)));
        vec![first, second, choices.below(3)]
    }

    #[test]
    fn what_was_drawn_can_be_replayed() {
        let mut drawn = Choices::drawn(Seed::new(7));
        let numbers = make(&mut drawn);
        assert!(numbers[0] < 10 && (500..1_000).contains(&numbers[1]) && numbers[2] < 3, "{numbers:?}");
        let made = drawn.finish();
        assert_eq!((made.values(), &made.spans[..]), (numbers.clone(), &[0..1, 1..2][..]));
        let mut replayed = Choices::replayed(made.values());
        assert_eq!(make(&mut replayed), numbers);
        assert_eq!(replayed.finish(), made);
    }

    #[test]
    fn every_sequence_of_numbers_means_something() {
        let mut short = Choices::replayed(vec![12]);
        assert_eq!(make(&mut short), [9, 0, 0], "the largest, and the simplest");
        assert_eq!(short.finish().values(), [9, 0, 0], "what was made is canonical");
        assert_eq!(Choices::drawn(Seed::new(1)).below(0), 0);
    }

    #[test]
    fn other_seeds_make_other_choices() {
        let draws = |seed| make(&mut Choices::drawn(Seed::new(seed)));
        assert_eq!(draws(3), draws(3));
        assert!((1..20).any(|seed| draws(seed) != draws(3)));
    }
}

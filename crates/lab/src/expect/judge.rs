//! Whether an expectation holds for what was measured, and why.

use super::value::show;
use super::{Dimension, Expectation, Measured, Term, Test, Wanted};
use std::borrow::Cow;

/// Whether an expectation holds, with the reason in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// Whether the expectation holds.
    pub met: bool,
    /// The reason in words: what was measured and what was wanted, for example `measured 97.6 Mbit/s, wanted 98 Mbit/s ± 2 %`.
    pub explanation: String,
}

/// A test in which everything has a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Settled<'a> {
    test: Cow<'a, Test>,
    dimension: Dimension,
}

impl Expectation {
    /// Returns the expectation's test, in which `value_of` gives the values of all terms that it compares with.
    ///
    /// # Errors
    /// Why one of these terms is not measured.
    pub fn settle(&self, value_of: &mut dyn FnMut(&Term) -> Result<f64, String>) -> Result<Settled<'_>, String> {
        self.test.settle(self.term.dimension, value_of)
    }

    /// Returns the judgement when nothing could be measured, for the given reason.
    pub fn unmeasured(&self, reason: &str) -> Judgement {
        self.test.unmeasured(self.term.dimension, reason)
    }
}

impl Settled<'_> {
    /// Judges whether the test holds for one measured value. An expectation on both directions of a link is judged once for each.
    pub fn judge(&self, measured: &Measured) -> Judgement {
        let met = self.test.holds(measured);
        let explanation = match (&*self.test, measured) {
            (Test::Contains(text), Measured::Text(all)) => {
                let verb = if met { "contains" } else { "does not contain" };
                format!("the output ({} bytes) {verb} {text:?}", all.len())
            }
            _ => format!("measured {}, wanted {}", measured.show(self.dimension), self.test.wanted(self.dimension)),
        };
        Judgement { met, explanation }
    }

    /// Describes in words what is wanted.
    pub fn wanted(&self) -> String {
        self.test.wanted(self.dimension)
    }
}

impl Test {
    /// Returns this test of a value of `dimension`, in which `value_of` gives the values of all terms that it compares with.
    ///
    /// # Errors
    /// Why one of these terms is not measured.
    pub fn settle(
        &self,
        dimension: Dimension,
        value_of: &mut dyn FnMut(&Term) -> Result<f64, String>,
    ) -> Result<Settled<'_>, String> {
        let mut test = Cow::Borrowed(self);
        if self.terms().next().is_some() {
            for wanted in test.to_mut().wanted_values() {
                let Wanted::Term(times, term) = &*wanted else { continue };
                let value = value_of(term)?;
                let told = format!("{wanted} ({})", show(times * value, dimension));
                *wanted = Wanted::Settled(times * value, told);
            }
        }
        Ok(Settled { test, dimension })
    }

    /// Returns the judgement of a value of `dimension` when nothing could be measured, for the given reason.
    pub fn unmeasured(&self, dimension: Dimension, reason: &str) -> Judgement {
        let wanted = self.wanted(dimension);
        Judgement { met: false, explanation: format!("not measured: {reason}; wanted {wanted}") }
    }

    /// Returns the terms that the test compares with, which have to be measured, too.
    pub fn terms(&self) -> impl Iterator<Item = &Term> {
        self.multiples().map(|(_, term)| term)
    }

    /// The same, to be changed.
    pub(super) fn terms_mut(&mut self) -> impl Iterator<Item = &mut Term> {
        self.wanted_values().filter_map(|wanted| match wanted {
            Wanted::Term(_, term) => Some(&mut **term),
            _ => None,
        })
    }

    /// The same, each with how many times it is meant.
    pub(super) fn multiples(&self) -> impl Iterator<Item = (f64, &Term)> {
        let values = match self {
            Self::Equal(one)
            | Self::NotEqual(one)
            | Self::Less(one)
            | Self::AtMost(one)
            | Self::More(one)
            | Self::AtLeast(one)
            | Self::WithinShare(_, one) => [Some(one), None],
            Self::Between(one, other) | Self::Within(one, other) => [Some(one), Some(other)],
            Self::Contains(_) => [None, None],
        };
        values.into_iter().flatten().filter_map(|wanted| match wanted {
            Wanted::Term(times, term) => Some((*times, &**term)),
            _ => None,
        })
    }

    fn wanted_values(&mut self) -> impl Iterator<Item = &mut Wanted> {
        let values = match self {
            Self::Equal(one)
            | Self::NotEqual(one)
            | Self::Less(one)
            | Self::AtMost(one)
            | Self::More(one)
            | Self::AtLeast(one)
            | Self::WithinShare(_, one) => [Some(one), None],
            Self::Between(one, other) | Self::Within(one, other) => [Some(one), Some(other)],
            Self::Contains(_) => [None, None],
        };
        values.into_iter().flatten()
    }

    /// Whether the test holds. A number is never equal to a text.
    pub fn holds(&self, measured: &Measured) -> bool {
        match measured {
            Measured::Text(text) => self.holds_for_text(text),
            Measured::Number(number) => self.holds_for_number(*number),
        }
    }

    fn holds_for_text(&self, measured: &str) -> bool {
        match self {
            Self::Equal(Wanted::Text(text)) => measured == text,
            Self::NotEqual(Wanted::Text(text)) => measured != text,
            Self::NotEqual(_) => true,
            Self::Contains(text) => measured.contains(text),
            _ => false,
        }
    }

    fn holds_for_number(&self, measured: f64) -> bool {
        let compare =
            |wanted: &Wanted, holds: fn(f64, f64) -> bool| wanted.number().is_some_and(|x| holds(measured, x));
        match self {
            Self::Equal(wanted) => compare(wanted, |a, b| a == b),
            Self::NotEqual(wanted) => !compare(wanted, |a, b| a == b),
            Self::Less(wanted) => compare(wanted, |a, b| a < b),
            Self::AtMost(wanted) => compare(wanted, |a, b| a <= b),
            Self::More(wanted) => compare(wanted, |a, b| a > b),
            Self::AtLeast(wanted) => compare(wanted, |a, b| a >= b),
            Self::Between(least, most) => compare(least, |a, b| a >= b) && compare(most, |a, b| a <= b),
            Self::WithinShare(share, wanted) => is_within(measured, wanted, wanted.number().map(|x| x.abs() * share)),
            Self::Within(distance, wanted) => is_within(measured, wanted, distance.number()),
            Self::Contains(_) => false,
        }
    }

    /// What is wanted, in words.
    fn wanted(&self, dimension: Dimension) -> String {
        match self {
            Self::Equal(wanted) => wanted.to_string(),
            Self::NotEqual(wanted) => format!("anything but {wanted}"),
            Self::Less(wanted) => format!("less than {wanted}"),
            Self::AtMost(wanted) => format!("at most {wanted}"),
            Self::More(wanted) => format!("more than {wanted}"),
            Self::AtLeast(wanted) => format!("at least {wanted}"),
            Self::Between(least, most) => format!("{least} to {most}"),
            Self::WithinShare(share, wanted) => format!("{wanted} ± {}", show(*share, Dimension::Share)),
            Self::Within(distance, wanted) => {
                format!("{wanted} ± {}", show(distance.number().unwrap_or(0.0), dimension))
            }
            Self::Contains(text) => format!("a text that contains {text:?}"),
        }
    }
}

fn is_within(measured: f64, wanted: &Wanted, distance: Option<f64>) -> bool {
    wanted.number().zip(distance).is_some_and(|(middle, most)| (measured - middle).abs() <= most)
}

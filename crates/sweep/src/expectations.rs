//! What all runs show together, against what is expected of them.

mod interval;

use crate::record::Figure;
use crate::{Outcome, RunRecord};
use interval::{Interval, difference};
use netloom_judge::quantity::{counted, figure as shown, with_interval};
use netloom_lab::{Dimension, Measured, OverRuns, RunsTerm, RunsTest, Term, Test};
use serde::{Deserialize, Serialize};

/// An expectation of all runs together, and whether it is met.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunsRow {
    /// The expectation as written in the lab file.
    pub text: String,
    /// The line in the lab file.
    pub line: usize,
    /// Whether it is met.
    pub met: bool,
    /// The explanation in words: what was measured, against what was wanted.
    pub explanation: String,
    /// The measured values, the one to the left of the comparison first.
    pub measured: Vec<RunsValue>,
}

/// A value that the runs that count make together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunsValue {
    /// The term as written in the lab file.
    pub text: String,
    /// The unit: `bit/s`, `ns`, `share`, `packets`, `B`, or nothing.
    pub unit: String,
    /// The number of runs that have a value.
    pub runs: u64,
    /// The value over these runs; none if there are too few, or if a run has no value or has not ended.
    pub value: Option<f64>,
    /// The interval in which the true value lies with 95 % confidence, where that can be said.
    pub ci95: Option<[f64; 2]>,
}

/// The values of the runs, gathered one by one.
#[derive(Debug)]
pub(crate) struct Gathered<'a> {
    expectation: &'a OverRuns,
    sides: Vec<Side<'a>>,
    /// Runs that are not as described, or failed; and those that have not ended.
    others: u64,
    first_other: Option<String>,
    uncompleted: u64,
}

/// The values of one term.
#[derive(Debug)]
struct Side<'a> {
    wanted: RunsTerm<'a>,
    values: Vec<f64>,
    /// Runs that have no value.
    missing: u64,
    /// The first of them, and why.
    first_missing: Option<String>,
    uncompleted: u64,
}

impl<'a> Gathered<'a> {
    pub(crate) fn new(expectation: &'a OverRuns) -> Self {
        let side = |wanted| Side { wanted, values: Vec::new(), missing: 0, first_missing: None, uncompleted: 0 };
        let sides = expectation.terms().into_iter().map(side).collect();
        Self { expectation, sides, others: 0, first_other: None, uncompleted: 0 }
    }

    /// A run, at a point with these values of the parameters; none if it has not ended. Whether it belongs to the statistics says
    /// `counts`.
    pub(crate) fn add(&mut self, parameters: &[(&str, &str)], name: &str, record: Option<&RunRecord>, counts: bool) {
        match record {
            None => self.uncompleted += 1,
            Some(record) if record.outcome != Outcome::AsDescribed => {
                self.others += 1;
                let why = record.why.as_deref().unwrap_or_else(|| record.outcome.words());
                let why = why.lines().next().unwrap_or_default();
                self.first_other.get_or_insert_with(|| format!("{name}: {why}"));
            }
            Some(_) => {}
        }
        for side in &mut self.sides {
            side.add(parameters, name, record, counts);
        }
    }

    pub(crate) fn judge(&self) -> RunsRow {
        let measured: Vec<RunsValue> = self.sides.iter().map(Side::value).collect();
        let (met, explanation) = match &self.expectation.test {
            RunsTest::AllAsDescribed => self.all_as_described(),
            RunsTest::Holds(left, test) => self.holds(left, test, &measured),
        };
        let OverRuns { text, line, .. } = self.expectation;
        RunsRow { text: text.clone(), line: *line, met, explanation, measured }
    }

    fn all_as_described(&self) -> (bool, String) {
        let mut told = Vec::new();
        if self.others > 0 {
            let first = self.first_other.as_deref().unwrap_or_default();
            told.push(format!("{} not; the first is {first}", runs(self.others)));
        }
        if self.uncompleted > 0 {
            told.push(format!("{} not completed", runs(self.uncompleted)));
        }
        if told.is_empty() { (true, "all of them".into()) } else { (false, told.join("; ")) }
    }

    fn holds(&self, left: &Term, test: &Test, measured: &[RunsValue]) -> (bool, String) {
        let number = |place: usize| match (self.sides[place].reason(), measured[place].value) {
            (Some(reason), _) => Err(reason),
            (None, Some(value)) => Ok(value),
            (None, None) => Err(self.sides[place].too_few()),
        };
        let mut next = 0;
        let settled = test.settle(left.dimension, &mut |_| {
            next += 1;
            number(next)
        });
        let judgement = match (number(0), settled) {
            (Ok(value), Ok(settled)) => settled.judge(&Measured::Number(value)),
            (Err(reason), _) => test.unmeasured(left.dimension, &reason),
            (Ok(_), Err(reason)) => test.unmeasured(left.dimension, &format!("what it is compared with: {reason}")),
        };
        let notes = self.notes(left.dimension, measured).join("; ");
        let notes = if notes.is_empty() { notes } else { format!(" ({notes})") };
        (judgement.met, judgement.explanation + &notes)
    }

    /// Of how many runs that is, and how sure.
    fn notes(&self, dimension: Dimension, measured: &[RunsValue]) -> Vec<String> {
        let unit = |value: f64| shown(value, unit(dimension));
        let of_side = |(place, one): (usize, &RunsValue)| {
            let name = if place == 0 { String::new() } else { format!("{}: ", one.text) };
            let interval =
                one.ci95.map(|[low, high]| format!(", {} to {} with 95 % confidence", unit(low), unit(high)));
            format!("{name}{}{}", runs(one.runs), interval.unwrap_or_default())
        };
        let known = measured.iter().enumerate().filter(|(_, one)| one.value.is_some());
        let mut notes: Vec<String> = known.map(of_side).collect();
        if let [one, other] = &self.sides[..]
            && one.is_mean()
            && other.is_mean()
            && let multiples = other.values.iter().map(|value| value * other.wanted.times).collect::<Vec<_>>()
            && let Some((apart, half)) = difference(&one.values, &multiples)
        {
            notes.push(format!("the difference is {}", with_interval(apart, half, self::unit(dimension))));
        }
        notes
    }
}

impl Side<'_> {
    fn add(&mut self, parameters: &[(&str, &str)], name: &str, record: Option<&RunRecord>, counts: bool) {
        let Some(over) = &self.wanted.term.over else { return };
        let holds = |(parameter, value): (&str, &str)| {
            parameters.iter().any(|(known, own)| *known == parameter && *own == value)
        };
        if !over.conditions.iter().all(|condition| holds((&condition.parameter, &condition.value))) {
            return;
        }
        let Some(record) = record else {
            self.uncompleted += 1;
            return;
        };
        if !counts {
            return;
        }
        let found = record.judged.iter().chain(&record.figures).find(|figure| figure.name == self.wanted.figure);
        match found.and_then(|figure| figure.value) {
            Some(value) => self.values.push(value),
            None => {
                self.missing += 1;
                self.first_missing.get_or_insert_with(|| format!("{name}: {}", why_missing(found)));
            }
        }
    }

    /// Why there is no value; none if there may be one.
    fn reason(&self) -> Option<String> {
        let text = &self.wanted.term.text;
        if self.uncompleted > 0 {
            return Some(format!("{} of {text} not completed", runs(self.uncompleted)));
        }
        if self.missing > 0 {
            let first = self.first_missing.as_deref().unwrap_or_default();
            return Some(format!("{} without a value of {text}; the first is {first}", runs(self.missing)));
        }
        self.values.is_empty().then(|| format!("no run counts for {text}"))
    }

    fn too_few(&self) -> String {
        format!("{} are too few for {}", runs(self.values.len() as u64), self.wanted.term.text)
    }

    fn value(&self) -> RunsValue {
        let term = self.wanted.term;
        let function = term.over.as_ref().map(|over| over.function);
        let value = function.filter(|_| self.reason().is_none()).and_then(|function| function.of(&self.values));
        let ci95 = value.zip(function).and_then(|(_, function)| Interval::of(function, &self.values));
        RunsValue {
            text: term.text.clone(),
            unit: unit(term.dimension).to_owned(),
            runs: self.values.len() as u64,
            value,
            ci95: ci95.map(|Interval { low, high }| [low, high]),
        }
    }

    fn is_mean(&self) -> bool {
        self.wanted.term.over.as_ref().is_some_and(|over| over.function == netloom_lab::Function::Mean)
            && self.reason().is_none()
    }
}

fn why_missing(figure: Option<&Figure>) -> String {
    match figure {
        None => "it was not measured".into(),
        Some(figure) => figure.missing.clone().unwrap_or_else(|| "it is not known".into()),
    }
}

fn unit(dimension: Dimension) -> &'static str {
    match dimension {
        Dimension::Rate => "bit/s",
        Dimension::Duration => "ns",
        Dimension::Share => "share",
        Dimension::Packets => "packets",
        Dimension::Bytes => "B",
        Dimension::Number | Dimension::Text | Dimension::Json => "",
    }
}

fn runs(count: u64) -> String {
    counted(usize::try_from(count).unwrap_or(usize::MAX), "run")
}

#[cfg(test)]
mod tests;

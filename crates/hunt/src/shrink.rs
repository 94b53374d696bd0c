//! Shrinking: from the choices of a run that failed to the fewest and simplest ones with which it fails in the same way.
//!
//! It knows choices and how simple the faults are that they make, and no kind of fault. Whole faults are left out first (delta debugging: Zeller
//! and Hildebrandt, 2002), then numbers are lowered one by one, and instants become round.

use crate::choices::{Choices, Role, Sequence};
use crate::error::HuntError;
use crate::failure::Failure;
use crate::faults::{Fault, Ground, draw_faults};
use crate::swarm::Swarm;
use std::collections::BTreeSet;

/// Units of round instants, in nanoseconds.
const ROUND: [u64; 8] =
    [10_000_000_000, 1_000_000_000, 500_000_000, 100_000_000, 10_000_000, 1_000_000, 100_000, 1_000];
/// How many choices behind one that is lowered are left out with it.
const BEHIND: usize = 3;

/// Plays runs for the one who shrinks.
pub trait Trials {
    /// Returns in which ways a run with each of these faults fails.
    ///
    /// # Errors
    /// What keeps the hunt from going on.
    fn play(&mut self, runs: &[Vec<Fault>]) -> Result<Vec<Vec<Failure>>, HuntError>;

    /// Returns how many runs are played at once.
    fn width(&self) -> usize;
}

/// The result of shrinking.
#[derive(Clone, Debug)]
pub struct Shrunk {
    /// The simplest choices that were found.
    pub sequence: Sequence,
    /// The faults that they make.
    pub faults: Vec<Fault>,
    /// How many runs it took.
    pub runs: usize,
    /// Other failures that runs had meanwhile, each with the choices that lead to it.
    pub others: Vec<(Failure, Vec<u64>)>,
}

/// Shrinks the choices `values` of a run with this failure, by so many runs at most.
///
/// # Errors
/// What keeps the hunt from going on.
pub fn shrink(
    ground: &Ground,
    values: Vec<u64>,
    failure: &Failure,
    budget: usize,
    trials: &mut dyn Trials,
) -> Result<Shrunk, HuntError> {
    let (sequence, faults) = expand(ground, values);
    let tried = BTreeSet::from([key(&faults)]);
    let best = Shrunk { sequence, faults, runs: 0, others: Vec::new() };
    let mut shrinker = Shrinker { ground, failure, budget, trials, tried, best };
    while shrinker.pass()? {}
    Ok(shrinker.best)
}

/// The faults that choices make, and the choices that were needed for them.
pub(crate) fn expand(ground: &Ground, values: Vec<u64>) -> (Sequence, Vec<Fault>) {
    let mut choices = Choices::replayed(values);
    let faults = draw_faults(ground, &mut choices, &Swarm::default());
    (choices.finish(), faults)
}

/// The entries that distinguish the faults of a run.
fn key(faults: &[Fault]) -> Vec<String> {
    faults.iter().flat_map(|fault| fault.entries.clone()).collect()
}

/// How far choices are from simple: fewer faults come first, then simpler kinds, shorter ones, fewer choices, rounder instants, and smaller
/// numbers.
fn complexity(sequence: &Sequence, faults: &[Fault]) -> [u128; 7] {
    let sum = |of: &dyn Fn(&Fault) -> u64| faults.iter().map(|fault| u128::from(of(fault))).sum::<u128>();
    let numbers = |role: Role, of: &dyn Fn(u64) -> u64| {
        let own = sequence.choices.iter().filter(|choice| choice.role == role);
        own.map(|choice| u128::from(of(choice.value))).sum::<u128>()
    };
    [
        faults.len() as u128,
        sum(&|fault| fault.rank as u64),
        sum(&|fault| fault.for_ns),
        sequence.choices.len() as u128,
        numbers(Role::Instant, &digits),
        numbers(Role::Plain, &|value| value),
        numbers(Role::Instant, &|value| value),
    ]
}

/// How many digits of a number count: of 1,500 two.
fn digits(mut value: u64) -> u64 {
    while value > 0 && value.is_multiple_of(10) {
        value /= 10;
    }
    value.checked_ilog10().map_or(0, |zeros| u64::from(zeros) + 1)
}

struct Shrinker<'a> {
    ground: &'a Ground,
    failure: &'a Failure,
    budget: usize,
    trials: &'a mut dyn Trials,
    /// Faults with which a run was played.
    tried: BTreeSet<Vec<String>>,
    best: Shrunk,
}

impl Shrinker<'_> {
    /// Tries everything once; whether anything became simpler.
    fn pass(&mut self) -> Result<bool, HuntError> {
        let before = complexity(&self.best.sequence, &self.best.faults);
        self.leave_out()?;
        self.lower()?;
        self.begin_later()?;
        self.lower_and_leave_out()?;
        self.round()?;
        let is_simpler = complexity(&self.best.sequence, &self.best.faults) < before;
        Ok(is_simpler && self.best.runs < self.budget)
    }

    /// Leaves out parts: many at once, then fewer.
    fn leave_out(&mut self) -> Result<(), HuntError> {
        let mut size = self.best.sequence.spans.len();
        while size > 0 {
            let mut first = 0;
            while first + size <= self.best.sequence.spans.len() {
                let count = self.best.sequence.spans.len() - size + 1;
                let candidates = (first..count).map(|start| self.without(start, size)).collect();
                match self.take_first(candidates)? {
                    // What comes behind has moved there.
                    Some(place) => first += place,
                    None => break,
                }
            }
            size /= 2;
        }
        Ok(())
    }

    /// The choices without so many parts.
    fn without(&self, first: usize, size: usize) -> Vec<u64> {
        let Sequence { spans, .. } = &self.best.sequence;
        let gone = spans[first].start..spans[first + size - 1].end;
        let values = self.best.sequence.values().into_iter().enumerate();
        values.filter(|(place, _)| !gone.contains(place)).map(|(_, value)| value).collect()
    }

    /// Lowers numbers, one after the other: to nothing, to half, by one.
    fn lower(&mut self) -> Result<(), HuntError> {
        let mut place = 0;
        while let Some(choice) = self.best.sequence.choices.get(place).copied() {
            let lower: BTreeSet<u64> = [0, choice.value / 4, choice.value / 2, choice.value.saturating_sub(1)].into();
            let lower = lower.into_iter().filter(|value| *value < choice.value);
            let is_plain = choice.role == Role::Plain;
            let candidates = lower.filter(|_| is_plain).map(|value| self.with(place, value)).collect();
            if self.take_first(candidates)?.is_none() {
                place += 1;
            }
        }
        Ok(())
    }

    /// Lets faults begin later and end when they did: lowers the number behind an instant, and moves that by as much as faults became shorter.
    fn begin_later(&mut self) -> Result<(), HuntError> {
        let mut place = 0;
        while let Some([instant, length]) = self.best.sequence.choices.get(place..place + 2) {
            let (instant, length) = (*instant, *length);
            let lower: BTreeSet<u64> = [length.value / 2, length.value.saturating_sub(1)].into();
            let is_pair = instant.role == Role::Instant && length.role == Role::Plain;
            let lower = lower.into_iter().filter(|value| is_pair && *value < length.value);
            let total = |faults: &[Fault]| faults.iter().map(|fault| fault.for_ns).sum::<u64>();
            let candidates: Vec<Vec<u64>> = lower
                .map(|value| {
                    let mut values = self.with(place + 1, value);
                    let (_, shorter) = expand(self.ground, values.clone());
                    values[place] += total(&self.best.faults).saturating_sub(total(&shorter));
                    values
                })
                .collect();
            if self.take_first(candidates)?.is_none() {
                place += 1;
            }
        }
        Ok(())
    }

    /// Lowers a number that may say how many others follow, and leaves out one of these.
    fn lower_and_leave_out(&mut self) -> Result<(), HuntError> {
        let mut place = 0;
        while let Some(choice) = self.best.sequence.choices.get(place).copied() {
            let is_lowered = choice.role == Role::Plain && choice.value > 0;
            let lowered = self.with(place, choice.value.saturating_sub(1));
            let behind = (place + 1..=place + BEHIND).filter(|other| is_lowered && *other < lowered.len());
            let left_out = |other| {
                let mut values = lowered.clone();
                values.remove(other);
                values
            };
            let candidates = behind.map(left_out).collect();
            if self.take_first(candidates)?.is_none() {
                place += 1;
            }
        }
        Ok(())
    }

    /// Moves instants to round ones, before and behind.
    fn round(&mut self) -> Result<(), HuntError> {
        for place in 0..self.best.sequence.choices.len() {
            let Some(choice) = self.best.sequence.choices.get(place).copied() else { break };
            if choice.role != Role::Instant {
                continue;
            }
            let round = ROUND.iter().flat_map(|unit| {
                let below = choice.value / unit * unit;
                [below, below.saturating_add(*unit)]
            });
            let candidates = round.map(|instant| self.with(place, instant)).collect();
            self.take_first(candidates)?;
        }
        Ok(())
    }

    /// The choices with another number in one place.
    fn with(&self, place: usize, value: u64) -> Vec<u64> {
        let mut values = self.best.sequence.values();
        values[place] = value;
        values
    }

    /// Plays candidates until one fails in the same way, which is kept; returns its place. Those that are not simpler, or were played already, are
    /// left out.
    fn take_first(&mut self, candidates: Vec<Vec<u64>>) -> Result<Option<usize>, HuntError> {
        let best = complexity(&self.best.sequence, &self.best.faults);
        let mut fit = Vec::new();
        for (place, values) in candidates.into_iter().enumerate() {
            let (sequence, faults) = expand(self.ground, values);
            let is_same = key(&faults) == key(&self.best.faults);
            let is_simpler = complexity(&sequence, &faults) < best;
            if is_simpler && is_same {
                // The same faults by fewer or smaller numbers: nothing is to be played.
                (self.best.sequence, self.best.faults) = (sequence, faults);
                return Ok(Some(place));
            }
            if is_simpler && self.tried.insert(key(&faults)) {
                fit.push((place, sequence, faults));
            }
        }
        let mut rest = fit.into_iter();
        loop {
            let width = self.trials.width().max(1).min(self.budget.saturating_sub(self.best.runs));
            let batch: Vec<_> = rest.by_ref().take(width).collect();
            if batch.is_empty() {
                self.forget(rest);
                return Ok(None);
            }
            let runs: Vec<Vec<Fault>> = batch.iter().map(|(_, _, faults)| faults.clone()).collect();
            let failed = self.trials.play(&runs)?;
            self.best.runs += batch.len();
            let mut found = None;
            for ((place, sequence, faults), failures) in batch.into_iter().zip(failed) {
                for other in failures.iter().filter(|other| *other != self.failure) {
                    if !self.best.others.iter().any(|(known, _)| known == other) {
                        self.best.others.push((other.clone(), sequence.values()));
                    }
                }
                if found.is_none() && failures.contains(self.failure) {
                    found = Some((place, sequence, faults));
                }
            }
            if let Some((place, sequence, faults)) = found {
                (self.best.sequence, self.best.faults) = (sequence, faults);
                self.forget(rest);
                return Ok(Some(place));
            }
        }
    }

    /// Forgets that these were to be played, which they were not: they may be tried again.
    fn forget(&mut self, skipped: impl Iterator<Item = (usize, Sequence, Vec<Fault>)>) {
        for (_, _, faults) in skipped {
            self.tried.remove(&key(&faults));
        }
    }
}

#[cfg(test)]
mod tests;

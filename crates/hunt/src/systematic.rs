//! The systematic search: each fault alone at each instant at which something happens, and then all pairs of these.
//!
//! Most failures need few faults, and most of a run's time is the same as any other; so one can try all, or say how much of it was tried. As shrinking does,
//! this knows choices and no kind of fault: what a fault can be is enumerated by what its generator chooses from.

use crate::choices::{Choice, Role};
use crate::faults::Ground;
use crate::instants::Instants;
use crate::shrink::expand;
use serde::Serialize;
use std::collections::BTreeSet;

/// A choice from more than this is no choice between kinds of things: only the simplest is tried.
const MOST_WAYS: u64 = 50;
/// So many faults that differ in more than their time are enumerated at most.
const MOST_VARIANTS: usize = 10_000;
/// The lengths that are tried, as places in the table of lengths of faults: 1 ms, 500 ms, 5 s.
const LENGTHS: [u64; 3] = [0, 8, 11];
/// The golden ratio in millionths, by which runs are spread over all that there is to try.
const SPREAD: u128 = 618_034;

/// All faults that are tried systematically.
#[derive(Clone, Debug, Default)]
pub struct Grid {
    /// Faults, each as its choices, which differ in more than their instants and lengths.
    variants: Vec<Vec<Choice>>,
    instants: Vec<u64>,
    end: u64,
}

/// How much of a systematic search has been done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Covered {
    /// How many single faults there are.
    pub singles: u64,
    /// How many of them have been tried.
    pub singles_tried: u64,
    /// How many pairs of faults there are.
    pub pairs: u64,
    /// How many of them have been tried.
    pub pairs_tried: u64,
}

impl Grid {
    /// Enumerates what is drawn from `ground`, at the instants of a run without faults.
    pub fn of(ground: &Ground, instants: &Instants) -> Self {
        let end = ground.end();
        Self { variants: variants(ground), instants: instants.candidates(end), end }
    }

    /// Returns how many single faults there are.
    pub fn singles(&self) -> u64 {
        self.variants.len() as u64 * self.instants.len() as u64 * LENGTHS.len() as u64
    }

    /// Returns how many runs there are in all: the single faults, and the pairs of different ones.
    pub fn runs(&self) -> u64 {
        let singles = self.singles();
        singles.saturating_add(singles.saturating_mul(singles.saturating_sub(1)) / 2)
    }

    /// Returns how much of it runs up to this number have tried.
    pub fn covered(&self, ended: u64) -> Covered {
        let singles = self.singles();
        let (pairs, tried) = (self.runs() - singles, ended.min(self.runs()));
        Covered { singles, singles_tried: tried.min(singles), pairs, pairs_tried: tried.saturating_sub(singles) }
    }

    /// Returns the choices of a run, which is counted from 1; none if there are no more.
    pub fn choices(&self, run: u64) -> Option<Vec<u64>> {
        let singles = self.singles();
        let number = run.checked_sub(1)?;
        if number < singles {
            let mut values = self.single(spread(number, singles));
            values.push(0);
            return Some(values);
        }
        let number = number - singles;
        if number >= self.runs() - singles {
            return None;
        }
        // Pairs by how far apart their numbers are: all with a neighbour, then all with the next but one, and so on.
        let (first, distance) = (spread(number % singles, singles), 1 + number / singles);
        let second = (first + distance) % singles;
        let (mut values, other) = (self.single(first), self.single(second));
        values.extend(other);
        values.push(0);
        Some(values)
    }

    /// The choices of a single fault. Neighbours differ in what happens, and then in when.
    fn single(&self, number: u64) -> Vec<u64> {
        let (kinds, lengths) = (self.variants.len() as u64, LENGTHS.len() as u64);
        let place = |rest: u64| usize::try_from(rest).unwrap_or(0);
        let variant = &self.variants[place(number % kinds)];
        let length = LENGTHS[place(number / kinds % lengths)];
        let at = self.instants[place(number / kinds / lengths)].min(self.end.saturating_sub(1));
        let mut values: Vec<u64> = variant.iter().map(|choice| choice.value).collect();
        if let Some(instant) = instant_of(variant) {
            values[instant] = at;
            if let Some(behind) = values.get_mut(instant + 1) {
                *behind = length;
            }
        }
        values
    }
}

/// The place of the instant among the choices of a fault; its length follows.
fn instant_of(choices: &[Choice]) -> Option<usize> {
    choices.iter().position(|choice| choice.role == Role::Instant)
}

/// The place of a number in an order of 0 to `count` in which neighbours are far apart.
fn spread(number: u64, count: u64) -> u64 {
    let share = u128::from(count) * SPREAD / 1_000_000;
    let mut stride = u64::try_from(share).unwrap_or(0).max(1);
    while common_divisor(stride, count) > 1 {
        stride += 1;
    }
    let place = u128::from(number) * u128::from(stride) % u128::from(count.max(1));
    u64::try_from(place).unwrap_or(0)
}

fn common_divisor(mut one: u64, mut other: u64) -> u64 {
    while other > 0 {
        (one, other) = (other, one % other);
    }
    one
}

/// All faults that differ in more than when they are: counts through what each choice may be, the last one fastest.
fn variants(ground: &Ground) -> Vec<Vec<Choice>> {
    let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
    if ground.kinds().is_empty() {
        return found;
    }
    let mut next = Some(vec![1]);
    while let Some(values) = next
        && found.len() < MOST_VARIANTS
    {
        let (sequence, faults) = expand(ground, values);
        let own = sequence.spans.first().cloned().unwrap_or_default();
        let choices = &sequence.choices[own];
        let entries: Vec<String> = faults.iter().flat_map(|fault| fault.entries.clone()).collect();
        if !entries.is_empty() && seen.insert(entries) {
            found.push(choices.to_vec());
        }
        next = following(choices);
    }
    found
}

/// The numbers of the fault behind this one; none behind the last.
fn following(choices: &[Choice]) -> Option<Vec<u64>> {
    let instant = instant_of(choices)?;
    let is_counted = |place: usize| place > 0 && place != instant && place != instant + 1;
    let can_grow = |place: &usize| {
        let choice = choices[*place];
        is_counted(*place) && choice.end <= MOST_WAYS && choice.value + 1 < choice.end
    };
    let last = (0..choices.len()).rev().find(can_grow)?;
    let mut values: Vec<u64> = choices[..=last].iter().map(|choice| choice.value).collect();
    values[last] += 1;
    Some(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faults::Fault;
    use netloom_lab::HuntLab;

    fn grid(hunt: &str) -> (Grid, Ground) {
        let text = format!(
            "clock: virtual\nduration: 30 s\nnodes: [n1, n2, n3]\nlinks: {{lan: {{ends: [n1, n2, n3], delay: 1 ms}}}}\n\
             timeline: [{{on: n*, run: ./serve, as: serve, ready: {{tcp: 80}}}}]\nhunt: {hunt}\n"
        );
        let (_, lab) = HuntLab::read(&text, "kv.yaml").unwrap();
        let ground = Ground::of(&lab.plan).unwrap();
        let instants = Instants::of_kinds(vec![vec![1_000_000_000], vec![2_000_000_000, 3_000_000_000, 4_000_000_000]]);
        (Grid::of(&ground, &instants), ground)
    }

    fn faults(grid: &Grid, ground: &Ground, run: u64) -> Vec<Fault> {
        expand(ground, grid.choices(run).unwrap()).1
    }

    #[test]
    fn every_single_fault_comes_once_at_every_instant() {
        let (grid, ground) = grid("{faults: {pause: on, cut: on}}");
        // Three links, both directions or one; each of three nodes. Four events, before and after; three lengths.
        assert_eq!((grid.variants.len(), grid.instants.len()), (3 * 3 + 3, 8));
        assert_eq!(grid.singles(), 12 * 8 * 3);
        let mut seen = BTreeSet::new();
        for run in 1..=grid.singles() {
            let found = faults(&grid, &ground, run);
            assert_eq!(found.len(), 1);
            seen.insert(found[0].entries.clone());
            assert!(grid.instants.contains(&found[0].at_ns), "{found:?}");
        }
        assert_eq!(seen.len() as u64, grid.singles(), "none comes twice");
        let early: BTreeSet<u64> = (1..=24).map(|run| faults(&grid, &ground, run)[0].at_ns).collect();
        assert!(early.len() > 4, "the first runs are spread over all of the time: {early:?}");
    }

    #[test]
    fn then_come_all_pairs() {
        let (grid, ground) = grid("{faults: {pause: n1, cut: lan-n1}, nodes: n*}");
        let singles = grid.singles();
        let mut seen = BTreeSet::new();
        for run in singles + 1..=grid.runs() {
            let values = grid.choices(run).unwrap();
            let mut entries: Vec<String> =
                expand(&ground, values).1.iter().flat_map(|fault| fault.entries.clone()).collect();
            entries.sort();
            seen.insert(entries);
        }
        assert!(grid.choices(grid.runs() + 1).is_none() && grid.choices(0).is_none());
        // Some pairs are not tolerated, and are single faults then.
        assert!(seen.len() as u64 > (grid.runs() - singles) * 2 / 3, "{} of {}", seen.len(), grid.runs() - singles);
        let covered = grid.covered(singles + 5);
        assert_eq!((covered.singles_tried, covered.pairs_tried), (singles, 5));
        assert_eq!(covered.pairs, singles * (singles - 1) / 2);
    }

    #[test]
    fn without_kinds_there_is_nothing_to_try() {
        let (grid, _) = grid("{faults: none}");
        assert_eq!((grid.singles(), grid.runs()), (0, 0));
        assert!(grid.choices(1).is_none());
    }
}

//! The powers of several senders that a station measures again and again, and which of them have been strong for how long.

use alloc::vec;
use alloc::vec::Vec;
use netloom_units::{Duration, Instant};

/// See the module.
#[derive(Clone, Debug, Default)]
pub(crate) struct Measured {
    /// By sender: the filtered power in dBm, and since when it is above what was asked for.
    levels: Vec<f64>,
    since: Vec<Option<Instant>>,
}

impl Measured {
    /// The first measurement.
    pub(crate) fn new(levels: Vec<f64>) -> Self {
        Self { since: vec![None; levels.len()], levels }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.levels.is_empty()
    }

    /// The filtered power of a sender in dBm.
    pub(crate) fn level(&self, sender: usize) -> f64 {
        self.levels[sender]
    }

    /// A new measurement, with its weight against those before.
    pub(crate) fn add(&mut self, weight: f64, new: &[f64]) {
        for (level, measured) in self.levels.iter_mut().zip(new) {
            *level += weight * (measured - *level);
        }
    }

    /// Notes who is above `least` at this instant.
    pub(crate) fn note(&mut self, at: Instant, least: f64) {
        for (level, since) in self.levels.iter().zip(&mut self.since) {
            *since = if *level > least { since.or(Some(at)) } else { None };
        }
    }

    /// Forgets since when anybody has been strong.
    pub(crate) fn forget(&mut self) {
        self.since.fill(None);
    }

    /// The strongest of those that count and have been above what was asked for so long; the first of equal ones.
    pub(crate) fn lasting(&self, at: Instant, time: Duration, counts: impl Fn(usize) -> bool) -> Option<usize> {
        let long = |sender: &usize| self.since[*sender].is_some_and(|since| at.since(since) >= time);
        self.best((0..self.levels.len()).filter(long).filter(|sender| counts(*sender)))
    }

    /// The strongest of those that count; the first of equal ones.
    pub(crate) fn strongest(&self, counts: impl Fn(usize) -> bool) -> Option<usize> {
        self.best((0..self.levels.len()).filter(|sender| counts(*sender)))
    }

    fn best(&self, senders: impl Iterator<Item = usize>) -> Option<usize> {
        senders.reduce(|best, sender| if self.levels[sender] > self.levels[best] { sender } else { best })
    }
}

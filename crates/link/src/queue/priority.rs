//! Strict priority: the first class with something to send, always.
//!
//! Parameter: the classes, the most important first, each with a filter and a drop-tail limit (default 1,000 packets); the
//! last takes the rest. Source: the "priority queueing" of every router; Linux `prio`. A segment that is being sent is
//! sent to its end. Lower classes may starve.

use super::Transmission;
use super::divided::{ClassConfig, Divided, Division, joined};
use crate::ConfigError;
use crate::ledger::Ledger;
use alloc::{format, vec::Vec};
use core::iter;
use netloom_packet::Packet;
use netloom_units::{Instant, Seed};

pub(super) fn check(classes: &[ClassConfig]) -> Result<(), ConfigError> {
    Division::Classes(classes.to_vec()).check()?;
    let wrong = |message| Err(ConfigError::new("classes", message));
    if let Some(class) = classes.iter().find(|class| class.weight != 1) {
        return wrong(format!("`{}`: weights mean nothing where the first class always comes first", class.name));
    }
    match classes.iter().rev().skip(1).find(|class| class.filter.is_none()) {
        Some(rest) => wrong(format!("`{}` takes the rest and must be the last: it has no `match`", rest.name)),
        None => Ok(()),
    }
}

/// The queues; see the module.
#[derive(Clone, Debug)]
pub(crate) struct Priority {
    queues: Divided,
}

impl Priority {
    pub(crate) fn new(classes: &[ClassConfig], seed: Seed) -> Self {
        Self { queues: Divided::new(&Division::Classes(classes.to_vec()), seed) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.queues.is_empty()
    }

    pub(crate) fn push(&mut self, now: Instant, train: Packet, transmission: Transmission, ledger: &mut Ledger<'_>) {
        self.queues.push(now, train, transmission, ledger);
    }

    pub(crate) fn pop(&mut self, ledger: &mut Ledger<'_>) -> Option<Packet> {
        let segment = self.take()?;
        ledger.release(&segment);
        Some(segment)
    }

    fn take(&mut self) -> Option<Packet> {
        (0..self.queues.division().len()).find_map(|index| self.queues.take(index))
    }

    pub(crate) fn drain(&mut self) -> Vec<Packet> {
        joined(iter::from_fn(|| self.take()))
    }

    /// What waits is divided anew, as it arrived.
    pub(crate) fn configure(&mut self, classes: &[ClassConfig], transmission: Transmission, ledger: &mut Ledger<'_>) {
        for (arrival, train) in self.queues.configure(&Division::Classes(classes.to_vec())) {
            ledger.release(&train);
            self.push(arrival, train, transmission, ledger);
        }
    }
}

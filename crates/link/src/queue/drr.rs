//! Deficit round robin: the queues take turns, and each turn is worth a quantum of bytes.
//!
//! Parameters: `quantum` (default 1,514 bytes, counted from the IP header on), how much a queue of weight 1 may send per
//! turn, and how packets are divided among queues, each with a drop-tail limit.
//! Source: Shreedhar and Varghese, "Efficient Fair Queueing using Deficit Round Robin" (SIGCOMM 1995), section 3.
//! Differs from it: a full queue refuses what arrives, where the paper takes the room from the longest queue. Whether a
//! queue is empty after its turn is decided when its last segment begins to be sent.
//!
//! A packet costs constant time if the quantum is no smaller than the largest packet (section 3.2 of the paper), else as
//! many turns as quanta that it is long.

use super::divided::{Divided, Division, joined};
use super::{Transmission, checks};
use crate::ConfigError;
use crate::ledger::Ledger;
use alloc::{collections::VecDeque, vec, vec::Vec};
use core::iter;
use netloom_packet::Packet;
use netloom_units::{Bytes, Instant, Seed};

/// Queues that take turns.
#[derive(Clone, Debug, PartialEq)]
pub struct DrrConfig {
    /// How much a queue of weight 1 may send per turn, from the IP header on; above zero.
    pub quantum: Bytes,
    /// How packets are divided among the queues.
    pub division: Division,
}

impl DrrConfig {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        checks::quantum(self.quantum)?;
        self.division.check()
    }
}

/// The queues; see the module.
#[derive(Clone, Debug)]
pub(crate) struct Drr {
    quantum: Bytes,
    queues: Divided,
    /// What each queue may still send; empty until something came.
    deficits: Vec<u64>,
    /// Queues with something to send, the one whose turn it is first: the paper's `ActiveList`.
    active: VecDeque<u32>,
    /// Whether the first was given its quantum for this turn.
    has_quantum: bool,
}

impl Drr {
    pub(crate) fn new(config: &DrrConfig, seed: Seed) -> Self {
        Self {
            quantum: config.quantum,
            queues: Divided::new(&config.division, seed),
            deficits: Vec::new(),
            active: VecDeque::new(),
            has_quantum: false,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.queues.is_empty()
    }

    /// Section 3.1, enqueueing module.
    pub(crate) fn push(&mut self, now: Instant, train: Packet, transmission: Transmission, ledger: &mut Ledger<'_>) {
        let Some(index) = self.queues.push(now, train, transmission, ledger) else { return };
        if self.deficits.is_empty() {
            self.deficits = vec![0; self.queues.division().len()];
        }
        self.active.push_back(u32::try_from(index).expect("few queues"));
    }

    pub(crate) fn pop(&mut self, ledger: &mut Ledger<'_>) -> Option<Packet> {
        let segment = self.take()?;
        ledger.release(&segment);
        Some(segment)
    }

    /// Section 3.1, dequeueing module.
    fn take(&mut self) -> Option<Packet> {
        loop {
            let first = *self.active.front()?;
            let index = first as usize;
            if !self.has_quantum {
                self.deficits[index] += self.quantum.get() * u64::from(self.queues.division().weight(index));
                self.has_quantum = true;
            }
            let size = self.queues.head(index)?.get();
            if size <= self.deficits[index] {
                self.deficits[index] -= size;
                let segment = self.queues.take(index);
                if self.queues.head(index).is_none() {
                    self.deficits[index] = 0;
                    self.end_turn();
                }
                return segment;
            }
            self.end_turn();
            self.active.push_back(first);
        }
    }

    fn end_turn(&mut self) {
        self.active.pop_front();
        self.has_quantum = false;
    }

    pub(crate) fn drain(&mut self) -> Vec<Packet> {
        joined(iter::from_fn(|| self.take()))
    }

    /// What waits is divided anew, as it arrived, and the turns begin anew.
    pub(crate) fn configure(&mut self, config: &DrrConfig, transmission: Transmission, ledger: &mut Ledger<'_>) {
        self.quantum = config.quantum;
        self.active.clear();
        self.has_quantum = false;
        self.deficits.clear();
        for (arrival, train) in self.queues.configure(&config.division) {
            ledger.release(&train);
            self.push(arrival, train, transmission, ledger);
        }
    }
}

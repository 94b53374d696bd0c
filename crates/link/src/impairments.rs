//! What happens to packets before they reach the queue: loss, then corruption, then duplication.

use crate::cause::Cause;
use crate::corrupt::Corrupt;
use crate::duplicate::Duplicate;
use crate::ledger::Ledger;
use crate::loss::Loss;
use crate::{LossConfig, PipeChange, PipeConfig};
use alloc::vec::Vec;
use netloom_packet::Packet;
use netloom_units::{Probability, Seed};

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Impairments {
    loss: Loss,
    corrupt: Corrupt,
    duplicate: Duplicate,
}

impl Impairments {
    pub(crate) fn new(config: &PipeConfig, seed: Seed) -> Self {
        Self {
            loss: Loss::new(config.loss.clone(), seed.derive("loss")),
            corrupt: Corrupt::new(config.corrupt, seed.derive("corrupt")),
            duplicate: Duplicate::new(config.duplicate, seed.derive("duplicate")),
        }
    }

    pub(crate) fn change(&mut self, change: &PipeChange) {
        if let Some(loss) = &change.loss {
            self.loss.configure(loss.clone());
        }
        if let Some(corrupt) = change.corrupt {
            self.corrupt.configure(corrupt);
        }
        if let Some(duplicate) = change.duplicate {
            self.duplicate.configure(duplicate);
        }
    }

    /// Loses packets with this probability, independently of each other.
    pub(crate) fn lose(&mut self, probability: Probability) {
        let loss = if probability.is_zero() { LossConfig::None } else { LossConfig::Independent(probability) };
        self.loss.configure(loss);
    }

    /// Whether everything passes as it is.
    pub(crate) fn are_idle(&self) -> bool {
        self.loss.is_idle() && self.corrupt.is_idle() && self.duplicate.is_idle()
    }

    /// Adds to `passed` what is left of `train`, in order.
    pub(crate) fn pass(&mut self, mut train: Packet, passed: &mut Vec<Packet>, ledger: &mut Ledger<'_>) {
        loop {
            let survivors = self.loss.survivors(&train);
            if survivors == train.segments() {
                return self.touch(train, passed, ledger);
            }
            if let Some(front) = train.split_front(survivors) {
                self.touch(front, passed, ledger);
            }
            let Some(lost) = train.split_front(1) else { return ledger.refuse(train, Cause::Loss) };
            ledger.refuse(lost, Cause::Loss);
        }
    }

    /// Corrupts and duplicates single segments; the others stay together.
    fn touch(&mut self, mut train: Packet, passed: &mut Vec<Packet>, ledger: &mut Ledger<'_>) {
        if self.corrupt.is_idle() && self.duplicate.is_idle() {
            return passed.push(train);
        }
        while let Some(segment) = train.split_front(1) {
            self.touch_segment(segment, passed, ledger);
        }
        self.touch_segment(train, passed, ledger);
    }

    fn touch_segment(&mut self, segment: Packet, passed: &mut Vec<Packet>, ledger: &mut Ledger<'_>) {
        let (segment, corrupted) = self.corrupt.pass(segment);
        if corrupted {
            ledger.counters.corrupted.add(&segment);
        }
        let second = self.duplicate.happens().then(|| segment.duplicate());
        match passed.last_mut() {
            Some(last) if last.is_followed_by(&segment) => last.append(&segment),
            _ => passed.push(segment),
        }
        if let Some(second) = second {
            ledger.duplicate(&second);
            passed.push(second);
        }
    }
}

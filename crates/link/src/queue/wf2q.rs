//! WF2Q+, worst-case fair weighted fair queueing: each queue gets its share of the rate as if it had its own link, to
//! within one packet.
//!
//! Parameter: how packets are divided among queues, each with a weight and a drop-tail limit. With a hash all weights are 1.
//! Source: Bennett and Zhang, "Hierarchical Packet Fair Queueing Algorithms" (SIGCOMM 1996; Transactions on Networking
//! 1997), section 3.4; it is the scheduler of dummynet. Of the segments whose service would have begun by now in the fluid
//! system (start tag S no later than the virtual time V), the one that would be finished first (finish tag F) is sent.
//! Of equal ones, that of the first queue.
//!
//! Differs from dummynet: V advances by the bytes sent over the weights of *all* queues, as in the paper, not of those
//! that are in use; and tags are exact. All weights have a common multiple, and one byte of virtual time is that many
//! steps, so that neither L/weight nor L/total is ever rounded.
//! The segment that is being sent stands at the head of its queue until its transmission ends, and counts as served then;
//! dummynet counts it when it begins. When the transmitter has become idle, all tags begin at zero again.

use super::Transmission;
use super::divided::{Divided, Division, joined};
use crate::ConfigError;
use crate::ledger::Ledger;
use alloc::collections::BinaryHeap;
use alloc::{format, vec, vec::Vec};
use core::cmp::Reverse;
use core::iter;
use netloom_packet::Packet;
use netloom_units::{Instant, Seed};

/// Beyond it, tags could overflow: 2^64 bytes of 2^63 steps leave a bit.
const MOST_STEPS: u64 = 1 << 63;

/// Refuses weights without a reasonable common multiple.
pub(super) fn check(division: &Division) -> Result<(), ConfigError> {
    division.check()?;
    match steps(division) {
        Some(_) => Ok(()),
        None => Err(ConfigError::new(
            "classes",
            format!(
                "the weights and their sum, {}, have no common multiple below 2^63: choose weights with common factors, \
                 for example multiples of 5",
                total(division)
            ),
        )),
    }
}

fn total(division: &Division) -> u64 {
    (0..division.len()).map(|index| u64::from(division.weight(index))).sum()
}

/// How many steps of virtual time a byte has: the least common multiple of all weights and their sum.
fn steps(division: &Division) -> Option<u64> {
    let weights = (0..division.len()).map(|index| u64::from(division.weight(index)));
    let multiple = |steps: u64, weight: u64| {
        (steps / greatest_common_divisor(steps, weight)).checked_mul(weight).filter(|steps| *steps < MOST_STEPS)
    };
    weights.chain([total(division)]).try_fold(1, multiple)
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// The finish tag of the segment at the head of a queue, or of the last one that was there, in steps.
#[derive(Clone, Copy, Debug, Default)]
struct Tag {
    finish: u128,
    /// In which busy period: those of an earlier one count as zero.
    period: u64,
}

/// The queues; see the module.
#[derive(Clone, Debug)]
pub(crate) struct Wf2q {
    queues: Divided,
    /// Steps of virtual time that a byte of each class takes; empty if there are only flows.
    costs: Vec<u64>,
    /// The same for a weight of 1.
    steps: u64,
    /// Steps by which a byte that is sent advances virtual time.
    advance: u64,
    /// Empty until something came.
    tags: Vec<Tag>,
    now: u128,
    period: u64,
    /// The queue of the segment that is being sent, and the segment's bytes.
    serving: Option<(usize, u64)>,
    /// Queues whose head may be sent, by finish tag.
    eligible: BinaryHeap<Reverse<(u128, u32)>>,
    /// Queues whose head may not be sent yet, by start tag.
    early: BinaryHeap<Reverse<(u128, u32)>>,
}

impl Wf2q {
    pub(crate) fn new(division: &Division, seed: Seed) -> Self {
        let steps = steps(division).expect("checked weights have a common multiple");
        let costs = match division {
            Division::Flows { .. } => Vec::new(),
            Division::Classes(classes) => classes.iter().map(|class| steps / u64::from(class.weight)).collect(),
        };
        Self {
            queues: Divided::new(division, seed),
            costs,
            steps,
            advance: steps / total(division),
            tags: Vec::new(),
            now: 0,
            period: 0,
            serving: None,
            eligible: BinaryHeap::new(),
            early: BinaryHeap::new(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.queues.is_empty()
    }

    pub(crate) fn push(&mut self, now: Instant, train: Packet, transmission: Transmission, ledger: &mut Ledger<'_>) {
        if self.queues.is_empty() && transmission.remaining.is_zero() {
            self.period += 1;
            self.now = 0;
            self.serving = None;
        }
        let Some(index) = self.queues.push(now, train, transmission, ledger) else { return };
        if self.tags.is_empty() {
            self.tags = vec![Tag::default(); self.queues.division().len()];
        }
        // A queue that is being served is not empty yet: its next segment gets its tags when the service ends.
        if self.serving.is_none_or(|(served, _)| served != index) {
            let Tag { finish, period } = self.tags[index];
            let finish = if period == self.period { finish } else { 0 };
            // Equation 28: S = max(F, V) for what comes to an empty queue.
            self.stand(index, finish.max(self.now));
        }
    }

    /// Gives the head of a queue its tags, the finish tag being S + L / weight, and its place.
    fn stand(&mut self, index: usize, start: u128) {
        let Some(size) = self.queues.head(index) else { return };
        let finish = start + u128::from(size.get()) * u128::from(self.cost(index));
        self.tags[index] = Tag { finish, period: self.period };
        let number = u32::try_from(index).expect("few queues");
        if start <= self.now {
            self.eligible.push(Reverse((finish, number)));
        } else {
            self.early.push(Reverse((start, number)));
        }
    }

    fn cost(&self, index: usize) -> u64 {
        self.costs.get(index).copied().unwrap_or(self.steps)
    }

    /// Equation 27: virtual time is never behind the smallest start tag, so that something can always be sent.
    fn settle(&mut self) {
        if self.eligible.is_empty()
            && let Some(Reverse((start, _))) = self.early.peek()
        {
            self.now = self.now.max(*start);
        }
        while let Some(Reverse((_, number))) = self.early.peek().filter(|Reverse((start, _))| *start <= self.now) {
            self.eligible.push(Reverse((self.tags[*number as usize].finish, *number)));
            self.early.pop();
        }
    }

    pub(crate) fn pop(&mut self, ledger: &mut Ledger<'_>) -> Option<Packet> {
        let segment = self.take()?;
        ledger.release(&segment);
        Some(segment)
    }

    fn take(&mut self) -> Option<Packet> {
        if let Some((index, size)) = self.serving.take() {
            self.now += u128::from(size) * u128::from(self.advance);
            // Equation 28: the next segment starts where the one before it ends.
            self.stand(index, self.tags[index].finish);
        }
        self.settle();
        let Reverse((_, number)) = self.eligible.pop()?;
        let index = number as usize;
        let segment = self.queues.take(index)?;
        self.serving = Some((index, segment.size().get()));
        Some(segment)
    }

    pub(crate) fn drain(&mut self) -> Vec<Packet> {
        joined(iter::from_fn(|| self.take()))
    }

    /// What waits is divided anew, as it arrived, and virtual time begins anew.
    pub(crate) fn configure(&mut self, division: &Division, transmission: Transmission, ledger: &mut Ledger<'_>) {
        let waiting = self.queues.configure(division);
        let period = self.period + 1;
        let queues = core::mem::replace(&mut self.queues, Divided::new(division, Seed::default()));
        *self = Self { queues, period, ..Self::new(division, Seed::default()) };
        for (arrival, train) in waiting {
            ledger.release(&train);
            self.push(arrival, train, transmission, ledger);
        }
    }
}

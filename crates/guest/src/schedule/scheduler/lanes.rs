//! Processors, and how many machines are let run on each.
//!
//! To let more machines run than there are processors for them gains nothing, and makes their windows shorter: who waits
//! for a processor learns meanwhile how far its neighbours have got, and may then run further at once.

use std::time::{Duration, Instant};

/// How many of those that share a processor run: one computes, and others are ready when it is done. The scheduler is woken when only
/// one of them is left (`crate::backend::Doorbell`), so that a larger number wakes it less often: 20 kernels of one group
/// took 13.6 s with three, 6.6 with six and 6.2 with twelve.
const AT_ONCE: usize = 8;

/// See the module. By default each machine has a processor of its own.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    /// On which each machine runs.
    of: Vec<usize>,
    /// How many machines run on each, since when any does, and for how long any did before.
    running: Vec<usize>,
    since: Vec<Option<Instant>>,
    occupied: Vec<Duration>,
}

impl Lanes {
    /// `processors`: of each machine.
    pub(super) fn new(processors: &[usize]) -> Self {
        let count = processors.iter().max().map_or(0, |last| last + 1);
        Self {
            of: processors.to_vec(),
            running: vec![0; count],
            since: vec![None; count],
            occupied: vec![Duration::ZERO; count],
        }
    }

    /// How many processors there are; none if each machine has its own.
    pub(super) fn count(&self) -> usize {
        self.running.len()
    }

    /// The processor of a machine.
    pub(super) fn of(&self, machine: usize) -> usize {
        self.of.get(machine).copied().unwrap_or(0)
    }

    /// The machine, which does not run now, runs on this processor from now on.
    pub(super) fn move_to(&mut self, machine: usize, lane: usize) {
        self.of[machine] = lane;
    }

    /// Whether this machine can be let run.
    pub(super) fn has_room(&self, machine: usize) -> bool {
        self.of.get(machine).is_none_or(|lane| self.running[*lane] < AT_ONCE)
    }

    /// The machine is let run.
    pub(super) fn enter(&mut self, machine: usize) {
        if let Some(lane) = self.of.get(machine) {
            self.running[*lane] += 1;
            self.since[*lane].get_or_insert_with(Instant::now);
        }
    }

    /// It has done what it was let do, or never will.
    pub(super) fn leave(&mut self, machine: usize) {
        if let Some(lane) = self.of.get(machine) {
            self.running[*lane] -= 1;
            if self.running[*lane] == 0 {
                self.occupied[*lane] += self.since[*lane].take().map_or(Duration::ZERO, |since| since.elapsed());
            }
        }
    }

    /// Takes for how long any machine ran on the processor for which that was longest, since this was asked last; while none runs.
    pub(super) fn take_longest(&mut self) -> Duration {
        let longest = self.occupied.iter().copied().max().unwrap_or_default();
        self.occupied.fill(Duration::ZERO);
        longest
    }
}

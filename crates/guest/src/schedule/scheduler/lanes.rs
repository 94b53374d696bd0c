//! Processors, and how many machines are let run on each.
//!
//! To let more machines run than there are processors for them gains nothing, and makes their windows shorter: who waits
//! for a processor learns meanwhile how far its neighbours have got, and may then run further at once.

/// How many of those that share a processor run: one computes, and others are ready when it is done. The scheduler is woken when only
/// one of them is left (`crate::backend::Doorbell`), so that a larger number wakes it less often: 20 kernels of one group
/// took 13.6 s with three, 6.6 with six and 6.2 with twelve.
const AT_ONCE: usize = 8;

/// See the module. By default each machine has a processor of its own.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    /// On which each machine runs.
    of: Vec<usize>,
    /// How many machines run on each.
    running: Vec<usize>,
}

impl Lanes {
    /// `processors`: of each machine.
    pub(super) fn new(processors: &[usize]) -> Self {
        let count = processors.iter().max().map_or(0, |last| last + 1);
        Self { of: processors.to_vec(), running: vec![0; count] }
    }

    /// Whether this machine can be let run.
    pub(super) fn has_room(&self, machine: usize) -> bool {
        self.of.get(machine).is_none_or(|lane| self.running[*lane] < AT_ONCE)
    }

    /// The machine is let run.
    pub(super) fn enter(&mut self, machine: usize) {
        if let Some(lane) = self.of.get(machine) {
            self.running[*lane] += 1;
        }
    }

    /// It has done what it was let do, or never will.
    pub(super) fn leave(&mut self, machine: usize) {
        if let Some(lane) = self.of.get(machine) {
            self.running[*lane] -= 1;
        }
    }
}

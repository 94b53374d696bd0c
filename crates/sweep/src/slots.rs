//! The processors that are free.

use std::cmp::Reverse;

/// Who may still start.
#[derive(Debug)]
pub(crate) struct Slots {
    /// All processors, and how many runs each has.
    loads: Vec<(usize, usize)>,
    running: usize,
    /// How many runs there may be at once.
    most: usize,
    /// Whether runs have processors to themselves: a number of runs that was asked for may be more than there are.
    counts: bool,
}

/// The processors of a run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Share {
    pub(crate) processors: Vec<usize>,
    /// Whether it is not all there are, so that the run has to stay on them.
    pub(crate) is_part: bool,
}

impl Slots {
    /// All these processors are free. With `jobs`, so many runs go on at most; if they are `patient`, because their time
    /// waits for them, they may also be more than there are processors.
    pub(crate) fn new(processors: Vec<usize>, jobs: Option<usize>, patient: bool) -> Self {
        let counts = !(patient && jobs.is_some());
        let loads = processors.into_iter().map(|processor| (processor, 0)).collect();
        Self { loads, running: 0, most: jobs.unwrap_or(usize::MAX), counts }
    }

    /// Processors for a run that takes so many, 0 being all: those that have the fewest runs. None if they are not free.
    ///
    /// A run in virtual time stays on its processor, too: it gives each kernel of its nodes one, and only one of them computes at a
    /// time, so that two runs would meet on the same while another is idle.
    pub(crate) fn take(&mut self, need: u32) -> Option<Share> {
        if self.running >= self.most {
            return None;
        }
        let all = self.loads.len();
        let need = if need == 0 { all } else { (need as usize).min(all) };
        let free = self.loads.iter().filter(|(_, load)| *load == 0).count();
        // A machine that tells no processors has one.
        if self.counts && self.running > 0 && (all == 0 || free < need) {
            return None;
        }
        self.running += 1;
        self.loads.sort_unstable_by_key(|(processor, load)| (*load, Reverse(*processor)));
        let chosen = self.loads[..need].iter_mut();
        let mut processors: Vec<usize> = chosen
            .map(|(processor, load)| {
                *load += 1;
                *processor
            })
            .collect();
        processors.sort_unstable();
        Some(Share { is_part: processors.len() < all, processors })
    }

    /// A run has ended.
    pub(crate) fn give_back(&mut self, share: &Share) {
        self.running -= 1;
        for (_, load) in self.loads.iter_mut().filter(|(processor, _)| share.processors.contains(processor)) {
            *load -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_share_the_processors_out() {
        let mut slots = Slots::new(vec![0, 2, 3], None, true);
        let first = slots.take(1).unwrap();
        assert_eq!(first, Share { processors: vec![3], is_part: true });
        assert!(slots.take(0).is_none(), "all are needed");
        let second = slots.take(2).unwrap();
        assert_eq!(second.processors, [0, 2]);
        assert!(slots.take(1).is_none());
        slots.give_back(&first);
        slots.give_back(&second);
        let all = slots.take(0).unwrap();
        assert_eq!(all, Share { processors: vec![0, 2, 3], is_part: false });
    }

    #[test]
    fn more_than_there_are_is_all_there_are() {
        let mut slots = Slots::new(vec![0, 1], None, false);
        assert_eq!(slots.take(16).unwrap().processors.len(), 2);
        assert!(slots.take(1).is_none());
    }

    #[test]
    fn the_number_of_runs_can_be_said() {
        let at_once = |jobs: usize, patient: bool| {
            let mut slots = Slots::new(vec![0, 1], Some(jobs), patient);
            (0..5).filter(|_| slots.take(1).is_some()).count()
        };
        assert_eq!(at_once(3, true), 3);
        assert_eq!(at_once(3, false), 2, "nothing is shared in real time");
        assert_eq!(at_once(1, false), 1);
    }

    #[test]
    fn more_runs_than_processors_are_shared_out_evenly() {
        let mut slots = Slots::new(vec![0, 1], Some(4), true);
        let shares: Vec<Share> = (0..4).filter_map(|_| slots.take(1)).collect();
        let place = |share: &Share| share.processors.clone();
        assert_eq!(shares.iter().map(place).collect::<Vec<_>>(), [[1], [0], [1], [0]]);
        assert!(shares.iter().all(|share| share.is_part));
        slots.give_back(&shares[1]);
        assert_eq!(slots.take(1).unwrap().processors, [0]);
    }

    #[test]
    fn a_machine_that_tells_nothing_has_one_processor() {
        let mut slots = Slots::new(Vec::new(), None, true);
        assert!(slots.take(1).is_some());
        assert!(slots.take(1).is_none());
    }
}

//! The processors that are free.

/// Who may still start.
#[derive(Debug)]
pub(crate) struct Slots {
    /// Those that no run has.
    free: Vec<usize>,
    all: usize,
    running: usize,
    /// How many runs there may be at once.
    most: usize,
    /// Whether runs take processors: a number of runs that was asked for may be more than there are.
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
        let all = processors.len().max(1);
        let counts = !(patient && jobs.is_some());
        Self { free: processors, all, running: 0, most: jobs.unwrap_or(usize::MAX), counts }
    }

    /// Processors for a run that takes so many, 0 being all; none if they are not free.
    pub(crate) fn take(&mut self, need: u32) -> Option<Share> {
        if self.running >= self.most {
            return None;
        }
        if !self.counts {
            self.running += 1;
            return Some(Share { processors: Vec::new(), is_part: false });
        }
        let need = if need == 0 { self.all } else { (need as usize).min(self.all) };
        // A machine that tells no processors has one.
        let left = self.free.len().checked_sub(need).or((self.running == 0).then_some(0))?;
        self.running += 1;
        let processors = self.free.split_off(left);
        let is_part = processors.len() < self.all;
        Some(Share { processors, is_part })
    }

    /// A run has ended.
    pub(crate) fn give_back(&mut self, share: Share) {
        self.running -= 1;
        self.free.extend(share.processors);
        self.free.sort_unstable();
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
        slots.give_back(first);
        slots.give_back(second);
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
    fn a_machine_that_tells_nothing_has_one_processor() {
        let mut slots = Slots::new(Vec::new(), None, true);
        assert!(slots.take(1).is_some());
        assert!(slots.take(1).is_none());
    }
}

//! Tells a program that computes without end from one that makes progress, and when lab time is to go on meanwhile.

use nix::unistd::Pid;
use std::time::{Duration, Instant};

/// What a look at a kernel's processes shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Glance {
    /// How often the kernel's own process has gone to sleep: once for each system call of a program, at most.
    pub(super) sleeps: u64,
    /// The process that computes while the kernel sleeps.
    pub(super) program: Option<Pid>,
}

/// See the module. It looks at a kernel at a regular interval.
#[derive(Debug)]
pub(super) struct Spin {
    patience: Duration,
    last: Option<Glance>,
    /// Since when a program has computed without a system call.
    since: Option<Instant>,
    is_spinning: bool,
    /// A slice was given after the last look, for which the kernel was woken.
    has_given: bool,
    given: u64,
}

impl Spin {
    /// A program that computes for longer than `patience` spins.
    pub(super) fn new(patience: Duration) -> Self {
        Self { patience, last: None, since: None, is_spinning: false, has_given: false, given: 0 }
    }

    /// How many slices were given.
    pub(super) fn given(&self) -> u64 {
        self.given
    }

    /// The process that is to be interrupted, so that a slice of lab time passes. A look that follows a slice only sees
    /// what came of it.
    pub(super) fn look(&mut self, now: Instant, glance: Glance) -> Option<Pid> {
        let is_same = self.last.replace(glance) == Some(glance);
        let program = glance.program;
        if self.has_given && is_same {
            // On a busy machine it has not been interrupted yet.
            return None;
        }
        let has_given = std::mem::take(&mut self.has_given);
        if program.is_none() || !(is_same || has_given) {
            (self.since, self.is_spinning) = (program.map(|_| now), false);
            return None;
        }
        let since = *self.since.get_or_insert(now);
        self.is_spinning |= now.duration_since(since) >= self.patience;
        let is_due = self.is_spinning && is_same;
        self.has_given = is_due;
        self.given += u64::from(is_due);
        program.filter(|_| is_due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: Pid = Pid::from_raw(7);

    /// What looks every 10 ms find: how often the kernel has slept, and who computes. Which of them give a slice?
    fn slices(looks: impl IntoIterator<Item = (u64, Option<Pid>)>) -> (Vec<usize>, u64) {
        let mut spin = Spin::new(Duration::from_millis(30));
        let begin = Instant::now();
        let mut given = Vec::new();
        for (number, (sleeps, program)) in looks.into_iter().enumerate() {
            let now = begin + Duration::from_millis(10) * u32::try_from(number).unwrap();
            given.extend(spin.look(now, Glance { sleeps, program }).map(|_| number));
        }
        (given, spin.given())
    }

    #[test]
    fn a_program_that_makes_system_calls_or_waits_gets_no_slice() {
        assert_eq!(slices((0..50).map(|look| (look, Some(PROGRAM)))), (vec![], 0));
        assert_eq!(slices((0..50).map(|_| (3, None))), (vec![], 0));
        assert_eq!(slices((0..50).map(|look| (look / 3, Some(PROGRAM)))), (vec![], 0));
    }

    #[test]
    fn one_that_computes_gets_every_second_look_a_slice() {
        // None is given before the kernel was woken for the one before.
        assert_eq!(slices([(1, Some(PROGRAM)); 6]), (vec![3], 1));
        let woken = [1, 1, 1, 1, 2, 2, 3, 3].map(|sleeps| (sleeps, Some(PROGRAM)));
        assert_eq!(slices(woken), (vec![3, 5, 7], 3));
    }

    #[test]
    fn one_that_goes_on_after_a_slice_is_given_time_again() {
        let looks = [1, 1, 1, 1, 2, 3, 3, 3, 3, 4, 4].map(|sleeps| (sleeps, Some(PROGRAM)));
        assert_eq!(slices(looks), (vec![3, 8, 10], 3));
    }
}

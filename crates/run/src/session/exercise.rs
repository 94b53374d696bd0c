//! The tasks of an exercise, and when they are looked at.

use netloom_judge::expectations::Tasks;
use netloom_provision::job::Job;
use netloom_units::{Duration, Instant};

/// Lab time between two looks.
pub(super) const STEP: Duration = Duration::from_millis(250);
/// The tasks of an exercise, and when to look at them.
#[derive(Default)]
pub(super) struct Exercise {
    pub(super) tasks: Tasks,
    /// When to look next; none: nothing is to be done.
    pub(super) next: Option<Instant>,
    /// When a lab that is not sampled is sampled next for these looks.
    pub(super) next_sample: Duration,
}

impl Exercise {
    pub(super) fn of(job: &Job) -> Self {
        Self { tasks: Tasks::of(&job.plan), ..Self::default() }
    }

    /// Time zero has come.
    pub(super) fn begin(&mut self, zero: Instant) {
        self.next = (!self.tasks.is_over()).then(|| zero + STEP);
    }

    /// When to look next.
    pub(super) fn next(&self) -> Option<Instant> {
        self.next
    }
}

//! Runs that are waited for: until all have ended, or the first of them ends a hunt.

use crate::error::HuntError;
use crate::failure::Failure;
use crate::faults::Fault;
use crate::finding::KeptRun;
use crate::pool::{Done, Job, Pool};
use crate::shrink::Trials;
use crate::target::{Purpose, Target};
use netloom_host::signals::Signals;
use nix::sys::signal::Signal;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// How often to look for signals.
const TURN: Duration = Duration::from_millis(100);

/// Why a hunt ends before its time.
#[derive(Debug)]
pub(super) enum Halt {
    /// A user ended it.
    Interrupted,
    /// An error keeps it from going on.
    Failed(HuntError),
}

impl From<HuntError> for Halt {
    fn from(error: HuntError) -> Self {
        Self::Failed(error)
    }
}

/// The slots that play runs, and the signals that end them.
pub(super) struct Batch {
    pub(super) pool: Pool,
    pub(super) signals: Signals,
}

impl Batch {
    /// Waits for the end of a run, for a moment.
    pub(super) fn next(&mut self) -> Result<Option<Done>, Halt> {
        if let Some(signal) = self.signals.next() {
            self.pool.stop(if signal == Signal::SIGINT { signal } else { Signal::SIGTERM });
            return Err(Halt::Interrupted);
        }
        let done = self.pool.next(TURN);
        match done {
            Some(Done { fatal: Some(error), .. }) => Err(Halt::Failed(error)),
            other => Ok(other),
        }
    }

    /// Plays all of these, in whatever order, and returns them in theirs.
    pub(super) fn play(&mut self, jobs: Vec<Job>) -> Result<Vec<Done>, Halt> {
        let ids: Vec<u64> = jobs.iter().map(|job| job.id).collect();
        let (mut waiting, mut done) = (jobs.into_iter(), Vec::new());
        while done.len() < ids.len() {
            while self.pool.has_room()
                && let Some(job) = waiting.next()
            {
                self.pool.start(job);
            }
            done.extend(self.next()?);
        }
        done.sort_by_key(|one: &Done| ids.iter().position(|id| *id == one.id));
        Ok(done)
    }

    /// Plays runs for the one who shrinks.
    pub(super) fn trials<'a>(&'a mut self, target: &'a Arc<Target>) -> TrialRuns<'a> {
        TrialRuns { batch: self, target, halt: None }
    }
}

/// See [`Trials`].
pub(super) struct TrialRuns<'a> {
    batch: &'a mut Batch,
    target: &'a Arc<Target>,
    /// Why it was ended.
    pub(super) halt: Option<Halt>,
}

impl Trials for TrialRuns<'_> {
    fn play(&mut self, runs: &[Vec<Fault>]) -> Result<Vec<Vec<Failure>>, HuntError> {
        let job = |(place, faults): (usize, &Vec<Fault>)| Job {
            id: place as u64,
            target: Arc::clone(self.target),
            faults: faults.clone(),
            purpose: Purpose::Search,
            keeps: false,
        };
        let jobs = runs.iter().enumerate().map(job).collect();
        match self.batch.play(jobs) {
            Ok(done) => Ok(done.into_iter().map(|one| one.judged.failures).collect()),
            Err(halt) => {
                self.halt = Some(halt);
                Err(HuntError::Machine("the hunt was ended".into()))
            }
        }
    }

    fn width(&self) -> usize {
        self.batch.pool.width()
    }
}

/// Takes what is kept of a run that was played for that.
pub(super) fn kept(done: Done) -> KeptRun {
    KeptRun { faults: Vec::new(), failures: done.judged.failures, results: done.results }
}

/// Removes the results of a run that are no longer needed.
pub(super) fn remove(results: &Path) -> Result<(), HuntError> {
    fs::remove_dir_all(results).map_err(HuntError::file(results))
}

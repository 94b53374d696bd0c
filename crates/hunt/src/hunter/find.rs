//! From a failure to a finding: it is shrunk, explained and kept.

use super::batch::{self, Halt};
use super::{Event, Hunter, job};
use crate::branches::{Branches, branch};
use crate::error::HuntError;
use crate::failure::Failure;
use crate::faults::Fault;
use crate::finding::{self, KeptRun};
use crate::pool::Job;
use crate::record::{FindingRecord, KeptChoices};
use crate::shrink::{Shrunk, expand, shrink};
use crate::target::{Purpose, Target};
use std::sync::Arc;

impl Hunter<'_> {
    /// Shrinks a failure, finds out what its faults do, and keeps all of it.
    pub(super) fn find(&mut self, failure: Failure, run: u64, choices: Vec<u64>) -> Result<(), Halt> {
        self.report(&Event::Shrinking(&failure));
        let target = self.target_of(run)?;
        let (first, original) = expand(&target.ground, choices);
        let (shrunk, branches) = self.explain(&target, &failure, first.values())?;
        let minimal = shrunk.faults;
        let kept: Vec<KeptRun> =
            self.batch.play(kept_runs(&target, &original, &minimal))?.into_iter().map(batch::kept).collect();
        let (first_two, others) = kept.split_at(2);
        let originally = KeptRun { faults: original.clone(), ..first_two[0].clone() };
        let minimally = KeptRun { faults: minimal.clone(), ..first_two[1].clone() };
        let kept_choices =
            KeptChoices { original: first.values(), minimal: shrunk.sequence.values(), others: shrunk.others };
        let record = FindingRecord {
            finding: self.folder.next_finding()?,
            failure,
            run,
            original,
            minimal,
            shrink_runs: shrunk.runs,
            is_repeated: false,
            causes: Vec::new(),
            branches,
            files_elsewhere: Vec::new(),
        };
        let record = finding::write(self.folder, &target, (record, &kept_choices), [&originally, &minimally], others)?;
        for results in others.iter().filter_map(|other| other.results.as_deref()) {
            batch::remove(results)?;
        }
        self.findings.push(record.clone());
        let place = self.folder.finding(record.finding);
        self.report(&Event::Found(&record, &place));
        for (other, values) in kept_choices.others {
            self.note(&other, run, &values);
        }
        Ok(())
    }

    /// Shrinks a failure, and searches the moment of the shrunk run.
    fn explain(
        &mut self,
        target: &Arc<Target>,
        failure: &Failure,
        values: Vec<u64>,
    ) -> Result<(Shrunk, Vec<Branches>), Halt> {
        let mut trials = self.batch.trials(target);
        let explained = || -> Result<(Shrunk, Vec<Branches>), HuntError> {
            let shrunk = shrink(&target.ground, values, failure, self.how.shrink_runs, &mut trials)?;
            let end = target.lab.plan.duration.map_or(target.ground.end(), netloom_units::Duration::as_nanos);
            let has_time = !self.how.moment.is_zero();
            let branches =
                has_time.then(|| branch((&target.ground, end), &shrunk.faults, failure, self.how.moment, &mut trials));
            Ok((shrunk, branches.transpose()?.unwrap_or_default()))
        };
        let outcome = explained();
        outcome.map_err(|error| trials.halt.take().unwrap_or(Halt::Failed(error)))
    }
}

/// The runs that are played to be kept, or to be compared: the original one, the minimal one, and that without each of its faults.
fn kept_runs(target: &Arc<Target>, original: &[Fault], minimal: &[Fault]) -> Vec<Job> {
    let without = |place: usize| {
        let mut rest = minimal.to_vec();
        rest.remove(place);
        rest
    };
    let mut jobs = vec![
        job(target, 0, original.to_vec(), Purpose::Finding, true),
        job(target, 1, minimal.to_vec(), Purpose::Finding, true),
    ];
    jobs.extend((0..minimal.len()).map(|place| job(target, place as u64 + 2, without(place), Purpose::Search, true)));
    jobs
}

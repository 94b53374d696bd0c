//! The hunt itself: a run without faults, then runs with drawn ones; what fails is shrunk, explained and kept.

mod batch;
mod find;

use crate::child::Start;
use crate::choices::Choices;
use crate::error::HuntError;
use crate::failure::Failure;
use crate::faults::{Fault, draw_faults};
use crate::folder::{HuntFolder, RunLine};
use crate::instants::Instants;
use crate::pool::{Done, Job, Pool};
use crate::record::FindingRecord;
use crate::shrink::expand;
use crate::swarm::Swarm;
use crate::systematic::{Covered, Grid};
use crate::tally::{Reached, Tally};
use crate::target::{Purpose, Target};
use batch::{Batch, Halt};
use netloom_host::signals::Signals;
use netloom_link::Spans;
use netloom_units::Seed;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How a hunt is done.
#[derive(Clone, Debug)]
pub struct How<'a> {
    /// This program.
    pub program: &'a Path,
    /// The command that plays a run in the place of this program, with the arguments that it would have; empty: this program does.
    pub player: &'a [OsString],
    /// Further options of `netloom run`.
    pub options: &'a [OsString],
    /// How many runs go on at once.
    pub jobs: usize,
    /// The seed from which faults are drawn.
    pub seed: u64,
    /// How many runs are played.
    pub runs: u64,
    /// Whether all faults are tried one by one, at all instants at which something happens, and not drawn.
    pub is_systematic: bool,
    /// Whether each run has another seed of the lab, too.
    pub varies_seed: bool,
    /// The number of findings with which the hunt ends; none if it goes on.
    pub findings: Option<usize>,
    /// For how long runs are begun, in wall time.
    pub lasts: Option<Duration>,
    /// How many runs shrinking a finding may take.
    pub shrink_runs: usize,
    /// For how long the moment of a finding is searched, in wall time.
    pub moment: Duration,
    /// The labs of earlier findings, which are played first.
    pub regress: &'a [PathBuf],
}

/// A function that is called with each event of a hunt that goes on.
pub type Watch<'a> = dyn FnMut(&Event<'_>, &Position) + 'a;

/// An event in the course of a hunt.
#[derive(Debug)]
pub enum Event<'a> {
    /// The lab of an earlier finding was played.
    Regressed(&'a Regressed),
    /// The run without faults has ended; so many kinds of events were in it. With a systematic search, there is so much to try.
    Baseline(usize, Option<Covered>),
    /// A run has ended.
    Ended(&'a RunLine),
    /// A new failure is being shrunk.
    Shrinking(&'a Failure),
    /// A finding was kept, in this folder.
    Found(&'a FindingRecord, &'a Path),
    /// The hunt is being stopped.
    Stopping,
}

/// The progress of a hunt.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Position {
    /// The number of runs that are wanted.
    pub total: u64,
    /// The number of runs that have ended, those of earlier invocations included.
    pub ended: u64,
    /// The number of runs that showed nothing.
    pub errors: u64,
    /// The number of findings.
    pub findings: usize,
    /// How many of the properties that must hold sometimes did, and how many there are.
    pub reached: (usize, usize),
    /// How many runs ended in a minute of this invocation.
    pub runs_per_minute: f64,
    /// How many of the last runs showed something that none before did, and how many these are.
    pub news: (usize, usize),
    /// How much of a systematic search has been done.
    pub systematic: Option<Covered>,
}

/// The results of a hunt: `hunt.json`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Summary {
    /// Whether all runs that were wanted have ended.
    pub complete: bool,
    /// Whether a user ended the hunt.
    pub interrupted: bool,
    /// The number of runs that have ended, beside the one without faults and those that shrinking took.
    pub runs: u64,
    /// The runs that showed nothing, and why: the first of them.
    pub errors: Vec<RunLine>,
    /// The number of runs that showed nothing.
    pub error_count: u64,
    /// How many runs ended in a minute of wall time.
    pub runs_per_minute: f64,
    /// How many of the last runs showed something in their logs that none before did, and how many these are.
    pub news: (usize, usize),
    /// How many runs in a row, up to the last, showed nothing new.
    pub since_new: u64,
    /// How many kinds of lines, and of pairs of lines, all runs have shown.
    pub behaviours: u64,
    /// How much of a systematic search was done; none if faults were drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub systematic: Option<Covered>,
    /// The kinds of faults that were drawn.
    pub kinds: Vec<&'static str>,
    /// The findings.
    pub findings: Vec<FindingRecord>,
    /// The properties that must hold sometimes, and in how many runs they did.
    pub sometimes: Vec<Reached>,
    /// The properties that some runs did not decide, and how many.
    pub undecided: Vec<Reached>,
    /// The properties that no run decided.
    pub never_decided: Vec<String>,
    /// The labs of earlier findings, and whether they still fail.
    pub regress: Vec<Regressed>,
}

/// The lab of an earlier finding that was played again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Regressed {
    /// The lab file.
    pub lab: PathBuf,
    /// The properties that fail in it; none if the bug is gone.
    pub failures: Vec<Failure>,
    /// Why the run shows nothing; none if it does.
    pub error: Option<String>,
}

/// So many runs that showed nothing are told one by one.
const MOST_ERRORS: usize = 20;

impl Summary {
    /// Whether the hunt has found nothing that is wrong: no failure, all that must hold sometimes did, and each property
    /// was decided.
    pub fn is_good(&self) -> bool {
        let regressed = self.regress.iter().any(|one| !one.failures.is_empty() || one.error.is_some());
        let is_reached = self.sometimes.iter().all(|one| one.runs > 0);
        self.findings.is_empty() && !regressed && is_reached && self.never_decided.is_empty()
    }
}

/// Hunts until all runs have ended, the time is over or a user ends it, and keeps what was found in the folder. Each event is
/// reported to `watch`.
///
/// # Errors
/// What keeps the hunt from going on; what was found before is kept.
pub fn run_hunt(
    target: &Arc<Target>,
    folder: &mut HuntFolder,
    how: &How<'_>,
    watch: &mut Watch<'_>,
) -> Result<Summary, HuntError> {
    let signals = Signals::hold(&[]);
    let signals = signals.map_err(|error| HuntError::Machine(format!("holding signals back: {error}")))?;
    let (program, words) = match how.player {
        [program, words @ ..] => (PathBuf::from(program), words.to_vec()),
        [] => (how.program.to_owned(), Vec::new()),
    };
    let start = Start { program, words, options: how.options.to_vec(), work: folder.path().join("work") };
    let pool = Pool::new(&start, how.jobs.max(1))?;
    let mut hunter = Hunter::new(target, folder, how, (pool, signals), watch)?;
    let ended = hunter.hunt();
    if matches!(ended, Err(Halt::Interrupted)) {
        hunter.report(&Event::Stopping);
    }
    let summary = hunter.summary()?;
    let work = hunter.folder.path().join("work");
    drop(hunter);
    // What is left in it is of runs that were stopped.
    let _ = std::fs::remove_dir_all(work);
    match ended {
        Ok(()) => {}
        Err(Halt::Interrupted) => {
            let summary = Summary { interrupted: true, complete: false, ..summary };
            folder.conclude(&summary)?;
            return Ok(summary);
        }
        Err(Halt::Failed(error)) => return Err(error),
    }
    folder.conclude(&summary)?;
    Ok(summary)
}

struct Hunter<'a> {
    target: &'a Arc<Target>,
    folder: &'a mut HuntFolder,
    how: &'a How<'a>,
    batch: Batch,
    watch: &'a mut Watch<'a>,
    begun: Instant,
    instants: Instants,
    /// All that a systematic search tries; none if faults are drawn.
    grid: Option<Grid>,
    /// The numbers of runs that have ended.
    ended: BTreeSet<u64>,
    /// How many runs have ended in this invocation.
    here: u64,
    errors: Vec<RunLine>,
    error_count: u64,
    findings: Vec<FindingRecord>,
    /// Failures that are no findings yet: in which run, and by which choices.
    pending: VecDeque<(Failure, u64, Vec<u64>)>,
    tally: Tally,
    regressed: Vec<Regressed>,
    /// The runs that go on, with their choices.
    drawn: BTreeMap<u64, (Vec<u64>, usize)>,
}

impl<'a> Hunter<'a> {
    fn new(
        target: &'a Arc<Target>,
        folder: &'a mut HuntFolder,
        how: &'a How<'a>,
        (pool, signals): (Pool, Signals),
        watch: &'a mut Watch<'_>,
    ) -> Result<Self, HuntError> {
        let findings = folder.findings()?;
        let lines = folder.runs()?;
        // A function that is called is called for shorter than it lives.
        let watch: &'a mut Watch<'a> = watch;
        let mut hunter = Self {
            target,
            folder,
            how,
            batch: Batch { pool, signals },
            watch,
            begun: Instant::now(),
            instants: Instants::default(),
            grid: None,
            ended: BTreeSet::new(),
            here: 0,
            errors: Vec::new(),
            error_count: 0,
            findings,
            pending: VecDeque::new(),
            tally: Tally::default(),
            regressed: Vec::new(),
            drawn: BTreeMap::new(),
        };
        lines.iter().for_each(|line| hunter.count(line));
        hunter.note_others()?;
        Ok(hunter)
    }

    fn hunt(&mut self) -> Result<(), Halt> {
        self.regress()?;
        self.baseline()?;
        let mut next = 1;
        let last = self.total();
        loop {
            self.work_off()?;
            if self.has_enough() && self.batch.pool.running() == 0 {
                return Ok(());
            }
            let is_time = self.how.lasts.is_none_or(|lasts| self.begun.elapsed() < lasts);
            while self.pending.is_empty() && !self.has_enough() && is_time && self.batch.pool.has_room() && next <= last
            {
                if !self.ended.contains(&next) {
                    self.begin(next)?;
                }
                next += 1;
            }
            if self.batch.pool.running() == 0 && self.pending.is_empty() {
                return Ok(());
            }
            if let Some(done) = self.batch.next()? {
                self.end(done)?;
            }
        }
    }

    /// Returns whether the hunt has as many findings as are wanted.
    fn has_enough(&self) -> bool {
        self.how.findings.is_some_and(|most| self.findings.len() >= most)
    }

    /// Returns the number of runs that are wanted.
    fn total(&self) -> u64 {
        self.grid.as_ref().map_or(self.how.runs, |grid| self.how.runs.min(grid.runs()))
    }

    /// Chooses a run and starts it.
    fn begin(&mut self, run: u64) -> Result<(), HuntError> {
        let (choices, faults) = match &self.grid {
            Some(grid) => {
                let (made, faults) = expand(&self.target.ground, grid.choices(run).unwrap_or_default());
                (made.values(), faults)
            }
            None => self.draw(run),
        };
        let target = self.target_of(run)?;
        self.drawn.insert(run, (choices, faults.len()));
        self.batch.pool.start(job(&target, run, faults, Purpose::Search, false));
        Ok(())
    }

    /// Returns the lab that a run plays. Where no faults are drawn, runs differ in their seeds: they are controls, and show what the lab does by
    /// itself. On request they differ in both.
    fn target_of(&self, run: u64) -> Result<Arc<Target>, HuntError> {
        let is_control = self.target.ground.kinds().is_empty();
        if run == 0 || !(is_control || self.how.varies_seed) {
            return Ok(Arc::clone(self.target));
        }
        let seed = Seed::new(self.how.seed).derive(&format!("control run {run}"));
        self.target.seeded(seed).map(Arc::new)
    }

    /// Draws the choices of a run, and the faults that they make.
    fn draw(&self, run: u64) -> (Vec<u64>, Vec<Fault>) {
        let seed = Seed::new(self.how.seed).derive(&format!("run {run}"));
        let kinds = self.target.ground.kinds().len();
        let swarm = Swarm::draw(&mut Spans::new(seed.derive("swarm")), kinds, &self.instants);
        let mut choices = Choices::drawn(seed.derive("faults"));
        let faults = draw_faults(&self.target.ground, &mut choices, &swarm);
        (choices.finish().values(), faults)
    }

    /// A drawn run has ended.
    fn end(&mut self, done: Done) -> Result<(), Halt> {
        let (choices, faults) = self.drawn.remove(&done.id).unwrap_or_default();
        let judged = done.judged;
        let choices = if judged.failures.is_empty() { Vec::new() } else { choices };
        let behaviours = self.tally.new_among(&judged.behaviours);
        let line = RunLine { run: done.id, faults, choices, behaviours, ..judged.into() };
        self.folder.keep(&line)?;
        self.count(&line);
        self.here += 1;
        self.report(&Event::Ended(&line));
        Ok(())
    }

    /// Counts a run that has ended, in this invocation or before.
    fn count(&mut self, line: &RunLine) {
        // The run without faults is played in each invocation.
        if line.run > 0 {
            self.ended.insert(line.run);
        }
        self.tally.count(line);
        if line.error.is_some() {
            self.error_count += 1;
            if self.errors.len() < MOST_ERRORS {
                self.errors.push(line.clone());
            }
        }
        for failure in &line.failures {
            self.note(failure, line.run, &line.choices);
        }
    }

    /// Notes a failure, unless it is known.
    fn note(&mut self, failure: &Failure, run: u64, choices: &[u64]) {
        let is_known = self.findings.iter().any(|finding| finding.failure == *failure)
            || self.regressed.iter().any(|one| one.failures.contains(failure))
            || self.pending.iter().any(|(other, _, _)| other == failure);
        if !is_known {
            self.pending.push_back((failure.clone(), run, choices.to_vec()));
        }
    }

    /// Notes the failures that were seen while others were shrunk, of which no run's line tells.
    fn note_others(&mut self) -> Result<(), HuntError> {
        let found: Vec<(usize, u64)> = self.findings.iter().map(|one| (one.finding, one.run)).collect();
        for (number, run) in found {
            for (failure, values) in self.folder.choices(number)?.others {
                self.note(&failure, run, &values);
            }
        }
        Ok(())
    }

    /// Plays the labs of earlier findings.
    fn regress(&mut self) -> Result<(), Halt> {
        for path in self.how.regress {
            let target = Arc::new(Target::read(path)?);
            let job = Job { id: 0, target, faults: Vec::new(), purpose: Purpose::Search, keeps: false };
            let done = self.batch.play(vec![job])?.remove(0);
            let regressed = Regressed { lab: path.clone(), failures: done.judged.failures, error: done.judged.error };
            self.report(&Event::Regressed(&regressed));
            self.regressed.push(regressed);
        }
        Ok(())
    }

    /// Plays the run without faults, for the instants that matter.
    fn baseline(&mut self) -> Result<(), Halt> {
        let done = self.batch.play(vec![job(self.target, 0, Vec::new(), Purpose::Baseline, true)])?.remove(0);
        if let Some(error) = done.judged.error {
            return Err(HuntError::Baseline(error).into());
        }
        if let Some(results) = done.results {
            self.instants = Instants::of_results(&results);
            batch::remove(&results)?;
        }
        if self.how.is_systematic {
            self.grid = Some(Grid::of(&self.target.ground, &self.instants));
        }
        let line = RunLine { run: 0, ..done.judged.into() };
        if !self.folder.runs()?.iter().any(|known| known.run == 0) {
            self.folder.keep(&line)?;
            self.count(&line);
        }
        let (kinds, covered) = (self.instants.kinds(), self.covered());
        self.report(&Event::Baseline(kinds, covered));
        Ok(())
    }

    /// Makes findings of the failures that are none yet, once no run goes on.
    fn work_off(&mut self) -> Result<(), Halt> {
        while self.batch.pool.running() == 0
            && !self.has_enough()
            && let Some((failure, run, choices)) = self.pending.pop_front()
        {
            if !self.findings.iter().any(|finding| finding.failure == failure) {
                self.find(failure, run, choices)?;
            }
        }
        Ok(())
    }

    /// In how many runs each property held that must hold sometimes. A lab that is played once need not reach what its programs want.
    fn sometimes(&self) -> Vec<Reached> {
        let named = self.target.sometimes();
        if self.how.runs == 0 { self.tally.named(named) } else { self.tally.sometimes(&named) }
    }

    fn report(&mut self, event: &Event<'_>) {
        let position = self.position();
        (self.watch)(event, &position);
    }

    fn covered(&self) -> Option<Covered> {
        self.grid.as_ref().map(|grid| grid.covered(self.ended.len() as u64))
    }

    fn position(&self) -> Position {
        let sometimes = self.sometimes();
        let reached = sometimes.iter().filter(|property| property.runs > 0).count();
        Position {
            total: self.total(),
            ended: self.ended.len() as u64,
            errors: self.error_count,
            findings: self.findings.len(),
            reached: (reached, sometimes.len()),
            news: self.tally.news(),
            runs_per_minute: self.here as f64 * 60.0 / self.begun.elapsed().as_secs_f64().max(0.001),
            systematic: self.covered(),
        }
    }

    fn summary(&self) -> Result<Summary, HuntError> {
        let runs = self.ended.len() as u64;
        Ok(Summary {
            complete: self.has_enough()
                || self.pending.is_empty() && (runs >= self.total() || self.how.lasts.is_some()),
            interrupted: false,
            runs,
            errors: self.errors.clone(),
            error_count: self.error_count,
            runs_per_minute: self.position().runs_per_minute,
            news: self.tally.news(),
            since_new: self.tally.since_new(),
            behaviours: self.tally.behaviours(),
            systematic: self.covered(),
            kinds: self.target.ground.kinds(),
            findings: self.folder.findings()?,
            sometimes: self.sometimes(),
            undecided: self.tally.undecided(),
            never_decided: self.tally.never_decided(),
            regress: self.regressed.clone(),
        })
    }
}

fn job(target: &Arc<Target>, id: u64, faults: Vec<Fault>, purpose: Purpose, keeps: bool) -> Job {
    Job { id, target: Arc::clone(target), faults, purpose, keeps }
}

//! Plays the runs that have not ended yet, as many at once as there is room for.

use crate::child::{Ended, Found, Running, Start, run_of};
use crate::record::{Outcome as RunOutcome, RunRecord};
use crate::slots::Slots;
use crate::{Checked, Only, SweepError, SweepFolder};
use netloom_host::processors;
use netloom_host::signals::Signals;
use netloom_lab::Sweep;
use nix::sys::signal::Signal;
use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsString;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// How often to look for signals.
const TURN: Duration = Duration::from_millis(100);
/// How long a lab of a sweep that was killed may take to go.
const LONGEST_GOING: Duration = Duration::from_secs(60);
/// How long to wait before such a run is tried again.
const PAUSE: Duration = Duration::from_millis(500);

/// How a sweep is to be run.
#[derive(Clone, Debug)]
pub struct How<'a> {
    /// This program.
    pub program: &'a Path,
    /// The lab file.
    pub lab_file: &'a Path,
    /// Further options of `netloom run`.
    pub options: &'a [OsString],
    /// How many runs go on at once, at most.
    pub jobs: Option<usize>,
    /// Whether runs that failed are run again.
    pub retry: bool,
    /// The runs that may be started; none: all that have not ended.
    pub only: Option<&'a Only>,
}

/// A function that is called with each event of a sweep that goes on, and with the sweep's progress.
pub type Watch<'a> = dyn FnMut(&Event<'_>, &Position) + 'a;

/// An event in the course of a sweep.
#[derive(Debug)]
pub enum Event<'a> {
    /// The first run of the sweep is about to start.
    Begins,
    /// A run has started.
    Started,
    /// A run has ended.
    Ended(&'a RunRecord),
    /// The sweep is being stopped.
    Stopping,
}

/// The progress of a sweep.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Position {
    /// The number of runs of the sweep.
    pub total: u64,
    /// The number of runs that have ended, those of earlier invocations included.
    pub ended: u64,
    /// The number of runs that have ended and failed.
    pub failed: u64,
    /// The number of runs that go on.
    pub running: u64,
    /// The estimated time until the last run ends, from the runs of this invocation; none if none of them has ended.
    pub left: Option<Duration>,
}

/// How the running of a sweep came to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All runs have ended.
    Complete,
    /// A user ended the sweep.
    Interrupted,
    /// Results could not be written; why.
    NoRoom(String),
}

/// Runs all runs of a sweep that have not ended, and reports each event to `watch`. Ends early if it is interrupted, or if results
/// cannot be written; then the runs that go on are ended, too.
///
/// # Errors
/// If a run cannot be started, or what is known of it cannot be kept. Runs that go on are ended before.
pub fn run_sweep(
    sweep: &Sweep,
    checked: &Checked,
    folder: &SweepFolder,
    how: &How<'_>,
    watch: &mut Watch<'_>,
) -> Result<Outcome, SweepError> {
    let signals = Signals::hold(&[]);
    let signals = signals.map_err(|error| SweepError::Machine(format!("holding signals back: {error}")))?;
    let mut runner = SweepRunner::new(sweep, checked, folder, how, signals)?;
    runner.report(watch, &Event::Begins);
    let mut failure = None;
    loop {
        if !runner.stopping
            && let Err(error) = runner.start_some(watch)
        {
            failure.get_or_insert(error);
            runner.stop(Signal::SIGINT, watch);
        }
        if runner.running.is_empty() && (runner.stopping || runner.waiting.is_empty()) {
            break;
        }
        if let Err(error) = runner.turn(watch) {
            failure.get_or_insert(error);
            runner.stop(Signal::SIGINT, watch);
        }
    }
    match failure {
        Some(error) => Err(error),
        None => Ok(runner.outcome),
    }
}

struct SweepRunner<'a> {
    sweep: &'a Sweep,
    checked: &'a Checked,
    folder: &'a SweepFolder,
    how: &'a How<'a>,
    signals: Signals,
    slots: Slots,
    /// The runs that have not begun.
    waiting: VecDeque<u64>,
    running: BTreeMap<u64, Running>,
    ends: (Sender<Ended>, Receiver<Ended>),
    position: Position,
    /// When this began, and how many runs had ended then.
    began: (Instant, u64),
    stopping: bool,
    outcome: Outcome,
    /// Until when to wait for labs of a sweep that was killed; and before which instant not to try.
    going: (Instant, Option<Instant>),
}

impl<'a> SweepRunner<'a> {
    fn new(
        sweep: &'a Sweep,
        checked: &'a Checked,
        folder: &'a SweepFolder,
        how: &'a How<'a>,
        signals: Signals,
    ) -> Result<Self, SweepError> {
        let total = sweep.points() * sweep.repetitions();
        let mut position = Position { total, ..Position::default() };
        let mut waiting = VecDeque::new();
        let is_left = |number| how.only.is_some_and(|only| !only.contains(number));
        for number in 0..total {
            match folder.record(number)? {
                Some(record) if record.outcome == RunOutcome::Failed && how.retry && is_left(number) => {
                    position.ended += 1;
                    position.failed += 1;
                }
                Some(record) if record.outcome == RunOutcome::Failed && how.retry => {
                    folder.forget(number)?;
                    waiting.push_back(number);
                }
                Some(record) => {
                    position.ended += 1;
                    position.failed += u64::from(record.outcome == RunOutcome::Failed);
                }
                None if is_left(number) => {}
                None => waiting.push_back(number),
            }
        }
        let allowed = processors::allowed().unwrap_or_default();
        let now = Instant::now();
        Ok(Self {
            sweep,
            checked,
            folder,
            how,
            signals,
            slots: Slots::new(allowed, how.jobs, !checked.clocks.any_real),
            waiting,
            running: BTreeMap::new(),
            ends: channel(),
            began: (now, position.ended),
            position,
            stopping: false,
            outcome: Outcome::Complete,
            going: (now + LONGEST_GOING, None),
        })
    }

    /// Starts runs while there is room.
    fn start_some(&mut self, watch: &mut Watch<'_>) -> Result<(), SweepError> {
        if self.going.1.is_some_and(|pause| Instant::now() < pause) {
            return Ok(());
        }
        while let Some(number) = self.waiting.front().copied() {
            let run = run_of(self.sweep, number);
            let need = self.checked.needs.get(usize::try_from(run.point).unwrap_or(usize::MAX)).copied().unwrap_or(0);
            let Some(share) = self.slots.take(need) else { return Ok(()) };
            self.waiting.pop_front();
            let prepared = self.sweep.run(run, &self.folder.name_of(number))?;
            let How { program, lab_file, options, .. } = *self.how;
            let start = Start { program, lab_file, options };
            let running = Running::start(&start, (number, share), &prepared, self.folder, &self.ends.0)?;
            self.running.insert(number, running);
            self.report(watch, &Event::Started);
        }
        Ok(())
    }

    /// Waits for the end of a run or a signal, for a moment.
    fn turn(&mut self, watch: &mut Watch<'_>) -> Result<(), SweepError> {
        while let Some(signal) = self.signals.next() {
            if self.outcome == Outcome::Complete {
                self.outcome = Outcome::Interrupted;
            }
            self.stop(if signal == Signal::SIGINT { signal } else { Signal::SIGTERM }, watch);
        }
        match self.ends.1.recv_timeout(TURN) {
            Ok(ended) => self.ended(ended, watch),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Ok(()),
        }
    }

    fn ended(&mut self, ended: Ended, watch: &mut Watch<'_>) -> Result<(), SweepError> {
        let number = ended.number;
        let running = self.running.remove(&number).expect("only what runs can end");
        let found = running.found(ended, self.sweep, self.folder, self.stopping);
        self.slots.give_back(&running.share);
        match found {
            Found::Nothing => {
                // A user may have ended this run alone.
                if !self.stopping {
                    self.outcome = Outcome::Interrupted;
                    self.stop(Signal::SIGTERM, watch);
                }
            }
            Found::NoRoom(why) => {
                self.outcome = Outcome::NoRoom(why);
                self.stop(Signal::SIGTERM, watch);
            }
            Found::Again if Instant::now() < self.going.0 => {
                self.waiting.push_front(number);
                self.going.1 = Some(Instant::now() + PAUSE);
            }
            Found::Again => {
                let name = self.folder.name_of(number);
                return Err(SweepError::Machine(format!(
                    "a lab named {name} is up: another sweep of a lab of this name goes on; wait for it, or give this lab another `name`"
                )));
            }
            Found::Record(record) => {
                self.folder.keep(number, &record)?;
                self.position.ended += 1;
                self.position.failed += u64::from(record.outcome == RunOutcome::Failed);
                self.update();
                watch(&Event::Ended(&record), &self.position);
            }
        }
        Ok(())
    }

    /// Starts no more runs, and ends those that go on.
    fn stop(&mut self, signal: Signal, watch: &mut Watch<'_>) {
        let is_new = !std::mem::replace(&mut self.stopping, true);
        if is_new {
            self.report(watch, &Event::Stopping);
        }
        self.running.values().for_each(|running| running.signal(signal));
    }

    fn update(&mut self) {
        self.position.running = self.running.len() as u64;
        let here = self.position.ended - self.began.1;
        let left = self.position.total - self.position.ended;
        let each = self.began.0.elapsed().as_secs_f64() / here.max(1) as f64;
        self.position.left = (here > 0).then(|| Duration::from_secs_f64(each * left as f64));
    }

    fn report(&mut self, watch: &mut Watch<'_>, event: &Event<'_>) {
        self.update();
        watch(event, &self.position);
    }
}

//! Runs that go on at once, as many as there are slots; each slot has a thread, and a processor of its own.

use crate::behaviours;
use crate::child::{Ended, Start};
use crate::error::HuntError;
use crate::faults::Fault;
use crate::judge::Checkers;
use crate::judged::Judged;
use crate::seat::Seat;
use crate::target::{NAMES, Purpose, Target};
use netloom_host::processors;
use netloom_judge::ExitCode;
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{JoinHandle, sleep};
use std::time::{Duration, Instant};

/// How long to look for a name that no other lab has: those of a hunt that was killed go within this time.
const LONGEST_GOING: Duration = Duration::from_secs(60);
/// How long to wait before names are tried again.
const PAUSE: Duration = Duration::from_millis(500);

/// A run that is to be played.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    /// The number by which its result is known.
    pub(crate) id: u64,
    pub(crate) target: Arc<Target>,
    pub(crate) faults: Vec<Fault>,
    pub(crate) purpose: Purpose,
    /// Whether its results are kept, for the one who takes them.
    pub(crate) keeps: bool,
}

/// A run that was played.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) id: u64,
    pub(crate) judged: Judged,
    /// Where its results are, if they were to be kept.
    pub(crate) results: Option<PathBuf>,
    /// The error that keeps the hunt from going on.
    pub(crate) fatal: Option<HuntError>,
}

/// The slots.
#[derive(Debug)]
pub(crate) struct Pool {
    slots: Vec<Slot>,
    idle: Vec<usize>,
    done: Receiver<(usize, Done)>,
    is_stopping: Arc<AtomicBool>,
}

#[derive(Debug)]
struct Slot {
    jobs: Option<Sender<Job>>,
    child: Arc<Mutex<Option<Child>>>,
    thread: Option<JoinHandle<()>>,
}

/// The process that a slot waits for; it leads a process group of its own.
#[derive(Clone, Copy, Debug)]
struct Child {
    pid: Pid,
    is_checker: bool,
}

impl Child {
    /// Asks it to end: a run by a signal that it knows, a checker so that it has no choice.
    fn end(self, signal: Signal) {
        // It may have ended already.
        let _ = if self.is_checker { killpg(self.pid, Signal::SIGKILL) } else { kill(self.pid, signal) };
    }
}

impl Pool {
    /// So many slots, but no more than there are names for their labs.
    pub(crate) fn new(start: &Start, jobs: usize) -> Result<Self, HuntError> {
        let jobs = jobs.clamp(1, NAMES);
        let (ended, done) = channel();
        let is_stopping = Arc::new(AtomicBool::new(false));
        let mut slots = Vec::new();
        for slot in 0..jobs {
            let (jobs_in, jobs_out) = channel::<Job>();
            let child = Arc::new(Mutex::new(None));
            let worker = Worker {
                slot,
                name: slot,
                width: jobs,
                seat: Seat::take(slot),
                start: start.clone(),
                child: Arc::clone(&child),
                is_stopping: Arc::clone(&is_stopping),
            };
            let ended_here = ended.clone();
            let work = move || worker.work(&jobs_out, &ended_here);
            let thread = std::thread::Builder::new().name("netloom-hunt".into()).spawn(work);
            let thread = thread.map_err(|error| HuntError::Machine(format!("starting a thread: {error}")))?;
            slots.push(Slot { jobs: Some(jobs_in), child, thread: Some(thread) });
        }
        Ok(Self { idle: (0..jobs).rev().collect(), slots, done, is_stopping })
    }

    /// How many slots there are.
    pub(crate) fn width(&self) -> usize {
        self.slots.len()
    }

    /// Whether another run can start at once.
    pub(crate) fn has_room(&self) -> bool {
        !self.idle.is_empty()
    }

    /// How many runs go on.
    pub(crate) fn running(&self) -> usize {
        self.slots.len() - self.idle.len()
    }

    /// Starts a run; there has to be room.
    pub(crate) fn start(&mut self, job: Job) {
        let slot = self.idle.pop().expect("whoever starts a run has looked for room");
        let jobs = self.slots[slot].jobs.as_ref().expect("the slots end with the pool");
        jobs.send(job).expect("a slot's thread goes on until its jobs end");
    }

    /// Waits for a run that ends within this time.
    pub(crate) fn next(&mut self, within: Duration) -> Option<Done> {
        match self.done.recv_timeout(within) {
            Ok((slot, done)) => {
                self.idle.push(slot);
                Some(done)
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => None,
        }
    }

    /// Asks all runs to end, once: a second signal would keep them from cleaning up.
    pub(crate) fn stop(&self, signal: Signal) {
        if self.is_stopping.swap(true, Ordering::Relaxed) {
            return;
        }
        for slot in &self.slots {
            if let Some(child) = *slot.child.lock().unwrap_or_else(PoisonError::into_inner) {
                child.end(signal);
            }
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.stop(Signal::SIGTERM);
        for slot in &mut self.slots {
            slot.jobs = None;
            if let Some(thread) = slot.thread.take() {
                // What it panicked about was said.
                let _ = thread.join();
            }
        }
    }
}

/// The thread of a slot, which plays its runs.
struct Worker {
    slot: usize,
    /// The number in the name of its labs.
    name: usize,
    /// How many slots there are, each of which has names of its own.
    width: usize,
    /// Runs in virtual time stay on one processor: only one of their kernels computes at a time.
    seat: Option<Seat>,
    start: Start,
    child: Arc<Mutex<Option<Child>>>,
    is_stopping: Arc<AtomicBool>,
}

impl Worker {
    fn work(mut self, jobs: &Receiver<Job>, ended: &Sender<(usize, Done)>) {
        if let Some(seat) = &self.seat {
            // Where that is refused, runs are on any processor.
            let _ = processors::stay_on(&[seat.processor]);
        }
        while let Ok(job) = jobs.recv() {
            let done = self.play(&job).unwrap_or_else(|error| Done {
                id: job.id,
                judged: Judged::error(error.to_string()),
                results: None,
                fatal: Some(error),
            });
            if ended.send((self.slot, done)).is_err() {
                return;
            }
        }
    }

    fn play(&mut self, job: &Job) -> Result<Done, HuntError> {
        let Ended { code, report } = match self.run(job) {
            // What was drawn makes no lab: a mistake of a generator, and nothing about the programs.
            Err(error @ HuntError::Lab(_)) => {
                return Ok(Done { id: job.id, judged: Judged::error(error.to_string()), results: None, fatal: None });
            }
            ended => ended?,
        };
        let mut checkers = Checkers { started: |pid| self.set(Some(pid), true) };
        let mut judged = job.target.judge.judge(code, &report, &mut checkers);
        if judged.error.is_none() {
            judged.behaviours = behaviours::of(&report.results);
        }
        self.set(None, false);
        let has_results = !report.results.as_os_str().is_empty();
        let folder = report.results;
        let results = Some(folder.clone()).filter(|_| has_results && job.keeps && judged.error.is_none());
        if results.is_none() && has_results {
            fs::remove_dir_all(&folder).map_err(HuntError::file(&folder))?;
        }
        Ok(Done { id: job.id, judged, results, fatal: None })
    }

    /// Runs the lab: under another name, if a lab of its name is up. That is one of another hunt, or of one that was killed and has not gone yet.
    fn run(&mut self, job: &Job) -> Result<Ended, HuntError> {
        let begun = Instant::now();
        loop {
            let text = job.target.play(self.name, &job.faults, job.purpose)?;
            let lab = (job.target.lab_file.as_path(), text.as_str());
            let has_report = job.purpose == Purpose::Finding;
            let ended = self.start.run(self.slot, lab, has_report, &mut |pid| self.set(Some(pid), false))?;
            self.set(None, false);
            let is_stopping = self.is_stopping.load(Ordering::Relaxed);
            if ended.code != Some(ExitCode::NoSuchLab) || is_stopping || begun.elapsed() > LONGEST_GOING {
                return Ok(ended);
            }
            self.name += self.width;
            if self.name >= NAMES {
                self.name = self.slot;
                sleep(PAUSE);
            }
        }
    }

    /// Notes which process is the one to end, and whether it is a checker.
    fn set(&self, pid: Option<u32>, is_checker: bool) {
        let child =
            pid.and_then(|pid| i32::try_from(pid).ok()).map(|pid| Child { pid: Pid::from_raw(pid), is_checker });
        *self.child.lock().unwrap_or_else(PoisonError::into_inner) = child;
        // Whoever asked all runs to end may have come before this one began.
        if let Some(child) = child.filter(|_| self.is_stopping.load(Ordering::Relaxed)) {
            child.end(Signal::SIGTERM);
        }
    }
}

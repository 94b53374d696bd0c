//! Which tasks of an exercise are met, from what is measured while a lab is up. Tasks are met one after the other, each when all
//! its checks hold at one look, and stay so.
//!
//! Checks look at everything since time zero, or at the last seconds: for these, what pipes had counted is kept from look to
//! look. The last seconds of a task begin when the one before it was met, at the earliest.

use super::parts::{Part, parts_of};
use super::watches::{Sample, Watch};
use super::{Look, Measurements, row};
use crate::measure::{Mark, marks};
use crate::{ExerciseReport, ExpectationRow, TaskRow};
use netloom_figures::Distribution;
use netloom_lab::{Expectation, Plan, Subject, TaskPlan, Window};
use netloom_units::Duration;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The progress of the tasks of a lab's exercise.
#[derive(Debug, Default)]
pub struct Tasks {
    /// When each was met, of those that are.
    met: Vec<Duration>,
    /// What was found of each task's checks.
    found: Vec<Vec<ExpectationRow>>,
    /// The pipes of which the last seconds are looked at.
    pipes: BTreeSet<usize>,
    /// Whether delay or lateness of them is.
    wants_spreads: bool,
    /// For how long looks are kept.
    longest: Duration,
    looks: VecDeque<Past>,
}

/// What was seen at an earlier look, of some pipes.
#[derive(Debug)]
struct Past {
    at: Duration,
    pipes: BTreeMap<usize, PastPipe>,
}

#[derive(Debug)]
struct PastPipe {
    mark: Mark,
    spread: Option<(Distribution, Distribution)>,
    /// Of some of its packets.
    parts: Vec<Part>,
    /// The most that waited since the look before, as far as it is known.
    waited: u64,
}

impl Tasks {
    /// Creates the tasks of `plan`, all of them still to be done.
    pub fn of(plan: &Plan) -> Self {
        let all = || plan.exercise.iter().flat_map(|exercise| &exercise.tasks);
        let recent = || all().filter(|task| task.last.is_some()).flat_map(TaskPlan::terms);
        let links: BTreeSet<usize> = recent()
            .filter_map(|term| match &term.subject {
                Subject::Link { link, .. } => Some(*link),
                _ => None,
            })
            .collect();
        let pipes = plan.pipes().enumerate().filter(|(_, pipe)| links.contains(&pipe.link));
        let unseen = |task: &TaskPlan| unmeasured(&task.checks, "it was not looked at yet");
        Self {
            met: Vec::new(),
            found: all().map(unseen).collect(),
            pipes: pipes.map(|(number, _)| number).collect(),
            wants_spreads: recent()
                .any(|term| matches!(&term.subject, Subject::Link { metric, .. } if super::look::is_spread(*metric))),
            longest: all().filter_map(|task| task.last).max().unwrap_or_default(),
            looks: VecDeque::new(),
        }
    }

    /// Whether all tasks are met.
    pub fn is_over(&self) -> bool {
        self.met.len() == self.found.len()
    }

    /// Judges the next task by what was measured so far, and those behind it for as long as they are met. Returns the places of the tasks
    /// that are met now and were not before.
    pub fn look(&mut self, measured: &Measurements<'_>) -> Vec<usize> {
        let now = measured.duration();
        let before = self.met.len();
        self.keep(measured, now);
        let tasks = measured.plan.exercise.as_ref().map_or(&[][..], |exercise| &exercise.tasks);
        while let Some(task) = tasks.get(self.met.len()) {
            let found = self.judged(task, measured, now);
            let is_met = found.iter().all(|row| row.met);
            self.found[self.met.len()] = found;
            if !is_met {
                break;
            }
            self.met.push(now);
        }
        (before..self.met.len()).collect()
    }

    /// Returns the progress of the exercise; an empty report if `plan` has none.
    pub fn report(&self, plan: &Plan) -> ExerciseReport {
        let Some(exercise) = &plan.exercise else { return ExerciseReport::default() };
        let task = |(place, task): (usize, &TaskPlan)| TaskRow {
            title: task.title.clone(),
            text: task.text.clone(),
            line: task.line,
            last_ns: task.last.map(Duration::as_nanos),
            checks: self.found[place].clone(),
            met_ns: self.met.get(place).map(|at| at.as_nanos()),
            next: place == self.met.len(),
            hints: task.hints.clone(),
        };
        ExerciseReport {
            title: exercise.title.clone(),
            text: exercise.text.clone(),
            tasks: exercise.tasks.iter().enumerate().map(task).collect(),
        }
    }

    fn judged(&self, task: &TaskPlan, measured: &Measurements<'_>, now: Duration) -> Vec<ExpectationRow> {
        let Some(last) = task.last else {
            return task.checks.iter().map(|check| known(check, measured, now)).collect();
        };
        let began = self.met.last().copied().unwrap_or_default();
        let is_early = |past: &&Past| past.at + last <= now && past.at >= began;
        let Some(from) = self.looks.iter().rev().find(is_early) else {
            return unmeasured(&task.checks, &format!("the last {last} have not passed yet"));
        };
        let window = Window { from: from.at, to: now };
        let (windows, watches) = (self.windows(from, measured, now), self.watches(window, measured));
        let recent = Measurements { windows: &windows, watches: &watches, ..*measured };
        task.checks.iter().map(|check| row(&check.within(window), &recent)).collect()
    }

    /// What had been counted at both ends of the last seconds.
    fn windows(&self, from: &Past, measured: &Measurements<'_>, now: Duration) -> BTreeMap<Duration, Look> {
        let mut first = Look { marks: vec![Mark::default(); measured.pipes.len()], ..Look::default() };
        let mut last = Look { marks: measured.ends.to_vec(), ..Look::default() };
        for (number, past) in &from.pipes {
            first.marks[*number] = past.mark;
            first.parts.insert(*number, past.parts.clone());
            last.parts.insert(*number, parts_of(measured.last.at, &measured.last.pipes[*number]));
            if let Some(spread) = &past.spread {
                first.spreads.insert(*number, spread.clone());
                let report = &measured.last.pipes[*number];
                last.spreads.insert(*number, (report.delay.clone(), report.lateness.clone()));
            }
        }
        BTreeMap::from([(from.at, first), (now, last)])
    }

    /// What was seen in between.
    fn watches(&self, window: Window, measured: &Measurements<'_>) -> super::Watches {
        let within: Vec<&Past> = self.looks.iter().filter(|past| past.at >= window.from).collect();
        let mut peaks = vec![0; measured.pipes.len()];
        let mut series = vec![None; measured.pipes.len()];
        for number in &self.pipes {
            let seen = || within.iter().filter_map(|past| Some((past.at, past.pipes.get(number)?)));
            let waited = seen().map(|(at, past)| match at == window.from {
                true => past.mark.counters.queued.packets,
                false => past.waited,
            });
            peaks[*number] = waited.max().unwrap_or_default();
            series[*number] = Some(seen().map(|(at, past)| Sample::new(at, &past.mark.counters)).collect());
        }
        super::Watches { windows: vec![Watch { window, peaks }], records: Vec::new(), series }
    }

    /// Keeps what tasks that come may want of this look.
    fn keep(&mut self, measured: &Measurements<'_>, now: Duration) {
        if self.pipes.is_empty() && self.longest.is_zero() {
            return;
        }
        while self.looks.get(1).is_some_and(|past| past.at + self.longest <= now) {
            self.looks.pop_front();
        }
        let all = marks(measured.last);
        let before = self.looks.back();
        let pipe = |number: &usize| {
            let (mark, report) = (all[*number], &measured.last.pipes[*number]);
            let record = before.and_then(|past| past.pipes.get(number)).map_or(0, |past| past.mark.counters.queue_peak);
            let peak = mark.counters.queue_peak;
            let waited = if peak > record { peak } else { mark.counters.queued.packets };
            let spread = self.wants_spreads.then(|| (report.delay.clone(), report.lateness.clone()));
            let parts = parts_of(measured.last.at, report);
            (*number, PastPipe { mark, spread, parts, waited })
        };
        let pipes = self.pipes.iter().map(pipe).collect();
        self.looks.push_back(Past { at: now, pipes });
    }
}

/// Returns the result of every expectation of the run, as far as it is known so far, in the order of the lab file.
pub fn so_far(measured: &Measurements<'_>) -> Vec<ExpectationRow> {
    let now = measured.duration();
    measured.plan.expect.iter().map(|one| known(one, measured, now)).collect()
}

fn known(check: &Expectation, measured: &Measurements<'_>, now: Duration) -> ExpectationRow {
    match ends(check).filter(|end| *end > now) {
        Some(end) => unmeasured_row(check, &format!("this is known {end} after time zero")),
        None => row(check, measured),
    }
}

/// When the last part of the run ends that a check is about.
fn ends(check: &Expectation) -> Option<Duration> {
    check.terms().filter_map(|term| term.window).map(|window| window.to).max()
}

fn unmeasured(checks: &[Expectation], why: &str) -> Vec<ExpectationRow> {
    checks.iter().map(|check| unmeasured_row(check, why)).collect()
}

fn unmeasured_row(check: &Expectation, why: &str) -> ExpectationRow {
    let explanation = check.unmeasured(why).explanation;
    ExpectationRow { text: check.text.clone(), line: check.line, met: false, explanation }
}

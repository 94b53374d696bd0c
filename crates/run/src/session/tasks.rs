//! Looks at the tasks of an exercise while the lab is up.

use super::exercise::STEP;
use super::sampling::is_sampled;
use super::stage::Stage;
use super::state::Session;
use netloom_figures::Snapshot;
use netloom_judge::expectations::Measurements;
use netloom_judge::measure::{Mark, marks};
use netloom_judge::{ExerciseReport, RunError};
use netloom_lab::CommandMetric;
use netloom_units::Duration;
use serde_json::json;

/// The same of a lab in which a look costs more.
const STEP_OF_MANY: Duration = Duration::from_secs(1);
/// Links of such a lab.
const MANY: usize = 300;
/// A lab that is up for long is looked at as a whole in this share of its age, so that what is kept of it stays small.
const SHARE: u64 = 1_000;

impl Session<'_> {
    /// Looks at the tasks, when it is time to.
    pub(super) fn look_at_tasks(&mut self) -> Result<(), RunError> {
        let Stage::Running(run_state) = &self.context.stage else { return Ok(()) };
        let now = self.context.links.now();
        if self.exercise.next.is_none_or(|at| at > now) {
            return Ok(());
        }
        let (zero, first) = (run_state.zero, run_state.first.clone());
        let last = self.context.links.snapshot()?;
        self.take_samples()?;
        let elapsed = last.at.since(zero);
        if !is_sampled(self.context.job) && self.exercise.next_sample <= elapsed {
            self.exercise.next_sample = elapsed + Duration::from_nanos(elapsed.as_nanos() / SHARE);
            let counters: Vec<_> = last.pipes.iter().map(|pipe| pipe.counters).collect();
            self.watches.sample(elapsed, &counters);
        }
        for task in self.tasks_met_by(&last, &first) {
            let tasks = &self.context.job.plan.exercise.as_ref().expect("there is a task").tasks;
            let title = &tasks[task].title;
            self.context.report(format!("task {} of {} is met: {title}", task + 1, tasks.len()));
            self.context.note("task met", json!({ "task": task + 1, "of": tasks.len(), "title": title }))?;
        }
        let step = if self.context.job.plan.links.len() > MANY { STEP_OF_MANY } else { STEP };
        self.exercise.next = (!self.exercise.tasks.is_over()).then(|| now + step);
        Ok(())
    }

    /// Takes in what was measured, and says which tasks are met by it.
    pub(super) fn tasks_met_by(&mut self, last: &Snapshot, first: &[Mark]) -> Vec<usize> {
        let mut tasks = std::mem::take(&mut self.exercise.tasks);
        let met = self.with_measurements(last, first, |measured| tasks.look(measured));
        self.exercise.tasks = tasks;
        met
    }

    /// How far the tasks are; none of a lab without an exercise.
    pub(super) fn tasks_report(&self) -> Option<ExerciseReport> {
        let plan = &self.context.job.plan;
        plan.exercise.as_ref().map(|_| self.exercise.tasks.report(plan))
    }

    /// Shows `look` all that was measured so far.
    pub(super) fn with_measurements<T>(
        &self,
        last: &Snapshot,
        first: &[Mark],
        look: impl FnOnce(&Measurements<'_>) -> T,
    ) -> T {
        let of_command = |event: usize, metric: &CommandMetric| {
            let command = self.programs.commands.iter().find(|command| command.event == event);
            command.ok_or("it was not started")?.measured(metric, &self.context.job.folder)
        };
        look(&Measurements {
            plan: &self.context.job.plan,
            of_command: &of_command,
            pipes: self.context.links.pipes(),
            last,
            first,
            ends: &marks(last),
            windows: &self.windows,
            watches: &self.watches,
            tcp: &self.measuring.watch.tcp,
            nodes: &self.measuring.watch.nodes,
        })
    }
}

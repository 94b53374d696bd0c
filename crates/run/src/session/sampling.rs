//! Samples of pipes: the driver takes them at their instants, and the session writes them down.

use super::context::Context;
use super::stage::{RunState, Stage};
use super::state::Session;
use netloom_dataplane::{Sampled, Sampling, ScheduledEvent, Task};
use netloom_judge::RunError;
use netloom_provision::Event;
use netloom_provision::job::{Job, Mode};
use netloom_results::{INTERVAL, SampleSettings, Sampler, WriteError};
use netloom_units::Instant;

/// How often samples are collected for each report of progress.
const LOOKS_PER_PROGRESS: u32 = 2;

/// Whether the lab is sampled. One that is up may stay for days: only its file can ask for samples.
pub(super) fn is_sampled(job: &Job) -> bool {
    job.mode == Mode::Run || job.plan.sampling.is_some()
}

/// What writes them down; none if the lab is not sampled.
pub(super) fn sampler(context: &Context<'_>) -> Result<Option<Sampler>, WriteError> {
    let job = context.job;
    let create = || Sampler::create(&job.folder, context.links.places(), settings(context));
    if is_sampled(job) { create().map(Some) } else { Ok(None) }
}

/// What the driver is asked for, from time zero on.
pub(super) fn scheduled_event(context: &Context<'_>, number: u64, zero: Instant) -> Option<ScheduledEvent> {
    let SampleSettings { step, delays } = settings(context);
    let task = Task::Sample(Sampling { every: step, delays });
    is_sampled(context.job).then_some(ScheduledEvent { number, at: zero, task })
}

fn settings(context: &Context<'_>) -> SampleSettings {
    SampleSettings::of(&context.job.plan, INTERVAL)
}

impl Session<'_> {
    /// Collects what was sampled, when it is time to.
    pub(super) fn sample(&mut self) -> Result<(), RunError> {
        let now = self.context.links.now();
        match &mut self.context.stage {
            Stage::Running(run_state) if run_state.sampler.is_some() && run_state.next_samples <= now => {
                while run_state.next_samples <= now {
                    run_state.next_samples = run_state.next_samples + INTERVAL;
                }
            }
            _ => return Ok(()),
        }
        // The driver answers when it has come to the present, and has sampled until then.
        let (at, counters) = self.context.links.counters()?;
        self.take_samples()?;
        self.note_firings()?;
        let Stage::Running(RunState { zero, sampler: Some(sampler), samples, .. }) = &mut self.context.stage else {
            return Ok(());
        };
        sampler.look()?;
        // A lab that is up goes on for as long as it is wanted, and reports no progress.
        if self.context.job.mode == Mode::Up {
            return Ok(());
        }
        *samples += 1;
        if samples.is_multiple_of(LOOKS_PER_PROGRESS) {
            let busiest = sampler.busiest().cloned();
            self.context.guard.report_if_ready(&Event::Progress { at_ns: at.since(*zero).as_nanos(), busiest });
        }
        self.look_for_life(at, counters.iter().map(|pipe| pipe.arrived.packets).sum())
    }

    /// Writes down what was sampled since the last call.
    pub(super) fn take_samples(&mut self) -> Result<(), RunError> {
        let Stage::Running(RunState { zero, sampler: Some(sampler), .. }) = &mut self.context.stage else {
            return Ok(());
        };
        for Sampled { at, pipes, left_out } in self.context.links.samples() {
            let elapsed = at.since(*zero);
            sampler.left_out(left_out);
            sampler.sample(elapsed, pipes.into_iter().map(|(pipe, sample)| (pipe.0 as usize, sample)))?;
            self.watches.sample(elapsed, sampler.counters());
        }
        Ok(())
    }
}

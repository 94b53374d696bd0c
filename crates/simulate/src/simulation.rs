//! A simulation from its plan to a results folder: the figures and files of a run, as far as there is something to say
//! without programs and a machine.

mod delays;
mod events;
mod pipes;
mod sources;

use netloom_fabric::TraceObserver;
use netloom_judge::{
    ExitCode, JournalRow, Phases, PipePlace, RunError, SampleReport, SimEffort, SimReport, StationRow,
};
use netloom_lab::Clock;
use netloom_provision::results_folder::results_folder;
use netloom_provision::{Event, RunRequest};
use netloom_results::capture::Pace;
use netloom_results::journal::Journal;
use netloom_results::{
    Folder, INTERVAL, SampleSettings, Sampler, WriteError, graph, interval_within, page, plots, write_pipe_table,
};
use netloom_sim::{Outcome, Sample, SimError};
use netloom_units::{Duration, Instant};
use std::time;

/// A lab to simulate.
#[derive(Clone, Debug)]
pub struct SimRequest {
    /// The lab, its file and where the results go.
    pub run: RunRequest,
    /// How long its sources send.
    pub duration: Duration,
}

/// Simulates a lab and leaves its results.
///
/// # Errors
/// When there is nothing to simulate, a source cannot reach its sink, or results cannot be written;
/// [`RunError::exit_code`] says which.
pub fn simulate(request: &SimRequest, sink: &mut dyn FnMut(&Event)) -> Result<SimReport, RunError> {
    let plan = &request.run.plan;
    // What is refused is refused before anything is written.
    netloom_sim::check(plan).map_err(refused)?;
    let folder = results_folder(&request.run, "sim", Clock::Virtual, None, (None, Default::default()))?;
    folder.write_json("plan.json", &plan.description())?;
    graph::write_picture(&folder, plan)?;
    folder.become_latest()?;
    let settings = SampleSettings::of(plan, interval_within(request.duration));
    let mut recorder = Recorder::create(request, &folder, settings, sink)?;
    let mut watch = |sample: &Sample<'_>| recorder.take(sample);
    let (journal, trace_observer) = start_journal(request, &folder)?.unzip();
    let began = time::Instant::now();
    let outcome = netloom_sim::simulate(plan, request.duration, settings.step, trace_observer, &mut watch);
    let (outcome, over) = (outcome.map_err(refused)?, time::Instant::now());
    let samples = recorder.finish()?;
    let journal = journal.map(Journal::finish).transpose()?;
    events::write(&folder, plan, outcome.duration, &outcome.firings)?;
    let mut report = SimReport { samples: Some(samples), ..report(request, &folder, &outcome) };
    report.effort = effort(request.run.begun, began, over, outcome.sent);
    report.warnings.extend(journal.as_ref().and_then(JournalRow::remark));
    report.journal = journal;
    write_tables(&folder, &report)?;
    if request.run.plots {
        report.plots = plots::draw(&folder, plan, settings.step)?;
        delays::draw(&folder, &outcome.sources)?;
    }
    crate::delays::write_simulated(&folder, plan, &outcome.pipes)?;
    report.page = request.run.page.then(|| page::FILE.into());
    report.effort.phases.results_ns = nanos(over.elapsed());
    write_report(&folder, &report)?;
    if request.run.page {
        page::write(folder.path())?;
        // The page took time, too.
        report.effort.phases.results_ns = nanos(over.elapsed());
        write_report(&folder, &report)?;
    }
    Ok(report)
}

/// The cost of a simulation that was asked for at `begun` and computed from `began` to `over`, but for its results.
fn effort(begun: time::Instant, began: time::Instant, over: time::Instant, packets: u64) -> SimEffort {
    let wall = over.saturating_duration_since(began);
    let phases =
        Phases { setup_ns: nanos(began.saturating_duration_since(begun)), lab_ns: nanos(wall), ..Phases::default() };
    let packets_per_wall_second = packets as f64 / wall.as_secs_f64().max(1e-9);
    SimEffort { wall_ns: nanos(wall), packets, packets_per_wall_second, phases }
}

fn nanos(span: time::Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

/// A journal, and what takes notes for it.
type Started = (Journal, Box<dyn TraceObserver>);

/// The journal that the plan wants.
fn start_journal(request: &SimRequest, folder: &Folder) -> Result<Option<Started>, RunError> {
    let started = Journal::start(&request.run.plan, folder, Pace::Virtual, &[Vec::new()])?;
    Ok(started.and_then(|(journal, trace_observers)| {
        journal.end(Instant::ZERO + request.duration);
        let trace_observer: Box<dyn TraceObserver> = trace_observers.into_iter().next()?;
        Some((journal, trace_observer))
    }))
}

#[expect(clippy::needless_pass_by_value, reason = "made for map_err")]
fn refused(error: SimError) -> RunError {
    let code = match error {
        SimError::NoTraffic => ExitCode::Usage,
        SimError::TooManySources | SimError::Unreachable(_) | SimError::TooLong(_) | SimError::StandsStill(_) => {
            ExitCode::LabFile
        }
    };
    RunError::Reported { code, message: error.to_string() }
}

/// Writes `samples.csv`, and tells how far the simulation is.
struct Recorder<'a> {
    sampler: Sampler,
    sink: &'a mut dyn FnMut(&Event),
    told: Instant,
    failed: Option<WriteError>,
}

impl<'a> Recorder<'a> {
    fn create(
        request: &SimRequest,
        folder: &Folder,
        settings: SampleSettings,
        sink: &'a mut dyn FnMut(&Event),
    ) -> Result<Self, WriteError> {
        let plan = &request.run.plan;
        let pipes: Vec<_> = plan.pipes().map(|pipe| (pipe.link_name.to_owned(), PipePlace::of(&pipe))).collect();
        sink(&Event::Started { duration_ns: Some(request.duration.as_nanos()) });
        Ok(Self { sampler: Sampler::create(folder, pipes, settings)?, sink, told: Instant::ZERO, failed: None })
    }

    fn take(&mut self, sample: &Sample<'_>) {
        if self.failed.is_none() {
            let pipes = sample.pipes.iter().copied().enumerate();
            self.failed = self.sampler.sample(sample.at.since(Instant::ZERO), pipes).err();
        }
        if sample.at.since(self.told) >= INTERVAL {
            self.told = sample.at;
            self.failed = self.failed.take().or(self.sampler.look().err());
            let busiest = self.sampler.busiest().cloned();
            (self.sink)(&Event::Progress { at_ns: sample.at.as_nanos(), busiest });
        }
    }

    fn finish(self) -> Result<SampleReport, WriteError> {
        self.failed.map_or_else(|| self.sampler.finish(), Err)
    }
}

fn report(request: &SimRequest, folder: &Folder, outcome: &Outcome) -> SimReport {
    let plan = &request.run.plan;
    SimReport {
        lab: plan.name.clone(),
        results: folder.path().to_owned(),
        seed: plan.seed.get(),
        duration_ns: outcome.duration.as_nanos(),
        pipes: pipes::rows(plan, outcome),
        stations: StationRow::of_plan(plan, outcome.pipes.iter().map(|pipe| pipe.stations.as_slice())),
        sources: sources::rows(plan, outcome),
        skipped: outcome.skipped.clone(),
        warnings: request.run.warnings.clone(),
        plots: None,
        samples: None,
        journal: None,
        page: None,
        handed_out_packets: outcome.handed_out,
        effort: SimEffort::default(),
    }
}

fn write_tables(folder: &Folder, report: &SimReport) -> Result<(), WriteError> {
    write_pipe_table(folder, &report.pipes)?;
    folder.write_json("pipes.json", &report.pipes)?;
    if !report.stations.is_empty() {
        folder.write_json("stations.json", &report.stations)?;
    }
    sources::write_table(folder, &report.sources)?;
    folder.write_json("sources.json", &report.sources)
}

fn write_report(folder: &Folder, report: &SimReport) -> Result<(), WriteError> {
    folder.write_json("report.json", report)?;
    let text = netloom_results::render::simulation(report);
    folder.write("summary.txt", anstream::adapter::strip_str(&text).to_string())
}

#[cfg(test)]
mod tests;

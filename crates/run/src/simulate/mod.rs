//! A simulation from its plan to a results folder: the figures and files of a run, as far as there is something to say
//! without programs and a machine.

mod delays;
mod events;
mod pipes;
mod sources;

use crate::direction::PipePlace;
use crate::results::{Folder, results_folder, write_pipe_table};
use crate::sampler::{INTERVAL, Sampler};
use crate::{Event, ExitCode, PipeRow, Plots, RunError, RunRequest, plots};
use netloom_lab::Clock;
use netloom_link::PipeCounters;
use netloom_sim::{Outcome, Sample, SimError};
use netloom_units::{Duration, Instant};
use serde::{Deserialize, Serialize};
pub use sources::SourceRow;
use std::path::{Path, PathBuf};

/// A plot has at least so many points, unless that would be more than one per microsecond.
const POINTS: u64 = 400;
const LEAST_INTERVAL: Duration = Duration::from_micros(1);

/// A lab to simulate.
#[derive(Clone, Debug)]
pub struct SimRequest {
    /// The lab, its file and where the results go.
    pub run: RunRequest,
    /// For how long its sources send.
    pub duration: Duration,
    /// Whether plots are drawn.
    pub plots: bool,
}

/// All that a simulation found out. Every number carries its unit in its name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SimReport {
    /// The lab's name.
    pub lab: String,
    /// The folder with the results.
    pub results: PathBuf,
    /// From which all chance was drawn.
    pub seed: u64,
    /// For how long sources sent.
    pub duration_ns: u64,
    /// One row per link and direction, as of a run; nothing is ever late.
    pub pipes: Vec<PipeRow>,
    /// One row per source.
    pub sources: Vec<SourceRow>,
    /// Programs of the timeline, which a simulation leaves out.
    pub skipped: Vec<String>,
    /// What to check before the results are trusted.
    pub warnings: Vec<String>,
    /// The pictures, in the results folder; none if they were not wanted.
    #[serde(default)]
    pub plots: Option<Plots>,
    /// How often a packet came out of a link.
    pub handed_out_packets: u64,
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
    let folder = results_folder(&request.run, "sim", Clock::Virtual, None)?;
    folder.write_json("plan.json", &plan.description())?;
    folder.become_latest()?;
    let mut recorder = Recorder::create(request, &folder, sink)?;
    let mut watch = |sample: &Sample<'_>| recorder.take(sample);
    let outcome = netloom_sim::simulate(plan, request.duration, interval(request.duration), &mut watch);
    let outcome = outcome.map_err(refused)?;
    recorder.finish()?;
    events::write(&folder, plan, outcome.duration)?;
    let mut report = report(request, &folder, &outcome);
    write_tables(&folder, &report)?;
    if request.plots {
        report.plots = plots::draw(&folder, plan, interval(request.duration))?;
        delays::draw(&folder, &outcome.sources)?;
    }
    write_report(&folder, &report)?;
    plots::write_page(&folder, &report.lab, report.plots.as_ref())?;
    Ok(report)
}

/// How often pipes were looked at in the run or simulation that left this folder.
pub(crate) fn sample_interval(folder: &Path) -> Duration {
    /// As much of the report as is needed.
    #[derive(Deserialize)]
    struct Length {
        duration_ns: u64,
    }
    let length = || {
        // Only simulations have sources.
        folder.join("sources.json").metadata().ok()?;
        let report = std::fs::read(folder.join("report.json")).ok()?;
        serde_json::from_slice::<Length>(&report).ok()
    };
    length().map_or(INTERVAL, |length| interval(Duration::from_nanos(length.duration_ns)))
}

/// How often pipes are looked at: as often as those of a run, and more often in a short simulation.
fn interval(duration: Duration) -> Duration {
    INTERVAL.min(Duration::from_nanos(duration.as_nanos() / POINTS)).max(LEAST_INTERVAL)
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
    failed: Option<RunError>,
}

impl<'a> Recorder<'a> {
    fn create(request: &SimRequest, folder: &Folder, sink: &'a mut dyn FnMut(&Event)) -> Result<Self, RunError> {
        let plan = &request.run.plan;
        let pipes: Vec<_> = plan.pipes().map(|pipe| (pipe.link_name.to_owned(), PipePlace::of(&pipe))).collect();
        sink(&Event::Started { duration_ns: Some(request.duration.as_nanos()) });
        Ok(Self { sampler: Sampler::create(folder, pipes, Instant::ZERO)?, sink, told: Instant::ZERO, failed: None })
    }

    fn take(&mut self, sample: &Sample<'_>) {
        let counters: Vec<PipeCounters> = sample.pipes.to_vec();
        if self.failed.is_none() {
            self.failed = self.sampler.sample(sample.at, sample.at.since(Instant::ZERO), counters).err();
        }
        if sample.at.since(self.told) >= INTERVAL {
            self.told = sample.at;
            let busiest = self.sampler.busiest().cloned();
            (self.sink)(&Event::Progress { at_ns: sample.at.as_nanos(), busiest });
        }
    }

    fn finish(self) -> Result<(), RunError> {
        self.failed.map_or(Ok(()), Err)
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
        sources: sources::rows(plan, outcome),
        skipped: outcome.skipped.clone(),
        warnings: request.run.warnings.clone(),
        plots: None,
        handed_out_packets: outcome.handed_out,
    }
}

fn write_tables(folder: &Folder, report: &SimReport) -> Result<(), RunError> {
    write_pipe_table(folder, &report.pipes)?;
    folder.write_json("pipes.json", &report.pipes)?;
    sources::write_table(folder, &report.sources)?;
    folder.write_json("sources.json", &report.sources)
}

fn write_report(folder: &Folder, report: &SimReport) -> Result<(), RunError> {
    folder.write_json("report.json", report)?;
    let text = crate::render::simulation(report);
    folder.write("summary.txt", anstream::adapter::strip_str(&text).to_string())
}

#[cfg(test)]
mod tests;

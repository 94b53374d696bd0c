//! Pictures of a run or a simulation: what each pipe carried, what waited in it and what it dropped, and what happened
//! meanwhile. They are drawn from the files of the results folder alone, so that they can be drawn again at any time.

mod data;
mod events;
mod faults;
mod picture;
mod samples;
mod tcp;
#[cfg(test)]
mod tests;

use crate::Folder;
use crate::regular;
use crate::sampler::sample_interval;
use crate::{ReadError, WriteError};
pub(crate) use data::{Planned, Subject};
pub(crate) use events::Log;
pub(crate) use faults::FaultSpan;
use netloom_judge::Plots;
use netloom_lab::Plan;
use netloom_units::Duration;
pub(crate) use samples::{Key, Traffic, totals, totals_of_rows};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
pub(crate) use tcp::{Curve as TcpCurve, Name as TcpName, busiest as tcp_connections};

/// The folder of the pictures, in the results.
const FOLDER: &str = "plots";
/// How many pictures are drawn by default: those of the pipes that carried most.
const MOST: usize = 16;
/// Points that a curve of a picture has at most; more could not be told apart.
const MOST_SPANS: usize = 400;

/// Which pictures are wanted.
#[derive(Clone, Debug, Default)]
pub struct PlotRequest {
    /// The results folder.
    pub folder: PathBuf,
    /// Only pipes of these links; none: all.
    pub links: Vec<String>,
    /// How many at most, the busiest first; none: 16.
    pub most: Option<usize>,
}

/// Draws a run or a simulation when it is over and its tables are written; none if nothing happened in any pipe.
pub fn draw(folder: &Folder, plan: &Plan, interval: Duration) -> Result<Option<Plots>, ReadError> {
    let subjects = data::of_plan(plan);
    draw_subjects(folder.path(), subjects, &[], MOST, interval)
}

/// Which lab a results folder is of, and its pipes.
pub(crate) fn planned(folder: &Path) -> Result<Planned, ReadError> {
    data::of_folder(folder)
}

/// What happened in the run that left a results folder.
pub(crate) fn log(folder: &Path) -> Result<Log, ReadError> {
    events::read(&folder.join("events.jsonl"))
}

/// What happened in each of the pipes `wanted`, with at most so many `points`. Samples are `interval` apart.
pub(crate) fn traffic(
    samples: &Path,
    wanted: &[Key],
    interval: Duration,
    end: Option<f64>,
    points: usize,
) -> Result<Vec<Traffic>, ReadError> {
    samples::read(samples, wanted, (interval, points), end)
}

/// Draws the pictures of a results folder.
///
/// # Errors
/// When it is not a results folder, has no such link, or cannot be written.
pub fn plot_results(request: &PlotRequest) -> Result<Option<Plots>, ReadError> {
    let folder = &request.folder;
    let planned = data::of_folder(folder)?;
    if let Some(unknown) = request.links.iter().find(|link| !planned.pipes.iter().any(|pipe| pipe.link == **link)) {
        let message = format!("{}: no link is called `{unknown}` in this lab", folder.display());
        return Err(ReadError::Unfit(message));
    }
    let most = request.most.unwrap_or(MOST);
    let interval = sample_interval(folder);
    draw_subjects(folder, planned.pipes, &request.links, most, interval)
}

fn draw_subjects(
    folder: &Path,
    mut subjects: Vec<Subject>,
    links: &[String],
    most: usize,
    interval: Duration,
) -> Result<Option<Plots>, ReadError> {
    let samples = folder.join("samples.csv");
    // A run that never reached time zero has none.
    if !samples.exists() {
        return Ok(None);
    }
    let totals = totals_of_folder(folder, &samples)?;
    subjects.retain(|subject| links.is_empty() || links.contains(&subject.link));
    // The file's own pipes, the busiest first; of equally busy ones in the order of the plan.
    let mut busy: Vec<(u64, Subject)> =
        subjects.into_iter().filter_map(|subject| Some((*totals.get(&subject.key())?, subject))).collect();
    busy.sort_by_key(|(total, _)| std::cmp::Reverse(*total));
    let count = busy.len();
    busy.truncate(most);
    if busy.is_empty() {
        return Ok(None);
    }
    let log = events::read(&folder.join("events.jsonl"))?;
    let chosen: Vec<Subject> = busy.into_iter().map(|(_, subject)| subject).collect();
    let keys: Vec<Key> = chosen.iter().map(Subject::key).collect();
    let all = samples::read(&samples, &keys, (interval, MOST_SPANS), log.end)?;
    let plots = folder.join(FOLDER);
    fs::create_dir_all(&plots).map_err(WriteError::file(&plots))?;
    for (subject, traffic) in chosen.iter().zip(&all) {
        let path = plots.join(subject.file());
        fs::write(&path, picture::draw(subject, traffic, &log)).map_err(WriteError::file(&path))?;
    }
    tcp::draw_all(folder, &log)?;
    Ok(Some(Plots { folder: FOLDER.into(), pictures: chosen.iter().map(Subject::file).collect(), busy: count }))
}

/// How much each pipe carried and dropped: from `pipes.json`, and of a run that was cut off before it wrote that, from its samples.
fn totals_of_folder(folder: &Path, samples: &Path) -> Result<BTreeMap<Key, u64>, ReadError> {
    let rows = regular::read(&folder.join("pipes.json")).ok();
    let rows = rows.and_then(|text| serde_json::from_slice::<Value>(&text).ok());
    rows.as_ref().and_then(totals_of_rows).map_or_else(|| totals(samples), Ok)
}

//! What is kept of a run.

use netloom_judge::{FigureRow, PipeRow, Report};
use netloom_lab::OverRuns;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Of more pipes, a lab that names no figures gets none.
const MOST_PIPES: usize = 16;

/// Of more that was not met, only the number is kept.
const MOST_MISSED: usize = 20;

/// What of a run was not met, in words.
pub(crate) fn missed(report: &Report) -> Vec<String> {
    let expected = report.expectations.iter().filter(|row| !row.met);
    let expected = expected.map(|row| format!("{}: {}", row.text, row.explanation));
    let failed = report.commands.iter().filter(|row| row.failed);
    let failed = failed.map(|row| format!("{} on {}: {}", row.name, row.node, row.ending()));
    expected.chain(failed).take(MOST_MISSED).collect()
}

/// A run that has ended: `run.json` in its folder.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// The number of the run, from 1.
    pub run: u64,
    /// The number of the run's point, from 1.
    pub point: u64,
    /// The number of the repetition of this point, from 1.
    pub repetition: u64,
    /// The run's seed.
    pub seed: u64,
    /// The values of the parameters by name.
    pub parameters: BTreeMap<String, String>,
    /// How the run ended.
    pub outcome: Outcome,
    /// The run's exit code; none if a signal ended it.
    pub exit_code: Option<u8>,
    /// Why the run is not as described, or failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// How many expectations and commands did not do what they should.
    pub unmet: usize,
    /// The first unmet expectations and failed commands, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missed: Vec<String>,
    /// The results of the run, below the sweep's folder; none if there are none.
    pub results: Option<PathBuf>,
    /// The lab time that the run lasted, in nanoseconds.
    pub lab_ns: u64,
    /// The wall time that the run took, in seconds.
    pub wall_s: f64,
    /// The figures that were measured.
    pub figures: Vec<Figure>,
    /// The figures that were measured for expectations of all runs together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub judged: Vec<Figure>,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The run ended with a network as described.
    AsDescribed,
    /// The run ended with a network that was not as described.
    NotAsDescribed,
    /// The run ended without a verdict.
    #[default]
    Failed,
}

impl Outcome {
    /// Returns the outcome in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::AsDescribed => "as described",
            Self::NotAsDescribed => "NOT as described",
            Self::Failed => "failed",
        }
    }
}

/// A number that was measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// The figure's name.
    pub name: String,
    /// The unit: `bit/s`, `ns`, `share`, `packets`, `B`, or nothing.
    pub unit: String,
    /// The measured value; none if nothing was measured.
    pub value: Option<f64>,
    /// Why nothing was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

/// The figures of a report: those that the lab file names, or else those of its pipes; and those that are measured for expectations of
/// all runs together.
pub(crate) fn figures(report: &Report) -> (Vec<Figure>, Vec<Figure>) {
    let of_row = |row: &FigureRow| Figure {
        name: row.name.clone(),
        unit: row.unit.clone(),
        value: row.value,
        missing: row.missing.clone(),
    };
    let is_judged = |figure: &Figure| figure.name.starts_with(OverRuns::FIGURE);
    let (judged, named): (Vec<Figure>, Vec<Figure>) = report.figures.iter().map(of_row).partition(is_judged);
    (if named.is_empty() { of_pipes(report) } else { named }, judged)
}

fn of_pipes(report: &Report) -> Vec<Figure> {
    let pipes: Vec<&PipeRow> = report.pipes.iter().filter(|pipe| !pipe.joined_in_kernel).collect();
    if pipes.len() > MOST_PIPES {
        return Vec::new();
    }
    pipes.into_iter().flat_map(of_pipe).collect()
}

fn of_pipe(pipe: &PipeRow) -> [Figure; 3] {
    let further = pipe.pipe.as_ref().map_or_else(String::new, |pipe| format!(".{pipe}"));
    let figure = |metric: &str, unit: &str, value: Option<f64>| Figure {
        name: format!("{}.{}{further}.{metric}", pipe.link, pipe.direction),
        unit: unit.to_owned(),
        value,
        missing: None,
    };
    [
        figure("throughput", "bit/s", Some(pipe.throughput_bits_per_second)),
        figure("drops", "packets", Some(pipe.dropped_packets() as f64)),
        figure("delay_p99", "ns", pipe.measured_delay_p99_ns.map(|ns| ns as f64)),
    ]
}

//! What differs between results of then and of now.

mod bytes;
mod environment;
mod figures;

use crate::{ArchiveError, Kind};
use serde::Serialize;
use serde_json::Value;
use std::path::{Path, PathBuf};

pub use bytes::FileDifference;
pub use environment::Change;
pub(crate) use environment::changes_beforehand;
pub use figures::{Figure, How};

/// How much files are listed at most; more of them differ for the same reason.
const MOST_FILES: usize = 50;

/// A comparison of earlier results with new ones.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The lab's name.
    pub lab: String,
    /// The kind of the results.
    pub kind: Kind,
    /// Whether the results are the same: byte for byte in virtual time, within the tolerance or the interval otherwise.
    pub same: bool,
    /// Whether the results were compared byte for byte.
    pub by_bytes: bool,
    /// The number of files that are the same.
    pub same_files: usize,
    /// The number of files that differ.
    pub different_files: usize,
    /// The first files that differ, and where.
    pub files: Vec<FileDifference>,
    /// The figures that were compared.
    pub figures: Vec<Figure>,
    /// The differences in what was found: for runs, of the network, the expectations and the exit codes of commands;
    /// for a sweep, of how many runs ended how.
    pub verdicts: Vec<Change>,
    /// The differences between the machines and programs.
    pub environment: Vec<Change>,
    /// The folders of the new results.
    pub results: Vec<PathBuf>,
}

/// Compares the results in the folder `then` with those of one run, or of several, or of one sweep. `tolerance` is the share by
/// which figures may differ that no interval is known of.
///
/// # Errors
/// If they cannot be read.
pub fn compare(kind: Kind, then: &Path, now: &[PathBuf], tolerance: f64) -> Result<Comparison, ArchiveError> {
    let mut found = Comparison {
        lab: String::new(),
        kind,
        same: true,
        by_bytes: false,
        same_files: 0,
        different_files: 0,
        files: Vec::new(),
        figures: Vec::new(),
        verdicts: Vec::new(),
        environment: Vec::new(),
        results: now.to_vec(),
    };
    match (kind, now) {
        (Kind::Sweep, [now]) => found.sweeps(then, now, tolerance)?,
        _ => found.runs(then, now, tolerance)?,
    }
    found.files.truncate(MOST_FILES);
    found.same =
        found.different_files == 0 && found.verdicts.is_empty() && found.figures.iter().all(|figure| figure.same);
    Ok(found)
}

impl Comparison {
    fn runs(&mut self, then: &Path, now: &[PathBuf], tolerance: f64) -> Result<(), ArchiveError> {
        let origin = document(&then.join("provenance.json"))?;
        self.lab = text(&origin["lab"]);
        let mut reports = Vec::new();
        for folder in now {
            let other = document(&folder.join("provenance.json"))?;
            if self.environment.is_empty() {
                self.environment = environment::changes(&origin, &other);
            }
            if is_exact(&origin) && is_exact(&other) {
                self.by_bytes = true;
                self.folders(then, folder, "")?;
            }
            reports.push(document(&folder.join("report.json"))?);
        }
        let report = document(&then.join("report.json"))?;
        self.verdicts = environment::verdicts(&report, &reports);
        if !self.by_bytes {
            self.figures = figures::of_runs(&report, &reports, tolerance);
        }
        Ok(())
    }

    fn sweeps(&mut self, then: &Path, now: &Path, tolerance: f64) -> Result<(), ArchiveError> {
        let [before, after] = [then, now].map(|folder| document(&folder.join("sweep.json")));
        let (before, after) = (before?, after?);
        self.lab = text(&before["lab"]);
        self.verdicts = environment::counts(&before, &after);
        let mut inexact = false;
        for (name, [one, other]) in bytes::runs(then, now)? {
            let (Some(one), Some(other)) = (one, other) else { continue };
            let origins = [&one, &other].map(|folder| document(&folder.join("provenance.json")));
            let [Ok(origin), Ok(origin_now)] = origins else { continue };
            if self.environment.is_empty() {
                self.environment = environment::changes(&origin, &origin_now);
            }
            if is_exact(&origin) && is_exact(&origin_now) {
                self.by_bytes = true;
                self.folders(&one, &other, &format!("{name}/"))?;
            } else {
                inexact = true;
            }
        }
        if inexact || !self.by_bytes {
            self.figures = figures::of_sweeps(&before, &after, tolerance);
        }
        Ok(())
    }

    fn folders(&mut self, then: &Path, now: &Path, prefix: &str) -> Result<(), ArchiveError> {
        let (same, different) = bytes::compare(then, now, prefix)?;
        self.same_files += same;
        self.different_files += different.len();
        let room = MOST_FILES.saturating_sub(self.files.len());
        self.files.extend(different.into_iter().take(room));
        Ok(())
    }
}

/// The results folders of the runs of a sweep.
pub(crate) fn runs_of(sweep: &Path) -> Result<Vec<PathBuf>, ArchiveError> {
    Ok(bytes::runs(sweep, sweep)?.into_values().filter_map(|[run, _]| run).collect())
}

/// Returns whether the run of a sweep with these results has failed, as its record says.
pub(crate) fn has_failed(results: &Path) -> bool {
    let record = results.parent().map(|run| document(&run.join("run.json")));
    matches!(record, Some(Ok(record)) if record["outcome"] == "failed")
}

/// Whether such a run is the same twice: in virtual time, if that waits for programs that compute.
fn is_exact(provenance: &Value) -> bool {
    provenance["clock"] == "virtual" && provenance["on_spin"] != "advance"
}

pub(crate) fn document(path: &Path) -> Result<Value, ArchiveError> {
    let bytes = netloom_results::read_document(path).map_err(ArchiveError::file(path))?;
    serde_json::from_slice(&bytes).map_err(|error| ArchiveError::file(path)(error.into()))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

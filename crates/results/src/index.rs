//! What there is in a folder of results: `RESULTS/LAB/TIME-ID/`, one folder per run or simulation.
//!
//! Symbolic links are not followed, except for the folder that the user names. What does not look like the folder of a
//! run is not shown, and never removed.

use crate::IndexError;
use crate::folder::is_going_on;
use crate::regular;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The link to the newest of a lab's results.
const LATEST: &str = "latest";

/// The results of a run or a simulation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Results {
    /// The lab's name.
    pub lab: String,
    /// The results folder.
    pub folder: PathBuf,
    /// The time at which the run began, UTC, to the second.
    pub began_utc: String,
    /// The clock of the run: `real`, `dilated` or `virtual`; none if its provenance does not say.
    pub clock: Option<String>,
    /// The state of the run.
    pub state: ResultsState,
    /// Whether the network did what was described; none without a verdict.
    pub as_described: Option<bool>,
    /// The exit code of the run.
    pub exit_code: Option<u8>,
    /// The size of all files in the folder.
    pub size_bytes: u64,
    /// Whether the link `latest` points to these results.
    pub latest: bool,
}

/// The state of a run that has a results folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ResultsState {
    /// The run still goes on.
    GoingOn,
    /// The run is over, and has a report.
    Over,
    /// The run ended without a report: it was killed, or never began.
    CutOff,
}

/// The conditions that select results to remove.
#[derive(Clone, Debug, Default)]
pub struct PruneRequest {
    /// The folder that holds the results of all labs.
    pub root: PathBuf,
    /// The labs whose results are removed; none: all labs.
    pub labs: Vec<String>,
    /// The number of each lab's newest results that stay; none: 0.
    pub keep: Option<usize>,
    /// The age that results must have to be removed: those that began less than this long ago stay.
    pub older_than: Option<Duration>,
    /// Whether the results are only listed, and stay.
    pub dry_run: bool,
}

/// Lists the results in the folder `root`, lab by lab, the oldest first.
///
/// # Errors
/// If `root` is there and cannot be read.
pub fn list_results(root: &Path) -> Result<Vec<Results>, IndexError> {
    let mut all = Vec::new();
    for lab in folders(root).map_err(reading(root))? {
        let latest = fs::read_link(lab.path().join(LATEST)).ok();
        for run in folders(&lab.path()).map_err(reading(&lab.path()))? {
            let name = run.file_name();
            let is_latest = latest.as_deref() == Some(Path::new(&name));
            all.extend(results(&lab.file_name().to_string_lossy(), &run, is_latest));
        }
    }
    all.sort_by(|one, other| {
        (&one.lab, &one.began_utc, &one.folder).cmp(&(&other.lab, &other.began_utc, &other.folder))
    });
    Ok(all)
}

/// Whether a folder in that of a lab is the folder of a run of this lab, as [`list_results`] returns it.
pub fn is_results(lab: &str, folder: &Path) -> bool {
    let name = folder.file_name().and_then(|name| name.to_str());
    name.and_then(began_utc).is_some() && is_of(lab, folder).is_some()
}

/// Removes the results that are asked for, and returns what they were. What still goes on and what `latest` points to
/// stays.
///
/// # Errors
/// If a folder cannot be read or removed; the others that were asked for are removed all the same.
pub fn prune_results(request: &PruneRequest) -> Result<Vec<Results>, IndexError> {
    let mut all = list_results(&request.root)?;
    if let Some(unknown) = request.labs.iter().find(|lab| !all.iter().any(|results| results.lab == **lab)) {
        return Err(IndexError::NoLab { root: request.root.clone(), lab: unknown.clone() });
    }
    all.retain(|results| request.labs.is_empty() || request.labs.contains(&results.lab));
    let doomed = doomed(all, request.keep, request.older_than, SystemTime::now());
    if request.dry_run {
        return Ok(doomed);
    }
    let mut failed = None;
    let mut removed = Vec::new();
    for results in doomed {
        // It may have begun to be read or written meanwhile; a run's own folder is never an old one.
        match fs::remove_dir_all(&results.folder) {
            Ok(()) => removed.push(results),
            Err(source) => {
                failed.get_or_insert(IndexError::Remove { path: results.folder, source });
            }
        }
    }
    failed.map_or(Ok(removed), Err)
}

/// Those to remove: neither among the newest of their lab nor too young, and not in use.
fn doomed(all: Vec<Results>, keep: Option<usize>, older_than: Option<Duration>, now: SystemTime) -> Vec<Results> {
    let mut newer: BTreeMap<String, usize> = BTreeMap::new();
    let mut doomed: Vec<Results> = Vec::new();
    for results in all.into_iter().rev() {
        let place = newer.entry(results.lab.clone()).or_default();
        let is_kept = keep.is_some_and(|most| *place < most);
        *place += 1;
        // What has begun in the future, by a clock that was wrong, is young.
        let age = || now.duration_since(began(&results.began_utc)?).ok();
        let is_young = older_than.is_some_and(|least| age().is_none_or(|age| age < least));
        if !is_kept && !is_young && !results.latest && results.state != ResultsState::GoingOn {
            doomed.push(results);
        }
    }
    doomed.reverse();
    doomed
}

/// The real folders in `root`; none if there is no such folder.
fn folders(root: &Path) -> io::Result<Vec<DirEntry>> {
    let entries = match fs::read_dir(root) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut folders = Vec::new();
    for entry in entries {
        let entry = entry?;
        // The type of a link is that of a link.
        if entry.file_type()?.is_dir() {
            folders.push(entry);
        }
    }
    Ok(folders)
}

/// As much of `provenance.json` and `report.json` as is shown.
#[derive(Deserialize)]
struct About {
    #[serde(default)]
    lab: Option<String>,
    #[serde(default)]
    clock: Option<String>,
    #[serde(default)]
    exit_code: Option<u8>,
    #[serde(default)]
    verdict: Option<Judged>,
}

#[derive(Deserialize)]
struct Judged {
    as_described: Option<bool>,
    #[serde(default)]
    findings: Vec<serde::de::IgnoredAny>,
}

/// What is known of a folder, if it is that of a run: its name is a time and an id, and it says where it comes from.
fn results(lab: &str, run: &DirEntry, latest: bool) -> Option<Results> {
    let folder = run.path();
    let began_utc = began_utc(run.file_name().to_str()?)?;
    let provenance = is_of(lab, &folder)?;
    let report = about(&folder.join("report.json"));
    let state = match &report {
        _ if is_going_on(&folder) => ResultsState::GoingOn,
        Some(_) => ResultsState::Over,
        None => ResultsState::CutOff,
    };
    let verdict = report.as_ref().and_then(|report| report.verdict.as_ref());
    Some(Results {
        lab: lab.to_owned(),
        size_bytes: size(&folder),
        folder,
        began_utc,
        clock: provenance.clock,
        state,
        // A run that measured nothing has no verdict.
        as_described: verdict
            .filter(|told| told.as_described == Some(true) || !told.findings.is_empty())
            .and_then(|told| told.as_described),
        exit_code: report.and_then(|report| report.exit_code),
        latest,
    })
}

/// Where the results in a folder come from, if they are those of this lab.
fn is_of(lab: &str, folder: &Path) -> Option<About> {
    let provenance = about(&folder.join("provenance.json"))?;
    // Somebody else's file of that name does not name the lab.
    (provenance.lab.as_deref() == Some(lab)).then_some(provenance)
}

fn about(path: &Path) -> Option<About> {
    fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file)?;
    serde_json::from_slice(&regular::read(path).ok()?).ok()
}

/// `2026-11-21T09:31:53Z` of `20261121T093153-1a2b`.
fn began_utc(name: &str) -> Option<String> {
    let (time, id) = name.split_once('-')?;
    let is_id = id.len() == 4 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    let digits =
        |range: std::ops::Range<usize>| time.get(range).filter(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
    let whole = time.len() == 15 && time.as_bytes()[8] == b'T' && is_id;
    let [year, month, day] = [digits(0..4)?, digits(4..6)?, digits(6..8)?];
    let [hour, minute, second] = [digits(9..11)?, digits(11..13)?, digits(13..15)?];
    let text = format!("{year}-{month}-{day}T{hour}:{minute}:{second}Z");
    began(&text).filter(|_| whole).map(|_| text)
}

fn began(utc: &str) -> Option<SystemTime> {
    humantime::parse_rfc3339(utc).ok()
}

/// What the files of a folder take. Files that go away meanwhile count nothing.
fn size(folder: &Path) -> u64 {
    let mut total = 0;
    let mut waiting = vec![folder.to_owned()];
    while let Some(next) = waiting.pop() {
        for entry in fs::read_dir(next).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(about) if about.is_dir() => waiting.push(entry.path()),
                Ok(about) => total += about.len(),
                Err(_) => {}
            }
        }
    }
    total
}

fn reading(path: &Path) -> impl FnOnce(io::Error) -> IndexError + use<> {
    let owned = path.to_owned();
    move |source| IndexError::Read { path: owned, source }
}

#[cfg(test)]
mod tests;

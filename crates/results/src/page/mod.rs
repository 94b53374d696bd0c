//! `report.html`: a run, a simulation or a sweep as one page that needs nothing else, neither a network nor a server.
//!
//! The page is data and a program. This module gathers the data of runs from the files of their results folders alone, so that the page can
//! be made again at any time; the program is the bundle of `web/report`, which draws and compares. What is gathered has bounds:
//! a page of the longest run and the largest lab still opens at once.
//!
//! `shell` puts the data as JSON into the page, with the program of `bundle` and a content security policy that lets
//! nothing else run. `web/README.md` describes the program.

mod columns;
mod files;
mod journal;
mod logs;
mod nodes;
mod pipes;
mod shell;
mod tcp;
#[cfg(test)]
mod tests;

use crate::regular;
use crate::sampler::sample_interval;
use crate::{ReadError, WriteError};
use pipes::{Described, PipeData, Series};
use serde::Serialize;
use serde_json::Value;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

pub use shell::html;

/// The page, in the folder of a run or a sweep.
pub const FILE: &str = "report.html";
/// How many runs are compared at most: more curves could not be told apart.
pub const MOST_COMPARED: usize = 8;
/// What is taken of one document of the folder at most, in bytes.
const LONGEST_DOCUMENT: usize = 2 << 20;
/// How many marks a page has at most.
const MOST_MARKS: usize = 400;

/// A run or a simulation, as the page wants it.
#[derive(Debug, Serialize)]
pub struct RunData {
    kind: &'static str,
    lab: String,
    /// The folder's own name.
    name: String,
    /// Where the folder is, seen from the page.
    place: String,
    /// `report.json` without what is elsewhere on the page; null of a run that was cut off.
    report: Value,
    provenance: Value,
    /// The report as a terminal shows it.
    summary: String,
    /// The map as SVG; none of large labs.
    map: Option<String>,
    /// The map of radio media in metres as SVG, if there are any with positions.
    metres: Option<String>,
    /// The rows of stations of radio media.
    stations: Value,
    /// The end of the time axis, in seconds.
    end: f64,
    pipes: Vec<PipeData>,
    /// How many pipes were left out, since others carried more.
    pipes_left_out: usize,
    series: Vec<Series>,
    described: Vec<Described>,
    marks: Vec<Mark>,
    marks_left_out: usize,
    /// When something was wrong.
    faults: Vec<crate::plots::FaultSpan>,
    tcp: Vec<tcp::Connection>,
    nodes: Vec<nodes::Node>,
    nodes_left_out: usize,
    delays: Value,
    journal: Option<journal::FromJournal>,
    logs: Vec<logs::Log>,
    logs_left_out: usize,
    files: Vec<files::Entry>,
    /// What could not be read, and why.
    notes: Vec<String>,
}

/// Something that happened.
#[derive(Debug, Serialize)]
struct Mark {
    #[serde(serialize_with = "columns::number")]
    t: f64,
    kind: &'static str,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    direction: Option<String>,
}

/// Several runs side by side.
#[derive(Debug, Serialize)]
struct Comparison {
    kind: &'static str,
    runs: Vec<RunData>,
}

/// Makes the page of a results folder, in it, and says where it is.
///
/// # Errors
/// When it is not a results folder, or the page cannot be written.
pub fn write(folder: &Path) -> Result<PathBuf, ReadError> {
    let data = RunData::read(folder, "")?;
    let title = format!("{} {}", data.lab, data.name);
    let path = folder.join(FILE);
    put(&path, &html(&title, &data.summary, &data)).map_err(WriteError::file(&path))?;
    Ok(path)
}

/// Makes a page that compares the runs in these folders, at `path`.
///
/// # Errors
/// When one of them is not a results folder, there are more than [`MOST_COMPARED`], or the page cannot be written.
pub fn write_comparison(folders: &[PathBuf], path: &Path) -> Result<(), ReadError> {
    if folders.len() > MOST_COMPARED {
        let message =
            format!("{} runs cannot be compared on one page: name at most {MOST_COMPARED}, or a sweep", folders.len());
        return Err(ReadError::Unfit(message));
    }
    let places = folders.iter().map(|folder| shell::seen_from(path, folder));
    let runs = folders.iter().zip(places).map(|(folder, place)| RunData::read(folder, &place));
    let data = Comparison { kind: "comparison", runs: runs.collect::<Result<_, _>>()? };
    let names: Vec<&str> = data.runs.iter().map(|run| run.lab.as_str()).collect();
    Ok(put(path, &html(&names.join(" and "), "", &data)).map_err(WriteError::file(path))?)
}

/// Writes a page in one go: a reader finds the old one until the new is complete.
///
/// # Errors
/// When it cannot be written.
pub fn put(path: &Path, page: &str) -> io::Result<()> {
    netloom_regular::replace(path, |file| file.write_all(page.as_bytes()))
}

impl RunData {
    /// Gathers what the folder has. `place` is where it is, seen from the page.
    ///
    /// # Errors
    /// When it is not a results folder. What cannot be read of one is noted.
    pub fn read(folder: &Path, place: &str) -> Result<Self, ReadError> {
        let planned = crate::plots::planned(folder);
        let mut notes = Notes::default();
        let provenance = notes.document(folder, "provenance.json");
        let mut report = notes.document(folder, "report.json");
        if planned.is_err() && !is_of_a_run(&provenance) && report.is_null() {
            return Err(ReadError::Damaged(folder.to_owned()));
        }
        let named = [&report, &provenance].into_iter().find_map(|document| document["lab"].as_str());
        let lab = planned.as_ref().map_or_else(|_| named.unwrap_or("lab").to_owned(), |planned| planned.lab.clone());
        // A run that failed before it was planned has no pipes.
        let subjects = planned.map_or_else(|_| Vec::new(), |planned| planned.pipes);
        let rows = report.as_object_mut().and_then(|report| report.remove("pipes")).unwrap_or(Value::Null);
        let stations = report.as_object_mut().and_then(|report| report.remove("stations")).unwrap_or(Value::Null);
        let log = notes.of("events.jsonl", crate::plots::log(folder));
        let shown = pipes::gather(folder, subjects, rows, &log, sample_interval(folder), &mut notes);
        let duration = report["duration_ns"].as_f64().map(|ns| ns / 1e9);
        let seen = shown.series.iter().filter_map(Series::end).fold(0.0, f64::max);
        let end = log.end.or(duration).unwrap_or(seen).max(seen);
        let (marks, marks_left_out) = marks(&log);
        let tcp = notes.of("tcp.csv", tcp::gather(folder, log.end));
        let (nodes, nodes_left_out) = notes.of("nodes.csv", nodes::gather(folder, log.end));
        let delays = notes.document(folder, crate::delays::FILE);
        let journal = journal::gather(folder, &mut notes.0);
        let (logs, logs_left_out) = logs::gather(folder, &report["commands"]);
        Ok(Self {
            kind: if folder.join("sources.json").exists() { "sim" } else { "run" },
            lab,
            name: own_name(folder),
            place: place.to_owned(),
            summary: text(folder, "summary.txt"),
            map: Some(text(folder, crate::graph::FILE)).filter(|svg| svg.starts_with("<svg")),
            metres: Some(text(folder, crate::graph::MAP_FILE)).filter(|svg| svg.starts_with("<svg")),
            stations,
            report,
            provenance,
            end,
            pipes: shown.pipes,
            pipes_left_out: shown.left_out,
            series: shown.series,
            described: shown.described,
            marks,
            marks_left_out,
            faults: log.faults,
            tcp,
            nodes,
            nodes_left_out,
            delays,
            journal,
            logs,
            logs_left_out,
            files: files::gather(folder),
            notes: notes.0,
        })
    }
}

/// What could not be read.
#[derive(Default)]
struct Notes(Vec<String>);

impl Notes {
    /// What was read, or nothing and a note.
    fn of<T: Default>(&mut self, name: &str, read: Result<T, ReadError>) -> T {
        read.unwrap_or_else(|error| {
            self.0.push(format!("{name} could not be read: {error}"));
            T::default()
        })
    }

    /// A document of the folder; null if there is none.
    fn document(&mut self, folder: &Path, name: &str) -> Value {
        let path = folder.join(name);
        if !path.exists() {
            return Value::Null;
        }
        let mut value = regular::read(&path)
            .map_err(|error| error.to_string())
            .and_then(|bytes| serde_json::from_slice::<Value>(&bytes).map_err(|error| error.to_string()));
        if let Ok(found) = &mut value {
            shorten(found, LONGEST_DOCUMENT);
        }
        value.unwrap_or_else(|why| {
            self.0.push(format!("{name} could not be read: {why}"));
            Value::Null
        })
    }
}

/// Leaves out of a document's lists what exceeds `room` bytes of each, those of pipes aside, which are chosen elsewhere.
fn shorten(document: &mut Value, room: usize) {
    let Some(members) = document.as_object_mut() else { return };
    for (_, member) in members.iter_mut().filter(|(name, _)| *name != "pipes") {
        if let Value::Array(items) = member {
            let mut left = room;
            let fitting = items.iter().take_while(|item| {
                let bytes = serde_json::to_vec(item).map_or(0, |text| text.len());
                let fits = bytes <= left;
                left = left.saturating_sub(bytes);
                fits
            });
            let count = fitting.count();
            items.truncate(count);
        }
    }
}

/// Whether it is the provenance of a run, and not something else's.
fn is_of_a_run(provenance: &Value) -> bool {
    provenance["lab"].is_string()
}

/// The folder's own name; that of `latest` is the one that it leads to.
fn own_name(folder: &Path) -> String {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// A text of the folder, nothing if it has none or a long one.
fn text(folder: &Path, name: &str) -> String {
    let bytes = regular::read(&folder.join(name)).unwrap_or_default();
    if bytes.len() > LONGEST_DOCUMENT { String::new() } else { String::from_utf8_lossy(&bytes).into_owned() }
}

/// What happened, as far as there is room: what the file marks and what happened to links before what programs did.
fn marks(log: &crate::plots::Log) -> (Vec<Mark>, usize) {
    let mut all: Vec<Mark> =
        log.happenings().map(|(t, kind, text, link, direction)| Mark { t, kind, text, link, direction }).collect();
    let left_out = all.len().saturating_sub(MOST_MARKS);
    if left_out > 0 {
        all.sort_by_key(|mark| mark.kind == "program");
        all.truncate(MOST_MARKS);
        all.sort_by(|one, other| one.t.total_cmp(&other.t));
    }
    (all, left_out)
}

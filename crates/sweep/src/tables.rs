//! What the runs show together: `runs.csv`, `points.csv` and `sweep.json`.

use crate::child::run_of;
use crate::expectations::{Gathered, RunsRow};
use crate::{Moments, Outcome, RunRecord, SweepError, SweepFolder};
use netloom_lab::{OverRuns, Sweep};
use serde::Serialize;
use serde::ser::SerializeSeq;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Runs that were left out and are listed one by one, at most.
const MOST_TOLD: usize = 20;

/// The results of a sweep: what its runs show together.
#[derive(Clone, Debug, Default)]
pub struct Tables {
    /// The parameters, in the order of the lab file.
    pub parameters: Vec<String>,
    /// The figures and their units, in the order in which runs have them.
    pub figures: Vec<(String, String)>,
    /// The results of each point.
    pub points: Vec<PointTable>,
    /// The number of all runs, those that have not ended included.
    pub total: u64,
    /// The number of runs whose network was as described.
    pub as_described: u64,
    /// The number of runs whose network was not as described.
    pub not_as_described: u64,
    /// The number of runs that failed.
    pub failed: u64,
    /// The number of runs whose network was as described, and in which an expectation was not met or a command failed.
    pub unmet: u64,
    /// Whether runs that were not as described count, too.
    pub counts_all: bool,
    /// The first runs that do not count, and why.
    pub left_out: Vec<LeftOut>,
    /// The exit code of the first run that failed.
    pub first_failure: Option<u8>,
    /// The expectations of all runs together.
    pub expectations: Vec<RunsRow>,
}

/// The results of the runs of a point.
#[derive(Clone, Debug, Default)]
pub struct PointTable {
    /// The values of the parameters.
    pub values: Vec<String>,
    /// The number of runs that count.
    pub counted: u64,
    /// The number of runs that ended and do not count.
    pub left_out: u64,
    /// Each figure, as far as runs have it.
    pub figures: Vec<Moments>,
}

/// A run that does not count.
#[derive(Clone, Debug, Serialize)]
pub struct LeftOut {
    /// The number of the run.
    pub run: u64,
    /// The name of the run.
    pub name: String,
    /// How the run ended.
    pub outcome: Outcome,
    /// Why the run does not count.
    pub why: Option<String>,
}

impl Tables {
    /// Returns the number of runs that have not ended.
    pub fn missing(&self) -> u64 {
        self.total - self.as_described - self.not_as_described - self.failed
    }
}

/// Makes the tables of all runs that have ended, judges what is `expected` of them together, and writes both.
///
/// # Errors
/// If a run's record cannot be read, or a table cannot be written.
pub fn write_tables(sweep: &Sweep, folder: &SweepFolder, expected: &[OverRuns]) -> Result<Tables, SweepError> {
    let tables = gather(sweep, folder, expected)?;
    write_runs(sweep, folder, &tables)?;
    folder.write_with(&folder.path().join("points.csv"), |file| write_points(file, &tables))?;
    let document = Document { folder, tables: &tables };
    folder.write_json(&folder.path().join("sweep.json"), &document)?;
    Ok(tables)
}

fn gather(sweep: &Sweep, folder: &SweepFolder, expected: &[OverRuns]) -> Result<Tables, SweepError> {
    let mut expected: Vec<Gathered<'_>> = expected.iter().map(Gathered::new).collect();
    let mut tables = Tables {
        parameters: sweep.parameters().into_iter().map(str::to_owned).collect(),
        total: sweep.points() * sweep.repetitions(),
        counts_all: sweep.settings().counts_all,
        ..Tables::default()
    };
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for point in 0..sweep.points() {
        let mut table = PointTable { values: sweep.values(point), ..PointTable::default() };
        let names = sweep.parameters();
        let values = sweep.values(point);
        let values: Vec<(&str, &str)> = names.into_iter().zip(values.iter().map(String::as_str)).collect();
        for repetition in 0..sweep.repetitions() {
            let number = point * sweep.repetitions() + repetition;
            let (name, record) = (folder.name_of(number), folder.record(number)?);
            let counts = record.as_ref().is_some_and(|record| tables.count(record, &name));
            expected.iter_mut().for_each(|one| one.add(&values, &name, record.as_ref(), counts));
            let Some(record) = record else { continue };
            if counts {
                table.counted += 1;
                add_figures(&record, &mut table, &mut tables.figures, &mut places);
            } else {
                table.left_out += 1;
            }
        }
        tables.points.push(table);
    }
    tables.expectations = expected.iter().map(Gathered::judge).collect();
    Ok(tables)
}

impl Tables {
    /// Whether a run belongs to the statistics.
    fn count(&mut self, record: &RunRecord, name: &str) -> bool {
        match record.outcome {
            Outcome::AsDescribed => self.as_described += 1,
            Outcome::NotAsDescribed => self.not_as_described += 1,
            Outcome::Failed => self.failed += 1,
        }
        self.unmet += u64::from(record.unmet > 0 && record.outcome == Outcome::AsDescribed);
        if record.outcome == Outcome::Failed {
            self.first_failure.get_or_insert(record.exit_code.unwrap_or(netloom_judge::ExitCode::Died.number()));
        }
        let counts =
            record.outcome == Outcome::AsDescribed || record.outcome == Outcome::NotAsDescribed && self.counts_all;
        if !counts && self.left_out.len() < MOST_TOLD {
            let (run, outcome, why) = (record.run, record.outcome, record.why.clone());
            self.left_out.push(LeftOut { run, name: name.to_owned(), outcome, why });
        }
        counts
    }
}

fn add_figures(
    record: &RunRecord,
    table: &mut PointTable,
    known: &mut Vec<(String, String)>,
    places: &mut BTreeMap<String, usize>,
) {
    for figure in &record.figures {
        let place = *places.entry(figure.name.clone()).or_insert_with(|| {
            known.push((figure.name.clone(), figure.unit.clone()));
            known.len() - 1
        });
        if table.figures.len() <= place {
            table.figures.resize(place + 1, Moments::default());
        }
        if let Some(value) = figure.value {
            table.figures[place].add(value);
        }
    }
}

/// One row per run that has ended, with all its figures.
fn write_runs(sweep: &Sweep, folder: &SweepFolder, tables: &Tables) -> Result<(), SweepError> {
    let mut failure = None;
    let written = folder.write_with(&folder.path().join("runs.csv"), |file| {
        let first = ["run", "point", "repetition", "seed"].map(str::to_owned).into_iter();
        let then = ["outcome", "exit_code", "unmet", "lab_s", "wall_s", "results"].map(str::to_owned);
        let figures = tables.figures.iter().map(|(name, unit)| with_unit(name, unit));
        row(file, first.chain(tables.parameters.iter().cloned()).chain(then).chain(figures))?;
        for number in 0..tables.total {
            match folder.record(number) {
                Ok(Some(record)) => row(file, cells(&record, sweep, number, tables))?,
                Ok(None) => {}
                Err(error) => {
                    failure = Some(error);
                    return Ok(());
                }
            }
        }
        Ok(())
    });
    failure.map_or(written, Err)
}

fn cells(record: &RunRecord, sweep: &Sweep, number: u64, tables: &Tables) -> Vec<String> {
    let mut cells: Vec<String> =
        [record.run, record.point, record.repetition, record.seed].iter().map(u64::to_string).collect();
    cells.extend(sweep.values(run_of(sweep, number).point));
    cells.push(outcome_word(record.outcome).to_owned());
    cells.push(record.exit_code.map_or_else(String::new, |code| code.to_string()));
    cells.push(record.unmet.to_string());
    cells.push((record.lab_ns as f64 / 1e9).to_string());
    cells.push(record.wall_s.to_string());
    cells.push(record.results.as_ref().map_or_else(String::new, |path| path.display().to_string()));
    let values: BTreeMap<&str, Option<f64>> =
        record.figures.iter().map(|figure| (figure.name.as_str(), figure.value)).collect();
    cells
        .extend(tables.figures.iter().map(|(name, _)| number_or_nothing(values.get(name.as_str()).copied().flatten())));
    cells
}

/// One row per point and figure.
fn write_points(file: &mut impl Write, tables: &Tables) -> io::Result<()> {
    let first = ["point".to_owned()].into_iter().chain(tables.parameters.iter().cloned());
    let then = ["figure", "unit", "runs", "mean", "ci95", "deviation", "least", "most"].map(str::to_owned);
    row(file, first.chain(then))?;
    for (number, point) in tables.points.iter().enumerate() {
        for (place, (name, unit)) in tables.figures.iter().enumerate() {
            let moments = point.figures.get(place).copied().unwrap_or_default();
            let head = [(number + 1).to_string()].into_iter().chain(point.values.iter().cloned());
            let words = [name.clone(), unit.clone(), moments.count().to_string()];
            let range = moments.range();
            let numbers = [
                moments.mean(),
                moments.half_width(),
                moments.deviation(),
                range.map(|range| range.0),
                range.map(|range| range.1),
            ];
            row(file, head.chain(words).chain(numbers.map(number_or_nothing)))?;
        }
    }
    Ok(())
}

fn outcome_word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::AsDescribed => "as_described",
        Outcome::NotAsDescribed => "not_as_described",
        Outcome::Failed => "failed",
    }
}

fn with_unit(name: &str, unit: &str) -> String {
    if unit.is_empty() { name.to_owned() } else { format!("{name} [{unit}]") }
}

fn number_or_nothing(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// A row of comma-separated values (RFC 4180).
fn row(file: &mut impl Write, cells: impl IntoIterator<Item = String>) -> io::Result<()> {
    let quoted = |cell: String| {
        if cell.contains([',', '"', '\n', '\r']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell }
    };
    let cells: Vec<String> = cells.into_iter().map(quoted).collect();
    writeln!(file, "{}", cells.join(","))
}

/// `sweep.json`, written piece by piece.
struct Document<'a> {
    folder: &'a SweepFolder,
    tables: &'a Tables,
}

impl Serialize for Document<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let tables = self.tables;
        let mut document = serializer.serialize_struct("Sweep", 11)?;
        document.serialize_field("lab", self.folder.lab())?;
        document.serialize_field("folder", self.folder.path())?;
        document.serialize_field("complete", &(tables.missing() == 0))?;
        document.serialize_field("runs", &tables.total)?;
        document.serialize_field("as_described", &tables.as_described)?;
        document.serialize_field("not_as_described", &tables.not_as_described)?;
        document.serialize_field("failed", &tables.failed)?;
        document.serialize_field("unmet", &tables.unmet)?;
        document.serialize_field("counts_all", &tables.counts_all)?;
        document.serialize_field("left_out", &tables.left_out)?;
        document.serialize_field("expectations", &tables.expectations)?;
        document.serialize_field("points", &Points(tables))?;
        document.end()
    }
}

struct Points<'a>(&'a Tables);

#[derive(Serialize)]
struct PointDocument<'a> {
    point: usize,
    parameters: BTreeMap<&'a str, &'a str>,
    counted: u64,
    left_out: u64,
    figures: BTreeMap<&'a str, FigureDocument<'a>>,
}

#[derive(Serialize)]
struct FigureDocument<'a> {
    unit: &'a str,
    n: u64,
    mean: Option<f64>,
    ci95: Option<f64>,
    deviation: Option<f64>,
    least: Option<f64>,
    most: Option<f64>,
}

impl<'a> FigureDocument<'a> {
    fn new(unit: &'a str, moments: &Moments) -> Self {
        let range = moments.range();
        Self {
            unit,
            n: moments.count(),
            mean: moments.mean(),
            ci95: moments.half_width(),
            deviation: moments.deviation(),
            least: range.map(|range| range.0),
            most: range.map(|range| range.1),
        }
    }
}

impl Serialize for Points<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let tables = self.0;
        let mut list = serializer.serialize_seq(Some(tables.points.len()))?;
        for (number, point) in tables.points.iter().enumerate() {
            let figures = tables.figures.iter().enumerate().map(|(place, (name, unit))| {
                let moments = point.figures.get(place).copied().unwrap_or_default();
                (name.as_str(), FigureDocument::new(unit, &moments))
            });
            let names = tables.parameters.iter().map(String::as_str);
            list.serialize_element(&PointDocument {
                point: number + 1,
                parameters: names.zip(point.values.iter().map(String::as_str)).collect(),
                counted: point.counted,
                left_out: point.left_out,
                figures: figures.collect(),
            })?;
        }
        list.end()
    }
}

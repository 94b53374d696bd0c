//! What the folder of a sweep has, point by point.

use crate::{Figure, Moments, Outcome, RunRecord, SweepError};
use netloom_units::quantile;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// How many values and quantiles the page has in all, and at least and at most of a point's figure.
const VALUES: u64 = 240_000;
const LEAST_VALUES: u64 = 21;
const MOST_VALUES: u64 = 500;
/// How many points times figures it has.
const MOST_CELLS: usize = 60_000;
/// How many runs are listed, and how many that were left out are listed with their reason.
const MOST_RUNS: usize = 2_000;
const MOST_LEFT_OUT: usize = 1_000;
/// How long a reason may be, in characters.
const LONGEST_WHY: usize = 400;
/// How long the record of a run may be, in bytes.
const LONGEST_RECORD: u64 = 4 << 20;

/// A sweep, as the page wants it.
#[derive(Debug, Default, Serialize)]
pub(super) struct SweepData {
    kind: &'static str,
    pub(super) lab: String,
    pub(super) name: String,
    pub(super) parameters: Vec<String>,
    pub(super) figures: Vec<FigureName>,
    pub(super) points: Vec<PointData>,
    /// All runs, those that have not ended included.
    total: u64,
    as_described: u64,
    not_as_described: u64,
    failed: u64,
    unmet: u64,
    counts_all: bool,
    repetitions: u64,
    clock: String,
    lab_file: String,
    version: String,
    left_out: Vec<LeftOutData>,
    left_out_more: usize,
    runs: Vec<RunData>,
    runs_more: usize,
    lab_text: String,
    notes: Vec<String>,
}

/// A figure and its unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct FigureName {
    pub(super) name: String,
    pub(super) unit: String,
}

/// What the runs of a point show.
#[derive(Debug, Default, Serialize)]
pub(super) struct PointData {
    pub(super) point: u64,
    pub(super) values: Vec<String>,
    counted: u64,
    left_out: u64,
    /// One per figure.
    pub(super) figures: Vec<Summary>,
}

/// What the runs of a point show of a figure.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Summary {
    pub(super) n: u64,
    pub(super) mean: Option<f64>,
    pub(super) ci95: Option<f64>,
    pub(super) deviation: Option<f64>,
    /// The least, the quartiles and the most.
    q: Option<[f64; 5]>,
    /// In ascending order; of many, as many quantiles.
    values: Vec<f64>,
}

/// A run that does not count.
#[derive(Debug, Serialize)]
struct LeftOutData {
    run: u64,
    name: String,
    values: Vec<String>,
    outcome: Outcome,
    why: String,
    place: Option<String>,
    has_page: bool,
}

/// A run in the list.
#[derive(Debug, Serialize)]
struct RunData {
    run: u64,
    name: String,
    point: u64,
    repetition: u64,
    seed: u64,
    outcome: Outcome,
    unmet: usize,
    wall_s: f64,
    place: Option<String>,
    has_page: bool,
}

/// As much of `origin.json` as is needed.
#[derive(Deserialize)]
struct Origin {
    lab: String,
    points: u64,
    repetitions: u64,
    clock: String,
    lab_file: String,
    version: String,
}

impl SweepData {
    /// Reads the folder of a sweep.
    ///
    /// # Errors
    /// When it is none. Records that cannot be read are noted.
    pub(super) fn read(folder: &Path) -> Result<Self, SweepError> {
        let path = folder.join("origin.json");
        let none =
            |why: String| SweepError::Folder(format!("{} is not the folder of a sweep: {why}", folder.display()));
        let text = short_text(&path).map_err(|error| none(format!("origin.json: {error}")))?;
        let origin: Origin = serde_json::from_str(&text).map_err(|error| none(format!("origin.json: {error}")))?;
        let (names, mut notes) = (runs_in(folder)?, Vec::new());
        let mut data = Self {
            kind: "sweep",
            name: folder.canonicalize().unwrap_or_default().file_name().unwrap_or_default().to_string_lossy().into(),
            lab: origin.lab,
            total: origin.points.saturating_mul(origin.repetitions),
            repetitions: origin.repetitions,
            clock: origin.clock,
            lab_file: origin.lab_file,
            version: origin.version,
            parameters: parameters(folder),
            counts_all: counts_all(folder),
            lab_text: short_text(&folder.join("lab.yaml")).unwrap_or_default(),
            ..Self::default()
        };
        let mut gathering = Gathering::new(origin.points);
        for name in names {
            match record(&folder.join("runs").join(&name)) {
                Ok(Some(record)) => data.add(folder, &name, record, &mut gathering),
                Ok(None) => {}
                Err(why) => notes.push(format!("runs/{name}/run.json could not be read: {why}")),
            }
        }
        gathering.close(&mut data.points);
        data.figures = gathering.figures;
        let missing = data.total.saturating_sub(data.as_described + data.not_as_described + data.failed);
        if missing > 0 {
            notes.push(format!("{missing} of {} runs have not ended: netloom sweep --resume runs them", data.total));
        }
        if gathering.cut {
            notes.push("there are more points than the page has room for: points.csv has all".into());
        }
        notes.truncate(50);
        data.notes = notes;
        Ok(data)
    }

    fn add(&mut self, folder: &Path, name: &str, record: RunRecord, gathering: &mut Gathering) {
        match record.outcome {
            Outcome::AsDescribed => self.as_described += 1,
            Outcome::NotAsDescribed => self.not_as_described += 1,
            Outcome::Failed => self.failed += 1,
        }
        self.unmet += u64::from(record.unmet > 0 && record.outcome == Outcome::AsDescribed);
        if self.parameters.is_empty() {
            self.parameters = record.parameters.keys().cloned().collect();
        }
        let value = |parameter: &String| record.parameters.get(parameter).cloned().unwrap_or_default();
        let values: Vec<String> = self.parameters.iter().map(value).collect();
        let counts =
            record.outcome == Outcome::AsDescribed || record.outcome == Outcome::NotAsDescribed && self.counts_all;
        let place = record.results.as_ref().map(|path| format!("{}/", path.display()));
        let has_page = record
            .results
            .as_ref()
            .is_some_and(|path| path.is_relative() && folder.join(path).join(netloom_results::page::FILE).is_file());
        let RunRecord { run, point, repetition, seed, outcome, unmet, wall_s, .. } = record;
        if !counts {
            if self.left_out.len() < MOST_LEFT_OUT {
                let why = record.why.unwrap_or_default().chars().take(LONGEST_WHY).collect();
                let (name, values, place) = (name.to_owned(), values.clone(), place.clone());
                self.left_out.push(LeftOutData { run, name, values, outcome, why, place, has_page });
            } else {
                self.left_out_more += 1;
            }
        }
        if self.runs.len() < MOST_RUNS {
            let name = name.to_owned();
            self.runs.push(RunData { run, name, point, repetition, seed, outcome, unmet, wall_s, place, has_page });
        } else {
            self.runs_more += 1;
        }
        gathering.add(point, values, counts, &record.figures, &mut self.points);
    }
}

/// The point whose runs are being read.
struct Gathering {
    points: u64,
    figures: Vec<FigureName>,
    places: BTreeMap<String, usize>,
    open: Option<PointData>,
    values: Vec<Vec<f64>>,
    moments: Vec<Moments>,
    cells: usize,
    cut: bool,
}

impl Gathering {
    fn new(points: u64) -> Self {
        let (figures, places) = (Vec::new(), BTreeMap::new());
        let (values, moments) = (Vec::new(), Vec::new());
        Self { points, figures, places, open: None, values, moments, cells: 0, cut: false }
    }

    fn add(&mut self, point: u64, values: Vec<String>, counts: bool, figures: &[Figure], into: &mut Vec<PointData>) {
        if self.open.as_ref().is_none_or(|open| open.point != point) {
            self.close(into);
            self.open = Some(PointData { point, values, ..PointData::default() });
        }
        let Some(open) = &mut self.open else { return };
        if !counts {
            open.left_out += 1;
            return;
        }
        open.counted += 1;
        for figure in figures {
            let known = &mut self.figures;
            let place = *self.places.entry(figure.name.clone()).or_insert_with(|| {
                known.push(FigureName { name: figure.name.clone(), unit: figure.unit.clone() });
                known.len() - 1
            });
            if self.values.len() <= place {
                self.values.resize(place + 1, Vec::new());
                self.moments.resize(place + 1, Moments::default());
            }
            if let Some(value) = figure.value.filter(|value| value.is_finite()) {
                self.values[place].push(value);
                self.moments[place].add(value);
            }
        }
    }

    /// No more runs are of the point.
    fn close(&mut self, into: &mut Vec<PointData>) {
        let Some(mut point) = self.open.take() else { return };
        let count = self.values.len();
        self.cells += count.max(1);
        if self.cells > MOST_CELLS {
            self.cut = true;
        } else {
            let cells = self.points.saturating_mul(count as u64).max(1);
            let most = (VALUES / cells).clamp(LEAST_VALUES, MOST_VALUES) as usize;
            let both = self.values.iter_mut().zip(&self.moments);
            point.figures = both.map(|(values, moments)| Summary::of(values, moments, most)).collect();
            into.push(point);
        }
        self.values.iter_mut().for_each(Vec::clear);
        self.moments.fill(Moments::default());
    }
}

impl Summary {
    fn of(values: &mut [f64], moments: &Moments, most: usize) -> Self {
        values.sort_by(f64::total_cmp);
        let kept: Vec<f64> = if values.len() <= most {
            values.to_vec()
        } else {
            (0..most).filter_map(|place| quantile::between(values, place as f64 / (most - 1) as f64)).collect()
        };
        let at = |share| quantile::between(values, share).unwrap_or_default();
        let q = (!values.is_empty()).then(|| [0.0, 0.25, 0.5, 0.75, 1.0].map(|share| short(at(share))));
        Self {
            n: moments.count(),
            mean: moments.mean(),
            ci95: moments.half_width(),
            deviation: moments.deviation(),
            q,
            values: kept.into_iter().map(short).collect(),
        }
    }
}

/// Seven digits, which no plot tells from more.
fn short(value: f64) -> f64 {
    if value.fract() == 0.0 { value } else { format!("{value:.6e}").parse().unwrap_or(value) }
}

/// The names of the runs' folders in the order of their numbers.
fn runs_in(folder: &Path) -> Result<Vec<String>, SweepError> {
    let path = folder.join("runs");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(&path).map_err(SweepError::file(&path))? {
        let entry = entry.map_err(SweepError::file(&path))?;
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    // All numbers have the same length.
    names.sort();
    Ok(names)
}

/// None of a run that has not ended.
fn record(run: &Path) -> Result<Option<RunRecord>, String> {
    let path = run.join("run.json");
    match short_text(&path) {
        Ok(text) => serde_json::from_str(&text).map(Some).map_err(|error| error.to_string()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

/// The text of a regular file of bounded length: the folder may be a stranger's.
fn short_text(path: &Path) -> io::Result<String> {
    netloom_regular::read_text(path, LONGEST_RECORD)
}

/// The parameters in the order of the lab file, as the header of `runs.csv` has them; none without the file.
fn parameters(folder: &Path) -> Vec<String> {
    let header = || {
        let mut line = String::new();
        let path = folder.join("runs.csv");
        BufReader::new(netloom_regular::open(&path).ok()?).take(LONGEST_RECORD).read_line(&mut line).ok()?;
        let names: Vec<String> = line.trim_end().split(',').map(str::to_owned).collect();
        let end = names.iter().position(|name| name == "outcome")?;
        names.get(4..end).map(<[String]>::to_vec)
    };
    header().unwrap_or_default()
}

/// Whether runs that were not as described belong to the statistics.
fn counts_all(folder: &Path) -> bool {
    // The document may be long: only its beginning is needed, where the counts are.
    let text = netloom_regular::open(&folder.join("sweep.json")).and_then(|file| {
        let mut bytes = Vec::new();
        file.take(64 << 10).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    });
    let whole = text.as_deref().ok().and_then(|text| serde_json::from_str::<Value>(text).ok());
    match (whole, text) {
        (Some(document), _) => document["counts_all"].as_bool().unwrap_or(false),
        (None, Ok(text)) => text.contains("\"counts_all\": true"),
        (None, Err(_)) => false,
    }
}

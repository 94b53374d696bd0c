//! Two sweeps side by side: the difference of each figure at each point that both have, with its interval.

use super::gather::{FigureName, PointData, Summary, SweepData};
use crate::{SweepError, welch};
use netloom_results::page::{html, put};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// How many differences a page has at most.
const MOST: usize = 20_000;

/// Two sweeps, as the page wants them.
#[derive(Debug, Serialize)]
struct Comparison {
    kind: &'static str,
    sweeps: [SweepData; 2],
    /// The parameters that both have.
    parameters: Vec<String>,
    figures: Vec<FigureName>,
    rows: Vec<Row>,
    /// Points that only one of them has.
    unmatched: usize,
    left_out: usize,
}

/// A figure at a point.
#[derive(Debug, Serialize)]
struct Row {
    values: Vec<String>,
    /// Its place in `figures`.
    figure: usize,
    a: Side,
    b: Side,
    difference: Option<Difference>,
}

#[derive(Debug, Serialize)]
struct Side {
    n: u64,
    mean: Option<f64>,
    ci95: Option<f64>,
}

/// The second mean less the first.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Difference {
    pub(super) mean: f64,
    /// Half of the interval that has the true difference with 95 % confidence; none if a side has a single value.
    pub(super) ci95: Option<f64>,
}

/// Makes a page that compares two sweeps, at `path`.
///
/// # Errors
/// When one is not the folder of a sweep, they share no figure or no point, or the page cannot be written.
pub fn write_comparison(folders: [&PathBuf; 2], path: &Path) -> Result<(), SweepError> {
    let [first, second] = folders;
    let data = compare(SweepData::read(first)?, SweepData::read(second)?);
    if data.rows.is_empty() {
        let message = format!(
            "{} and {} have no figure at a point in common: sweeps are compared where their parameters have the same values",
            first.display(),
            second.display()
        );
        return Err(SweepError::Folder(message));
    }
    let title = format!("{} and {}", data.sweeps[0].name, data.sweeps[1].name);
    put(path, &html(&title, "", &data)).map_err(SweepError::file(path))
}

fn compare(first: SweepData, second: SweepData) -> Comparison {
    let parameters: Vec<String> =
        first.parameters.iter().filter(|name| second.parameters.contains(name)).cloned().collect();
    let figures: Vec<FigureName> =
        first.figures.iter().filter(|figure| second.figures.contains(figure)).cloned().collect();
    let of = |sweep: &SweepData, point: &PointData| -> Vec<String> {
        let value = |name: &String| {
            let place = sweep.parameters.iter().position(|known| known == name)?;
            point.values.get(place).cloned()
        };
        parameters.iter().map(|name| value(name).unwrap_or_default()).collect()
    };
    let others: BTreeMap<Vec<String>, &PointData> =
        second.points.iter().map(|point| (of(&second, point), point)).collect();
    let (mut rows, mut matched, mut left_out) = (Vec::new(), 0, 0);
    for point in &first.points {
        let values = of(&first, point);
        let Some(other) = others.get(&values) else { continue };
        matched += 1;
        for (place, figure) in figures.iter().enumerate() {
            let (a, b) = (summary(&first, point, figure), summary(&second, other, figure));
            if rows.len() < MOST {
                let difference = difference(&a, &b);
                rows.push(Row { values: values.clone(), figure: place, a: side(&a), b: side(&b), difference });
            } else {
                left_out += 1;
            }
        }
    }
    let unmatched = first.points.len() + second.points.len() - 2 * matched;
    Comparison { kind: "sweeps", sweeps: [first, second], parameters, figures, rows, unmatched, left_out }
}

fn summary(sweep: &SweepData, point: &PointData, figure: &FigureName) -> Summary {
    let place = sweep.figures.iter().position(|known| known == figure);
    place.and_then(|place| point.figures.get(place)).cloned().unwrap_or_default()
}

fn side(summary: &Summary) -> Side {
    Side { n: summary.n, mean: summary.mean, ci95: summary.ci95 }
}

/// The difference of two means, with its interval.
pub(super) fn difference(a: &Summary, b: &Summary) -> Option<Difference> {
    let mean = b.mean? - a.mean?;
    let interval = || welch((a.n, a.deviation?), (b.n, b.deviation?));
    Some(Difference { mean, ci95: interval() })
}

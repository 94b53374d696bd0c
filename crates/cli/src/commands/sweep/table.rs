//! Points and what they show, for a terminal.

use netloom_judge::{ExpectationRow, quantity};
use netloom_lab::Sweep;
use netloom_results::render::{self, Align, Table};
use netloom_sweep::{Moments, RunsRow, SweepFolder, Tables};
use std::fmt::Write;

/// More figures are left to the files.
const MOST_FIGURES: usize = 6;
/// More points, too.
const MOST_POINTS: usize = 200;
/// Runs that do not count are listed one by one up to here.
const MOST_LEFT_OUT: usize = 10;

/// The values of every point.
pub(super) fn points(sweep: &Sweep) -> Table {
    let names = sweep.parameters();
    let heads: Vec<(&str, Align)> =
        [("POINT", Align::Right)].into_iter().chain(names.iter().map(|name| (*name, Align::Left))).collect();
    let mut table = Table::new(&heads);
    for point in 0..sweep.points() {
        table.row([(point + 1).to_string()].into_iter().chain(sweep.values(point)).collect());
    }
    table
}

/// Means with their intervals, what was left out, and where the rest is.
pub(super) fn results(tables: &Tables, folder: &SweepFolder) -> String {
    let mut text = format!("{}\n{}", means(tables), render::expectations(&rows(tables)));
    let mut say = |line: String| {
        let _ = writeln!(text, "{line}");
    };
    if !tables.expectations.is_empty() {
        say(String::new());
    }
    if tables.points.iter().any(|point| point.counted > 1) {
        say("mean ± half of its 95 % confidence interval (Student's t)".into());
    }
    let repeated = || tables.points.iter().filter(|point| point.counted > 1).flat_map(|point| &point.figures);
    let is_constant = |moments: &Moments| moments.count() > 1 && moments.half_width().is_none();
    if repeated().next().is_some() && repeated().all(is_constant) {
        say("nothing random is in this sweep: runs of a point have the same values, so that they are no sample".into());
    } else if repeated().any(is_constant) {
        say("a mean without ± is that of values that are all the same".into());
    }
    if tables.points.len() > MOST_POINTS {
        say(format!("{} more points are in points.csv", tables.points.len() - MOST_POINTS));
    }
    if tables.figures.len() > MOST_FIGURES {
        let more = tables.figures.len() - MOST_FIGURES;
        say(format!("{more} more figures are in points.csv; `figures` in the lab file says which are wanted"));
    }
    let unmet =
        if tables.unmet > 0 { format!(", {} of them with unmet expectations", tables.unmet) } else { String::new() };
    let left = if tables.missing() > 0 { format!(", {} not completed", tables.missing()) } else { String::new() };
    say(format!(
        "{}: {} as described{unmet}, {} not, {} failed{left}",
        quantity::counted(usize::try_from(tables.total).unwrap_or(usize::MAX), "run"),
        tables.as_described,
        tables.not_as_described,
        tables.failed
    ));
    if tables.counts_all && tables.not_as_described > 0 {
        say("those that are not as described count, too (`sweep: {count: all}`)".into());
    }
    for out in tables.left_out.iter().take(MOST_LEFT_OUT) {
        let why = out.why.as_deref().unwrap_or_else(|| out.outcome.words());
        say(format!("not counted: {}: {}", out.name, why.lines().next().unwrap_or_default()));
    }
    let counted: u64 = tables.points.iter().map(|point| point.left_out).sum();
    if counted > MOST_LEFT_OUT as u64 {
        say(format!("and {} more, in runs.csv", counted - MOST_LEFT_OUT as u64));
    }
    say(format!("tables: {}", folder.path().join("points.csv").display()));
    text
}

/// What is expected of all runs together.
pub(super) fn rows(tables: &Tables) -> Vec<ExpectationRow> {
    let row = |row: &RunsRow| ExpectationRow {
        text: row.text.clone(),
        line: row.line,
        met: row.met,
        explanation: row.explanation.clone(),
    };
    tables.expectations.iter().map(row).collect()
}

fn means(tables: &Tables) -> Table {
    let figures: Vec<&(String, String)> = tables.figures.iter().take(MOST_FIGURES).collect();
    let parameters = tables.parameters.iter().map(|name| (name.as_str(), Align::Left));
    let heads: Vec<(&str, Align)> = parameters
        .chain([("n", Align::Right)])
        .chain(figures.iter().map(|(name, _)| (name.as_str(), Align::Right)))
        .collect();
    let mut table = Table::new(&heads);
    for point in tables.points.iter().take(MOST_POINTS) {
        let cell = |(place, (_, unit)): (usize, &&(String, String))| {
            point.figures.get(place).map_or_else(|| "-".into(), |moments| mean(moments, unit))
        };
        let values = point.values.iter().cloned().chain([point.counted.to_string()]);
        table.row(values.chain(figures.iter().enumerate().map(cell)).collect());
    }
    table
}

/// `9.41 ± 0.02 Mbit/s`
fn mean(moments: &Moments, unit: &str) -> String {
    let Some(mean) = moments.mean() else { return "-".into() };
    match moments.half_width() {
        None => quantity::figure(mean, unit),
        Some(half) => quantity::with_interval(mean, half, unit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_has_its_interval() {
        let mut moments = Moments::default();
        assert_eq!(mean(&moments, "packets"), "-");
        moments.add(4.0);
        assert_eq!(mean(&moments, "packets"), "4");
        moments.add(6.0);
        // t(1) = 12.7062; the deviation is 1.41421; divided by the root of 2, 12.7062.
        assert_eq!(mean(&moments, "packets"), "5 ± 12.71");
    }
}

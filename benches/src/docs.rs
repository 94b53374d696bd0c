//! Tables and plots of `docs/performance.md`: between `<!-- bench: NAME -->` and `<!-- end -->` stands what the last run of
//! that case with `--write-docs` measured.

use crate::report::{Outcome, Report};
use crate::row::{Figure, Finding, Row, ends, median, number};
use crate::server;
use crate::settings::OUTPUT;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

const BEGIN: &str = "<!-- bench: ";
const CLOSED: &str = " -->\n";
const END: &str = "<!-- end -->";
/// Besides those of cases: what was measured on, and what that means for larger machines.
const MACHINE: &str = "machine";
const SERVER: &str = "server";

/// Writes what this run measured into the manual; the rest stays as it was.
pub(crate) fn write(report: &Report) -> Result<(), String> {
    let docs = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs");
    let page = docs.join("performance.md");
    let failed = |error: std::io::Error| format!("writing {}: {error}", page.display());
    let text = fs::read_to_string(&page).map_err(failed)?;
    fs::write(&page, filled(&text, |name| section(report, name))?).map_err(failed)?;
    for outcome in &report.outcomes {
        let name = format!("{}.svg", outcome.case.name);
        let (from, to) = (Path::new(OUTPUT).join(&name), docs.join("images").join(&name));
        if !outcome.figures.is_empty() {
            fs::copy(&from, &to).map_err(|error| format!("copying {}: {error}", from.display()))?;
        }
    }
    eprintln!("written: {}", page.display());
    Ok(())
}

/// What stands between the marks of this name; none if this run has not measured it.
fn section(report: &Report, name: &str) -> Option<String> {
    match name {
        MACHINE => Some(machine(report)),
        SERVER => server::arithmetic(report),
        case => report.outcomes.iter().find(|outcome| outcome.case.name == case && outcome.rows.is_ok()).map(table),
    }
}

/// What was measured on, and how quiet it was.
fn machine(report: &Report) -> String {
    let busy: Vec<f64> = report.outcomes.iter().map(|outcome| outcome.load.busy).collect();
    let (typical, most) = (median(&busy).unwrap_or(f64::NAN), ends(&busy).1);
    format!(
        "{}. Just before each case something else kept {} processors busy at the median, and {} at most.\n",
        report.machine.words(),
        number(typical),
        number(most)
    )
}

fn table(outcome: &Outcome) -> String {
    let mut text = pivoted(outcome.rows()).unwrap_or_else(|| plain(outcome.rows()));
    if !outcome.figures.is_empty() {
        let _ = writeln!(text, "\n![{}](images/{}.svg)", outcome.case.title, outcome.case.name);
    }
    text
}

/// A line for each row, without columns that are empty.
fn plain(rows: &[Row]) -> String {
    let heads = ["case", "goal", "measured", "ratio", "spread", ""].map(str::to_owned);
    let cells: Vec<[String; 6]> = rows.iter().map(Row::cells).collect();
    let used = |column: &usize| cells.iter().any(|line| !line[*column].is_empty());
    let columns: Vec<usize> = (0..heads.len()).filter(used).collect();
    let picked = |line: &[String; 6]| columns.iter().map(|column| line[*column].clone()).collect::<Vec<_>>();
    markdown(&picked(&heads), cells.iter().map(picked))
}

/// Of figures without goals that are called "WHERE, WHAT": a line for each WHERE, and a column for each WHAT.
fn pivoted(rows: &[Row]) -> Option<String> {
    let (mut places, mut heads): (Vec<&str>, Vec<String>) = (Vec::new(), Vec::new());
    let mut cells = BTreeMap::new();
    for row in rows {
        let Finding::Number(Figure { goal: None, against: None, unit, .. }) = &row.finding else { return None };
        let (place, what) = row.what.split_once(", ")?;
        let head = format!("{what} ({unit})");
        if !places.contains(&place) {
            places.push(place);
        }
        if !heads.contains(&head) {
            heads.push(head.clone());
        }
        let [_, _, measured, _, spread, _] = row.cells();
        let median = measured.trim_end_matches(unit).trim_end();
        // The number of rounds is the same everywhere.
        let ends = spread.split(" (").next().unwrap_or_default();
        cells.insert((place, head), format!("{median} ({ends})"));
    }
    let lines = places.iter().map(|place| {
        let of = |head: &String| cells.get(&(*place, head.clone())).cloned().unwrap_or_default();
        std::iter::once((*place).to_owned()).chain(heads.iter().map(of)).collect()
    });
    let head: Vec<String> = std::iter::once("with".to_owned()).chain(heads.iter().cloned()).collect();
    Some(markdown(&head, lines))
}

fn markdown(head: &[String], lines: impl Iterator<Item = Vec<String>>) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let escaped = |cells: Vec<String>| cells.iter().map(|cell| cell.replace('|', "\\|")).collect::<Vec<_>>();
    let body: String = lines.map(|cells| line(&escaped(cells))).collect();
    format!("{}|{}\n{body}", line(head), "---|".repeat(head.len()))
}

/// The text with new contents between marks.
fn filled(text: &str, contents: impl Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut result = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(BEGIN) {
        let (name, body) = after.split_once(CLOSED).ok_or("a mark `<!-- bench: NAME -->` does not end its line")?;
        let (old, next) = body.split_once(END).ok_or_else(|| format!("no {END} follows the mark of {name}"))?;
        let new = contents(name).unwrap_or_else(|| old.to_owned());
        let _ = write!(result, "{before}{BEGIN}{name}{CLOSED}{new}{END}");
        rest = next;
    }
    Ok(result + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_measured_is_replaced() {
        let page = "# A\n<!-- bench: one -->\nold\n<!-- end -->\nwords\n<!-- bench: two -->\n<!-- end -->\n";
        let new = |name: &str| (name == "two").then(|| "new\n".to_owned());
        let expected = "# A\n<!-- bench: one -->\nold\n<!-- end -->\nwords\n<!-- bench: two -->\nnew\n<!-- end -->\n";
        assert_eq!(filled(page, new).as_deref(), Ok(expected));
        assert!(filled("<!-- bench: one -->\n", new).is_err());
    }

    #[test]
    fn figures_of_growth_become_a_line_for_each_size() {
        let row = |what: &str, samples: &[f64]| Row::number(what, "ns", samples.to_vec()).unwrap();
        let rows = [row("1 pipe, cost", &[5.0, 4.0, 6.0]), row("2 pipes, cost", &[7.0]), row("1 pipe, lost", &[0.0])];
        let table = pivoted(&rows).unwrap();
        assert_eq!(
            table,
            "| with | cost (ns) | lost (ns) |\n|---|---|---|\n| 1 pipe | 5 (4 to 6) | 0 (one round) |\n\
             | 2 pipes | 7 (one round) |  |\n"
        );
        assert!(pivoted(&[Row::absent("a peer", "not installed")]).is_none());
    }

    #[test]
    fn the_manual_has_a_place_for_every_case_but_those_of_the_clocks() {
        let page = include_str!("../../docs/performance.md");
        for case in crate::goals::CASES.iter().chain(&crate::growth::CASES).chain(&crate::peers::CASES) {
            assert!(page.contains(&format!("{BEGIN}{}{CLOSED}", case.name)), "no mark for {}", case.name);
        }
        for name in [MACHINE, SERVER] {
            assert!(page.contains(&format!("{BEGIN}{name}{CLOSED}")), "no mark for {name}");
        }
        assert!(filled(page, |_| None).is_ok_and(|filled| filled == page));
    }
}

//! What was seen: a line per lab, and a table at the end.

use crate::script::Script;
use crate::trial::Outcome;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A lab in a line.
pub(crate) fn line(script: &Script, outcome: &Outcome) -> String {
    let how = if script.up { "up " } else { "run" };
    let who = if script.as_nobody { "nobody" } else { "own" };
    let verdict = if outcome.problems.is_empty() { "ok" } else { "FOUND SOMETHING" };
    format!(
        "{:4}  {how} {who:6}  {:44}  {:2} actions  {:14}  {:9}  {:5.1} s  {:4} MiB  {verdict}",
        script.index,
        script.summary,
        outcome.log.len(),
        outcome.ended_by,
        code(outcome.code),
        outcome.seconds,
        outcome.peak_bytes >> 20,
    )
}

fn code(code: Option<i32>) -> String {
    code.map_or_else(|| "-".to_owned(), |code| format!("exit {code}"))
}

/// All labs, by what ended them.
#[derive(Debug, Default)]
pub(crate) struct Table(BTreeMap<String, Row>);

#[derive(Debug, Default)]
struct Row {
    labs: usize,
    with_problems: usize,
    codes: BTreeSet<Option<i32>>,
    peak_bytes: u64,
}

impl Table {
    pub(crate) fn add(&mut self, outcome: &Outcome) {
        let row = self.0.entry(outcome.ended_by.clone()).or_default();
        row.labs += 1;
        row.with_problems += usize::from(!outcome.problems.is_empty());
        row.codes.insert(outcome.code);
        row.peak_bytes = row.peak_bytes.max(outcome.peak_bytes);
    }

    /// Whether nothing was found.
    pub(crate) fn is_clean(&self) -> bool {
        self.0.values().all(|row| row.with_problems == 0)
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\n{:14}  {:>5}  {:>9}  {:>9}  exit codes of runs", "ended", "labs", "problems", "most MiB")?;
        for (ended, row) in &self.0 {
            let codes: Vec<String> =
                row.codes.iter().map(|one| one.map_or_else(|| "none".into(), |code| code.to_string())).collect();
            let (labs, problems) = (row.labs, row.with_problems);
            writeln!(f, "{ended:14}  {labs:5}  {problems:9}  {:9}  {}", row.peak_bytes >> 20, codes.join(", "))?;
        }
        let labs: usize = self.0.values().map(|row| row.labs).sum();
        let problems: usize = self.0.values().map(|row| row.with_problems).sum();
        write!(f, "{labs} labs, {problems} of them with problems")
    }
}

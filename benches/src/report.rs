//! What a run of the benchmarks found: as one table, and as JSON.

use crate::case::Case;
use crate::machine::{Load, Machine};
use crate::row::{self, Row};
use serde_json::{Value, json};
use std::fmt::Write;

/// What became of a case.
pub(crate) struct Outcome {
    pub(crate) case: Case,
    /// How busy the machine was just before.
    pub(crate) load: Load,
    /// Or why there are none.
    pub(crate) rows: Result<Vec<Row>, String>,
    /// SVG.
    pub(crate) figures: Vec<String>,
    pub(crate) seconds: f64,
}

/// A whole run.
pub(crate) struct Report {
    pub(crate) machine: Machine,
    pub(crate) outcomes: Vec<Outcome>,
    pub(crate) quick: bool,
    pub(crate) seconds: f64,
}

impl Outcome {
    pub(crate) fn rows(&self) -> &[Row] {
        self.rows.as_deref().unwrap_or_default()
    }
}

impl Report {
    pub(crate) fn all_measured(&self) -> bool {
        self.outcomes.iter().all(|outcome| outcome.rows.is_ok())
    }

    /// How many goals were met, and how many there were.
    pub(crate) fn goals(&self) -> (usize, usize) {
        let goals: Vec<bool> = self.outcomes.iter().flat_map(Outcome::rows).filter_map(Row::met).collect();
        (goals.iter().filter(|met| **met).count(), goals.len())
    }

    /// All figures in one table.
    pub(crate) fn table(&self) -> String {
        let mut rows = Vec::new();
        for Outcome { case, rows: found, .. } in &self.outcomes {
            match found {
                Ok(found) => rows.extend(found.iter().map(|row| row.under(case.name))),
                Err(reason) => rows.push(Row::absent(case.name, format!("NOT MEASURED: {reason}"))),
            }
        }
        let (met, total) = self.goals();
        let mut text = row::table(&rows);
        let hint = if self.quick { "; --quick shows that all cases run, its figures mean little" } else { "" };
        let _ = write!(text, "\n{met} of {total} goals met, in {:.0} s{hint}", self.seconds);
        text
    }

    /// All that is known of it, for programs.
    pub(crate) fn json(&self) -> Value {
        let cases = self.outcomes.iter().map(|outcome| {
            json!({
                "case": outcome.case.name,
                "title": outcome.case.title,
                "seconds": outcome.seconds,
                "load_before": outcome.load.json(),
                "error": outcome.rows.as_ref().err(),
                "rows": outcome.rows().iter().map(|row| row.json(outcome.case.name)).collect::<Vec<_>>(),
            })
        });
        let (met, total) = self.goals();
        json!({
            "machine": self.machine.json(),
            "quick": self.quick,
            "seconds": self.seconds,
            "goals": total,
            "goals_met": met,
            "cases": cases.collect::<Vec<_>>(),
        })
    }
}

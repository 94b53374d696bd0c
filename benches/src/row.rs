//! One measured figure beside its goal.

use serde_json::json;
use std::fmt::Write;

/// See the module.
pub(crate) struct Row {
    pub(crate) what: String,
    pub(crate) goal: String,
    pub(crate) measured: String,
    /// Whether the goal was met; none where there is no goal.
    pub(crate) met: Option<bool>,
}

/// The rows as aligned text.
pub(crate) fn table(title: &str, rows: &[Row]) -> String {
    let width = |cell: fn(&Row) -> &str, head: &str| {
        rows.iter().map(|row| cell(row).chars().count()).chain([head.len()]).max().unwrap_or(0)
    };
    let (what, goal) = (width(|row| &row.what, "case"), width(|row| &row.goal, "goal"));
    let measured = width(|row| &row.measured, "measured");
    let mut text = format!("\n{title}\n{:what$}  {:goal$}  {:measured$}\n", "case", "goal", "measured");
    for row in rows {
        let verdict = row.met.map_or("", |met| if met { "met" } else { "MISSED" });
        let _ = writeln!(text, "{:what$}  {:goal$}  {:measured$}  {verdict}", row.what, row.goal, row.measured);
    }
    text
}

/// The rows for programs.
pub(crate) fn json(results: &[(&str, Vec<Row>)]) -> String {
    let rows = results.iter().flat_map(|(case, rows)| {
        rows.iter().map(move |row| {
            json!({"case": case, "what": row.what, "goal": row.goal, "measured": row.measured, "met": row.met})
        })
    });
    serde_json::to_string_pretty(&rows.collect::<Vec<_>>()).unwrap_or_default()
}

/// The least and the greatest value, in units of `unit`, for the table.
pub(crate) fn range(values: &[f64], unit: f64) -> String {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min) / unit;
    let greatest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max) / unit;
    format!("{least:.1} to {greatest:.1}")
}

/// The middle value; the lower of the two middle ones.
pub(crate) fn median(mut values: Vec<f64>) -> Result<f64, String> {
    values.sort_by(f64::total_cmp);
    values.get(values.len().saturating_sub(1) / 2).copied().ok_or_else(|| "no value was measured".to_owned())
}

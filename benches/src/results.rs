//! The files with what a run of the benchmarks found: JSON for programs, and a page.

use crate::page;
use crate::report::Report;
use crate::settings::OUTPUT;
use std::fs;
use std::path::Path;

/// Where the figures for programs go.
const JSON: &str = "results/bench.json";

/// Writes JSON and page; tells where.
pub(crate) fn write(report: &Report) -> Result<String, String> {
    let page = Path::new(OUTPUT).join("index.html");
    let json = serde_json::to_string_pretty(&report.json()).map_err(|error| format!("writing {JSON}: {error}"))?;
    for (path, text) in [(Path::new(JSON), json), (&page, page::html(report))] {
        let written = fs::create_dir_all(OUTPUT).and_then(|()| fs::write(path, text));
        written.map_err(|error| format!("writing {}: {error}", path.display()))?;
    }
    Ok(format!("figures: {JSON}\npage: {}", page.display()))
}

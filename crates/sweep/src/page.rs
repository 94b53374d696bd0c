//! `report.html` of a sweep, and of two side by side: what the files of a sweep's folder say, for the page that `web/report` draws.
//!
//! Runs are read one after the other, point by point, so that memory does not grow with their number. The page has of each point and figure all
//! values, or as many of their quantiles as there is room for.

mod compare;
mod gather;
#[cfg(test)]
mod tests;

use crate::SweepError;
pub use compare::write_comparison;
use gather::SweepData;
use netloom_results::page::{FILE, html, put};
use std::path::{Path, PathBuf};

/// Whether this is the folder of a sweep.
pub fn is_sweep(folder: &Path) -> bool {
    folder.join("origin.json").is_file()
}

/// Makes the page of a sweep, in its folder, and says where it is. Runs that have not ended are not in it.
///
/// # Errors
/// When it is not the folder of a sweep, or the page cannot be written.
pub fn write(folder: &Path) -> Result<PathBuf, SweepError> {
    let data = SweepData::read(folder)?;
    let words = netloom_regular::read_text(&folder.join("points.csv"), 256 << 20).unwrap_or_default();
    let path = folder.join(FILE);
    put(&path, &html(&format!("sweep {}", data.lab), &shortened(&words), &data)).map_err(SweepError::file(&path))?;
    Ok(path)
}

/// The first lines, for those who run no programs.
fn shortened(words: &str) -> String {
    words.lines().take(200).fold(String::new(), |text, line| text + line + "\n")
}

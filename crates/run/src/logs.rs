//! Which results folder holds the logs of a lab.

use netloom_control::{ControlError, find};
use netloom_judge::RunError;
use netloom_results::{COMMANDS, Logs};
use std::path::Path;

/// Finds the logs of the lab with this name, which is up, or those in this results folder.
///
/// # Errors
/// [`RunError::Lab`] if there is neither.
pub fn logs_of(lab: &str) -> Result<Logs, RunError> {
    if lab.contains('/') || Path::new(lab).join(COMMANDS).exists() {
        return Ok(Logs::in_folder(Path::new(lab))?);
    }
    let latest = Path::new("results").join(lab).join("latest");
    let running = find(lab).map_err(|error| match error {
        ControlError::NoSuchLab { .. } if latest.join(COMMANDS).exists() => {
            RunError::Lab(format!("{error}; its last run: netloom logs {}", latest.display()))
        }
        other => other.into(),
    })?;
    let folder = running.state.and_then(|state| state.results);
    let folder = folder.ok_or_else(|| RunError::Lab(format!("lab `{lab}` is still starting")))?;
    Ok(Logs::in_folder(&folder)?)
}

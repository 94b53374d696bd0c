//! Which results folder holds the logs of a lab.

use netloom_control::find;
use netloom_judge::RunError;
use netloom_results::{COMMANDS, Logs};
use std::path::Path;

/// Finds the logs of the lab with this name, which is up, or those in this results folder.
///
/// # Errors
/// [`RunError::Lab`] if there is neither.
pub fn logs_of(lab: &str) -> Result<Logs, RunError> {
    if lab.contains('/') || Path::new(lab).join(COMMANDS).exists() {
        return Logs::in_folder(Path::new(lab));
    }
    let latest = Path::new("results").join(lab).join("latest");
    let running = find(lab).map_err(|error| match error {
        RunError::Lab(text) if latest.join(COMMANDS).exists() => {
            RunError::Lab(format!("{text}; its last run: netloom logs {}", latest.display()))
        }
        other => other,
    })?;
    let folder = running.state.and_then(|state| state.results);
    Logs::in_folder(&folder.ok_or_else(|| RunError::Lab(format!("lab `{lab}` is still starting")))?)
}

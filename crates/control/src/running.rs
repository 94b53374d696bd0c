//! Which labs of this user are up.

use netloom_host::runtime::{self, RunningLab, RuntimeError};
use netloom_judge::RunError;
use std::path::Path;

/// The names of the labs of this user that are up.
///
/// # Errors
/// [`RunError::Machine`] if the runtime folder cannot be read.
pub fn running_labs() -> Result<Vec<String>, RunError> {
    Ok(running()?.into_iter().map(|lab| lab.name).collect())
}

pub(crate) fn running() -> Result<Vec<RunningLab>, RunError> {
    runtime::sweep_stale().map_err(refused)?;
    runtime::list().map_err(refused)
}

/// Whether a lab of this user is up whose results and logs go to `folder`.
pub fn holds(folder: &Path) -> Result<bool, RunError> {
    let is_there = |lab: &RunningLab| lab.state.as_ref().and_then(|state| state.results.as_deref()) == Some(folder);
    Ok(runtime::list().map_err(refused)?.iter().any(is_there))
}

/// The lab of this name.
///
/// # Errors
/// [`RunError::Lab`] with the names of those that are up, if it is not.
pub fn find(lab: &str) -> Result<RunningLab, RunError> {
    runtime::find(lab).map_err(refused)?.ok_or_else(|| RunError::Lab(no_such_lab(lab)))
}

/// The names of the labs that are up, for a message about a wrong name.
fn no_such_lab(lab: &str) -> String {
    let names = running_labs().unwrap_or_default();
    if names.is_empty() {
        return format!("no lab `{lab}` is up: no labs are running");
    }
    format!("no lab `{lab}` is up; these are: {}", names.join(", "))
}

#[expect(clippy::needless_pass_by_value, reason = "made for map_err")]
pub(crate) fn refused(error: RuntimeError) -> RunError {
    RunError::Machine(error.to_string())
}

/// The name of the only lab that is up, for commands that were given none.
///
/// # Errors
/// [`RunError::Lab`] if none or several are.
pub fn only_lab() -> Result<String, RunError> {
    let mut labs = running_labs()?;
    match (labs.pop(), labs.is_empty()) {
        (Some(lab), true) => Ok(lab),
        (None, _) => Err(RunError::Lab("no lab is up".into())),
        (Some(last), false) => {
            labs.push(last);
            Err(RunError::Lab(format!("several labs are up, name one: {}", labs.join(", "))))
        }
    }
}

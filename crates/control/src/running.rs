//! Which labs of this user are up.

use crate::error::ControlError;
use netloom_host::runtime::{self, RunningLab};
use std::path::Path;

/// The names of the labs of this user that are up, without those that are parts of labs over several machines.
///
/// # Errors
/// [`ControlError::Runtime`] if the runtime folder cannot be read.
pub fn running_labs() -> Result<Vec<String>, ControlError> {
    let is_part = |lab: &RunningLab| lab.state.as_ref().is_some_and(|state| state.is_part);
    Ok(running()?.into_iter().filter(|lab| !is_part(lab)).map(|lab| lab.name).collect())
}

pub(crate) fn running() -> Result<Vec<RunningLab>, ControlError> {
    runtime::sweep_stale()?;
    Ok(runtime::list()?)
}

/// Whether a lab of this user is up whose results and logs go to `folder`.
pub fn holds(folder: &Path) -> Result<bool, ControlError> {
    let is_there = |lab: &RunningLab| lab.state.as_ref().and_then(|state| state.results.as_deref()) == Some(folder);
    Ok(runtime::list()?.iter().any(is_there))
}

/// The lab of this name.
///
/// # Errors
/// [`ControlError::NoSuchLab`] with the names of those that are up, if it is not.
pub fn find(lab: &str) -> Result<RunningLab, ControlError> {
    let no_such_lab = || ControlError::NoSuchLab { lab: lab.to_owned(), up: running_labs().unwrap_or_default() };
    runtime::find(lab)?.ok_or_else(no_such_lab)
}

/// The name of the only lab that is up, for commands that were given none.
///
/// # Errors
/// [`ControlError::NoLab`] if none is, [`ControlError::SeveralLabs`] if several are.
pub fn only_lab() -> Result<String, ControlError> {
    let mut labs = running_labs()?;
    match (labs.pop(), labs.is_empty()) {
        (Some(lab), true) => Ok(lab),
        (None, _) => Err(ControlError::NoLab),
        (Some(last), false) => {
            labs.push(last);
            Err(ControlError::SeveralLabs(labs))
        }
    }
}

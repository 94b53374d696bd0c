//! What the host crate could not do for a lab, as the reason why a run failed.

use crate::bare;
use netloom_host::lab::LabError;
use netloom_judge::RunError;
use netloom_lab::Plan;

/// Returns the error for a lab of this plan that has no process.
pub fn of_lab(error: &LabError, plan: &Plan) -> RunError {
    match error {
        LabError::Refused { .. } if !bare::can_be_without(plan) => {
            RunError::Machine(format!("{error}\n{}", bare::way_out(plan)))
        }
        LabError::Died { .. } => RunError::Died(error.to_string()),
        LabError::Refused { .. } | LabError::Channel(_) => RunError::Machine(error.to_string()),
    }
}

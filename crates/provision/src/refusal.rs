//! What the host crate could not do for a lab, as the reason why a run failed.

use netloom_host::KernelError;
use netloom_host::lab::LabError;
use netloom_host::node::NodeError;
use netloom_judge::RunError;

/// What the kernel refused while the lab was set up. It knows no process of ours only if that was killed meanwhile.
pub(crate) fn in_set_up(error: &KernelError) -> RunError {
    if error.errno() == libc::ESRCH {
        return RunError::Died(format!("{error}: it was killed while the lab was set up"));
    }
    RunError::Machine(error.to_string())
}

/// A node that failed while the lab was set up.
pub fn of_node(error: NodeError) -> RunError {
    match error {
        NodeError::Gone { .. } => RunError::Died(error.to_string()),
        NodeError::Refused { node, error } => match in_set_up(&error) {
            RunError::Died(text) => RunError::Died(format!("node {node}: {text}")),
            _ => RunError::Machine(format!("node {node}: {error}")),
        },
        NodeError::Kernel { .. } => RunError::Machine(error.to_string()),
    }
}

/// A lab process that there is not.
pub fn of_lab(error: &LabError) -> RunError {
    match error {
        LabError::Died { .. } => RunError::Died(error.to_string()),
        LabError::Refused { .. } | LabError::Channel(_) => RunError::Machine(error.to_string()),
    }
}

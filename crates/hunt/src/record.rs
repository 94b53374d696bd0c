//! What is known of a finding.

use crate::branches::Branches;
use crate::cause::Difference;
use crate::failure::Failure;
use crate::faults::Fault;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A finding: `finding.json` in its folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingRecord {
    /// The number of the finding, from 1.
    pub finding: usize,
    /// The failure.
    pub failure: Failure,
    /// The run in which it failed first; 0 is the one without faults.
    pub run: u64,
    /// The faults of that run.
    pub original: Vec<Fault>,
    /// The faults that are enough.
    pub minimal: Vec<Fault>,
    /// How many runs shrinking took.
    pub shrink_runs: usize,
    /// Whether both runs failed in the same way when they were played again.
    pub is_repeated: bool,
    /// The effects of each fault of the minimal run, in their order.
    pub causes: Vec<Cause>,
    /// How often the minimal run fails if it takes another course from an instant on, in the order of the instants; empty if that was not searched.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub branches: Vec<Branches>,
    /// Files that the lab names and that are not beside `minimal.yaml`: it finds them only where the lab file is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files_elsewhere: Vec<PathBuf>,
}

/// The choices of a finding: `choices.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KeptChoices {
    /// The choices of the run in which it failed first.
    pub(crate) original: Vec<u64>,
    /// The choices of the minimal run.
    pub(crate) minimal: Vec<u64>,
    /// Other failures that runs had while it was shrunk, each with the choices of such a run: they become findings, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) others: Vec<(Failure, Vec<u64>)>,
}

/// The effects of a fault of a minimal run: how the run differs without it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cause {
    /// The entries of the timeline that the fault is.
    pub entries: Vec<String>,
    /// Whether the run fails without it in the same way.
    pub fails_without: bool,
    /// The first lines of logs that differ.
    pub differences: Vec<Difference>,
}

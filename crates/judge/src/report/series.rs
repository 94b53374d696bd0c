use serde::{Deserialize, Serialize};

/// The file with the samples of pipes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SampleReport {
    /// The file with one row per pipe and sample, in the results folder.
    pub file: String,
    /// The interval between samples, in nanoseconds of lab time.
    pub step_ns: u64,
    /// Whether it was measured how long packets took through pipes.
    pub delays: bool,
    /// The number of rows in the file.
    pub rows: u64,
    /// Samples that are missing because the machine was too slow.
    #[serde(default)]
    pub left_out: u64,
    /// When the file had as many rows as it may have, so that later samples are missing: after time zero. None: it never had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full_at_ns: Option<u64>,
}

/// The file with the samples of the resources that nodes use.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeSampleReport {
    /// The file with one row per node and sample, in the results folder.
    pub file: String,
    /// The number of rows in the file.
    pub rows: u64,
    /// The nodes that had as many rows as there may be: later samples of them are missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub full: Vec<String>,
}

//! A run of a search for a dilation, beside the others.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// One run of a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// The clock, as a lab file would have it.
    pub clock: String,
    /// By how much lab time was slower than wall time.
    pub dilation: Option<f64>,
    /// Whether the network was as described.
    pub as_described: bool,
    /// The verdict in one line.
    pub verdict: String,
    /// The largest 99th percentile of lateness of the pipes, in lab time.
    pub lateness_p99_ns: Option<u64>,
    /// The largest share by which a pipe's achieved rate differs from the described one, among the pipes whose rate is judged.
    pub worst_rate_error: Option<f64>,
    /// The share of a processor that the engine used.
    pub engine_cpu_share: Option<f64>,
    /// How long the run took in wall time.
    pub wall_ns: u64,
    /// The folder with the results of the run.
    pub results: PathBuf,
}

//! What is known of a lab that is up, before the verdict.

use netloom_judge::{ExpectationRow, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The verdict as it would be if the lab ended now, as far as the lab knows it: what happened inside nodes is judged at the end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SoFar {
    /// The lab time since the engine started, in nanoseconds.
    pub at_ns: u64,
    /// The lab time since time zero, in nanoseconds.
    pub since_zero_ns: u64,
    /// The verdict on the run so far.
    pub verdict: Verdict,
    /// The expectations of the run, each with whether it holds so far; empty in the mode `up`, which runs no timeline.
    pub expectations: Vec<ExpectationRow>,
    /// The lateness of packets, pipe by pipe in the order of `stats`.
    pub pipes: Vec<PipeLateness>,
}

/// By how much later than due packets of a pipe were delivered, since the engine started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PipeLateness {
    /// The link's name.
    pub link: String,
    /// `forward` or `backward`; `shared` of a shared medium.
    pub direction: String,
    /// The name of a further pipe; none: the direction's own.
    pub pipe: Option<String>,
    /// How many packets were delivered and measured.
    pub packets: u64,
    /// The median; none without packets, and of pipes that end at a transit device, where packets go on in computed time.
    pub p50_ns: Option<u64>,
    /// The 99th percentile.
    pub p99_ns: Option<u64>,
    /// The largest.
    pub max_ns: Option<u64>,
}

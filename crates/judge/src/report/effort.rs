//! What a run cost this machine: wall time, and processor time, from time zero to the end. None of it is part of the results
//! that two runs have in common.

use serde::{Deserialize, Serialize};

/// The cost of a run: its wall time, and the shares of processors that it used. Times are wall time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Effort {
    /// The clock, as a lab file would have it.
    pub clock: String,
    /// By how much lab time was slower than wall time; none in virtual time.
    pub dilation: Option<f64>,
    /// How long the run took.
    pub wall_ns: u64,
    /// The share of a processor that the engine used, all its threads together; none in virtual time, which has no engine.
    pub engine_cpu_share: Option<f64>,
    /// The share of a processor that each thread of the engine used: one for each shard. Empty in virtual time.
    #[serde(default)]
    pub engine_thread_shares: Vec<f64>,
    /// The nodes with kernels of their own.
    pub nodes: Vec<NodeEffort>,
    /// The cost of the scheduler of virtual time.
    pub scheduler: Option<SchedulerEffort>,
}

/// The processor time that a node's kernel used, with the programs on it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NodeEffort {
    /// The node.
    pub node: String,
    /// The share of the time in which the node ran.
    pub ran_share: f64,
    /// The share of the time in which the node could have run and others did.
    pub waited_share: f64,
}

/// The counters of the scheduler of virtual time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SchedulerEffort {
    /// Packets that interfaces of nodes sent and received, by segments.
    pub packets: u64,
    /// Packets that interfaces of nodes sent and received, by segments, per second of wall time.
    pub packets_per_wall_second: f64,
    /// Super-packets and packets that kernels sent and received, those of their agents included.
    pub frames: u64,
    /// The number of windows: stretches of lab time that were run at once.
    pub windows: u64,
    /// The number of rounds: windows at one instant, where links left no lookahead.
    pub rounds: u64,
    /// How often a kernel was let run.
    pub grants: u64,
    /// The wall time in which the scheduler waited for kernels.
    pub waited_ns: u64,
    /// The processor time of the thread in which the scheduler runs, and which also carries out the timeline.
    #[serde(default)]
    pub ran_ns: u64,
}

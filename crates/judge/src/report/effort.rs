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
    /// The wall time by phases; none of a link without a lab.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phases: Option<Phases>,
    /// The nodes with kernels of their own.
    pub nodes: Vec<NodeEffort>,
    /// The cost of the scheduler of virtual time.
    pub scheduler: Option<SchedulerEffort>,
}

/// The wall time of a run or a simulation by phases: together, the time from the beginning of the command until the results are there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phases {
    /// The time until time zero, but for the boot: the lab is read and planned, nodes and links are made, and services start.
    pub setup_ns: u64,
    /// The time until the kernels and virtual machines that were started are nodes; 0 without any.
    pub boot_ns: u64,
    /// The time from time zero until the end begins.
    pub lab_ns: u64,
    /// The time until the last program has ended.
    pub end_ns: u64,
    /// The time until results, plots and page are written.
    pub results_ns: u64,
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
    /// Packets (segments) that interfaces of nodes sent. Each counts once, however many links and transit devices it crosses, and whether
    /// it arrives or not; a router with a kernel of its own sends what it forwards, which counts again.
    pub packets: u64,
    /// The same packets per second of wall time.
    pub packets_per_wall_second: f64,
    /// Super-packets and packets that kernels sent and received, those of their agents included.
    pub frames: u64,
    /// The number of windows: stretches of lab time that were run at once.
    pub windows: u64,
    /// The number of rounds: windows at one instant, where links left no lookahead.
    pub rounds: u64,
    /// How often a kernel was let run.
    pub grants: u64,
    /// How often a kernel went to another processor of this machine.
    #[serde(default)]
    pub moves: u64,
    /// The wall time in which the scheduler waited for kernels.
    pub waited_ns: u64,
    /// The processor time of the thread in which the scheduler runs, and which also carries out the timeline.
    #[serde(default)]
    pub ran_ns: u64,
}

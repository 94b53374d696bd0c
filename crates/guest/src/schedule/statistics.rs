//! What the scheduler counts: how much was done, and where the wall time went.

use std::time::Duration;

/// The work of a scheduler so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Windows of all groups of kernels, rounds included.
    pub windows: u64,
    /// Rounds at one instant, where the links left no lookahead; [`Statistics::windows`] includes them.
    pub rounds: u64,
    /// How often a kernel was let run.
    pub grants: u64,
    /// How often a kernel went to another processor.
    pub moves: u64,
    /// Frames that kernels sent and received, those of agents included.
    pub frames: u64,
    /// The packets in those that interfaces sent: a frame with ten segments counts ten. What a kernel receives was counted when another sent it.
    pub packets: u64,
    /// Frames that came to a kernel that had powered itself off, or went out of a device without a link.
    pub lost: u64,
    /// Wall time in which the scheduler waited for kernels.
    pub waited: Duration,
}

/// The contribution of one kernel to the [`Statistics`] of a scheduler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MachineStatistics {
    /// How often it was let run.
    pub grants: u64,
    /// Frames that it was given.
    pub received: u64,
    /// Frames that it sent.
    pub sent: u64,
    /// Wall time in which the scheduler waited for it, and for none before it.
    pub waited: Duration,
}

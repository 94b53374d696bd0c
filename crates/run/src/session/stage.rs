//! How far a lab is, and what belongs to each part of its life.

use netloom_figures::Snapshot;
use netloom_judge::measure::Mark;
use netloom_judge::{RunError, Spent};
use netloom_provision::accounts::Accounts;
use netloom_results::Sampler;
use netloom_units::Instant;
use std::fmt;

/// How far the lab is.
pub(super) enum Stage {
    /// Services start.
    Starting,
    /// The timeline runs.
    Running(RunState),
    /// Everything is being stopped.
    Stopping(Stop),
}

/// What belongs to the time from time zero on.
pub(super) struct RunState {
    pub(super) zero: Instant,
    /// None if the lab is not sampled, which may stay for days; its engine is looked after.
    pub(super) sampler: Option<Sampler>,
    /// When samples are collected next.
    pub(super) next_samples: Instant,
    pub(super) samples: u32,
    /// When to look next whether the engine of a lab that is not sampled lives.
    pub(super) next_look: Instant,
    /// What had been counted at time zero.
    pub(super) first: Vec<Mark>,
    /// What the machine had spent on the lab at time zero.
    pub(super) began: Accounts,
    /// What it had spent since then when the end began.
    pub(super) spent: Spent,
}

/// What belongs to the end.
pub(super) struct Stop {
    pub(super) why: Why,
    /// The part that was run, and all that was measured at its end; none if the services never became ready.
    pub(super) played: Option<(RunState, Box<Snapshot>)>,
}

/// Why the lab ends.
#[derive(Debug)]
pub(super) enum Why {
    /// It came to its end.
    Over,
    /// It was up, and a user has taken it down.
    TakenDown,
    /// A user has interrupted it.
    Interrupted,
    /// It has taken as long as it may, in wall time.
    WallLimit,
    /// It cannot go on.
    Failed(RunError),
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Over => f.write_str("it came to its end"),
            Self::TakenDown => f.write_str("it was taken down"),
            Self::Interrupted => f.write_str("it was interrupted"),
            Self::WallLimit => f.write_str("it took longer than its wall limit"),
            Self::Failed(error) => error.fmt(f),
        }
    }
}

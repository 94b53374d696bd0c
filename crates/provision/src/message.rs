//! What the lab process tells its guard, and the other way round: one JSON object per line.

use netloom_judge::Report;
use netloom_results::Busiest;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Told by the lab while it works; the guard passes it on to the user.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// What is being done before the lab is forked: whoever shows it starts no thread for that.
    Preparing {
        /// In words, for example `unpacking layer 1 of 3`.
        text: String,
    },
    /// What is being done now, for a person who waits.
    Step {
        /// In words, for example `starting 6 nodes`.
        text: String,
    },
    /// Where results and logs go: the folder is there.
    Results {
        /// The folder.
        folder: PathBuf,
    },
    /// Something to check before the results are trusted.
    Warning {
        /// In words.
        text: String,
    },
    /// Time zero: every service is ready, the timeline begins.
    Started {
        /// How long the run will last in nanoseconds, if the lab file says so.
        duration_ns: Option<u64>,
    },
    /// Sent several times a second while the timeline runs.
    Progress {
        /// Nanoseconds after time zero.
        at_ns: u64,
        /// The link and direction that carries most just now.
        busiest: Option<Busiest>,
    },
    /// Lab time stands still, because a program or a kernel computes.
    Stalled {
        /// Nanoseconds after time zero; none before it.
        at_ns: Option<u64>,
        /// How long already, in wall time.
        wall_ns: u64,
        /// Which node is waited for.
        node: String,
        /// What computes there, in words: its kernel, or a program.
        what: String,
    },
    /// Something happened on the timeline.
    Happened {
        /// Nanoseconds after time zero; none before it.
        at_ns: Option<u64>,
        /// In words.
        text: String,
    },
    /// A lab that was brought `up` is ready for use.
    Ready,
    /// The run is over, or has failed, and its results are written.
    Finished {
        /// What was found out.
        report: Box<Report>,
    },
    /// The run failed, and there are no results of it but what was written on the way.
    Failed {
        /// The exit code.
        code: u8,
        /// Why.
        message: String,
    },
}

/// Told to the lab by its guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Order {
    /// Stop as if the run were over, write the results, and exit.
    Stop,
    /// The same, and kill what still runs instead of waiting for it.
    Hurry,
}

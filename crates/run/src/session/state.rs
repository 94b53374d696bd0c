//! What a lab consists of while it lives.

use super::carriers::Carriers;
use super::context::Context;
use super::exercise::Exercise;
use super::heartbeats::Heartbeats;
use super::log_times::LogTimes;
use super::measuring::Measuring;
use super::programs::Programs;
use super::requests::Requests;
use netloom_commands::Gate;
use netloom_commands::{Due, Timeline};
use netloom_control::SoFar;
use netloom_host::processors::Claim;
use netloom_host::signals::Signals;
use netloom_judge::expectations::{Look, Watches};
use netloom_provision::recording::Recording;
use netloom_units::{Duration, Instant};
use std::collections::BTreeMap;

/// The life of a lab. What its programs do is with [`Programs`], what its clients ask with [`Requests`], and what both need to
/// know with [`Context`].
pub(crate) struct Session<'a> {
    pub(super) requests: Requests,
    pub(super) context: Context<'a>,
    pub(super) programs: Programs,
    pub(super) gate: Gate,
    pub(super) guard_is_gone: bool,
    pub(super) signals: Signals,
    pub(super) recording: Recording,
    pub(super) timeline: Timeline,
    /// Changes of links that are due and that the driver is not known to have come to.
    pub(super) awaited: Vec<Due>,
    pub(super) carriers: Carriers,
    /// What was measured at the beginnings and ends of windows, by nanoseconds after time zero.
    pub(super) windows: BTreeMap<Duration, Look>,
    pub(super) watches: Watches,
    pub(super) exercise: Exercise,
    pub(super) known: Known,
    pub(super) silence: Silence,
    pub(super) measuring: Measuring,
    pub(super) log_times: LogTimes,
    /// Behind the nodes, which speak to their kernels through it.
    pub(super) heartbeats: Heartbeats,
    pub(super) _claims: Vec<Claim>,
}

/// Since when nothing has happened in a lab: no packet, and no command that ended.
#[derive(Default)]
pub(super) struct Silence {
    pub(super) since: Instant,
    pub(super) packets: u64,
    pub(super) commands_ended: usize,
}

/// What was found last to speak against the run, and when.
#[derive(Default)]
pub(super) struct Known(pub(super) Option<(Instant, SoFar)>);

//! What was measured at the beginning or end of a window.

use super::parts::{Part, parts_of};
use crate::PipeState;
use crate::measure::{Mark, marks};
use netloom_figures::{Distribution, Snapshot};
use netloom_lab::{PipeMetric, Plan, Subject};
use netloom_link::StationCounters;
use std::collections::BTreeMap;

/// The measurements at the beginning or end of a window.
#[derive(Clone, Debug, Default)]
pub struct Look {
    /// One per pipe.
    pub(super) marks: Vec<Mark>,
    /// Delay and lateness of the pipes of which a part of the run is looked at, which takes much room.
    pub(super) spreads: BTreeMap<usize, (Distribution, Distribution)>,
    /// Of the same pipes, what was counted of some of their packets.
    pub(super) parts: BTreeMap<usize, Vec<Part>>,
    /// The counters of the stations of those of the pipes that are radio media.
    pub(super) stations: BTreeMap<usize, Vec<StationCounters>>,
}

impl Look {
    /// Copies from a snapshot what the expectations and figures of `plan` need.
    pub fn of(plan: &Plan, pipes: &[PipeState], snapshot: &Snapshot) -> Self {
        let is_wanted = |state: &PipeState, needs_spread: bool| {
            plan.terms().filter(|term| term.window.is_some()).any(|term| match &term.subject {
                Subject::Link { link, direction, metric, .. } => {
                    state.place.is_of(*link, *direction) && (!needs_spread || is_spread(*metric))
                }
                _ => false,
            })
        };
        let all = || pipes.iter().zip(&snapshot.pipes).enumerate();
        let reports = all().filter(|(_, (state, _))| is_wanted(state, true));
        let spreads =
            reports.map(|(pipe, (_, report))| (pipe, (report.delay.clone(), report.lateness.clone()))).collect();
        let watched = all().filter(|(_, (state, report))| !report.watched.is_empty() && is_wanted(state, false));
        let parts = watched.map(|(pipe, (_, report))| (pipe, parts_of(snapshot.at, report))).collect();
        let on_air = all().filter(|(_, (state, report))| !report.stations.is_empty() && is_wanted(state, false));
        let stations = on_air.map(|(pipe, (_, report))| (pipe, report.stations.clone())).collect();
        Self { marks: marks(snapshot), spreads, parts, stations }
    }
}

/// Whether it is computed from a distribution.
pub(super) fn is_spread(metric: PipeMetric) -> bool {
    use PipeMetric::{Delay, DelayP50, DelayP99, Lateness, LatenessP99};
    matches!(metric, Delay | DelayP50 | DelayP99 | Lateness | LatenessP99)
}

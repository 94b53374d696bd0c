//! What was measured at the beginning or end of a window.

use crate::PipeState;
use crate::measure::{Mark, marks};
use netloom_dataplane::{Distribution, Snapshot};
use netloom_lab::{PipeMetric, Plan, Subject};
use std::collections::BTreeMap;

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Look {
    /// One per pipe.
    pub(super) marks: Vec<Mark>,
    /// Delay and lateness of the pipes of which a part of the run is looked at, which takes much room.
    pub(super) spreads: BTreeMap<usize, (Distribution, Distribution)>,
}

impl Look {
    /// What of a snapshot the expectations and figures of `plan` need.
    pub fn of(plan: &Plan, pipes: &[PipeState], snapshot: &Snapshot) -> Self {
        let is_wanted = |state: &PipeState| {
            plan.terms().filter(|term| term.window.is_some()).any(|term| match &term.subject {
                Subject::Link { link, direction, metric, .. } => {
                    state.place.is_of(*link, *direction) && is_spread(*metric)
                }
                _ => false,
            })
        };
        let reports = pipes.iter().zip(&snapshot.pipes).enumerate().filter(|(_, (state, _))| is_wanted(state));
        let spreads =
            reports.map(|(pipe, (_, report))| (pipe, (report.delay.clone(), report.lateness.clone()))).collect();
        Self { marks: marks(snapshot), spreads }
    }
}

/// Whether it is told from a distribution.
pub(super) fn is_spread(metric: PipeMetric) -> bool {
    use PipeMetric::{Delay, DelayP50, DelayP99, Lateness, LatenessP99};
    matches!(metric, Delay | DelayP50 | DelayP99 | Lateness | LatenessP99)
}

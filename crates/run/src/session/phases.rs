//! The wall time of a run by its phases.

use super::context::Context;
use super::stage::RunState;
use netloom_judge::{Phases, Report};
use std::time::{Duration, Instant};

/// Measures how long results take, and knows how long the phases before took.
pub(super) struct Stopwatch {
    begun: Instant,
    /// None of a run that never reached time zero.
    before: Option<Phases>,
}

impl Stopwatch {
    /// Begins when the results of a run are collected: all of its programs have ended.
    pub(super) fn start(context: &Context<'_>, played: Option<&RunState>) -> Self {
        let begun = Instant::now();
        let before = |run_state: &RunState| {
            let zero = run_state.began.at;
            let lab = Duration::from_nanos(run_state.spent.elapsed_ns);
            Phases {
                setup_ns: nanos(zero.saturating_duration_since(context.job.begun).saturating_sub(context.boot)),
                boot_ns: nanos(context.boot),
                lab_ns: nanos(lab),
                end_ns: nanos(begun.saturating_duration_since(zero + lab)),
                results_ns: 0,
            }
        };
        Self { begun, before: played.map(before) }
    }

    /// Writes the phases until now into a report.
    pub(super) fn note(&self, report: &mut Report) {
        if let (Some(effort), Some(before)) = (&mut report.effort, self.before) {
            effort.phases = Some(Phases { results_ns: nanos(self.begun.elapsed()), ..before });
        }
    }
}

fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

//! Faults that the agents of nodes make: signals to single processes, and clocks that change.

use super::processes::{ProcessKey, Purpose};
use super::state::{Drifting, Programs};
use crate::session::context::Context;
use netloom_host::node::{Ceiling, CeilingOrder, ClockOrder, Leap, NodeError, ProcessId, Signalled};
use netloom_judge::RunError;
use netloom_lab::{ClockChange, Disturbance, LeapSecond, LimitChange, Whose};
use netloom_units::{Bytes, Drift, Duration, Instant, SignedDuration};
use serde_json::json;

impl Programs {
    /// Signals the processes of these programs, or of this node, whose command line is like the pattern. Returns how many there were.
    pub(super) fn signal_like(&mut self, how: Disturbance, whose: Whose, pattern: &str) -> Result<u64, RunError> {
        let signal = match how {
            Disturbance::Kill => libc::SIGKILL,
            Disturbance::Pause => libc::SIGSTOP,
            Disturbance::Continue => libc::SIGCONT,
            Disturbance::Signal(signal) => signal.number(),
            other => unreachable!("`{}` is not about processes", other.name()),
        };
        let mut count = 0;
        for (node, of) in self.asked(whose) {
            let Signalled { count: own, programs } =
                self.nodes[node].signal_like(of, pattern, signal).map_err(refused)?;
            count += own;
            for key in programs.into_iter().map(|process| ProcessKey { node, process }) {
                match how {
                    Disturbance::Kill => self.processes.note_killed(key),
                    Disturbance::Pause | Disturbance::Continue => {
                        self.processes.note_held(key, how == Disturbance::Pause);
                    }
                    _ => {}
                }
            }
        }
        Ok(count)
    }

    /// Limits programs that run, or all programs of a node. Returns how many programs there were; of a node, one.
    pub(super) fn limit(&mut self, whose: Whose, change: LimitChange) -> Result<u64, RunError> {
        let asked = self.asked(whose);
        let order = CeilingOrder {
            memory_bytes: change.memory.map(|memory| ceiling(memory, Bytes::get)),
            pids: change.pids.map(|pids| ceiling(pids, |count| count)),
            fds: change.fds.map(|fds| ceiling(fds, |count| count)),
        };
        for (node, of) in &asked {
            self.nodes[*node].limit(*of, order).map_err(refused)?;
        }
        Ok(asked.len() as u64)
    }

    /// The nodes whose agents are asked, each with the program that is meant; none: all.
    fn asked(&self, whose: Whose) -> Vec<(usize, Option<ProcessId>)> {
        match whose {
            Whose::Node(node) => vec![(node, None)],
            Whose::Command(_) => {
                let numbers = self.meant(whose).into_iter();
                let keys = numbers.filter_map(|number| self.processes.key_of(Purpose::Command(number)));
                keys.map(|key| (key.node, Some(key.process))).collect()
            }
        }
    }

    /// Changes clocks of nodes: all nodes are asked before the first is waited for, so that in virtual time no time passes between them.
    /// Returns which of the changes were made.
    pub(crate) fn set_clocks(&mut self, changes: &[(usize, ClockChange)], now: Instant) -> Vec<Result<(), RunError>> {
        // All are heard, even if one fails: an answer belongs to its question.
        let asked: Vec<_> =
            changes.iter().map(|(node, change)| self.nodes[*node].begin_set_clock(order(*change))).collect();
        let set = |((node, change), begun): (&(usize, ClockChange), Result<(), NodeError>)| {
            begun.and_then(|()| self.nodes[*node].finish_set_clock()).map_err(refused)?;
            if let Some(drift) = change.drift {
                let fast = self.drifts.get(node).map_or(SignedDuration::ZERO, |before| before.fast_at(now));
                self.drifts.insert(*node, Drifting { drift, since: now, fast });
            }
            Ok(())
        };
        changes.iter().zip(asked).map(set).collect()
    }

    /// From now on clocks run as fast as the lab file says.
    pub(crate) fn begin_drifts(&mut self, context: &Context<'_>) -> Result<(), RunError> {
        let drifting = |(place, node): (usize, &netloom_lab::NodePlan)| {
            let drift = node.clock.drift;
            (!drift.is_zero()).then_some((place, ClockChange { drift: Some(drift), ..ClockChange::default() }))
        };
        let changes: Vec<_> = context.job.plan.nodes.iter().enumerate().filter_map(drifting).collect();
        self.set_clocks(&changes, context.links.now()).into_iter().collect()
    }

    /// The clock of a node whose kernel has booted anew is as wrong as drifts had made it, and goes on so, as that of a machine whose
    /// battery has kept it going. Steps are gone.
    pub(crate) fn restore_clock(&mut self, context: &Context<'_>, node: usize) -> Result<(), RunError> {
        let Some(drifting) = self.drifts.get(&node).copied() else { return Ok(()) };
        let now = context.links.now();
        let step = Some(drifting.fast_at(now)).filter(|fast| !fast.is_zero());
        let drift = Some(drifting.drift).filter(|drift| !drift.is_zero());
        if step.is_none() && drift.is_none() {
            return Ok(());
        }
        self.set_clocks(&[(node, ClockChange { step, drift, leap: None })], now).into_iter().collect()
    }
}

impl Drifting {
    /// By how much the clock is fast then, because of drifts alone.
    fn fast_at(self, now: Instant) -> SignedDuration {
        let since = i128::from(now.since(self.since).as_nanos());
        let more = since * i128::from(self.drift.as_ppt()) / PARTS;
        SignedDuration::from_nanos(self.fast.as_nanos().saturating_add(i64::try_from(more).unwrap_or(i64::MAX)))
    }
}

/// Drifts are in parts per trillion.
const PARTS: i128 = 1_000_000_000_000;

fn ceiling<T>(limit: netloom_lab::Ceiling<T>, number: impl Fn(T) -> u64) -> Ceiling {
    match limit {
        netloom_lab::Ceiling::At(most) => Ceiling::At(number(most)),
        netloom_lab::Ceiling::Unlimited => Ceiling::Unlimited,
    }
}

fn order(ClockChange { step, drift, leap }: ClockChange) -> ClockOrder {
    ClockOrder {
        step_ns: step.map(SignedDuration::as_nanos),
        drift_ppt: drift.map(Drift::as_ppt),
        leap: leap.map(|leap| match leap {
            LeapSecond::Insert => Leap::Insert,
            LeapSecond::Delete => Leap::Delete,
        }),
    }
}

/// A node that says no cannot be as the lab file has it.
#[expect(clippy::needless_pass_by_value, reason = "made for map_err")]
pub(super) fn refused(error: NodeError) -> RunError {
    match error {
        NodeError::Refused { .. } => RunError::Refused(error.to_string()),
        _ => RunError::Died(error.to_string()),
    }
}

/// Writes that a clock has changed: when that was planned and how late it was, if the timeline says it.
pub(crate) fn note_clock(
    context: &mut Context<'_>,
    node: usize,
    changed: ClockChange,
    planned: Option<(Duration, Duration)>,
) -> Result<(), RunError> {
    let name = context.job.plan.nodes[node].name.clone();
    let ClockChange { step, drift, leap } = changed;
    context.report(format!("clock of {name}: {changed}"));
    let details = json!({
        "node": name,
        "step_ns": step.map(SignedDuration::as_nanos),
        "drift_ppt": drift.map(Drift::as_ppt),
        "leap": leap.map(LeapSecond::name),
        "planned_ns": planned.map(|(at, _)| at.as_nanos()),
        "lateness_ns": planned.map(|(_, late)| late.as_nanos()),
    });
    context.note("clock", details)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_is_as_fast_as_its_drifts_have_made_it() {
        let drift = Drift::from_ppt(200_000_000).expect("200 ppm is less than a tenth");
        let at = |seconds: u64| Instant::ZERO + Duration::from_secs(seconds);
        let drifting = Drifting { drift, since: at(10), fast: SignedDuration::from_nanos(-5) };
        assert_eq!(drifting.fast_at(at(10)).as_nanos(), -5);
        // 200 ppm of 20 s are 4 ms.
        assert_eq!(drifting.fast_at(at(30)).as_nanos(), 4_000_000 - 5);
    }
}

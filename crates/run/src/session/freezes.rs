//! Nodes that stand still for a while, as virtual machines that are paused: their monotonic clocks stand still with them, and their
//! CLOCK_REALTIME jumps when they go on. Or they stall: their clocks go on, and all that was due happens late.

use super::context::Context;
use super::programs::note_clock;
use super::state::Session;
use netloom_judge::{Kind, RunError};
use netloom_lab::{Action, ClockChange, Disturbance, Standstill, Whose};
use netloom_provision::driver::Driver;
use netloom_units::{Duration, SignedDuration};
use serde_json::json;

/// The node that this entry of the timeline freezes, if it does, and for how long.
pub(super) fn freeze(context: &Context<'_>, event: usize) -> Option<(usize, Duration, Standstill)> {
    match context.action(event)? {
        Action::Disturb { how: Disturbance::Freeze(kind), whose: Whose::Node(node), duration: Some(span), .. } => {
            Some((*node, *span, *kind))
        }
        _ => None,
    }
}

impl Session<'_> {
    /// Lets virtual machines go on that stand still, since the lab ends. Kernels in virtual time do by themselves.
    pub(super) fn thaw_machines(&mut self) {
        let Self { context, programs, .. } = self;
        if matches!(context.links.driver(), Driver::Virtual(_)) {
            return;
        }
        for node in std::mem::take(&mut programs.frozen).into_keys() {
            // Whichever way it is held; a machine that has ended is noticed elsewhere.
            let _ = programs.hold_machine(node, false, Standstill::Stall);
            let _ = programs.hold_machine(node, false, Standstill::Pause);
        }
    }

    /// The node of this entry stands still from now on; or it goes on, and its clock is set.
    pub(super) fn freeze_or_thaw(&mut self, event: usize, at: Duration, thaws: bool) -> Result<(), RunError> {
        let Self { context, programs, heartbeats, .. } = self;
        let Some((node, span, kind)) = freeze(context, event) else { return Ok(()) };
        let (name, now) = (context.job.plan.nodes[node].name.clone(), context.links.now());
        let late = now.since(context.zero().unwrap_or_default() + at);
        let word = match kind {
            _ if thaws => "goes on",
            Standstill::Pause => "frozen",
            Standstill::Stall => "stalled",
        };
        let is_planned = context.is_planned(event);
        context.record(Kind::Signal, late, is_planned, || format!("{name} {word} at {at}"));
        context.report(format!("{name} {word}"));
        context.note(word, json!({ "node": name, "for_ns": span.as_nanos(), "lateness_ns": late.as_nanos() }))?;
        let driver = context.links.driver();
        match driver {
            Driver::Virtual(_) if kind == Standstill::Stall => {
                return if thaws { Ok(()) } else { programs.stall(node, span) };
            }
            Driver::Virtual(time) if !thaws => {
                programs.frozen.insert(node, now + span);
                let stands_still = time.freeze(&name, now + span);
                return stands_still
                    .then_some(())
                    .ok_or_else(|| RunError::Machine(format!("node `{name}` has no kernel that could stand still")));
            }
            Driver::Virtual(_) => {}
            _ => {
                heartbeats.let_rest(&context.job.plan, node, !thaws);
                programs.hold_machine(node, !thaws, kind)?;
                if !thaws {
                    programs.frozen.insert(node, now + span);
                }
            }
        }
        if !thaws {
            return Ok(());
        }
        programs.frozen.remove(&node);
        if kind == Standstill::Stall {
            return Ok(());
        }
        let change = ClockChange { step: SignedDuration::forward(span), ..ClockChange::default() };
        programs.set_clocks(&[(node, change)], now).into_iter().collect::<Result<(), RunError>>()?;
        note_clock(context, node, change, is_planned.then_some((at, late)))
    }
}

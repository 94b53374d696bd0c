//! Clocks of nodes that the timeline changes, or a client.

use super::context::Context;
use super::programs::note_clock;
use super::state::Session;
use netloom_commands::Item;
use netloom_judge::{Kind, RunError};
use netloom_lab::{Action, ClockChange, Disturbance, Whose};
use netloom_units::Duration;

/// The node whose clock this entry of the timeline changes, if it does, and how.
pub(super) fn change(context: &Context<'_>, event: usize) -> Option<(usize, ClockChange)> {
    match context.action(event)? {
        Action::Disturb { how: Disturbance::Clock(change), whose: Whose::Node(node), .. } => Some((*node, *change)),
        _ => None,
    }
}

impl Session<'_> {
    /// Changes the clock of this entry, and those that change at the same instant: by the timeline, or by the same client.
    pub(super) fn change_clocks(&mut self, event: usize, at: Duration) -> Result<(), RunError> {
        let Self { context, timeline, programs, .. } = self;
        let (mut events, is_planned) = (vec![event], context.is_planned(event));
        let same = |item| match item {
            Item::Disturb(other) if context.is_planned(other) == is_planned => change(context, other).map(|_| other),
            _ => None,
        };
        events.extend(std::iter::from_fn(|| timeline.pop_if(at, same)));
        let now = context.links.now();
        let late = now.since(context.zero().unwrap_or_default() + at);
        let changes: Vec<_> = events.iter().filter_map(|other| change(context, *other)).collect();
        let made = programs.set_clocks(&changes, now);
        for ((node, changed), _) in changes.into_iter().zip(&made).filter(|(_, made)| made.is_ok()) {
            let name = context.job.plan.nodes[node].name.clone();
            context.record(Kind::Signal, late, is_planned, || format!("clock of {name} {changed} at {at}"));
            note_clock(context, node, changed, is_planned.then_some((at, late)))?;
        }
        made.into_iter().collect()
    }
}

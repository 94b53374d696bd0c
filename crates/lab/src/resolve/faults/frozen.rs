//! Nodes that stand still take no orders: what the timeline wants of them meanwhile is refused.

use crate::diagnostics::Spanned;
use crate::errors::Errors;
use crate::plan::{Action, Disturbance, Event, Whose};
use netloom_units::Duration;
use std::collections::BTreeMap;

/// A standstill of a node, by the event that begins it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Standstill {
    from: Duration,
    to: Duration,
    event: usize,
}

/// Notes what is to happen to a node while it stands still, as far as the file says when. `names`: those of the nodes that freeze, by
/// the events that say so.
pub(in crate::resolve) fn check(events: &[Event], names: &BTreeMap<usize, Spanned<String>>, errors: &mut Errors) {
    if names.is_empty() {
        return;
    }
    let frozen = standstills(events);
    for event in events {
        let own = node_of(&event.action, events).and_then(|node| frozen.get(&node));
        let Some(own) = own else { continue };
        let met = instants(event).into_iter().find_map(|at| Some((at, standstill(own, at)?)));
        let Some((at, Standstill { from, to, event: begins })) = met else { continue };
        errors.extend(names.get(&begins).map(|name| {
            name.error(format!(
                "`{}` takes no orders while it is frozen, from {from} to {to}, and line {} has one for it at {at}: choose another \
                 instant there, or here",
                name.value, event.line
            ))
        }));
    }
    for own in frozen.values() {
        for pair in own.windows(2).filter(|pair| pair[1].from < pair[0].to) {
            errors.extend(names.get(&pair[1].event).map(|name| {
                let (from, to) = (pair[0].from, pair[0].to);
                name.error(format!(
                    "`{}` is frozen from {from} to {to} already: freeze it once, for as long as both",
                    name.value
                ))
            }));
        }
    }
}

/// All standstills of each node, in their order.
fn standstills(events: &[Event]) -> BTreeMap<usize, Vec<Standstill>> {
    let mut frozen: BTreeMap<usize, Vec<Standstill>> = BTreeMap::new();
    for (number, event) in events.iter().enumerate() {
        if let Action::Disturb { how: Disturbance::Freeze(_), whose: Whose::Node(node), duration: Some(span), .. } =
            &event.action
        {
            let from = event.at.unwrap_or_default();
            frozen.entry(*node).or_default().push(Standstill { from, to: from + *span, event: number });
        }
    }
    frozen.values_mut().for_each(|own| own.sort_unstable());
    frozen
}

/// The one among these in which an instant is.
fn standstill(own: &[Standstill], at: Duration) -> Option<Standstill> {
    let place = own.partition_point(|one| one.from <= at).checked_sub(1)?;
    own.get(place).copied().filter(|one| at < one.to)
}

/// The node whose agent is asked for something.
fn node_of(action: &Action, events: &[Event]) -> Option<usize> {
    match action {
        Action::Run(run) => Some(run.node),
        Action::Disturb { how: Disturbance::Freeze(_), .. } => None,
        Action::Disturb { whose: Whose::Node(node), .. } => Some(*node),
        Action::Disturb { whose: Whose::Command(event), .. } => match &events.get(*event)?.action {
            Action::Run(run) => Some(run.node),
            _ => None,
        },
        _ => None,
    }
}

/// When it is asked, as far as the file says it.
fn instants(event: &Event) -> Vec<Duration> {
    let at = match &event.action {
        Action::Run(_) => event.at,
        _ => Some(event.at.unwrap_or_default()),
    };
    let lasts = match &event.action {
        Action::Run(run) => run.stop_after,
        Action::Disturb { duration, .. } => *duration,
        _ => None,
    };
    at.into_iter().flat_map(|at| [Some(at), lasts.map(|span| at + span)]).flatten().collect()
}

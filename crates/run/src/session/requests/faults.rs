//! Faults that clients ask for while a lab runs: entries of its timeline that happen now.

use super::refusals::Refusal;
use super::set::{self, State, Wanted};
use super::state::Requests;
use crate::session::carriers::Carriers;
use crate::session::context::Context;
use crate::session::programs::Programs;
use crate::session::stage::Stage;
use crate::session::stops;
use netloom_control::Set;
use netloom_judge::{ExitCode, RunError};
use netloom_lab::{Action, Disturbance, Plan, RequestedFault, Whose, parse_fault};

impl Requests {
    /// Does now what this entry of the timeline describes. Returns what is left to the timeline.
    pub(super) fn fault(
        &mut self,
        entry: &str,
        context: &mut Context<'_>,
        programs: &mut Programs,
        carriers: &mut Carriers,
    ) -> Result<Result<Vec<Action>, Refusal>, RunError> {
        let faults = match parse_fault(entry, &context.job.plan) {
            Ok(faults) => faults,
            Err(error) => return Ok(Err((ExitCode::Usage, error.to_string()))),
        };
        if !matches!(context.stage, Stage::Running(_)) {
            return Ok(Err((ExitCode::Usage, "the lab has not begun, or is ending".to_owned())));
        }
        // All are looked at before the first is done.
        if let Some(refusal) = faults.iter().find_map(|fault| why_not(fault, context, programs)) {
            return Ok(Err(refusal));
        }
        let mut played = Vec::new();
        for fault in faults {
            let done = match fault {
                RequestedFault::Partition => self.partitions.add(entry, context)?,
                RequestedFault::Heal => self.partitions.heal(context)?,
                RequestedFault::Start(node) => stops::asked(context, programs, carriers, (None, node, true))?,
                RequestedFault::Action(action) => match change_of(&action, context) {
                    Some((place, wanted)) => set::apply(&place, &wanted, context, programs, carriers, &mut self.heals)?,
                    None => {
                        played.push(action);
                        Ok(())
                    }
                },
            };
            if let Err(refusal) = done {
                return Ok(Err(refusal));
            }
        }
        if !played.is_empty() {
            let cuts = played.iter().any(|action| matches!(action, Action::Disturb { how, .. } if how.is_stop()));
            context.intervene(cuts, &format!("fault {}", entry.trim()));
        }
        Ok(Ok(played))
    }
}

/// Why this cannot be done now, if so.
fn why_not(fault: &RequestedFault, context: &Context<'_>, programs: &Programs) -> Option<Refusal> {
    let plan = &context.job.plan;
    match fault {
        RequestedFault::Start(node) => programs.can_change(&plan.nodes[*node].name, *node, None, context).err(),
        RequestedFault::Action(Action::Disturb { how, whose: Whose::Node(node), .. }) if how.is_stop() => {
            programs.can_change(&plan.nodes[*node].name, *node, Some(*how), context).err()
        }
        RequestedFault::Action(Action::Disturb { how, whose, .. }) => {
            let node = node_of(*whose, plan)?;
            let why = programs.why_away(plan, node);
            why.or_else(|| is_frozen_soon(*how, node, plan, context)).map(|why| (ExitCode::Usage, why))
        }
        RequestedFault::Partition | RequestedFault::Heal | RequestedFault::Action(_) => None,
    }
}

/// Why a node cannot be frozen, if the timeline has orders for it: nobody knows how long they would have to wait.
fn is_frozen_soon(how: Disturbance, node: usize, plan: &Plan, context: &Context<'_>) -> Option<String> {
    let is_meant = |event: &netloom_lab::Event| match &event.action {
        Action::Disturb { how: Disturbance::Freeze(_), whose, .. } => node_of(*whose, plan) == Some(node),
        _ => false,
    };
    let is_run = context.job.mode == netloom_provision::job::Mode::Run;
    (matches!(how, Disturbance::Freeze(_)) && is_run && plan.timeline.iter().any(is_meant)).then(|| {
        format!("the timeline freezes node `{}` itself: freeze another, or a lab that is up", plan.nodes[node].name)
    })
}

/// The node in which it happens.
fn node_of(whose: Whose, plan: &Plan) -> Option<usize> {
    match whose {
        Whose::Node(node) => Some(node),
        Whose::Command(event) => match &plan.timeline[event].action {
            Action::Run(run) => Some(run.node),
            _ => None,
        },
    }
}

/// The part of a link that an action changes, if it does, and how.
fn change_of(action: &Action, context: &mut Context<'_>) -> Option<(Set, Wanted)> {
    let (link, direction, pipe, wanted) = match action {
        Action::Set { link, direction, pipe, change } => {
            context.by_hand.treats_packets |= !change.faults.is_empty();
            (*link, *direction, pipe, Wanted { change: (**change).clone(), ..Wanted::default() })
        }
        Action::Down { part, duration, carrier } => {
            let state = Some(if *carrier { State::Unplugged } else { State::Down });
            (part.link, part.direction, &part.pipe, Wanted { state, lasting: *duration, ..Wanted::default() })
        }
        Action::Up { part } => {
            (part.link, part.direction, &part.pipe, Wanted { state: Some(State::Up), ..Wanted::default() })
        }
        Action::Run(_) | Action::Partition { .. } | Action::Log(_) | Action::Disturb { .. } => return None,
    };
    let link = context.links.names()[link].name.clone();
    let direction = direction.map(|only| only.to_string());
    Some((Set { link, direction, pipe: pipe.clone(), changes: Vec::new() }, wanted))
}

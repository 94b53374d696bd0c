//! Nodes that stop and start, with their links: these are cut when a node stops, also for neighbours that can see it, and whoever else
//! restores them. They come back when the last of their nodes runs again.

use super::carriers::{Carriers, has_carriers};
use super::context::Context;
use super::programs::Programs;
use netloom_control::ClientId;
use netloom_host::node::NodeError;
use netloom_judge::{ExitCode, Kind, RunError};
use netloom_lab::{Action, Disturbance, Plan, Whose};
use netloom_units::{Duration, Instant};
use serde_json::json;

/// Why a client is refused: its exit code, and a text.
type Refusal = (ExitCode, String);

/// The node that this entry of the timeline stops, if it does.
pub(super) fn node(context: &Context<'_>, event: usize) -> Option<usize> {
    match &context.job.plan.timeline[event].action {
        Action::Disturb { how: Disturbance::Stop, whose: Whose::Node(node), .. } => Some(*node),
        _ => None,
    }
}

/// Stops the node of an entry of the timeline, or starts it, at its time.
pub(super) fn planned(
    context: &mut Context<'_>,
    programs: &mut Programs,
    carriers: &mut Carriers,
    (event, at): (usize, Duration),
    starts: bool,
) -> Result<(), RunError> {
    let Some(node) = node(context, event) else { return Ok(()) };
    let due = context.zero().unwrap_or_default() + at;
    if starts {
        start(context, programs, carriers, node, due)?.map_err(RunError::Died)
    } else {
        stop(context, programs, carriers, node, due)
    }
}

/// Stops a node for a client, or starts it. The client is told when that is done.
pub(super) fn asked(
    context: &mut Context<'_>,
    programs: &mut Programs,
    carriers: &mut Carriers,
    (client, node, starts): (ClientId, usize, bool),
) -> Result<Result<(), Refusal>, RunError> {
    let name = context.job.plan.nodes[node].name.clone();
    if let Err(refusal) = programs.can_change(&name, node, starts, context) {
        return Ok(Err(refusal));
    }
    let due = context.links.now();
    if starts {
        if let Err(why) = start(context, programs, carriers, node, due)? {
            return Ok(Err((ExitCode::Machine, why)));
        }
    } else {
        stop(context, programs, carriers, node, due)?;
    }
    context.intervene(true, &format!("node {name} {}", if starts { "started" } else { "stopped" }));
    programs.tell_when_changed(node, client);
    Ok(Ok(()))
}

fn stop(
    context: &mut Context<'_>,
    programs: &mut Programs,
    carriers: &mut Carriers,
    node: usize,
    due: Instant,
) -> Result<(), RunError> {
    if programs.is_away(node) {
        return Ok(());
    }
    for link in links_of(&context.job.plan, node) {
        context.links.hold(link, true)?;
        if has_carriers(&context.job.plan, link) {
            carriers.switch(context, programs, link, false, None)?;
        }
    }
    programs.begin_stopping(context, node)?;
    note(context, node, due, "asked to stop")
}

/// Why the node cannot start, if so: then it stays as it is.
fn start(
    context: &mut Context<'_>,
    programs: &mut Programs,
    carriers: &mut Carriers,
    node: usize,
    due: Instant,
) -> Result<Result<(), String>, RunError> {
    if !programs.begin_starting(context, node)? {
        return Ok(Ok(()));
    }
    let links = links_of(&context.job.plan, node);
    let seen = |link: &&usize| has_carriers(&context.job.plan, **link) && context.links.is_whole(**link);
    let seen: Vec<usize> = links.iter().filter(seen).copied().collect();
    for link in &seen {
        // The carrier comes first: an address of IPv6 is used only where there is one.
        carriers.switch(context, programs, *link, true, None)?;
    }
    match programs.nodes[node].bring_up() {
        Ok(()) => {}
        // A program has removed an interface, for example.
        Err(NodeError::Refused { node: name, error }) => {
            programs.stay_stopped(node);
            for link in &seen {
                carriers.switch(context, programs, *link, false, None)?;
            }
            return Ok(Err(format!("node `{name}` cannot start: {error}")));
        }
        Err(other) => return Err(RunError::Died(other.to_string())),
    }
    links.into_iter().try_for_each(|link| context.links.hold(link, false))?;
    note(context, node, due, "starts again").map(Ok)
}

/// The links at a node, each once.
fn links_of(plan: &Plan, node: usize) -> Vec<usize> {
    let is_at = |link: &netloom_lab::LinkPlan| link.ends.iter().any(|end| end.node == node);
    (0..).zip(&plan.links).filter(|(_, link)| is_at(link)).map(|(number, _)| number).collect()
}

/// Writes what was done by now and was due at `due`.
fn note(context: &mut Context<'_>, node: usize, due: Instant, what: &str) -> Result<(), RunError> {
    let (name, late) = (context.job.plan.nodes[node].name.clone(), context.links.now().since(due));
    let at = due.since(context.zero().unwrap_or_default());
    context.record(Kind::Signal, late, true, || format!("{name} {what} at {at}"));
    context.tell(format!("{name} {what}"));
    context.note(what, json!({ "node": name, "lateness_ns": late.as_nanos() }))
}

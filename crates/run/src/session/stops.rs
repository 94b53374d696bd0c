//! Nodes that stop and start, with their links: these are cut when a node stops, also for neighbours that can see it, and whoever else
//! restores them. They come back when the last of their nodes runs again.
//!
//! While a node is stopped, each pipe of its links counts a hold (`Pipe::hold`), beside cuts by hand, timeline and
//! flapping, so that no other cause restores the link. The node's programs end, then its agent takes the network
//! down; bringing it up again executes the same steps as at first.

use super::carriers::{Carriers, has_carriers};
use super::context::Context;
use super::programs::Programs;
use super::state::Session;
use super::timeline::Item;
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

impl Session<'_> {
    /// Stops, or starts, the node of this entry, and those that do the same at the same instant.
    pub(super) fn stop_or_start(&mut self, event: usize, at: Duration, starts: bool) -> Result<(), RunError> {
        let Self { context, timeline, programs, carriers, .. } = self;
        let mut nodes: Vec<usize> = node(context, event).into_iter().collect();
        let same = |item| match item {
            Item::Disturb(other) if !starts => node(context, other).map(|_| other),
            Item::Recover(other) if starts => node(context, other).map(|_| other),
            _ => None,
        };
        let others = std::iter::from_fn(|| timeline.pop_if(at, same));
        nodes.extend(others.filter_map(|other| node(context, other)));
        planned(context, programs, carriers, &nodes, at, starts)
    }
}

/// Stops nodes that the timeline stops `at` after time zero, or starts them.
fn planned(
    context: &mut Context<'_>,
    programs: &mut Programs,
    carriers: &mut Carriers,
    nodes: &[usize],
    at: Duration,
    starts: bool,
) -> Result<(), RunError> {
    let due = context.zero().unwrap_or_default() + at;
    if starts {
        start(context, programs, carriers, nodes, (due, true))?.map_err(RunError::Died)
    } else {
        stop(context, programs, carriers, nodes, (due, true))
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
    let due = (context.links.now(), false);
    if starts {
        if let Err(why) = start(context, programs, carriers, &[node], due)? {
            return Ok(Err((ExitCode::Machine, why)));
        }
    } else {
        stop(context, programs, carriers, &[node], due)?;
    }
    context.intervene(true, &format!("node {name} {}", if starts { "started" } else { "stopped" }));
    programs.report_when_changed(node, client);
    Ok(Ok(()))
}

/// Stops those of these nodes that run, all at one instant.
fn stop(
    context: &mut Context<'_>,
    programs: &mut Programs,
    carriers: &mut Carriers,
    nodes: &[usize],
    (due, is_planned): (Instant, bool),
) -> Result<(), RunError> {
    let nodes: Vec<usize> = nodes.iter().copied().filter(|node| !programs.is_away(*node)).collect();
    let links: Vec<usize> = nodes.iter().flat_map(|node| links_of(&context.job.plan, *node)).collect();
    links.iter().try_for_each(|link| context.links.hold(*link, true))?;
    let late = context.links.now().since(due);
    nodes.iter().try_for_each(|node| programs.begin_stopping(context, *node))?;
    // Each takes the kernel some time, and programs are not to wait for that.
    for link in links {
        if has_carriers(&context.job.plan, link) {
            carriers.switch(context, programs, link, false, None)?;
        }
    }
    nodes.into_iter().try_for_each(|node| note(context, node, (due, late, is_planned), "asked to stop"))
}

/// Starts those of these nodes that have stopped. Why one cannot start, if so: then it stays as it is.
fn start(
    context: &mut Context<'_>,
    programs: &mut Programs,
    carriers: &mut Carriers,
    nodes: &[usize],
    (due, is_planned): (Instant, bool),
) -> Result<Result<(), String>, RunError> {
    let mut begun = Vec::new();
    for node in nodes {
        begun.extend(programs.begin_starting(context, *node)?.then_some(*node));
    }
    // As machines that are switched on: what it takes to come up is their own.
    let late = context.links.now().since(due);
    for node in &begun {
        // The carrier comes first: an address of IPv6 is used only where there is one.
        switch_whole(context, programs, carriers, *node, true)?;
    }
    begun.iter().try_for_each(|node| programs.nodes[*node].begin_bring_up()).map_err(died)?;
    let mut outcome = Ok(());
    // All are heard before links come back: in virtual time, at one instant.
    let heard: Vec<_> = begun.into_iter().map(|node| (node, programs.nodes[node].finish_bring_up())).collect();
    for (node, up) in heard {
        match up {
            Ok(()) => {
                links_of(&context.job.plan, node).into_iter().try_for_each(|link| context.links.hold(link, false))?;
                note(context, node, (due, late, is_planned), "starts again")?;
            }
            // A program has removed an interface, for example.
            Err(NodeError::Refused { node: name, error }) => {
                programs.stay_stopped(node);
                switch_whole(context, programs, carriers, node, false)?;
                outcome = Err(format!("node `{name}` cannot start: {error}"));
            }
            Err(other) => return Err(died(other)),
        }
    }
    Ok(outcome)
}

/// Gives the interfaces of a node's links their carriers, where nobody has cut these, or takes them.
fn switch_whole(
    context: &mut Context<'_>,
    programs: &mut Programs,
    carriers: &mut Carriers,
    node: usize,
    on: bool,
) -> Result<(), RunError> {
    for link in links_of(&context.job.plan, node) {
        if has_carriers(&context.job.plan, link) && context.links.is_whole(link) {
            carriers.switch(context, programs, link, on, None)?;
        }
    }
    Ok(())
}

#[expect(clippy::needless_pass_by_value, reason = "made for map_err")]
fn died(error: NodeError) -> RunError {
    RunError::Died(error.to_string())
}

/// The links at a node, each once.
fn links_of(plan: &Plan, node: usize) -> Vec<usize> {
    let is_at = |link: &netloom_lab::LinkPlan| link.ends.iter().any(|end| end.node == node);
    (0..).zip(&plan.links).filter(|(_, link)| is_at(link)).map(|(number, _)| number).collect()
}

/// Writes what was due at `due` and began so late, which is judged if the timeline says when.
fn note(
    context: &mut Context<'_>,
    node: usize,
    (due, late, is_planned): (Instant, Duration, bool),
    what: &str,
) -> Result<(), RunError> {
    let name = context.job.plan.nodes[node].name.clone();
    let at = due.since(context.zero().unwrap_or_default());
    context.record(Kind::Signal, late, is_planned, || format!("{name} {what} at {at}"));
    context.report(format!("{name} {what}"));
    context.note(what, json!({ "node": name, "lateness_ns": late.as_nanos() }))
}

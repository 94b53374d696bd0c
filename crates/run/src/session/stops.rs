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
use netloom_commands::Item;
use netloom_control::ClientId;
use netloom_host::node::NodeError;
use netloom_judge::{ExitCode, Kind, RunError};
use netloom_lab::{Action, Disturbance, Keep, Plan, Whose};
use netloom_units::{Duration, Instant};
use serde_json::json;

/// Why a client is refused: its exit code, and a text.
type Refusal = (ExitCode, String);

/// The node that this entry of the timeline stops, if it does, be it that the node crashes.
pub(super) fn node(context: &Context<'_>, event: usize) -> Option<usize> {
    match context.action(event)? {
        Action::Disturb { how, whose: Whose::Node(node), .. } if how.is_stop() => Some(*node),
        _ => None,
    }
}

/// The rule for the disk of the node that this entry lets crash, if it does.
fn rule(context: &Context<'_>, event: usize) -> Option<Keep> {
    match context.action(event)? {
        Action::Disturb { how, .. } => how.keep(),
        _ => None,
    }
}

impl Session<'_> {
    /// Stops, or starts, the node of this entry, and those that do the same at the same instant.
    pub(super) fn stop_or_start(&mut self, event: usize, at: Duration, starts: bool) -> Result<(), RunError> {
        if let (false, Some(place), Some(keep)) = (starts, node(&self.context, event), rule(&self.context, event)) {
            self.programs.away_by.insert(place, event);
            return self.crash(event, place, keep, at);
        }
        let Self { context, timeline, programs, carriers, .. } = self;
        let mut events = vec![event];
        let same = |item| match item {
            Item::Disturb(other) if !starts && rule(context, other).is_none() => node(context, other).map(|_| other),
            Item::Recover(other) if starts => node(context, other).map(|_| other),
            _ => None,
        };
        events.extend(std::iter::from_fn(|| timeline.pop_if(at, same)));
        for is_planned in [true, false] {
            let meant = events.iter().copied().filter(|one| context.is_planned(*one) == is_planned);
            let mut nodes = Vec::new();
            for (place, other) in meant.filter_map(|one| Some((node(context, one)?, one))) {
                // A node that somebody has started since, or stopped anew, does not start for a client that had stopped it before.
                if !starts {
                    programs.away_by.insert(place, other);
                } else if !is_planned && programs.away_by.get(&place) != Some(&other) {
                    continue;
                }
                nodes.push(place);
            }
            let due = (context.zero().unwrap_or_default() + at, is_planned);
            match starts {
                true => start(context, programs, carriers, &nodes, due)?.map_err(RunError::Died)?,
                false => stop(context, programs, carriers, &nodes, due)?,
            }
        }
        Ok(())
    }

    /// The kernel of a node is gone, as was to happen `at` after time zero. Its neighbours see silence and no carrier, and nobody asks its
    /// programs to end.
    fn crash(&mut self, event: usize, node: usize, keep: Keep, at: Duration) -> Result<(), RunError> {
        let Self { context, programs, carriers, .. } = self;
        let was_away = programs.is_away(node);
        let links = links_of(&context.job.plan, node);
        if !was_away {
            links.iter().try_for_each(|link| context.links.hold(*link, true))?;
        }
        let late = context.links.now().since(context.zero().unwrap_or_default() + at);
        let outcome = programs.crash(context, node, keep)?;
        for link in links.into_iter().filter(|_| !was_away) {
            if has_carriers(&context.job.plan, link) {
                carriers.switch(context, programs, link, false, None)?;
            }
        }
        let (name, is_planned) = (context.job.plan.nodes[node].name.clone(), context.is_planned(event));
        context.record(Kind::Signal, late, is_planned, || format!("{name} crashed at {at}"));
        let on_disk = outcome.map_or_else(String::new, |told| format!(": {told}"));
        context.report(format!("{name} crashed{on_disk}"));
        let disk = outcome.map(|told| {
            json!({
                "keep": keep.name(),
                "cached_writes": told.cached,
                "lost_writes": told.lost,
                "lost_bytes": told.lost_bytes.get(),
                "torn": told.is_torn,
            })
        });
        context.note("crashed", json!({ "node": name, "lateness_ns": late.as_nanos(), "disk": disk }))
    }
}

/// Stops a node for a client, or starts it. A client that waits for it gets an answer when that is done.
pub(super) fn asked(
    context: &mut Context<'_>,
    programs: &mut Programs,
    carriers: &mut Carriers,
    (client, node, starts): (Option<ClientId>, usize, bool),
) -> Result<Result<(), Refusal>, RunError> {
    let name = context.job.plan.nodes[node].name.clone();
    if let Err(refusal) = programs.can_change(&name, node, (!starts).then_some(Disturbance::Stop), context) {
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
    programs.away_by.remove(&node);
    client.into_iter().for_each(|client| programs.report_when_changed(node, client));
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
    // As machines that are switched on: what it takes to come up is their own.
    let late = context.links.now().since(due);
    for node in nodes {
        if programs.begin_booting(context, *node)? {
            note(context, *node, (due, late, is_planned), "boots")?;
        } else {
            begun.extend(programs.begin_starting(context, *node)?.then_some(*node));
        }
    }
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

/// Joins the links of nodes whose kernels have booted anew.
pub(super) fn join_booted(
    context: &mut Context<'_>,
    programs: &mut Programs,
    carriers: &mut Carriers,
) -> Result<(), RunError> {
    for node in programs.take_booted() {
        switch_whole(context, programs, carriers, node, true)?;
        for link in links_of(&context.job.plan, node) {
            carriers.tell(context, link)?;
            context.links.hold(link, false)?;
        }
        programs.restore_clock(context, node)?;
    }
    Ok(())
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

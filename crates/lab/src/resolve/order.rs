//! Which commands wait for others: those that make the lab ready, and those that say so.

use super::{nat, node_commands};
use crate::diagnostics::{Spanned, nearest};
use crate::errors::Errors;
use crate::plan::{Action, Event, OnRestart, RunCommand};
use crate::spec::{ActionSpec, EntrySpec, RunSpec, Spec};
use std::collections::{BTreeMap, BTreeSet};

/// The entries of all commands that make the lab ready: those of each node, then those of the lab.
pub(super) fn setups(spec: &mut Spec) -> Vec<EntrySpec> {
    let mut entries = Vec::new();
    for node in &mut spec.nodes {
        entries.extend(node_commands::setups(node));
        entries.extend(nat::setup(node));
        for (line, command) in std::mem::take(&mut node.setup) {
            let run = RunSpec { on: node.name.clone(), command, setup: true, of_node: true, ..RunSpec::default() };
            entries.push(EntrySpec { line, at: None, action: ActionSpec::Run(Box::new(run)) });
        }
    }
    entries.append(&mut spec.setup);
    entries
}

/// What a command waits for, as it is written, by its place among the events.
pub(super) type Wait = (usize, Vec<Spanned<String>>);

/// Finds what commands wait for. `is_complete`: all commands could be read, so that what is not there is an error.
pub(super) fn settle(events: &mut [Event], waits: &[Wait], is_complete: bool, errors: &mut Errors) {
    let names: BTreeMap<String, usize> =
        (0..).zip(&*events).filter_map(|(place, event)| Some((run(event)?.name.clone(), place))).collect();
    for (event, after) in waits {
        for name in after {
            let Some(other) = names.get(&name.value) else {
                if is_complete {
                    let near = nearest(&name.value, names.keys().map(String::as_str));
                    let hint = near.map_or_else(String::new, |near| format!(": did you mean `{near}`?"));
                    errors.push(name.error(format!("no command is called `{}`{hint}", name.value)));
                }
                continue;
            };
            if waits_for(events, *other, *event) {
                errors.push(name.error(format!("`{}` waits for this command itself: nothing would begin", name.value)));
            } else if let Some(wrong) = apart(events, *other, *event) {
                errors.push(name.error(wrong));
            } else if let Action::Run(run) = &mut events[*event].action {
                run.after.push(*other);
            }
        }
    }
}

/// Why a command cannot wait for another, since they start on different occasions.
fn apart(events: &[Event], other: usize, own: usize) -> Option<String> {
    let (other, own) = (run(&events[other])?, run(&events[own])?);
    match (other.on_restart, own.on_restart) {
        (OnRestart::Only, OnRestart::Only) if other.node != own.node => {
            Some(format!("`{}` starts when another node starts again, perhaps never", other.name))
        }
        (OnRestart::Only, OnRestart::Also | OnRestart::Never) => Some(format!(
            "`{}` starts only when its node starts again, perhaps never: what waits for it needs `on_restart: only`, too",
            other.name
        )),
        (OnRestart::Never, OnRestart::Also | OnRestart::Only) if other.node == own.node => Some(format!(
            "`{}` does not start when its node starts again (`on_restart: never`), and this command does",
            other.name
        )),
        _ => None,
    }
}

/// Whether the command at `from` waits for the one at `to`, or is it.
fn waits_for(events: &[Event], from: usize, to: usize) -> bool {
    let (mut seen, mut next) = (BTreeSet::from([from]), vec![from]);
    while let Some(place) = next.pop() {
        if place == to {
            return true;
        }
        let after = run(&events[place]).map_or(&[][..], |run| run.after.as_slice());
        next.extend(after.iter().filter(|other| seen.insert(**other)));
    }
    false
}

/// What makes the lab ready goes on in order: at each node, and then for the lab.
pub(super) fn chain_setups(events: &mut [Event], of_node: &BTreeSet<usize>) {
    let setups: Vec<usize> =
        (0..events.len()).filter(|place| run(&events[*place]).is_some_and(|run| run.setup)).collect();
    let mut last: BTreeMap<usize, usize> = BTreeMap::new();
    let mut before: Vec<usize> = Vec::new();
    for place in setups {
        let Action::Run(run) = &mut events[place].action else { continue };
        if of_node.contains(&place) {
            run.after.extend(last.insert(run.node, place));
            before = last.values().copied().collect();
        } else {
            run.after.append(&mut before);
            before = vec![place];
        }
    }
}

fn run(event: &Event) -> Option<&RunCommand> {
    if let Action::Run(run) = &event.action { Some(run) } else { None }
}

#[cfg(test)]
mod tests;

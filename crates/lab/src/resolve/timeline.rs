//! The timeline: names become places, and every command gets a name of its own.

use super::names::Index;
use super::place;
use crate::decode::Errors;
use crate::diagnostics::Span;
use crate::plan::{Action, Argv, Direction, Event, RunCommand};
use crate::spec::{ActionSpec, EntrySpec, LinkSpec, RunSpec};
use netloom_link::PipeChange;
use netloom_units::Bytes;
use std::collections::{BTreeMap, BTreeSet};

/// The events of the timeline; those that refer to what does not exist are noted and left out.
pub(super) fn resolve(
    entries: Vec<EntrySpec>,
    nodes: &Index<'_>,
    links: &Index<'_>,
    specs: &[LinkSpec],
    errors: &mut Errors,
) -> Vec<Event> {
    check_unique(&entries, links, errors);
    let mut taken: BTreeSet<String> = entries.iter().filter_map(given_name).map(str::to_owned).collect();
    let mut events = Vec::new();
    for EntrySpec { line, at, action } in entries {
        let action = match action {
            ActionSpec::Run(run) => {
                // Named before its node is looked up, so that an expectation on it is not wrong as well.
                let name =
                    run.name.as_ref().map_or_else(|| free_name(&run.command, links, &taken), |name| name.value.clone());
                taken.insert(name.clone());
                let node = place(nodes, &run.on, errors).unwrap_or(usize::MAX);
                Some(Action::Run(command(run, name, node)))
            }
            ActionSpec::Set { link, direction, change } => {
                let found = place(links, &link, errors);
                if let Some(wrong) = found.and_then(|found| too_large(specs.get(found)?, direction, &change)) {
                    errors.push(link.error(wrong));
                }
                found.map(|link| Action::Set { link, direction, change })
            }
            ActionSpec::Down { link, duration } => {
                place(links, &link, errors).map(|link| Action::Down { link, duration })
            }
            ActionSpec::Up { link } => place(links, &link, errors).map(|link| Action::Up { link }),
        };
        events.extend(action.map(|action| Event { line, at, action }));
    }
    events
}

/// Why the link's largest packets could not be sent after the change.
fn too_large(link: &LinkSpec, direction: Option<Direction>, change: &PipeChange) -> Option<String> {
    let pipes = link.pipes.iter().zip([Direction::Forward, Direction::Backward]);
    let changed = pipes.filter(|(_, of)| direction.is_none_or(|only| only == *of));
    let mut checks = changed.map(|(pipe, _)| change.applied_to(pipe).check(Bytes::new(u64::from(link.mtu))));
    checks.find_map(Result::err).map(|wrong| wrong.to_string())
}

fn command(run: RunSpec, name: String, node: usize) -> RunCommand {
    RunCommand {
        name,
        node,
        command: run.command,
        ready: run.ready,
        service: run.service,
        save: run.save.map(|save| save.value),
        stop_after: run.stop_after,
        env: run.env,
        may_fail: run.may_fail,
    }
}

fn given_name(entry: &EntrySpec) -> Option<&str> {
    match &entry.action {
        ActionSpec::Run(run) => run.name.as_ref().map(|name| name.value.as_str()),
        _ => None,
    }
}

/// Names and files are given once, and no command is called like a link: an expectation could mean either.
fn check_unique(entries: &[EntrySpec], links: &Index<'_>, errors: &mut Errors) {
    let (mut names, mut files): (BTreeMap<&str, Span>, BTreeMap<&str, Span>) = Default::default();
    let runs =
        || entries.iter().filter_map(|entry| if let ActionSpec::Run(run) = &entry.action { Some(run) } else { None });
    for name in runs().filter_map(|run| run.name.as_ref()) {
        if let Some(first) = names.insert(&name.value, name.span) {
            errors.push(
                name.error(format!("there are two commands `{}`: each has a name of its own", name.value))
                    .and(first, "first here"),
            );
        }
        if links.has(&name.value) {
            errors.push(name.error(format!("a link is called `{}`, too: choose another name", name.value)));
        }
    }
    for file in runs().filter_map(|run| run.save.as_ref()) {
        if let Some(first) = files.insert(&file.value, file.span) {
            errors.push(
                file.error(format!("two commands save to \"{}\": each needs a file of its own", file.value))
                    .and(first, "first here"),
            );
        }
    }
}

/// The program's name, with a number behind it if that is taken.
fn free_name(command: &Argv, links: &Index<'_>, taken: &BTreeSet<String>) -> String {
    let word = match command {
        Argv::Shell(text) => text.split_whitespace().next(),
        Argv::Exec(words) => words.first().map(String::as_str),
    };
    let program = word.and_then(|word| word.rsplit('/').next()).unwrap_or_default();
    let safe: String =
        program.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).take(40).collect();
    let trimmed = safe.trim_matches('-');
    let base = if trimmed.starts_with(|c: char| c.is_ascii_alphabetic()) { trimmed } else { "command" };
    let is_free = |name: &String| !taken.contains(name) && !links.has(name);
    let numbered = (2..).map(|number| format!("{base}-{number}"));
    [base.to_owned()].into_iter().chain(numbered).find(is_free).expect("numbers do not end")
}

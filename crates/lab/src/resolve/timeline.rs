//! The timeline: names become places, and every command gets a name of its own.

use super::link_outages::without_carrier;
use super::names::{FreeNames, Index, Places, closed, runs_nothing};
use super::node_moves::NodeMoves;
use super::packets::unanswerable;
use super::partitions::{Partition, healed, leads, partition_set, partitions};
use super::radio::unchangeable;
use super::stops::Stops;
use super::switches::may_limit_loop;
use super::{churn, link_outages, order, place};
use crate::diagnostics::{Diagnostic, Span, Spanned, nearest};
use crate::errors::{Errors, Findings, keep};
use crate::plan::{Action, Argv, Direction, Event, LinkPart, Plan, RunCommand, Treatment};
use crate::plan::{LIMITS_LOOP, lifts_rate};
use crate::spec::{ActionSpec, EntrySpec, LinkSpec, PartSpec, RunSpec, Spec};
use netloom_link::{PipeChange, PipeConfig};
use netloom_units::Bytes;
use std::collections::{BTreeMap, BTreeSet};

/// The events of the timeline; those that refer to what does not exist are noted and left out.
pub(super) fn resolve(entries: Vec<EntrySpec>, places: &Places<'_>, found: &mut Findings) -> Vec<Event> {
    check_unique(&entries, places.links, &mut found.errors);
    let partitions = partitions(&entries, places, found);
    let errors = &mut found.errors;
    let moves = NodeMoves::of(&entries, places, errors);
    let stops = Stops::of(&entries, places, errors);
    let mut names = FreeNames::without(entries.iter().filter_map(given_name).map(str::to_owned));
    let (mut events, mut disturbed) = (moves.at_first(), churn::Disturbed::default());
    let (mut waits, mut of_node, mut heals) = (Vec::new(), BTreeSet::new(), Vec::new());
    // When commands may part leaders.
    let mut led = Vec::new();
    for (number, EntrySpec { line, at, action }) in entries.into_iter().enumerate() {
        let actions = match action {
            ActionSpec::Run(run) => {
                led.extend(run.leads.is_some().then_some((at.unwrap_or_default(), number)));
                waits.push((events.len(), run.after.clone()));
                of_node.extend(run.of_node.then_some(events.len()));
                vec![Action::Run(Box::new(command(*run, &mut names, places, errors)))]
            }
            ActionSpec::Set { part, change } => {
                let meant = settable(&part, &change, places, errors);
                let set = |LinkPart { link, direction, pipe }| Action::Set { link, direction, pipe, change };
                meant.map(set).into_iter().collect()
            }
            ActionSpec::Down { part, duration, carrier } => {
                let meant = part_of(&part, None, places, errors);
                if let (Some(meant), Some(place)) = (&meant, &carrier) {
                    errors.extend(without_carrier(meant, place, places));
                }
                let carrier = carrier.is_some();
                meant.map(|meant| Action::Down { part: meant, duration, carrier }).into_iter().collect()
            }
            ActionSpec::Up { part } => {
                part_of(&part, None, places, errors).map(|part| Action::Up { part }).into_iter().collect()
            }
            ActionSpec::Partition(own) => {
                let duration = own.duration;
                let meant = partitions.iter().filter(|partition| partition.entry == number);
                meant
                    .flat_map(Partition::links)
                    .map(|link| Action::Down { part: LinkPart::whole(*link), duration, carrier: false })
                    .collect()
            }
            ActionSpec::Heal { place } => {
                heals.push((at.unwrap_or_default(), number, line));
                let joined = keep(healed((at.unwrap_or_default(), number), &place, &partitions, &led), errors);
                joined.into_iter().flatten().map(|link| Action::Up { part: LinkPart::whole(link) }).collect()
            }
            ActionSpec::Log(text) => vec![Action::Log(text)],
            written @ ActionSpec::Disturb { .. } => disturbed.actions(written, events.len()),
            ActionSpec::Reboot { nodes: meant, duration } => churn::reboot(&meant, duration, places, errors),
            ActionSpec::Stop { .. } => stops.actions(number),
            // It says when a node stops to be stopped.
            ActionSpec::Start { .. } => Vec::new(),
            ActionSpec::Flap { what, duration } => churn::flap(&what, duration, places, errors),
            ActionSpec::Move(_) => moves.actions(number),
        };
        events.extend(actions.into_iter().map(|one| Event { line, at, action: one }));
    }
    events.extend(partition_set(&partitions, &heals, !led.is_empty()));
    disturbed.settle(&mut events, places, errors);
    order::settle(&mut events, &waits, places.is_complete, errors);
    order::chain_setups(&mut events, &of_node);
    link_outages::settle(&mut events);
    events
}

/// Finds the part of a link that a change of the timeline is for; errors of what cannot be changed so are noted.
fn settable(part: &PartSpec, change: &PipeChange, places: &Places<'_>, errors: &mut Errors) -> Option<LinkPart> {
    let meant = part_of(part, Some(change), places, errors)?;
    let (changed, link) = (&places.spec.links[meant.link], &part.link);
    errors.extend(without_limit(places.spec, changed, link, change));
    errors.extend(unanswerable(changed, link, change));
    errors.extend(unchangeable(changed, link, change));
    Some(meant)
}

/// Finds the part of a link that is meant, and perhaps changed; none after an error was noted.
fn part_of(part: &PartSpec, change: Option<&PipeChange>, places: &Places<'_>, errors: &mut Errors) -> Option<LinkPart> {
    let PartSpec { link, direction, pipe } = part;
    let meant = place(places.links, link, errors)?;
    errors.extend(places.spec.links[meant].without_direction(*direction, link));
    if change.is_some() || pipe.is_some() {
        errors.extend(wrong_change(&places.spec.links[meant], part, change.unwrap_or(&PipeChange::default())));
    }
    Some(LinkPart { link: meant, direction: *direction, pipe: pipe.as_ref().map(|name| name.value.clone()) })
}

/// The error of a change of what is not there, or after which the link's largest packets could not be sent.
fn wrong_change(link: &LinkSpec, part: &PartSpec, change: &PipeChange) -> Option<Diagnostic> {
    let PartSpec { link: name, direction, pipe: further } = part;
    let is_meant = |this: &&Direction| direction.is_none_or(|only| only == **this);
    let directions = || link.directions().iter().filter(is_meant);
    let Some(pipe) = further else {
        let own = directions().map(|this| &link.pipes[this.index()]);
        return too_large(link.mtu, own, change).map(|wrong| name.error(wrong));
    };
    let known: Vec<&Treatment> = directions().flat_map(|this| &link.treatments[this.index()]).collect();
    let meant = known.iter().filter(|known| known.name == pipe.value).map(|known| &known.config);
    if meant.clone().next().is_some() {
        return too_large(link.mtu, meant, change).map(|wrong| pipe.error(wrong));
    }
    let names = || known.iter().map(|known| known.name.as_str());
    let hint = match nearest(&pipe.value, names()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => "it has none".to_owned(),
        None => format!("it has {}", names().collect::<Vec<_>>().join(", ")),
    };
    let direction = direction.map_or_else(String::new, |direction| format!(" {direction}"));
    Some(pipe.error(format!("link `{}`{direction} has no further pipe `{}`: {hint}", name.value, pipe.value)))
}

/// The error of a change after which what goes round in a loop might multiply without bound.
fn without_limit(spec: &Spec, link: &LinkSpec, name: &Spanned<String>, change: &PipeChange) -> Option<Diagnostic> {
    (lifts_rate(change) && may_limit_loop(spec, link)).then(|| name.error(LIMITS_LOOP))
}

/// Why the link's largest packets could not be sent after the change.
fn too_large<'a>(mtu: u32, pipes: impl Iterator<Item = &'a PipeConfig>, change: &PipeChange) -> Option<String> {
    let mut checks = pipes.map(|pipe| change.applied_to(pipe).check(Bytes::new(u64::from(mtu))));
    checks.find_map(Result::err).map(|wrong| wrong.to_string())
}

fn command(run: RunSpec, names: &mut FreeNames, places: &Places<'_>, errors: &mut Errors) -> RunCommand {
    let Places { nodes, links, spec, .. } = places;
    // Named before its node is looked up, so that an expectation on it is not wrong as well.
    let name = match &run.name {
        Some(name) => name.value.clone(),
        None => names.find(&program(&run.command), |name| !links.has(name)),
    };
    names.take(&name);
    let node = place(nodes, &run.on, errors).unwrap_or(usize::MAX);
    let kind = spec.nodes.get(node).map(|node| node.kind);
    errors.extend(kind.and_then(|kind| runs_nothing(&run.on, kind)));
    errors.extend(spec.nodes.get(node).and_then(|node| closed(&run.on, node)));
    RunCommand {
        name,
        node,
        leads: run.leads.as_deref().and_then(|partition| leads(partition, places, errors)).map(Box::new),
        command: run.command,
        setup: run.setup,
        after: Vec::new(),
        delay: run.delay,
        ready: run.ready,
        service: run.service,
        once: run.once,
        on_restart: run.on_restart.map(|own| own.value).unwrap_or_default(),
        stop: run.stop.or(spec.stop).unwrap_or(Plan::STOP),
        save: run.save.map(|save| save.value),
        stop_after: run.stop_after,
        env: run.env,
        may_fail: run.may_fail,
        user: run.user,
        folder: run.folder,
        key: run.key,
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

/// The program's name, as far as a command can be called so.
fn program(command: &Argv) -> String {
    let word = match command {
        Argv::Shell(text) => text.split_whitespace().next(),
        Argv::Exec(words) => words.first().map(String::as_str),
    };
    let program = word.and_then(|word| word.rsplit('/').next()).unwrap_or_default();
    let safe: String =
        program.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).take(40).collect();
    let trimmed = safe.trim_matches('-');
    if trimmed.starts_with(|c: char| c.is_ascii_alphabetic()) { trimmed } else { "command" }.to_owned()
}

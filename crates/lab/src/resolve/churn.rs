//! Programs, nodes and links that go and come: names become places.

use super::faults::{check_frozen, refused};
use super::names::{Places, closed, index_of, runs_nothing};
use super::place;
use crate::diagnostics::{Diagnostic, Spanned, nearest};
use crate::errors::Errors;
use crate::plan::{Action, Disturbance, Event, LinkPart, Whose};
use crate::spec::ActionSpec;
use netloom_units::Duration;
use std::collections::BTreeMap;

/// Whose programs events are about, as it is written, by their places. Commands are known when all events are.
#[derive(Default)]
pub(super) struct Disturbed(Vec<(usize, Spanned<String>)>);

impl Disturbed {
    /// One event for each name, the first of which gets the place `first`.
    pub(super) fn actions(&mut self, written: ActionSpec, first: usize) -> Vec<Action> {
        let ActionSpec::Disturb { how, whose, process, duration } = written else { return Vec::new() };
        let action = Action::Disturb { how, whose: Whose::Command(usize::MAX), process, duration };
        let actions = vec![action; whose.len()];
        self.0.extend((first..).zip(whose));
        actions
    }

    /// Finds what the names mean.
    pub(super) fn settle(self, events: &mut [Event], places: &Places<'_>, errors: &mut Errors) {
        let command = |(place, event): (usize, &Event)| match &event.action {
            Action::Run(run) => Some((run.name.clone(), (place, run.setup))),
            _ => None,
        };
        let commands: BTreeMap<String, (usize, bool)> = events.iter().enumerate().filter_map(command).collect();
        let mut frozen = BTreeMap::new();
        let hosts: Vec<Option<usize>> = events.iter().map(host).collect();
        for (event, name) in self.0 {
            if let Action::Disturb { how: Disturbance::Freeze(_), .. } = &events[event].action {
                frozen.insert(event, name.clone());
            }
            match (meaning(&name, &commands, places), &mut events[event].action) {
                (Ok(found), Action::Disturb { how, whose, process, .. }) => {
                    let host = found.and_then(|own| match own {
                        Whose::Node(node) => Some((own, node)),
                        Whose::Command(number) => hosts[number].map(|node| (own, node)),
                    });
                    errors.extend(host.and_then(|host| refused((*how, process.as_deref()), host, &name, places)));
                    *whose = found.unwrap_or(*whose);
                }
                (Err(error), _) => errors.push(error),
                (Ok(_), _) => {}
            }
        }
        check_frozen(events, &frozen, errors);
    }
}

/// The node of a command.
fn host(event: &Event) -> Option<usize> {
    if let Action::Run(run) = &event.action { Some(run.node) } else { None }
}

/// The command or node of this name; none if it may be one that could not be read.
fn meaning(
    name: &Spanned<String>,
    commands: &BTreeMap<String, (usize, bool)>,
    places: &Places<'_>,
) -> Result<Option<Whose>, Diagnostic> {
    let text = &name.value;
    match (commands.get(text), places.nodes.has(text)) {
        (Some(_), true) => {
            Err(name.error(format!("`{text}` is a node and a command, too: give the command another name by `as`")))
        }
        (Some((_, true)), false) => {
            Err(name.error(format!("`{text}` makes the lab ready, and is over when time begins")))
        }
        (Some((event, false)), false) => Ok(Some(Whose::Command(*event))),
        (None, true) => machine(name, places).map(|node| node.map(Whose::Node)),
        (None, false) => match index_of(places.nodes, name) {
            _ if !places.is_complete => Ok(None),
            Ok(_) => Ok(None),
            Err(_) => {
                let known = commands.keys().map(String::as_str).chain(places.nodes.names());
                let hint = nearest(text, known).map_or_else(String::new, |near| format!(": did you mean `{near}`?"));
                Err(name.error(format!("no command and no node is called `{text}`{hint}")))
            }
        },
    }
}

/// A node in which programs run.
fn machine(name: &Spanned<String>, places: &Places<'_>) -> Result<Option<usize>, Diagnostic> {
    let Some(node) = index_of(places.nodes, name)? else { return Ok(None) };
    let own = &places.spec.nodes[node];
    runs_nothing(name, own.kind).or_else(|| closed(name, own)).map_or(Ok(Some(node)), Err)
}

/// What happens when nodes start again.
pub(super) fn reboot(
    nodes: &[Spanned<String>],
    duration: Duration,
    places: &Places<'_>,
    errors: &mut Errors,
) -> Vec<Action> {
    let mut actions = Vec::new();
    for name in nodes {
        match machine(name, places) {
            Ok(Some(node)) => {
                let whose = Whose::Node(node);
                let (how, process) = (Disturbance::Kill, None);
                actions.push(Action::Disturb { how, whose, process, duration: Some(duration) });
                actions.extend(cuts(links_at(&name.value, places), duration));
            }
            Ok(None) => {}
            Err(error) => errors.push(error),
        }
    }
    actions
}

/// Cuts of links that are named, or of all at nodes that are.
pub(super) fn flap(
    what: &[Spanned<String>],
    duration: Duration,
    places: &Places<'_>,
    errors: &mut Errors,
) -> Vec<Action> {
    let mut actions = Vec::new();
    for name in what {
        let text = &name.value;
        match (places.links.has(text), places.nodes.has(text)) {
            (true, true) => {
                errors.push(name.error(format!("`{text}` is a node and a link: write `down` in place of `flap`")));
            }
            (false, true) => actions.extend(cuts(links_at(text, places), duration)),
            _ => actions.extend(cuts(place(places.links, name, errors).into_iter(), duration)),
        }
    }
    actions
}

fn cuts(links: impl Iterator<Item = usize>, duration: Duration) -> impl Iterator<Item = Action> {
    links.map(move |link| Action::Down { part: LinkPart::whole(link), duration: Some(duration), carrier: false })
}

/// The links at a node.
fn links_at<'a>(node: &'a str, places: &'a Places<'_>) -> impl Iterator<Item = usize> + 'a {
    let links = places.spec.links.iter().enumerate();
    links.filter(move |(_, link)| link.ends.iter().any(|end| end.node.value == node)).map(|(number, _)| number)
}

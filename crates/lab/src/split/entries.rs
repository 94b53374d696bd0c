//! What happens on the nodes and links, and what is recorded and expected of them: to each machine what is about its own.

use super::partitions::partition;
use super::shares::{Divided, divisible, undrawn, whole};
use super::tree::{key, list, map, text, with};
use super::{Ground, entry};
use crate::diagnostics::Diagnostic;
use crate::expect::{Subject, TcpPart, Term};
use crate::plan::{Action, Direction};
use crate::resolve::matches_name;
use crate::yaml::{Content, Entry, Node};
use std::collections::{BTreeMap, BTreeSet};

/// The kinds of entries that name nodes, commands or links in a list: the key that only this kind has, and the key of the list.
const LISTS: [(&str, &str); 18] = [
    ("run", "on"),
    ("kill", "kill"),
    ("pause", "pause"),
    ("continue", "continue"),
    ("signal", "to"),
    ("restart", "restart"),
    ("limit", "limit"),
    ("reboot", "reboot"),
    ("crash", "crash"),
    ("freeze", "freeze"),
    ("disk", "disk"),
    ("clock", "on"),
    ("fail", "on"),
    ("starve", "on"),
    ("schedule", "on"),
    ("oom", "on"),
    ("stop", "stop"),
    ("start", "start"),
];

/// The kinds of entries about a direction of a link, or both.
const ABOUT_LINKS: [&str; 4] = ["set", "ramp", "down", "up"];

/// The keys of a machine's part that are about what happens.
pub(super) fn of(ground: &Ground<'_>, machine: usize, wrong: &mut Vec<Diagnostic>) -> Vec<Entry> {
    type Divide = fn(&Ground<'_>, &Node) -> Divided;
    let lists: [(&str, Divide); 6] = [
        ("setup", setup),
        ("timeline", timeline),
        ("traffic", traffic),
        ("capture", capture),
        ("multicast", multicast),
        ("expect", expectation),
    ];
    let mut keys = Vec::new();
    keys.extend(layout(ground, machine));
    for (name, divide) in lists {
        let Some(value) = ground.root.value(name).filter(|value| value.content != Content::Empty) else { continue };
        let mut own = Vec::new();
        for item in value.items() {
            match divide(ground, item) {
                Ok(mut shares) => own.extend(shares.remove(&machine)),
                Err(found) => wrong.push(found),
            }
        }
        keys.extend((!own.is_empty()).then(|| key(name, list(own))));
    }
    keys.extend(journal(ground, machine));
    keys.extend(figures(ground, machine, wrong));
    wrong.extend(setups_apart(ground));
    keys
}

fn layout(ground: &Ground<'_>, machine: usize) -> Option<Entry> {
    let is_own =
        |entry: &&Entry| ground.nodes.get(entry.name.as_str()).is_some_and(|node| ground.home(*node) == machine);
    let own: Vec<Entry> = ground.root.value("layout")?.entries().iter().filter(is_own).cloned().collect();
    (!own.is_empty()).then(|| key("layout", map(own)))
}

fn everywhere(ground: &Ground<'_>, item: &Node) -> Divided {
    Ok((0..ground.placement.machines.len()).map(|machine| (machine, item.clone())).collect())
}

/// The machine of the node that a key names.
fn home_of(ground: &Ground<'_>, item: &Node, name: &str) -> Result<usize, Diagnostic> {
    let value = item.value(name).ok_or_else(|| item.lacks(name, "client"))?;
    let node = value.text().and_then(|text| ground.nodes.get(text));
    node.map(|node| ground.home(*node)).ok_or_else(|| value.error("this is no node whose machine is known"))
}

fn setup(ground: &Ground<'_>, item: &Node) -> Divided {
    whole(home_of(ground, item, "on")?, item)
}

/// The error about commands that run one after the other, on different machines.
fn setups_apart(ground: &Ground<'_>) -> Option<Diagnostic> {
    let items = ground.root.value("setup")?.items();
    let first = home_of(ground, items.first()?, "on").ok()?;
    let other = items.iter().find(|item| home_of(ground, item, "on").is_ok_and(|home| home != first))?;
    let message = "the lab's `setup` goes on in order, and this node is on another machine than the one before: write the \
                   commands at the nodes, if the order does not matter";
    Some(other.value("on").unwrap_or(other).error(message))
}

fn traffic(ground: &Ground<'_>, item: &Node) -> Divided {
    let (from, to) = (home_of(ground, item, "from")?, home_of(ground, item, "to")?);
    if from != to {
        return Err(item.error("this traffic is of a simulation, which knows no other machines: its nodes are on two"));
    }
    whole(from, item)
}

fn multicast(ground: &Ground<'_>, item: &Node) -> Divided {
    let from = home_of(ground, item, "from")?;
    for member in item.value("to").map_or(&[][..], Node::items) {
        let home = member.text().and_then(|name| ground.nodes.get(name)).map(|node| ground.home(*node));
        if home != Some(from) {
            return Err(
                member.error("a tree of multicast is on one machine, and this node is on another than its source")
            );
        }
    }
    whole(from, item)
}

fn timeline(ground: &Ground<'_>, item: &Node) -> Divided {
    let has = |name: &str| item.value(name).is_some();
    if has("log") || has("heal") {
        return everywhere(ground, item);
    }
    if has("partition") {
        return partition(ground, item);
    }
    if let Some((_, names)) = LISTS.iter().find(|(kind, _)| has(kind)) {
        return named(ground, item, names);
    }
    if ABOUT_LINKS.iter().any(|kind| has(kind)) {
        return about_link(ground, item);
    }
    if has("packet") || has("reset") {
        let link = link_of(ground, item)?;
        if ground.tunnels.contains_key(&link) {
            let message = "single packets and connections are picked in both directions of a link, and this one is cut: choose another";
            return Err(item.value("link").unwrap_or(item).error(message));
        }
        return whole(first(ground, link), item);
    }
    if has("flap") {
        return flap(ground, item);
    }
    if has("move") {
        return moved(ground, item);
    }
    divisible(ground, item, "this cannot be divided: leave it out to divide the lab")
}

/// The machine of a link's first end.
fn first(ground: &Ground<'_>, link: usize) -> usize {
    ground.home(ground.plan.links[link].ends[0].node)
}

fn link_of(ground: &Ground<'_>, item: &Node) -> Result<usize, Diagnostic> {
    let value = item.value("link").ok_or_else(|| item.lacks("link", "backbone"))?;
    let link = value.text().and_then(|name| ground.links.get(name)).copied();
    link.ok_or_else(|| value.error("this is no link whose machine is known"))
}

/// The machine in whose part packets enter a direction of a link.
fn entrance(ground: &Ground<'_>, link: usize, direction: Direction) -> usize {
    ground.home(ground.plan.links[link].entry(direction).node)
}

fn about_link(ground: &Ground<'_>, item: &Node) -> Divided {
    let link = link_of(ground, item)?;
    if !ground.tunnels.contains_key(&link) {
        return whole(first(ground, link), item);
    }
    let ways = [(Direction::Forward, "forward"), (Direction::Backward, "backward")];
    if let Some(said) = item.value("direction") {
        let way = ways.iter().find(|(_, word)| said.text() == Some(*word));
        let (direction, _) = way.ok_or_else(|| said.error("this is no direction of a link that is cut"))?;
        return whole(entrance(ground, link, *direction), item);
    }
    undrawn(item)?;
    let takes_carrier = item.value("down").and_then(|down| down.value("carrier")).is_some();
    let share = |(direction, word): (Direction, &str)| {
        let own = if takes_carrier { item.clone() } else { with(item, vec![key("direction", text(word))]) };
        (entrance(ground, link, direction), own)
    };
    Ok(ways.into_iter().map(share).collect())
}

fn flap(ground: &Ground<'_>, item: &Node) -> Divided {
    for name in item.value("flap").map_or(&[][..], Node::items) {
        let link = name.text().and_then(|name| ground.links.get(name));
        if let Some(link) = link.filter(|link| ground.tunnels.contains_key(link)) {
            let message = format!(
                "link `{}` is cut, and its parts would flap at instants of their own: write `down` with a `direction`",
                ground.plan.links[*link].name
            );
            return Err(name.error(message));
        }
    }
    named(ground, item, "flap")
}

fn moved(ground: &Ground<'_>, item: &Node) -> Divided {
    for link in ["from", "to"].iter().filter_map(|name| item.value(name)) {
        let place = link.text().and_then(|name| ground.links.get(name));
        if place.is_some_and(|place| ground.tunnels.contains_key(place)) {
            return Err(link.error("this link leads to another machine, and no node moves there"));
        }
    }
    whole(home_of(ground, item, "move")?, item)
}

/// An entry about nodes, commands or links that a key lists: each machine gets those of its own.
fn named(ground: &Ground<'_>, item: &Node, name: &str) -> Divided {
    let value = item.value(name).ok_or_else(|| item.lacks(name, "client"))?;
    let mut own: BTreeMap<usize, Vec<Node>> = BTreeMap::new();
    for named in value.items() {
        for (home, part) in homes(ground, named)? {
            own.entry(home).or_default().push(text(part));
        }
    }
    if own.len() > 1 {
        undrawn(item)?;
    }
    for command in item.value("after").map_or(&[][..], Node::items) {
        let home = command.text().and_then(|word| command_home(ground, word));
        if home.is_none() || own.keys().any(|machine| Some(*machine) != home) {
            return Err(
                command.error("this command is on another machine, and no part of a lab waits for one of another")
            );
        }
    }
    if let (1, Some(machine)) = (own.len(), own.keys().next()) {
        return whole(*machine, item);
    }
    let share = |(machine, names): (usize, Vec<Node>)| {
        let called = called(ground, item, &names).map(|called| key("as", text(called)));
        let keys = std::iter::once(key(name, list(names))).chain(called);
        (machine, with(item, keys.collect()))
    };
    Ok(own.into_iter().map(share).collect())
}

/// The name of the command of an entry on its only node: alone, it would be called otherwise than among others.
fn called<'a>(ground: &Ground<'a>, item: &Node, names: &[Node]) -> Option<&'a str> {
    let [only] = names else { return None };
    let node = ground.nodes.get(only.text()?).filter(|_| item.value("run").is_some())?;
    ground.plan.timeline.iter().find_map(|event| match &event.action {
        Action::Run(run) if run.node == *node && event.line == item.span.line => Some(run.name.as_str()),
        _ => None,
    })
}

/// The machine of a command.
fn command_home(ground: &Ground<'_>, name: &str) -> Option<usize> {
    ground.plan.timeline.iter().find_map(|event| match &event.action {
        Action::Run(run) if run.name == name => Some(ground.home(run.node)),
        _ => None,
    })
}

/// The machines of what a name or a pattern means, with the names there.
fn homes(ground: &Ground<'_>, named: &Node) -> Result<Vec<(usize, String)>, Diagnostic> {
    let name = named.text().ok_or_else(|| named.expected("a name"))?;
    if let Some(home) = command_home(ground, name) {
        return Ok(vec![(home, name.to_owned())]);
    }
    if let Some(node) = ground.nodes.get(name) {
        return Ok(vec![(ground.home(*node), name.to_owned())]);
    }
    if let Some(link) = ground.links.get(name) {
        return Ok(vec![(first(ground, *link), name.to_owned())]);
    }
    let like = ground.plan.nodes.iter().enumerate().filter(|(_, node)| matches_name(name, &node.name));
    let like: Vec<(usize, String)> = like
        .filter(|(_, node)| node.takes_commands())
        .map(|(place, node)| (ground.home(place), node.name.clone()))
        .collect();
    if like.is_empty() {
        return Err(named.error(format!("on which machine `{name}` is cannot be told: write names of nodes")));
    }
    Ok(like)
}

fn capture(ground: &Ground<'_>, item: &Node) -> Divided {
    if item.value("node").is_some() {
        return whole(home_of(ground, item, "node")?, item);
    }
    let named = if let Content::Map(_) = item.content { item.value("link") } else { Some(item) };
    let link = named.and_then(Node::text).and_then(|name| ground.links.get(name));
    let link = *link.ok_or_else(|| item.error("this is no link whose machine is known"))?;
    let at = item.value("at").and_then(Node::text).and_then(|name| ground.nodes.get(name));
    if let Some(node) = at {
        return whole(ground.home(*node), item);
    }
    Ok(ground.homes(link).into_iter().map(|machine| (machine, item.clone())).collect())
}

/// The journal of the links that a machine has.
fn journal(ground: &Ground<'_>, machine: usize) -> Option<Entry> {
    let value = ground.root.value("journal")?;
    let is_own = |item: &&Node| {
        let name = item.text().map(|name| name.split_once('.').map_or(name, |(link, _)| link));
        let link = name.and_then(|name| ground.links.get(name));
        link.is_some_and(|link| ground.homes(*link).contains(&machine))
    };
    let kept = |links: &Node| match &links.content {
        Content::List(items) => {
            let own: Vec<Node> = items.iter().filter(is_own).cloned().collect();
            (!own.is_empty()).then(|| list(own))
        }
        _ => Some(links.clone()),
    };
    let own = match value.value("links") {
        Some(links) => with(value, vec![key("links", kept(links)?)]),
        None => kept(value)?,
    };
    Some(key("journal", own))
}

fn expectation(ground: &Ground<'_>, item: &Node) -> Divided {
    let written = item.text().unwrap_or_default();
    let Some(own) = ground.plan.expect.iter().find(|own| own.text == written) else {
        return divisible(ground, item, "this is expected of all runs of a sweep: leave it out to divide the lab");
    };
    let mut homes = BTreeSet::new();
    for term in own.terms() {
        homes.insert(measured(ground, term, item)?);
    }
    match homes.first() {
        Some(only) if homes.len() == 1 => whole(*only, item),
        _ => Err(item.error("this compares what is measured on two machines: expect something of each")),
    }
}

fn figures(ground: &Ground<'_>, machine: usize, wrong: &mut Vec<Diagnostic>) -> Option<Entry> {
    let written = ground.root.value("figures")?;
    let mut own = Vec::new();
    for figure in &ground.plan.figures {
        let Some(entry) = entry(written, &figure.name) else { continue };
        match measured(ground, &figure.term, &entry.value) {
            Ok(home) => own.extend((home == machine).then(|| entry.clone())),
            Err(found) => wrong.push(found),
        }
    }
    (!own.is_empty()).then(|| key("figures", map(own)))
}

/// The machine on which a term is measured.
fn measured(ground: &Ground<'_>, term: &Term, item: &Node) -> Result<usize, Diagnostic> {
    let of_event = |event: usize| match &ground.plan.timeline[event].action {
        Action::Run(run) => Ok(ground.home(run.node)),
        _ => Err(item.error("what this is about is no command")),
    };
    match &term.subject {
        Subject::Command { event, .. } | Subject::Tcp { part: TcpPart::Command(event), .. } => of_event(*event),
        Subject::Node { node, .. } | Subject::Tcp { part: TcpPart::Node(node), .. } => Ok(ground.home(*node)),
        Subject::Link { link, direction, .. } if ground.tunnels.contains_key(link) => match direction {
            Some(direction) => Ok(entrance(ground, *link, *direction)),
            None => {
                let name = &ground.plan.links[*link].name;
                Err(item.error(format!(
                    "link `{name}` is cut, and its directions are measured on two machines: write `{name}.forward` or \
                     `{name}.backward`"
                )))
            }
        },
        Subject::Link { link, .. } => Ok(first(ground, *link)),
        Subject::Tcp { part: TcpPart::All, .. } => {
            let homes: BTreeSet<usize> = ground.placement.nodes.iter().map(|(home, _)| *home).collect();
            let only = homes.first().filter(|_| homes.len() == 1).copied();
            only.ok_or_else(|| item.error("this is about the connections of all nodes, on all machines: name a node"))
        }
    }
}

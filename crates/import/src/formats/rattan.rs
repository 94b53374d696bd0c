//! rattan's configurations: cells between two ends, and how they are linked (github.com/stack-rs/rattan,
//! `config.example.toml`).

mod cells;
mod trace;

use crate::files::Input;
use crate::quantity::{self, spelled_duration};
use crate::seen::Seen;
use crate::source::{Place, Read};
use crate::toml;
use crate::topology::{End, Topology};
use crate::tree::Tree;
use crate::value::{Origin, Value, entry};
use cells::Direction;
use netloom_lab::yaml::{Content, Node};
use netloom_units::{Duration, Probability};
use std::collections::BTreeSet;

/// The two ends.
const ENDS: [&str; 2] = ["left", "right"];

/// Reads the configuration.
pub(crate) fn read(input: &mut Input<'_>) -> Read<Topology> {
    let root = toml::parse(input.text())?;
    let mut topology = Topology::called(&input.stem.clone());
    let mut numbers = [0; 2];
    for (number, end) in numbers.iter_mut().zip(ENDS) {
        *number = topology.add_node(end, end, Place::default())?;
        topology.nodes[*number].origin = Origin::default();
    }
    let links = root.required("links", "rattan says there how cells are linked: write for example `left = \"up\"`")?;
    let link = topology.add_link("link", Origin::at(links.place()), numbers.map(End::at))?;
    let seen = Seen::default();
    seen.get(&root, "links");
    let mut ways = Ways { root: &root, links, seen: &seen, passed: BTreeSet::new() };
    for (direction, end) in ENDS.into_iter().enumerate() {
        let mut found = Direction::default();
        ways.follow(end, &mut found, &mut topology, input)?;
        let settings = found.settings(&mut topology.notes);
        let made = &mut topology.links[link];
        *[&mut made.forward, &mut made.backward][direction] = settings;
    }
    let passed = ways.passed;
    for cell in seen.get(&root, "cells").map_or(&[][..], Tree::entries) {
        seen.take(cell);
        if !passed.contains(&cell.name) {
            seen.all_of(&cell.value);
            let place = Place { file: 0, span: cell.span };
            topology.notes.add(place, format!("the cell `{}` is on no way between the ends", cell.name));
        }
    }
    commands(&root, &seen, &mut topology);
    others(&root, &seen, &mut topology);
    seen.rest(&root, &[], &mut topology.notes);
    Ok(topology)
}

/// The ways between the ends.
struct Ways<'a> {
    root: &'a Node,
    links: &'a Node,
    seen: &'a Seen,
    /// The cells that were passed.
    passed: BTreeSet<String>,
}

impl Ways<'_> {
    /// Takes what a direction does from its cells, one after the other.
    fn follow(&mut self, end: &str, found: &mut Direction, topology: &mut Topology, input: &mut Input<'_>) -> Read<()> {
        let (links, seen) = (self.links, self.seen);
        let is_end = |name: &str| ENDS.iter().any(|one| is_port(name, one));
        let Some(first) = links.entries().iter().find(|link| is_port(&link.name, end)) else {
            return Err(links.place().wrong(format!("nothing leaves `{end}`: write for example `{end} = \"up\"`")));
        };
        seen.take(first);
        let mut at = &first.value;
        loop {
            let name = at.text().unwrap_or_default();
            if is_end(name) {
                return match is_port(name, end) {
                    true => Err(at.place().wrong(format!("what leaves `{end}` comes back to it"))),
                    false => Ok(()),
                };
            }
            if !self.passed.insert(name.to_owned()) {
                let said = format!("`{name}` is passed twice: a cell is in one direction, and once");
                return Err(at.place().wrong(said));
            }
            let cell = self.root.get("cells").and_then(|cells| cells.get(name));
            let cell =
                cell.ok_or_else(|| at.place().wrong(format!("there is no cell `{name}`: write `[cells.{name}]`")))?;
            found.add(cell, seen, topology, input)?;
            let egress = seen.get(cell, "egress_connections").and_then(|all| all.items().first());
            let next = seen.get(links, name).or(egress);
            let missing = || at.place().wrong(format!("nothing leaves `{name}`: write `{name} = ...` in `[links]`"));
            at = next.ok_or_else(missing)?;
        }
    }
}

/// Whether this is the end itself, or one of its interfaces.
fn is_port(name: &str, end: &str) -> bool {
    name.strip_prefix(end).is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// What runs at the ends.
fn commands(root: &Node, seen: &Seen, topology: &mut Topology) {
    let Some(commands) = seen.get(root, "commands") else { return };
    for (end, other) in [("left", "right"), ("right", "left")] {
        let Some(command) = seen.get(commands, end) else { continue };
        let words: Vec<Value> = command.items().iter().filter_map(Node::text).map(Value::text).collect();
        if words.is_empty() {
            continue;
        }
        // The address of the other end, which its name is as good as.
        let base = vec![entry("RATTAN_BASE", Value::text(other))];
        let keys =
            vec![entry("on", Value::text(end)), entry("run", Value::list(words)), entry("env", Value::map(base))];
        topology.timeline.push(Value::map(keys).because(Origin::at(command.place())));
    }
}

/// Notes what is not read.
fn others(root: &Node, seen: &Seen, topology: &mut Topology) {
    let known = ["env", "cells", "links", "commands"];
    for section in root.entries().iter().filter(|section| !known.contains(&section.name.as_str())) {
        if !section.value.entries().is_empty() {
            seen.take(section);
        }
        for key in section.value.entries() {
            seen.take(key);
            seen.all_of(&key.value);
            let place = Place { file: 0, span: key.span };
            if key.value.text() != Some("false") {
                topology.notes.add(place, format!("`{}.{}` is not read", section.name, key.name));
            }
        }
    }
    for key in seen.all(root, "env").map_or(&[][..], Tree::entries) {
        let place = Place { file: 0, span: key.span };
        let note = match (key.name.as_str(), key.value.text()) {
            ("mode", Some("Compatible")) => "`right` is a node of its own, not this machine".to_owned(),
            ("mode", _) | ("left_veth_count" | "right_veth_count", Some("1")) => continue,
            ("left_veth_count" | "right_veth_count", _) => "each end has one interface".to_owned(),
            _ if matches!(&key.value.content, Content::List(items) if items.is_empty()) => continue,
            (name, _) => format!("`env.{name}` is not read"),
        };
        topology.notes.add(place, note);
    }
}

/// A time in parts: `1s 500ms`.
fn time(said: &Node) -> Read<Duration> {
    let text = said.text().unwrap_or_default();
    let mut all = Some(Duration::ZERO);
    for part in text.split_whitespace() {
        let (number, unit) = quantity::split(part);
        let found = if unit == "m" { spelled_duration(&format!("{number} min")) } else { spelled_duration(part) };
        all = all.zip(found).map(|(sum, found)| sum + found.value);
    }
    let wrong = || said.place().wrong(format!("{text:?} is no time: write for example `10ms`"));
    all.filter(|_| !text.trim().is_empty()).ok_or_else(wrong)
}

/// A probability.
fn share(said: &Node) -> Read<Probability> {
    let text = said.text().unwrap_or_default();
    let wrong = || said.place().wrong(format!("{text:?} is no probability: write for example 0.1"));
    Ok(quantity::probability(text, 0).ok_or_else(wrong)?.value)
}

//! Edges as links.

use super::attributes::{Known, Used};
use super::{Attribute, Edge};
use crate::geography::{self, Position};
use crate::notes::Notes;
use crate::quantity::{self, Rounded, spelled_duration, spelled_rate};
use crate::source::{Place, Read};
use crate::topology::{End, Topology};
use crate::value::{Content, Map, Origin, Value, put};
use netloom_units::Rate;
use std::collections::BTreeMap;

/// Other names of settings of a link.
const ALIASES: [(&str, &str); 7] = [
    ("latency", "delay"),
    ("bandwidth", "rate"),
    ("capacity", "rate"),
    ("speed", "rate"),
    ("link_speed", "rate"),
    ("packet_loss", "loss"),
    ("metric", "cost"),
];
/// Settings of a link as a whole.
const WHOLE: [&str; 2] = ["cost", "mtu"];

/// What an edge says of its link.
#[derive(Debug, Default)]
struct Said {
    /// Of the link as a whole.
    link: Map,
    /// Of both directions.
    both: Map,
    forward: Map,
    backward: Map,
}

/// Adds the links of all edges between nodes at these places.
pub(super) fn add(
    edges: &[Edge],
    positions: &[Option<Position>],
    topology: &mut Topology,
    used: &mut Used,
) -> Read<()> {
    let mut adder = Adder { positions, topology, used, alone: BTreeMap::new(), switches: Vec::new() };
    adder.switches = (0..positions.len()).collect();
    for edge in edges {
        adder.add(edge)?;
    }
    for (place, _) in adder.alone.values().flatten() {
        let note = "an edge in one direction only: the link has both, with the same settings";
        adder.topology.notes.add(*place, note);
    }
    Ok(())
}

struct Adder<'a> {
    positions: &'a [Option<Position>],
    topology: &'a mut Topology,
    used: &'a mut Used,
    /// Links of directed edges that have none in the other direction yet, by their ends.
    alone: BTreeMap<(usize, usize), Vec<(Place, usize)>>,
    /// For each node that is a switch, another one of those that it is joined with, or itself.
    switches: Vec<usize>,
}

impl Adder<'_> {
    fn add(&mut self, edge: &Edge) -> Read<()> {
        match edge.ends[..] {
            [one, other] if one == other => {
                let name = &self.topology.nodes[one].name;
                let note = format!("an edge from `{name}` to itself: a link joins two nodes, so it is left out");
                self.topology.notes.add(edge.place, note);
                self.used.unused("edges", &edge.attributes);
                Ok(())
            }
            [one, other] => self.link(edge, one, other),
            _ => self.lan(edge),
        }
    }

    /// A hyperedge: a switch with a link to each end.
    fn lan(&mut self, edge: &Edge) -> Read<()> {
        let origin = Origin::said(edge.place, "hyperedge");
        let switch = self.topology.add_device("lan", "switch", origin.clone())?;
        self.switches.resize(self.topology.nodes.len(), switch);
        let mut known = self.used.of("edges", &edge.attributes);
        let said = said(&mut known, &mut self.topology.notes);
        known.settle();
        for end in &edge.ends {
            let number = self.topology.add_link("", origin.clone(), [End::at(*end), End::at(switch)])?;
            let link = &mut self.topology.links[number];
            (link.settings, link.forward, link.backward) =
                joined(&said.link, &said.both, &said.forward, &said.backward);
        }
        Ok(())
    }

    fn link(&mut self, edge: &Edge, one: usize, other: usize) -> Read<()> {
        let mut known = self.used.of("edges", &edge.attributes);
        let label = known.first(&["linklabel", "label", "name"]).filter(|label| label.value != "None");
        let mut said = said(&mut known, &mut self.topology.notes);
        known.settle();
        if !said.both.iter().any(|(key, _)| key == "rate")
            && let Some(label) = label
            && let Some(rate) = spelled_rate(&label.value)
        {
            put(&mut said.both, "rate", told(rate, label, &mut self.topology.notes));
        }
        self.delay(edge, one, other, &mut said);
        if edge.is_directed && self.complete(one, other, &said) {
            return Ok(());
        }
        self.break_loop(edge.place, one, other);
        let words = label.map_or_else(String::new, |label| format!("{:?}", label.value));
        let origin = Origin::said(edge.place, words);
        let number = self.topology.add_link("", origin, [End::at(one), End::at(other)])?;
        let link = &mut self.topology.links[number];
        (link.settings, link.forward, link.backward) = joined(&said.link, &said.both, &said.forward, &said.backward);
        if edge.is_directed {
            self.alone.entry((one, other)).or_default().push((edge.place, number));
        }
        Ok(())
    }

    /// Adds the delay of light, if nothing else is said and both places are known.
    fn delay(&mut self, edge: &Edge, one: usize, other: usize, said: &mut Said) {
        let is_said = [&said.both, &said.forward].iter().any(|map| map.iter().any(|(key, _)| key == "delay"));
        if is_said {
            return;
        }
        let places = [one, other].map(|node| self.positions.get(node).copied().flatten());
        let has_any = self.positions.iter().any(Option::is_some);
        let [Some(from), Some(to)] = places else {
            if has_any {
                let note = "a link to a node without coordinates: it has no delay";
                self.topology.notes.add(edge.place, note);
            }
            return;
        };
        let distance = from.distance(to);
        let delay = geography::delay(distance);
        if !delay.is_zero() {
            let words = Origin { place: None, words: format!("{distance:.0} km") };
            put(&mut said.both, "delay", Value::from(delay).because(words));
        }
    }

    /// Makes a directed edge the backward direction of the link of an edge that leads the other way.
    fn complete(&mut self, one: usize, other: usize, said: &Said) -> bool {
        let Some(waiting) = self.alone.get_mut(&(other, one)) else { return false };
        if waiting.is_empty() {
            return false;
        }
        let (_, number) = waiting.remove(0);
        let link = &mut self.topology.links[number];
        let (whole, both): (Map, Map) = link.settings.drain(..).partition(|(key, _)| WHOLE.contains(&key.as_str()));
        let mut forward = both;
        forward.append(&mut link.forward);
        let mut backward = std::mem::take(&mut link.backward);
        for (key, value) in said.both.iter().chain(&said.forward) {
            put(&mut backward, key, value.clone());
        }
        (link.settings, link.forward, link.backward) = if same(&forward, &backward) {
            ([whole, forward].concat(), Map::new(), Map::new())
        } else {
            (whole, forward, backward)
        };
        true
    }

    /// Switches in a loop would send everything round for ever: one of them becomes a transit router.
    fn break_loop(&mut self, place: Place, one: usize, other: usize) {
        let is_switch = |node: usize| {
            let kind = self.topology.nodes[node].settings.iter().find(|(key, _)| key == "kind");
            kind.is_some_and(|(_, kind)| kind.content == Content::Plain("switch".into()))
        };
        if !is_switch(one) || !is_switch(other) {
            return;
        }
        let root = |mut node: usize| {
            while self.switches[node] != node {
                node = self.switches[node];
            }
            node
        };
        let (first, second) = (root(one), root(other));
        if first == second {
            let node = &mut self.topology.nodes[other];
            put(&mut node.settings, "kind", Value::plain("transit"));
            let note = format!("`{}` closes a loop of switches: it is a transit router", node.name);
            self.topology.notes.add(place, note);
        } else {
            self.switches[first] = second;
        }
    }
}

/// The settings of a link, forward and backward: what both directions have is said once.
fn joined(link: &Map, both: &Map, forward: &Map, backward: &Map) -> (Map, Map, Map) {
    ([link.clone(), both.clone()].concat(), forward.clone(), backward.clone())
}

/// Whether two directions are set alike, wherever that is said.
fn same(one: &Map, other: &Map) -> bool {
    let plain = |map: &Map| -> BTreeMap<String, String> {
        map.iter().map(|(key, value)| (key.clone(), format!("{:?}", value.content))).collect()
    };
    plain(one) == plain(other)
}

/// What the attributes of an edge set.
fn said(known: &mut Known<'_, '_>, notes: &mut Notes) -> Said {
    let mut said = Said::default();
    if let Some(rate) = speed(known, notes) {
        put(&mut said.both, "rate", rate);
    }
    known.each(|attribute| {
        let lower = attribute.name.to_lowercase();
        let (direction, name) = match lower.split_once('.') {
            Some((direction @ ("forward" | "backward"), name)) => (direction, name.to_owned()),
            _ => ("both", lower),
        };
        let key = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name.as_str(), |(_, key)| key);
        let found = match setting(key, attribute, notes) {
            Meaning::Setting(found) => found,
            Meaning::Unreadable => return true,
            Meaning::None => return false,
        };
        let map = match direction {
            _ if WHOLE.contains(&key) => &mut said.link,
            "forward" => &mut said.forward,
            "backward" => &mut said.backward,
            _ => &mut said.both,
        };
        put(map, key, found);
        true
    });
    said
}

/// What an attribute of an edge means.
enum Meaning {
    Setting(Value),
    /// A setting whose value is none; noted.
    Unreadable,
    None,
}

/// The value of a setting, if the attribute is one.
fn setting(key: &str, attribute: &Attribute, notes: &mut Notes) -> Meaning {
    let text = attribute.value.trim();
    let as_written = || Meaning::Setting(Value::plain(text).because(Origin::at(attribute.place)));
    if WHOLE.contains(&key) {
        let least = if key == "cost" { 1 } else { 68 };
        return if text.parse().is_ok_and(|number: u16| number >= least) { as_written() } else { Meaning::None };
    }
    let (spelled, example) = match key {
        "rate" => (spelled_rate(text).map(|rate| told(rate, attribute, notes)), "10 Mbit/s"),
        "delay" => (spelled_duration(text).map(|span| told(span, attribute, notes)), "10 ms"),
        "loss" => {
            let share = text.strip_suffix('%').and_then(|number| quantity::probability(number.trim(), -2));
            (share.map(|share| told(share, attribute, notes)), "1 %")
        }
        _ => (None, ""),
    };
    if let Some(value) = spelled {
        return Meaning::Setting(value);
    }
    // Any other key of a direction, or another kind of these, as a lab file has it.
    let is_key = netloom_lab::EXAMPLES.iter().any(|(name, _)| *name == key) && !text.contains("file");
    let is_line = !text.contains(['\n', '#', '\t', '\r', '&', '*']) && text.chars().any(char::is_alphabetic);
    if is_key && is_line && netloom_lab::parse_change(key, text).is_ok() {
        return as_written();
    }
    if !example.is_empty() {
        let (name, value) = (&attribute.name, &attribute.value);
        notes.add(attribute.place, format!("{name} {value:?} is not used: it needs a unit, for example {example}"));
        return Meaning::Unreadable;
    }
    Meaning::None
}

/// The speed of a link of the Topology Zoo.
fn speed(known: &mut Known<'_, '_>, notes: &mut Notes) -> Option<Value> {
    let raw = known.first(&["linkspeedraw"]);
    let speed = known.first(&["linkspeed"]);
    let units = known.first(&["linkspeedunits"]);
    let rate = |attribute: &Attribute, exponent: i32| -> Option<Rounded<Rate>> {
        quantity::rate(attribute.value.trim(), exponent)
    };
    if let Some((raw, rate)) = raw.and_then(|raw| Some((raw, rate(raw, 0)?))) {
        return Some(told(rate, raw, notes));
    }
    let speed = speed?;
    let exponent = match units.map_or("", |units| units.value.trim()) {
        "K" | "k" => Some(3),
        "M" => Some(6),
        "G" => Some(9),
        "T" => Some(12),
        _ => None,
    };
    let found = exponent.and_then(|exponent| rate(speed, exponent)).or_else(|| spelled_rate(&speed.value));
    if let Some(found) = found {
        let words = format!("{} {} {}", speed.name, speed.value, units.map_or("", |units| units.value.as_str()));
        return Some(Value::from(found.value).because(Origin::said(speed.place, words.trim())));
    }
    notes.add(speed.place, format!("{} {:?} is no speed: the link has no rate", speed.name, speed.value));
    None
}

/// A value with the attribute that says it.
fn told<T: Into<Value>>(rounded: Rounded<T>, attribute: &Attribute, notes: &mut Notes) -> Value {
    if !rounded.is_exact {
        notes.add(attribute.place, format!("{} {:?} is rounded", attribute.name, attribute.value));
    }
    rounded.value.into().because(Origin::said(attribute.place, format!("{} {}", attribute.name, attribute.value)))
}

//! What a script has built so far, and what becomes of it.

use super::objects::Object;
use crate::files::Input;
use crate::notes::Notes;
use crate::quantity;
use crate::source::{Place, Read};
use crate::topology::{End, Topology};
use crate::value::{Map, Origin, Value, entry, put};
use netloom_units::{Duration, Rate};
use std::collections::BTreeMap;

/// Nodes and links that are recorded; more are refused when the topology is made.
pub(super) const MOST: usize = 100_000;

/// A node of the script.
#[derive(Debug)]
pub(super) struct NodeOf {
    /// The variable that it was put into.
    pub(super) label: Option<String>,
    pub(super) place: Place,
    /// A LAN.
    pub(super) is_lan: bool,
    /// Addresses that wait for a link.
    pub(super) addresses: Vec<(Option<usize>, String, Place)>,
}

/// A link of the script; a port of a LAN is one, too.
#[derive(Debug)]
pub(super) struct LinkOf {
    pub(super) label: Option<String>,
    pub(super) place: Place,
    pub(super) ends: [usize; 2],
    /// Forward and backward.
    pub(super) settings: [Map; 2],
    /// The length of the prefix of its addresses.
    pub(super) prefix: u32,
    pub(super) cost: Option<Value>,
    /// A link of one direction only, whose other direction may come.
    pub(super) is_simplex: bool,
}

/// What happens at an instant.
#[derive(Debug)]
pub(super) struct EventOf {
    pub(super) link: usize,
    pub(super) keys: Map,
    pub(super) place: Place,
}

/// A command of a node.
#[derive(Debug)]
pub(super) struct CommandOf {
    pub(super) node: usize,
    pub(super) run: String,
    pub(super) start: Option<Duration>,
    pub(super) stop: Option<Duration>,
    pub(super) place: Place,
}

#[derive(Debug, Default)]
pub(super) struct Network<'a, 'b> {
    /// The way to other scripts.
    pub(super) input: Option<&'a mut Input<'b>>,
    /// The numbers of other scripts by their names.
    pub(super) scripts: BTreeMap<String, Option<usize>>,
    /// The first script that was not read.
    pub(super) not_read: Option<(String, Place)>,
    /// Where a class is defined first.
    pub(super) class: Option<Place>,
    pub(super) nodes: Vec<NodeOf>,
    pub(super) links: Vec<LinkOf>,
    /// The last link between two nodes, the smaller number first.
    pub(super) joined: BTreeMap<(usize, usize), usize>,
    /// The links of each node.
    pub(super) at_node: BTreeMap<usize, Vec<usize>>,
    pub(super) events: Vec<EventOf>,
    pub(super) commands: Vec<CommandOf>,
    pub(super) objects: BTreeMap<String, Object>,
    pub(super) made: usize,
    pub(super) notes: Notes,
    /// The instant of the simulation; none before it begins.
    pub(super) now: Option<Duration>,
    pub(super) end: Option<Duration>,
    /// Scripts by their instants, in the order in which they were scheduled.
    pub(super) scheduled: BTreeMap<(Duration, usize), (String, Place)>,
    pub(super) turns: usize,
    /// Directions in which links are drawn, from one node to another.
    pub(super) drawn: Vec<(usize, usize, [f64; 2])>,
}

impl Network<'_, '_> {
    pub(super) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    pub(super) fn next_event(&mut self) -> Option<(Duration, String, Place)> {
        let ((at, _), (script, place)) = self.scheduled.pop_first()?;
        Some((at, script, place))
    }

    /// Adds a link between nodes.
    pub(super) fn add_link(&mut self, ends: [usize; 2], settings: Map, place: Place) -> Result<usize, String> {
        if self.links.len() >= MOST {
            return Err(format!("more than {MOST} links: no lab is so large"));
        }
        let both = [settings.clone(), settings];
        let number = self.links.len();
        self.joined.insert((ends[0].min(ends[1]), ends[0].max(ends[1])), number);
        ends.iter().for_each(|end| self.at_node.entry(*end).or_default().push(number));
        self.links.push(LinkOf { label: None, place, ends, settings: both, prefix: 24, cost: None, is_simplex: false });
        Ok(self.links.len() - 1)
    }

    /// The link between two nodes, and the direction that leads from the first to the second: the last one, if several.
    pub(super) fn between(&self, from: usize, to: usize) -> Option<(usize, usize)> {
        let found = *self.joined.get(&(from.min(to), from.max(to)))?;
        Some((found, usize::from(self.links[found].ends != [from, to])))
    }

    /// Sets something of a direction: now it is so from the beginning, later it is an event.
    pub(super) fn set(&mut self, link: usize, direction: Option<usize>, key: &str, value: Value, place: Place) {
        let value = value.because(Origin::at(place));
        let Some(now) = self.now.filter(|now| !now.is_zero()) else {
            for which in 0..2 {
                if direction.is_none_or(|one| one == which) {
                    put(&mut self.links[link].settings[which], key, value.clone());
                }
            }
            return;
        };
        let value = Value { origin: Origin::default(), ..value };
        let mut keys = vec![entry("at", now), entry("set", Value::map(vec![entry(key, value)]))];
        if let Some(direction) = direction {
            keys.push(entry("direction", Value::plain(["forward", "backward"][direction])));
        }
        self.add_event(link, keys, place);
    }

    pub(super) fn add_event(&mut self, link: usize, keys: Map, place: Place) {
        if self.events.len() < MOST {
            self.events.push(EventOf { link, keys, place });
        }
    }

    /// The lab.
    pub(super) fn into_topology(mut self, stem: &str) -> Read<Topology> {
        let mut topology = Topology::called(stem);
        let mut degrees = vec![0; self.nodes.len()];
        for end in self.links.iter().flat_map(|link| link.ends) {
            degrees[end] += 1;
        }
        let places = self.places();
        for (number, node) in self.nodes.iter().enumerate() {
            let label = node.label.clone().unwrap_or_default();
            let made =
                topology.add_node(&label, &format!("{}{number}", if node.is_lan { "lan" } else { "n" }), node.place)?;
            topology.nodes[made].position = places[number];
            let kind = match (node.is_lan, degrees[number]) {
                (true, _) => "switch",
                (false, 0 | 1) => continue,
                _ => "router",
            };
            topology.nodes[made].settings.push(entry("kind", Value::plain(kind)));
        }
        topology.remarks.push("Nodes with more than one link are routers, and others hosts.".to_owned());
        for link in &mut self.links {
            let ends = link.ends.map(End::at);
            let number = topology.add_link(link.label.as_deref().unwrap_or_default(), Origin::at(link.place), ends)?;
            let made = &mut topology.links[number];
            let [mut forward, mut backward] = std::mem::take(&mut link.settings);
            forward.retain(|(key, value)| {
                let is_shared = backward.iter().any(|(other, there)| other == key && there == value);
                if is_shared {
                    made.settings.push((key.clone(), value.clone()));
                    backward.retain(|(other, _)| other != key);
                }
                !is_shared
            });
            (made.forward, made.backward) = (forward, backward);
            made.settings.extend(link.cost.take().map(|cost| entry("cost", cost)));
            if link.is_simplex {
                topology.notes.add(link.place, "a link in one direction only: the other direction has no settings");
            }
        }
        self.addresses(&mut topology);
        self.happen(&mut topology);
        topology.notes.extend(std::mem::take(&mut self.notes));
        Ok(topology)
    }

    /// Gives the ends of links the addresses that were set.
    fn addresses(&mut self, topology: &mut Topology) {
        for number in 0..self.nodes.len() {
            for (link, address, place) in std::mem::take(&mut self.nodes[number].addresses) {
                let own = self.at_node.get(&number).and_then(|all| all.first().copied());
                let Some(link) = link.or(own) else {
                    topology.notes.add(place, format!("the address {address} belongs to no link"));
                    continue;
                };
                let Some(which) = self.links[link].ends.iter().position(|end| *end == number) else {
                    topology.notes.add(place, format!("the address {address} is for a link that is not at this node"));
                    continue;
                };
                let address = format!("{address}/{}", self.links[link].prefix);
                crate::machine::add_address(topology, (link, which), &address, place);
            }
        }
    }

    /// The timeline, and what is sent.
    fn happen(&mut self, topology: &mut Topology) {
        for event in std::mem::take(&mut self.events) {
            let mut keys = event.keys;
            keys.insert(1.min(keys.len()), entry("link", Value::text(topology.links[event.link].name.clone())));
            topology.timeline.push(Value::map(keys).because(Origin::at(event.place)));
        }
        for command in std::mem::take(&mut self.commands) {
            let mut keys = vec![entry("on", Value::text(topology.nodes[command.node].name.clone()))];
            keys.push(entry("run", Value::text(command.run)));
            keys.extend(command.start.map(|start| entry("at", start)));
            let span = command.stop.map(|stop| stop - command.start.unwrap_or(Duration::ZERO));
            keys.extend(span.filter(|span| !span.is_zero()).map(|span| entry("for", span)));
            keys.push(entry("may_fail", Value::plain("true")));
            topology.timeline.push(Value::map(keys).because(Origin::at(command.place)));
        }
        let traffic = self.traffic(topology);
        if !traffic.is_empty() {
            topology.rest.push(entry("traffic", Value::list(traffic)));
        }
        if let Some(end) = self.end.filter(|end| !end.is_zero()) {
            topology
                .top
                .push(entry("duration", Value::from(end).because(Origin { place: None, words: "exit".into() })));
        }
    }
}

/// A bandwidth: bits per second, with `k`, `M` or `G`; a large B means bytes.
pub(super) fn bandwidth(text: &str) -> Option<Rate> {
    let (number, unit) = quantity::split(text);
    if unit.is_empty() {
        return quantity::rate(number, 0).map(|rate| rate.value);
    }
    let spelled = || quantity::spelled_rate(text);
    let exponent = match unit {
        "k" | "K" => 3,
        "m" | "M" => 6,
        "g" | "G" => 9,
        _ => return spelled().map(|rate| rate.value),
    };
    quantity::rate(number, exponent).map(|rate| rate.value)
}

/// A time: seconds, with `m`, `u`, `n` and perhaps `s`. As ns-2 does, a number ends before its second point: `300.0.01`.
pub(super) fn time(text: &str) -> Option<Duration> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let second = text.match_indices('.').nth(1).filter(|_| is_number);
    let text = second.map_or(text, |(at, _)| &text[..at]);
    let (number, unit) = quantity::split(text);
    let exponent = match unit {
        "" | "s" | "sec" => 0,
        "m" | "ms" | "msec" => -3,
        "u" | "us" | "usec" => -6,
        "n" | "ns" | "nsec" => -9,
        _ => return None,
    };
    quantity::duration(number, exponent).map(|span| span.value)
}

/// Puts a value and its place into a map.
pub(super) fn told(map: &mut Map, key: &str, value: Value, place: Place) {
    put(map, key, value.because(Origin::at(place)));
}

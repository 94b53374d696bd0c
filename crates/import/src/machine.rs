//! Nodes that are set up by commands, as in containers.

use crate::notes::Notes;
use crate::shell::{self, Effect};
use crate::source::Place;
use crate::topology::Topology;
use crate::value::{Content, Map, Origin, Value, put};
use std::collections::BTreeMap;

/// An end of a link as a place in the topology: the link, and which of its ends.
pub(crate) type EndOf = (usize, usize);

/// The interfaces of a node, and the ends that they are.
pub(crate) type Interfaces = BTreeMap<String, EndOf>;

/// Adds an address to an end.
pub(crate) fn add_address(topology: &mut Topology, end: EndOf, address: &str, place: Place) {
    let settings = &mut topology.links[end.0].ends[end.1].settings;
    let value = Value::text(address).because(Origin::at(place));
    match settings.iter_mut().find(|(key, _)| key == "address") {
        Some((_, Value { content: Content::List(all), .. })) => all.push(value),
        _ => settings.push(("address".to_owned(), Value::list([value]))),
    }
}

/// Sets the hardware address of an end.
pub(crate) fn set_mac(topology: &mut Topology, end: EndOf, mac: &str, place: Place) {
    let value = Value::text(mac).because(Origin::at(place));
    put(&mut topology.links[end.0].ends[end.1].settings, "mac", value);
}

/// Runs commands that set a node up: what sets up interfaces becomes part of the links, and the rest becomes its set-up.
/// Returns whether an address was set. `starts_services`: what starts a service of the system is left to the node, which has its own means.
pub(crate) fn set_up(
    topology: &mut Topology,
    node: usize,
    interfaces: &Interfaces,
    commands: impl IntoIterator<Item = (String, Place)>,
    starts_services: bool,
) -> bool {
    let mut is_addressed = false;
    let mut left = Vec::new();
    for (line, place) in commands {
        match shell::effect(&line, interfaces) {
            Effect::Address { interface, address } => {
                add_address(topology, interfaces[&interface], &address, place);
                is_addressed = true;
            }
            Effect::Mac { interface, mac } => set_mac(topology, interfaces[&interface], &mac, place),
            Effect::Shape { interface, dialect, words } => {
                let (link, end) = interfaces[&interface];
                let link = &mut topology.links[link];
                let direction = if end == 0 { &mut link.forward } else { &mut link.backward };
                put(direction, dialect, Value::text(words).because(Origin::at(place)));
            }
            Effect::Service { name } if !starts_services => no_service(&mut topology.notes, &name, place),
            Effect::Nothing => {}
            Effect::Command | Effect::Service { .. } => left.push(Value::text(line).because(Origin::at(place))),
        }
    }
    if !left.is_empty() {
        let settings: &mut Map = &mut topology.nodes[node].settings;
        match settings.iter_mut().find(|(key, _)| key == "setup") {
            Some((_, Value { content: Content::List(all), .. })) => all.extend(left),
            _ => settings.push(("setup".to_owned(), Value::list(left))),
        }
    }
    is_addressed
}

fn no_service(notes: &mut Notes, name: &str, place: Place) {
    let note = format!("the service `{name}` is not started: nodes have no init; start its program in the timeline");
    notes.add(place, note);
}

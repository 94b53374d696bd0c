//! The older form: a list of Tcl with classes, names and settings.

use super::{Cable, DRAWN, Interface, Machine, core, position, routing};
use crate::source::{Lines, Place};
use crate::tcl::{placed_list, split_list};
use crate::topology::Topology;
use std::collections::{BTreeMap, VecDeque};

/// What is read of a node, and what only draws.
const READ: [&str; 14] = [
    "type",
    "model",
    "network-config",
    "interface-peer",
    "iconcoords",
    "labelcoords",
    "canvas",
    "custom-icon",
    "custom-image",
    "hostname",
    "icon",
    "iconsize",
    "delete",
    "events",
];

/// The name, the interfaces and the static routes of a node.
type Configured = (String, BTreeMap<String, Interface>, Vec<(String, String)>);

/// The nodes and links of the list `text`.
pub(super) fn read(text: &str, topology: &mut Topology) -> (Vec<Machine>, Vec<Cable>) {
    let lines = Lines::of(text, 0);
    let objects = placed_list(text);
    let is_core = core::is(&objects);
    if is_core {
        topology.remarks.push("A file of CORE, in its older form.".into());
    }
    let (mut machines, mut cables) = (Vec::new(), Vec::new());
    // The interfaces that lead from one node to another, in their order.
    let mut peers: BTreeMap<(String, String), VecDeque<String>> = BTreeMap::new();
    for object in objects.chunks_exact(3) {
        let [(at, class), (behind, id), (_, body)] = object else { continue };
        let place = lines.place(*at, behind + id.len());
        let pairs = split_list(body);
        let pairs = || pairs.chunks_exact(2).map(|pair| (pair[0].as_str(), pair[1].as_str()));
        let value = |key: &str| pairs().find(|(name, _)| *name == key).map(|(_, value)| value);
        match class.as_str() {
            "node" => {
                for pair in pairs().filter(|(key, _)| *key == "interface-peer").map(|(_, peer)| split_list(peer)) {
                    if let [interface, peer, ..] = &pair[..] {
                        peers.entry((id.clone(), peer.clone())).or_default().push_back(interface.clone());
                    }
                }
                machines.push(machine(id, &pairs().collect::<Vec<_>>(), is_core, place, topology));
            }
            "link" => {
                let nodes = split_list(value("nodes").unwrap_or_default());
                let [first, second] = &nodes[..] else {
                    topology.notes.add(place, "a link without two nodes: it is left out");
                    continue;
                };
                let settings = pairs().filter(|(name, _)| !DRAWN.contains(name));
                let settings: Vec<_> = settings.map(|(key, said)| (key.to_owned(), said.to_owned())).collect();
                let of_core = is_core.then(|| settings.iter().cloned().collect());
                cables.push(Cable { place, ends: [(first.clone(), None), (second.clone(), None)], settings, of_core });
            }
            "canvas" | "option" | "annotation" | "image" | "comments" => {}
            other => topology.notes.add(place, format!("`{other}` is not read")),
        }
    }
    // A node says which of its interfaces leads to which node.
    for cable in &mut cables {
        for end in 0..2 {
            let ends = (cable.ends[end].0.clone(), cable.ends[1 - end].0.clone());
            cable.ends[end].1 = peers.get_mut(&ends).and_then(VecDeque::pop_front);
        }
    }
    (machines, cables)
}

/// Reads a node from its keys and values.
fn machine(id: &str, pairs: &[(&str, &str)], is_core: bool, place: Place, topology: &mut Topology) -> Machine {
    let value = |key: &str| pairs.iter().find(|(name, _)| *name == key).map(|(_, value)| *value);
    let mut kind = value("type").unwrap_or_default().to_owned();
    let radio = (is_core && kind == "wlan").then(|| core::radio(pairs, place, topology));
    let written = value("network-config").unwrap_or_default();
    let plain = radio.as_ref().map(|_| core::without_models(written));
    let configured = plain.as_deref().unwrap_or(written);
    let (name, interfaces, routes) = configuration(configured, place, topology);
    let mut routing = None;
    if !is_core {
        routing = routing::old(configured, value("model"), place, topology);
    } else if kind == "router" {
        (kind, routing) = core::role(value("model"), value("services"), id, place, topology);
    }
    let is_read = |key: &str| {
        READ.contains(&key) || is_core && key == "services" || radio.is_some() && core::RADIO.contains(&key)
    };
    for (key, _) in pairs.iter().filter(|(key, said)| !is_read(key) && !said.is_empty()) {
        topology.notes.add(place, format!("`{key}` of nodes is not read"));
    }
    let position = position(value("iconcoords"));
    Machine { id: id.to_owned(), kind, name, place, position, routing, interfaces, routes, radio }
}

/// The name and the interfaces in a configuration in the style of routers.
fn configuration(text: &str, place: Place, topology: &mut Topology) -> Configured {
    let mut name = String::new();
    let mut interfaces: BTreeMap<String, Interface> = BTreeMap::new();
    let mut routes = Vec::new();
    let mut current: Option<String> = None;
    let mut is_routing = false;
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let interface = current.as_ref().and_then(|called| interfaces.get_mut(called));
        match (&words[..], interface) {
            ([], _) => {}
            (["!"], _) => (current, is_routing) = (None, false),
            (["hostname", said], _) => name = (*said).to_owned(),
            (["interface", said], _) => {
                let added = Interface { name: (*said).to_owned(), ..Interface::default() };
                interfaces.insert((*said).to_owned(), added);
                (current, is_routing) = (Some((*said).to_owned()), false);
            }
            (["ip" | "ipv6", "address", address], Some(interface)) => interface.addresses.push((*address).to_owned()),
            (["mac", "address", mac], Some(interface)) => interface.mac = Some(mac.to_lowercase()),
            (["shutdown"], Some(interface)) => interface.is_down = true,
            (["type" | "no", ..], Some(_)) => {}
            (["ip" | "ipv6", "route", to, by], _) => routes.push(((*to).to_owned(), (*by).to_owned())),
            // Its sections are read with the protocols, or noted there.
            (["router", ..], _) => (current, is_routing) = (None, true),
            (_, None) if is_routing => {}
            ([..], Some(interface)) => {
                let said = format!("`{}` of the interface {} is not read", words.join(" "), interface.name);
                topology.notes.add(place, said);
            }
            ([first, ..], None) => {
                topology.notes.add(place, format!("`{first} ...` of a node's configuration is not read"));
            }
        }
    }
    (name, interfaces, routes)
}

//! IMUNES: JSON since version 3, a Tcl list before (imunes.net; `runtime/cfgparse.tcl` reads both).

mod routing;

use crate::daemons::Routing;
use crate::machine;
use crate::overlaps;
use crate::places;
use crate::quantity;
use crate::shell;
use crate::source::{Lines, Place, Read};
use crate::tcl::{placed_list, split_list};
use crate::topology::{End, Topology};
use crate::tree::{self, Tree};
use crate::value::{Origin, Value, entry, put};
use netloom_lab::yaml::Node;
use std::collections::{BTreeMap, VecDeque};

/// An interface: its name, and what it is given.
#[derive(Debug, Default)]
struct Interface {
    name: String,
    mac: Option<String>,
    addresses: Vec<String>,
}

/// A node of either form.
#[derive(Debug)]
struct Machine {
    id: String,
    kind: String,
    name: String,
    place: Place,
    position: Option<[f64; 2]>,
    routing: Option<Routing>,
    /// By the key under which links name them.
    interfaces: BTreeMap<String, Interface>,
}

/// A link of either form.
#[derive(Debug)]
struct Cable {
    place: Place,
    /// The nodes, and the keys of their interfaces.
    ends: [(String, Option<String>); 2],
    settings: Vec<(String, String)>,
}

/// Reads the experiment in `text`.
pub(crate) fn read(text: &str, stem: &str) -> Read<Topology> {
    let mut topology = Topology::called(stem);
    let (machines, cables) =
        if text.trim_start().starts_with('{') { new(text, &mut topology)? } else { old(text, &mut topology) };
    if machines.is_empty() {
        return Err(Place::default()
            .wrong("there is no node in this file: IMUNES has them under `nodes`, or as `node n0 { ... }`"));
    }
    let is_routed = machines.iter().any(|machine| machine.routing.is_some());
    let others = if is_routed { " where no routing daemon brings them" } else { "" };
    topology.remarks.push(format!("Routes are those of the shortest paths{others}."));
    let mut numbers = BTreeMap::new();
    for machine in &machines {
        let kind = match machine.kind.as_str() {
            "router" | "nat64" => "router",
            "pc" | "host" => "host",
            "lanswitch" => "switch",
            "hub" => "hub",
            other => {
                topology.notes.add(machine.place, format!("nodes of type `{other}` are left out, with their links"));
                continue;
            }
        };
        let number = topology.add_node(&machine.name, &machine.id, machine.place)?;
        topology.nodes[number].position = machine.position;
        if kind != "host" {
            topology.nodes[number].settings.push(entry("kind", Value::plain(kind)));
        }
        numbers.insert(machine.id.as_str(), (number, machine));
    }
    for cable in &cables {
        link(cable, &numbers, &mut topology)?;
    }
    for (number, machine) in numbers.values() {
        if let Some(routing) = machine.routing.clone().filter(|_| ["router", "nat64"].contains(&machine.kind.as_str()))
        {
            routing.settle(&mut topology, *number, &machine::Interfaces::new(), machine.place);
        }
    }
    overlaps::to_commands(&mut topology);
    Ok(topology)
}

fn link(cable: &Cable, numbers: &BTreeMap<&str, (usize, &Machine)>, topology: &mut Topology) -> Read<()> {
    let [Some(one), Some(other)] = [0, 1].map(|end| numbers.get(cable.ends[end].0.as_str())) else {
        topology.notes.add(cable.place, "a link to a node that is left out: there is none");
        return Ok(());
    };
    if one.0 == other.0 {
        topology.notes.add(cable.place, "a link from a node to itself: there is none");
        return Ok(());
    }
    let number = topology.add_link("", Origin::at(cable.place), [End::at(one.0), End::at(other.0)])?;
    for (end, (_, machine)) in [one, other].into_iter().enumerate() {
        let key = cable.ends[end].1.as_deref().unwrap_or_default();
        let Some(interface) = machine.interfaces.get(key) else { continue };
        if ["lanswitch", "hub"].contains(&machine.kind.as_str()) {
            continue;
        }
        if !interface.name.is_empty() {
            put(&mut topology.links[number].ends[end].settings, "interface", Value::text(interface.name.clone()));
        }
        for address in &interface.addresses {
            match shell::address(address) {
                Some(address) => machine::add_address(topology, (number, end), &address, machine.place),
                None => topology.notes.add(machine.place, format!("{address:?} is no address")),
            }
        }
        if let Some(mac) = interface.mac.as_ref().filter(|mac| shell::is_mac(mac)) {
            machine::set_mac(topology, (number, end), mac, machine.place);
        }
    }
    for (key, value) in &cable.settings {
        let found = match (key.as_str(), value.as_str()) {
            (_, "0" | "" | "0.0") => continue,
            ("bandwidth", bits) => quantity::rate(bits, 0).map(|rate| ("rate", Value::from(rate.value))),
            ("delay", us) => quantity::duration(us, -6).map(|delay| ("delay", Value::from(delay.value))),
            ("loss", share) => quantity::probability(share, -2).map(|share| ("loss", Value::from(share.value))),
            ("duplicate", share) => {
                quantity::probability(share, -2).map(|share| ("duplicate", Value::from(share.value)))
            }
            ("ber", bits) if bits.parse::<u64>().is_ok() => {
                Some(("loss", Value::plain(format!("{{kind: bit-error, rate: 1 in {bits}}}"))))
            }
            _ => None,
        };
        match found {
            Some(("loss", _)) if topology.links[number].settings.iter().any(|(there, _)| there == "loss") => {
                topology.notes.add(cable.place, "both `ber` and `loss`: the first of them is taken");
            }
            Some((setting, given)) => {
                put(&mut topology.links[number].settings, setting, given.because(Origin::at(cable.place)));
            }
            None => topology.notes.add(cable.place, format!("`{key}` of links is not read")),
        }
    }
    Ok(())
}

/// What only draws.
const DRAWN: [&str; 8] = ["width", "color", "direct", "peers", "peers_ifaces", "nodes", "mirror", "link_label_pos"];

fn new(text: &str, topology: &mut Topology) -> Read<(Vec<Machine>, Vec<Cable>)> {
    let root = tree::parse(text)?;
    let mut machines = Vec::new();
    for one in root.get("nodes").map_or(&[][..], Tree::entries) {
        let node = &one.value;
        let place = Place { file: 0, span: one.span };
        let mut interfaces = BTreeMap::new();
        for (interface, about) in
            node.get("ifaces").map_or(&[][..], Tree::entries).iter().map(|it| (&it.name, &it.value))
        {
            let texts = |key: &str| {
                about.get(key).map_or(&[][..], Tree::items).iter().filter_map(Node::text).map(str::to_owned)
            };
            let addresses = texts("ipv4_addrs").chain(texts("ipv6_addrs")).collect();
            let name = about.word("name").unwrap_or(interface).to_owned();
            interfaces
                .insert(interface.clone(), Interface { name, mac: about.word("mac").map(str::to_owned), addresses });
        }
        let routing = routing::new(node, place, topology);
        for key in ["services", "docker_image", "ipsec", "packgen", "vlan", "nat64"] {
            if let Some(said) = node.get(key) {
                topology.notes.add(said.place(), format!("`{key}` of nodes is not read"));
            }
        }
        let kind = node.required_word("type", "a node has a type, for example router")?.to_owned();
        let name = node.word("name").unwrap_or_default().to_owned();
        let position = position(node.word("iconcoords"));
        machines.push(Machine { id: one.name.clone(), kind, name, place, position, routing, interfaces });
    }
    let mut cables = Vec::new();
    for one in root.get("links").map_or(&[][..], Tree::entries) {
        let link = &one.value;
        let peers = split_list(link.required_word("peers", "a link has two peers, for example \"n0 n1\"")?);
        let keys = split_list(link.word("peers_ifaces").unwrap_or_default());
        let [first, second] = &peers[..] else {
            return Err(link.place().wrong("a link has two peers, for example \"n0 n1\""));
        };
        let ends = [(first.clone(), keys.first().cloned()), (second.clone(), keys.get(1).cloned())];
        let said = link.entries().iter().filter(|key| !DRAWN.contains(&key.name.as_str()));
        let settings = said.filter_map(|key| Some((key.name.clone(), key.value.text()?.to_owned()))).collect();
        cables.push(Cable { place: Place { file: 0, span: one.span }, ends, settings });
    }
    Ok((machines, cables))
}

fn old(text: &str, topology: &mut Topology) -> (Vec<Machine>, Vec<Cable>) {
    let lines = Lines::of(text, 0);
    let (mut machines, mut cables) = (Vec::new(), Vec::new());
    // The interfaces that lead from one node to another, in their order.
    let mut peers: BTreeMap<(String, String), VecDeque<String>> = BTreeMap::new();
    for object in placed_list(text).chunks_exact(3) {
        let [(at, class), (behind, id), (_, body)] = object else { continue };
        let place = lines.place(*at, behind + id.len());
        let pairs = split_list(body);
        let pairs = || pairs.chunks_exact(2).map(|pair| (pair[0].as_str(), pair[1].as_str()));
        let value = |key: &str| pairs().find(|(name, _)| *name == key).map(|(_, value)| value);
        match class.as_str() {
            "node" => {
                let configured = value("network-config").unwrap_or_default();
                let (name, interfaces) = configuration(configured, place, topology);
                let routing = routing::old(configured, value("model"), place, topology);
                for pair in pairs().filter(|(key, _)| *key == "interface-peer").map(|(_, peer)| split_list(peer)) {
                    if let [interface, peer, ..] = &pair[..] {
                        peers.entry((id.clone(), peer.clone())).or_default().push_back(interface.clone());
                    }
                }
                for key in ["services", "custom-config", "custom-configs", "cpu", "docker-image"] {
                    if value(key).is_some() {
                        topology.notes.add(place, format!("`{key}` of nodes is not read"));
                    }
                }
                let kind = value("type").unwrap_or_default().to_owned();
                let position = position(value("iconcoords"));
                machines.push(Machine { id: id.clone(), kind, name, place, position, routing, interfaces });
            }
            "link" => {
                let nodes = split_list(value("nodes").unwrap_or_default());
                let [first, second] = &nodes[..] else {
                    topology.notes.add(place, "a link without two nodes: there is none");
                    continue;
                };
                let settings = pairs().filter(|(name, _)| !DRAWN.contains(name));
                let settings = settings.map(|(key, said)| (key.to_owned(), said.to_owned())).collect();
                cables.push(Cable { place, ends: [(first.clone(), None), (second.clone(), None)], settings });
            }
            "canvas" | "option" | "annotation" | "image" => {}
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

/// Where a node is drawn: its coordinates are a list of two numbers.
fn position(coordinates: Option<&str>) -> Option<[f64; 2]> {
    let all = split_list(coordinates?);
    places::place(all.first().map(String::as_str), all.get(1).map(String::as_str))
}

/// The name and the interfaces in a configuration in the style of routers.
fn configuration(text: &str, place: Place, topology: &mut Topology) -> (String, BTreeMap<String, Interface>) {
    let mut name = String::new();
    let mut interfaces: BTreeMap<String, Interface> = BTreeMap::new();
    let mut current: Option<String> = None;
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let interface = current.as_ref().and_then(|called| interfaces.get_mut(called));
        match (&words[..], interface) {
            ([], _) => {}
            (["!"], _) => current = None,
            (["hostname", said], _) => name = (*said).to_owned(),
            (["interface", said], _) => {
                let added = Interface { name: (*said).to_owned(), ..Interface::default() };
                interfaces.insert((*said).to_owned(), added);
                current = Some((*said).to_owned());
            }
            (["ip" | "ipv6", "address", address], Some(interface)) => interface.addresses.push((*address).to_owned()),
            (["mac", "address", mac], Some(interface)) => interface.mac = Some(mac.to_lowercase()),
            (["router", ..], _) => current = None,
            ([first, ..], None) if !line.starts_with(' ') => {
                topology.notes.add(place, format!("`{first} ...` of a node's configuration is not read"));
            }
            _ => {}
        }
    }
    (name, interfaces)
}

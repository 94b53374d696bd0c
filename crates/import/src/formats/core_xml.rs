//! CORE's scenarios (coreemu.github.io/core; `corexml.py` writes them).

pub(super) mod netem;
mod rest;

use super::wlan::{self, Wlan};
use crate::Options;
use crate::containers;
use crate::daemons::Routing;
use crate::files::Input;
use crate::machine;
use crate::overlaps;
use crate::places;
use crate::shell;
use crate::source::{Lines, Place, Read};
use crate::topology::{End, Topology};
use crate::value::{Origin, Value, entry, put};
use crate::xml;
use roxmltree::Node;
use std::collections::BTreeMap;

/// Reads the scenario, and the mobility scripts that it names.
pub(crate) fn read(input: &mut Input<'_>, options: &Options) -> Read<Topology> {
    let (mut topology, wlans, numbers) = scenario(input.text(), &input.stem, options)?;
    wlan::settle(&wlans, &numbers, input, &mut topology);
    Ok(topology)
}

/// A network, its wireless networks, and the numbers of nodes by their identifiers.
type Scenario = (Topology, Vec<Wlan>, BTreeMap<String, usize>);

/// Reads the scenario in `text`.
fn scenario(text: &str, stem: &str, options: &Options) -> Read<Scenario> {
    let lines = Lines::of(text, 0);
    let document = xml::parse(text, &lines)?;
    let root = document.root_element();
    let mut topology = Topology::called(stem);
    let mut wlans = Vec::new();
    // By its identifier: the number of the node, and whether it is a machine.
    let mut nodes: BTreeMap<String, Option<(usize, bool)>> = BTreeMap::new();
    for element in root.descendants().filter(Node::is_element) {
        let place = xml::place(&element, &lines);
        let is_device = match element.tag_name().name() {
            "device" => true,
            "network" => false,
            _ => continue,
        };
        let Some(id) = element.attribute("id") else { return Err(place.wrong("this node has no `id`")) };
        let number = if is_device {
            device(&element, place, &mut topology, options)?
        } else {
            network(&element, place, &mut topology)?
        };
        if let Some(number) = number {
            let position = element.children().find(|child| child.has_tag_name("position"));
            let axis = |name: &str| position.and_then(|position| position.attribute(name));
            topology.nodes[number].position = places::place(axis("x"), axis("y"));
            if is_device {
                machine::own_files(&mut topology, number);
            } else if element.attribute("type") == Some("WIRELESS_LAN") {
                wlans.push(Wlan { node: number, place, said: models(&root, id) });
            }
        }
        nodes.insert(id.to_owned(), number.map(|number| (number, is_device)));
    }
    if topology.nodes.is_empty() {
        return Err(
            xml::place(&root, &lines).wrong("there is no <device> in this file: a network has at least one node")
        );
    }
    // Links whose way back may come, by their ends.
    let mut one_way = BTreeMap::new();
    for element in root.descendants().filter(|element| element.has_tag_name("link")) {
        link(&element, xml::place(&element, &lines), &nodes, &mut topology, &mut one_way)?;
    }
    for number in one_way.into_values() {
        let place = topology.links[number].origin.place.unwrap_or_default();
        let said = "options of a link hold for one direction: the other has none, as in CORE, and so neither a rate nor a delay";
        topology.notes.add(place, said);
    }
    let is_routed = topology.nodes.iter().any(|node| node.settings.iter().any(|(key, _)| key == "daemons"));
    let others = if is_routed { " where no routing daemon brings them" } else { "" };
    topology.remarks.push(format!("Routes are those of the shortest paths{others}."));
    overlaps::to_commands(&mut topology);
    rest::note(&root, &lines, &mut topology);
    let numbers = nodes.into_iter().filter_map(|(id, found)| Some((id, found?.0))).collect();
    Ok((topology, wlans, numbers))
}

/// Lists the values of the models of a wireless network by their names.
fn models(root: &Node<'_, '_>, id: &str) -> BTreeMap<String, String> {
    let all = root.descendants().filter(|element| element.has_tag_name("mobility_configuration"));
    let values = all
        .filter(|model| model.attribute("node") == Some(id))
        .flat_map(|model| model.children().filter(|child| child.has_tag_name("configuration")).collect::<Vec<_>>());
    values.filter_map(|one| Some((one.attribute("name")?.to_owned(), one.attribute("value")?.to_owned()))).collect()
}

fn device(element: &Node<'_, '_>, place: Place, topology: &mut Topology, options: &Options) -> Read<Option<usize>> {
    let attribute = |name: &str| element.attribute(name).unwrap_or_default();
    let number = topology.add_node(attribute("name"), &format!("n{}", attribute("id")), place)?;
    let mut routing = Routing::default();
    let mut forwards = ["router", "mdr", "prouter"].contains(&attribute("type"));
    for service in element.descendants().filter(|inner| inner.has_tag_name("service")) {
        match service.attribute("name").unwrap_or_default() {
            "IPForward" => forwards = true,
            "DefaultRoute" | "StaticRoute" | "zebra" | "FRRzebra" | "" => {}
            other => {
                if !daemon(&mut routing, other, attribute("id"), place, topology) {
                    topology.notes.add(place, format!("the service `{other}` is not run"));
                }
            }
        }
    }
    routing.settle(topology, number, &machine::Interfaces::new(), place);
    if !options.no_images {
        containers::put_image(&mut topology.nodes[number].settings, attribute("image"), place);
    } else if !attribute("image").is_empty() {
        topology.notes.add(place, "images are not run: nodes have this machine's files");
    }
    if forwards {
        put(&mut topology.nodes[number].settings, "kind", Value::plain("router"));
    }
    Ok(Some(number))
}

/// Adds the routing daemon that a service is; false if it is none.
pub(super) fn daemon(routing: &mut Routing, service: &str, id: &str, place: Place, topology: &mut Topology) -> bool {
    let word = match service.strip_prefix("FRR").unwrap_or(service) {
        "OSPFv2" => "ospf",
        "OSPFv3" => "ospf6",
        "OSPFv3MDR" => {
            topology.notes.add(place, "`OSPFv3MDR` is plain OSPFv3: FRR has no extension for radio networks");
            "ospf6"
        }
        "RIP" => "rip",
        "RIPNG" => "ripng",
        "ISIS" => "isis",
        "Xpimd" | "pimd" => "pim",
        "BGP" => {
            // CORE gives each router a system of its own, with its identifier as the number.
            routing.number = id.parse().ok().filter(|number| *number > 0 && *number < u32::MAX).or(Some(65_000));
            topology
                .notes
                .add(place, "BGP has sessions with all its neighbours: without a configuration, CORE gives it none");
            "bgp"
        }
        _ => return false,
    };
    routing.add(word)
}

fn network(element: &Node<'_, '_>, place: Place, topology: &mut Topology) -> Read<Option<usize>> {
    let attribute = |name: &str| element.attribute(name).unwrap_or_default();
    let kind = match attribute("type") {
        "SWITCH" | "switch" => "switch",
        "HUB" | "hub" | "WIRELESS_LAN" => "hub",
        radio @ ("WIRELESS" | "EMANE") => {
            topology.notes.add(place, format!("a network of type {radio} is a hub: there is no radio"));
            "hub"
        }
        other => {
            topology.notes.add(place, format!("networks of type `{other}` are left out, with their links"));
            return Ok(None);
        }
    };
    let number = topology.add_node(attribute("name"), &format!("n{}", attribute("id")), place)?;
    topology.nodes[number].settings.push(entry("kind", Value::plain(kind)));
    Ok(Some(number))
}

fn link(
    element: &Node<'_, '_>,
    place: Place,
    nodes: &BTreeMap<String, Option<(usize, bool)>>,
    topology: &mut Topology,
    one_way: &mut BTreeMap<(usize, usize), usize>,
) -> Read<()> {
    let mut ends = Vec::new();
    // Until version 5, CORE wrote `node_one`.
    for (key, older) in [("node1", "node_one"), ("node2", "node_two")] {
        let Some(id) = element.attribute(key).or_else(|| element.attribute(older)) else {
            return Err(place.wrong(format!("this <link> has no `{key}`")));
        };
        match nodes.get(id) {
            Some(Some(found)) => ends.push(*found),
            Some(None) => {
                topology.notes.add(place, "a link to a node that is left out: it is left out, too");
                return Ok(());
            }
            None => return Err(place.wrong(format!("{key}=\"{id}\": there is no node with this id in this file"))),
        }
    }
    let [(one, _), (other, _)] = ends[..] else { return Ok(()) };
    if one == other {
        topology.notes.add(place, "a link from a node to itself: it is left out");
        return Ok(());
    }
    let options = element.children().find(|child| child.has_tag_name("options"));
    let settings =
        options.map(|options| netem::settings(|name| options.attribute(name), place, topology)).unwrap_or_default();
    let is_one_way = options.and_then(|options| options.attribute("unidirectional")) == Some("1");
    // The second of two elements in one direction each is the way back.
    if is_one_way && let Some(first) = one_way.remove(&(other, one)) {
        topology.links[first].backward = settings;
        return Ok(());
    }
    let number = topology.add_link("", Origin::at(place), [End::at(one), End::at(other)])?;
    if is_one_way {
        topology.links[number].forward = settings;
        one_way.insert((one, other), number);
    } else {
        topology.links[number].settings = settings;
    }
    for (end, (_, is_machine)) in ends.iter().enumerate().filter(|(_, (_, is_machine))| *is_machine) {
        let tags = [["iface1", "interface_one"], ["iface2", "interface_two"]][end];
        let is_its = |child: &Node<'_, '_>| tags.iter().any(|tag| child.has_tag_name(*tag));
        if let Some(interface) = element.children().find(is_its).filter(|_| *is_machine) {
            self::interface(&interface, (number, end), place, topology);
        }
    }
    Ok(())
}

fn interface(element: &Node<'_, '_>, end: (usize, usize), place: Place, topology: &mut Topology) {
    if let Some(name) = element.attribute("name").filter(|name| !name.is_empty()) {
        put(&mut topology.links[end.0].ends[end.1].settings, "interface", Value::text(name));
    }
    for (family, mask) in [("ip4", "ip4_mask"), ("ip6", "ip6_mask")] {
        let Some(address) = element.attribute(family).filter(|address| !address.is_empty()) else { continue };
        let length = match (family, element.attribute(mask)) {
            // Radio networks have addresses of single machines, which no segment of a lab has.
            ("ip4", None | Some("32")) | ("ip6", None | Some("128")) => {
                let length = if family == "ip4" { "24" } else { "64" };
                topology
                    .notes
                    .add(place, format!("an address of a single machine gets a prefix: it ends in /{length}"));
                length
            }
            (_, Some(length)) => length,
            (_, None) => "64",
        };
        let text = format!("{address}/{length}");
        match shell::address(&text) {
            Some(found) => machine::add_address(topology, end, &found, place),
            None => topology.notes.add(place, format!("{text:?} is no address")),
        }
    }
    if let Some(mac) = element.attribute("mac").filter(|mac| shell::is_mac(mac)) {
        machine::set_mac(topology, end, &mac.to_lowercase(), place);
    }
}

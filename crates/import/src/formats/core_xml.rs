//! CORE's scenarios (coreemu.github.io/core; `corexml.py` writes them).

use crate::Options;
use crate::containers;
use crate::daemons::Routing;
use crate::machine;
use crate::overlaps;
use crate::places;
use crate::quantity;
use crate::shell;
use crate::source::{Lines, Place, Read};
use crate::topology::{End, Topology};
use crate::value::{Map, Origin, Value, entry, put};
use crate::xml;
use roxmltree::Node;
use std::collections::BTreeMap;

/// Reads the scenario in `text`.
pub(crate) fn read(text: &str, stem: &str, options: &Options) -> Read<Topology> {
    let lines = Lines::of(text, 0);
    let document = xml::parse(text, &lines)?;
    let root = document.root_element();
    let mut topology = Topology::called(stem);
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
    let is_routed = topology.nodes.iter().any(|node| node.settings.iter().any(|(key, _)| key == "daemons"));
    let others = if is_routed { " where no routing daemon brings them" } else { "" };
    topology.remarks.push(format!("Routes are those of the shortest paths{others}."));
    overlaps::to_commands(&mut topology);
    for (tag, what) in [
        ("emane_global_configuration", "settings of EMANE"),
        ("mobility_configurations", "mobility"),
        ("session_hooks", "hooks"),
        ("configservice_configurations", "configurations of services"),
        ("service_configurations", "configurations of services"),
    ] {
        if let Some(found) =
            root.children().find(|child| child.has_tag_name(tag) && child.children().any(|one| one.is_element()))
        {
            topology.notes.add(xml::place(&found, &lines), format!("{what} are not read"));
        }
    }
    Ok(topology)
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
fn daemon(routing: &mut Routing, service: &str, id: &str, place: Place, topology: &mut Topology) -> bool {
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
        "HUB" | "hub" => "hub",
        radio @ ("WIRELESS_LAN" | "WIRELESS" | "EMANE") => {
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
    for key in ["node1", "node2"] {
        let Some(id) = element.attribute(key) else { return Err(place.wrong(format!("this <link> has no `{key}`"))) };
        match nodes.get(id) {
            Some(Some(found)) => ends.push(*found),
            Some(None) => {
                topology.notes.add(place, "a link to a node that is left out: there is none");
                return Ok(());
            }
            None => return Err(place.wrong(format!("{key}=\"{id}\": there is no node with this id in this file"))),
        }
    }
    let [(one, _), (other, _)] = ends[..] else { return Ok(()) };
    if one == other {
        topology.notes.add(place, "a link from a node to itself: there is none");
        return Ok(());
    }
    let options = element.children().find(|child| child.has_tag_name("options"));
    let settings = options.map(|options| settings(&options, place, topology)).unwrap_or_default();
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
        let tag = ["iface1", "iface2"][end];
        if let Some(interface) = element.children().find(|child| child.has_tag_name(tag)).filter(|_| *is_machine) {
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

/// Delay and jitter in microseconds, bandwidth in bits per second, loss and duplicates in percent, the buffer in packets.
fn settings(options: &Node<'_, '_>, place: Place, topology: &mut Topology) -> Map {
    let is_none = |value: &str| value.parse::<f64>().is_ok_and(|number| number == 0.0);
    let attribute = |name: &str| options.attribute(name).filter(|value| !value.is_empty() && !is_none(value));
    let mut settings = Map::new();
    let mut read = |name: &str, found: Option<(&str, Value)>| match found {
        Some((key, value)) => put(&mut settings, key, value.because(Origin::at(place))),
        None => topology.notes.add(place, format!("`{name}` of a link is no number that is known here")),
    };
    if let Some(bits) = attribute("bandwidth") {
        read("bandwidth", quantity::rate(bits, 0).map(|rate| ("rate", rate.value.into())));
    }
    let delay = attribute("delay").unwrap_or("0");
    match attribute("jitter") {
        Some(jitter) => {
            let [mean, around] = [delay, jitter].map(|us| quantity::duration(us, -6).map(|span| span.value));
            let least = mean.zip(around).map(|(mean, around)| (mean - around, mean + around));
            let text = least.map(|(min, max)| Value::plain(format!("{{kind: uniform, from: {min}, to: {max}}}")));
            read("jitter", text.map(|text| ("delay", text)));
        }
        None if delay != "0" => read("delay", quantity::duration(delay, -6).map(|delay| ("delay", delay.value.into()))),
        None => {}
    }
    for (name, key) in [("loss", "loss"), ("dup", "duplicate")] {
        if let Some(share) = attribute(name) {
            read(name, quantity::probability(share, -2).map(|share| (key, share.value.into())));
        }
    }
    if let Some(packets) = attribute("buffer") {
        let count = packets.parse::<u32>().ok();
        read("buffer", count.map(|count| ("queue", Value::plain(format!("{count} packets")))));
    }
    settings
}

//! Shadow's configurations: hosts at the nodes of a graph, and their processes (shadow.github.io, "Configuration
//! Specification" and "Network Graph Specification").

mod access;
mod network;
mod process;

use crate::files::Input;
use crate::quantity;
use crate::shell;
use crate::source::{Place, Read};
use crate::topology::{End, Topology};
use crate::tree::{self, Tree};
use crate::value::{Map, Origin, Value, entry};
use netloom_lab::yaml::Node;
use netloom_units::{Duration, Rate};
use network::Network;

/// What is in front of a host on its way in (`codel_queue.rs`), whose limit is none.
const QUEUE: &str = "{kind: codel, target: 10 ms, interval: 100 ms, limit: 100000 packets}";

/// Reads the configuration.
pub(crate) fn read(input: &mut Input<'_>) -> Read<Topology> {
    let root = tree::parse(input.text())?;
    let hosts = root.required("hosts", "Shadow has its hosts there: `hosts: {a: {network_node_id: 0}}`")?;
    let graph = root.required("network", "Shadow has its graph there: `network: {graph: {type: 1_gbit_switch}}`")?;
    let stem = input.stem.clone();
    let (mut topology, network) = network::read(graph, hosts, &stem, input)?;
    general(&root, &mut topology)?;
    topology.top.push(entry("clock", Value::plain("virtual")));
    let mut expectations = Vec::new();
    let count = hosts.entries().len();
    for host in hosts.entries() {
        let place = Place { file: 0, span: host.span };
        let number = topology.add_node(&host.name, "host", place)?;
        if topology.nodes[number].name != host.name {
            let name = &topology.nodes[number].name;
            let note = format!("the host `{}` is called `{name}`: commands that name it have to be changed", host.name);
            topology.notes.add(place, note);
        }
        attach(&host.value, number, count, &network, &mut topology)?;
        for (index, process) in host.value.get("processes").map_or(&[][..], Tree::items).iter().enumerate() {
            process::add(process, number, index + 1, &mut topology, &mut expectations)?;
        }
    }
    if count == 0 {
        return Err(hosts.place().wrong("there is no host in this file: write for example `a: {network_node_id: 0}`"));
    }
    if !expectations.is_empty() {
        topology.rest.push(entry("expect", Value::list(expectations)));
    }
    Ok(topology)
}

/// When it ends, and the seed.
fn general(root: &Node, topology: &mut Topology) -> Read<()> {
    if let Some(seed) = root.get("general").and_then(|general| general.get("seed")) {
        let number = seed.text().and_then(|text| text.parse::<u64>().ok());
        let number = number.ok_or_else(|| seed.place().wrong("the seed is no whole number"))?;
        topology.top.push(entry("seed", Value::plain(number).because(Origin::at(seed.place()))));
    }
    if let Some(stop) = root.get("general").and_then(|general| general.get("stop_time")) {
        let end = time(stop)?;
        if !end.is_zero() {
            topology.top.push(entry("duration", Value::from(end).because(Origin::at(stop.place()))));
        }
    }
    unread(root, "", &["general", "network", "hosts"], topology);
    if let Some(general) = root.get("general") {
        unread(general, "general.", &["stop_time", "seed"], topology);
    }
    Ok(())
}

/// Notes what of a map is not read.
fn unread(node: &Node, before: &str, read: &[&str], topology: &mut Topology) {
    for key in node.entries() {
        if !read.contains(&key.name.as_str()) && !key.name.starts_with("x-") {
            topology.notes.add(Place { file: 0, span: key.span }, format!("`{before}{}` is not read", key.name));
        }
    }
}

/// Joins a host with its node of the graph.
fn attach(host: &Node, number: usize, hosts: usize, network: &Network, topology: &mut Topology) -> Read<()> {
    unread(
        host,
        "hosts.",
        &["network_node_id", "bandwidth_up", "bandwidth_down", "ip_addr", "processes", "host_options"],
        topology,
    );
    if let Some(options) = host.get("host_options") {
        unread(options, "host_options.", &[], topology);
    }
    let id = host.required("network_node_id", "a host is at a node of the graph: write for example `0`")?;
    let said = id.text().unwrap_or_default();
    let Some(at) = network.nodes.get(said) else {
        return Err(id.place().wrong(format!("there is no node with `id {said}` in the graph")));
    };
    let mut directions = [Map::new(), Map::new()];
    for (direction, (key, of_node)) in [("bandwidth_up", at.up), ("bandwidth_down", at.down)].into_iter().enumerate() {
        let own = match host.get(key) {
            Some(own) => Some((rate(own)?, own.place())),
            None => None,
        };
        let Some((rate, place)) = own.or(of_node) else {
            let message = format!("neither this host nor its node of the graph has a bandwidth: write `{key}: 1 Gbit`");
            return Err(id.place().wrong(message));
        };
        directions[direction].push(entry("rate", Value::from(rate).because(Origin::at(place))));
    }
    let [mut forward, mut backward] = directions;
    backward.push(entry("queue", Value::plain(QUEUE)));
    if network.is_single() {
        // Every packet leaves one host and arrives at another one: the way out has all of the edge.
        forward.extend(at.within.clone());
    } else if !at.within.is_empty() && network.hosts_at(said) > 1 && !at.is_as_far_apart() {
        let note = "hosts at the same node of the graph: the node's edge to itself does not apply between them";
        topology.notes.add(id.place(), note);
    }
    for direction in [&mut forward, &mut backward] {
        direction.extend((!at.share.is_zero()).then(|| entry("delay", Value::from(at.share))));
    }
    let mut ends = [End::at(number), End::at(at.number)];
    if let Some(address) = host.get("ip_addr") {
        match network.address(address.text().unwrap_or_default(), hosts) {
            Some(found) => {
                let value = Value::text(found).because(Origin::at(address.place()));
                ends[0].settings.push(entry("address", value));
            }
            None if shell::address(address.text().unwrap_or_default()).is_none() => {
                let message = format!("`{}` is no address", address.text().unwrap_or_default());
                return Err(address.place().wrong(message));
            }
            None => topology.notes.add(address.place(), "`ip_addr` is not read: there is no subnet for it"),
        }
    }
    let link = topology.add_link("", Origin::at(id.place()), ends)?;
    (topology.links[link].forward, topology.links[link].backward) = (forward, backward);
    Ok(())
}

/// A time: a number of seconds, or one with a unit.
fn time(node: &Node) -> Read<Duration> {
    let text = node.text().unwrap_or_default();
    let (number, unit) = quantity::split(text);
    let found = match unit {
        "" => quantity::duration(number, 0),
        "m" => quantity::spelled_duration(&format!("{number} min")),
        _ => quantity::spelled_duration(text),
    };
    let wrong = || node.place().wrong(format!("{text:?} is no time: write for example `10 s`"));
    Ok(found.ok_or_else(wrong)?.value)
}

/// A rate: a number of bits per second, or one with a unit.
fn rate(node: &Node) -> Read<Rate> {
    let text = node.text().unwrap_or_default();
    let wrong = || node.place().wrong(format!("{text:?} is no bandwidth: write for example `100 Mbit`"));
    bandwidth(text).ok_or_else(wrong)
}

/// A rate in Shadow's units, of which some are powers of two.
fn bandwidth(text: &str) -> Option<Rate> {
    let (number, unit) = quantity::split(text);
    if unit.is_empty() {
        return Some(quantity::rate(number, 0)?.value);
    }
    let prefix = ["bits", "bit"].iter().find_map(|ending| unit.strip_suffix(ending));
    let binary = match prefix.map(str::trim) {
        Some("Ki" | "kibi") => Some(1_u64 << 10),
        Some("Mi" | "mebi") => Some(1 << 20),
        Some("Gi" | "gibi") => Some(1 << 30),
        Some("Ti" | "tebi") => Some(1 << 40),
        _ => None,
    };
    match binary {
        Some(times) => Rate::from_bits_per_second(quantity::scaled(number, 0)?.value.checked_mul(times)?),
        None => Some(quantity::spelled_rate(text)?.value),
    }
}

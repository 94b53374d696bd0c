//! The graph: its nodes are routers, or a switch if there is only one.

use super::access::{Site, Span, shares};
use super::{bandwidth, unread};
use crate::Role;
use crate::files::Input;
use crate::formats::gml;
use crate::graph::{self, Attribute, Edge, Graph};
use crate::notes::Notes;
use crate::quantity::{self, spelled_duration};
use crate::source::{Place, Read, Wrong};
use crate::topology::Topology;
use crate::tree::Tree;
use crate::value::{Map, Origin, Value, entry};
use netloom_lab::yaml::Node;
use netloom_units::{Duration, Probability, Rate};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;

/// The graph that Shadow has built in.
const SWITCH: &str = "graph [
  directed 0
  node [
    id 0
    label \"switch\"
    host_bandwidth_up \"1 Gbit\"
    host_bandwidth_down \"1 Gbit\"
  ]
  edge [
    source 0
    target 0
    latency \"1 ms\"
    packet_loss 0.0
  ]
]
";
/// What Shadow's edges have.
const OF_EDGES: [&str; 4] = ["latency", "packet_loss", "jitter", "label"];
/// The largest cost of a link.
const MOST_COST: u64 = 65_535;

/// The network that hosts are attached to.
pub(super) struct Network {
    /// By their identifiers in the graph.
    pub(super) nodes: BTreeMap<String, Attached>,
    /// The identifier of each host's node.
    hosts: BTreeMap<String, usize>,
    /// Addresses that hosts ask for.
    addresses: Vec<Ipv4Addr>,
}

/// A node of the graph.
pub(super) struct Attached {
    /// Its number in the topology.
    pub(super) number: usize,
    pub(super) up: Option<(Rate, Place)>,
    pub(super) down: Option<(Rate, Place)>,
    /// What its edge to itself says.
    pub(super) within: Map,
    /// The latency of that edge.
    pub(super) within_delay: Option<Duration>,
    /// The delay of the links of its hosts, each way.
    pub(super) share: Duration,
}

impl Attached {
    /// Whether hosts at this node are as far apart as its edge to itself says.
    pub(super) fn is_as_far_apart(&self) -> bool {
        self.within.len() == 1 && self.within_delay == Some(self.share + self.share)
    }
}

impl Network {
    /// Whether all hosts are at one node.
    pub(super) fn is_single(&self) -> bool {
        self.nodes.len() == 1
    }

    /// How many hosts are at a node.
    pub(super) fn hosts_at(&self, id: &str) -> usize {
        self.hosts.get(id).copied().unwrap_or(0)
    }

    /// An address with the length of a prefix that no other host needs, if there is one.
    pub(super) fn address(&self, text: &str, hosts: usize) -> Option<String> {
        let address: Ipv4Addr = text.parse().ok()?;
        let own = u32::from(address);
        let others = self.addresses.iter().map(|other| u32::from(*other));
        if !self.is_single() {
            // A subnet of two: the host and its router.
            let is_alone = others.filter(|other| other >> 1 == own >> 1).count() == 1;
            return is_alone.then(|| format!("{address}/31"));
        }
        // One that has room for all hosts, and in which none has the first or the last address.
        let apart = others.map(|other| other ^ own).max().unwrap_or(0);
        let spread = 32 - apart.leading_zeros();
        let room = 32 - u32::try_from(hosts + 2).ok()?.leading_zeros();
        let is_border = |host: u32, length: u32| [0, u32::MAX >> length].contains(&(host & (u32::MAX >> length)));
        let fits = |length: &u32| !self.addresses.iter().any(|one| is_border(u32::from(*one), *length));
        let length = (8..=32_u32.checked_sub(spread.max(room).max(2))?).rev().find(fits)?;
        Some(format!("{address}/{length}"))
    }
}

/// Reads the graph of `section`, and looks up who needs what of it.
pub(super) fn read(section: &Node, hosts: &Node, stem: &str, input: &mut Input<'_>) -> Read<(Topology, Network)> {
    let said = section.required("graph", "write for example `graph: {type: 1_gbit_switch}`")?;
    let mut graph = graph_of(said, input)?;
    let is_shortest = section.word("use_shortest_path") != Some("false");
    let is_single = graph.nodes.len() == 1;
    let mut nodes = BTreeMap::new();
    for (number, node) in graph.nodes.iter_mut().enumerate() {
        let mut attached =
            Attached { number, up: None, down: None, within: Map::new(), within_delay: None, share: Duration::ZERO };
        for attribute in &node.attributes {
            let slot = match attribute.name.as_str() {
                "host_bandwidth_up" => &mut attached.up,
                "host_bandwidth_down" => &mut attached.down,
                _ => continue,
            };
            let wrong = || attribute.wrong("is no bandwidth: write for example \"100 Mbit\"");
            *slot = Some((bandwidth(&attribute.value).ok_or_else(wrong)?, attribute.place));
        }
        node.attributes.retain(|attribute| !attribute.name.starts_with("host_bandwidth_"));
        let has_label = node.attributes.iter().any(|attribute| attribute.name == "label");
        if !has_label {
            node.attributes.push(attribute("label", format!("net-{}", node.id), node.place));
        }
        if is_single {
            node.attributes.push(attribute("kind", "switch".to_owned(), node.place));
        }
        nodes.insert(node.id.clone(), attached);
    }
    let mut network = Network { nodes, hosts: BTreeMap::new(), addresses: Vec::new() };
    for host in hosts.entries() {
        if let Some(id) = host.value.word("network_node_id") {
            *network.hosts.entry(id.to_owned()).or_default() += 1;
        }
        network.addresses.extend(host.value.word("ip_addr").and_then(|text| text.parse::<Ipv4Addr>().ok()));
    }
    let mut notes = std::mem::take(&mut graph.notes);
    edges(&mut graph, &mut network, is_shortest, &mut notes)?;
    graph.notes = notes;
    let mut topology = graph::topology(graph, stem, Role::Transit)?;
    unread(section, "network.", &["graph", "use_shortest_path"], &mut topology);
    unread(said, "graph.", &["type", "inline", "file"], &mut topology);
    if let Some(file) = said.get("file") {
        unread(file, "file.", &["path"], &mut topology);
    }
    Ok((topology, network))
}

/// The graph that is built in, in the file, or beside it.
fn graph_of(said: &Node, input: &mut Input<'_>) -> Read<Graph> {
    let kind = said.required("type", "write `gml` or `1_gbit_switch`")?;
    match kind.text() {
        Some("1_gbit_switch") => {
            let number = input.add("1_gbit_switch", SWITCH.to_owned());
            gml::read_in(SWITCH, number)
        }
        Some("gml") => match (said.get("inline"), said.get("file")) {
            (Some(text), _) => inline(text, input),
            (None, Some(file)) => beside(file, input),
            (None, None) => Err(said.place().wrong("`inline` or `file` is missing: there is no graph")),
        },
        _ => Err(kind.place().wrong("expected `gml` or `1_gbit_switch`")),
    }
}

/// A graph in the configuration. Its places are those of the file, if it has the text as it is.
fn inline(said: &Node, input: &mut Input<'_>) -> Read<Graph> {
    let text = said.text().ok_or_else(|| said.place().wrong("expected a graph: write `inline: |` and its lines"))?;
    let count = text.lines().count();
    let own: Vec<&str> = input.text().lines().collect();
    let is_at = |line: &usize| {
        let there = own.get(*line..line.saturating_add(count)).unwrap_or_default();
        there.len() == count && there.iter().zip(text.lines()).all(|(one, other)| one.trim() == other.trim())
    };
    // The line of its beginning is that of `|`, or its first one.
    if let Some(first) = [said.span.line, said.span.line.saturating_sub(1)].iter().find(|line| is_at(line)) {
        let blank = |(line, letters): (usize, &str)| {
            let is_graph = (*first..first + count).contains(&line);
            if is_graph { letters.to_owned() } else { letters.replace(|letter| letter != '\n', " ") }
        };
        let masked = |(line, letters): (usize, &str)| {
            let kept = blank((line, letters));
            // Letters of several bytes keep their length.
            let missing = letters.len() - kept.len();
            format!("{}{kept}", " ".repeat(missing))
        };
        let alone: String = input.text().split_inclusive('\n').enumerate().map(masked).collect();
        return gml::read_in(&alone, 0);
    }
    let name = format!("the graph in line {}", said.span.line);
    let text = text.to_owned();
    let number = input.add(&name, text.clone());
    gml::read_in(&text, number)
}

/// A graph in a file of its own.
fn beside(file: &Node, input: &mut Input<'_>) -> Read<Graph> {
    let path = file.required("path", "write for example `file: {path: graph.gml}`")?;
    let name = path.text().unwrap_or_default();
    if file.get("compression").is_some() {
        return Err(path.place().wrong(format!("a compressed graph is not read: unpack it (`xz -dk {name}`)")));
    }
    let missing = || path.place().wrong(format!("there is no file {name:?} beside this one or below that can be read"));
    let number = input.open(name).ok_or_else(missing)?;
    gml::read_in(input.source(number), number)
}

/// Makes of edges what a graph says in general: those of a node to itself are set aside, times and probabilities get units,
/// and latencies are what paths are the shortest by.
fn edges(graph: &mut Graph, network: &mut Network, is_shortest: bool, notes: &mut Notes) -> Read<()> {
    let mut kept = Vec::new();
    let mut delays = Vec::new();
    for mut edge in std::mem::take(&mut graph.edges) {
        let mut settings = Map::new();
        let (mut delay, mut loss) = (None, None);
        for attribute in &edge.attributes {
            match attribute.name.as_str() {
                "latency" => delay = Some((latency(attribute)?, attribute.place)),
                "packet_loss" => {
                    let wrong = || attribute.wrong("is no probability: write for example 0.01");
                    loss = Some((quantity::probability(&attribute.value, 0).ok_or_else(wrong)?.value, attribute.place));
                }
                "jitter" if attribute.value.starts_with("0 ") || attribute.value.parse() == Ok(0.0) => {}
                "jitter" => notes.add(attribute.place, "`jitter` is not read: Shadow has none either"),
                _ => {}
            }
        }
        let Some((delay, place)) = delay else {
            return Err(edge.place.wrong("`latency` is missing: write for example `latency \"10 ms\"`"));
        };
        settings.push(entry("delay", Value::from(delay).because(Origin::at(place))));
        let lost = loss.filter(|(share, _)| *share != Probability::ZERO);
        settings.extend(lost.map(|(share, at)| entry("loss", Value::from(share).because(Origin::at(at)))));
        if let [one, other] = edge.ends[..]
            && one == other
        {
            if let Some(node) = network.nodes.get_mut(&graph.nodes[one].id) {
                (node.within, node.within_delay) = (settings, Some(delay));
            }
            for left in edge.attributes.iter().filter(|left| !OF_EDGES.contains(&left.name.as_str())) {
                notes.add(left.place, format!("`{}` of an edge from a node to itself is not read", left.name));
            }
            continue;
        }
        edge.attributes.retain(|attribute| !OF_EDGES.contains(&attribute.name.as_str()));
        edge.attributes.extend(lost.map(|(share, at)| attribute("loss", share.to_string(), at)));
        delays.push((delay, place));
        kept.push(edge);
    }
    let mut costs = vec![1; kept.len()];
    if is_shortest && kept.len() >= graph.nodes.len() {
        costs = add_costs(&mut kept, &delays, notes);
    }
    let spans: Option<Vec<Span>> = kept.iter().zip(&delays).zip(&costs).map(span).collect();
    let ids = graph.nodes.iter().map(|node| node.id.as_str());
    let taken = share_out(network, ids, &spans.unwrap_or_default());
    for (edge, (delay, place)) in kept.iter_mut().zip(delays) {
        let at_ends = edge.ends.iter().map(|end| taken[*end].as_nanos()).sum();
        let between = Duration::from_nanos(delay.as_nanos().saturating_sub(at_ends));
        edge.attributes.insert(0, attribute("delay", between.to_string(), place));
    }
    graph.edges = kept;
    Ok(())
}

fn span(((edge, (delay, _)), cost): ((&Edge, &(Duration, Place)), &u64)) -> Option<Span> {
    let ends = edge.ends[..].try_into().ok()?;
    Some(Span { ends, is_directed: edge.is_directed, delay: *delay, cost: *cost })
}

/// Gives the links of hosts their share of the latencies; returns that of each node.
fn share_out<'a>(network: &mut Network, ids: impl Iterator<Item = &'a str>, spans: &[Span]) -> Vec<Duration> {
    let ids: Vec<&str> = ids.collect();
    let site = |id: &&str| {
        let within = network.nodes.get(*id).and_then(|node| node.within_delay);
        Site { hosts: network.hosts_at(id), within }
    };
    let sites: Vec<Site> = ids.iter().map(site).collect();
    if network.is_single() || spans.is_empty() {
        return vec![Duration::ZERO; sites.len()];
    }
    let shares = shares(&sites, spans);
    for (id, share) in ids.iter().zip(&shares) {
        if let Some(node) = network.nodes.get_mut(*id) {
            node.share = *share;
        }
    }
    shares
}

/// The time of an edge: a number of seconds, or one with a unit.
fn latency(attribute: &Attribute) -> Read<Duration> {
    let (number, unit) = quantity::split(&attribute.value);
    let found = if unit.is_empty() { quantity::duration(number, 0) } else { spelled_duration(&attribute.value) };
    let wrong = || attribute.wrong("is no time: write for example \"10 ms\"");
    Ok(found.ok_or_else(wrong)?.value)
}

/// Adds costs in proportion to the latencies, as far as they fit, and returns them.
fn add_costs(edges: &mut [Edge], delays: &[(Duration, Place)], notes: &mut Notes) -> Vec<u64> {
    let greatest = |mut one: u64, mut other: u64| {
        while other > 0 {
            (one, other) = (other, one % other);
        }
        one
    };
    let common = delays.iter().fold(0, |all, (delay, _)| greatest(delay.as_nanos(), all)).max(1);
    let longest = delays.iter().map(|(delay, _)| delay.as_nanos()).max().unwrap_or(0) / common;
    let unit = common * longest.div_ceil(MOST_COST).max(1);
    if let Some(first) = edges.first().filter(|_| unit > common) {
        let note = "costs of links are rounded latencies: of paths with nearly the same one, a longer one may be taken";
        notes.add(first.place, note);
    }
    let rounded =
        |(delay, _): &(Duration, Place)| (delay.as_nanos().saturating_add(unit / 2) / unit).clamp(1, MOST_COST);
    let costs: Vec<u64> = delays.iter().map(rounded).collect();
    for (edge, cost) in edges.iter_mut().zip(&costs) {
        edge.attributes.push(attribute("cost", cost.to_string(), edge.place));
    }
    costs
}

fn attribute(name: &str, value: String, place: Place) -> Attribute {
    Attribute { name: name.to_owned(), value, place }
}

impl Attribute {
    fn wrong(&self, what: &str) -> Wrong {
        self.place.wrong(format!("`{} {:?}` {what}", self.name, self.value))
    }
}

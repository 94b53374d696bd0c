//! Graphs with attributes, as GraphML and GML have them, and what they mean as a network.

mod attributes;
mod edges;

use crate::Role;
use crate::geography::{self, Position};
use crate::notes::Notes;
use crate::places;
use crate::source::{Place, Read};
use crate::topology::Topology;
use crate::value::{Value, entry};
use attributes::Used;

/// Something that an element says.
#[derive(Clone, Debug)]
pub(crate) struct Attribute {
    pub(crate) name: String,
    pub(crate) value: String,
    pub(crate) place: Place,
}

/// A node.
#[derive(Clone, Debug)]
pub(crate) struct Vertex {
    pub(crate) id: String,
    pub(crate) place: Place,
    pub(crate) attributes: Vec<Attribute>,
}

/// An edge; with more than two ends a hyperedge.
#[derive(Clone, Debug)]
pub(crate) struct Edge {
    /// Numbers of nodes.
    pub(crate) ends: Vec<usize>,
    pub(crate) is_directed: bool,
    pub(crate) place: Place,
    pub(crate) attributes: Vec<Attribute>,
}

/// A graph.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) nodes: Vec<Vertex>,
    pub(crate) edges: Vec<Edge>,
    pub(crate) notes: Notes,
}

/// The network that `graph` describes; `label` names it, and nodes that say nothing of their kind have this role.
pub(crate) fn topology(mut graph: Graph, label: &str, role: Role) -> Read<Topology> {
    let mut topology = Topology::called(label);
    topology.notes = std::mem::take(&mut graph.notes);
    let mut used = Used::default();
    used.unused("the graph", &graph.attributes);
    let mut coordinates = Vec::new();
    for node in &graph.nodes {
        coordinates.push(add_node(node, role, &mut topology, &mut used)?);
    }
    let positions = on_earth(coordinates, &mut topology);
    if positions.iter().any(Option::is_some) {
        draw(&positions, &mut topology);
        topology.remarks.push(geography::STATED.to_owned());
    }
    edges::add(&graph.edges, &positions, &mut topology, &mut used)?;
    used.note(&mut topology.notes);
    Ok(topology)
}

/// Draws a map, unless the file draws the nodes itself.
fn draw(positions: &[Option<Position>], topology: &mut Topology) {
    if topology.nodes.iter().all(|node| node.position.is_none()) {
        let middle = geography::middle(positions.iter().flatten());
        for (node, position) in topology.nodes.iter_mut().zip(positions) {
            node.position = position.map(|position| position.on_map(middle));
        }
    }
}

/// Latitude and longitude, as a node says them.
type Coordinates<'a> = Option<[&'a Attribute; 2]>;

/// The places on Earth. Where half of the nodes or more are at no such place, the numbers of all are those of a drawing.
fn on_earth(coordinates: Vec<Coordinates<'_>>, topology: &mut Topology) -> Vec<Option<Position>> {
    let number = |said: &Attribute| said.value.trim().parse::<f64>().ok().filter(|value| value.is_finite());
    let place = |[latitude, longitude]: [&Attribute; 2]| Position::new(&latitude.value, &longitude.value);
    let is_off = |said: &[&Attribute; 2]| said.iter().all(|one| number(one).is_some()) && place(*said).is_none();
    let off: Vec<&[&Attribute; 2]> = coordinates.iter().flatten().filter(|said| is_off(said)).collect();
    let is_drawing = 2 * off.len() >= coordinates.iter().flatten().count();
    let Some([latitude, longitude]) = off.first().filter(|_| is_drawing) else {
        for [latitude, longitude] in coordinates.iter().flatten().filter(|said| place(**said).is_none()) {
            let said = format!("{:?}, {:?} is no place on Earth", latitude.value, longitude.value);
            topology.notes.add(latitude.place, format!("{said}: its links get no delay"));
        }
        return coordinates.into_iter().map(|said| said.and_then(place)).collect();
    };
    let said = format!("{}, {} is no place on Earth", latitude.value, longitude.value);
    let said = format!("{said}: all such coordinates are those of a drawing, and links get no delay from them");
    topology.notes.add(latitude.place, said);
    for (node, at) in topology.nodes.iter_mut().zip(&coordinates) {
        let drawn = at.and_then(|[down, right]| Some([number(right)?, -number(down)?]));
        node.position = node.position.or(drawn);
    }
    vec![None; coordinates.len()]
}

/// Adds a node, and returns the coordinates that it says.
fn add_node<'a>(node: &'a Vertex, role: Role, topology: &mut Topology, used: &mut Used) -> Read<Coordinates<'a>> {
    let mut known = used.of("nodes", &node.attributes);
    let label = known.first(&["label", "name"]).map_or("", |label| label.value.as_str());
    let number = topology.add_node(meant(label), &node.id, node.place)?;
    let hyperedge = known.first(&["hyperedge"]).filter(|said| said.value == "1" || said.value == "true");
    let said = known.first(&["kind"]).and_then(|said| Role::kind(&said.value));
    let (kind, why) = match (said, hyperedge) {
        (Some(kind), _) => (kind, None),
        (None, Some(said)) => ("switch", Some(said)),
        (None, None) => (role.name(), None),
    };
    let there = &mut topology.nodes[number];
    if let Some(why) = why {
        let words = if there.origin.words.is_empty() { "" } else { ", " };
        there.origin.words.push_str(&format!("{words}{} {}", why.name, why.value));
    }
    if kind != "host" {
        there.settings.push(entry("kind", Value::plain(kind)));
    }
    let latitude = known.first(&["latitude", "lat"]);
    let longitude = known.first(&["longitude", "lon", "lng", "long"]);
    let [right, down] = [["x", "graphics.x"], ["y", "graphics.y"]].map(|names| known.first(&names));
    known.settle();
    topology.nodes[number].position =
        places::place(right.map(|one| one.value.as_str()), down.map(|one| one.value.as_str()));
    Ok(latitude.zip(longitude).map(<[&Attribute; 2]>::from))
}

/// A label, but for what stands where there is none.
fn meant(label: &str) -> &str {
    if ["None", "?", "null", "NULL", "none"].contains(&label.trim()) { "" } else { label }
}

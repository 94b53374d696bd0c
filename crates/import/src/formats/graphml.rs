//! GraphML: graphs as XML (Brandes et al., "GraphML progress report", 2002), as the Topology Zoo, NetworkX and yEd write them.

use crate::graph::{Attribute, Edge, Graph, Vertex};
use crate::source::{Lines, Place, Read};
use crate::xml;
use roxmltree::Node;
use std::collections::BTreeMap;

/// Elements with what is read of them, and what only serves programs that read them (graphml.graphdrawing.org, "GraphML-Parseinfo").
const READ: [(&str, &[&str]); 12] = [
    ("graphml", &["schemaLocation"]),
    ("key", &["id", "for", "attr.name", "attr.type", "yfiles.type"]),
    ("default", &["space"]),
    ("desc", &[]),
    ("graph", &["id", "edgedefault", "parse.nodeids", "parse.edgeids", "parse.order", "parse.nodes", "parse.edges"]),
    ("node", &["id", "yfiles.foldertype", "parse.indegree", "parse.outdegree"]),
    // Ends at ports are noted with the ports.
    ("edge", &["id", "source", "target", "directed", "sourceport", "targetport"]),
    ("hyperedge", &["id"]),
    ("endpoint", &["id", "node", "port", "type"]),
    ("port", &["name"]),
    ("data", &["key", "id", "space"]),
    ("resources", &[]),
];
/// Elements whose contents are a value, or those of a drawing.
const PASSED: [&str; 5] = ["data", "default", "desc", "port", "resources"];

/// What a `key` declares.
struct Key {
    name: String,
    default: Option<String>,
    /// The elements that have it.
    of: String,
}

/// Reads the graph in `text`.
pub(crate) fn read(text: &str) -> Read<Graph> {
    let lines = Lines::of(text, 0);
    let document = xml::parse(text, &lines)?;
    let root = document.root_element();
    if root.tag_name().name() != "graphml" {
        let place = xml::place(&root, &lines);
        return Err(place.wrong(format!("<{}> is not GraphML, which begins with <graphml>", root.tag_name().name())));
    }
    let mut reader = Reader { lines, keys: BTreeMap::new(), graph: Graph::default(), numbers: BTreeMap::new() };
    for element in root.children().filter(|child| child.has_tag_name_of("key")) {
        reader.key(&element);
    }
    // Edges may stand before the nodes that they join.
    let elements = || root.descendants().filter(Node::is_element);
    for element in elements() {
        match element.tag_name().name() {
            "graph" => reader.graph(&element),
            "node" => reader.node(&element)?,
            _ => {}
        }
    }
    for element in elements() {
        match element.tag_name().name() {
            "edge" => reader.edge(&element)?,
            "hyperedge" => reader.hyperedge(&element)?,
            "port" => reader.note(&element, "ports of nodes: an edge ends at the node"),
            _ => {}
        }
    }
    xml::rest(&root, &reader.lines, &READ, &PASSED, &mut reader.graph.notes);
    if reader.graph.nodes.is_empty() {
        return Err(
            xml::place(&root, &reader.lines).wrong("there is no <node> in this file: a network has at least one")
        );
    }
    Ok(reader.graph)
}

/// Tags whatever their namespace: many files name none, or a wrong one.
trait Tag {
    fn has_tag_name_of(&self, name: &str) -> bool;
}

impl Tag for Node<'_, '_> {
    fn has_tag_name_of(&self, name: &str) -> bool {
        self.is_element() && self.tag_name().name() == name
    }
}

struct Reader {
    lines: Lines,
    keys: BTreeMap<String, Key>,
    graph: Graph,
    /// The numbers of the nodes by their identifiers.
    numbers: BTreeMap<String, usize>,
}

impl Reader {
    fn place(&self, element: &Node<'_, '_>) -> Place {
        xml::place(element, &self.lines)
    }

    fn note(&mut self, element: &Node<'_, '_>, what: &str) {
        let place = self.place(element);
        self.graph.notes.add(place, what);
    }

    fn key(&mut self, element: &Node<'_, '_>) {
        let Some(id) = element.attribute("id") else { return };
        let name = element.attribute("attr.name").or_else(|| element.attribute("yfiles.type")).unwrap_or(id);
        let default = element.children().find(|child| child.has_tag_name_of("default"));
        let default = default.map(|default| xml::text(&default)).filter(|text| !text.is_empty());
        let of = element.attribute("for").unwrap_or("all").to_owned();
        self.keys.insert(id.to_owned(), Key { name: name.to_owned(), default, of });
    }

    fn graph(&mut self, element: &Node<'_, '_>) {
        if element.ancestors().skip(1).any(|above| above.has_tag_name_of("node")) {
            self.note(element, "a graph within a node: its nodes and edges belong to the one network");
        }
        let attributes = self.attributes(element, "graph");
        self.graph.attributes.extend(attributes);
    }

    fn node(&mut self, element: &Node<'_, '_>) -> Read<()> {
        let place = self.place(element);
        let Some(id) = element.attribute("id") else {
            return Err(place.wrong("a <node> without `id`: write for example <node id=\"n0\"/>"));
        };
        let attributes = self.attributes(element, "node");
        let number = self.graph.nodes.len();
        if let Some(first) = self.numbers.insert(id.to_owned(), number) {
            let line = self.graph.nodes[first].place.span.line;
            return Err(place.wrong(format!("there are two nodes with id=\"{id}\", the first in line {line}")));
        }
        self.graph.nodes.push(Vertex { id: id.to_owned(), place, attributes });
        Ok(())
    }

    fn edge(&mut self, element: &Node<'_, '_>) -> Read<()> {
        let ends = vec![self.end(element, "source")?, self.end(element, "target")?];
        let graph = element.ancestors().find(|above| above.has_tag_name_of("graph"));
        let default = graph.and_then(|graph| graph.attribute("edgedefault")).unwrap_or("undirected") == "directed";
        let is_directed = element.attribute("directed").map_or(default, |directed| directed == "true");
        let (place, attributes) = (self.place(element), self.attributes(element, "edge"));
        self.graph.edges.push(Edge { ends, is_directed, place, attributes });
        Ok(())
    }

    fn hyperedge(&mut self, element: &Node<'_, '_>) -> Read<()> {
        let endpoints = element.children().filter(|child| child.has_tag_name_of("endpoint"));
        let mut ends = endpoints.map(|endpoint| self.end(&endpoint, "node")).collect::<Read<Vec<usize>>>()?;
        ends.sort_unstable();
        ends.dedup();
        let (place, attributes) = (self.place(element), self.attributes(element, "hyperedge"));
        if ends.len() < 2 {
            return Err(
                place.wrong("a <hyperedge> joins two nodes or more: write an <endpoint node=\"...\"/> for each")
            );
        }
        self.graph.edges.push(Edge { ends, is_directed: false, place, attributes });
        Ok(())
    }

    /// The node that an attribute names.
    fn end(&self, element: &Node<'_, '_>, attribute: &str) -> Read<usize> {
        let place = self.place(element);
        let tag = element.tag_name().name();
        let Some(id) = element.attribute(attribute) else {
            return Err(place.wrong(format!("this <{tag}> has no `{attribute}`: write the id of a node")));
        };
        let unknown = || place.wrong(format!("{attribute}=\"{id}\": there is no <node id=\"{id}\"> in this file"));
        self.numbers.get(id).copied().ok_or_else(unknown)
    }

    /// What an element says of itself, and the defaults of what it does not.
    fn attributes(&self, element: &Node<'_, '_>, of: &str) -> Vec<Attribute> {
        let mut attributes = Vec::new();
        let mut given: Vec<&str> = Vec::new();
        for data in element.children().filter(|child| child.has_tag_name_of("data")) {
            let Some(id) = data.attribute("key") else { continue };
            given.push(id);
            let name = self.keys.get(id).map_or(id, |key| key.name.as_str());
            attributes.extend(self.attribute(&data, name));
            attributes.extend(self.geometry(&data, name));
        }
        // An element of the graph has thousands of siblings: a file with thousands of defaults is not worth them all.
        let is_of = |key: &Key| key.of == of || key.of == "all";
        for (id, key) in self.keys.iter().take(100).filter(|(_, key)| of != "graph" && is_of(key)) {
            if let Some(default) = key.default.as_ref().filter(|_| !given.contains(&id.as_str())) {
                let place = self.place(element);
                attributes.push(Attribute { name: key.name.clone(), value: default.clone(), place });
            }
        }
        attributes
    }

    /// Where yEd draws a node.
    fn geometry(&self, data: &Node<'_, '_>, name: &str) -> Vec<Attribute> {
        let drawn =
            data.descendants().filter(|_| name == "nodegraphics").find(|inner| inner.has_tag_name_of("Geometry"));
        let Some(drawn) = drawn else { return Vec::new() };
        let place = self.place(&drawn);
        let said =
            |axis: &str| Some(Attribute { name: axis.to_owned(), value: drawn.attribute(axis)?.to_owned(), place });
        ["x", "y"].into_iter().filter_map(said).collect()
    }

    fn attribute(&self, data: &Node<'_, '_>, name: &str) -> Option<Attribute> {
        let place = self.place(data);
        let graphics = [("nodegraphics", "NodeLabel"), ("edgegraphics", "EdgeLabel")];
        let (name, value) = match graphics.iter().find(|(kind, _)| *kind == name) {
            // yEd's drawing of the element, with its label somewhere inside.
            Some((_, tag)) => {
                let label = data.descendants().find(|inner| inner.has_tag_name_of(tag))?;
                ("label", xml::text(&label))
            }
            None => (name, xml::text(data)),
        };
        Some(Attribute { name: name.to_owned(), value, place })
    }
}

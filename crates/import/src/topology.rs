//! What all readers make: nodes, links and a timeline, with names that a lab accepts and values that say where they come
//! from.

use crate::names::{self, Kind, Names};
use crate::notes::Notes;
use crate::source::{Place, Read};
use crate::value::{Map, Origin, Value, entry};

/// More than any lab that could be run; a file that says more is refused before it takes all memory.
const MOST_NODES: usize = 100_000;
const MOST_LINKS: usize = 300_000;

/// A network as a file describes it.
#[derive(Debug)]
pub(crate) struct Topology {
    /// The name of the lab.
    pub(crate) name: String,
    /// What the first lines of the lab file say beside what is not converted.
    pub(crate) remarks: Vec<String>,
    /// Keys of the top level, in front of the nodes.
    pub(crate) top: Map,
    pub(crate) nodes: Vec<Node>,
    pub(crate) links: Vec<Link>,
    pub(crate) timeline: Vec<Value>,
    /// Keys of the top level behind the timeline.
    pub(crate) rest: Map,
    pub(crate) notes: Notes,
    node_names: Names,
    link_names: Names,
}

/// A node.
#[derive(Debug)]
pub(crate) struct Node {
    /// Its name in the lab.
    pub(crate) name: String,
    pub(crate) origin: Origin,
    pub(crate) settings: Map,
    /// Where it is in the file's own picture: to the right and down, in any unit.
    pub(crate) position: Option<[f64; 2]>,
}

/// A link with two ends, or a medium with more.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) name: String,
    pub(crate) origin: Origin,
    pub(crate) ends: [End; 2],
    /// The other ends of a medium.
    pub(crate) further: Vec<End>,
    /// Settings of the link, and of both its directions.
    pub(crate) settings: Map,
    pub(crate) forward: Map,
    pub(crate) backward: Map,
}

/// An end of a link.
#[derive(Clone, Debug)]
pub(crate) struct End {
    /// The number of the node.
    pub(crate) node: usize,
    /// Interface, addresses and hardware address.
    pub(crate) settings: Map,
}

impl End {
    pub(crate) fn at(node: usize) -> Self {
        Self { node, settings: Map::new() }
    }
}

impl Topology {
    /// An empty lab, called as nearly like `label` as a lab can be.
    pub(crate) fn called(label: &str) -> Self {
        Self {
            name: names::of_lab(label),
            remarks: Vec::new(),
            top: Map::new(),
            nodes: Vec::new(),
            links: Vec::new(),
            timeline: Vec::new(),
            rest: Map::new(),
            notes: Notes::default(),
            node_names: Names::of(Kind::Node),
            link_names: Names::of(Kind::Link),
        }
    }

    /// Adds a node and returns its number. The file calls it `label`; if that cannot be a name, it becomes `otherwise`. The
    /// comment says `label` where the name differs.
    pub(crate) fn add_node(&mut self, label: &str, otherwise: &str, place: Place) -> Read<usize> {
        if self.nodes.len() >= MOST_NODES {
            return Err(place.wrong(format!("more than {MOST_NODES} nodes: no lab is so large")));
        }
        let name = self.node_names.make(label, otherwise);
        let words = if name == label || label.trim().is_empty() { String::new() } else { format!("{label:?}") };
        self.nodes.push(Node { name, origin: Origin::said(place, words), settings: Map::new(), position: None });
        Ok(self.nodes.len() - 1)
    }

    /// Adds a link and returns its number. Without a label it is called after its ends.
    pub(crate) fn add_link(&mut self, label: &str, origin: Origin, ends: [End; 2]) -> Read<usize> {
        if self.links.len() >= MOST_LINKS {
            let place = origin.place.unwrap_or_default();
            return Err(place.wrong(format!("more than {MOST_LINKS} links: no lab is so large")));
        }
        let [first, second] = [&ends[0], &ends[1]].map(|end| self.nodes[end.node].name.as_str());
        let name = self.link_names.make(label, &names::between(first, second));
        let (settings, forward, backward) = (Map::new(), Map::new(), Map::new());
        self.links.push(Link { name, origin, ends, further: Vec::new(), settings, forward, backward });
        Ok(self.links.len() - 1)
    }

    /// Replaces a hub and two or more links that lead to it by one link, a medium, that has all their other ends and the name of the hub.
    pub(crate) fn join(&mut self, hub: usize, links: &[usize], settings: Map) {
        let mut ends: Vec<End> = Vec::new();
        for number in links {
            ends.extend(self.links[*number].ends.iter().filter(|end| end.node != hub).cloned());
        }
        let mut ends = ends.into_iter();
        let (Some(one), Some(other)) = (ends.next(), ends.next()) else { return };
        let Node { name, origin, .. } = self.nodes.remove(hub);
        let name = self.link_names.make(&name, "air");
        let without = links.iter().any(|number| self.links[*number].settings.iter().any(|(key, _)| key == "addresses"));
        let mut settings = settings;
        if without {
            settings.push(entry("addresses", Value::plain("none")));
        }
        let (ends, further) = ([one, other], ends.collect());
        let medium = Link { name, origin, ends, further, settings, forward: Map::new(), backward: Map::new() };
        let mut number = 0..;
        self.links.retain(|_| number.next().is_some_and(|number: usize| !links.contains(&number)));
        self.links.push(medium);
        for end in self.links.iter_mut().flat_map(|link| link.ends.iter_mut().chain(&mut link.further)) {
            end.node -= usize::from(end.node > hub);
        }
    }

    /// Adds a switch or hub that the file does not have as a node, for a LAN.
    pub(crate) fn add_device(&mut self, label: &str, kind: &str, origin: Origin) -> Read<usize> {
        let place = origin.place.unwrap_or_default();
        let number = self.add_node(label, "lan", place)?;
        self.nodes[number].origin = origin;
        self.nodes[number].settings.push(entry("kind", Value::plain(kind)));
        Ok(number)
    }
}

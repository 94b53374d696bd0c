//! Loops of switches: other tools have them, by a controller or a bridge that blocks links. In a lab, switches have a spanning tree
//! then, and a rate limits what goes round until it stands.

use crate::topology::{Link, Node, Topology};
use crate::value::{Content, Map, Value, put};
use std::collections::BTreeSet;

/// The rate of links that say none: what Linux says of pairs of virtual interfaces.
const RATE: &str = "10 Gbit/s";

/// Sets of nodes that links join.
struct Joined(Vec<usize>);

impl Joined {
    fn root(&mut self, mut at: usize) -> usize {
        while self.0[at] != at {
            self.0[at] = self.0[self.0[at]];
            at = self.0[at];
        }
        at
    }

    /// Joins two; returns whether they were apart.
    fn join(&mut self, one: usize, other: usize) -> bool {
        let (one, other) = (self.root(one), self.root(other));
        self.0[one] = other;
        one != other
    }
}

/// Gives switches of loops a spanning tree, and a rate to links that close loops of links without one.
pub(crate) fn settle(topology: &mut Topology) {
    let is_between = |link: &Link| link.ends.iter().all(|end| is_device(&topology.nodes[end.node]));
    let between: Vec<usize> = (0..topology.links.len()).filter(|number| is_between(&topology.links[*number])).collect();
    let mut all = Joined((0..topology.nodes.len()).collect());
    let mut unlimited = Joined((0..topology.nodes.len()).collect());
    let (mut closing, mut without_rate) = (Vec::new(), Vec::new());
    for number in between {
        let link = &topology.links[number];
        let [one, other] = [0, 1].map(|end| link.ends[end].node);
        if one == other {
            continue;
        }
        if !all.join(one, other) {
            closing.push(number);
        }
        if !has_rate(link) && !unlimited.join(one, other) {
            without_rate.push(number);
        }
    }
    if closing.is_empty() {
        return;
    }
    let looped: BTreeSet<usize> = closing.iter().map(|number| all.root(topology.links[*number].ends[0].node)).collect();
    for node in 0..topology.nodes.len() {
        let is_looped = looped.contains(&all.root(node));
        let settings = &mut topology.nodes[node].settings;
        if is_looped && is(settings, "switch") && !settings.iter().any(|(key, _)| key == "stp") {
            put(settings, "stp", Value::plain("true"));
        }
    }
    for number in closing {
        let place = topology.links[number].origin.place.unwrap_or_default();
        topology.notes.add(place, "a link closes a loop of switches: they have a spanning tree, `stp: true`");
    }
    for number in without_rate {
        let place = topology.links[number].origin.place.unwrap_or_default();
        put(&mut topology.links[number].settings, "rate", Value::plain(RATE));
        let said = format!(
            "a link that closes a loop of switches has a rate of {RATE}: what is for everybody goes round until the tree stands"
        );
        topology.notes.add(place, said);
    }
}

fn is_device(node: &Node) -> bool {
    is(&node.settings, "switch") || is(&node.settings, "hub")
}

/// Whether the kind of a node is this one.
fn is(settings: &Map, kind: &str) -> bool {
    settings.iter().any(|(key, value)| key == "kind" && matches!(&value.content, Content::Plain(said) if said == kind))
}

/// Whether both directions say a rate.
fn has_rate(link: &Link) -> bool {
    let says = |map: &Map| {
        map.iter().any(|(key, value)| {
            key == "rate"
                || matches!(&value.content, Content::Text(words) if words.split(' ').any(|word| word == "rate"))
        })
    };
    says(&link.settings) || says(&link.forward) && says(&link.backward)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Place;
    use crate::topology::End;
    use crate::value::{Origin, entry};

    #[test]
    fn switches_of_loops_have_a_tree_and_one_link_a_rate() {
        let mut topology = Topology::called("x");
        for (name, kind) in [("a", "switch"), ("b", "hub"), ("c", "switch"), ("d", "switch"), ("h", "host")] {
            let node = topology.add_node(name, "n", Place::default()).expect("a node");
            topology.nodes[node].settings.push(entry("kind", Value::plain(kind)));
        }
        for ends in [[0, 1], [1, 2], [2, 0], [3, 4], [4, 0]] {
            topology.add_link("", Origin::default(), ends.map(End::at)).expect("a link");
        }
        settle(&mut topology);
        let with: Vec<&str> =
            topology.nodes.iter().filter(|node| node.settings.len() > 1).map(|node| &*node.name).collect();
        assert_eq!(with, ["a", "c"]);
        let rates: Vec<usize> = topology.links.iter().map(|link| link.settings.len()).collect();
        assert_eq!(rates, [0, 0, 1, 0, 0]);
    }
}

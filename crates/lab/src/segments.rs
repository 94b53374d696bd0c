//! Segments: the ends of links that reach one another without a router, as broadcasts do. They have their addresses from one
//! subnet, and each knows all others as neighbours.
//!
//! A link between two nodes with addresses is a segment of its own. Switches and hubs join all links at them to one.

use crate::diagnostics::Spanned;
use crate::plan::End;
use crate::sets::Sets;
use crate::spec::{EndSpec, LinkSpec, NodeSpec};
use std::collections::BTreeMap;
use std::fmt;

/// See the module.
pub(crate) struct Segment<'a> {
    /// What errors about all of it name: its only link, or its first switch or hub.
    pub(crate) name: &'a Spanned<String>,
    /// Whether it has switches or hubs.
    pub(crate) is_lan: bool,
    /// The ends that have a network stack, in the order of their numbers.
    pub(crate) ends: Vec<Station<'a>>,
    /// The largest IP packet that all of it carries.
    pub(crate) mtu: u32,
    /// What it costs to cross it: the highest cost of a link.
    pub(crate) cost: u32,
}

/// An end of a link where there is a network stack.
#[derive(Clone, Copy)]
pub(crate) struct Station<'a> {
    pub(crate) end: End,
    pub(crate) spec: &'a EndSpec,
    /// Whether it gets addresses that it is not given.
    pub(crate) is_addressed: bool,
}

impl fmt::Display for Segment<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.is_lan { "the LAN of" } else { "link" };
        write!(f, "{what} `{}`", self.name.value)
    }
}

/// All ends of these links.
pub(crate) fn ends(links: &[LinkSpec]) -> impl Iterator<Item = (End, &EndSpec)> {
    End::all(links.iter().map(|link| link.ends.len())).zip(links.iter().flat_map(|link| &link.ends))
}

/// The segments in the order of their first ends with a stack; those without such an end are left out.
pub(crate) fn segments<'a>(links: &'a [LinkSpec], nodes: &'a [NodeSpec]) -> Vec<Segment<'a>> {
    let devices = nodes.iter().filter(|node| !node.kind.has_addresses());
    let devices: BTreeMap<&str, &NodeSpec> = devices.map(|node| (node.name.value.as_str(), node)).collect();
    let (mut sets, first_of) = joined(links, &devices);
    let mut places: BTreeMap<usize, usize> = BTreeMap::new();
    let mut found: Vec<Segment<'a>> = Vec::new();
    let mut ends = ends(links);
    for (number, link) in links.iter().enumerate() {
        let set = sets.root(number);
        let device = first_of.get(&set);
        let place = *places.entry(set).or_insert_with(|| {
            let name = device.map_or(&link.name, |device| &device.name);
            found.push(Segment { name, is_lan: device.is_some(), ends: Vec::new(), mtu: u32::MAX, cost: 0 });
            found.len() - 1
        });
        let segment = &mut found[place];
        (segment.mtu, segment.cost) = (segment.mtu.min(link.mtu), segment.cost.max(link.cost));
        let own =
            ends.by_ref().take(link.ends.len()).filter(|(_, spec)| !devices.contains_key(spec.node.value.as_str()));
        let is_addressed = link.addresses != Some(false);
        segment.ends.extend(own.map(|(end, spec)| Station { end, spec, is_addressed }));
    }
    found.retain(|segment| !segment.ends.is_empty());
    found.sort_by_key(|segment| segment.ends[0].end);
    found
}

/// Which links belong together, and the first of the devices that join each set of them.
fn joined<'a>(links: &[LinkSpec], devices: &BTreeMap<&str, &'a NodeSpec>) -> (Sets, BTreeMap<usize, &'a NodeSpec>) {
    let mut sets = Sets::of(links.len());
    let mut first_at: BTreeMap<&str, usize> = BTreeMap::new();
    let ends: Vec<(usize, &str)> = links
        .iter()
        .enumerate()
        .flat_map(|(number, link)| link.ends.iter().map(move |end| (number, end.node.value.as_str())))
        .collect();
    for (number, node) in &ends {
        if let Some((name, _)) = devices.get_key_value(node) {
            sets.join(*first_at.entry(name).or_insert(*number), *number);
        }
    }
    let mut first_of: BTreeMap<usize, &NodeSpec> = BTreeMap::new();
    for (number, node) in &ends {
        if let Some(device) = devices.get(node) {
            first_of.entry(sets.root(*number)).or_insert(device);
        }
    }
    (sets, first_of)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::diagnostics::Span;
    use crate::plan::NodeKind;
    use netloom_units::Duration;

    /// A link with these nodes at its ends, each with its address if it is given one.
    pub(crate) fn link(name: &str, ends: &[(&str, &str)]) -> LinkSpec {
        let spanned = |value: &str| Spanned { value: value.to_owned(), ..Spanned::default() };
        let given = |address: &str| {
            address.parse().ok().map(|value| Spanned { value, span: Span::default(), key: String::new() })
        };
        let end = |(node, address): &(&str, &str)| EndSpec {
            node: spanned(node),
            interface: None,
            addresses: given(address).into_iter().collect(),
            mac: None,
        };
        LinkSpec {
            name: spanned(name),
            ends: ends.iter().map(end).collect(),
            pipes: Default::default(),
            treatments: Default::default(),
            mtu: 1_500,
            coalesce: Duration::ZERO,
            cost: 1,
            bypass: None,
            addresses: None,
        }
    }

    /// Nodes of these kinds.
    pub(crate) fn nodes(kinds: &[(&str, NodeKind)]) -> Vec<NodeSpec> {
        let node = |(name, kind): &(&str, NodeKind)| {
            let mut node = NodeSpec { kind: *kind, ..NodeSpec::default() };
            node.name.value = (*name).to_owned();
            node
        };
        kinds.iter().map(node).collect()
    }

    fn shown(links: &[LinkSpec], nodes: &[NodeSpec]) -> Vec<String> {
        let one = |segment: &Segment<'_>| {
            let ends = segment.ends.iter().map(|own| format!("{}:{}", own.spec.node.value, own.end.number()));
            format!("{segment}, {} at {}: {}", segment.mtu, segment.cost, ends.collect::<Vec<_>>().join(" "))
        };
        segments(links, nodes).iter().map(one).collect()
    }

    #[test]
    fn the_ends_of_a_segment_are_those_of_its_link() {
        let links = [link("one", &[("a", ""), ("b", "")]), link("lan", &[("a", ""), ("b", ""), ("c", "")])];
        assert_eq!(shown(&links, &[]), ["link `one`, 1500 at 1: a:0 b:1", "link `lan`, 1500 at 1: a:2 b:3 c:4"]);
    }

    #[test]
    fn switches_and_hubs_join_links_to_one_segment() {
        let mut links = [
            link("up", &[("s", ""), ("h", "")]),
            link("x", &[("a", ""), ("s", "")]),
            link("p", &[("a", ""), ("d", "")]),
            link("y", &[("h", ""), ("b", "")]),
            link("z", &[("t", ""), ("c", "")]),
            link("unused", &[("u", ""), ("v", "")]),
        ];
        (links[3].mtu, links[1].cost) = (1_000, 7);
        let devices = [NodeKind::Switch, NodeKind::Hub, NodeKind::Switch, NodeKind::Switch, NodeKind::Hub];
        let devices: Vec<_> = ["s", "h", "t", "u", "v"].into_iter().zip(devices).collect();
        let wanted =
            ["the LAN of `s`, 1000 at 7: a:2 b:7", "link `p`, 1500 at 1: a:4 d:5", "the LAN of `t`, 1500 at 1: c:9"];
        assert_eq!(shown(&links, &nodes(&devices)), wanted);
    }
}

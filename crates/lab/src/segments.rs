//! Segments: the ends of links that reach one another without a router, as broadcasts do. They have their addresses from one
//! subnet, and each knows all others as neighbours.
//!
//! A link between two nodes with addresses is a segment of its own. Switches and hubs join all links at them to one, or to one
//! for each VLAN.
//!
//! A segment that is open to a network outside the lab (external interfaces, tunnels) gets no addresses by itself and
//! no permanent neighbours. Where a tunnel says what is behind it, this is a part of the segment.

use crate::decode::dhcp::DhcpSpec;
use crate::diagnostics::Spanned;
use crate::disjoint_sets::DisjointSets;
use crate::plan::{End, FarInterface};
use crate::spec::{EndSpec, LinkSpec, NodeSpec};
use crate::vlan_map::VlanMap;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// See the module.
pub(crate) struct Segment<'a> {
    /// What errors about all of it name: its only link, or its first switch or hub.
    pub(crate) name: &'a Spanned<String>,
    /// Whether it has switches or hubs.
    pub(crate) is_lan: bool,
    /// Whether an external interface or a tunnel is in it: who else is there is not known.
    pub(crate) is_open: bool,
    /// The ends at other machines, as far as tunnels say what is behind them.
    pub(crate) far: Vec<&'a FarInterface>,
    /// Which VLAN it is, if its first switch looks at tags.
    pub(crate) vlan: Option<u16>,
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
    /// Whether it asks for its address by DHCP.
    pub(crate) asks: bool,
    /// The DHCP server there.
    pub(crate) server: Option<&'a DhcpSpec>,
}

/// What the nodes do at their ends.
struct Parts<'a> {
    /// Only those of which there is something to say.
    nodes: BTreeMap<&'a str, &'a NodeSpec>,
    lans: BTreeSet<&'a str>,
}

impl<'a> Parts<'a> {
    fn new(nodes: &'a [NodeSpec]) -> Self {
        let speaks = |node: &&NodeSpec| node.asks.is_some() || node.dhcp.is_some();
        Self {
            nodes: nodes.iter().filter(speaks).map(|node| (node.name.value.as_str(), node)).collect(),
            lans: nodes.iter().filter(|node| node.is_lan).map(|node| node.name.value.as_str()).collect(),
        }
    }

    fn asks(&self, end: &EndSpec) -> bool {
        let node = self.nodes.get(end.node.value.as_str());
        end.asks.is_some() || node.is_some_and(|node| node.asks.is_some())
    }

    fn server(&self, link: &LinkSpec, end: &EndSpec) -> Option<&'a DhcpSpec> {
        let name = &end.node.value;
        let dhcp = self.nodes.get(name.as_str())?.dhcp.as_ref().filter(|_| !self.asks(end))?;
        let whole = link.name.value.as_str();
        let lan = whole.strip_suffix(name.as_str()).and_then(|lan| lan.strip_suffix('-'));
        let own = lan.filter(|lan| self.lans.contains(lan)).unwrap_or(whole);
        let is_meant = dhcp.links.is_empty() || dhcp.links.iter().any(|said| said.value == own);
        is_meant.then_some(dhcp)
    }
}

impl fmt::Display for Segment<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.vlan, self.is_lan) {
            (Some(vlan), _) => write!(f, "VLAN {vlan} of `{}`", self.name.value),
            (None, true) => write!(f, "the LAN of `{}`", self.name.value),
            (None, false) => write!(f, "link `{}`", self.name.value),
        }
    }
}

/// All ends of these links.
pub(crate) fn ends(links: &[LinkSpec]) -> impl Iterator<Item = (End, &EndSpec)> {
    End::all(links.iter().map(|link| link.ends.len())).zip(links.iter().flat_map(|link| &link.ends))
}

/// The segments in the order of their first ends with a stack; those without such an end are left out. A node speaks without
/// tags, as far as its addresses are concerned.
pub(crate) fn segments<'a>(links: &'a [LinkSpec], nodes: &'a [NodeSpec]) -> Vec<Segment<'a>> {
    let vlan_map = VlanMap::new(links, nodes);
    let mut joined = Joined::new(links, &vlan_map);
    let mut places: BTreeMap<usize, usize> = BTreeMap::new();
    let mut found: Vec<Segment<'a>> = Vec::new();
    for (number, link) in links.iter().enumerate() {
        for place in 0..joined.classes[number].len() {
            let set = joined.set(number, place);
            let own = *places.entry(set).or_insert_with(|| {
                let first = joined.first_of.get(&set);
                let name = first.map_or(&link.name, |(device, _)| &device.name);
                let vlan = first.and_then(|(_, vlan)| *vlan);
                let (is_lan, is_open) = (first.is_some(), joined.open.contains(&set));
                let far = joined.far.remove(&set).unwrap_or_default();
                found.push(Segment { name, is_lan, is_open, far, vlan, ends: Vec::new(), mtu: u32::MAX, cost: 0 });
                found.len() - 1
            });
            let segment = &mut found[own];
            (segment.mtu, segment.cost) = (segment.mtu.min(link.mtu), segment.cost.max(link.cost));
        }
    }
    let parts = Parts::new(nodes);
    for (end, spec) in ends(links).filter(|(end, spec)| vlan_map.device(&links[end.link()], &spec.node.value).is_none())
    {
        // The first class is that of frames without tags.
        let segment = &mut found[places[&joined.set(end.link(), 0)]];
        // The subnets of a network that is not ours are not ours to choose.
        let is_addressed = links[end.link()].addresses != Some(false) && !segment.is_open;
        let server = parts.server(&links[end.link()], spec);
        segment.ends.push(Station { end, spec, is_addressed, asks: parts.asks(spec), server });
    }
    found.retain(|segment| !segment.ends.is_empty());
    found.sort_by_key(|segment| segment.ends[0].end);
    found
}

/// What goes over which links, and what of that is one segment.
struct Joined<'a> {
    /// By link: the classes of frames that go over it.
    classes: Vec<Vec<u16>>,
    /// By link: the number of the first of them.
    firsts: Vec<usize>,
    sets: DisjointSets,
    /// By set: the first device of those that join it, and the VLAN that it is there, if that looks at tags.
    first_of: BTreeMap<usize, (&'a NodeSpec, Option<u16>)>,
    /// The sets with an external interface or a tunnel of which it is not said what is behind it.
    open: BTreeSet<usize>,
    /// By set: what is behind its tunnels.
    far: BTreeMap<usize, Vec<&'a FarInterface>>,
}

impl<'a> Joined<'a> {
    fn new(links: &'a [LinkSpec], vlan_map: &VlanMap<'a>) -> Self {
        let classes: Vec<Vec<u16>> = links.iter().map(|link| vlan_map.classes(link)).collect();
        let mut count = 0;
        let mut firsts = Vec::with_capacity(classes.len());
        for own in &classes {
            firsts.push(count);
            count += own.len();
        }
        let mut this = Self {
            classes,
            firsts,
            sets: DisjointSets::of(count),
            first_of: BTreeMap::new(),
            open: BTreeSet::new(),
            far: BTreeMap::new(),
        };
        let mut first_at: BTreeMap<(&str, u16), usize> = BTreeMap::new();
        let mut joints = Vec::new();
        for (number, link) in links.iter().enumerate() {
            for end in &link.ends {
                let name = end.node.value.as_str();
                let Some(device) = vlan_map.device(link, name) else { continue };
                for (place, class) in this.classes[number].iter().enumerate() {
                    let Some(vlan) = vlan_map.vlan(name, link, *class) else { continue };
                    let own = this.firsts[number] + place;
                    this.sets.join(*first_at.entry((name, vlan)).or_insert(own), own);
                    joints.push((own, device, vlan_map.looks_at_tags(name).then_some(vlan)));
                }
            }
        }
        for (own, device, vlan) in joints {
            if device.kind.leads_out() {
                // The end of a wire joins nothing.
                let set = this.sets.root(own);
                match device.tunnel.as_ref().and_then(|tunnel| tunnel.beyond.as_ref()) {
                    Some(far) => this.far.entry(set).or_default().extend(far),
                    None => drop(this.open.insert(set)),
                }
                continue;
            }
            this.first_of.entry(this.sets.root(own)).or_insert((device, vlan));
        }
        this
    }

    fn set(&mut self, link: usize, place: usize) -> usize {
        self.sets.root(self.firsts[link] + place)
    }
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
            asks: None,
            mac: None,
        };
        LinkSpec {
            name: spanned(name),
            ends: ends.iter().map(end).collect(),
            shared: None,
            pipes: Default::default(),
            treatments: Default::default(),
            mtu: 1_500,
            coalesce: Duration::ZERO,
            cost: 1,
            area: 0,
            bypass: None,
            addresses: None,
            vlans: None,
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

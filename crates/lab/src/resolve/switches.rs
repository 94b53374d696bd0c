//! Switches and hubs: what switches do, what neither can have, and whether they form loops.

use super::interfaces::Interface;
use super::names::Index;
use super::place;
use crate::diagnostics::{Diagnostic, Spanned};
use crate::disjoint_sets::DisjointSets;
use crate::errors::Errors;
use crate::plan::{NodeKind, SnoopingPlan, SwitchPlan, TreePlan, TreePortPlan, VlansPlan};
use crate::spec::{EndSpec, LinkSpec, NodeSpec, Spec};
use crate::vlan_map::{MOST, VlanMap};
use netloom_fabric::PortRole;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// What every node does as a switch, in the order of the lab file; none of other kinds. `interfaces`: none if some of them
/// lead nowhere.
pub(super) fn settle(
    spec: &Spec,
    links: &Index<'_>,
    interfaces: Option<&[Interface]>,
    errors: &mut Errors,
) -> Vec<Option<SwitchPlan>> {
    let vlan_map = VlanMap::new(&spec.links, &spec.nodes);
    errors.extend(addresses(spec, &vlan_map));
    errors.extend(useless_vlans(spec, &vlan_map));
    errors.extend(too_many(&vlan_map));
    errors.extend(too_many_ports(spec));
    errors.extend(loops(spec, &vlan_map));
    let mut ports: BTreeMap<usize, Vec<(&Interface, &LinkSpec)>> = BTreeMap::new();
    for interface in interfaces.into_iter().flatten() {
        ports.entry(interface.at.node).or_default().push((interface, &spec.links[interface.at.end.link()]));
    }
    let mut settled = Vec::new();
    for (number, node) in spec.nodes.iter().enumerate() {
        let own = ports.remove(&number).unwrap_or_default();
        let is_switch = node.kind == NodeKind::Switch;
        settled.push(is_switch.then(|| switch(node, &own, &vlan_map, links, errors)));
    }
    settled
}

/// A switch with these ports, each with its link; none if some of them lead nowhere.
fn switch(
    node: &NodeSpec,
    ports: &[(&Interface, &LinkSpec)],
    vlan_map: &VlanMap<'_>,
    links: &Index<'_>,
    errors: &mut Errors,
) -> SwitchPlan {
    let mut port = |link: &Spanned<String>| port_at(node, ports, links, link, errors);
    let fixed = node.switch.r#static.iter().filter_map(|(address, link)| Some((*address, port(link)?))).collect();
    let snooping = node.switch.snooping.as_ref().map(|said| {
        let fast_leave = match &said.fast_leave {
            None => ports.iter().map(|(own, _)| own.at.interface).collect(),
            Some(given) => given.iter().filter_map(&mut port).collect(),
        };
        let mut routers: Vec<usize> = said.routers.iter().filter_map(&mut port).collect();
        routers.sort_unstable();
        SnoopingPlan { settings: said.settings, fast_leave, routers }
    });
    let has_vlans = vlan_map.looks_at_tags(&node.name.value) && vlan_map.crowded().is_none();
    SwitchPlan {
        ageing: node.switch.ageing.unwrap_or(SwitchPlan::AGEING),
        table: node.switch.table.unwrap_or(SwitchPlan::TABLE),
        fixed,
        vlans: ports.iter().filter(|_| has_vlans).map(|(_, link)| vlans(vlan_map, link)).collect(),
        tree: node.switch.stp.map(|settings| TreePlan { settings, ports: tree_ports(ports, vlan_map) }),
        snooping,
    }
}

/// The port of a switch at this link; none after an error was noted.
fn port_at(
    node: &NodeSpec,
    ports: &[(&Interface, &LinkSpec)],
    links: &Index<'_>,
    link: &Spanned<String>,
    errors: &mut Errors,
) -> Option<usize> {
    let meant = place(links, link, errors).filter(|_| !ports.is_empty())?;
    let found = ports.iter().find(|(port, _)| port.at.end.link() == meant).map(|(port, _)| port.at.interface);
    if found.is_none() {
        errors.push(link.error(format!("link `{}` has no end at `{}`", link.value, node.name.value)));
    }
    found
}

/// The ports of a switch in a spanning tree.
fn tree_ports(ports: &[(&Interface, &LinkSpec)], vlan_map: &VlanMap<'_>) -> Vec<TreePortPlan> {
    let port = |(own, link): &(&Interface, &LinkSpec)| {
        let place = own.at.end.place();
        let others = link.ends.iter().enumerate().filter(|(other, _)| *other != place);
        let beyond: Vec<_> = others.map(|(_, end)| vlan_map.device(link, &end.node.value)).collect();
        let is_alone = |device: &Option<&NodeSpec>| device.is_none_or(|device| device.switch.stp.is_some());
        TreePortPlan {
            cost: TreePlan::cost(link.pipes[place.min(1)].rate.nominal()),
            is_edge: beyond.iter().all(Option::is_none),
            is_point_to_point: link.shared.is_none() && beyond.iter().all(is_alone),
            role: PortRole::Disabled,
        }
    };
    ports.iter().map(port).collect()
}

/// The errors about spanning trees with more ports than their messages can number.
fn too_many_ports(spec: &Spec) -> Vec<Diagnostic> {
    let most = TreePlan::MOST_PORTS;
    let count = |name: &str| spec.links.iter().flat_map(|link| &link.ends).filter(|end| end.node.value == name).count();
    let in_trees = spec.nodes.iter().filter(|node| node.switch.stp.is_some());
    let crowded = in_trees.map(|node| (node, count(&node.name.value))).filter(|(_, links)| *links > most);
    let error = |(node, links): (&NodeSpec, usize)| {
        node.name
            .error(format!("a switch with `stp` has at most {most} links, and this one has {links}: leave `stp` out"))
    };
    crowded.map(error).collect()
}

fn vlans(vlan_map: &VlanMap<'_>, link: &LinkSpec) -> VlansPlan {
    VlansPlan { untagged: vlan_map.untagged(link), tagged: vlan_map.tagged(link) }
}

/// The errors about VLANs of links at which there is no switch.
fn useless_vlans(spec: &Spec, vlan_map: &VlanMap<'_>) -> Vec<Diagnostic> {
    let is_at_switch = |link: &LinkSpec| link.ends.iter().any(|end| vlan_map.looks_at_tags(&end.node.value));
    let error = |link: &LinkSpec| {
        let said = link.vlans.as_ref().filter(|_| !is_at_switch(link))?;
        Some(said.error("no switch is at this link: only switches keep VLANs apart"))
    };
    spec.links.iter().filter_map(error).collect()
}

/// The error about more VLANs on links than there is room for.
fn too_many(vlan_map: &VlanMap<'_>) -> Option<Diagnostic> {
    let message = format!("the links carry more than {MOST} VLANs together: list fewer in trunks");
    vlan_map.crowded().map(|link| link.name.error(message))
}

/// The errors about addresses at ends that can have none.
fn addresses(spec: &Spec, vlan_map: &VlanMap<'_>) -> Vec<Diagnostic> {
    let ends = spec.links.iter().flat_map(|link| link.ends.iter().map(move |end| (link, end)));
    let error = |(link, end): (&LinkSpec, &EndSpec)| {
        let kind = vlan_map.device(link, &end.node.value)?.kind;
        let (titled, name) = (kind.titled(), &end.node.value);
        let message = match kind {
            NodeKind::External | NodeKind::Tunnel => {
                format!("{titled} has no address in the lab: give it to the other end of the link")
            }
            _ => format!("{titled} has no address: leave it out, or write `kind: router` for `{name}`"),
        };
        end.addresses.first().map(|address| address.error(message))
    };
    ends.filter_map(error).collect()
}

/// A switch or hub, or a VLAN of a switch.
type Place<'a> = (&'a str, u16);

/// A link between two switches or hubs, as seen from one of them.
#[derive(Clone, Copy)]
struct Way<'a> {
    to: Place<'a>,
    link: &'a LinkSpec,
}

/// What a loop lacks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lack {
    /// A switch that blocks it.
    Tree,
    /// A link that limits what goes round.
    Rate,
}

/// The errors about links that close a loop of switches and hubs, or of VLANs of switches, in which none has a spanning tree.
/// Where loops are allowed, or have one, the errors about loops of links without a rate: until a tree stands frames may go round.
fn loops(spec: &Spec, vlan_map: &VlanMap<'_>) -> Vec<Diagnostic> {
    let mut errors = Vec::new();
    if !spec.loops {
        let without = closing(spec.links.iter(), vlan_map, |device| device.switch.stp.is_none());
        errors = without.into_iter().map(|closed| (closed.link, closed.message(Lack::Tree))).collect();
    }
    let told: BTreeSet<&str> = errors.iter().map(|(link, _): &(&LinkSpec, _)| link.name.value.as_str()).collect();
    let links = spec.links.iter().filter(|link| !has_rate(link));
    let unlimited =
        closing(links, vlan_map, |_| true).into_iter().filter(|closed| !told.contains(closed.link.name.value.as_str()));
    let unlimited: Vec<_> = unlimited.map(|closed| (closed.link, closed.message(Lack::Rate))).collect();
    errors.into_iter().chain(unlimited).map(|(link, message)| link.name.error(message)).collect()
}

/// A link that closes a loop.
struct Closed<'a> {
    link: &'a LinkSpec,
    /// In which VLAN, if switches look at tags.
    vlan: Option<u16>,
    from: &'a str,
    /// The way round.
    way: Vec<Way<'a>>,
}

/// Of these links, those that close a loop with others of them, of such devices as count.
fn closing<'a>(
    links: impl Iterator<Item = &'a LinkSpec>,
    vlan_map: &VlanMap<'a>,
    counts: impl Fn(&NodeSpec) -> bool,
) -> Vec<Closed<'a>> {
    let mut numbers: BTreeMap<Place<'_>, usize> = BTreeMap::new();
    let mut ways: Vec<(&LinkSpec, [Place<'_>; 2])> = Vec::new();
    for link in links {
        let ends = link.ends.iter().map(|end| end.node.value.as_str());
        // Access points of one network do not hear one another.
        let joins = |name: &&str| link.shared.as_ref().is_none_or(|medium| medium.value.joins(name));
        let joined: Vec<&str> = ends.filter(joins).collect();
        let joined: Vec<&str> =
            joined.into_iter().filter(|name| vlan_map.device(link, name).is_some_and(&counts)).collect();
        let along = |class: u16| joined.windows(2).map(move |pair| (pair[0], pair[1], class));
        for (one, other, class) in vlan_map.classes(link).into_iter().flat_map(along) {
            // A link from a node to itself is an error that is reported elsewhere.
            if one == other {
                continue;
            }
            let [here, there] =
                [one, other].map(|device| vlan_map.vlan(device, link, class).map(|vlan| (device, vlan)));
            let (Some(here), Some(there)) = (here, there) else { continue };
            for place in [here, there] {
                let next = numbers.len();
                numbers.entry(place).or_insert(next);
            }
            ways.push((link, [here, there]));
        }
    }
    let mut sets = DisjointSets::of(numbers.len());
    let mut around: BTreeMap<Place<'_>, Vec<Way<'_>>> = BTreeMap::new();
    let mut found: Vec<Closed<'_>> = Vec::new();
    let mut last = None;
    for (link, [here, there]) in ways {
        if sets.join(numbers[&here], numbers[&there]) {
            around.entry(here).or_default().push(Way { to: there, link });
            around.entry(there).or_default().push(Way { to: here, link });
        } else if last.replace(&link.name) != Some(&link.name) {
            // Of several VLANs the first is reported.
            let vlan = vlan_map.looks_at_tags(here.0).then_some(here.1);
            found.push(Closed { link, vlan, from: here.0, way: way(&around, here, there) });
        }
    }
    found
}

/// Whether the rate of this link may be all that limits what goes round in a loop.
pub(super) fn may_limit_loop(spec: &Spec, link: &LinkSpec) -> bool {
    let is_device = |name: &str| spec.nodes.iter().any(|node| node.name.value == name && !node.kind.has_addresses());
    let may_have_loops = spec.loops || spec.nodes.iter().any(|node| node.switch.stp.is_some());
    may_have_loops && has_rate(link) && link.ends.iter().all(|end| is_device(&end.node.value))
}

/// Whether every pipe of it has a rate.
fn has_rate(link: &LinkSpec) -> bool {
    let further = link.treatments.iter().flatten().map(|treatment| &treatment.config);
    link.pipes.iter().chain(further).all(|pipe| pipe.rate.nominal().is_some())
}

impl Closed<'_> {
    fn message(&self, lack: Lack) -> String {
        let back = self.way.iter().map(|step| format!("`{}` by {}", step.to.0, step.link.name.value));
        let cycle: Vec<String> = [format!("`{}`", self.from)].into_iter().chain(back).collect();
        let vlan = self.vlan.map_or_else(String::new, |vlan| format!(" in VLAN {vlan}"));
        let cycle = format!("{vlan}: {}, and back by {}", cycle.join(" to "), self.link.name.value);
        match lack {
            Lack::Rate => format!(
                "no link of this loop has a rate in both directions{cycle}. What is for everybody would go round and multiply \
                 without bound: give one of them a `rate`"
            ),
            Lack::Tree => format!(
                "this link closes a loop{cycle}. What is for everybody would go round for ever: write `stp: true` at one of these \
                 switches, leave a link out, or write `loops: allowed` to see it happen"
            ),
        }
    }
}

/// The shortest way from one to the other, without its beginning.
fn way<'a>(around: &BTreeMap<Place<'a>, Vec<Way<'a>>>, from: Place<'a>, to: Place<'a>) -> Vec<Way<'a>> {
    let mut before: BTreeMap<Place<'_>, (Place<'a>, Way<'a>)> = BTreeMap::new();
    let mut queue = VecDeque::from([from]);
    while let Some(here) = queue.pop_front().filter(|here| *here != to) {
        for step in around.get(&here).into_iter().flatten() {
            if step.to != from && !before.contains_key(&step.to) {
                before.insert(step.to, (here, *step));
                queue.push_back(step.to);
            }
        }
    }
    let mut way = Vec::new();
    let mut here = to;
    while let Some((earlier, step)) = before.get(&here) {
        way.push(*step);
        here = *earlier;
    }
    way.reverse();
    way
}

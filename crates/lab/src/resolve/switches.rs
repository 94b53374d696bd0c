//! Switches and hubs: what switches do, what neither can have, and whether they form loops.

use super::ends::Interface;
use super::names::Index;
use super::place;
use crate::diagnostics::Diagnostic;
use crate::errors::Errors;
use crate::plan::{NodeKind, SwitchPlan, VlansPlan};
use crate::sets::Sets;
use crate::spec::{EndSpec, LinkSpec, NodeSpec, Spec};
use crate::wires::{MOST, Wires};
use std::collections::{BTreeMap, VecDeque};

/// What every node does as a switch, in the order of the lab file; none of other kinds. `interfaces`: none if some of them
/// lead nowhere.
pub(super) fn settle(
    spec: &Spec,
    links: &Index<'_>,
    interfaces: Option<&[Interface]>,
    errors: &mut Errors,
) -> Vec<Option<SwitchPlan>> {
    let wires = Wires::new(&spec.links, &spec.nodes);
    errors.extend(addresses(spec, &wires));
    errors.extend(useless_vlans(spec, &wires));
    errors.extend(too_many(&wires));
    errors.extend(loops(spec, &wires));
    let mut ports: BTreeMap<usize, Vec<(&Interface, &LinkSpec)>> = BTreeMap::new();
    for interface in interfaces.into_iter().flatten() {
        ports.entry(interface.at.node).or_default().push((interface, &spec.links[interface.at.end.link()]));
    }
    let mut settled = Vec::new();
    for (number, node) in spec.nodes.iter().enumerate() {
        let own = ports.remove(&number).unwrap_or_default();
        let is_switch = node.kind == NodeKind::Switch;
        settled.push(is_switch.then(|| switch(node, &own, &wires, links, errors)));
    }
    settled
}

/// A switch with these ports, each with its link; none if some of them lead nowhere.
fn switch(
    node: &NodeSpec,
    ports: &[(&Interface, &LinkSpec)],
    wires: &Wires<'_>,
    links: &Index<'_>,
    errors: &mut Errors,
) -> SwitchPlan {
    let mut fixed = Vec::new();
    for (address, link) in &node.switch.fixed {
        let Some(meant) = place(links, link, errors).filter(|_| !ports.is_empty()) else { continue };
        match ports.iter().find(|(port, _)| port.at.end.link() == meant) {
            Some((port, _)) => fixed.push((*address, port.at.interface)),
            None => errors.push(link.error(format!("link `{}` has no end at `{}`", link.value, node.name.value))),
        }
    }
    let has_vlans = wires.looks_at_tags(&node.name.value) && wires.crowded().is_none();
    SwitchPlan {
        ageing: node.switch.ageing.unwrap_or(SwitchPlan::AGEING),
        table: node.switch.table.unwrap_or(SwitchPlan::TABLE),
        fixed,
        vlans: ports.iter().filter(|_| has_vlans).map(|(_, link)| vlans(wires, link)).collect(),
    }
}

fn vlans(wires: &Wires<'_>, link: &LinkSpec) -> VlansPlan {
    VlansPlan { untagged: wires.untagged(link), tagged: wires.tagged(link) }
}

/// The errors about VLANs of links at which there is no switch.
fn useless_vlans(spec: &Spec, wires: &Wires<'_>) -> Vec<Diagnostic> {
    let is_at_switch = |link: &LinkSpec| link.ends.iter().any(|end| wires.looks_at_tags(&end.node.value));
    let error = |link: &LinkSpec| {
        let said = link.vlans.as_ref().filter(|_| !is_at_switch(link))?;
        Some(said.error("no switch is at this link: only switches keep VLANs apart"))
    };
    spec.links.iter().filter_map(error).collect()
}

/// The error about more VLANs on links than there is room for.
fn too_many(wires: &Wires<'_>) -> Option<Diagnostic> {
    let message = format!("the links carry more than {MOST} VLANs together: list fewer in trunks");
    wires.crowded().map(|link| link.name.error(message))
}

/// The errors about addresses at ends that can have none.
fn addresses(spec: &Spec, wires: &Wires<'_>) -> Vec<Diagnostic> {
    let ends = spec.links.iter().flat_map(|link| &link.ends);
    let error = |end: &EndSpec| {
        let kind = wires.device(&end.node.value)?.kind.title();
        let message =
            format!("a {kind} has no address: leave it out, or write `kind: router` for `{}`", end.node.value);
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

/// The errors about links that close a loop of switches and hubs, or of VLANs of switches; where loops are allowed, a loop of
/// links without a rate.
fn loops(spec: &Spec, wires: &Wires<'_>) -> Vec<Diagnostic> {
    let mut numbers: BTreeMap<Place<'_>, usize> = BTreeMap::new();
    let mut ways: Vec<(&LinkSpec, [Place<'_>; 2])> = Vec::new();
    for link in spec.links.iter().filter(|link| !spec.loops || !has_rate(link)) {
        let joined: Vec<&str> = link.ends.iter().map(|end| end.node.value.as_str()).collect();
        let joined: Vec<&str> = joined.into_iter().filter(|name| wires.device(name).is_some()).collect();
        let along = |class: u16| joined.windows(2).map(move |pair| (pair[0], pair[1], class));
        for (one, other, class) in wires.classes(link).into_iter().flat_map(along) {
            // A link from a node to itself is an error that is told elsewhere.
            if one == other {
                continue;
            }
            let [here, there] = [one, other].map(|device| wires.vlan(device, link, class).map(|vlan| (device, vlan)));
            let (Some(here), Some(there)) = (here, there) else { continue };
            for place in [here, there] {
                let next = numbers.len();
                numbers.entry(place).or_insert(next);
            }
            ways.push((link, [here, there]));
        }
    }
    let mut sets = Sets::of(numbers.len());
    let mut around: BTreeMap<Place<'_>, Vec<Way<'_>>> = BTreeMap::new();
    let mut errors: Vec<Diagnostic> = Vec::new();
    let mut last = None;
    for (link, [here, there]) in ways {
        if sets.join(numbers[&here], numbers[&there]) {
            around.entry(here).or_default().push(Way { to: there, link });
            around.entry(there).or_default().push(Way { to: here, link });
        } else if last.replace(&link.name) != Some(&link.name) {
            // Of several VLANs the first is told.
            let vlan = wires.looks_at_tags(here.0).then_some(here.1);
            errors.push(link.name.error(message(spec.loops, vlan, link, here.0, &way(&around, here, there))));
        }
    }
    errors
}

/// Whether the rate of this link may be all that limits what goes round in a loop.
pub(super) fn may_limit_loop(spec: &Spec, link: &LinkSpec) -> bool {
    let is_device = |name: &str| spec.nodes.iter().any(|node| node.name.value == name && !node.kind.has_addresses());
    spec.loops && has_rate(link) && link.ends.iter().all(|end| is_device(&end.node.value))
}

/// Whether every pipe of it has a rate.
fn has_rate(link: &LinkSpec) -> bool {
    let further = link.treatments.iter().flatten().map(|treatment| &treatment.config);
    link.pipes.iter().chain(further).all(|pipe| pipe.rate.nominal().is_some())
}

fn message(are_allowed: bool, vlan: Option<u16>, link: &LinkSpec, from: &str, way: &[Way<'_>]) -> String {
    let back = way.iter().map(|step| format!("`{}` by {}", step.to.0, step.link.name.value));
    let cycle: Vec<String> = [format!("`{from}`")].into_iter().chain(back).collect();
    let vlan = vlan.map_or_else(String::new, |vlan| format!(" in VLAN {vlan}"));
    let cycle = format!("{vlan}: {}, and back by {}", cycle.join(" to "), link.name.value);
    if are_allowed {
        format!(
            "no link of this loop has a rate in both directions{cycle}. What is for everybody would go round and multiply \
             without bound: give one of them a `rate`"
        )
    } else {
        format!(
            "this link closes a loop{cycle}. What is for everybody would go round for ever: leave a link out, or write \
             `loops: allowed` to see it happen"
        )
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

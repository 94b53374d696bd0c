//! Warnings about what is probably not meant: VLANs that a spanning tree leaves in parts, since there is one tree for all of them, and it may
//! block a port that one of them needs; and losses by the numbers of packets, where kernels send packets of themselves, too.

use crate::diagnostics::{Diagnostic, Spanned};
use crate::spec::{LinkSpec, Spec};
use crate::{End, EndPlan, NodePlan, Plan};
use netloom_link::{LossConfig, PipeConfig};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A device without addresses, and the VLAN that a frame is in there; at one that looks at no tag, what the tag says.
type Spot = (usize, u16);

/// What frames from somewhere reach.
struct Reached {
    spots: BTreeSet<Spot>,
    /// Ends at nodes with a stack.
    stations: BTreeSet<End>,
}

/// The names of switches with a spanning tree, by their numbers: what warnings are about.
pub(crate) fn switches_in_trees(spec: &Spec) -> BTreeMap<usize, Spanned<String>> {
    let trees = spec.nodes.iter().enumerate().filter(|(_, node)| node.switch.stp.is_some());
    trees.map(|(number, node)| (number, node.name.clone())).collect()
}

/// A warning for each VLAN of which some nodes reach others only by ports that are blocked once the trees of the plan stand.
pub(crate) fn of_trees(plan: &Plan, names: &BTreeMap<usize, Spanned<String>>) -> Vec<Diagnostic> {
    let in_tree = names.keys().filter_map(|node| plan.nodes[*node].switch.as_ref());
    if in_tree.into_iter().all(|switch| switch.vlans.is_empty()) {
        return Vec::new();
    }
    let mut seen = BTreeSet::new();
    let mut warnings = Vec::new();
    for link in &plan.links {
        for end in link.ends.iter().filter(|end| plan.nodes[end.node].kind.has_addresses()) {
            let Some(from) = link.beyond(end.end).find_map(|exit| spot(plan, exit, 0)) else { continue };
            if !seen.insert(end.end) {
                continue;
            }
            let (whole, part) = (reached(plan, from, |_| true), reached(plan, from, |exit| forwards(plan, exit)));
            seen.extend(&whole.stations);
            warnings.extend(warning(plan, names, end, &whole, &part));
        }
    }
    warnings
}

/// If there is somebody in the whole whom `part`, that of `from`, does not reach.
fn warning(
    plan: &Plan,
    names: &BTreeMap<usize, Spanned<String>>,
    from: &EndPlan,
    whole: &Reached,
    part: &Reached,
) -> Option<Diagnostic> {
    let far = whole.stations.iter().find(|end| !part.stations.contains(end) && **end != from.end)?;
    let far = plan.links[far.link()].ends.iter().find(|end| end.end == *far)?;
    // The way to the others leads over a port that is blocked, on this side of its link or on the other.
    let (blocked, vlan) = part.spots.iter().find_map(|here| {
        ports(plan, *here).into_iter().find_map(|(port, tag)| {
            let link = &plan.links[port.end.link()];
            let other = link.beyond(port.end).find(|exit| {
                spot(plan, exit, tag).is_some_and(|there| whole.spots.contains(&there) && !part.spots.contains(&there))
            })?;
            Some((if forwards(plan, &port) { *other } else { port }, here.1))
        })
    })?;
    let name = |node: usize| &plan.nodes[node].name;
    let message = format!(
        "the spanning tree blocks `{}` here, and so leaves VLAN {vlan} in parts: `{}` does not reach `{}`. There is one tree \
         for all VLANs: let its links carry this one, too, or change by `priority` which links it takes",
        plan.links[blocked.end.link()].name,
        name(from.node),
        name(far.node)
    );
    Some(names.get(&blocked.node)?.error(message))
}

/// What frames reach that are at this spot, over ports that let them through.
fn reached(plan: &Plan, from: Spot, forwards: impl Fn(&EndPlan) -> bool) -> Reached {
    let mut found = Reached { spots: BTreeSet::from([from]), stations: BTreeSet::new() };
    let mut queue = VecDeque::from([from]);
    while let Some(here) = queue.pop_front() {
        for (port, tag) in ports(plan, here).into_iter().filter(|(port, _)| forwards(port)) {
            for exit in plan.links[port.end.link()].beyond(port.end) {
                if plan.nodes[exit.node].kind.has_addresses() {
                    // Nodes speak without tags.
                    found.stations.extend((tag == 0).then_some(exit.end));
                } else if let Some(there) = spot(plan, exit, tag).filter(|_| forwards(exit))
                    && found.spots.insert(there)
                {
                    queue.push_back(there);
                }
            }
        }
    }
    found
}

/// The ports at which frames leave a spot, and with which tag; zero: without.
fn ports(plan: &Plan, (node, vlan): Spot) -> Vec<(EndPlan, u16)> {
    let own = &plan.nodes[node];
    let tag = |place: usize| match vlans(own).get(place) {
        None => Some(vlan),
        Some(port) if port.untagged == Some(vlan) => Some(0),
        Some(port) => port.tagged.contains(&vlan).then_some(vlan),
    };
    let port = |place: usize| EndPlan { end: own.interfaces[place].end, node, interface: place };
    (0..own.interfaces.len()).filter_map(|place| Some((port(place), tag(place)?))).collect()
}

/// Where a frame is that comes to this end with this tag; none if nobody passes it on.
fn spot(plan: &Plan, at: &EndPlan, tag: u16) -> Option<Spot> {
    let node = &plan.nodes[at.node];
    if node.kind.has_addresses() {
        return None;
    }
    let vlan = match vlans(node).get(at.interface) {
        None => tag,
        Some(port) if tag == 0 => port.untagged?,
        Some(port) => port.tagged.contains(&tag).then_some(tag)?,
    };
    Some((at.node, vlan))
}

fn vlans(node: &NodePlan) -> &[crate::VlansPlan] {
    node.switch.as_ref().map_or(&[], |switch| &switch.vlans)
}

fn forwards(plan: &Plan, at: &EndPlan) -> bool {
    let tree = plan.nodes[at.node].switch.as_ref().and_then(|switch| switch.tree.as_ref());
    tree.is_none_or(|tree| tree.ports[at.interface].forwards())
}

/// The names of links of which packets with certain numbers are lost, whatever they are, by their numbers.
pub(crate) fn links_with_numbered_loss(spec: &Spec) -> BTreeMap<usize, Spanned<String>> {
    let is_numbered = |pipe: &PipeConfig| matches!(pipe.loss, LossConfig::Packets(_));
    let links =
        spec.links.iter().enumerate().filter(|(_, link): &(usize, &LinkSpec)| link.pipes.iter().any(is_numbered));
    links.map(|(number, link)| (number, link.name.clone())).collect()
}

/// A warning for each of them on which a node's kernel speaks IPv6.
pub(crate) fn of_numbered_loss(plan: &Plan, names: &BTreeMap<usize, Spanned<String>>) -> Vec<Diagnostic> {
    let speaks = |link: usize| {
        plan.links[link].ends.iter().any(|end| {
            let node = &plan.nodes[end.node];
            node.kind.runs_programs() && node.interfaces[end.interface].addresses.iter().any(|net| net.addr().is_ipv6())
        })
    };
    let message = "packets with certain numbers are lost here, and those count that kernels send of themselves (with IPv6 reports of \
                   groups, and neighbour discovery), so the first ones are hardly a program's: to count a program's alone, put the loss \
                   into `pipes`, for example {web: {match: {protocol: tcp}, loss: ...}}";
    names.iter().filter(|(link, _)| speaks(**link)).map(|(_, name)| name.error(message)).collect()
}

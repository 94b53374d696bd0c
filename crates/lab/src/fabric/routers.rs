//! Behind which ports of switches transit routers are. These pass multicast on along described trees, answer neighbour solicitations, and
//! say nothing of groups; so a switch that snoops has to know of them.

use crate::{NodeKind, NodePlan, Plan};
use std::collections::{BTreeMap, BTreeSet};

/// A port: a node, and its place among the node's interfaces.
type Port = (usize, usize);

/// Notes in a plan which ports of switches that snoop lead to transit routers. In a LAN with loops, all ports between devices do, since a
/// spanning tree may choose any.
pub(crate) fn settle(plan: &mut Plan) {
    let snoops = |node: &NodePlan| node.switch.as_ref().is_some_and(|switch| switch.snooping.is_some());
    if !plan.nodes.iter().any(snoops) {
        return;
    }
    let mut found: BTreeSet<Port> = BTreeSet::new();
    let mut seen: BTreeSet<usize> = BTreeSet::new();
    for device in (0..plan.nodes.len()).filter(|node| is_device(plan, *node)) {
        if !seen.contains(&device) {
            let lan = Lan::around(plan, device);
            seen.extend(lan.ways.keys());
            found.extend(lan.router_ports());
        }
    }
    for (node, place) in found {
        let snooping = plan.nodes[node].switch.as_mut().and_then(|switch| switch.snooping.as_mut());
        let Some(routers) = snooping.map(|snooping| &mut snooping.routers) else { continue };
        if !routers.contains(&place) {
            routers.push(place);
            routers.sort_unstable();
        }
    }
}

fn is_device(plan: &Plan, node: usize) -> bool {
    !plan.nodes[node].kind.has_addresses()
}

/// Devices without addresses that are joined to one another.
struct Lan {
    /// By device: its ports that lead to other devices, each with the port there.
    ways: BTreeMap<usize, Vec<(usize, Port)>>,
    /// The ports at which transit routers are.
    direct: Vec<Port>,
}

impl Lan {
    fn around(plan: &Plan, first: usize) -> Self {
        let mut lan = Self { ways: BTreeMap::new(), direct: Vec::new() };
        let mut queue = vec![first];
        while let Some(device) = queue.pop() {
            if lan.ways.contains_key(&device) {
                continue;
            }
            let mut ways = Vec::new();
            for (place, own) in plan.nodes[device].interfaces.iter().enumerate() {
                for exit in plan.links[own.end.link()].beyond(own.end) {
                    if is_device(plan, exit.node) {
                        ways.push((place, (exit.node, exit.interface)));
                        queue.push(exit.node);
                    } else if plan.nodes[exit.node].kind == NodeKind::Transit {
                        lan.direct.push((device, place));
                    }
                }
            }
            lan.ways.insert(device, ways);
        }
        lan
    }

    /// The ports that lead to transit routers.
    fn router_ports(&self) -> BTreeSet<Port> {
        let mut found: BTreeSet<Port> = self.direct.iter().copied().collect();
        if found.is_empty() {
            return found;
        }
        let ends: usize = self.ways.values().map(Vec::len).sum();
        if ends > 2 * (self.ways.len() - 1) {
            found.extend(self.ways.iter().flat_map(|(device, ways)| ways.iter().map(|(place, _)| (*device, *place))));
            return found;
        }
        // In a tree, who is reached over a port leads back to where it was left.
        for (device, _) in &self.direct {
            let mut queue = vec![(*device, None)];
            while let Some((here, from)) = queue.pop() {
                for (_, (there, entry)) in self.ways[&here].iter().filter(|(_, (there, _))| Some(*there) != from) {
                    found.insert((*there, *entry));
                    queue.push((*there, Some(here)));
                }
            }
        }
        found
    }
}

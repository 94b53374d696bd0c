//! The way of a flow by the plan's own routes.

use crate::SimError;
use crate::flow::Hop;
use ipnet::IpNet;
use netloom_lab::fabric::port_id;
use netloom_lab::{InterfacePlan, NodePlan, Plan};
use std::net::{IpAddr, Ipv4Addr};

/// The IPv4 address that the name of node `of` leads to at node `from`.
pub(crate) fn address(plan: &Plan, from: usize, of: usize) -> Result<Ipv4Addr, SimError> {
    let nets = plan.named(from, of).map_or(&[][..], |interface| &interface.addresses);
    let v4 = nets.iter().find_map(|net| if let IpNet::V4(v4) = net { Some(v4.addr()) } else { None });
    v4.ok_or_else(|| {
        let name = &plan.nodes[of].name;
        SimError::Unreachable(format!("node {name} has no IPv4 address: nothing can be sent from or to it"))
    })
}

/// The pipes that a packet crosses from one node to the other.
pub(crate) fn path(plan: &Plan, from: usize, to: usize) -> Result<Vec<Hop>, SimError> {
    let target = address(plan, from, to)?;
    let mut hops = Vec::new();
    let mut here = from;
    while here != to {
        let node = &plan.nodes[here];
        let forwards = here == from || node.kind.forwards();
        let out = towards(node, IpAddr::V4(target)).filter(|_| forwards && hops.len() < plan.nodes.len());
        let Some(out) = out else {
            let (from, to) = (&plan.nodes[from].name, &plan.nodes[to].name);
            let why = format!("there is no route from {from} to {to}: {} has no route to {target}", node.name);
            return Err(SimError::Unreachable(why));
        };
        let beyond = plan.links[out.end.link()].beyond(out.end);
        hops.push(Hop { entry: port_id(out.end), exit: port_id(beyond.end) });
        here = beyond.node;
    }
    Ok(hops)
}

/// The interface that packets for `target` leave by: the one in its subnet, or that of the route with the longest
/// prefix.
fn towards(node: &NodePlan, target: IpAddr) -> Option<&InterfacePlan> {
    let own = node.interfaces.iter().find(|interface| interface.addresses.iter().any(|net| net.contains(&target)));
    let routed = || {
        let fitting = node.routes.iter().filter(|route| route.destination.contains(&target));
        // Of routes with one prefix the first counts; `max_by_key` would take the last.
        let best = fitting.rev().max_by_key(|route| route.destination.prefix_len())?;
        node.interfaces.get(best.interface)
    };
    own.or_else(routed)
}

//! The way of a flow by the plan's own routes.

use crate::SimError;
use crate::flow::Hop;
use ipnet::IpNet;
use netloom_lab::fabric::port_id;
use netloom_lab::{End, InterfacePlan, NodePlan, Plan};
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
        let out = towards(node, IpAddr::V4(target)).filter(|_| forwards && hops.len() <= plan.links.len());
        let Some((out, next)) = out else {
            let (from, to) = (&plan.nodes[from].name, &plan.nodes[to].name);
            let why = format!("there is no route from {from} to {to}: {} has no route to {target}", node.name);
            return Err(SimError::Unreachable(why));
        };
        let way = plan.way_to(out.end, next).ok_or_else(|| {
            let link = &plan.links[out.end.link()].name;
            SimError::Unreachable(format!("link {link} does not lead from {} to {next}", node.name))
        })?;
        hops.extend(way.iter().map(|[entry, exit]| Hop { entry: port_id(*entry), exit: port_id(*exit) }));
        here = way.last().map_or(here, |[_, exit]| node_at(plan, *exit));
    }
    Ok(hops)
}

fn node_at(plan: &Plan, end: End) -> usize {
    plan.links[end.link()].ends[end.place()].node
}

/// The interface that packets for `target` leave by, and the address to which they go next: the interface in its subnet, and
/// itself; or those of the route with the longest prefix.
fn towards(node: &NodePlan, target: IpAddr) -> Option<(&InterfacePlan, IpAddr)> {
    let own = node.interfaces.iter().find(|interface| interface.addresses.iter().any(|net| net.contains(&target)));
    let routed = || {
        let fitting = node.routes.iter().filter(|route| route.destination.contains(&target));
        // Of routes with one prefix the first counts; `max_by_key` would take the last.
        let best = fitting.rev().max_by_key(|route| route.destination.prefix_len())?;
        Some((node.interfaces.get(best.interface)?, best.via))
    };
    own.map(|interface| (interface, target)).or_else(routed)
}

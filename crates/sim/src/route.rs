//! The way of a flow by the plan's own routes.

use crate::SimError;
use crate::flow::Hop;
use ipnet::IpNet;
use netloom_lab::fabric::port_id;
use netloom_lab::{End, InterfacePlan, NodePlan, Plan};
use netloom_link::FlowHash;
use netloom_packet::Flow;
use std::net::{IpAddr, Ipv4Addr};

/// As IANA numbers it.
const UDP: u8 = 17;

/// The IPv4 address that the name of node `of` leads to at node `from`.
pub(crate) fn address(plan: &Plan, from: usize, of: usize) -> Result<Ipv4Addr, SimError> {
    let nets = plan.named(from, of).map_or(&[][..], |interface| &interface.addresses);
    let v4 = nets.iter().find_map(|net| if let IpNet::V4(v4) = net { Some(v4.addr()) } else { None });
    v4.ok_or_else(|| {
        let name = &plan.nodes[of].name;
        SimError::Unreachable(format!("node {name} has no IPv4 address: nothing can be sent from or to it"))
    })
}

/// The pipes that a packet of a flow with these ports crosses from one node to the other.
pub(crate) fn path(
    (plan, reaches): (&Plan, &dyn Fn(End, End) -> bool),
    [from, to]: [usize; 2],
    ports: [u16; 2],
) -> Result<Vec<Hop>, SimError> {
    let target = address(plan, from, to)?;
    let [source_port, destination_port] = ports;
    let source = IpAddr::V4(address(plan, to, from)?);
    let flow = Flow { source, destination: IpAddr::V4(target), protocol: UDP, source_port, destination_port, dscp: 0 };
    let mut hops = Vec::new();
    let mut here = from;
    while here != to {
        let node = &plan.nodes[here];
        let forwards = here == from || node.kind.forwards();
        let out = towards(plan, node, &flow).filter(|_| forwards && hops.len() <= plan.links.len());
        let Some((out, next)) = out else {
            let (from, to) = (&plan.nodes[from].name, &plan.nodes[to].name);
            let why = format!("there is no route from {from} to {to}: {} has no route to {target}", node.name);
            return Err(SimError::Unreachable(why));
        };
        let way = plan.way_where(out.end, next, reaches).ok_or_else(|| {
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
/// itself; or those of the route with the longest prefix, of several with the same one those of its flow.
fn towards<'a>(plan: &Plan, node: &'a NodePlan, flow: &Flow) -> Option<(&'a InterfacePlan, IpAddr)> {
    let target = flow.destination;
    let own = node.interfaces.iter().find(|interface| interface.addresses.iter().any(|net| net.contains(&target)));
    let routed = || {
        let fitting = node.routes.iter().filter(|route| route.destination.contains(&target));
        let longest = fitting.clone().map(|route| route.destination.prefix_len()).max()?;
        let ways: Vec<_> = fitting.filter(|route| route.destination.prefix_len() == longest).collect();
        let place = FlowHash::new(plan.ecmp_seed(node)).bucket(flow, u32::try_from(ways.len()).ok()?);
        let best = ways.get(place as usize)?;
        Some((node.interfaces.get(best.interface)?, best.via))
    };
    own.map(|interface| (interface, target)).or_else(routed)
}

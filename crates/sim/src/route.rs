//! From the plan: the fabric's pipes, and the way of a flow by the plan's own routes.

use crate::SimError;
use crate::flow::Hop;
use ipnet::IpNet;
use netloom_fabric::{PipeSpec, PortId};
use netloom_lab::{InterfacePlan, NodeKind, NodePlan, PipePlan, Plan};
use netloom_units::Duration;
use std::net::{IpAddr, Ipv4Addr};

/// The pipes of `plan` in the order of [`Plan::pipes`]. Their names are those from which a run draws chance, too.
pub fn pipe_specs(plan: &Plan) -> Vec<PipeSpec> {
    let spec = |pipe: PipePlan<'_>| PipeSpec {
        name: pipe.to_string(),
        config: pipe.config.clone(),
        coalesce: coalesce(plan, &pipe),
        from: port(pipe.link, pipe.direction.index()),
        filter: pipe.treatment.map(|treatment| treatment.filter.clone()),
        to: port(pipe.link, 1 - pipe.direction.index()),
    };
    plan.pipes().map(spec).collect()
}

/// A transit router has no network card whose interrupts are moderated: it takes every segment when it is due.
fn coalesce(plan: &Plan, pipe: &PipePlan<'_>) -> Duration {
    let link = &plan.links[pipe.link];
    let end = &link.ends[1 - pipe.direction.index()];
    if plan.nodes[end.node].kind == NodeKind::Transit { Duration::ZERO } else { link.coalesce }
}

pub(crate) fn port(link: usize, end: usize) -> PortId {
    PortId(u32::try_from(link * 2 + end).expect("a lab has fewer than 2^31 links"))
}

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
            let why = format!("there is no way from {from} to {to}: {} has no route to {target}", node.name);
            return Err(SimError::Unreachable(why));
        };
        hops.push(Hop { entry: port(out.link, out.end), exit: port(out.link, 1 - out.end) });
        here = plan.links[out.link].ends[1 - out.end].node;
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

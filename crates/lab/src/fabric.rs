//! From the plan to the fabric: its pipes and its transit devices. How pipes and ports are numbered stands at [`End`].

mod devices;
pub(crate) mod routers;
pub(crate) mod trees;
pub(crate) mod warnings;

pub use devices::device_specs;

use crate::{End, EndPlan, LinkPlan, PipePlan, Plan};
use netloom_fabric::{Fabric, PipeId, PipeSpec, PortId};
use netloom_link::Subset;
use netloom_units::Duration;
use std::collections::BTreeMap;

/// All pipes and transit devices of a plan.
pub fn fabric_of(plan: &Plan) -> Fabric {
    let pipes = pipe_specs(plan);
    let mut fabric = Fabric::new(plan.seed, &pipes).with_devices(&pipes, &device_specs(plan));
    watched(plan).for_each(|(pipe, subset)| fabric.watch(pipe, subset));
    fabric
}

/// Returns the subsets of packets that are counted for themselves, each with its pipe.
pub fn watched(plan: &Plan) -> impl Iterator<Item = (PipeId, Subset)> {
    let all = plan.watched().into_iter().enumerate();
    all.flat_map(|(pipe, own)| own.into_iter().map(move |subset| (pipe_id(pipe), subset)))
}

/// The pipes of `plan` in the order of [`Plan::pipes`]. Their names are those from which a run draws chance, too.
pub fn pipe_specs(plan: &Plan) -> Vec<PipeSpec> {
    let spec = |pipe: PipePlan<'_>| PipeSpec {
        name: pipe.to_string(),
        config: pipe.config.clone(),
        coalesce: coalesce(plan, &pipe),
        from: port_id(plan.links[pipe.link].entry(pipe.direction).end),
        filter: pipe.treatment.map(|treatment| treatment.filter.clone()),
        to: port_id(plan.links[pipe.link].exit(pipe.direction).end),
        medium: medium(&plan.links[pipe.link]),
    };
    plan.pipes().map(spec).collect()
}

fn medium(link: &LinkPlan) -> Vec<PortId> {
    link.ends.iter().filter(|_| link.is_shared).map(|end| port_id(end.end)).collect()
}

/// A transit device has no network card whose interrupts are moderated: it takes every segment when it is due.
fn coalesce(plan: &Plan, pipe: &PipePlan<'_>) -> Duration {
    let link = &plan.links[pipe.link];
    // What a station receives at once came under one header: nothing more is put together.
    if pipe.config.air.is_some() {
        return Duration::ZERO;
    }
    let is_moderated = |end: &EndPlan| plan.nodes[end.node].kind.runs_programs();
    let are_all =
        if link.is_shared { link.ends.iter().all(is_moderated) } else { is_moderated(link.exit(pipe.direction)) };
    if are_all { link.coalesce } else { Duration::ZERO }
}

/// The pipe at this place of [`Plan::pipes`].
pub fn pipe_id(pipe: usize) -> PipeId {
    PipeId(u32::try_from(pipe).expect("a lab has fewer than 2^32 pipes"))
}

/// Returns for each end, by its number, the pipe that begins there: the direction's own, or that of a shared medium.
pub fn pipes_from(plan: &Plan) -> Vec<PipeId> {
    let mut next = 0;
    let mut from = Vec::new();
    for link in &plan.links {
        let own = next..next + link.directions().len();
        from.extend((0..link.ends.len()).map(|place| pipe_id(own.start + place.min(own.len() - 1))));
        next = own.end;
    }
    from
}

/// The port at an end of a link.
pub fn port_id(end: End) -> PortId {
    PortId(end.number())
}

/// The places of the nodes of tunnels that have a link, by the sockets that they share: those of one socket lead to one machine by one port.
pub fn tunnel_sockets(plan: &Plan) -> Vec<Vec<usize>> {
    let mut sockets: Vec<Vec<usize>> = Vec::new();
    let mut places: BTreeMap<(&str, u16), usize> = BTreeMap::new();
    for (place, node) in plan.nodes.iter().enumerate().filter(|(_, node)| !node.interfaces.is_empty()) {
        let Some(tunnel) = &node.tunnel else { continue };
        let socket = *places.entry((tunnel.remote.as_str(), tunnel.port)).or_insert(sockets.len());
        if socket == sockets.len() {
            sockets.push(Vec::new());
        }
        sockets[socket].push(place);
    }
    sockets
}

/// The ports of nodes with one link, in their order.
pub fn ports_of(plan: &Plan, nodes: &[usize]) -> Vec<PortId> {
    nodes.iter().map(|node| port_id(plan.nodes[*node].interfaces[0].end)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_end_knows_the_pipe_that_begins_there() {
        let voip = "{pipes: {voip: {match: {protocol: udp}}}}";
        let text = format!(
            "nodes: [a, b]\nlinks: {{l: {{ends: [a, b], forward: {voip}}}, s: {{ends: [a, b], medium: shared}}, m: {{ends: [b, a]}}}}\n"
        );
        let plan = crate::parse(&text, "test.yaml").unwrap_or_else(|wrong| panic!("{wrong}")).plan;
        let specs = pipe_specs(&plan);
        let from = pipes_from(&plan);
        for end in plan.ends().map(|end| end.end) {
            assert!(specs[from[end.index()].0 as usize].entrances().contains(&port_id(end)));
        }
        assert_eq!((specs[5].from, specs[5].to, specs.len()), (PortId(0), PortId(1), 6));
        assert_eq!(specs[2].medium, [PortId(2), PortId(3)]);
    }
}

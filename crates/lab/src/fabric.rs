//! From the plan to the fabric: its pipes and its transit devices. How pipes and ports are numbered stands at [`End`].

mod devices;

pub use devices::device_specs;

use crate::{End, PipePlan, Plan};
use netloom_fabric::{Fabric, PipeId, PipeSpec, PortId};
use netloom_units::Duration;

/// All pipes and transit devices of a plan.
pub fn fabric_of(plan: &Plan) -> Fabric {
    let pipes = pipe_specs(plan);
    Fabric::new(plan.seed, &pipes).with_devices(&pipes, &device_specs(plan))
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
    };
    plan.pipes().map(spec).collect()
}

/// A transit device has no network card whose interrupts are moderated: it takes every segment when it is due.
fn coalesce(plan: &Plan, pipe: &PipePlan<'_>) -> Duration {
    let link = &plan.links[pipe.link];
    let exit = link.exit(pipe.direction);
    if plan.nodes[exit.node].kind.runs_programs() { link.coalesce } else { Duration::ZERO }
}

/// The pipe at this place of [`Plan::pipes`].
pub fn pipe_id(pipe: usize) -> PipeId {
    PipeId(u32::try_from(pipe).expect("a lab has fewer than 2^32 pipes"))
}

/// The pipe that an end has of its own, which begins there.
pub fn pipe_from(end: End) -> PipeId {
    PipeId(end.number())
}

/// The port at an end of a link.
pub fn port_id(end: End) -> PortId {
    PortId(end.number())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pipe_with_the_number_of_an_end_begins_there() {
        let voip = "{pipes: {voip: {match: {protocol: udp}}}}";
        let text = format!("nodes: [a, b]\nlinks: {{l: {{ends: [a, b], forward: {voip}}}, m: {{ends: [b, a]}}}}\n");
        let plan = crate::parse(&text, "test.yaml").unwrap_or_else(|wrong| panic!("{wrong}")).plan;
        let specs = pipe_specs(&plan);
        for end in plan.ends().map(|end| end.end) {
            assert_eq!(specs[pipe_from(end).0 as usize].from, port_id(end));
        }
        assert_eq!((specs[4].from, specs[4].to, specs.len()), (PortId(0), PortId(1), 5));
    }
}

//! From the plan to the fabric: its pipes and its transit routers, and how links and directions number pipes and ports.

mod routers;

pub use routers::router_specs;

use crate::{NodeKind, PipePlan, Plan};
use netloom_fabric::{Fabric, PipeId, PipeSpec, PortId};
use netloom_units::Duration;

/// All pipes and transit routers of a plan.
pub fn fabric_of(plan: &Plan) -> Fabric {
    let pipes = pipe_specs(plan);
    Fabric::new(plan.seed, &pipes).with_devices(&pipes, &router_specs(plan))
}

/// The pipes of `plan` in the order of [`Plan::pipes`]. Their names are those from which a run draws chance, too.
pub fn pipe_specs(plan: &Plan) -> Vec<PipeSpec> {
    let spec = |pipe: PipePlan<'_>| PipeSpec {
        name: pipe.to_string(),
        config: pipe.config.clone(),
        coalesce: coalesce(plan, &pipe),
        from: port_id(pipe.link, pipe.direction.index()),
        filter: pipe.treatment.map(|treatment| treatment.filter.clone()),
        to: port_id(pipe.link, 1 - pipe.direction.index()),
    };
    plan.pipes().map(spec).collect()
}

/// A transit router has no network card whose interrupts are moderated: it takes every segment when it is due.
fn coalesce(plan: &Plan, pipe: &PipePlan<'_>) -> Duration {
    let link = &plan.links[pipe.link];
    let end = &link.ends[1 - pipe.direction.index()];
    if plan.nodes[end.node].kind == NodeKind::Transit { Duration::ZERO } else { link.coalesce }
}

/// The pipe at this place of [`Plan::pipes`].
pub fn pipe_id(pipe: usize) -> PipeId {
    PipeId(number(pipe))
}

/// The port at an end of a link.
pub fn port_id(link: usize, end: usize) -> PortId {
    PortId(number(link * 2 + end))
}

fn number(value: usize) -> u32 {
    u32::try_from(value).expect("a lab has fewer than 2^31 links")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_numbered_by_ends() {
        assert_eq!(port_id(3, 1), PortId(7));
    }
}

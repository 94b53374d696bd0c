//! From the plan to the fabric: its pipes and its transit routers.

use netloom_fabric::Fabric;
use netloom_lab::Plan;

/// All pipes and transit routers of a plan.
pub(crate) fn fabric_of(plan: &Plan) -> Fabric {
    let pipes = netloom_sim::pipe_specs(plan);
    Fabric::new(plan.seed, &pipes).with_routers(&pipes, &netloom_sim::router_specs(plan))
}

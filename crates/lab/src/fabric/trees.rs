//! Which ports of spanning trees forward once these stand: found out by letting the switches speak.

use super::{device_specs, pipe_specs};
use crate::{NodePlan, Plan, SwitchPlan, TreePlan};
use netloom_fabric::{Fabric, PipeSpec, PortState, PortTree};
use netloom_link::PipeConfig;
use netloom_units::{Duration, Instant};

const SECOND: Duration = Duration::from_secs(1);
/// A tree stands in which nothing has changed for so long: longer than three of the slowest hellos.
const CALM: u64 = 31;

/// Notes in a plan without errors which role each port of a spanning tree will have. Nothing is lost on the way, and nobody else
/// speaks.
pub(crate) fn settle(plan: &mut Plan) {
    let spans = trees(plan).map(|tree| tree.settings.max_age + tree.settings.forward_delay).max();
    let Some(span) = spans else { return };
    let plain = |pipe: PipeSpec| {
        let config = PipeConfig { rate: pipe.config.rate, delay: pipe.config.delay, ..PipeConfig::default() };
        PipeSpec { config, ..pipe }
    };
    let pipes: Vec<PipeSpec> = pipe_specs(plan).into_iter().map(plain).collect();
    let mut fabric = Fabric::new(plan.seed, &pipes).with_devices(&pipes, &device_specs(plan));
    let (mut calm, mut before) = (0, Vec::new());
    for second in 1..=span.as_nanos() / SECOND.as_nanos() * 2 + CALM {
        fabric.advance(Instant::ZERO + SECOND * second, drop);
        let now: Vec<Vec<PortTree>> =
            fabric.switch_counters().map(|ports| ports.iter().filter_map(|port| port.tree).collect()).collect();
        let is_going_on = now.iter().flatten().any(|port| port.state == PortState::Learning);
        calm = if now == before && !is_going_on { calm + 1 } else { 0 };
        before = now;
        if calm >= CALM {
            break;
        }
    }
    let switches = plan.nodes.iter_mut().filter_map(|node| node.switch.as_mut());
    for (switch, found) in switches.zip(before) {
        let ports = switch.tree.iter_mut().flat_map(|tree| &mut tree.ports);
        ports.zip(found).for_each(|(port, found)| port.role = found.role);
    }
}

fn trees(plan: &Plan) -> impl Iterator<Item = &TreePlan> {
    let switches = plan.nodes.iter().filter_map(|node: &NodePlan| node.switch.as_ref());
    switches.filter_map(|switch: &SwitchPlan| switch.tree.as_ref())
}

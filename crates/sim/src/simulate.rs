//! From a plan to what comes out.

use crate::flow::FlowSpec;
use crate::network::Network;
use crate::outcome::{Outcome, Sample, SimError};
use crate::roaming::Roaming;
use crate::source::flow;
use crate::timeline;
use netloom_fabric::TraceObserver;
use netloom_lab::Plan;
use netloom_lab::fabric::pipe_specs;
use netloom_units::Duration;

/// Plays `plan` for `duration`: its sources send, and what its timeline says of links happens. `watch` sees the pipes
/// every `interval`, at the beginning and at the end. `trace_observer` takes the notes of what happens in the pipes meanwhile.
///
/// # Errors
/// If there is nothing to simulate, or a source cannot reach its sink; see [`SimError`].
pub fn simulate(
    plan: &Plan,
    duration: Duration,
    interval: Duration,
    trace_observer: Option<Box<dyn TraceObserver>>,
    watch: &mut dyn FnMut(&Sample<'_>),
) -> Result<Outcome, SimError> {
    let roaming = Roaming::of(plan);
    let flows = flows(plan, roaming.as_ref())?;
    let network = Network::new(plan.seed, &pipe_specs(plan), flows)?.with_roaming(roaming);
    let (events, skipped) = timeline::events(plan);
    let network = if plan.sampling.is_some() { network.with_delays() } else { network };
    let outcome = network.with_events(events).with_trace_observer(trace_observer).run(duration, interval, watch)?;
    Ok(Outcome { skipped, ..outcome })
}

/// Whether `plan` can be simulated, as far as that shows before time passes.
///
/// # Errors
/// As of [`simulate`].
pub fn check(plan: &Plan) -> Result<(), SimError> {
    if flows(plan, Roaming::of(plan).as_ref())?.is_empty() { Err(SimError::NoTraffic) } else { Ok(()) }
}

fn flows(plan: &Plan, roaming: Option<&Roaming>) -> Result<Vec<FlowSpec>, SimError> {
    let one = |number| roaming.map_or_else(|| flow(plan, number, &|_, _| true), |roaming| roaming.flow(number));
    (0..plan.traffic.len()).map(one).collect()
}

//! From a plan to what comes out.

use crate::flow::{FlowSpec, Hop};
use crate::network::Network;
use crate::outcome::{Outcome, Sample, SimError};
use crate::route::{address, path};
use crate::{tag, timeline};
use netloom_fabric::TraceObserver;
use netloom_lab::fabric::pipe_specs;
use netloom_lab::{PipePlan, Plan, Sends, TrafficPlan};
use netloom_link::{PacketSize, Traffic};
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
    let network = Network::new(plan.seed, &pipe_specs(plan), flows(plan)?)?;
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
    if flows(plan)?.is_empty() { Err(SimError::NoTraffic) } else { Ok(()) }
}

fn flows(plan: &Plan) -> Result<Vec<FlowSpec>, SimError> {
    let roams = |pipe: &PipePlan<'_>| pipe.config.air.as_ref().is_some_and(|air| air.access_points.is_some());
    if let Some(pipe) = plan.pipes().find(roams) {
        return Err(SimError::Roams(pipe.link_name.to_owned()));
    }
    plan.traffic.iter().enumerate().map(|(number, source)| flow(plan, number, source)).collect()
}

fn flow(plan: &Plan, number: usize, source: &TrafficPlan) -> Result<FlowSpec, SimError> {
    let [own, sink] = tag::ports(number);
    let spec = FlowSpec {
        name: source.name.clone(),
        sends: source.sends.clone(),
        path: path(plan, [source.from, source.to], [own, sink])?,
        back: path(plan, [source.to, source.from], [sink, own])?,
        addresses: [address(plan, source.to, source.from)?, address(plan, source.from, source.to)?],
    };
    check_sizes(plan, &spec)?;
    Ok(spec)
}

/// Simulated routers do not cut packets.
fn check_sizes(plan: &Plan, flow: &FlowSpec) -> Result<(), SimError> {
    let longest = longest(&flow.sends);
    let ends: Vec<_> = plan.ends().collect();
    let links = flow.path.iter().map(|hop: &Hop| &plan.links[ends[hop.entry.0 as usize].end.link()]);
    let short = links.filter(|link| u64::from(link.mtu) < longest).min_by_key(|link| link.mtu);
    short.map_or(Ok(()), |link| {
        let (name, mtu) = (&flow.name, link.mtu);
        let why = format!("source {name} sends packets of {longest} B, but the mtu of link {} is {mtu}", link.name);
        Err(SimError::TooLong(why))
    })
}

/// The length of the longest packet in bytes.
fn longest(sends: &Sends) -> u64 {
    let of_size = |size: PacketSize| match size {
        PacketSize::Fixed(size) => size.get(),
        // The longest of the mix.
        PacketSize::Imix => 1_500,
    };
    match sends {
        Sends::Window(window) => window.segment.get() + window.headers.get(),
        Sends::Open(source) => match &source.traffic {
            Traffic::Constant(stream) | Traffic::Poisson(stream) => of_size(stream.size),
            Traffic::OnOff(on_off) => of_size(on_off.stream.size),
            Traffic::Replay(replay) => replay.packets.iter().map(|(_, size)| size.get()).max().unwrap_or(0),
        },
    }
}

//! From a plan to what comes out.

use crate::flow::{FlowSpec, Hop};
use crate::network::Network;
use crate::outcome::{Outcome, Sample, SimError};
use crate::roaming::Roaming;
use crate::route::{address, path};
use crate::{tag, timeline};
use netloom_fabric::TraceObserver;
use netloom_lab::fabric::pipe_specs;
use netloom_lab::{Plan, Sends};
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
    (0..plan.traffic.len()).map(|number| flow(plan, roaming, number)).collect()
}

/// The flow of the source at this place, with the ways that it has when stations are with these access points.
pub(crate) fn flow(plan: &Plan, roaming: Option<&Roaming>, number: usize) -> Result<FlowSpec, SimError> {
    let (source, [own, sink]) = (&plan.traffic[number], tag::ports(number));
    let spec = FlowSpec {
        name: source.name.clone(),
        sends: source.sends.clone(),
        path: path((plan, roaming), [source.from, source.to], [own, sink])?,
        back: path((plan, roaming), [source.to, source.from], [sink, own])?,
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

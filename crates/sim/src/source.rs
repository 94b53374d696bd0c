//! The flows of a plan's sources.

use crate::SimError;
use crate::flow::{FlowSpec, Hop};
use crate::route::{address, path};
use crate::tag;
use netloom_lab::{End, Plan, Sends};
use netloom_link::{PacketSize, Traffic};

/// Returns the flow of the source at this place of the plan. `reaches` says whether what enters a link at one end comes out at another one.
///
/// # Errors
/// If there is no way, or one that is too narrow for the source's packets.
pub(crate) fn flow(plan: &Plan, number: usize, reaches: &dyn Fn(End, End) -> bool) -> Result<FlowSpec, SimError> {
    let (source, [own, sink]) = (&plan.traffic[number], tag::ports(number));
    let spec = FlowSpec {
        name: source.name.clone(),
        sends: source.sends.clone(),
        path: path((plan, reaches), [source.from, source.to], [own, sink])?,
        back: path((plan, reaches), [source.to, source.from], [sink, own])?,
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

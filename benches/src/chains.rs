//! Chains of routers (vimage, figure 6; GINE, figures 11 and 12).

use crate::Settings;
use crate::lab::Lab;
use crate::plain::{self, BARE, VETH};
use crate::row::{Goal, Row, median};
use crate::streams::{OF_BARE, gbit};
use crate::transfer;
use std::fmt::Write;

const TRANSIT_ROUTERS: u32 = 60;
/// Gbit/s, and microseconds of the round trip that the chain may add.
const TRANSIT_GOALS: (f64, f64) = (2.0, 60.0);
const KERNEL_ROUTERS: u32 = 8;
/// Of plain veth pairs, where the kernel joins the links.
const GOAL: f64 = 0.5;

/// Routers inside the packet engine, against a link without any.
pub(crate) fn transit(settings: &Settings) -> Result<Vec<Row>, String> {
    let seconds = if settings.quick { 1 } else { 4 };
    let [none, chain] =
        [0, TRANSIT_ROUTERS].map(|count| Lab::up(settings, &format!("hops{count}"), &chain(count, "transit")));
    let (none, chain) = (none?, chain?);
    let (mut rates, mut added) = (Vec::new(), Vec::new());
    chain.shell("b", transfer::START_SERVER)?;
    for _ in 0..settings.rounds(3) {
        rates.push(gbit(&chain.shell("a", &transfer::pinned_tcp("b", seconds))?)?);
        added.push(round_trip_us(&chain)? - round_trip_us(&none)?);
    }
    let what = format!("{TRANSIT_ROUTERS} transit routers");
    Ok(vec![
        Row::number(format!("{what}, one TCP stream"), "Gbit/s", rates)?.goal(Goal::AtLeast(TRANSIT_GOALS.0)),
        Row::number(format!("{what}, round trip, added"), "us", added)?.goal(Goal::AtMost(TRANSIT_GOALS.1)),
    ])
}

/// The median of lone pings, in microseconds.
fn round_trip_us(lab: &Lab) -> Result<f64, String> {
    let text = lab.shell("a", "ping -4 -c 40 -i 0.05 b")?;
    let times = text.lines().filter_map(|line| line.split_once("time=")?.1.strip_suffix(" ms")?.parse::<f64>().ok());
    median(&times.map(|ms| ms * 1e3).collect::<Vec<_>>())
}

/// Routers that are kernels: joined by links without any model, in the kernel as a user would have it, and through the
/// engine; beside plain veth pairs, and beside the bare loop.
pub(crate) fn kernels(settings: &Settings) -> Result<Vec<Row>, String> {
    let seconds = if settings.quick { 1 } else { 4 };
    let engine = chain(KERNEL_ROUTERS, "router");
    let bypass = Lab::up(settings, "chain-kernel", &format!("bypass: auto\n{engine}"))?;
    let engine = Lab::up(settings, "chain-engine", &engine)?;
    for lab in [&bypass, &engine] {
        lab.shell("b", transfer::START_SERVER)?;
    }
    let (mut direct, mut kernel) = (Vec::new(), Vec::new());
    let (mut bare, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..settings.rounds(3) {
        let to_last = transfer::tcp(plain::LAST, seconds);
        direct.push(gbit(&plain::chain(settings, KERNEL_ROUTERS, &to_last)?)?);
        kernel.push(gbit(&bypass.shell("a", &transfer::tcp("b", seconds))?)?);
        bare.push(gbit(&plain::joined(settings, KERNEL_ROUTERS, &to_last)?)?);
        ours.push(gbit(&engine.shell("a", &transfer::tcp("b", seconds))?)?);
    }
    let what = format!("{KERNEL_ROUTERS} kernel routers");
    Ok(vec![
        Row::number(format!("{what}, bypass: auto"), "Gbit/s", kernel)?.against(VETH, direct).goal(Goal::AtLeast(GOAL)),
        Row::number(format!("{what}, through the engine"), "Gbit/s", ours)?
            .against(BARE, bare)
            .goal(Goal::AtLeast(OF_BARE)),
    ])
}

/// Nodes a and b with so many routers of a kind between them.
pub(crate) fn chain(routers: u32, kind: &str) -> String {
    let mut yaml = String::from("nodes:\n  a: {}\n  b: {}\n");
    for router in 1..=routers {
        let _ = writeln!(yaml, "  r{router}: {{kind: {kind}}}");
    }
    yaml.push_str("links:\n");
    let name = |place: u32| match place {
        0 => "a".to_owned(),
        place if place > routers => "b".to_owned(),
        place => format!("r{place}"),
    };
    for place in 0..=routers {
        let _ = writeln!(yaml, "  l{place}: {{ends: [{}, {}]}}", name(place), name(place + 1));
    }
    yaml
}

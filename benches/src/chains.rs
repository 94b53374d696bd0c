//! Chains of routers (vimage, figure 6; GINE, figures 11 and 12).

use crate::lab::Lab;
use crate::plain::{self, BARE, VETH};
use crate::row::{Goal, Row, median};
use crate::settings::Settings;
use crate::streams::{beside, gbit};
use crate::transfer;
use std::fmt::Write;

const TRANSIT_ROUTERS: u32 = 60;
const QUICK_ROUTERS: u32 = 10;
/// Of as many routers in the kernel, joined by plain veth pairs: one TCP stream, and the time that a round trip takes longer.
const TRANSIT_GOALS: (f64, f64) = (0.7, 0.3);
const KERNELS: &str = "as many kernel routers on plain veth";
const KERNEL_ROUTERS: u32 = 8;
/// Of plain veth pairs, where the kernel joins the links.
const GOAL: f64 = 0.5;
/// Of the bare loop, where the engine does: beside copying it computes a pipe's ways for each of nine crossings.
const OF_BARE: f64 = 0.8;

/// Routers inside the packet engine, against a link without any.
pub(crate) fn transit(settings: &Settings) -> Result<Vec<Row>, String> {
    let seconds = if settings.quick { 1 } else { 4 };
    let routers = if settings.quick { QUICK_ROUTERS } else { TRANSIT_ROUTERS };
    let [none, chain] = [0, routers].map(|count| Lab::up(settings, &format!("hops{count}"), &chain(count, "transit")));
    let (none, chain) = (none?, chain?);
    let (mut rates, mut added, mut direct, mut direct_added) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    chain.shell("b", transfer::START_SERVER)?;
    // A chain of so many kernels is not made twice.
    let (to_last, pinged) = (transfer::pinned_tcp(plain::LAST, seconds), pings(plain::LAST));
    for _ in 0..settings.rounds(3) {
        let told = plain::chain(settings, routers, &format!("{to_last}; {pinged}"))?;
        let (json, lines) = told.split_once("\nPING ").ok_or("ping told nothing")?;
        direct.push(gbit(json)?);
        direct_added.push(round_trip_us(lines)? - round_trip_us(&plain::chain(settings, 0, &pinged)?)?);
        rates.push(gbit(&chain.shell("a", &transfer::pinned_tcp("b", seconds))?)?);
        let ours_us = |lab: &Lab| round_trip_us(&lab.shell("a", &pings("b"))?);
        added.push(ours_us(&chain)? - ours_us(&none)?);
    }
    let what = format!("{routers} transit routers");
    Ok(vec![
        Row::number(format!("{what}, one TCP stream"), "Gbit/s", rates)?
            .against(KERNELS, direct)
            .goal(Goal::AtLeast(TRANSIT_GOALS.0)),
        Row::number(format!("{what}, round trip, added"), "us", added)?
            .against(KERNELS, direct_added)
            .goal(Goal::AtMost(TRANSIT_GOALS.1)),
    ])
}

fn pings(target: &str) -> String {
    format!("ping -4 -c 40 -i 0.05 {target}")
}

/// The median of lone pings, in microseconds.
fn round_trip_us(text: &str) -> Result<f64, String> {
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
    let (what, plain_veth) = (format!("{KERNEL_ROUTERS} kernel routers"), beside(&direct)?);
    Ok(vec![
        Row::number(format!("{what}, bypass: auto"), "Gbit/s", kernel)?.against(VETH, direct).goal(Goal::AtLeast(GOAL)),
        Row::number(format!("{what}, through the engine"), "Gbit/s", ours)?
            .against(BARE, bare)
            .goal(Goal::AtLeast(OF_BARE))
            .remark(plain_veth),
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

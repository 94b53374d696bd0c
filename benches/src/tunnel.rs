//! Two labs that a tunnel joins, over a path that takes time of its own and varies: what is left of that.

use crate::exactness::{SMALL, seconds};
use crate::lab::output;
use crate::plain;
use crate::probe::{Arrivals, Load, RECEIVE};
use crate::row::{Goal, Row, median, number};
use crate::settings::Settings;
use crate::streams::gbit;
use crate::transfer;
use std::process::Command;

/// What is described, in microseconds.
const DELAY_US: f64 = 10_000.0;
/// How far off the median packet may be.
const MEDIAN_US: f64 = 30.0;
/// Packets per second whose delays are looked at.
const PACE: f64 = 1e3;
/// The right host.
const FAR: &str = "10.80.0.2";
/// How far the clock of the right machine is ahead where it is one of its own, in seconds.
const AHEAD: u32 = 1_000;

pub(crate) fn run(settings: &Settings) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    for (what, ahead) in [("one clock", 0), ("clocks of their own", AHEAD)] {
        let rounds = (0..settings.rounds(3)).map(|_| delays(settings, ahead));
        let rounds = rounds.collect::<Result<Vec<_>, _>>()?;
        let row = |share: f64, name: &str| {
            let off = rounds.iter().map(|run| off_us(run, share)).collect();
            Row::number(format!("{what}, 1 kpps, off by, {name}"), "us", off)
        };
        let spread: Vec<f64> = rounds.iter().map(|run| run.quantile_us(0.99) - run.quantile_us(0.01)).collect();
        let remark = format!("98 % within {} us", number(median(&spread)?));
        rows.push(row(0.5, "median")?.goal(Goal::AtMost(MEDIAN_US)).remark(remark));
        rows.push(row(0.99, "99 %")?);
    }
    rows.push(stream(settings)?);
    Ok(rows)
}

/// Runs a shell command where both labs are up.
fn joined(settings: &Settings, path: &str, ahead: u32, script: &str) -> Result<String, String> {
    output(Command::new(&settings.tunnel).arg(&settings.netloom).args([path, &ahead.to_string(), script]))
}

/// How far the delays of this share of the packets are off at most, in either direction.
fn off_us(run: &Arrivals, share: f64) -> f64 {
    let off: Vec<f64> = run.delays.iter().map(|delay| (*delay as f64 / 1e3 - DELAY_US).abs()).collect();
    crate::quantile::of(&off, share).unwrap_or(f64::NAN)
}

/// One-way delays from the left host to the right one. Where the clocks of both differ, it takes some seconds to know how far.
fn delays(settings: &Settings, ahead: u32) -> Result<Arrivals, String> {
    let time = if settings.quick { 0.3 } else { 3.0 };
    let load = Load { rate: PACE, burst: 1, seconds: time, payload: SMALL, ports: 1 };
    let (program, words) = (plain::program()?, load.arguments(FAR).join(" "));
    let settle = if ahead > 0 && !settings.quick { 8.0 } else { 0.4 };
    let script = format!(
        "sleep {settle}; right {program} {RECEIVE} 1 > /run/delays & received=$!; sleep 0.4; left {program} {words} && \
         wait $received && cat /run/delays"
    );
    let text = joined(settings, "jitter", ahead, &script)?;
    let (sender, told) = text.split_once('\n').ok_or("the sender told nothing")?;
    seconds(sender)?;
    Arrivals::parse(told)
}

/// One TCP stream through a tunnel whose path is a bridge, beside the path itself.
fn stream(settings: &Settings) -> Result<Row, String> {
    let time = if settings.quick { 1 } else { 3 };
    let server = quoted(transfer::START_SERVER);
    let (mut ours, mut path) = (Vec::new(), Vec::new());
    for _ in 0..settings.rounds(3) {
        let transfer = transfer::pinned_tcp(FAR, time);
        ours.push(gbit(&joined(
            settings,
            "plain",
            0,
            &format!("right sh -c '{server}' >&2; left sh -c '{}'", quoted(&transfer)),
        )?)?);
        let beside = transfer::pinned_tcp("10.81.0.2", time);
        let script = format!("ip netns exec b sh -c '{server}' >&2; between sh -c '{}'", quoted(&beside));
        path.push(gbit(&joined(settings, "plain", 0, &script)?)?);
    }
    let remark = format!("the path itself {} Gbit/s", number(median(&path)?));
    Ok(Row::number("one stream, no model", "Gbit/s", ours)?.remark(remark))
}

/// Inside of single quotes of a shell.
fn quoted(script: &str) -> String {
    script.replace('\'', "'\\''")
}

//! Two labs that a tunnel joins, over a path that takes time of its own and varies: what is left of that.

use crate::exactness::{SMALL, seconds};
use crate::lab::output;
use crate::plain;
use crate::probe::{Arrivals, Load, RECEIVE};
use crate::row::{Goal, Row, median, number};
use crate::settings::Settings;
use crate::streams::gbit;
use crate::transfer;
use serde_json::Value;
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
    rows.extend(streams(settings)?);
    rows.extend(beside_one_piece(settings)?);
    Ok(rows)
}

/// Runs a shell command where both labs are up.
fn joined(settings: &Settings, path: &str, ahead: u32, script: &str) -> Result<String, String> {
    output(&mut command(settings, (path, ahead), PLAIN, script))
}

/// A key of the tunnel, and the MTU of the path.
type Kind = (Option<&'static str>, u32);
const KEY: &str = "5aa55aa55aa55aa55aa55aa55aa55aa55aa55aa55aa55aa55aa55aa55aa55aa5";
const PLAIN: Kind = (None, 1_600);
const KEYED: Kind = (Some(KEY), 1_700);
const NARROW: Kind = (None, 1_500);
const BOTH: Kind = (Some(KEY), 1_500);

fn command(settings: &Settings, (path, ahead): (&str, u32), (key, mtu): Kind, script: &str) -> Command {
    let mut command = Command::new(&settings.tunnel);
    command.arg(&settings.netloom).args([path, &ahead.to_string(), script]).env("TUNNEL_MTU", mtu.to_string());
    if let Some(key) = key {
        command.env("TUNNEL_KEY", key);
    }
    command
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

/// One TCP stream through a tunnel whose path is a bridge, beside the path itself; the same encrypted, and where each long frame goes in two
/// datagrams, beside the plain one.
fn streams(settings: &Settings) -> Result<Vec<Row>, String> {
    let time = if settings.quick { 1 } else { 3 };
    let server = quoted(transfer::START_SERVER);
    let (mut ours, mut path) = (Vec::new(), Vec::new());
    let mut others = [Vec::new(), Vec::new(), Vec::new()];
    for _ in 0..settings.rounds(3) {
        let transfer = quoted(&transfer::pinned_tcp(FAR, time));
        let script = format!("right sh -c '{server}' >&2; left sh -c '{transfer}'");
        let through = |kind| gbit(&output(&mut command(settings, ("plain", 0), kind, &script))?);
        let plain = through(PLAIN)?;
        ours.push(plain);
        for (kind, ratios) in [KEYED, NARROW, BOTH].into_iter().zip(&mut others) {
            ratios.push(through(kind)? / plain);
        }
        let beside = transfer::pinned_tcp("10.81.0.2", time);
        let alone = format!("ip netns exec b sh -c '{server}' >&2; between sh -c '{}'", quoted(&beside));
        path.push(gbit(&joined(settings, "plain", 0, &alone)?)?);
    }
    let remark = format!("the path itself {} Gbit/s", number(median(&path)?));
    let mut rows = vec![Row::number("one stream, no model", "Gbit/s", ours)?.remark(remark)];
    let names = ["with a key", "over a path of 1500", "with a key over a path of 1500"];
    for (name, ratios) in names.into_iter().zip(others) {
        rows.push(Row::number(format!("the same {name}, of that"), "ratio", ratios)?);
    }
    Ok(rows)
}

/// The least that two parts of a lab have of the lab in one piece, with a key: throughput and small packets; and how much more processor they may take.
const LEAST_STREAM: f64 = 0.8;
const LEAST_SMALL: f64 = 0.7;
const MOST_PROCESSOR: f64 = 1.2;

/// The traffic that came through a link, and its cost.
struct Passed {
    /// Bits or packets per second.
    rate: f64,
    /// Ticks of a processor for each bit or packet.
    cost: f64,
}

/// A link that two parts are cut at, encrypted, beside the same link in one piece.
fn beside_one_piece(settings: &Settings) -> Result<Vec<Row>, String> {
    let time = if settings.quick { 1 } else { 3 };
    let small = |target: &str| format!("iperf3 -4 -c {target} -u -l 22 -b 0 -w 4M -t {time} --json");
    let mut rows = Vec::new();
    for (what, least) in [("one stream", LEAST_STREAM), ("small packets", LEAST_SMALL)] {
        let is_small = what == "small packets";
        let (mut rates, mut costs, mut alone) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..settings.rounds(3) {
            let of = |begin: &str, [server, client]: [&str; 2], target: &str| {
                let transfer = if is_small { small(target) } else { transfer::pinned_tcp(target, time) };
                let script = format!(
                    "{begin} {server} sh -c '{}' >&2; busy; {client} sh -c '{}'; busy",
                    quoted(transfer::START_SERVER),
                    quoted(&transfer)
                );
                passed(&output(&mut command(settings, ("plain", 0), KEYED, &script))?, is_small)
            };
            let parts = of("", ["right", "left"], FAR)?;
            let piece = of("whole;", ["two", "one"], "10.82.0.2")?;
            rates.push(parts.rate / piece.rate);
            costs.push(parts.cost / piece.cost);
            alone.push(piece.rate);
        }
        let remark = format!("one piece {} per second", number(median(&alone)?));
        let row = Row::number(format!("{what} between two parts with a key, of one piece"), "ratio", rates)?;
        rows.push(row.goal(Goal::AtLeast(least)).remark(remark));
        let processor = Row::number(format!("{what}, processor for each, of one piece"), "ratio", costs)?;
        rows.push(processor.goal(Goal::AtMost(MOST_PROCESSOR)));
    }
    Ok(rows)
}

/// Reads what iperf3 told between two readings of the processes' time.
fn passed(told: &str, is_small: bool) -> Result<Passed, String> {
    let wrong = || format!("no transfer between two readings of the time: {told}");
    let (before, rest) = told.trim().split_once('\n').ok_or_else(wrong)?;
    let (json, after) = rest.trim_end().rsplit_once('\n').ok_or_else(wrong)?;
    let ticks = |text: &str| text.trim().parse::<f64>().map_err(|_| wrong());
    let busy = ticks(after)? - ticks(before)?;
    let root: Value = serde_json::from_str(json).map_err(|error| format!("iperf3's output: {error}"))?;
    let end = &root["end"];
    let (count, seconds) = if is_small {
        let sum = &end["sum"];
        (
            sum["packets"].as_f64().zip(sum["lost_packets"].as_f64()).map(|(sent, lost)| sent - lost),
            sum["seconds"].as_f64(),
        )
    } else {
        let sum = &end["sum_received"];
        (sum["bytes"].as_f64().map(|bytes| bytes * 8.0), sum["seconds"].as_f64())
    };
    let (count, seconds) =
        count.zip(seconds).filter(|(count, seconds)| *count > 0.0 && *seconds > 0.0).ok_or_else(wrong)?;
    Ok(Passed { rate: count / seconds, cost: busy.max(1.0) / count })
}

/// Inside of single quotes of a shell.
fn quoted(script: &str) -> String {
    script.replace('\'', "'\\''")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passed_is_between_two_readings() {
        let small = "100\n{\"end\": {\"sum\": {\"packets\": 90, \"lost_packets\": 10, \"seconds\": 2}}}\n140\n";
        let is = |text: &str, counts: bool, rate: f64, cost: f64| {
            let told = passed(text, counts).unwrap();
            assert!((told.rate - rate).abs() < 1e-9 && (told.cost - cost).abs() < 1e-9, "{} {}", told.rate, told.cost);
        };
        is(small, true, 40.0, 0.5);
        let stream = "7\n{\"end\":\n {\"sum_received\": {\"bytes\": 100, \"seconds\": 4}}}\n7\n";
        is(stream, false, 200.0, 1.0 / 800.0);
        assert!(passed("7\n{}\n8\n", false).is_err() && passed("", true).is_err());
    }
}

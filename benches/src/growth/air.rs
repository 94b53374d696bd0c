//! More stations on the air: simulated ones, kernels in virtual time, and nodes that move in real time.

use super::{Curve, panel, rows, series, some};
use crate::clocks::play::{self, Clock, Played};
use crate::lab::Lab;
use crate::picture::{BLUE, ORANGE};
use crate::processes;
use crate::row::{Goal, Row};
use crate::settings::Settings;
use std::fmt::Write;

const STATIONS: [u32; 3] = [10, 30, 100];
/// Simulated stations that send all the time.
const SIMULATED: u32 = 50;
const FRAMES: f64 = 100e3;
/// Nodes that walk about, and the share of a processor that this may take in real time.
const WALKERS: u32 = 500;
const SHARE: f64 = 20.0;
const ROUNDS: u32 = 3;

/// An access point and stations around it on one channel of 802.11ax.
fn stations(count: u32) -> String {
    let ends: Vec<String> =
        std::iter::once("ap".to_owned()).chain((0..count).map(|station| format!("s{station}"))).collect();
    let ends = ends.join(", ");
    format!(
        "nodes: [{ends}]\nlinks:\n  air: {{ends: [{ends}], medium: {{kind: wifi, standard: ax, channel: 36, access: dcf, access_point: ap}}}}\n"
    )
}

/// Simulated stations, and kernels, of which each has packets to send at any time.
pub(super) fn saturated(settings: &Settings) -> Result<Vec<Row>, String> {
    let mut all = vec![simulated(settings)?];
    let [mut second, mut frame]: [Curve; 2] = Default::default();
    for &count in some(settings, &STATIONS) {
        let mut runs = Vec::new();
        for seed in 1..=u64::from(settings.rounds(ROUNDS)) {
            runs.push(play::play_text(settings, "air", &kernels(count), Clock::Virtual, seed)?);
        }
        second.push((f64::from(count), runs.iter().map(Played::pace).collect()));
        frame.push((
            f64::from(count),
            runs.iter().map(|run| run.pace() * run.lab_seconds() * 1e6 / run.packets()).collect(),
        ));
    }
    let x = "saturated kernels on one channel";
    settings.draw(
        "growth-air",
        &[
            panel("Wall time of a lab second", x, "s", vec![series("virtual time", BLUE, &second)]),
            panel("Wall time of a packet", x, "us", vec![series("virtual time", ORANGE, &frame)]),
        ],
    )?;
    all.extend(rows(&second, "s", |count| format!("{count} saturated kernels, wall time of a lab second"))?);
    all.extend(rows(&frame, "us", |count| format!("{count} saturated kernels, wall time of a packet"))?);
    Ok(all)
}

/// Each station keeps thirty packets under way, which the access point answers.
fn kernels(count: u32) -> String {
    let mut yaml = stations(count);
    yaml.push_str("timeline:\n");
    for station in 0..count {
        let _ = writeln!(yaml, "  - {{on: s{station}, run: ping -q -f -l 30 -s 1400 -w 1 ap, may_fail: true}}");
    }
    yaml
}

/// Frames that arrive, for each second of wall time after the set-up.
fn simulated(settings: &Settings) -> Result<Row, String> {
    let mut yaml = format!("duration: 2 s\n{}traffic:\n", stations(SIMULATED));
    for station in 0..SIMULATED {
        let _ = writeln!(yaml, "  - {{from: s{station}, to: ap, kind: constant, rate: 4 Mbit/s, size: 1500 B}}");
    }
    let samples = (0..settings.rounds(ROUNDS)).map(|_| {
        let played = play::simulate(settings, "air", &yaml)?;
        Ok(played.packets() / played.lab_wall_seconds())
    });
    let what = format!("{SIMULATED} saturated stations, simulated: frames per second of wall time");
    Ok(Row::number(what, "", samples.collect::<Result<_, String>>()?)?.goal(Goal::AtLeast(FRAMES)))
}

/// Nodes that walk about in real time on two channels, of which two exchange a packet now and then.
pub(super) fn walking(settings: &Settings) -> Result<Vec<Row>, String> {
    let names: Vec<String> = (0..WALKERS).map(|node| format!("w{node}")).collect();
    let walk = "path: {generate: random-waypoint, area: [[0 m, 0 m], [60 m, 60 m]], speed: [1 m/s, 2 m/s]}";
    let mut yaml = String::from("nodes:\n");
    names.iter().for_each(|name| yaml.push_str(&format!("  {name}: {{{walk}}}\n")));
    yaml.push_str("links:\n");
    for (channel, stations) in [1, 6].into_iter().zip(names.chunks(names.len() / 2)) {
        let (ends, medium) =
            (stations.join(", "), format!("{{kind: wifi, standard: g, channel: {channel}, access: radio}}"));
        let _ = writeln!(yaml, "  air{channel}: {{ends: [{ends}], medium: {medium}}}");
    }
    let lab = Lab::up(settings, "walking", &yaml)?;
    let (pid, seconds) = (lab.pid()?, if settings.quick { 2 } else { 10 });
    let mut shares = Vec::new();
    for _ in 0..settings.rounds(ROUNDS) {
        let before = processes::engine_seconds(pid);
        lab.exec("w0", &["ping", "-q", "-i", "0.1", "-w", &seconds.to_string(), "w1"])
            .output()
            .map_err(|error| format!("ping: {error}"))?;
        shares.push((processes::engine_seconds(pid) - before) * 100.0 / f64::from(seconds));
    }
    let what = format!("{WALKERS} nodes that walk in real time: the engine's share of a processor");
    Ok(vec![Row::number(what, "%", shares)?.goal(Goal::AtMost(SHARE))])
}

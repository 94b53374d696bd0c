//! More pipes, TCP streams and nodes.

use super::{Carried, Curve, ROUNDS, carry_all, panel, rows, series, some};
use crate::exactness::SMALL;
use crate::lab::Lab;
use crate::many::{torus, torus_costs};
use crate::picture::{BLUE, GREEN, ORANGE};
use crate::probe::Load;
use crate::row::Row;
use crate::settings::Settings;
use crate::{machine, processes, transfer};
use std::fmt::Write;

const PIPES: [u16; 4] = [1, 10, 100, 1_000];
const PIPE_RATE: f64 = 50e3;
const FLOWS: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];
/// Across and down a torus.
const NODES: [(u32, u32); 5] = [(4, 3), (6, 5), (10, 10), (20, 15), (40, 25)];
/// Bytes that a segment carries.
const SEGMENT: f64 = 1_448.0;

pub(crate) const ENGINE: &str = "the engine's time for a segment";
pub(crate) const MACHINE: &str = "the whole machine's time for a segment";
pub(crate) const UP: &str = "up";
pub(crate) const MEMORY: &str = "memory for a node, with the kernel's";

/// One link with many pipes: all traffic in the first, and in all of them in turn.
pub(super) fn pipes(settings: &Settings) -> Result<Vec<Row>, String> {
    let seconds = if settings.quick { 0.5 } else { 1.5 };
    let [mut idle, mut active]: [Curve; 2] = Default::default();
    for &count in some(settings, &PIPES) {
        let mut yaml = String::from("nodes: [a, b]\nlinks:\n  line:\n    ends: [a, b]\n    pipes:\n");
        for pipe in 0..count {
            let _ = writeln!(yaml, "      p{pipe}: {{match: {{port: {}}}, delay: 10 ms}}", 9_000 + pipe);
        }
        let lab = Lab::up(settings, "growth", &yaml)?;
        for (curve, ports) in [(&mut idle, 1), (&mut active, count)] {
            let load = Load { rate: PIPE_RATE, burst: 10, seconds, payload: SMALL, ports };
            let runs = carry_all(settings, &lab, load)?;
            // The receiver listens at the first port: of the others it is known what was offered.
            let cost = |run: &Carried| (run.engine - run.fixed.0) * 1e9 / run.offered;
            curve.push((f64::from(count), runs.iter().map(cost).collect()));
        }
    }
    let x = "pipes of one link";
    settings.draw(
        "growth-pipes",
        &[panel(
            "Processor time of the engine",
            x,
            "ns per packet",
            vec![series("one pipe carries all", BLUE, &idle), series("all take turns", ORANGE, &active)],
        )],
    )?;
    let mut all = rows(&idle, "ns", |count| format!("pipes: {count}, one carries all, {}", super::packets::ENGINE))?;
    all.extend(rows(&active, "ns", |count| format!("pipes: {count}, all take turns, {}", super::packets::ENGINE))?);
    Ok(all)
}

/// TCP streams over one link without a limit.
pub(super) fn flows(settings: &Settings) -> Result<Vec<Row>, String> {
    let seconds = if settings.quick { 1 } else { 3 };
    let lab = Lab::up(settings, "growth", "nodes: [a, b]\nlinks:\n  line: {ends: [a, b]}\n")?;
    lab.shell("b", transfer::START_SERVER)?;
    let pid = lab.pid()?;
    let [mut rates, mut engines, mut machines]: [Curve; 3] = Default::default();
    for &count in some(settings, &FLOWS) {
        let [mut rate, mut engine, mut machine] = [const { Vec::new() }; 3];
        for _ in 0..settings.rounds(ROUNDS) {
            let before = (processes::engine_seconds(pid), machine::busy_seconds());
            let json = lab.shell("a", &transfer::several("b", seconds, count))?;
            let segments = transfer::bytes(&json)? / SEGMENT;
            rate.push(transfer::received(&json)? / 1e9);
            engine.push((processes::engine_seconds(pid) - before.0) * 1e9 / segments);
            machine.push((machine::busy_seconds() - before.1) * 1e9 / segments);
        }
        let at = f64::from(count);
        rates.push((at, rate));
        engines.push((at, engine));
        machines.push((at, machine));
    }
    let x = "TCP streams";
    settings.draw(
        "growth-flows",
        &[
            panel("Goodput of all together", x, "Gbit/s", vec![series("no limit", GREEN, &rates)]),
            panel(
                "Processor time",
                x,
                "ns per segment of 1,448 bytes",
                vec![series("engine", BLUE, &engines), series("whole machine", ORANGE, &machines)],
            ),
        ],
    )?;
    let mut all = rows(&rates, "Gbit/s", |count| format!("streams: {count}, goodput"))?;
    all.extend(rows(&engines, "ns", |count| format!("streams: {count}, {ENGINE}"))?);
    all.extend(rows(&machines, "ns", |count| format!("streams: {count}, {MACHINE}"))?);
    Ok(all)
}

/// Routers on a torus.
pub(super) fn nodes(settings: &Settings) -> Result<Vec<Row>, String> {
    let [mut up, mut down, mut own, mut memory]: [Curve; 4] = Default::default();
    for &(across, along) in some(settings, &NODES) {
        let costs = torus_costs(settings, &torus(across, along), f64::from(across * along))?;
        let at = f64::from(across * along);
        up.push((at, costs.up));
        down.push((at, costs.down));
        own.push((at, costs.own_kilobytes));
        memory.push((at, costs.all_kilobytes));
    }
    let x = "nodes, each with four links";
    settings.draw(
        "growth-nodes",
        &[
            panel("Up and down", x, "s", vec![series("up", BLUE, &up), series("down", ORANGE, &down)]),
            panel(
                "Memory",
                x,
                "KB per node",
                vec![series("processes", BLUE, &own), series("with the kernel's", ORANGE, &memory)],
            ),
        ],
    )?;
    let mut all = rows(&up, "s", |count| format!("nodes: {count}, {UP}"))?;
    all.extend(rows(&down, "s", |count| format!("nodes: {count}, down"))?);
    all.extend(rows(&own, "KB", |count| format!("nodes: {count}, memory of processes for a node"))?);
    all.extend(rows(&memory, "KB", |count| format!("nodes: {count}, {MEMORY}"))?);
    Ok(all)
}

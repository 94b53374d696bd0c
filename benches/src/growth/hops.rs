//! More hops: routers inside the engine, and routers that are kernels, where each link passes the engine.

use super::{Carried, Curve, carry_all, panel, rows, series, some};
use crate::chains::chain;
use crate::exactness::SMALL;
use crate::lab::Lab;
use crate::picture::{BLUE, ORANGE};
use crate::probe::Load;
use crate::row::Row;
use crate::settings::Settings;

const TRANSIT: [u32; 6] = [1, 3, 10, 20, 40, 60];
const KERNEL: [u32; 5] = [1, 2, 4, 8, 16];
/// Packets per second: what sixteen kernel routers carry.
const RATE: f64 = 10e3;

pub(super) fn run(settings: &Settings) -> Result<Vec<Row>, String> {
    let (mut all, mut costs, mut lates) = (Vec::new(), Vec::new(), Vec::new());
    for (kind, name, counts, colour) in
        [("transit", "transit routers", &TRANSIT[..], BLUE), ("router", "kernel routers", &KERNEL, ORANGE)]
    {
        let (mut cost, mut late): (Curve, Curve) = (Vec::new(), Vec::new());
        for &count in some(settings, counts) {
            let runs = runs(settings, count, kind)?;
            cost.push((f64::from(count), runs.iter().map(Carried::cost_ns).collect()));
            late.push((f64::from(count), runs.iter().map(|run| run.late_us(0.5)).collect()));
        }
        all.extend(rows(&cost, "ns", |count| format!("{name}: {count}, the engine's time for a packet"))?);
        all.extend(rows(&late, "us", |count| format!("{name}: {count}, late, median"))?);
        costs.push(series(name, colour, &cost));
        lates.push(series(name, colour, &late));
    }
    settings.draw(
        "growth-hops",
        &[
            panel("Processor time of the engine", "routers", "ns per packet, all its hops", costs),
            panel("Lateness over 10 ms, median", "routers", "us", lates),
        ],
    )?;
    Ok(all)
}

/// The first link delays, the others do nothing.
fn runs(settings: &Settings, count: u32, kind: &str) -> Result<Vec<Carried>, String> {
    let yaml = chain(count, kind).replacen("r1]}", "r1], delay: 10 ms}", 1);
    let lab = Lab::up(settings, "growth", &yaml)?;
    let seconds = if settings.quick { 0.5 } else { 1.5 };
    let load = Load { rate: RATE, burst: 10, seconds, payload: SMALL, ports: 1 };
    carry_all(settings, &lab, load)
}

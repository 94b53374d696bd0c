//! More packets per second.

use super::{Carried, Curve, carry_all, panel, rows, series, some};
use crate::exactness::SMALL;
use crate::lab::Lab;
use crate::picture::{BLUE, GREEN, ORANGE};
use crate::probe::Load;
use crate::row::Row;
use crate::settings::Settings;

const KPPS: [f64; 8] = [10.0, 20.0, 50.0, 100.0, 200.0, 300.0, 400.0, 500.0];
/// Of the row that says what a small packet costs the engine, and all of the machine.
pub(crate) const ENGINE: &str = "the engine's time for a packet";
pub(crate) const MACHINE: &str = "the whole machine's time for a packet";

/// A curve of what a run of a load says.
type Part = (&'static str, &'static str, fn(&Carried) -> f64);

const PARTS: [Part; 5] = [
    (ENGINE, "ns", Carried::cost_ns),
    (MACHINE, "ns", Carried::machine_ns),
    ("late, median", "us", |run| run.late_us(0.5)),
    ("late, 99 %", "us", |run| run.late_us(0.99)),
    ("lost", "%", Carried::lost_percent),
];

pub(super) fn run(settings: &Settings) -> Result<Vec<Row>, String> {
    let lab = Lab::up(settings, "growth", "nodes: [a, b]\nlinks:\n  line: {ends: [a, b], delay: 10 ms}\n")?;
    let seconds = if settings.quick { 0.5 } else { 1.5 };
    let mut curves: [Curve; 5] = Default::default();
    for kpps in some(settings, &KPPS) {
        let load = Load { rate: kpps * 1e3, burst: 10, seconds, payload: SMALL, ports: 1 };
        let runs = carry_all(settings, &lab, load)?;
        for (curve, (_, _, figure)) in curves.iter_mut().zip(PARTS) {
            curve.push((*kpps, runs.iter().map(figure).collect()));
        }
    }
    let x = "packets per second (thousands)";
    settings.draw(
        "growth-packets",
        &[
            panel(
                "Processor time",
                x,
                "ns per packet",
                vec![series("engine", BLUE, &curves[0]), series("whole machine", ORANGE, &curves[1])],
            ),
            panel(
                "Lateness over 10 ms",
                x,
                "us",
                vec![series("median", BLUE, &curves[2]), series("99 %", ORANGE, &curves[3])],
            ),
            panel("Lost", x, "%", vec![series("each round", GREEN, &curves[4])]),
        ],
    )?;
    let mut all = Vec::new();
    for (curve, (what, unit, _)) in curves.iter().zip(PARTS) {
        all.extend(rows(curve, unit, |kpps| format!("{kpps} kpps, {what}"))?);
    }
    Ok(all)
}

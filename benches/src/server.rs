//! What the measured costs mean for a machine with 64 processors: arithmetic, step by step, in Markdown.

use crate::growth::{FLOWS, NODES, PACKETS};
use crate::growth::{many, packets};
use crate::report::Report;
use crate::row::{Finding, Row, number};

const PROCESSORS: f64 = 64.0;
/// Memory of such a machine that is for labs, in GB.
const MEMORY_GB: f64 = 256.0;
/// A thread that is asked for more than this share of its processor is late too often.
const LOAD: f64 = 0.8;
/// Where the costs are taken: loads that one thread carries well.
const KPPS: f64 = 200.0;
const STREAMS: f64 = 8.0;
const COUNT: f64 = 1_000.0;
const SEGMENT_BITS: f64 = 1_448.0 * 8.0;

/// None if the run has not measured all that it takes.
pub(crate) fn arithmetic(report: &Report) -> Option<String> {
    let small = costs(report, PACKETS, &format!("{KPPS} kpps"), packets::ENGINE, packets::MACHINE)?;
    let segment = costs(report, FLOWS, &format!("streams: {STREAMS}"), many::ENGINE, many::MACHINE)?;
    let up = figure(report, NODES, &format!("nodes: {COUNT}, {}", many::UP))?;
    let memory = figure(report, NODES, &format!("nodes: {COUNT}, {}", many::MEMORY))?;
    let packet_lines = lines(&format!("A packet of 64 bytes at {KPPS} kpps"), small, |per_second| {
        format!("{} million packets per second", number(per_second / 1e6))
    });
    let segment_lines = lines(&format!("A segment of 1,448 bytes in {STREAMS} TCP streams"), segment, |per_second| {
        format!("{} Gbit/s", number(per_second * SEGMENT_BITS / 1e9))
    });
    let (many, gigabytes) = (MEMORY_GB * 1e6 / memory, COUNT * memory / 1e6);
    Some(format!(
        "{packet_lines}{segment_lines}- **{COUNT} nodes with {} links** are up after {} s and take {} GB, {} KB each: {} GB \
         would hold {} thousand of them, and setting them up would take at least {} times as long if it went on one after another \
         as it does here.\n",
        COUNT * 2.0,
        number(up),
        number(gigabytes),
        number(memory),
        MEMORY_GB,
        number(many / 1e3),
        number(many / COUNT),
    ))
}

/// The engine's and the whole machine's nanoseconds.
fn costs(report: &Report, case: &str, at: &str, engine: &str, machine: &str) -> Option<(f64, f64)> {
    Some((figure(report, case, &format!("{at}, {engine}"))?, figure(report, case, &format!("{at}, {machine}"))?))
}

fn figure(report: &Report, case: &str, what: &str) -> Option<f64> {
    let outcome = report.outcomes.iter().find(|outcome| outcome.case.name == case)?;
    let row: &Row = outcome.rows().iter().find(|row| row.what == what)?;
    match &row.finding {
        Finding::Number(figure) => Some(figure.median()),
        Finding::Told { .. } | Finding::Absent => None,
    }
}

/// What processors carry if a packet takes the engine and the machine so many nanoseconds.
fn lines(what: &str, (engine, machine): (f64, f64), carries: impl Fn(f64) -> String) -> String {
    let nodes = (machine - engine).max(0.0);
    let one = 1e9 / engine * LOAD;
    // Processors of engines and of nodes in the ratio of what a packet takes of both.
    let engines = (PROCESSORS * engine / machine).round().clamp(1.0, PROCESSORS);
    format!(
        "- **{what}** takes the engine {e} ns and the whole machine {m} ns, so {n} ns are the nodes'.\n  \
         - One engine thread at {load} % of a processor: {load_share} / {e} ns = {one}.\n  \
         - {p} processors, shared as the costs are: {p} × {e} / {m} = {engines} threads of the engine, and {rest} \
         processors for the nodes.\n  \
         - Together: {engines} × {one_again} = **{all}**.\n",
        e = number(engine),
        m = number(machine),
        n = number(nodes),
        load = LOAD * 100.0,
        load_share = LOAD,
        one = carries(one),
        one_again = carries(one),
        p = PROCESSORS,
        rest = PROCESSORS - engines,
        all = carries(one * engines),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_shared_as_the_costs_are() {
        let text = lines("A packet", (1_000.0, 4_000.0), |per_second| format!("{per_second:.0}"));
        assert!(text.contains("the nodes'") && text.contains("3000 ns are"), "{text}");
        assert!(text.contains("= 16 threads") && text.contains("48 processors for the nodes"), "{text}");
        assert!(text.contains("16 × 800000 = **12800000**"), "{text}");
    }
}

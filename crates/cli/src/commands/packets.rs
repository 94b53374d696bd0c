//! `netloom packets`

use super::{Failure, Outcome, print};
use crate::args::PacketsArgs;
use netloom_judge::{ExitCode, quantity};
use netloom_results::packet_times::{FlowTimes, packet_times, plot};
use netloom_results::render::{Align, Table};

/// The longest capture that is read at once.
const LONGEST: u64 = 4 << 30;

pub(super) fn packets(args: &PacketsArgs) -> Outcome {
    let name = args.file.display();
    let wrong = |why: String| Failure::new(ExitCode::Usage, why);
    let file = netloom_regular::read(&args.file, LONGEST).map_err(|error| wrong(format!("reading {name}: {error}")))?;
    let mut flows = packet_times(&file).map_err(|error| wrong(format!("{name}: {error}")))?;
    if let Some(at) = &args.at {
        let mut known: Vec<String> = flows.iter().map(|flow| flow.at.clone()).collect();
        known.dedup();
        flows.retain(|flow| flow.at == *at);
        if flows.is_empty() {
            return Err(wrong(format!("--at {at}: no TCP data passed there; they passed {}", known.join(", "))));
        }
    }
    if let Some(out) = &args.plot {
        let svg = plot(&flows);
        if out.as_os_str() == "-" {
            return print(svg.trim_end());
        }
        let failed = |error| Failure::new(ExitCode::Results, format!("writing {}: {error}", out.display()));
        std::fs::write(out, svg).map_err(failed)?;
    }
    if args.json {
        return print(&serde_json::to_string_pretty(&flows).expect("flows have string keys only"));
    }
    if flows.is_empty() {
        return print("no TCP data in this capture");
    }
    print(table(&flows).to_string().trim_end())
}

fn table(flows: &[FlowTimes]) -> Table {
    let mut table = Table::new(&[
        ("flow", Align::Left),
        ("at", Align::Left),
        ("packets", Align::Right),
        ("again", Align::Right),
        ("mean gap", Align::Right),
        ("variation", Align::Right),
        ("throughput", Align::Right),
    ]);
    let dash = || "-".to_owned();
    for flow in flows {
        // A mean of nanoseconds is shown in four digits; the cast rounds below them.
        let gap = flow.gap_mean_ns.map_or_else(dash, |ns| quantity::span(ns.round() as u64));
        table.row(vec![
            format!("{} > {}", flow.from, flow.to),
            flow.at.clone(),
            flow.data_packets.to_string(),
            flow.retransmitted_packets.to_string(),
            gap,
            flow.gap_variation.map_or_else(dash, |share| format!("{share:.3}")),
            flow.throughput_bits_per_second.map_or_else(dash, quantity::rate),
        ]);
    }
    table
}

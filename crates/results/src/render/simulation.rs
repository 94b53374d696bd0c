//! The end of a simulation in words.

use super::effort::phases;
use super::{Align, CAUTION, FAINT, Table, dash, pipe_cells, push_line, rate, section, span, worth_showing};
use netloom_judge::{SimEffort, SimReport, SourceRow};

/// The whole report for a terminal of at least 100 columns.
pub fn simulation(report: &SimReport) -> String {
    let mut text = String::new();
    text.push_str(&pipes(report));
    text.push('\n');
    section(&mut text, "stations", &super::stations::stations(&report.stations, report.duration_ns));
    text.push_str(&sources(&report.sources).to_string());
    text.push('\n');
    let skipped: String = report.skipped.iter().map(|name| format!("{name}\n")).collect();
    section(&mut text, "left out: programs of the timeline", &skipped);
    for warning in &report.warnings {
        push_line(&mut text, &format!("{CAUTION}warning{CAUTION:#}: {warning}"));
    }
    let SimEffort { packets, packets_per_wall_second, .. } = report.effort;
    let cost = format!("{packets} packets sent, {packets_per_wall_second:.0} per second of wall time");
    let (lasted, seed) = (span(report.duration_ns), report.seed);
    push_line(&mut text, &format!("{FAINT}simulated {lasted}, seed {seed}; {cost}{FAINT:#}"));
    push_line(&mut text, &format!("{FAINT}{}{FAINT:#}", phases(report.effort.phases).trim_end()));
    push_line(&mut text, &super::results(&report.results, report.page.as_deref()));
    text
}

/// The table of a run, without lateness, and with what was carried.
fn pipes(report: &SimReport) -> String {
    let mut table = Table::new(&[
        ("link", Align::Left),
        ("rate", Align::Right),
        ("achieved", Align::Right),
        ("delay", Align::Right),
        ("measured", Align::Right),
        ("queue", Align::Right),
        ("drops", Align::Right),
        ("throughput", Align::Right),
    ]);
    let shown = worth_showing(&report.pipes);
    for row in &shown {
        let mut cells = pipe_cells(row);
        cells.pop();
        cells.push(rate(row.throughput_bits_per_second));
        table.row(cells);
    }
    let mut text = table.to_string();
    if shown.len() < report.pipes.len() {
        push_line(&mut text, &format!("... {} more in pipes.csv", report.pipes.len() - shown.len()));
    }
    text
}

fn sources(rows: &[SourceRow]) -> Table {
    let mut table = Table::new(&[
        ("source", Align::Left),
        ("sent", Align::Right),
        ("received", Align::Right),
        ("lost", Align::Right),
        ("reordered", Align::Right),
        ("goodput", Align::Right),
        ("delay min", Align::Right),
        ("mean", Align::Right),
        ("p50", Align::Right),
        ("p99", Align::Right),
        ("max", Align::Right),
    ]);
    for row in rows {
        let delays = [row.delay_min_ns, row.delay_mean_ns, row.delay_p50_ns, row.delay_p99_ns, row.delay_max_ns];
        let counts = [row.sent_packets, row.received_packets, row.lost_packets, row.reordered_packets];
        let mut cells = vec![format!("{} {}>{}", row.source, row.from, row.to)];
        cells.extend(counts.map(|count| count.to_string()));
        cells.push(rate(row.goodput_bits_per_second));
        cells.extend(delays.map(|delay| delay.map_or_else(dash, span)));
        table.row(cells);
    }
    table
}

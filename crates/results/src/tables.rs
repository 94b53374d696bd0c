//! What is written when a run is over: `pipes.csv`, one row per pipe, and the report with its parts.

use crate::Folder;
use crate::WriteError;
use netloom_judge::{Effects, PipeRow, Report};
use std::fmt::Write;

const HEADER: &str = "link,direction,pipe,from,to,rate_bits_per_second,achieved_bits_per_second,rate_judged,\
throughput_bits_per_second,delay_ns,measured_delay_mean_ns,measured_delay_p99_ns,\
queue_peak_packets,in_flight_at_start_packets,in_flight_at_end_packets,arrived_packets,arrived_bytes,departed_packets,departed_bytes,dropped_queue_packets,\
dropped_loss_packets,dropped_early_packets,dropped_down_packets,dropped_partition_packets,dropped_fault_packets,dropped_air_packets,lateness_p50_ns,lateness_p99_ns,lateness_max_ns";

/// Writes `pipes.csv`. What does not exist (an unlimited rate, the delay of no packets) is an empty field.
pub fn write_pipe_table(folder: &Folder, rows: &[PipeRow]) -> Result<(), WriteError> {
    let mut text = header();
    for row in rows {
        push_row(&mut text, row);
    }
    folder.write("pipes.csv", text)
}

impl Folder {
    /// Writes the parts of a report. Nothing in them tells of wall time: in virtual time, two runs have the same.
    pub fn write_tables(&self, report: &Report) -> Result<(), WriteError> {
        write_pipe_table(self, &report.pipes)?;
        self.write_json("pipes.json", &report.pipes)?;
        if !report.routers.is_empty() {
            self.write_json("routers.json", &report.routers)?;
        }
        if !report.tunnels.is_empty() {
            self.write_json("tunnels.json", &report.tunnels)?;
        }
        if !report.switches.is_empty() {
            self.write_json("switches.json", &report.switches)?;
        }
        if !report.stations.is_empty() {
            self.write_json("stations.json", &report.stations)?;
        }
        self.write_json("commands.json", &report.commands)?;
        self.write_json("expectations.json", &report.expectations)?;
        if let Some(exercise) = &report.exercise {
            self.write_json("exercise.json", exercise)?;
        }
        self.write_json("verdict.json", &report.verdict)
    }

    /// Writes the whole report, as JSON and as text.
    pub fn write_report(&self, report: &Report) -> Result<(), WriteError> {
        self.write_json("report.json", report)?;
        let text = crate::render::report(report);
        self.write("summary.txt", anstream::adapter::strip_str(&text).to_string())
    }
}

fn header() -> String {
    format!("{HEADER},{}\n", Effects::COLUMNS)
}

/// Of a link that is joined in the kernel nothing was measured, and its zeros are none.
fn push_row(text: &mut String, row: &PipeRow) {
    let counted = |value: u64| field(Some(value).filter(|_| !row.joined_in_kernel));
    let fields = [
        row.link.clone(),
        row.direction.clone(),
        field(row.pipe.as_ref()),
        row.from.clone(),
        row.to.clone(),
        field(row.rate_bits_per_second),
        field(row.achieved_bits_per_second.map(f64::round)),
        field(Some(row.rate_judged).filter(|_| row.achieved_bits_per_second.is_some())),
        field(Some(row.throughput_bits_per_second.round()).filter(|_| !row.joined_in_kernel)),
        field(Some(row.delay_ns)),
        field(row.measured_delay_mean_ns),
        field(row.measured_delay_p99_ns),
        counted(row.queue_peak_packets),
        counted(row.in_flight_at_start_packets),
        counted(row.in_flight_at_end_packets),
        counted(row.arrived_packets),
        counted(row.arrived_bytes),
        counted(row.departed_packets),
        counted(row.departed_bytes),
        counted(row.dropped_queue_packets),
        counted(row.dropped_loss_packets),
        counted(row.dropped_early_packets),
        counted(row.dropped_down_packets),
        counted(row.dropped_partition_packets),
        counted(row.dropped_fault_packets),
        counted(row.dropped_air_packets),
        field(row.lateness_p50_ns),
        field(row.lateness_p99_ns),
        field(row.lateness_max_ns),
    ];
    let effects = row.effects.values().map(counted);
    writeln!(text, "{},{}", fields.join(","), effects.join(",")).expect("writing to a string");
}

fn field<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(String::new, |number| number.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_and_rows_have_as_many_fields() {
        let mut text = header();
        push_row(&mut text, &PipeRow { link: "backbone".into(), ..PipeRow::default() });
        let counts: Vec<usize> = text.lines().map(|line| line.split(',').count()).collect();
        assert_eq!(counts, [42, 42]);
    }

    #[test]
    fn what_was_not_measured_is_no_zero() {
        let mut text = String::new();
        let (link, direction) = ("lan".into(), "forward".into());
        push_row(&mut text, &PipeRow { link, direction, joined_in_kernel: true, ..PipeRow::default() });
        assert_eq!(text.replace(",", " ").split_whitespace().collect::<Vec<_>>(), ["lan", "forward", "0"], "{text}");
    }
}

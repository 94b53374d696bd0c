//! The table of sources, and `sources.csv`.

use netloom_judge::SourceRow;
use netloom_lab::Plan;
use netloom_results::{Folder, WriteError};
use netloom_sim::{Outcome, SourceOutcome};
use netloom_units::Duration;
use std::fmt::Write;

pub(super) fn rows(plan: &Plan, outcome: &Outcome) -> Vec<SourceRow> {
    let name = |node: usize| plan.nodes[node].name.clone();
    let pairs = plan.traffic.iter().zip(&outcome.sources);
    pairs.map(|(planned, source)| row(name(planned.from), name(planned.to), source)).collect()
}

fn row(from: String, to: String, source: &SourceOutcome) -> SourceRow {
    let ns = |span: Option<Duration>| span.map(Duration::as_nanos);
    let delays = &source.delays;
    SourceRow {
        source: source.name.clone(),
        from,
        to,
        sent_packets: source.sent_packets,
        sent_bytes: source.sent_bytes,
        resent_packets: source.resent_packets,
        received_packets: source.received_packets,
        received_bytes: source.received_bytes,
        lost_packets: source.lost_packets(),
        duplicate_packets: source.duplicate_packets,
        corrupted_packets: source.corrupted_packets,
        reordered_packets: source.reordered_packets,
        goodput_bits_per_second: source.goodput_bits_per_second(),
        delay_min_ns: ns(delays.least()),
        delay_mean_ns: ns(delays.mean()),
        delay_p50_ns: ns(delays.quantile(0.5)),
        delay_p99_ns: ns(delays.quantile(0.99)),
        delay_max_ns: ns(delays.most()),
    }
}

const HEADER: &str = "source,from,to,sent_packets,sent_bytes,resent_packets,received_packets,received_bytes,\
lost_packets,duplicate_packets,corrupted_packets,reordered_packets,goodput_bits_per_second,delay_min_ns,delay_mean_ns,\
delay_p50_ns,delay_p99_ns,delay_max_ns\n";

/// Writes `sources.csv`. What does not exist, the delay of no packets, is an empty field.
pub(super) fn write_table(folder: &Folder, rows: &[SourceRow]) -> Result<(), WriteError> {
    let mut text = String::from(HEADER);
    for row in rows {
        let numbers = [
            row.sent_packets,
            row.sent_bytes,
            row.resent_packets,
            row.received_packets,
            row.received_bytes,
            row.lost_packets,
            row.duplicate_packets,
            row.corrupted_packets,
            row.reordered_packets,
        ];
        let delays = [row.delay_min_ns, row.delay_mean_ns, row.delay_p50_ns, row.delay_p99_ns, row.delay_max_ns];
        let mut fields = vec![row.source.clone(), row.from.clone(), row.to.clone()];
        fields.extend(numbers.map(|number| number.to_string()));
        fields.push(format!("{:.0}", row.goodput_bits_per_second));
        fields.extend(delays.map(|delay| delay.map_or_else(String::new, |ns| ns.to_string())));
        writeln!(text, "{}", fields.join(",")).expect("writing to a string");
    }
    folder.write("sources.csv", text)
}

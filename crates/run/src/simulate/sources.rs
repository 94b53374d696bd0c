//! The table of sources, and `sources.csv`.

use crate::RunError;
use crate::results::Folder;
use netloom_lab::Plan;
use netloom_sim::{Outcome, SourceOutcome};
use netloom_units::Duration;
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// A source of a simulation and its sink. Bytes count from the IP header on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SourceRow {
    /// Its name.
    pub source: String,
    /// The node that sent.
    pub from: String,
    /// The node that received.
    pub to: String,
    /// Packets that were sent, again ones as well.
    pub sent_packets: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Of these, packets that were sent again.
    pub resent_packets: u64,
    /// Different packets that arrived unharmed.
    pub received_packets: u64,
    /// Their bytes.
    pub received_bytes: u64,
    /// Packets that were sent and did not arrive, or arrived with a flipped bit.
    pub lost_packets: u64,
    /// Packets that arrived once more.
    pub duplicate_packets: u64,
    /// Packets that arrived with a flipped bit.
    pub corrupted_packets: u64,
    /// Packets that came behind a later one (RFC 4737).
    pub reordered_packets: u64,
    /// From the start of the source to the last arrival: of a window sender the payload, of other sources all bytes.
    pub goodput_bits_per_second: f64,
    /// The least time from sending to arriving; none if nothing arrived.
    pub delay_min_ns: Option<u64>,
    /// The mean of it.
    pub delay_mean_ns: Option<u64>,
    /// The median of it.
    pub delay_p50_ns: Option<u64>,
    /// Its 99th percentile.
    pub delay_p99_ns: Option<u64>,
    /// The largest.
    pub delay_max_ns: Option<u64>,
}

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
pub(super) fn write_table(folder: &Folder, rows: &[SourceRow]) -> Result<(), RunError> {
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

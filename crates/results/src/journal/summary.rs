//! A journal pipe by pipe: how many packets, what became of them, and how long they took.

use super::record::{Fate, JournalPipe, Record};
use netloom_figures::Histogram;
use netloom_link::Cause;
use netloom_units::Duration;
use serde::Serialize;

/// The packets of a pipe according to its journal: their numbers, fates and delays. Every number carries its unit in
/// its name.
#[derive(Clone, Debug, Serialize)]
pub struct PipeSummary {
    /// The pipe.
    #[serde(flatten)]
    pub pipe: JournalPipe,
    /// The number of packets: those that arrived, their copies, and those that were inside at time zero.
    pub packets: u64,
    /// The number of packets that were inside at time zero.
    pub in_flight_at_start_packets: u64,
    /// The bytes of all packets, from the IP header on.
    pub bytes: u64,
    /// The number of packets that were delivered.
    pub delivered_packets: u64,
    /// The number of packets that the loss models dropped.
    pub dropped_loss_packets: u64,
    /// The number of packets that were dropped because the queue was full.
    pub dropped_queue_packets: u64,
    /// The number of packets that the queue's discipline dropped although there was room.
    pub dropped_early_packets: u64,
    /// The number of packets that were dropped because the link was down.
    pub dropped_down_packets: u64,
    /// The number of packets that were dropped because a partition was between the nodes from which and for which they were.
    pub dropped_partition_packets: u64,
    /// The number of packets that a fault of the timeline dropped.
    pub dropped_fault_packets: u64,
    /// Packets that were lost on the air: after their last retry, or to everybody in a collision.
    #[serde(default)]
    pub dropped_air_packets: u64,
    /// The number of packets that were still inside at the end.
    pub inside_packets: u64,
    /// The number of packets that were marked as having experienced congestion.
    pub marked_packets: u64,
    /// The distribution of the time that packets waited for the transmitter; none if none got there.
    pub waited: Option<Spread>,
    /// The distribution of the time that packets were in the pipe until they were due; none if none was sent.
    pub delay: Option<Spread>,
}

/// The distribution of a time. The quantiles are exact to one percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Spread {
    /// The minimum.
    pub min_ns: u64,
    /// The mean.
    pub mean_ns: u64,
    /// The median.
    pub p50_ns: u64,
    /// The 99th percentile.
    pub p99_ns: u64,
    /// The maximum.
    pub max_ns: u64,
}

/// A summary of a journal that takes in record by record. Its memory does not grow.
pub struct Summary {
    rows: Vec<Row>,
}

struct Row {
    summary: PipeSummary,
    waited: Times,
    delay: Times,
}

/// Times of packets.
type Times = Histogram<2>;

impl Summary {
    /// Makes an empty summary for these pipes.
    pub fn new(pipes: &[JournalPipe]) -> Self {
        let row = |pipe: &JournalPipe| Row {
            summary: PipeSummary {
                pipe: pipe.clone(),
                packets: 0,
                in_flight_at_start_packets: 0,
                bytes: 0,
                delivered_packets: 0,
                dropped_loss_packets: 0,
                dropped_queue_packets: 0,
                dropped_early_packets: 0,
                dropped_down_packets: 0,
                dropped_partition_packets: 0,
                dropped_fault_packets: 0,
                dropped_air_packets: 0,
                inside_packets: 0,
                marked_packets: 0,
                waited: None,
                delay: None,
            },
            waited: Times::default(),
            delay: Times::default(),
        };
        Self { rows: pipes.iter().map(row).collect() }
    }

    /// Adds a record to the summary.
    pub fn add(&mut self, record: &Record) {
        let Some(Row { summary, waited, delay }) = self.rows.get_mut(record.pipe as usize) else { return };
        summary.packets += 1;
        summary.in_flight_at_start_packets += u64::from(record.arrived_ns < 0);
        summary.bytes += u64::from(record.size_bytes);
        summary.marked_packets += u64::from(record.marked_ns.is_some());
        *match record.fate {
            Fate::Delivered { .. } => &mut summary.delivered_packets,
            Fate::Dropped { cause: Cause::Loss, .. } => &mut summary.dropped_loss_packets,
            Fate::Dropped { cause: Cause::Full, .. } => &mut summary.dropped_queue_packets,
            Fate::Dropped { cause: Cause::Early, .. } => &mut summary.dropped_early_packets,
            Fate::Dropped { cause: Cause::Down, .. } => &mut summary.dropped_down_packets,
            Fate::Dropped { cause: Cause::Partition, .. } => &mut summary.dropped_partition_packets,
            Fate::Dropped { cause: Cause::Fault, .. } => &mut summary.dropped_fault_packets,
            Fate::Dropped { cause: Cause::Air, .. } => &mut summary.dropped_air_packets,
            Fate::Inside => &mut summary.inside_packets,
        } += 1;
        record.waited_ns().into_iter().for_each(|ns| waited.record(span(ns)));
        record.delay_ns().into_iter().for_each(|ns| delay.record(span(ns)));
    }

    /// Returns the summary of each pipe, in the order of the pipes.
    pub fn rows(self) -> Vec<PipeSummary> {
        let row = |row: Row| PipeSummary { waited: spread(&row.waited), delay: spread(&row.delay), ..row.summary };
        self.rows.into_iter().map(row).collect()
    }
}

fn span(ns: i64) -> Duration {
    Duration::from_nanos(u64::try_from(ns).unwrap_or(0))
}

fn spread(times: &Times) -> Option<Spread> {
    let [min_ns, mean_ns, p50_ns, p99_ns, max_ns] =
        [times.least()?, times.mean()?, times.quantile(0.5)?, times.quantile(0.99)?, times.most()?]
            .map(Duration::as_nanos);
    Some(Spread { min_ns, mean_ns, p50_ns, p99_ns, max_ns })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_all_values() {
        let mut times = Times::default();
        (1..=10_000).for_each(|place: i64| times.record(span(place * 10_000)));
        let found = spread(&times).expect("there are values");
        assert_eq!((found.min_ns, found.mean_ns, found.max_ns), (10_000, 50_005_000, 100_000_000));
        for (measured, exact) in [(found.p50_ns, 50e6), (found.p99_ns, 99e6)] {
            assert!((measured as f64 / exact - 1.0).abs() < 0.01, "{measured} for {exact}");
        }
    }
}

//! What the stations of radio media have done.

use netloom_figures::PipeReport;
use netloom_lab::{EndPlan, PipePlan, Plan};
use netloom_link::StationCounters;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A station of a radio medium, since time zero.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StationRow {
    /// The name of the medium's link.
    pub link: String,
    /// The name of the station's node.
    pub node: String,
    /// How long the station had the medium, in nanoseconds: its transmissions, what comes in front of them and their answers, with the
    /// spaces between them. Collisions on a medium where all hear one another are nobody's.
    pub airtime_ns: u64,
    /// Attempts to send.
    pub attempts: u64,
    /// The attempts that collided with those of other stations.
    pub collisions: u64,
    /// Packets, or several under one header, that an attempt failed to get across; each was sent again or given up.
    pub retries: u64,
    /// The mean over all attempts of the rate of their data; none without an attempt.
    pub mean_rate_bits_per_second: Option<f64>,
    /// Packets that the station sent and that arrived at their next station.
    pub delivered_packets: u64,
    /// Their bytes from the IP header on.
    pub delivered_bytes: u64,
    /// Packets that found the station's queue full.
    pub dropped_queue_packets: u64,
    /// Packets that were lost on the air: after the last retry, or to everybody in a collision.
    pub dropped_air_packets: u64,
    /// How often a terminal of a cell that had data went to another one, or a station of 802.11 to another access point.
    #[serde(default)]
    pub handovers: u64,
    /// The stations that were with an access point at the end.
    #[serde(default)]
    pub clients: u64,
}

impl StationRow {
    /// Returns a row for every station of every radio medium of a plan, from the reports of its pipes.
    pub fn of_reports(plan: &Plan, reports: &[PipeReport]) -> Vec<Self> {
        Self::of_plan(plan, reports.iter().map(|report| report.stations.as_slice()))
    }

    /// Returns a row for every station of every radio medium of a plan, from the counters of the stations of each pipe.
    pub fn of_plan<'a>(plan: &Plan, pipes: impl Iterator<Item = &'a [StationCounters]>) -> Vec<Self> {
        let of_pipe = |(pipe, stations): (PipePlan<'_>, &'a [StationCounters])| {
            let link = &plan.links[pipe.link];
            let row = |(end, counted): (&EndPlan, &StationCounters)| {
                Self::new(link.name.clone(), plan.nodes[end.node].name.clone(), counted)
            };
            link.ends.iter().zip(stations).map(row).collect::<Vec<_>>()
        };
        plan.pipes().zip(pipes).flat_map(of_pipe).collect()
    }

    fn new(link: String, node: String, counted: &StationCounters) -> Self {
        Self {
            link,
            node,
            airtime_ns: counted.airtime.as_nanos(),
            attempts: counted.attempts,
            collisions: counted.collisions,
            retries: counted.failed_mpdus,
            mean_rate_bits_per_second: (counted.attempts > 0).then(|| counted.rates as f64 / counted.attempts as f64),
            delivered_packets: counted.delivered,
            delivered_bytes: counted.delivered_bytes,
            dropped_queue_packets: counted.dropped - counted.lost,
            dropped_air_packets: counted.lost,
            handovers: counted.handovers,
            clients: counted.clients,
        }
    }
}

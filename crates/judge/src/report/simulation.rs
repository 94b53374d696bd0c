//! What a simulation found out. Every number carries its unit in its name.

use crate::{JournalRow, Phases, PipeRow, Plots, SampleReport, StationRow};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// All that a simulation found out. Every number carries its unit in its name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SimReport {
    /// The lab's name.
    pub lab: String,
    /// The folder with the results.
    pub results: PathBuf,
    /// The seed of all random numbers.
    pub seed: u64,
    /// How long sources sent.
    pub duration_ns: u64,
    /// One row per link and direction, as of a run; nothing is ever late.
    pub pipes: Vec<PipeRow>,
    /// The stations of radio media, medium by medium.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stations: Vec<StationRow>,
    /// One row per source.
    pub sources: Vec<SourceRow>,
    /// Programs of the timeline, which a simulation leaves out.
    pub skipped: Vec<String>,
    /// The warnings: what to check before the results are trusted.
    pub warnings: Vec<String>,
    /// The pictures, in the results folder; none if they were not wanted.
    #[serde(default)]
    pub plots: Option<Plots>,
    /// The samples of pipes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<SampleReport>,
    /// The journal of what happened to each packet; none if none was to be written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journal: Option<JournalRow>,
    /// The page that shows the simulation, in the results folder; none if it was not wanted.
    #[serde(default)]
    pub page: Option<PathBuf>,
    /// How often a packet came out of a link.
    pub handed_out_packets: u64,
    /// The cost of the simulation.
    #[serde(default)]
    pub effort: SimEffort,
}

/// The cost of a simulation: not the same in two of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SimEffort {
    /// How long the links were computed, in wall time.
    pub wall_ns: u64,
    /// Packets that sources sent, those sent again included, and the acknowledgements of their sinks: each counts once, however many links
    /// it crosses, and whether it arrives or not.
    pub packets: u64,
    /// The same packets per second of wall time.
    pub packets_per_wall_second: f64,
    /// The wall time by phases.
    pub phases: Phases,
}

/// A source of a simulation and its sink. Bytes count from the IP header on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SourceRow {
    /// The source's name.
    pub source: String,
    /// The node that sent.
    pub from: String,
    /// The node that received.
    pub to: String,
    /// Packets that were sent, those sent again included.
    pub sent_packets: u64,
    /// The bytes of the packets that were sent.
    pub sent_bytes: u64,
    /// Packets that were sent again, which `sent_packets` includes.
    pub resent_packets: u64,
    /// Different packets that arrived unharmed.
    pub received_packets: u64,
    /// The bytes of the different packets that arrived unharmed.
    pub received_bytes: u64,
    /// Packets that were sent and did not arrive, or arrived with a flipped bit.
    pub lost_packets: u64,
    /// Packets that arrived once more.
    pub duplicate_packets: u64,
    /// Packets that arrived with a flipped bit.
    pub corrupted_packets: u64,
    /// Packets that came behind a later one (RFC 4737).
    pub reordered_packets: u64,
    /// The goodput from the start of the source to the last arrival: of a window sender the payload, of other sources all bytes.
    pub goodput_bits_per_second: f64,
    /// The least time from sending to arriving; none if nothing arrived.
    pub delay_min_ns: Option<u64>,
    /// The mean time from sending to arriving.
    pub delay_mean_ns: Option<u64>,
    /// The median time from sending to arriving.
    pub delay_p50_ns: Option<u64>,
    /// The 99th percentile of the time from sending to arriving.
    pub delay_p99_ns: Option<u64>,
    /// The largest time from sending to arriving.
    pub delay_max_ns: Option<u64>,
}

//! What a simulation found out.

use crate::meter::Meter;
use netloom_figures::Histogram;
use netloom_link::{Firing, PipeConfig, PipeCounters, PipeSample, StationCounters};
use netloom_units::{Duration, Instant};
use std::fmt;

/// All that a simulation found out.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// How long sources sent.
    pub duration: Duration,
    /// One per pipe, in the plan's order, as it stood at the end of `duration`.
    pub pipes: Vec<PipeOutcome>,
    /// One per source, in the plan's order.
    pub sources: Vec<SourceOutcome>,
    /// The programs of the timeline, which a simulation leaves out.
    pub skipped: Vec<String>,
    /// How often a packet came out of a pipe.
    pub handed_out: u64,
    /// Packets that sources and sinks sent: each counts once, however many pipes it crosses.
    pub sent: u64,
    /// The treatments of packets by faults of the timeline, in order.
    pub firings: Vec<Firing>,
}

/// The outcome of one direction of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct PipeOutcome {
    /// The pipe's configuration in force at the end.
    pub config: PipeConfig,
    /// The counters of the pipe's models.
    pub counters: PipeCounters,
    /// The counters of the stations of a radio medium, in order of the link's ends; empty without.
    pub stations: Vec<StationCounters>,
    /// The measurements of the packets that came out of the pipe.
    pub meter: Meter,
}

/// The outcome of a source and its sink.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceOutcome {
    /// The name of the source.
    pub name: String,
    /// Packets that the source sent, retransmissions included.
    pub sent_packets: u64,
    /// The bytes of the sent packets from the IP header on.
    pub sent_bytes: u64,
    /// Packets among the sent ones that are retransmissions.
    pub resent_packets: u64,
    /// Packets among the sent ones of which a copy arrived unharmed: one that was sent again counts as two.
    pub arrived_packets: u64,
    /// Different packets that arrived unharmed.
    pub received_packets: u64,
    /// The bytes of the different packets that arrived unharmed, from the IP header on.
    pub received_bytes: u64,
    /// Packets that arrived once more: copies that links made, and what was sent again though it had arrived.
    pub duplicate_packets: u64,
    /// Packets that arrived with a flipped bit.
    pub corrupted_packets: u64,
    /// Packets that came behind a later one (RFC 4737, section 4).
    pub reordered_packets: u64,
    /// Bytes of use that arrived: of a window sender the payload, of other sources all.
    pub useful_bytes: u64,
    /// The time from the source's start to the last arrival; none if nothing arrived.
    pub active: Option<Duration>,
    /// The delays of different packets that arrived unharmed, from sending to arriving.
    pub delays: Histogram<3>,
}

impl SourceOutcome {
    /// Returns the number of packets that were sent and of which no copy arrived unharmed, whatever links duplicated or corrupted.
    pub fn lost_packets(&self) -> u64 {
        self.sent_packets - self.arrived_packets
    }

    /// Returns the bits of use per second between the source's start and the last arrival; zero if nothing arrived.
    pub fn goodput_bits_per_second(&self) -> f64 {
        let seconds = self.active.map_or(0.0, Duration::as_secs_f64);
        if seconds > 0.0 { self.useful_bytes as f64 * 8.0 / seconds } else { 0.0 }
    }
}

/// How things stand at an instant.
#[derive(Debug)]
pub struct Sample<'a> {
    /// The instant.
    pub at: Instant,
    /// How every pipe is, in the plan's order.
    pub pipes: &'a [PipeSample],
}

/// Why something cannot be simulated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SimError {
    /// There is no source; nothing would happen.
    NoTraffic,
    /// There are more sources than can be distinguished.
    TooManySources,
    /// A source cannot reach its sink; the text says why.
    Unreachable(String),
    /// A source's packets are too long for a link; the text says which.
    TooLong(String),
    /// Time stands still at this instant: nothing on the way of a window sender takes time.
    StandsStill(Instant),
}

impl fmt::Display for SimError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoTraffic => f.write_str(
                "there is nothing to simulate: the lab file has no `traffic`; add some, or write for example \
                 --traffic \"from: client, to: server, kind: constant, rate: 5 Mbit/s, size: 1200 B\"",
            ),
            Self::TooManySources => f.write_str("a simulation has at most 32768 sources"),
            Self::Unreachable(why) | Self::TooLong(why) => f.write_str(why),
            Self::StandsStill(at) => write!(
                f,
                "time stands still at {at}: a window sender's packets and acknowledgements cross links without rate \
                 and delay; give one of them a rate or a delay"
            ),
        }
    }
}

impl std::error::Error for SimError {}

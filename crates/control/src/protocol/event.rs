//! What the lab tells clients that have subscribed to it.

use super::connections::TcpSample;
use super::packets::PacketSample;
use super::reply::LabStats;
use super::request::{Id, Stream, Topic};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// An event as it is sent.
#[derive(Debug, Serialize)]
pub(crate) struct Notice<'a> {
    /// The identifier of the subscription, if that has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<&'a Id>,
    /// The event.
    #[serde(flatten)]
    pub(crate) event: &'a Event,
}

/// An event that the lab sends to a client that has subscribed to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// Something happened in the lab: an entry of the timeline, a change of a link, the start or end of a service. It is in
    /// `events.jsonl` of the results, too.
    Lab(Happened),
    /// The counters of every pipe, and of every port of a switch.
    Stats(Sample),
    /// The TCP connections of nodes.
    Tcp(TcpSample),
    /// Records of some packets of each pipe.
    Packets(PacketSample),
    /// A command or service wrote whole lines.
    Output(Output),
    /// A subscription has ended, though nobody asked for it.
    Ended {
        /// The topic of the subscription that has ended.
        events: Topic,
        /// The reason for which it has ended.
        because: String,
    },
}

/// Something that happened in a lab.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Happened {
    /// The lab time since the engine started, in nanoseconds.
    pub at_ns: u64,
    /// The lab time since time zero, in nanoseconds; null before time zero.
    pub since_zero_ns: Option<u64>,
    /// The kind of the event, for example `link changed`.
    pub what: String,
    /// Details of the event, such as the link and what was set. The keys depend on `what`.
    pub details: Map<String, Value>,
}

/// The counters of a lab's pipes and switches, sampled at an interval that the client chose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sample {
    /// The lab time since time zero, in nanoseconds; null before time zero.
    pub since_zero_ns: Option<u64>,
    /// The number of samples that were left out before this one, because the client had not read what was sent before.
    pub lost: u64,
    /// The counters, as in the reply to `stats`.
    #[serde(flatten)]
    pub stats: LabStats,
}

/// Lines that a command or service wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Output {
    /// The name of the command or service.
    pub command: String,
    /// The node that the command or service runs on.
    pub node: String,
    /// The output stream to which it wrote.
    pub stream: Stream,
    /// The lines, without their ends. Bytes that are not UTF-8 are replaced by U+FFFD.
    pub lines: Vec<String>,
    /// Whether the last line goes on in the next event of this command and stream, because it is long.
    pub partial: bool,
}

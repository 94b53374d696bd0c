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

/// What the lab tells a client that has subscribed to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// Something happened in the lab: an entry of the timeline, a change of a link, the start or end of a service. It is in
    /// `events.jsonl` of the results, too.
    Lab(Happened),
    /// What every pipe has counted.
    Stats(Sample),
    /// The TCP connections of nodes.
    Tcp(TcpSample),
    /// What has become of some packets of each pipe.
    Packets(PacketSample),
    /// A command or service wrote whole lines.
    Output(Output),
    /// A subscription has ended, though nobody asked for it.
    Ended {
        /// Which one.
        events: Topic,
        /// Why.
        because: String,
    },
}

/// Something that happened in a lab.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Happened {
    /// Lab time since the engine started.
    pub at_ns: u64,
    /// The same since time zero; none before it.
    pub since_zero_ns: Option<u64>,
    /// What happened, for example `link changed`.
    pub what: String,
    /// More about it, such as the link and what was set. The keys depend on what happened.
    pub details: Map<String, Value>,
}

/// What the pipes of a lab have counted, told at a chosen step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sample {
    /// Lab time since time zero; none before it.
    pub since_zero_ns: Option<u64>,
    /// How many samples were left out before this one, because the client had not read what was sent before.
    pub lost: u64,
    /// As in the reply to `stats`.
    #[serde(flatten)]
    pub stats: LabStats,
}

/// What a command or service wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Output {
    /// Its name.
    pub command: String,
    /// The node that it runs on.
    pub node: String,
    /// Where it wrote.
    pub stream: Stream,
    /// The lines, without their ends. What is no UTF-8 is replaced by U+FFFD.
    pub lines: Vec<String>,
    /// Whether the last one goes on in the next event of this command and stream, because it is long.
    pub partial: bool,
}

//! Some of the packets of each pipe, as the lab tells clients of them that have subscribed to it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What has become of picked packets, told at a chosen step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PacketSample {
    /// Lab time since the engine started.
    pub at_ns: u64,
    /// The same since time zero; none before it.
    pub since_zero_ns: Option<u64>,
    /// How many records were left out before these, because the client had not read what was sent before, or asks too rarely.
    pub lost: u64,
    /// Those of one pipe in the order in which it was known what became of them.
    pub packets: Vec<PacketRecord>,
}

/// What has become of a packet in one pipe that was picked there: it was sent to its end, or dropped. One that is dropped on its way is
/// told for a second time then. All instants are lab time since the engine started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PacketRecord {
    /// The pipe's place in the list `pipes` of `stats`.
    pub pipe: u32,
    /// What tells it from other packets of this pipe.
    pub packet: u64,
    /// When it came in.
    pub entered_ns: u64,
    /// When its transmission began; none if it was not sent.
    pub start_ns: Option<u64>,
    /// When its transmission ended; none if it was not sent.
    pub sent_ns: Option<u64>,
    /// When it is due at the other end; none if it was not sent.
    pub due_ns: Option<u64>,
    /// Where it ended before; none if it was not dropped, or not yet.
    pub dropped: Option<PacketDrop>,
    /// Its size from the IP header on; of all its segments.
    pub bytes: u64,
    /// Of how many segments of a super-packet it consists.
    pub segments: u32,
    /// Whose it is; none if it is not an IP packet.
    pub flow: Option<PacketFlow>,
}

/// The drop of a packet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PacketDrop {
    /// When.
    pub at_ns: u64,
    /// Why, as journals have it: `loss`, `queue`, `early` or `down`.
    pub cause: String,
}

/// Whose packet it is, by its headers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PacketFlow {
    /// The source's address, with the port where the protocol has them: `10.0.0.1:40000` or `[fd00::1]:40000`.
    pub source: String,
    /// The destination's, likewise.
    pub destination: String,
    /// The protocol above IP as `match` of a lab file has it: by name, for example `tcp`, or else by number.
    pub protocol: String,
}

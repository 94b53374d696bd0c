//! Some of the packets of each pipe, as the lab tells clients of them that have subscribed to it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Records of sampled packets, sent at an interval that the client chose.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PacketSample {
    /// The lab time since the engine started, in nanoseconds.
    pub at_ns: u64,
    /// The lab time since time zero, in nanoseconds; null before time zero.
    pub since_zero_ns: Option<u64>,
    /// The number of records that were left out before these, because the client had not read what was sent before, or asks too rarely.
    pub lost: u64,
    /// The records. Those of one pipe are in the order in which it was known what became of the packets.
    pub packets: Vec<PacketRecord>,
}

/// The record of a packet that was sampled in one pipe: it was sent to its end, or dropped. A packet that is dropped after that, on its
/// way, has a second record. All instants are lab time since the engine started, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PacketRecord {
    /// The pipe's place in the list `pipes` of `stats`.
    pub pipe: u32,
    /// A number that distinguishes the packet from the other sampled packets of this pipe.
    pub packet: u64,
    /// When the packet entered the pipe.
    pub entered_ns: u64,
    /// When the transmission of the packet began; null if it was not sent.
    pub start_ns: Option<u64>,
    /// When the transmission of the packet ended; null if it was not sent.
    pub sent_ns: Option<u64>,
    /// When the packet is due at the other end; null if it was not sent.
    pub due_ns: Option<u64>,
    /// The drop of the packet; null if it was not dropped, or not yet.
    pub dropped: Option<PacketDrop>,
    /// The size of the packet from the IP header on, in bytes; of all its segments together.
    pub bytes: u64,
    /// The number of segments of a super-packet that the packet consists of.
    pub segments: u32,
    /// The flow that the packet belongs to; null if it is not an IP packet.
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

//! What a journal says of a packet.

use netloom_judge::PipePlace;
use netloom_lab::{Direction, Plan};
use netloom_link::Cause;
use netloom_packet::Flow;
use serde::{Deserialize, Serialize};

/// A pipe, as journals name it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct JournalPipe {
    /// The name of the pipe's link.
    pub link: String,
    /// The pipe's direction: `forward`, `backward` or `shared`.
    pub direction: String,
    /// The name of a further pipe of that direction; none: the direction's own pipe.
    pub pipe: Option<String>,
}

/// The passage of one packet through one pipe. Instants are lab time in nanoseconds since time zero, and negative
/// before that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The pipe's place among [`JournalReader::pipes`](super::JournalReader::pipes).
    pub pipe: u32,
    /// The instant at which the packet arrived at the pipe.
    pub arrived_ns: i64,
    /// The instant at which the packet's transmission began; none if it never did.
    pub started_ns: Option<i64>,
    /// The instant at which the packet's transmission ended; none if it never did.
    pub sent_ns: Option<i64>,
    /// The instant at which the packet was due at the other end; none if it was never sent.
    pub due_ns: Option<i64>,
    /// The instant at which the pipe marked the packet as having experienced congestion; none if it did not.
    pub marked_ns: Option<i64>,
    /// The packet's fate: delivered, dropped, or still inside.
    pub fate: Fate,
    /// The packet's size from the IP header on.
    pub size_bytes: u32,
    /// The packet's flow; none if it is not an IP packet.
    pub flow: Option<Flow>,
    /// The sequence number of the packet's first byte, if it is a packet of TCP.
    pub sequence: Option<u32>,
    /// The attempt on the air of a radio medium that the record is about, in the place of the whole passage; then the instants are those of its PPDU, and it is
    /// delivered if its destination decoded it.
    pub attempt: Option<AirAttempt>,
}

/// An attempt to send a packet over the air.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AirAttempt {
    /// The number of the attempt, from 1 on.
    pub number: u32,
    /// The rate in thousands of bits per second.
    pub kilobits_per_second: u32,
    /// The name of the node that sent it.
    pub sender: String,
    /// The name of the node for which it was; none: everybody.
    pub receiver: Option<String>,
}

/// The fate of a packet in a pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The packet was delivered at the other end.
    Delivered {
        /// The instant by which the packet had been delivered. In virtual time that is when it was due, or when the
        /// last of the packets with which it left was due; in real time it is when the engine had written it to where
        /// it leads.
        at_ns: i64,
    },
    /// The packet was dropped.
    Dropped {
        /// The instant of the drop.
        at_ns: i64,
        /// The cause of the drop.
        cause: Cause,
    },
    /// The packet was still in the pipe when the run ended.
    Inside,
}

/// What journals call the causes of drops, as the tables of pipes do.
const CAUSES: [(Cause, &str); 7] = [
    (Cause::Loss, "loss"),
    (Cause::Full, "queue"),
    (Cause::Early, "early"),
    (Cause::Down, "down"),
    (Cause::Partition, "partition"),
    (Cause::Fault, "fault"),
    (Cause::Air, "air"),
];

/// A cause's place among [`cause_names`].
pub(super) fn cause_place(cause: Cause) -> usize {
    CAUSES.iter().position(|(other, _)| *other == cause).expect("all causes have a name")
}

/// The names of all causes.
pub(super) fn cause_names() -> impl Iterator<Item = &'static str> {
    CAUSES.iter().map(|(_, name)| *name)
}

/// The cause of this name.
pub(super) fn cause_of(name: &str) -> Option<Cause> {
    CAUSES.iter().find(|(_, other)| *other == name).map(|(cause, _)| *cause)
}

/// Returns the name of a cause of drops.
pub fn cause_name(cause: Cause) -> &'static str {
    CAUSES[cause_place(cause)].1
}

impl Record {
    /// Returns how long the packet was in the pipe until it was due, in nanoseconds; none if it was not sent.
    pub fn delay_ns(&self) -> Option<i64> {
        self.due_ns.map(|due| due - self.arrived_ns)
    }

    /// Returns how long the packet waited for the transmitter, in nanoseconds; none if it never got there.
    pub fn waited_ns(&self) -> Option<i64> {
        self.started_ns.map(|started| started - self.arrived_ns)
    }

    /// Returns the instant at which the packet was delivered or dropped; none while it is inside.
    pub fn ended_ns(&self) -> Option<i64> {
        match self.fate {
            Fate::Delivered { at_ns } | Fate::Dropped { at_ns, .. } => Some(at_ns),
            Fate::Inside => None,
        }
    }
}

impl JournalPipe {
    /// Each pipe of a plan, in the order of the numbers.
    pub(super) fn all(plan: &Plan) -> Vec<Self> {
        let named = plan.pipes().map(|pipe| (pipe.link_name.to_owned(), PipePlace::of(&pipe)));
        named.map(|(link, place)| Self { link, direction: place.direction.name().into(), pipe: place.pipe }).collect()
    }

    /// Whether the pipe is of this direction.
    pub fn is_of(&self, direction: Direction) -> bool {
        self.direction == direction.name()
    }
}

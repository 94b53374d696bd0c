//! What the lab answers.

use super::node_state::NodeState;
use super::request::Id;
use super::so_far::SoFar;
use super::topology::{ServiceInfo, Topology};
use netloom_judge::{Effects, ExerciseReport, ExitCode, StationRow, SwitchRow};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A reply as it is sent.
#[derive(Debug, Serialize)]
pub(crate) struct Answer<'a> {
    /// The identifier of the request that it belongs to, if that has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<&'a Id>,
    /// The reply.
    #[serde(flatten)]
    pub(crate) reply: &'a Reply,
}

/// A reply of the lab to a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "reply", rename_all = "snake_case")]
pub enum Reply {
    /// The reply to `hello`.
    Hello(Greeting),
    /// The reply to `info`.
    Info(LabInfo),
    /// The reply to `topology`.
    Topology(Topology),
    /// The reply to `now`, `advance`, `pause` and `resume`.
    Now(Now),
    /// The reply to `stats`.
    Stats(LabStats),
    /// The reply to `verdict`.
    Verdict(SoFar),
    /// The reply to `exercise`.
    Exercise(ExerciseReport),
    /// The first reply to `exec`: the program runs. Also the reply to `capture`: packets are on their way.
    Started,
    /// The second reply to `exec`: the program has ended.
    Exited {
        /// The program's exit code, or 128 and the number of the signal that ended it.
        code: i32,
    },
    /// The reply to `socket`. The socket's file descriptor comes along with the first byte of this line.
    Socket,
    /// The reply to `console`. A file descriptor comes along with the first byte of this line; what is written to it is typed at the
    /// machine.
    Console {
        /// The file that still takes what the console shows.
        log: PathBuf,
    },
    /// The request is done.
    Done,
    /// The request is refused: it cannot be done.
    Refused(Refused),
}

/// Why a request is refused. Nothing of it was done, and the connection goes on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Refused {
    /// The exit code that a command ends with for this reason.
    pub code: u8,
    /// Why, and what would be right.
    pub message: String,
    /// The key of the request that is wrong, if it is a single one, for example `argv[0]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

impl Refused {
    /// The request is wrong.
    pub fn usage(message: impl Into<String>) -> Self {
        Self { code: ExitCode::Usage.number(), message: message.into(), key: None }
    }
}

/// The answer of a lab to a client that has sent `hello`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Greeting {
    /// The major version of the protocol.
    pub version: u32,
    /// The minor version of the protocol. It includes everything that lower minor versions have.
    pub minor: u32,
    /// The version of the program.
    pub program: String,
    /// The lab's name.
    pub lab: String,
    /// The names of the features that the lab offers.
    pub capabilities: Vec<String>,
}

/// A running lab.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabInfo {
    /// The name of the lab.
    pub name: String,
    /// The mode of the lab: `run` or `up`.
    pub mode: String,
    /// The path of the lab file.
    pub file: PathBuf,
    /// The process id of the lab's supervisor, as seen from outside the lab.
    pub pid: i32,
    /// The age of the lab, as lab time since the engine started, in nanoseconds.
    pub age_ns: u64,
    /// The folder of the lab's logs and results.
    pub folder: PathBuf,
    /// The nodes of the lab.
    pub nodes: Vec<NodeInfo>,
    /// The number of links of the lab.
    pub links: usize,
    /// The ports of this machine that lead into nodes, in words.
    #[serde(default)]
    pub exposed: Vec<String>,
    /// The traffic of this machine that goes through the lab's link, as `match` has it; absent if only the traffic of the lab's nodes does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diverted: Option<String>,
    /// The services of the lab, in the order of the lab file.
    #[serde(default)]
    pub services: Vec<ServiceInfo>,
    /// The longest time that the lab may take to end once it is asked to, in nanoseconds of wall time.
    #[serde(default)]
    pub longest_stop_ns: u64,
    /// The reason, in words, why lab time stands still though it should go on; null while it goes on.
    #[serde(default)]
    pub stalled: Option<String>,
    /// Whether lab time is paused by a client, or since the lab came up in virtual time.
    #[serde(default)]
    pub paused: bool,
}

/// A node of a running lab.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NodeInfo {
    /// Its name.
    pub name: String,
    /// `host`, `router`, `transit`, `switch`, `hub`, `openflow`, or `outside` for what is none of the lab's.
    pub kind: String,
    /// Its addresses, interface by interface.
    pub addresses: Vec<String>,
    /// Whether it runs.
    #[serde(default)]
    pub state: NodeState,
}

/// The counters of a lab's pipes and switches so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabStats {
    /// The lab time since the engine started, in nanoseconds.
    pub at_ns: u64,
    /// The counters of the pipes: every link's own ones in the order of the lab file, forward before backward; then all further ones.
    pub pipes: Vec<PipeStats>,
    /// The counters of every port of every switch, in the order of the lab file.
    #[serde(default)]
    pub switches: Vec<SwitchRow>,
    /// The counters of every station of every radio medium since time zero, in the order of the lab file.
    #[serde(default)]
    pub stations: Vec<StationRow>,
}

/// The counters of one pipe so far. Packets are segments; bytes count from the IP header on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PipeStats {
    /// The link's name.
    pub link: String,
    /// The direction of the pipe: `forward` or `backward`; `shared` for a shared medium.
    pub direction: String,
    /// The name of a further pipe; null for the direction's own.
    pub pipe: Option<String>,
    /// The node where packets enter the pipe.
    pub from: String,
    /// The node where packets leave the pipe.
    pub to: String,
    /// Whether the link is joined in the kernel, so that nothing of it is measured and all figures are zero.
    #[serde(default)]
    pub joined_in_kernel: bool,
    /// The rate in force, in bits per second; null if it is unlimited.
    pub rate_bits_per_second: Option<u64>,
    /// The propagation delay in force, in nanoseconds.
    pub delay_ns: u64,
    /// Whether nobody has cut the link; one that flaps by itself may be down all the same.
    pub up: bool,
    /// Packets that were inside the pipe at time zero. All other counters begin there; before time zero, they count from the lab's set-up.
    #[serde(default)]
    pub in_flight_at_start_packets: u64,
    /// Packets that are inside the pipe now: they wait, are sent or travel.
    #[serde(default)]
    pub in_flight_packets: u64,
    /// Packets that arrived at the pipe.
    pub arrived_packets: u64,
    /// Bytes of the packets that arrived at the pipe.
    pub arrived_bytes: u64,
    /// Packets that departed from the pipe, at its far end.
    pub departed_packets: u64,
    /// Bytes of the packets that departed from the pipe.
    pub departed_bytes: u64,
    /// Packets that are in the pipe's queue now.
    pub queued_packets: u64,
    /// Bytes of the packets that are in the pipe's queue now.
    pub queued_bytes: u64,
    /// Packets that were dropped because the queue was full.
    pub dropped_queue_packets: u64,
    /// Packets that were dropped by the loss model.
    pub dropped_loss_packets: u64,
    /// Packets that were dropped by the queue's discipline, though there was room.
    pub dropped_early_packets: u64,
    /// Packets that were dropped because the link was down.
    pub dropped_down_packets: u64,
    /// Packets that were dropped because a partition was between the nodes from which and for which they were.
    #[serde(default)]
    pub dropped_partition_packets: u64,
    /// Packets that a fault of the timeline dropped.
    #[serde(default)]
    pub dropped_fault_packets: u64,
    /// Packets that were lost on the air: after their last retry, or to everybody in a collision.
    #[serde(default)]
    pub dropped_air_packets: u64,
    /// The counters of everything else that the pipe did to packets.
    #[serde(flatten)]
    pub effects: Effects,
}

/// The time of a lab.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Now {
    /// The lab time since the engine started, in nanoseconds.
    pub at_ns: u64,
    /// The lab time since time zero, when all services were ready, in nanoseconds; null before time zero.
    pub since_zero_ns: Option<u64>,
    /// The kind of clock: `real`, `dilated` or `virtual`.
    pub clock: String,
    /// Whether lab time stands still because a client wants it to, or because the lab came up in virtual time.
    #[serde(default)]
    pub paused: bool,
    /// The number of seconds of wall time that a second of lab time lasts; null in virtual time.
    pub dilation: Option<f64>,
    /// The reason, in words, why lab time stands still though it should go on; null while it goes on.
    pub stalled: Option<String>,
}

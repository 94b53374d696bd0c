//! What the lab answers.

use super::node_state::NodeState;
use super::request::Id;
use super::so_far::SoFar;
use super::topology::{ServiceInfo, Topology};
use netloom_judge::{Effects, ExerciseReport, ExitCode, SwitchRow};
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

/// What the lab answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "reply", rename_all = "snake_case")]
pub enum Reply {
    /// To `hello`.
    Hello(Greeting),
    /// To `info`.
    Info(LabInfo),
    /// To `topology`.
    Topology(Topology),
    /// To `now`, `advance`, `pause` and `resume`.
    Now(Now),
    /// To `stats`.
    Stats(LabStats),
    /// To `verdict`.
    Verdict(SoFar),
    /// To `exercise`.
    Exercise(ExerciseReport),
    /// To `exec`: the program runs. To `capture`: packets are on their way.
    Started,
    /// A second reply to `exec`: the program has ended.
    Exited {
        /// Its exit code, or 128 and the number of the signal that ended it.
        code: i32,
    },
    /// To `socket`: its descriptor comes along with the first byte of this line.
    Socket,
    /// To `console`: a descriptor comes along with the first byte of this line, and what is written there is typed at the machine.
    Console {
        /// The file that goes on taking what the console shows.
        log: PathBuf,
    },
    /// It is done.
    Done,
    /// It cannot be done.
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

/// What a lab says to a client that has said hello.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Greeting {
    /// The major version of the protocol.
    pub version: u32,
    /// Its minor version: everything that a lower one has is there, too.
    pub minor: u32,
    /// The version of the program.
    pub program: String,
    /// The lab's name.
    pub lab: String,
    /// What the lab offers, by name.
    pub capabilities: Vec<String>,
}

/// A running lab.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabInfo {
    /// Its name.
    pub name: String,
    /// `run` or `up`.
    pub mode: String,
    /// The lab file.
    pub file: PathBuf,
    /// The process id of its supervisor, as seen from outside.
    pub pid: i32,
    /// How long it has been there.
    pub age_ns: u64,
    /// Where its logs and results are.
    pub folder: PathBuf,
    /// Its nodes.
    pub nodes: Vec<NodeInfo>,
    /// How many links it has.
    pub links: usize,
    /// The ports of this machine that lead into nodes, in words.
    #[serde(default)]
    pub exposed: Vec<String>,
    /// The traffic of this machine that goes through its link, as `match` has it; none: that of its nodes does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diverted: Option<String>,
    /// Its services, in the order of the lab file.
    #[serde(default)]
    pub services: Vec<ServiceInfo>,
    /// How long it may take to end, at most, when it is asked to, in wall time.
    #[serde(default)]
    pub longest_stop_ns: u64,
    /// That its time stands still though it should go on, in words; none while it goes on.
    #[serde(default)]
    pub stalled: Option<String>,
    /// Whether its time is held by a client, or since it came up in virtual time.
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

/// What the pipes of a lab counted so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabStats {
    /// Lab time since the engine started.
    pub at_ns: u64,
    /// Every link's own pipes in the order of the lab file, forward before backward; then all further ones.
    pub pipes: Vec<PipeStats>,
    /// Every port of every switch, in the order of the lab file.
    #[serde(default)]
    pub switches: Vec<SwitchRow>,
}

/// What one pipe counted so far. Packets are segments; bytes count from the IP header on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PipeStats {
    /// The link's name.
    pub link: String,
    /// `forward` or `backward`; `shared` of a shared medium.
    pub direction: String,
    /// The name of a further pipe; none: the direction's own.
    pub pipe: Option<String>,
    /// The node where packets enter.
    pub from: String,
    /// The node where they leave.
    pub to: String,
    /// Whether the link is joined in the kernel, so that nothing of it is measured and all figures are zero.
    #[serde(default)]
    pub joined_in_kernel: bool,
    /// The rate in force; none: unlimited.
    pub rate_bits_per_second: Option<u64>,
    /// The propagation delay in force.
    pub delay_ns: u64,
    /// Whether nobody has cut the link; one that flaps by itself may be down all the same.
    pub up: bool,
    /// Packets that were inside at time zero. All other counters begin there; before time zero, they count from the lab's set-up.
    #[serde(default)]
    pub in_flight_at_start_packets: u64,
    /// Packets that are inside now: they wait, are sent or travel.
    #[serde(default)]
    pub in_flight_packets: u64,
    /// Packets that arrived at the pipe.
    pub arrived_packets: u64,
    /// Their bytes.
    pub arrived_bytes: u64,
    /// Packets that departed from it, at its far end.
    pub departed_packets: u64,
    /// Their bytes.
    pub departed_bytes: u64,
    /// Packets in its queue now.
    pub queued_packets: u64,
    /// Their bytes.
    pub queued_bytes: u64,
    /// Dropped because the queue was full.
    pub dropped_queue_packets: u64,
    /// Dropped by the loss model.
    pub dropped_loss_packets: u64,
    /// Dropped by the queue's discipline, though there was room.
    pub dropped_early_packets: u64,
    /// Dropped because the link was down.
    pub dropped_down_packets: u64,
    /// What else happened in it.
    #[serde(flatten)]
    pub effects: Effects,
}

/// The time of a lab.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Now {
    /// Lab time since the engine started.
    pub at_ns: u64,
    /// The same since time zero, when all services were ready; none before.
    pub since_zero_ns: Option<u64>,
    /// `real`, `dilated` or `virtual`.
    pub clock: String,
    /// Whether time stands still because a client wants it to, or because the lab came up in virtual time.
    #[serde(default)]
    pub paused: bool,
    /// How many seconds of wall time a second of the lab lasts; none in virtual time.
    pub dilation: Option<f64>,
    /// That time stands still though it should go on, in words; none while it goes on.
    pub stalled: Option<String>,
}

//! What is said over a lab's control socket: one JSON object per line, in both directions.
//!
//! The socket lies in the lab's runtime folder, which only its user may enter.

use netloom_judge::Effects;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What a client may ask of a running lab.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "snake_case")]
pub enum Request {
    /// Who are you?
    Info,
    /// What did the pipes count?
    Stats,
    /// Run a program; its standard input, output and error come along as file descriptors.
    Exec(Exec),
    /// Capture a link's packets; where they go comes along as a file descriptor.
    Capture(Capture),
    /// Send a signal to the program that this connection started.
    Signal {
        /// The signal's number.
        signal: i32,
    },
    /// Change a link while it runs.
    Set(Set),
    /// Stop the lab.
    Down,
}

/// A program to run in a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exec {
    /// The node's name.
    pub node: String,
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Added to the environment of the lab.
    pub env: Vec<(String, String)>,
    /// Where it starts.
    pub cwd: PathBuf,
    /// Whether standard input is a terminal that the program shall control.
    pub terminal: bool,
    /// The user that it runs as, by name or number; none: the node's root.
    pub user: Option<String>,
}

/// A capture of a link that lasts until the connection ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capture {
    /// The link's name.
    pub link: String,
    /// `forward` or `backward`; none: both.
    pub direction: Option<String>,
    /// `sent`, `delivered`, or a node at an end of the link; none: both ends.
    #[serde(default)]
    pub at: Option<String>,
    /// So much of each packet is wanted, from the Ethernet header on; none: all.
    pub snaplen_bytes: Option<u64>,
}

/// A change of a link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Set {
    /// The link's name.
    pub link: String,
    /// `forward` or `backward`; none: both.
    pub direction: Option<String>,
    /// The name of a further pipe; none: the link's own, or all of them if it is about the state.
    pub pipe: Option<String>,
    /// Keys and values as in a lab file; `state` may also be `up` or `down`.
    pub changes: Vec<(String, String)>,
}

/// What the lab answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reply", rename_all = "snake_case")]
pub enum Reply {
    /// To [`Request::Info`].
    Info(LabInfo),
    /// To [`Request::Stats`].
    Stats(LabStats),
    /// To [`Request::Exec`]: the program runs. To [`Request::Capture`]: packets are on their way.
    Started,
    /// The program that this connection started has ended.
    Exited {
        /// Its exit code, or 128 and the number of the signal that ended it.
        code: i32,
    },
    /// It is done.
    Done,
    /// It cannot be done.
    Refused {
        /// The exit code for the client.
        code: u8,
        /// Why.
        message: String,
    },
}

/// A running lab.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// Its services, in the order of the lab file.
    #[serde(default)]
    pub services: Vec<ServiceInfo>,
    /// How long it may take to end, at most, when it is asked to, in wall time.
    #[serde(default)]
    pub longest_stop_ns: u64,
    /// That its time stands still, in words; none while it goes on.
    #[serde(default)]
    pub stalled: Option<String>,
}

/// A service of a running lab.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceInfo {
    /// Its name.
    pub name: String,
    /// The node it runs on.
    pub node: String,
    /// How it is.
    pub state: ServiceState,
    /// Its exit code, if it has ended by itself.
    pub exit_code: Option<i32>,
    /// The signal that has ended it.
    pub signal: Option<i32>,
    /// How long ago it ended, in lab time.
    pub ended_since_ns: Option<u64>,
}

/// How a service is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServiceState {
    /// It has not been started.
    Waiting,
    /// It runs, and is not ready for others.
    Starting,
    /// It runs, and others can use it.
    Ready,
    /// It has ended with 0, as it may.
    Done,
    /// It was stopped, as is due.
    Stopped,
    /// It has ended before it should.
    Dead,
}

/// A node of a running lab.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeInfo {
    /// Its name.
    pub name: String,
    /// `host` or `router`.
    pub kind: String,
    /// Its addresses, interface by interface.
    pub addresses: Vec<String>,
}

/// What the pipes of a lab counted so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LabStats {
    /// Lab time since the engine started.
    pub at_ns: u64,
    /// Every link's own pipes in the order of the lab file, forward before backward; then all further ones.
    pub pipes: Vec<PipeStats>,
}

/// What one pipe counted so far. Packets are segments; bytes count from the IP header on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PipeStats {
    /// The link's name.
    pub link: String,
    /// `forward` or `backward`.
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
    /// Came in.
    pub arrived_packets: u64,
    /// Came in.
    pub arrived_bytes: u64,
    /// Was handed out.
    pub departed_packets: u64,
    /// Was handed out.
    pub departed_bytes: u64,
    /// Waits just now.
    pub queued_packets: u64,
    /// Waits just now.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_survives_the_socket() {
        let request = Request::Set(Set {
            link: "backbone".into(),
            direction: Some("forward".into()),
            pipe: Some("voip".into()),
            changes: vec![("delay".into(), "80 ms".into())],
        });
        let line = netloom_host::jsonl::to_line(&request);
        assert_eq!(serde_json::from_slice::<Request>(&line).unwrap(), request);
    }
}

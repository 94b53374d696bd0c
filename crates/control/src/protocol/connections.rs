//! The TCP connections of a lab's nodes, as clients see them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The TCP connections of nodes, sampled at an interval that the client chose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TcpSample {
    /// The lab time since the engine started, in nanoseconds.
    pub at_ns: u64,
    /// The lab time since time zero, in nanoseconds; null before time zero.
    pub since_zero_ns: Option<u64>,
    /// The number of samples that were left out before this one, because the client had not read what was sent before.
    pub lost: u64,
    /// The nodes of which anything is known, in the order of the lab file, with their connections.
    pub nodes: Vec<NodeConnections>,
}

/// The TCP connections of a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodeConnections {
    /// The node's name.
    pub node: String,
    /// When they were so: lab time since the engine started. Where a kernel is asked and not waited for, that is earlier than the event.
    pub at_ns: u64,
    /// At most a hundred.
    pub connections: Vec<TcpConnection>,
    /// How many more there are: those that have carried least.
    pub left_out: u64,
    /// Why its kernel does not tell; none if it does.
    pub failure: Option<String>,
}

/// One end of a TCP connection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TcpConnection {
    /// A number that distinguishes the connection from all others that the node has had.
    pub connection: u64,
    /// The node's own address and port.
    pub local: String,
    /// The address and port of the other end.
    pub remote: String,
    /// The congestion control algorithm, for example `cubic`.
    pub congestion: String,
    /// The state of the connection, for example `established`.
    pub state: String,
    /// The state of the congestion control, for example `recovery`.
    pub ca_state: String,
    /// Whether the program gave the connection less to send than it could have sent.
    pub app_limited: bool,
    /// The figures that the kernel reports, by the names of columns of `tcp.csv`. A figure that it does not report is absent.
    #[schemars(with = "std::collections::BTreeMap<String, f64>")]
    pub figures: Map<String, Value>,
}

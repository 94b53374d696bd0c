//! The TCP connections of a lab's nodes, as clients are told of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The TCP connections of nodes, told at a chosen step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TcpSample {
    /// Lab time since the engine started.
    pub at_ns: u64,
    /// The same since time zero; none before it.
    pub since_zero_ns: Option<u64>,
    /// How many samples were left out before this one, because the client had not read what was sent before.
    pub lost: u64,
    /// Those of which anything is known, in the order of the lab file.
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
    /// What tells it from all others that the node has had.
    pub connection: u64,
    /// The node's own address and port.
    pub local: String,
    /// Those of the other end.
    pub remote: String,
    /// Its congestion control, for example `cubic`.
    pub congestion: String,
    /// Its state, for example `established`.
    pub state: String,
    /// What its congestion control does, for example `recovery`.
    pub ca_state: String,
    /// Whether its program gave it less to send than it could have sent.
    pub app_limited: bool,
    /// What its kernel tells, by the names of columns of `tcp.csv`; what it does not tell, is not there.
    #[schemars(with = "std::collections::BTreeMap<String, f64>")]
    pub figures: Map<String, Value>,
}

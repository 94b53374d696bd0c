use serde::{Deserialize, Serialize};

/// What was sampled of TCP connections inside nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TcpReport {
    /// The file with one row per connection and sample, in the results folder.
    pub file: String,
    /// Connections that are in it.
    pub connections: u64,
    /// Its rows.
    pub rows: u64,
    /// Rows that are missing because a node had too many connections at once.
    pub left_out: u64,
    /// The nodes that had as many rows as there may be: what happened to their connections afterwards is missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub full: Vec<String>,
}

use serde::{Deserialize, Serialize};

/// The file with the samples of TCP connections inside nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TcpReport {
    /// The file with one row per connection and sample, in the results folder.
    pub file: String,
    /// The number of connections in the file.
    pub connections: u64,
    /// The number of rows in the file.
    pub rows: u64,
    /// Rows that are missing because a node had too many connections at once.
    pub left_out: u64,
    /// The nodes that had as many rows as there may be: what happened to their connections afterwards is missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub full: Vec<String>,
}

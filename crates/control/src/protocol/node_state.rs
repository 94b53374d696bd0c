//! Nodes that stop and start.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether a node runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NodeState {
    /// It runs.
    #[default]
    Running,
    /// It was asked to stop, and its programs have not all ended.
    Stopping,
    /// It has stopped: its links are cut, and nothing runs in it.
    Stopped,
    /// The node's kernel is gone, and so is all that ran in it.
    Crashed,
    /// The node stands still, and goes on in its time.
    Frozen,
    /// It starts again: its network is there, and its services will be.
    Starting,
}

//! Nodes: each a process with namespaces of its own that serves the lab process over a pair of sockets.

mod agent;
mod config;
mod configure;
mod handle;
mod inspect;
mod outbox;
mod program;
mod protocol;

pub use config::{InterfaceConfig, NodeConfig, RouteConfig};
pub use handle::{Node, NodeError, NodeEvent, Spawn, SpawnError};
pub use protocol::{CpuWait, ProcessId};

//! Nodes: each a process with namespaces of its own that serves the lab process over a pair of sockets.

pub(crate) mod agent;
mod config;
pub(crate) mod configure;
mod congestion;
pub(crate) mod ethtool;
mod fresh;
mod handle;
pub(crate) mod inspect;
mod joined;
mod limits;
pub(crate) mod offloads;
mod outbox;
mod own;
mod parameters;
pub(crate) mod program;
pub(crate) mod programs;
pub(crate) mod protocol;
pub(crate) mod routes;
pub(crate) mod shut;
mod socket;
pub(crate) mod watch;

pub use crate::files::{Contents, FileConfig, FilesConfig, ImageConfig, VolumeConfig};
pub use config::{Hosts, InterfaceConfig, NodeConfig, RouteConfig, RuleConfig, TableRouteConfig};
pub use handle::{Account, Node, NodeError, NodeEvent, Spawn, SpawnError};
pub use joined::{Attendant, Container, ContainerError, Keeper, PODMANS_ENTRANCE};
pub use offloads::prepare_far_ends;
pub use protocol::{CpuWait, ProcessId, Transport};
pub use socket::{SocketConfig, SocketFamily, SocketKind};
pub use watch::{Effect, NetworkChange};

//! Nodes: each a process with namespaces of its own that serves the lab process over a pair of sockets.
//!
//! Order matters where the kernel works in the background:
//!
//! - An interface is brought up before it gets addresses: the kernel restores addresses that are there already
//!   without waiting for memory, and on a busy machine it drops one now and then.
//! - An IPv6 address that the kernel has accepted is not usable yet: a worker completes it later, one after the other
//!   for all namespaces. So nodes are asked until a look-up of each address ends at the node itself.
//! - An agent listens to what programs do to the node's network, and reads it only when the run is over: read at
//!   once, it would take a turn of the processor each time. It begins to listen when all nodes are configured: the
//!   kernel offers every change of any network to every listener of the machine, which for a thousand nodes took a
//!   third of the set-up time.

mod account;
pub(crate) mod agent;
mod ceilings;
mod client;
pub(crate) mod clock;
mod config;
pub(crate) mod configure;
mod congestion;
pub(crate) mod disk;
pub(crate) mod dispatch;
mod errors;
pub(crate) mod ethtool;
mod fresh;
pub(crate) mod groups;
mod handle;
pub(crate) mod inspect;
mod joined;
mod limits;
mod matching;
pub(crate) mod offloads;
mod outbox;
mod own;
pub(crate) mod packets;
mod parameters;
pub(crate) mod program;
mod program_faults;
pub(crate) mod programs;
pub(crate) mod protocol;
pub(crate) mod routes;
pub(crate) mod shut;
mod socket;
pub(crate) mod watch;

pub use crate::files::{Contents, FileConfig, FilesConfig, ImageConfig, VolumeConfig};
pub use account::Account;
pub use ceilings::{Ceiling, CeilingOrder};
pub use client::AgentClient;
pub use clock::{ClockOrder, Leap};
pub use config::{DiskConfig, Hosts, InterfaceConfig, NodeConfig, RouteConfig, RuleConfig, TableRouteConfig};
pub use disk::{DiskFaultKind, DiskFaultOrder, DiskOrder};
pub use errors::{NodeError, SpawnError};
pub use handle::{Node, NodeEvent, Spawn};
pub use joined::{Attendant, Container, ContainerError, Keeper, PODMANS_ENTRANCE};
pub use offloads::prepare_far_ends;
pub use program_faults::{CallFault, ProgramFault, ProgramFaultKind, ProgramFaultOutcome, is_call};
pub use protocol::{CpuWait, Identity, ProcessId, Program, Reply, Request, Signalled, Standard, Transport};
pub use socket::{SocketConfig, SocketFamily, SocketKind};
pub use watch::{Effect, NetworkChange};

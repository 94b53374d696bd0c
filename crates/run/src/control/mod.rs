//! The control socket of a running lab.

mod attach;
mod client;
mod labs;
mod protocol;
mod server;
mod terminal;
mod watch;

pub use attach::{Stdio, attach};
pub use client::Client;
pub use labs::{Look, TakenDown, look_at_labs, only_lab, running_labs, take_down};
pub(crate) use labs::{find, holds};
pub use protocol::{Capture, Exec, LabInfo, LabStats, NodeInfo, PipeStats, ServiceInfo, ServiceState, Set};
pub(crate) use protocol::{Reply, Request};
pub(crate) use server::{ClientId, Incoming, Server};
pub use watch::capture;

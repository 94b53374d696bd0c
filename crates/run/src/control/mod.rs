//! The control socket of a running lab.

mod attach;
mod client;
mod labs;
mod protocol;
mod running;
mod server;
mod terminal;
mod watch;

pub use attach::{Stdio, attach};
pub use client::Client;
pub use labs::{Look, TakenDown, look_at_labs, take_down};
pub use protocol::{Capture, Exec, LabInfo, LabStats, NodeInfo, PipeStats, ServiceInfo, ServiceState, Set};
pub(crate) use protocol::{Reply, Request};
pub(crate) use running::{find, holds};
pub use running::{only_lab, running_labs};
pub(crate) use server::{ClientId, Incoming, Server};
pub use watch::capture;

//! The control socket of a running lab.

mod attach;
mod client;
mod protocol;
mod server;
mod watch;

pub use attach::{Stdio, attach};
pub use client::{Client, only_lab, running_labs, take_down};
pub use protocol::{Capture, Exec, LabInfo, LabStats, NodeInfo, PipeStats, Set};
pub(crate) use protocol::{Reply, Request};
pub(crate) use server::{ClientId, Incoming, Server};
pub use watch::capture;

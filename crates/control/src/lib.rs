//! The control socket of a lab that is up: what is said over it, and both of its ends. This crate knows neither namespaces
//! nor packets, nor how a lab does what it is asked for: a [`Server`] hands requests to the lab, which answers them.
//!
//! A user's program speaks through a [`Client`]. [`attach()`] and [`capture`] join a terminal or a file to it,
//! [`look_at_labs`] and [`take_down`] deal with all labs of a user.

#![forbid(unsafe_code)]

mod attach;
mod client;
mod console;
mod debugger;
mod error;
mod labs;
mod protocol;
mod running;
mod server;
mod shell;
mod terminal;
mod watch;

pub use attach::{Stdio, attach};
pub use client::Client;
pub use console::console;
pub use debugger::debug;
pub use error::ControlError;
pub use labs::{Look, Silence, TakenDown, look_at_labs, sweep, take_down};
pub use protocol::{
    Advance, Capture, End, Event, Exec, ExposedPort, Family, Fault, Greeting, Happened, Hello, Id, Interface, LabInfo,
    LabStats, Link, Message, Node, NodeConnections, NodeInfo, NodeName, NodeState, Now, OpenConsole, OpenSocket,
    Output, PacketDrop, PacketFlow, PacketRecord, PacketSample, Partition, Pipe, PipeLateness, PipeStats, Refused,
    Reply, Request, Restart, Sample, ServiceInfo, ServiceState, Set, SignalProgram, SoFar, SocketType, Stream,
    Subscribe, TcpConnection, TcpSample, Topic, Topology, Unsubscribe, VERSION, greet, schema,
};
pub use running::{find, holds, only_lab, running_labs};
pub use server::{Awaited, ClientId, Incoming, Server};
pub use shell::{personal_environment, shell};
pub use watch::capture;

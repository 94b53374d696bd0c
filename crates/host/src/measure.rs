//! What is measured inside a node while its programs run: the state of its TCP connections, and what its processes and its network use.
//!
//! A node's first process takes the samples by timers of the node's clock, so that no message is needed for one. They go to a file as a
//! [stream](SampleStream) of entries, in which a connection, or a node, whose figures are what they were at the sample before has none. Memory is
//! bounded: what has been written down is handed on, and of too many connections or rows the rest is left out and counted.

mod connections;
mod log;
mod now;
mod owners;
mod sampler;
mod stream;
mod system;
mod tcp;

use serde::{Deserialize, Serialize};

pub use log::TcpLog;
pub use now::{TcpConnection, TcpState, TcpView};
pub(crate) use sampler::Sampler;
pub use stream::{Finding, SampleStream};
pub use system::{SystemSample, system_columns};
pub use tcp::{TcpSample, columns};

/// The settings of the measurements in a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeasureConfig {
    /// How long after a sample of TCP connections the next one is due, in nanoseconds of the node's clock, and not 0; none: there are none.
    pub tcp_ns: Option<u64>,
    /// How long after a sample of what the node uses the next one is due, in nanoseconds of the node's clock, and not 0; none: there are none.
    pub node_ns: Option<u64>,
    /// Whether a sample's instant is read from the clock, rather than when it was due: in virtual time reading it takes time, and no
    /// sample is late.
    pub reads_clock: bool,
    /// Whether it is recorded which program has a connection.
    pub owners: bool,
}

/// The end of measuring.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measured {
    /// The present time of the node's clock, by which samples have their times, in nanoseconds.
    pub clock_ns: u64,
    /// Why there are no samples, or no more; none if nothing went wrong.
    pub failure: Option<String>,
}

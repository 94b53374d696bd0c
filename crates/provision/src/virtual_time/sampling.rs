//! What a kernel in virtual time is to sample of its TCP connections.

use netloom_host::measure::TcpLog;
use netloom_units::Duration;

/// Samples that are written down.
pub struct TcpSampling {
    /// How long samples are apart.
    pub step: Duration,
    /// Whether it learns whose the connections are.
    pub owners: bool,
    /// Where they are written.
    pub log: TcpLog,
}

//! A tunnel to a lab of another machine, as a plan has it.

use netloom_units::Duration;

/// A tunnel to a lab of another machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TunnelPlan {
    /// The other machine's address or name.
    pub remote: String,
    /// The line of the lab file that names it.
    pub line: usize,
    /// The port of UDP at both ends.
    pub port: u16,
    /// The number that both ends must have, 1 to 16777215.
    pub vni: u32,
    /// The time that a far end that is silent is waited for.
    pub wait: Duration,
}

impl TunnelPlan {
    /// The default port of UDP. It is assigned to nobody, and below those that kernels give to programs.
    pub const PORT: u16 = 29_789;
    /// The default number.
    pub const VNI: u32 = 1;
    /// The default time that a silent far end is waited for.
    pub const WAIT: Duration = Duration::from_secs(60);
}

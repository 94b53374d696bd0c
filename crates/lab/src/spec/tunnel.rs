//! Tunnels as they are written.

use crate::diagnostics::Spanned;
use crate::plan::{FarInterface, KeyPlan, TunnelPlan};
use netloom_units::Duration;

/// The settings of a tunnel.
#[derive(Debug)]
pub(crate) struct TunnelSpec {
    pub(crate) remote: Spanned<String>,
    pub(crate) port: Option<Spanned<u16>>,
    pub(crate) vni: Option<u32>,
    pub(crate) wait: Option<Duration>,
    pub(crate) key: Option<KeyPlan>,
    /// The interfaces behind the tunnel, by names.
    pub(crate) far_ends: Option<Vec<FarEndSpec>>,
    /// The same, once the names are known; none: it is not said.
    pub(crate) beyond: Option<Vec<FarInterface>>,
}

/// An interface behind a tunnel.
#[derive(Debug)]
pub(crate) struct FarEndSpec {
    pub(crate) node: Spanned<String>,
    pub(crate) interface: Spanned<String>,
}

impl From<TunnelSpec> for TunnelPlan {
    fn from(spec: TunnelSpec) -> Self {
        Self {
            line: spec.remote.span.line,
            remote: spec.remote.value,
            port: spec.port.map_or(Self::PORT, |port| port.value),
            vni: spec.vni.unwrap_or(Self::VNI),
            wait: spec.wait.unwrap_or(Self::WAIT),
            key: spec.key,
        }
    }
}

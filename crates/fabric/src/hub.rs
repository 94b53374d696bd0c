//! A hub: what comes in at one of its ports goes out at all others, at the same instant. It looks at nothing.

use crate::PortId;
use crate::forwarding::Forwarding;
use alloc::{sync::Arc, vec::Vec};
use netloom_packet::Packet;

/// A hub.
#[derive(Clone, Debug, Default)]
pub struct HubSpec {
    /// Its ports, each at the end of a link.
    pub ports: Vec<PortId>,
}

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Hub(Arc<[PortId]>);

impl Hub {
    pub(crate) fn new(spec: &HubSpec) -> Self {
        Self(spec.ports.clone().into())
    }

    /// A packet comes in at `port`.
    pub(crate) fn take(&self, port: PortId, packet: Packet) -> Forwarding {
        Forwarding::Flood(packet, port, Arc::clone(&self.0))
    }
}

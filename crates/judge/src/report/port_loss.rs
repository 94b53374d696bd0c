//! What was lost outside the models.

use serde::{Deserialize, Serialize};

/// The packets that a port lost outside the models: between a node's interface and the link, or back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortLoss {
    /// The link.
    pub link: String,
    /// The node at this end of it.
    pub node: String,
    /// Packets from the node that the link never saw. A super-packet counts once: the kernel counts so.
    pub lost_arriving_packets: u64,
    /// Packets from the link that the node never saw.
    pub lost_leaving_packets: u64,
}

impl PortLoss {
    /// Returns the packets lost both ways together.
    pub fn packets(&self) -> u64 {
        self.lost_arriving_packets + self.lost_leaving_packets
    }
}

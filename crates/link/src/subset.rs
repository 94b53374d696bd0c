//! Which packets somebody wants to count for themselves.

use crate::Filter;
use netloom_packet::Packet;

/// A subset of packets: all conditions that are given must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subset {
    /// The filter of the packets' headers. The filter without conditions matches every packet.
    pub filter: Filter,
    /// The sender of the packets; none: anybody.
    pub sender: Option<Sender>,
}

/// The sender of packets: programs or kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sender {
    /// Programs: their packets, and what kernels answer to them.
    Programs,
    /// Kernels and devices: the packets that they exchange by themselves, see [`Packet::is_chatter`].
    Kernels,
}

impl Subset {
    /// Returns the subset of the packets that kernels and devices exchange by themselves.
    pub fn of_kernels() -> Self {
        Self { filter: Filter::default(), sender: Some(Sender::Kernels) }
    }

    /// Whether the packet belongs to the subset.
    pub fn matches(&self, packet: &Packet) -> bool {
        let is_of_sender = self.sender.is_none_or(|sender| packet.is_chatter() == (sender == Sender::Kernels));
        is_of_sender && (self.filter == Filter::default() || self.filter.matches(packet.flow().as_ref()))
    }
}

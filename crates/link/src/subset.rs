//! Which packets somebody wants to count for themselves.

use crate::Filter;
use netloom_packet::Packet;

/// Which packets are meant: all that is given must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subset {
    /// What their headers say. The filter that says nothing means every packet.
    pub filter: Filter,
    /// Whose packets they are; none: anybody's.
    pub sender: Option<Sender>,
}

/// Whose packets are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sender {
    /// Those of programs, and what kernels answer to them.
    Programs,
    /// Those that kernels and devices exchange by themselves: see [`Packet::is_chatter`].
    Kernels,
}

impl Subset {
    /// What kernels and devices exchange by themselves.
    pub fn of_kernels() -> Self {
        Self { filter: Filter::default(), sender: Some(Sender::Kernels) }
    }

    /// Whether this packet is meant.
    pub fn matches(&self, packet: &Packet) -> bool {
        let is_of_sender = self.sender.is_none_or(|sender| packet.is_chatter() == (sender == Sender::Kernels));
        is_of_sender && (self.filter == Filter::default() || self.filter.matches(packet.flow().as_ref()))
    }
}

//! What is looked at of a node's network, and what it means: the same for nodes on this machine's kernel and on one of their own.

use super::{Effect, NetworkChange};

/// Disciplines without a queue; they only carry filters.
pub(super) const WITHOUT_QUEUE: [&str; 2] = ["ingress", "clsact"];

/// What a program of a node may have done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Looked {
    /// A queueing discipline of a described interface.
    Queue,
    /// One that only carries filters, of which it has none yet.
    Classifier,
    /// A filter of such an interface, in either direction: it drops packets, changes them, or sends them elsewhere (`mirred`, to an
    /// `ifb` for example).
    Filter,
    /// A chain of nftables in front of it, or behind it (`netdev`, or `inet` with the hook `ingress`).
    Chain,
    /// A program of XDP.
    Xdp,
    /// Another MTU.
    Mtu,
    /// It was down.
    Down,
    /// It was removed, or moved to another namespace.
    Gone,
    /// Rings of another size.
    Rings,
    /// Another hardware address.
    Hardware,
    /// Another name.
    Name,
    /// An address more, or one less.
    Address,
    /// An interface that is new: a bridge, a tunnel, a macvlan.
    NewInterface,
    /// More happened than the kernel could tell.
    Unknown,
}

impl Looked {
    /// The table.
    const fn effect(self) -> Effect {
        match self {
            Self::Queue
            | Self::Filter
            | Self::Chain
            | Self::Xdp
            | Self::Mtu
            | Self::Down
            | Self::Gone
            | Self::Rings => Effect::Link,
            Self::Classifier | Self::Hardware | Self::Name | Self::Address | Self::NewInterface | Self::Unknown => {
                Effect::Node
            }
        }
    }

    /// That it was so, in words.
    pub(super) const fn told(self, what: String) -> NetworkChange {
        NetworkChange { effect: self.effect(), what }
    }
}

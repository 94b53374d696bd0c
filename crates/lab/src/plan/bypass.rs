//! Which links are joined in the kernel, and which switches are bridges of the kernel.

use super::{NodeKind, NodePlan, Plan};

/// Whether a link is joined in the kernel: by one veth pair whose ends are in its two nodes, past the packet engine. A switch there is a
/// bridge of the kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Bypass {
    /// The lab file does not ask for it.
    #[default]
    Off,
    /// The link is joined. Its pipes exist and stay empty: nothing of it is measured, changed or captured.
    Joined,
    /// The link was to be joined if possible, and it is not possible: why, in words that go on after "it is not, because".
    Hindered(String),
}

impl Bypass {
    /// Whether the link is joined in the kernel.
    pub fn is_joined(&self) -> bool {
        *self == Self::Joined
    }

    /// Returns why the link is not joined, though the lab file would have it.
    pub fn hindrance(&self) -> Option<&str> {
        match self {
            Self::Hindered(why) => Some(why),
            Self::Off | Self::Joined => None,
        }
    }
}

impl Plan {
    /// Whether a node is a switch that is a bridge of the kernel. All its links are joined there then, and otherwise none is.
    pub fn is_bridge(&self, node: &NodePlan) -> bool {
        let mut links = node.interfaces.iter().map(|port| &self.links[port.end.link()]);
        node.kind == NodeKind::Switch && links.next().is_some_and(|link| link.bypass.is_joined())
    }
}

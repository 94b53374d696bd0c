//! Trees of multicast.

use std::net::IpAddr;

/// A node's part in the tree of a source and a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupPlan {
    /// The group.
    pub group: IpAddr,
    /// The node that sends to it.
    pub source: usize,
    /// The place of the interface at which packets come in; none at the source.
    pub from: Option<usize>,
    /// The places of the interfaces at which they go out; none at the end of a branch.
    pub to: Vec<usize>,
}

impl GroupPlan {
    /// The interface that the node's own programs use for the group.
    pub fn interface(&self) -> Option<usize> {
        self.from.or(self.to.first().copied())
    }
}

//! What a node has counted, and what its programs did to its network.

use crate::netlink::InterfaceCounters;
use crate::node::watch::NetworkChange;

/// The counters of a node's network and the changes to it when its lab ends.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Account {
    /// The counters of every interface but the loopback, by name.
    pub counters: Vec<(String, InterfaceCounters)>,
    /// The changes that the node's programs made to its network since its configuration took effect.
    pub changes: Vec<NetworkChange>,
}

//! Nodes that other machines play.

use ipnet::IpNet;
use std::net::IpAddr;

/// A node that another machine plays: its names and addresses, which nodes here know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FarNode {
    /// Its name.
    pub name: String,
    /// Its interfaces, in their order.
    pub interfaces: Vec<FarInterface>,
}

/// An interface of a node that another machine plays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FarInterface {
    /// Its name inside the node.
    pub name: String,
    /// Its hardware address, if it is known.
    pub mac: Option<[u8; 6]>,
    /// Its addresses, each with the length of its subnet's prefix.
    pub addresses: Vec<IpNet>,
}

impl FarNode {
    /// Returns all its addresses.
    pub(crate) fn addresses(&self) -> Vec<IpAddr> {
        self.interfaces.iter().flat_map(|own| &own.addresses).map(IpNet::addr).collect()
    }
}

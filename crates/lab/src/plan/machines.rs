//! The machines among which a lab may be divided, and nodes that other machines play.

use super::Cpus;
use ipnet::IpNet;
use netloom_units::Bytes;
use std::net::IpAddr;

/// A machine that plays a part of a lab.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MachinePlan {
    /// The line of the lab file that names it; 0 if none does.
    pub line: usize,
    /// Its name in the lab file.
    pub name: String,
    /// The processors that the lab may use; none: it is not said.
    pub cpus: Option<Cpus>,
    /// The memory that the lab may use; none: it is not said.
    pub memory: Option<Bytes>,
    /// The container images that are there; none: any may be.
    pub images: Option<Vec<String>>,
}

impl MachinePlan {
    /// So many are enough for every lab that one file describes.
    pub const MOST: usize = 64;
}

/// The machine that the lab file chooses for a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MachineChoice {
    /// The line of the lab file that says it.
    pub line: usize,
    /// The place of the machine in the plan.
    pub machine: usize,
}

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

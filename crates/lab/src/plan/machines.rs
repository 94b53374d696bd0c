//! The machines among which a lab may be divided, and nodes that other machines play.

use super::{Cpus, Plan};
use crate::diagnostics::Spanned;
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

impl Plan {
    /// Returns the names of all nodes, first of those that are played here.
    pub(crate) fn all_names(&self) -> impl Iterator<Item = &str> {
        let far = self.elsewhere.iter().map(|far| far.name.as_str());
        self.nodes.iter().map(|node| node.name.as_str()).chain(far)
    }

    /// Returns the name of a node, by its place in the plan or, behind that, in [`Plan::elsewhere`].
    pub(crate) fn name_of(&self, node: usize) -> &str {
        let far = || &self.elsewhere[node - self.nodes.len()].name;
        self.nodes.get(node).map_or_else(far, |own| &own.name)
    }
}

impl FarNode {
    /// Returns its name at the place where it is written.
    pub(crate) fn spanned_name(written: &Spanned<Self>) -> Spanned<String> {
        Spanned { value: written.value.name.clone(), span: written.span, key: written.key.clone() }
    }

    /// Returns all its addresses.
    pub(crate) fn addresses(&self) -> Vec<IpAddr> {
        self.interfaces.iter().flat_map(|own| &own.addresses).map(IpNet::addr).collect()
    }
}

//! Ports of this machine that lead into a node.

/// A TCP port of this machine's loopback that leads to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExposePlan {
    /// Its line in the lab file.
    pub line: usize,
    /// The port of this machine, on 127.0.0.1 and ::1.
    pub port: u16,
    /// The node's port.
    pub to: u16,
}

impl ExposePlan {
    /// Where it leads, for people.
    pub(crate) fn way_to(&self, node: &str) -> String {
        format!("to TCP port {} of {node}", self.to)
    }
}

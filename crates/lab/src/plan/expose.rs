//! Ports of this machine that lead into a node.

/// A TCP or UDP port of this machine's loopback that leads to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExposePlan {
    /// Its line in the lab file.
    pub line: usize,
    /// The port of this machine, on 127.0.0.1 and ::1.
    pub port: u16,
    /// Whether both are of UDP.
    pub udp: bool,
    /// The node's port.
    pub to: u16,
}

impl ExposePlan {
    /// Where it leads, for people.
    pub(crate) fn way_to(&self, node: &str) -> String {
        format!("to {} port {} of {node}", if self.udp { "UDP" } else { "TCP" }, self.to)
    }

    /// The port of this machine, as in a lab file: `8080` or `5353/udp`.
    pub fn name(&self) -> String {
        format!("{}{}", self.port, if self.udp { "/udp" } else { "" })
    }
}

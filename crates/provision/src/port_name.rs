//! What the interfaces in the lab's own namespace are called: by the ports that they serve.

use netloom_fabric::PortId;

/// The name of the interface that serves this port.
pub fn interface_of(port: PortId) -> String {
    format!("p{}", port.0)
}

/// The port that the interface of this name serves, if it serves one.
pub(crate) fn port_of(interface: &str) -> Option<PortId> {
    interface.strip_prefix('p')?.parse().ok().map(PortId)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_known_by_the_name_of_its_interface() {
        assert_eq!(port_of(&interface_of(PortId(70_000))), Some(PortId(70_000)));
        assert_eq!(["lo", "p", "pan0", "veth1"].map(port_of), [None; 4]);
    }
}

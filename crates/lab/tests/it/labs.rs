//! Lab files that are right, what several tests look at in their plans, and numbers to make up networks with.

use netloom_lab::{Lab, NodePlan, Plan};

/// Reads a lab file that is right.
pub(crate) fn lab(text: &str) -> Lab {
    netloom_lab::parse(text, "test.yaml").unwrap_or_else(|wrong| panic!("{wrong}"))
}

/// Reads the plan of a lab file that is right.
pub(crate) fn plan(text: &str) -> Plan {
    lab(text).plan
}

/// Returns the node of this name.
pub(crate) fn node<'a>(plan: &'a Plan, name: &str) -> &'a NodePlan {
    plan.nodes.iter().find(|node| node.name == name).expect("there is such a node")
}

/// Returns the IPv4 addresses of a node, interface by interface.
pub(crate) fn v4_addresses(plan: &Plan, name: &str) -> Vec<String> {
    let of_node = node(plan, name).interfaces.iter().flat_map(|interface| &interface.addresses);
    of_node.filter(|net| net.addr().is_ipv4()).map(ToString::to_string).collect()
}

/// Returns the IPv4 routes of a node.
pub(crate) fn v4_routes(plan: &Plan, name: &str) -> Vec<String> {
    let v4 = node(plan, name).routes.iter().filter(|route| route.via.is_ipv4());
    v4.map(|route| format!("{} via {}", route.destination, route.via)).collect()
}

/// Numbers that are the same in every run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// Draws a number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        // Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8(14), 2003.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % end
    }
}

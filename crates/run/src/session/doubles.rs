//! Addresses that a program gives its node though another has them: of a virtual router, or of a service that moves.
//!
//! The lab gives addresses by itself to whom the file gives none, and cannot know which others programs will use.

use netloom_lab::Plan;
use std::net::IpAddr;

/// What is to be said of a change of a node's network, with who else has the address that it is about, if anybody has.
pub(super) fn told(plan: &Plan, node: usize, what: String) -> String {
    let Some(address) = given(&what) else { return what };
    let own = &plan.nodes[node];
    let is_near = |other: &ipnet::IpNet| {
        other.addr() == address && own.interfaces.iter().flat_map(|one| &one.addresses).any(|one| other.contains(one))
    };
    let other =
        plan.nodes.iter().enumerate().find(|(place, other)| {
            *place != node && other.interfaces.iter().flat_map(|one| &one.addresses).any(is_near)
        });
    match other {
        Some((_, other)) => format!(
            "{what}, which {} has, too, from the lab file or by itself: give it another there (`address`)",
            other.name
        ),
        None => what,
    }
}

/// The address that an interface was given, as the node tells it.
fn given(what: &str) -> Option<IpAddr> {
    what.split_once(" was given the address ")?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_virtual_address_that_a_neighbour_has_is_told_of() {
        let text =
            "nodes: [k, c, d]\nlinks:\n  lan: {ends: [{node: k, address: 10.0.0.247/24}, c]}\n  far: {ends: [c, d]}\n";
        let plan = netloom_lab::parse(text, "test.yaml").unwrap().plan;
        let at = |name: &str| plan.nodes.iter().position(|node| node.name == name).unwrap();
        let of_c = plan.nodes[at("c")].interfaces[0].addresses.iter().find(|one| one.addr().is_ipv4()).unwrap().addr();
        let of_d = plan.nodes[at("d")].interfaces[0].addresses.iter().find(|one| one.addr().is_ipv4()).unwrap().addr();
        let said = |address: IpAddr| told(&plan, at("k"), format!("eth0 was given the address {address}"));
        assert!(said(of_c).contains("which c has, too"), "{}", said(of_c));
        // On another network it is another's.
        assert_eq!(said(of_d), format!("eth0 was given the address {of_d}"));
        assert_eq!(told(&plan, 0, "eth0 was down".into()), "eth0 was down");
    }
}

//! The parameters of the kernel that every node has in the same way, whatever the machine's own are.

use std::iter;

/// The scopes of parameters of interfaces: of all, and of those to come.
pub(crate) const SCOPES: [&str; 2] = ["all", "default"];

/// The parameters that every node has with the same value, or one of two.
pub(crate) fn base_keys() -> Vec<String> {
    let forwarding = SCOPES.iter().map(|scope| format!("net.ipv6.conf.{scope}.forwarding"));
    let v4 = SCOPES.iter().flat_map(|scope| keys_of_ipv4(scope));
    let v6 = SCOPES.iter().flat_map(|scope| keys_of_ipv6(scope));
    iter::once("net.ipv4.ip_forward".to_owned()).chain(v4).chain(v6).chain(forwarding).collect()
}

/// Replies may take another way than requests did: links are asymmetric on purpose.
pub(crate) fn keys_of_ipv4(scope: &str) -> impl Iterator<Item = String> {
    let keys = ["rp_filter", "arp_filter", "arp_ignore", "arp_announce", "proxy_arp", "log_martians"];
    keys.into_iter().map(move |key| format!("net.ipv4.conf.{scope}.{key}"))
}

/// A node has its addresses at once, and no others than those of the lab file.
pub(crate) fn keys_of_ipv6(scope: &str) -> impl Iterator<Item = String> {
    let keys = ["disable_ipv6", "accept_dad", "accept_ra", "router_solicitations"];
    keys.into_iter().map(move |key| format!("net.ipv6.conf.{scope}.{key}"))
}

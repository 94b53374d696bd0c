//! The parameters of the kernel that every node has in the same way, whatever the machine's own are.

/// The scopes of parameters of interfaces: of all, and of those to come.
pub(crate) const SCOPES: [&str; 2] = ["all", "default"];

/// Which congestion control TCP has.
pub(crate) const CONGESTION: &str = "net.ipv4.tcp_congestion_control";
/// The one of Linux.
pub(crate) const USUAL_CONGESTION: &str = "cubic";

/// The least, the first and the largest buffer of a connection, as any machine with 1 GB of memory and more has them (`tcp_init` of
/// net/ipv4/tcp.c). A new namespace has those of the machine, which its administrator may have changed.
pub(crate) const TCP_BUFFERS: [(&str, &str); 2] =
    [("net.ipv4.tcp_rmem", "4096\t131072\t6291456"), ("net.ipv4.tcp_wmem", "4096\t16384\t4194304")];

/// The parameters that every node has with the same value, or one of two.
pub(crate) fn base_keys() -> Vec<String> {
    let forwarding = SCOPES.iter().map(|scope| format!("net.ipv6.conf.{scope}.forwarding"));
    let v4 = SCOPES.iter().flat_map(|scope| keys_of_ipv4(scope));
    let v6 = SCOPES.iter().flat_map(|scope| keys_of_ipv6(scope));
    let tcp = TCP_BUFFERS.iter().map(|(key, _)| *key).chain([CONGESTION, "net.ipv4.ip_forward"]).map(str::to_owned);
    tcp.chain(v4).chain(v6).chain(forwarding).collect()
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

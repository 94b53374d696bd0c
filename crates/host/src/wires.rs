//! Interfaces of this machine whose wires may end in a lab: which there are, what keeps one from it, and those that are a lab's
//! alone for a while.

mod keeper;
mod record;
mod snapshot;

use std::fs;

use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{LinkAttribute, LinkFlags, LinkLayerType, LinkMessage};

use crate::error::KernelError;
use crate::netlink::Netlink;
pub use keeper::{Kept, give_back_stale};

/// An interface of the current network namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wire {
    /// The kernel's number of the interface.
    pub index: u32,
    /// Its name.
    pub name: String,
    /// The largest IP packet that it sends, in bytes.
    pub mtu: u32,
    /// Whether it is up.
    pub up: bool,
    /// Whether it has a wire: it is no loopback interface, and carries Ethernet frames.
    pub is_ethernet: bool,
    /// The bridge, bond or other interface that it is a part of.
    pub master: Option<String>,
    /// Whether it is the only interface by which this machine has a default route.
    pub is_way_out: bool,
}

/// All interfaces of the current network namespace, in the kernel's order.
///
/// # Errors
/// The kernel's refusal.
pub fn wires() -> Result<Vec<Wire>, KernelError> {
    let mut messages = Vec::new();
    Netlink::open()?.dump(RouteNetlinkMessage::GetLink(LinkMessage::default()), "list the interfaces", |entry| {
        if let RouteNetlinkMessage::NewLink(message) = entry {
            messages.push(message);
        }
    })?;
    let ways_out = ways_out();
    let mut wires: Vec<Wire> = messages.iter().map(wire).collect();
    for (place, message) in messages.iter().enumerate() {
        let master = message.attributes.iter().find_map(|attribute| match attribute {
            LinkAttribute::Controller(index) => Some(*index),
            _ => None,
        });
        wires[place].master = master.map(|index| {
            let named = wires.iter().find(|other| other.index == index).map(|other| other.name.clone());
            named.unwrap_or_else(|| format!("interface {index}"))
        });
        wires[place].is_way_out = ways_out == [wires[place].name.clone()];
    }
    Ok(wires)
}

fn wire(message: &LinkMessage) -> Wire {
    let flags = message.header.flags;
    let mut wire = Wire {
        index: message.header.index,
        name: String::new(),
        mtu: 0,
        up: flags.contains(LinkFlags::Up),
        is_ethernet: message.header.link_layer_type == LinkLayerType::Ether && !flags.contains(LinkFlags::Loopback),
        master: None,
        is_way_out: false,
    };
    for attribute in &message.attributes {
        match attribute {
            LinkAttribute::IfName(name) => wire.name.clone_from(name),
            LinkAttribute::Mtu(mtu) => wire.mtu = *mtu,
            _ => (),
        }
    }
    wire
}

/// The interfaces with a default route of either family, each once. What cannot be read has none.
fn ways_out() -> Vec<String> {
    let read = |name: &str| fs::read_to_string(format!("/proc/thread-self/net/{name}")).unwrap_or_default();
    let mut found = default_routes_v4(&read("route"));
    found.extend(default_routes_v6(&read("ipv6_route")));
    found.sort();
    found.dedup();
    found
}

/// Of `/proc/net/route` (proc_net(5)): interface, destination, gateway, flags, three numbers, mask.
fn default_routes_v4(table: &str) -> Vec<String> {
    let default = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [interface, "00000000", _, flags, _, _, _, "00000000", ..] = fields[..] else { return None };
        leads_on(flags).then(|| interface.to_owned())
    };
    table.lines().skip(1).filter_map(default).collect()
}

/// Of `/proc/net/ipv6_route`: destination, its length, source, its length, gateway, three numbers, flags, interface.
fn default_routes_v6(table: &str) -> Vec<String> {
    const ANY: &str = "00000000000000000000000000000000";
    let default = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [ANY, "00", _, _, _, _, _, _, flags, interface] = fields[..] else { return None };
        leads_on(flags).then(|| interface.to_owned())
    };
    table.lines().filter_map(default).collect()
}

/// Whether a route is up and refuses nothing (linux/route.h: `RTF_UP`, `RTF_REJECT`).
fn leads_on(flags: &str) -> bool {
    u32::from_str_radix(flags, 16).is_ok_and(|flags| flags & 1 == 1 && flags & 0x200 == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_routes_are_found_in_both_tables() {
        let v4 = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n\
                  eth0\t00000000\t0101A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n\
                  eth1\t0001A8C0\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0\n";
        assert_eq!(default_routes_v4(v4), ["eth0"]);
        let any = "0".repeat(32);
        let v6 = format!(
            "{any} 00 {any} 00 fe800000000000000000000000000001 00000400 00000001 00000000 00000003     eth2\n\
             {any} 00 {any} 00 {any} ffffffff 00000001 00000000 00200200       lo\n"
        );
        assert_eq!(default_routes_v6(&v6), ["eth2"]);
        assert!(default_routes_v4("").is_empty() && default_routes_v6("nonsense\n").is_empty());
    }
}

use std::net::IpAddr;

use ipnet::IpNet;
use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE};
use netlink_packet_route::address::{AddressAttribute, AddressFlags, AddressHeaderFlags, AddressMessage, AddressScope};
use netlink_packet_route::neighbour::{NeighbourAddress, NeighbourAttribute, NeighbourMessage, NeighbourState};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteMetric, RouteNextHop, RouteProtocol, RouteScope,
    RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};

use super::{Netlink, Request};
use crate::error::KernelError;

/// Gives an interface an address. IPv6 addresses are used at once, without duplicate address detection, which would
/// keep them unusable for a second or more.
pub(crate) fn add_address(index: u32, interface: &str, address: IpNet) -> Request {
    let mut message = AddressMessage::default();
    message.header.family = family(address.addr());
    message.header.prefix_len = address.prefix_len();
    message.header.scope = AddressScope::Universe;
    message.header.index = index;
    message.attributes = vec![AddressAttribute::Local(address.addr()), AddressAttribute::Address(address.addr())];
    match address {
        // Without it programs that ask the interface for its broadcast address get none. A /31 has no such address.
        IpNet::V4(v4) if v4.prefix_len() < 31 => message.attributes.push(AddressAttribute::Broadcast(v4.broadcast())),
        IpNet::V4(_) => (),
        IpNet::V6(_) => {
            message.header.flags = AddressHeaderFlags::Nodad;
            message.attributes.push(AddressAttribute::Flags(AddressFlags::Nodad));
        }
    }
    Request {
        message: RouteNetlinkMessage::NewAddress(message),
        flags: NLM_F_CREATE | NLM_F_EXCL,
        attempted: format!("add address {address} to {interface}"),
    }
}

/// Tells an interface the hardware address of a neighbor for good, so that no ARP or neighbor discovery is needed.
pub(crate) fn add_neighbor(index: u32, interface: &str, address: IpAddr, mac: [u8; 6]) -> Request {
    let mut message = NeighbourMessage::default();
    message.header.family = family(address);
    message.header.ifindex = index;
    message.header.state = NeighbourState::Permanent;
    message.header.kind = RouteType::Unicast;
    message.attributes = vec![
        NeighbourAttribute::Destination(NeighbourAddress::from(address)),
        NeighbourAttribute::LinkLayerAddress(mac.to_vec()),
    ];
    Request {
        message: RouteNetlinkMessage::NewNeighbour(message),
        flags: NLM_F_CREATE | NLM_F_REPLACE,
        attempted: format!("add neighbor {address} to {interface}"),
    }
}

/// A gateway, and the interface over which it is reached, by number and name.
#[derive(Clone, Copy)]
pub(crate) struct Gateway<'a> {
    pub(crate) index: u32,
    pub(crate) interface: &'a str,
    pub(crate) via: IpAddr,
}

/// Adds a route through one of these gateways, at least one. TCP has the given congestion control on it; without one, the
/// namespace's.
pub(crate) fn add_route(destination: IpNet, gateways: &[Gateway<'_>], congestion: Option<&str>) -> Request {
    let mut message = route(destination, RouteProtocol::Static, RouteScope::Universe);
    if let [Gateway { index, via, .. }] = gateways {
        message.attributes.push(RouteAttribute::Oif(*index));
        message.attributes.push(RouteAttribute::Gateway(RouteAddress::from(*via)));
    } else {
        message.attributes.push(RouteAttribute::MultiPath(gateways.iter().map(next_hop).collect()));
    }
    message.attributes.extend(congestion.map(with_congestion));
    let ways: Vec<String> =
        gateways.iter().map(|Gateway { interface, via, .. }| format!("via {via} on {interface}")).collect();
    Request {
        message: RouteNetlinkMessage::NewRoute(message),
        flags: NLM_F_CREATE | NLM_F_EXCL,
        attempted: format!("add route {destination} {}", ways.join(" and ")),
    }
}

/// Leads a group of multicast to an interface: what is sent to it, and where it is joined without naming an interface.
pub(crate) fn add_group(index: u32, interface: &str, group: IpAddr) -> Request {
    let mut message = match group {
        IpAddr::V4(_) => route(IpNet::from(group), RouteProtocol::Static, RouteScope::Link),
        IpAddr::V6(_) => route(IpNet::from(group), RouteProtocol::Static, RouteScope::Universe),
    };
    if group.is_ipv6() {
        // Every interface has a route for all groups there, and that table comes first.
        message.header.table = libc::RT_TABLE_LOCAL;
        message.header.kind = RouteType::Multicast;
    }
    message.attributes.push(RouteAttribute::Oif(index));
    Request {
        message: RouteNetlinkMessage::NewRoute(message),
        flags: NLM_F_CREATE | NLM_F_REPLACE,
        attempted: format!("lead the group {group} to {interface}"),
    }
}

fn next_hop(gateway: &Gateway<'_>) -> RouteNextHop {
    let mut hop = RouteNextHop::default();
    hop.interface_index = gateway.index;
    hop.attributes = vec![RouteAttribute::Gateway(RouteAddress::from(gateway.via))];
    hop
}

impl Netlink {
    /// The addresses of all interfaces of the namespace, each with the length of its subnet's prefix.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub(crate) fn addresses(&mut self) -> Result<Vec<IpNet>, KernelError> {
        let mut addresses = Vec::new();
        self.dump(RouteNetlinkMessage::GetAddress(AddressMessage::default()), "list the addresses", |entry| {
            let RouteNetlinkMessage::NewAddress(message) = entry else { return };
            let own = message.attributes.iter().find_map(|attribute| match attribute {
                AddressAttribute::Local(address) => Some(*address),
                _ => None,
            });
            // An interface of IPv6 has no other end, and its address no second place.
            let any = message.attributes.iter().find_map(|attribute| match attribute {
                AddressAttribute::Address(address) => Some(*address),
                _ => None,
            });
            addresses.extend(own.or(any).and_then(|address| IpNet::new(address, message.header.prefix_len).ok()));
        })?;
        Ok(addresses)
    }

    /// Whether this namespace accepts packets for `address`. An address that was added may not be usable yet.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub(crate) fn is_own(&mut self, address: IpAddr) -> Result<bool, KernelError> {
        let mut message = RouteMessage::default();
        message.header.address_family = family(address);
        message.header.destination_prefix_length = if address.is_ipv4() { 32 } else { 128 };
        message.attributes = vec![RouteAttribute::Destination(RouteAddress::from(address))];
        let attempted = format!("look for the way to {address}");
        let found = self.get(RouteNetlinkMessage::GetRoute(message), &attempted)?;
        Ok(matches!(found, RouteNetlinkMessage::NewRoute(route) if route.header.kind == RouteType::Local))
    }
}

/// Gives the route that came with an address of an interface a congestion control. None if it came with none.
pub(crate) fn say_congestion(index: u32, interface: &str, address: IpNet, congestion: &str) -> Option<Request> {
    if address.prefix_len() == address.max_prefix_len() {
        return None;
    }
    let mut message = match address {
        IpNet::V4(_) => route(address, RouteProtocol::Kernel, RouteScope::Link),
        IpNet::V6(_) => route(address, RouteProtocol::Kernel, RouteScope::Universe),
    };
    message.attributes.push(RouteAttribute::Oif(index));
    message.attributes.push(match address {
        IpNet::V4(_) => RouteAttribute::PrefSource(RouteAddress::from(address.addr())),
        IpNet::V6(_) => RouteAttribute::Priority(CONNECTED_V6),
    });
    message.attributes.push(with_congestion(congestion));
    Some(Request {
        message: RouteNetlinkMessage::NewRoute(message),
        flags: NLM_F_CREATE | NLM_F_REPLACE,
        attempted: format!("set congestion control {congestion} for {address} on {interface}"),
    })
}

/// The priority of routes that come with IPv6 addresses (IP6_RT_PRIO_ADDRCONF).
const CONNECTED_V6: u32 = 256;

pub(super) fn with_congestion(name: &str) -> RouteAttribute {
    RouteAttribute::Metrics(vec![RouteMetric::CcAlgo(name.to_owned())])
}

pub(super) fn route(destination: IpNet, protocol: RouteProtocol, scope: RouteScope) -> RouteMessage {
    let mut message = RouteMessage::default();
    message.header = RouteHeader {
        address_family: family(destination.addr()),
        destination_prefix_length: destination.prefix_len(),
        table: RouteHeader::RT_TABLE_MAIN,
        protocol,
        scope,
        kind: RouteType::Unicast,
        ..RouteHeader::default()
    };
    message.attributes = vec![RouteAttribute::Destination(RouteAddress::from(destination.network()))];
    message
}

fn family(address: IpAddr) -> AddressFamily {
    match address {
        IpAddr::V4(_) => AddressFamily::Inet,
        IpAddr::V6(_) => AddressFamily::Inet6,
    }
}

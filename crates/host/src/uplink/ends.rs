//! The ends of a link: address, neighbour and route.

use std::net::{IpAddr, Ipv4Addr};

use ipnet::{IpNet, Ipv4Net};

use super::block::{Block, mac};
use crate::error::KernelError;
use crate::netlink::{Gateway, Netlink, add_address, add_neighbor, add_route, change, set_up};

/// Removes an interface of this network, if it is there.
pub(super) fn remove(interface: &str) -> Result<(), KernelError> {
    let mut netlink = Netlink::open()?;
    let Ok(index) = netlink.index_of(interface) else { return Ok(()) };
    match netlink.transact([change::delete(index, interface)]) {
        // It has just gone with its other end.
        Err(error) if error.errno() == libc::ENODEV => Ok(()),
        other => other,
    }
}

/// Brings the interface of one end up, in the namespace of `netlink`. If it `is_way_out`, the default route leads over it.
pub(super) fn settle(
    netlink: &mut Netlink,
    interface: &str,
    own: Ipv4Addr,
    other: Ipv4Addr,
    is_way_out: bool,
) -> Result<(), KernelError> {
    let index = netlink.index_of(interface)?;
    let address = IpNet::V4(Ipv4Net::new_assert(own, Block::PREFIX));
    let other_ip = IpAddr::V4(other);
    let mut requests = vec![
        set_up(index, interface),
        add_address(index, interface, address),
        add_neighbor(index, interface, other_ip, mac(other)),
    ];
    if is_way_out {
        let gateway = Gateway { index, interface, via: other_ip };
        requests.push(add_route(IpNet::V4(Ipv4Net::default()), &[gateway], None));
    }
    netlink.transact(requests)
}

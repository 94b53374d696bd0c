//! Changes of an interface that exists. `name` is always for the error.

use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{LinkAttribute, LinkFlags, LinkMessage};

use super::Request;

/// Moves it to the network namespace of a process.
pub(crate) fn into_namespace(index: u32, name: &str, pid: u32) -> Request {
    request(index, LinkAttribute::NetNsPid(pid), format!("move {name} to another network namespace"))
}

/// Gives it another name; it must not be up.
pub(crate) fn name(index: u32, name: &str, new: &str) -> Request {
    request(index, LinkAttribute::IfName(new.to_owned()), format!("call {name} {new}"))
}

/// Takes it down.
pub(crate) fn down(index: u32, name: &str) -> Request {
    let mut message = LinkMessage::default();
    message.header.index = index;
    message.header.change_mask = LinkFlags::Up;
    Request { message: RouteNetlinkMessage::SetLink(message), flags: 0, attempted: format!("take {name} down") }
}

/// Gives it a hardware address.
pub(crate) fn mac(index: u32, name: &str, mac: [u8; 6]) -> Request {
    request(index, LinkAttribute::Address(mac.to_vec()), format!("give {name} its hardware address"))
}

/// Sets its largest packet, in bytes, without the Ethernet header.
pub(crate) fn mtu(index: u32, name: &str, mtu: u32) -> Request {
    request(index, LinkAttribute::Mtu(mtu), format!("set the MTU of {name} to {mtu} bytes"))
}

/// Sets how many packets wait for it at most.
pub(crate) fn send_queue(index: u32, name: &str, packets: u32) -> Request {
    request(index, LinkAttribute::TxQueueLen(packets), format!("set the queue of {name} to {packets} packets"))
}

/// Removes it, and with one end of a pair the other.
pub(crate) fn delete(index: u32, name: &str) -> Request {
    let mut message = LinkMessage::default();
    message.header.index = index;
    Request { message: RouteNetlinkMessage::DelLink(message), flags: 0, attempted: format!("remove {name}") }
}

fn request(index: u32, attribute: LinkAttribute, attempted: String) -> Request {
    let mut message = LinkMessage::default();
    message.header.index = index;
    message.attributes = vec![attribute];
    Request { message: RouteNetlinkMessage::SetLink(message), flags: 0, attempted }
}

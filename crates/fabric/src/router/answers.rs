//! What a router says: ARP (RFC 826), neighbour advertisements (RFC 4861), echo replies and errors (RFC 792 and RFC 1812,
//! section 4.3; RFC 4443).

use super::wire::{ARP, ETHERNET, NEIGHBOR_SOLICITATION, Network, V4_HEADER, V6_HEADER, icmp_frame, is_intact, v4, v6};
use super::{Refusal, RouterInterface};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::net::IpAddr;
use netloom_packet::Packet;

/// As far as a packet of the router itself gets.
const HOPS: u8 = 64;
/// Neighbour discovery never passes a router, and this proves it (RFC 4861, section 7.1).
const ON_LINK: u8 = 255;
/// Internetwork control (RFC 1812, section 4.3.2.5), which an error has as its precedence; the rest of the type of service is that of
/// what it is about.
const CONTROL: u8 = 0xc0;
/// The type of service without the precedence and the last bit (RFC 1349, section 3).
const SERVICE: u8 = 0x1e;
/// Length of the header of an ICMP error.
const ERROR_HEADER: usize = 8;
/// The longest error, from the IP header on: RFC 1812, section 4.3.2.3; RFC 4443, section 2.4 c.
const LONGEST: [usize; 2] = [576, 1_280];

/// The answer to an ARP request for an address of this interface.
pub(super) fn arp(own: &RouterInterface, frame: &[u8]) -> Option<Packet> {
    let request = frame.get(ETHERNET..ETHERNET + 28)?;
    // Of Ethernet and IPv4, with addresses of 6 and 4 bytes: a request.
    if request[..8] != [0, 1, 8, 0, 6, 4, 0, 1] || !own.addresses.contains(&v4(request, 24).into()) {
        return None;
    }
    let mut reply = Vec::with_capacity(ETHERNET + request.len());
    reply.extend(own.ethernet_to(sender(frame)));
    reply.extend(ARP.to_be_bytes());
    reply.extend([0, 1, 8, 0, 6, 4, 0, 2]);
    reply.extend(own.mac);
    reply.extend(&request[24..28]);
    reply.extend(&request[8..18]);
    Some(Packet::from_bytes(reply.into_boxed_slice()))
}

/// The answer to a neighbour solicitation for an address of this interface (RFC 4861, sections 4.3, 4.4 and 7.2.4).
pub(super) fn neighbor(own: &RouterInterface, frame: &[u8]) -> Option<Packet> {
    let network = Network::of(frame)?;
    let (source, destination) = network.addresses();
    let (_, message) = network.above().filter(|_| network.icmp() == Some(NEIGHBOR_SOLICITATION))?;
    if network.time_to_live() != ON_LINK || message.len() < 24 || !is_intact(source, destination, message) {
        return None;
    }
    let asked = IpAddr::V6(v6(message, 8));
    // Who asks without an address of its own, wants this one for itself: that two have one address is nothing to answer.
    if source.is_unspecified() || !own.owns(asked) {
        return None;
    }
    // A router, asked, and sure; then the target and its hardware address.
    let mut reply = Vec::from([136, 0, 0, 0, 0xe0, 0, 0, 0]);
    reply.extend(&message[8..24]);
    reply.extend([2, 1]);
    reply.extend(own.mac);
    let mut answer = icmp_frame(asked, source, ON_LINK, 0, reply);
    answer[..12].copy_from_slice(&own.ethernet_to(sender(frame)));
    Some(Packet::from_bytes(Box::from(answer)))
}

/// Whoever has sent a frame on this link.
fn sender(frame: &[u8]) -> [u8; 6] {
    frame[6..12].try_into().expect("six bytes")
}

/// The reply to an echo request; without Ethernet addresses.
pub(super) fn echo(frame: &[u8]) -> Option<Vec<u8>> {
    let network = Network::of(frame)?;
    let (source, destination) = network.addresses();
    let (_, message) = network.above()?;
    let reply = match (network, network.icmp()?) {
        (Network::V4(_), 8) => 0,
        (Network::V6(_), 128) => 129,
        _ => return None,
    };
    if message.len() < 8 || !is_intact(source, destination, message) {
        return None;
    }
    let mut message = Vec::from(message);
    message[0] = reply;
    Some(icmp_frame(destination, source, HOPS, network.class(), message))
}

/// Why the packet in `frame`, which came to the interface `own`, goes no further; without Ethernet addresses. None for
/// what is never answered (RFC 1812, section 4.3.2.7; RFC 4443, section 2.4 e).
pub(super) fn error(own: &RouterInterface, frame: &[u8], refusal: Refusal) -> Option<Vec<u8>> {
    let network = Network::of(frame)?;
    let (sender, _) = network.addresses();
    if !is_answered(&network, sender) {
        return None;
    }
    let from = own.addresses.iter().find(|address| address.is_ipv6() == sender.is_ipv6())?;
    let (kind, code, rest) = message(&network, refusal);
    let (header, longest) = if sender.is_ipv4() { (V4_HEADER, LONGEST[0]) } else { (V6_HEADER, LONGEST[1]) };
    let mtu = usize::try_from(own.mtu.get()).unwrap_or(usize::MAX);
    let room = longest.min(mtu).saturating_sub(header + ERROR_HEADER);
    let quoted = &frame[ETHERNET..];
    let mut error = Vec::from([kind, code, 0, 0, 0, 0, rest[0], rest[1]]);
    error.extend(&quoted[..quoted.len().min(room)]);
    let class = if sender.is_ipv4() { network.class() & SERVICE | CONTROL } else { 0 };
    Some(icmp_frame(*from, sender, HOPS, class, error))
}

fn is_answered(network: &Network<'_>, sender: IpAddr) -> bool {
    let is_error = match (network, network.icmp()) {
        (Network::V4(_), Some(kind)) => matches!(kind, 3 | 4 | 5 | 11 | 12),
        (Network::V6(_), Some(kind)) => kind < 128,
        (_, None) => false,
    };
    let is_somebody = !sender.is_unspecified() && !sender.is_multicast() && !sender.is_loopback();
    !is_error && is_somebody && network.is_first_fragment()
}

/// Type, code, and the last two bytes of the header.
fn message(network: &Network<'_>, refusal: Refusal) -> (u8, u8, [u8; 2]) {
    let is_v4 = matches!(network, Network::V4(_));
    let (kind, code) = match (is_v4, refusal) {
        (true, Refusal::Expired) => (11, 0),
        (true, Refusal::NoRoute) => (3, 0),
        (true, Refusal::NoHost) => (3, 1),
        (true, Refusal::NoPort) => (3, 3),
        (true, Refusal::TooBig(_)) => (3, 4),
        (false, Refusal::Expired) => (3, 0),
        (false, Refusal::NoRoute) => (1, 0),
        (false, Refusal::NoHost) => (1, 3),
        (false, Refusal::NoPort) => (1, 4),
        (false, Refusal::TooBig(_)) => (2, 0),
    };
    let rest = if let Refusal::TooBig(mtu) = refusal { mtu.to_be_bytes() } else { [0; 2] };
    (kind, code, rest)
}

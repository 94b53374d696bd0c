//! Which packets a router passes on for certain, without an answer to their sender.
//!
//! A router may answer at once what it is sent: with an error, with an echo, or with a packet that goes back. For whoever runs a
//! sender ahead of time such an answer is the first thing that can reach it. A sender that keeps to packets which are passed on runs on.

use crate::mtu::is_above;
use crate::router::wire::{ETHERNET, Network};
use alloc::vec::Vec;
use netloom_packet::Packet;
use netloom_units::Bytes;

/// Describes the packets that a router passes on of those that come in at one of its interfaces. It may answer any other packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForwardingRule {
    /// The hardware address that frames have to be for.
    pub mac: [u8; 6],
    /// The largest IP packet, or segment of a train, that gets through.
    pub mtu: Bytes,
    /// Where stretches of addresses begin, in order, the first at zero, and whether what is for them is passed on. Addresses of IPv4
    /// are those that IPv6 has for them (RFC 4291, section 2.5.5.2).
    pub stretches: Vec<(u128, bool)>,
}

impl ForwardingRule {
    /// The least time to live that a packet needs.
    pub const TIME_TO_LIVE: u8 = 2;

    /// Returns whether the router passes on this packet as a kernel sends it.
    pub fn passes(&self, packet: &Packet) -> bool {
        let bytes = packet.bytes();
        if bytes.len() < ETHERNET || bytes[..6] != self.mac || is_above(packet, self.mtu) {
            return false;
        }
        let Some(network) = Network::of(bytes) else { return false };
        let destination = network.destination();
        let place = self.stretches.partition_point(|(start, _)| *start <= destination);
        let is_passed = place.checked_sub(1).is_some_and(|place| self.stretches[place].1);
        is_passed && !network.is_bound_to_link() && network.time_to_live() >= Self::TIME_TO_LIVE
    }
}

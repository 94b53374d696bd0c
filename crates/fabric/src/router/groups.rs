//! Static trees of multicast: what comes in where the tree leads in goes on wherever it leads out (RFC 1812, section 5.3.13).
//!
//! A tree is that of a group and a source. Copies share the packet's buffer. Copies that go no further are not reported (RFC 1812,
//! section 4.3.2.7).

use super::table::number;
use super::wire::Network;
use super::{GroupRoute, Router};
use crate::PortId;
use crate::forwarding::Forwarding;
use crate::mtu::is_above;
use crate::router::fragments::fragments;
use alloc::{collections::BTreeMap, vec, vec::Vec};
use netloom_packet::Packet;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Groups {
    /// By group and source: where packets come in, and where they go out.
    trees: BTreeMap<(u128, u128), (usize, Vec<usize>)>,
}

impl Groups {
    pub(super) fn new(routes: &[GroupRoute]) -> Self {
        let mut trees = BTreeMap::new();
        for route in routes {
            for source in &route.sources {
                trees.insert((number(route.group), number(*source)), (route.from, route.to.clone()));
            }
        }
        Self { trees }
    }

    /// Where a packet that came in at this interface goes out; none if no tree leads here.
    pub(super) fn branches(&self, interface: usize, packet: &Packet) -> Option<&[usize]> {
        if self.trees.is_empty() {
            return None;
        }
        let (source, group) = Network::of(packet.bytes())?.addresses();
        let (from, to) = self.trees.get(&(number(group), number(source)))?;
        (*from == interface).then_some(to)
    }
}

impl Router {
    /// Passes a packet on along its tree.
    pub(super) fn replicate(&mut self, packet: Packet, branches: &[usize]) -> Forwarding {
        let time_to_live = Network::of(packet.bytes()).map_or(0, Network::time_to_live);
        if time_to_live <= packet.hops().saturating_add(1) {
            self.counters.expired += u64::from(packet.segments());
            return Forwarding::End(packet, Vec::new());
        }
        let mut copies: Vec<(PortId, Packet)> = Vec::with_capacity(branches.len());
        for branch in branches {
            let own = &self.interfaces[*branch];
            let pieces = if is_above(&packet, own.mtu) {
                let Some(cut) = fragments(&packet, own.mtu) else {
                    self.counters.too_big += u64::from(packet.segments());
                    continue;
                };
                self.counters.fragments += cut.len() as u64;
                cut
            } else {
                vec![packet.duplicate()]
            };
            self.counters.forwarded += u64::from(packet.segments());
            for mut piece in pieces {
                piece.pass_router();
                let addresses = group_addresses(&piece, own.mac);
                let piece = if own.is_shared { piece.readdress(&addresses).0 } else { piece };
                copies.push((own.port, piece));
            }
        }
        Forwarding::End(packet, copies)
    }
}

/// Ethernet addresses of what an interface sends to a group: the frame has the group's from its sender on.
fn group_addresses(packet: &Packet, own: [u8; 6]) -> [u8; 12] {
    let mut addresses = [0; 12];
    addresses[..6].copy_from_slice(&packet.bytes()[..6]);
    addresses[6..].copy_from_slice(&own);
    addresses
}

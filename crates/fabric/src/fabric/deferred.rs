//! What devices send to radio media ahead of time: it enters when its instant has come, since nodes may still send there before that.
//!
//! A radio medium tells before when all is known that leaves it, whatever enters it; so a device behind it may be ahead of the nodes at
//! it, as long as what the device sends back there waits. What waits enters before that lookahead can pass it.

use super::Fabric;
use crate::PortId;
use crate::entry::Entry;
use alloc::collections::VecDeque;
use netloom_packet::Packet;
use netloom_units::Instant;

/// Packets with their instants and ports, in the order of instants.
pub(super) type Deferred = VecDeque<(Instant, PortId, Packet)>;

impl Fabric {
    /// Keeps what a device sends to a radio medium while the fabric is ahead; gives back anything else.
    pub(super) fn defer(&mut self, at: Instant, port: PortId, packet: Packet) -> Option<Packet> {
        if !self.is_ahead || !self.leads_to_radio(port) {
            return Some(packet);
        }
        let place = self.deferred.partition_point(|(other, ..)| *other <= at);
        self.deferred.insert(place, (at, port, packet));
        None
    }

    fn leads_to_radio(&self, port: PortId) -> bool {
        let pipe = self.entries.get(port.0 as usize).and_then(Entry::usual);
        pipe.is_some_and(|pipe| self.pipes[pipe.0 as usize].is_radio())
    }

    /// When something that was kept enters next.
    #[inline]
    pub(super) fn next_deferred(&self) -> Option<Instant> {
        self.deferred.front().map(|(at, ..)| *at)
    }

    /// Lets enter what was kept and has its instant until `now`.
    pub(super) fn let_enter(&mut self, now: Instant) {
        while let Some((at, port, packet)) = self.deferred.pop_front() {
            if at > now {
                return self.deferred.push_front((at, port, packet));
            }
            if let Err((_, lost)) = self.inject_now(at, port, packet) {
                self.transit.spend(lost);
            }
        }
    }
}

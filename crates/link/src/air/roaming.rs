//! A network with several access points: which of them has a station, and what those behind it learn of that.
//!
//! A station sends to the access point with which it is, and that sends on what is for others of its stations; anything else goes to the network behind it. An access
//! point sends to its own stations alone: what is for others, or for addresses that nobody has, is dropped there, and so is what a station sends that is with none.
//! When a station arrives, the switches behind learn it from an update of layer 2 in its name, an XID of LLC (IEEE 802.2) to everybody, as `hostapd` sends it.

use super::{Air, Load, OffAir};
use alloc::vec::Vec;
use netloom_packet::Packet;
use netloom_radio::{Destination, Join};
use netloom_units::Instant;

/// An answer to an XID that nobody asked for, and what a station can: class 1 of LLC, one frame at once. The rest of a frame of 60 bytes is zero.
const UPDATE: [u8; 8] = [0, 6, 0, 1, 0xaf, 0x81, 1, 2];
const SHORTEST: usize = 60;

impl Air {
    /// The access point to which a station sends.
    pub(super) fn point_of(&self, station: usize) -> Option<usize> {
        if self.is_roaming { self.channel.access_point(station) } else { self.access_point }
    }

    pub(super) fn is_with(&self, station: usize, point: usize) -> bool {
        self.channel.access_point(station) == Some(point)
    }

    /// [`Air::push`] where there are several access points.
    pub(super) fn push_roaming(&mut self, now: Instant, from: usize, packet: Packet) {
        self.channel.run_until(now);
        let is_point = self.is_with(from, from);
        // What an access point sends comes from all over the network.
        if !is_point {
            self.learn(from, &packet);
        }
        let Some(point) = self.channel.access_point(from) else { return self.refuse(now, packet) };
        let is_group = packet.target().is_none() && packet.bytes().first().is_some_and(|first| first & 1 == 1);
        let known = self.destination(from, &packet).filter(|to| *to != point && self.is_with(*to, point));
        let (is_foreseen, management) = (false, None);
        let load = match (known, is_group) {
            (None, true) => Load { packet, from, to: None, is_last_hop: is_point, is_foreseen, management },
            (Some(to), _) => Load { packet, from, to: Some(to), is_last_hop: is_point, is_foreseen, management },
            (None, false) if is_point => return self.refuse(now, packet),
            (None, false) => Load { packet, from, to: Some(point), is_last_hop: true, is_foreseen, management },
        };
        self.enqueue(now, load);
    }

    fn refuse(&mut self, now: Instant, packet: Packet) {
        self.refused_at = now;
        self.refused.push(packet);
    }

    /// An access point sends on what it has received.
    pub(super) fn send_on(&mut self, now: Instant, at: Destination, load: Load) {
        let point = match at {
            Destination::Station(point) => Some(point.0 as usize),
            Destination::Everybody => self.access_point,
        };
        let Some(from) = point else { return };
        let is_gone = self.is_roaming && load.to.is_some_and(|to| !self.is_with(to, from));
        if is_gone {
            return self.refuse(now, load.packet);
        }
        self.enqueue(now, Load { from, is_last_hop: true, ..load });
    }

    /// The frame with which switches learn where a station is.
    fn update(&self, join: Join) -> Packet {
        let station = join.station.0 as usize;
        let mut bytes = Vec::with_capacity(SHORTEST);
        bytes.extend_from_slice(&[0xff; 6]);
        bytes.extend_from_slice(&self.macs[station]);
        bytes.extend_from_slice(&UPDATE);
        bytes.resize(SHORTEST, 0);
        let (packet, _) = Packet::from_bytes(bytes.into_boxed_slice()).originate(self.ports[station]);
        packet
    }

    fn hear_update(&mut self, join: Join) -> Packet {
        let packet = self.update(join);
        self.groups.push_back((join.at, packet.origin(), Vec::from([self.ports[join.point.0 as usize]])));
        packet
    }

    /// Access points learn which stations have arrived until `now`.
    pub(super) fn announce(&mut self, now: Instant, mut sink: impl FnMut(OffAir)) {
        if !self.is_roaming {
            return;
        }
        self.channel.run_until(now);
        while let Some(join) = self.channel.take_join(now) {
            self.meet(now, &join);
            if self.told > 0 {
                self.told -= 1;
                continue;
            }
            let packet = self.hear_update(join);
            sink(OffAir::Announced { at: join.at, packet });
        }
    }

    /// Tells of arrivals ahead of time.
    pub(crate) fn foresee_joins(&mut self, mut sink: impl FnMut(Instant, Packet)) {
        let joins: Vec<Join> = self.channel.joins().into_iter().skip(self.told).collect();
        self.told += joins.len();
        for join in joins {
            let packet = self.hear_update(join);
            sink(join.at, packet);
        }
    }
}

//! How a switch passes on what is for several: everywhere, or where snooping says.

use super::snooping::{At, Way};
use super::{Switch, SwitchState};
use crate::PortId;
use crate::forwarding::Forwarding;
use crate::mtu::is_above;
use alloc::vec::Vec;
use netloom_packet::Packet;
use netloom_units::Instant;

/// All stations of a LAN.
const EVERYBODY: [u8; 6] = [0xff; 6];

impl Switch {
    /// A frame for several comes in at the port at this place.
    #[inline]
    pub(super) fn multicast(
        &mut self,
        now: Instant,
        place: usize,
        vlan: u16,
        destination: &[u8; 6],
        packet: Packet,
    ) -> Forwarding {
        if self.snooping.is_none() || *destination == EVERYBODY {
            return self.flood(place, vlan, packet);
        }
        self.snoop(now, place, vlan, packet)
    }

    fn snoop(&mut self, now: Instant, place: usize, vlan: u16, packet: Packet) -> Forwarding {
        let at = At { place, vlan, is_tagged: self.vlans.look_at_tags() && packet.vlan_tag().is_some() };
        let (Some(snooping), Some(counted)) = (&mut self.snooping, &mut self.counters[place].snooping) else {
            return self.flood(place, vlan, packet);
        };
        let before = snooping.due();
        let way = snooping.take(now, at, &packet, counted);
        // Who leaves is asked after at once.
        let asked = if snooping.due().is_some_and(|due| due <= now) { self.ask(now) } else { Vec::new() };
        let is_as_before = asked.is_empty() && self.snooping.as_ref().and_then(|own| own.due()) == before;
        let count = u64::from(packet.segments());
        let sent = match way {
            Way::All if is_as_before => return self.flood(place, vlan, packet),
            Way::All => {
                self.counters[place].flooded += count;
                self.copies(place, vlan, &packet, |_| true)
            }
            Way::Members(places) => {
                let wants = |other: usize| places.binary_search(&other).is_ok();
                let others = self.vlans.members(vlan).into_iter().flat_map(|own| &own.places);
                let mut others = others.filter(|(other, _)| *other != place && wants(*other));
                if others.next().is_none() {
                    self.counters[place].snooping.iter_mut().for_each(|own| own.unasked += count);
                }
                self.copies(place, vlan, &packet, wants)
            }
            Way::Routers(places) => self.copies(place, vlan, &packet, |other| places.contains(&other)),
            Way::Nowhere => Vec::new(),
        };
        Forwarding::End(packet, sent.into_iter().chain(asked).collect())
    }

    /// What it asks by `now`, and where.
    pub(super) fn ask(&mut self, now: Instant) -> Vec<(PortId, Packet)> {
        let asked = self.snooping.as_mut().map(|snooping| snooping.run(now)).unwrap_or_default();
        let mut sent = Vec::new();
        for question in asked {
            let packet = Packet::from_bytes(question.frame.into_boxed_slice());
            let Some(members) = self.vlans.members(question.vlan) else { continue };
            let places = members.places.iter().copied();
            for (place, is_tagged) in places.filter(|(place, _)| question.place.is_none_or(|only| only == *place)) {
                // An MTU too small for IPv6 is one without.
                if !self.carriers[place].is_up || is_above(&packet, self.ports[place].mtu) {
                    continue;
                }
                let dressed = self.vlans.dress(&packet, question.vlan, is_tagged).unwrap_or_else(|| packet.duplicate());
                sent.push((self.ports[place].port, dressed));
                let counters = &mut self.counters[place];
                counters.sent += 1;
                counters.snooping.iter_mut().for_each(|counted| counted.sent_queries += 1);
            }
        }
        sent
    }

    /// The link of the port at this place went down, and may be up again; what is asked then.
    pub(super) fn replug(&mut self, now: Instant, place: usize, is_up: bool) -> Vec<(PortId, Packet)> {
        let Some(snooping) = &mut self.snooping else { return Vec::new() };
        snooping.forget(now, |other| other == place);
        if is_up {
            snooping.ask_anew(now);
        }
        self.ask(now)
    }

    /// The spanning tree has changed, and with it what is behind these ports; what is asked then (RFC 4541, section 2.1.1).
    pub(super) fn replant(&mut self, now: Instant, changed: &[usize]) -> Vec<(PortId, Packet)> {
        let (Some(snooping), Some(tree)) = (&mut self.snooping, &self.tree) else { return Vec::new() };
        snooping.forget(now, |place| changed.contains(&place) || !tree.forwards(place));
        snooping.be_unsure(now);
        snooping.ask_anew(now);
        self.ask(now)
    }

    /// What it has counted, and what it knows of groups at `now`.
    pub(crate) fn state(&self, now: Instant) -> SwitchState {
        let vlan = |own: u16| self.vlans.look_at_tags().then_some(own);
        let snooping = self.snooping.as_ref();
        SwitchState {
            ports: self.counters.clone(),
            members: snooping.map(|own| own.memberships(now, vlan)).unwrap_or_default(),
            routers: snooping.map(|own| own.router_ports(now, vlan)).unwrap_or_default(),
        }
    }
}

//! Which VLANs the ports of a switch carry, and how frames are tagged there (IEEE 802.1Q-2022, sections 6.9 and 8.6).

use super::SwitchPort;
use crate::PortId;
use alloc::collections::BTreeMap;
use alloc::{sync::Arc, vec::Vec};
use netloom_packet::Packet;
use netloom_units::Bytes;

/// The VLANs of a port.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PortVlans {
    /// The VLAN of frames without a tag; none: they are dropped.
    pub untagged: Option<u16>,
    /// The VLANs whose frames bear a tag here.
    pub tagged: Vec<u16>,
}

impl PortVlans {
    /// All of them.
    pub(super) fn all(&self) -> impl Iterator<Item = u16> + '_ {
        self.untagged.into_iter().chain(self.tagged.iter().copied())
    }
}

/// The ports of a VLAN that forward.
#[derive(Clone, Debug)]
pub(super) struct Members {
    /// Each by its place, and whether frames bear a tag there.
    pub(super) places: Vec<(usize, bool)>,
    pub(super) ports: Arc<[PortId]>,
    /// What all of them can carry.
    pub(super) least_mtu: Bytes,
    /// Whether frames bear a tag at all of them, or at none.
    pub(super) alike: Option<bool>,
}

/// The VLANs of a switch. One that looks at no tag has one VLAN, in which every frame is as it comes.
#[derive(Clone, Debug)]
pub(super) struct Vlans {
    /// By port; empty if it looks at no tag.
    ports: Vec<PortVlans>,
    members: BTreeMap<u16, Members>,
}

/// The VLAN of all frames where tags are not looked at: no VLAN has this number.
const ONLY: u16 = 0;
/// The bits of a tag that say its VLAN; zero: the tag says a priority alone.
const VLAN: u16 = 0x0fff;

impl Vlans {
    pub(super) fn new(ports: &[SwitchPort], vlans: &[PortVlans]) -> Self {
        assert!(vlans.is_empty() || vlans.len() == ports.len(), "all ports of a switch say their VLANs, or none");
        let mut this = Self { ports: vlans.to_vec(), members: BTreeMap::new() };
        this.limit(ports, |_| true);
        this
    }

    /// From now on, only those ports count that forward.
    pub(super) fn limit(&mut self, ports: &[SwitchPort], forwards: impl Fn(usize) -> bool) {
        let vlans = &self.ports;
        let mut places: BTreeMap<u16, Vec<(usize, bool)>> = BTreeMap::new();
        for (place, own) in vlans.iter().enumerate().filter(|(place, _)| forwards(*place)) {
            own.untagged.iter().for_each(|vlan| places.entry(*vlan).or_default().push((place, false)));
            own.tagged.iter().for_each(|vlan| places.entry(*vlan).or_default().push((place, true)));
        }
        if vlans.is_empty() {
            places
                .insert(ONLY, (0..ports.len()).filter(|place| forwards(*place)).map(|place| (place, false)).collect());
        }
        let of_vlan = |own: Vec<(usize, bool)>| Members {
            ports: own.iter().map(|(place, _)| ports[*place].port).collect(),
            least_mtu: own.iter().map(|(place, _)| ports[*place].mtu).min().unwrap_or_default(),
            alike: own
                .first()
                .map(|(_, first)| *first)
                .filter(|first| own.iter().all(|(_, is_tagged)| is_tagged == first)),
            places: own,
        };
        self.members = places.into_iter().map(|(vlan, own)| (vlan, of_vlan(own))).collect();
    }

    /// The VLAN of a frame that comes in at the port at this place; none if that does not carry it.
    #[inline]
    pub(super) fn of(&self, place: usize, packet: &Packet) -> Option<u16> {
        if self.ports.is_empty() {
            return Some(ONLY);
        }
        let own = &self.ports[place];
        match packet.vlan_tag().map(|tag| tag & VLAN).filter(|vlan| *vlan > 0) {
            None => own.untagged,
            Some(vlan) => own.all().any(|other| other == vlan).then_some(vlan),
        }
    }

    /// The ports of a VLAN.
    pub(super) fn members(&self, vlan: u16) -> Option<&Members> {
        self.members.get(&vlan)
    }

    /// Whether it looks at tags.
    #[inline]
    pub(super) fn look_at_tags(&self) -> bool {
        !self.ports.is_empty()
    }

    /// All VLANs, each once.
    pub(super) fn all(&self) -> Vec<u16> {
        if self.ports.is_empty() {
            return Vec::from([ONLY]);
        }
        let mut all: Vec<u16> = self.ports.iter().flat_map(PortVlans::all).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The VLANs in which an address may be behind the port at this place.
    pub(super) fn around(&self, place: usize) -> Vec<u16> {
        self.ports.get(place).map_or_else(|| Vec::from([ONLY]), |own| own.all().collect())
    }

    /// Whether frames of a VLAN bear a tag at the port at this place.
    #[inline]
    pub(super) fn is_tagged(&self, place: usize, vlan: u16) -> bool {
        self.ports.get(place).is_some_and(|own| own.tagged.contains(&vlan))
    }

    /// A frame of this VLAN with a tag or without; none if it is so already, or is too short to be changed.
    #[inline]
    pub(super) fn dress(&self, packet: &Packet, vlan: u16, is_tagged: bool) -> Option<Packet> {
        if self.ports.is_empty() {
            return None;
        }
        match (packet.vlan_tag(), is_tagged) {
            (None, true) => packet.with_vlan_tag(vlan),
            (Some(_), false) => packet.without_vlan_tag(),
            // The priority stays.
            (Some(tag), true) if tag & VLAN == 0 => packet.without_vlan_tag()?.with_vlan_tag(tag | vlan),
            _ => None,
        }
    }
}

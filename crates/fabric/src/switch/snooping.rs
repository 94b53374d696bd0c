//! Multicast that goes where it is asked for: IGMP and MLD snooping, as RFC 4541 has it, and a querier (RFC 3376 and RFC 3810, section 6).
//!
//! A switch listens to what hosts and routers say of groups, and sends what is for a group to the ports where members have reported,
//! and to those where routers are. Hosts report when they are asked: somebody has to be the querier. As long as nobody is, nothing is
//! held back: the switch would not hear again of members that it has forgotten. All querying switches of a VLAN and all routers there
//! elect the one with the lowest address; each family has its own.
//!
//! Groups are told apart by their addresses, not by those of their frames, which several share. A source that a host wants or does not
//! want counts for the group as a whole.

mod groups;
mod lan;
mod message;
mod query;

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use groups::{Groups, Joined};
use lan::Lan;
use message::{Change, Frame, Hold, Message, Query, Wish};
use netloom_packet::Packet;
use netloom_units::{Duration, Instant};
use query::Question;

/// The multicast snooping of a switch: what it does with groups.
#[derive(Clone, Debug)]
pub struct SnoopingSpec {
    /// The largest number of groups that the switch knows; a group counts once in each VLAN. Frames for other groups go everywhere.
    pub capacity: usize,
    /// The timing of queriers: how often they ask, how long hosts may take, and how many answers in a row may be lost, plus one.
    pub timing: Timing,
    /// The last member query interval: how long a host may take to say that it is still a member when another has left.
    pub last_member: Duration,
    /// The places of ports that are taken to lead to a router, whatever is heard there.
    pub routers: Vec<usize>,
    /// The places of ports where a leaving member is taken to be the last.
    pub fast_leave: Vec<usize>,
    /// The querier of the switch; none if it asks nothing.
    pub querier: Option<QuerierSpec>,
}

/// The times of a querier, and of those that listen to it (RFC 3376, section 8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// The robustness variable.
    pub robustness: u8,
    /// The query interval.
    pub interval: Duration,
    /// The query response interval.
    pub response: Duration,
}

/// How a switch asks who listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuerierSpec {
    /// The hardware address that its queries come from.
    pub mac: [u8; 6],
    /// Their address of IPv4; unspecified: nobody takes it for a router, and it is elected by nobody (RFC 4541, section 2.1.1).
    pub v4: Ipv4Addr,
    /// Their address of IPv6, local to the link.
    pub v6: Ipv6Addr,
    /// Whether it speaks IGMPv2; else IGMPv3.
    pub is_igmpv2: bool,
    /// Whether it speaks MLDv1; else MLDv2.
    pub is_mldv1: bool,
}

/// The counters of multicast snooping at one port of a switch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SnoopingCounters {
    /// Reports of IGMP and MLD, leaves among them, that came in.
    pub reports: u64,
    /// Queries that came in.
    pub queries: u64,
    /// Queries of the switch itself that went out.
    pub sent_queries: u64,
    /// Messages that came in and were dropped because there was an error in them.
    pub malformed: u64,
    /// Frames that came in and were dropped because nobody had asked for their group.
    pub unasked: u64,
    /// How often members of a group began to be here.
    pub joined: u64,
    /// How often a group was not noted here, since there was no room.
    pub unlearned: u64,
}

impl SnoopingCounters {
    /// The same, with packets counted from nothing on. Groups that were joined before are still known.
    pub(super) fn begun(self) -> Self {
        let Self { joined, unlearned, .. } = self;
        Self { joined, unlearned, ..Self::default() }
    }
}

/// Behind a port there are members of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Membership {
    /// The port's place.
    pub place: usize,
    /// The VLAN; none if the switch looks at no tag.
    pub vlan: Option<u16>,
    /// The group.
    pub group: IpAddr,
    /// Until when, unless one reports again.
    pub until: Instant,
}

/// Behind a port there is a router that wants all multicast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouterPort {
    /// The port's place.
    pub place: usize,
    /// The VLAN; none if the switch looks at no tag.
    pub vlan: Option<u16>,
    /// Whether it is one of IPv6.
    pub is_v6: bool,
    /// The address of the querier, if it is one that was elected.
    pub querier: Option<IpAddr>,
    /// Until when, unless it is heard again.
    pub until: Instant,
}

/// Where a frame comes in.
#[derive(Clone, Copy, Debug)]
pub(super) struct At {
    /// The port's place.
    pub(super) place: usize,
    pub(super) vlan: u16,
    /// Whether it bears a tag that the switch looks at.
    pub(super) is_tagged: bool,
}

/// Where a frame goes that came in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// To all other ports.
    All,
    /// To those of these places that are others, as it is traffic for members.
    Members(Vec<usize>),
    /// To those of these places that are others, as it is a report.
    Routers(Vec<usize>),
    /// Nowhere: it is no message.
    Nowhere,
}

/// A query of the switch's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) vlan: u16,
    /// At this port; none: at all of them.
    pub(super) place: Option<usize>,
    /// Without a tag.
    pub(super) frame: Vec<u8>,
}

/// A VLAN, and whether it is of IPv6.
type LanKey = (u16, bool);

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Snooping {
    timing: Timing,
    last_member: Duration,
    querier: Option<QuerierSpec>,
    routers: Vec<usize>,
    /// By port.
    is_fast: Vec<bool>,
    lans: BTreeMap<LanKey, Lan>,
    groups: Groups,
    /// Until then some groups may have found no room.
    full_until: Instant,
    /// When it asks for all groups next, anywhere.
    general_due: Option<Instant>,
}

impl Snooping {
    /// At a switch with so many ports, in these VLANs.
    pub(super) fn new(spec: &SnoopingSpec, ports: usize, vlans: impl Iterator<Item = u16>) -> Self {
        let keys = vlans.flat_map(|vlan| [(vlan, false), (vlan, true)]);
        let lan = |key: LanKey| (key, Lan::new(spec.timing, spec.querier.is_some().then_some(Instant::ZERO)));
        let mut this = Self {
            timing: spec.timing,
            last_member: spec.last_member,
            querier: spec.querier,
            routers: spec.routers.clone(),
            is_fast: (0..ports).map(|place| spec.fast_leave.contains(&place)).collect(),
            lans: keys.map(lan).collect(),
            groups: Groups::new(spec.capacity),
            full_until: Instant::ZERO,
            general_due: None,
        };
        this.note_due();
        this
    }

    /// When it asks next.
    pub(super) fn due(&self) -> Option<Instant> {
        [self.general_due, self.groups.due()].into_iter().flatten().min()
    }

    /// What it asks by `now`.
    pub(super) fn run(&mut self, now: Instant) -> Vec<Asked> {
        let Some(by) = self.querier else { return Vec::new() };
        let mut asked = Vec::new();
        for ((vlan, is_v6), lan) in &mut self.lans {
            let Some(response) = lan.ask(now) else { continue };
            let question = Question { is_v6: *is_v6, group: None, response };
            asked.push(Asked { vlan: *vlan, place: None, frame: question.frame(&by, &self.timing) });
        }
        while let Some(((vlan, group), place)) = self.groups.take_ask(now, self.last_member) {
            let question = Question { is_v6: group.is_ipv6(), group: Some(group), response: self.last_member };
            asked.push(Asked { vlan, place: Some(place), frame: question.frame(&by, &self.timing) });
        }
        self.note_due();
        asked
    }

    fn note_due(&mut self) {
        if self.querier.is_some() {
            self.general_due = self.lans.values().filter_map(Lan::due).min();
        }
    }

    /// A frame for several comes in at this port, in this VLAN, with a tag or without.
    pub(super) fn take(&mut self, now: Instant, at: At, packet: &Packet, counted: &mut SnoopingCounters) -> Way {
        let At { place, vlan, is_tagged } = at;
        let count = u64::from(packet.segments());
        match Frame::read(packet, is_tagged) {
            Frame::Other | Frame::Message(Message::Unknown) => Way::All,
            Frame::Traffic(group) => self.way(now, (vlan, group)),
            Frame::Malformed => {
                counted.malformed += count;
                Way::Nowhere
            }
            Frame::Message(Message::Query(query)) => {
                counted.queries += count;
                self.hear_query(now, place, vlan, &query);
                Way::All
            }
            Frame::Message(Message::Report(changes)) => {
                counted.reports += count;
                let is_v6 = is_v6(packet, is_tagged);
                changes.iter().for_each(|change| self.change(now, at, change, counted));
                match self.lans.get(&(vlan, is_v6)).filter(|lan| lan.is_asked(now)) {
                    None => Way::All,
                    Some(lan) => Way::Routers(lan.routers(now, &self.routers)),
                }
            }
            Frame::Message(Message::Router { is_v6, hold }) => {
                let until = match hold {
                    Hold::For(span) => now + span,
                    Hold::Ever => Instant::MAX,
                    Hold::AsQuerier => now + self.timing.other_querier(),
                };
                self.lan(vlan, is_v6).hear_router(now, place, until);
                Way::All
            }
        }
    }

    /// Where traffic for a group goes.
    fn way(&self, now: Instant, key: (u16, IpAddr)) -> Way {
        let (vlan, group) = key;
        let lan = self.lans.get(&(vlan, group.is_ipv6())).filter(|lan| lan.is_asked(now) && !lan.is_unsure(now));
        let Some(lan) = lan.filter(|_| !is_for_all(group)) else { return Way::All };
        let members = self.groups.members(now, key);
        if members.is_empty() && (lan.is_new(now) || now < self.full_until) {
            return Way::All;
        }
        let mut places = lan.routers(now, &self.routers);
        places.extend(members);
        places.sort_unstable();
        places.dedup();
        Way::Members(places)
    }

    fn lan(&mut self, vlan: u16, is_v6: bool) -> &mut Lan {
        let timing = self.timing;
        self.lans.entry((vlan, is_v6)).or_insert_with(|| Lan::new(timing, None))
    }

    fn hear_query(&mut self, now: Instant, place: usize, vlan: u16, query: &Query) {
        // Nobody's: it makes no port one of a router, and elects nobody (RFC 4541, section 2.1.1).
        if query.source.is_unspecified() {
            return;
        }
        let own = self.querier.map(|by| if query.source.is_ipv6() { IpAddr::V6(by.v6) } else { IpAddr::V4(by.v4) });
        let lan = self.lan(vlan, query.source.is_ipv6());
        let is_elected = lan.hear_query(now, place, query, own);
        let robustness = u64::from(lan.timing().robustness);
        if let Some(group) = query.group.filter(|_| is_elected && !query.is_quiet) {
            self.groups.shorten_others((vlan, group), place, now + query.response * robustness);
        }
        self.note_due();
    }

    /// What a host says of a group.
    fn change(&mut self, now: Instant, at: At, change: &Change, counted: &mut SnoopingCounters) {
        let (Change { group, wish }, At { place, vlan, .. }) = (*change, at);
        if is_for_all(group) {
            return;
        }
        let key = (vlan, group);
        let (timing, is_asking) =
            self.lans.get(&(vlan, group.is_ipv6())).map_or((self.timing, false), |lan| (lan.timing(), lan.asks()));
        match wish {
            Wish::Member | Wish::MemberV1 => {
                let until = now + timing.membership();
                match self.groups.join(now, key, place, until, wish == Wish::MemberV1) {
                    Joined::Again => {}
                    Joined::New => counted.joined += 1,
                    Joined::NoRoom => {
                        counted.unlearned += 1;
                        self.full_until = until;
                    }
                }
            }
            Wish::Leaves | Wish::Doubts if !self.groups.may_leave(now, key, place) => {}
            Wish::Leaves if self.is_fast[place] => self.groups.leave(key, place),
            // Who does not ask waits for the querier to do it.
            Wish::Leaves | Wish::Doubts if is_asking && !self.groups.is_asked(key, place) => {
                let asks = timing.robustness;
                self.groups.shorten(key, place, now + self.last_member * u64::from(asks));
                self.groups.ask(key, place, asks, now);
            }
            Wish::Leaves | Wish::Doubts => {}
        }
    }

    /// Whoever was behind these ports may be elsewhere.
    pub(super) fn forget(&mut self, now: Instant, is_gone: impl Fn(usize) -> bool) {
        self.groups.forget(&is_gone);
        self.lans.values_mut().for_each(|lan| lan.forget(now, &is_gone));
        self.note_due();
    }

    /// It asks who is there, where it is the one who asks.
    pub(super) fn ask_anew(&mut self, now: Instant) {
        self.lans.values_mut().for_each(|lan| lan.ask_anew(now));
        self.note_due();
    }

    /// The tree has changed: until everybody has been asked, everything goes everywhere.
    pub(super) fn be_unsure(&mut self, now: Instant) {
        self.lans.values_mut().for_each(|lan| lan.be_unsure(now));
    }

    /// The members that it knows.
    pub(super) fn memberships(&self, now: Instant, vlan: impl Fn(u16) -> Option<u16>) -> Vec<Membership> {
        let of = |((own, group), place, until)| Membership { place, vlan: vlan(own), group, until };
        self.groups.all(now).map(of).collect()
    }

    /// The ports of routers that it knows; those that were given stay for ever.
    pub(super) fn router_ports(&self, now: Instant, vlan: impl Fn(u16) -> Option<u16>) -> Vec<RouterPort> {
        let of_lan = |((own, is_v6), lan): (&LanKey, &Lan)| {
            let (own, is_v6) = (vlan(*own), *is_v6);
            let port = |(place, until)| RouterPort { place, vlan: own, is_v6, querier: lan.querier(now, place), until };
            lan.router_ports(now, &self.routers).into_iter().map(port).collect::<Vec<_>>()
        };
        self.lans.iter().flat_map(of_lan).collect()
    }
}

impl Timing {
    /// For how long a report counts (RFC 3376, section 8.4; RFC 3810, section 9.4).
    pub fn membership(&self) -> Duration {
        self.interval * u64::from(self.robustness) + self.response
    }

    /// For how long a querier is there that is not heard of any more (RFC 3376, section 8.5; RFC 3810, section 9.5).
    pub fn other_querier(&self) -> Duration {
        self.interval * u64::from(self.robustness) + Duration::from_nanos(self.response.as_nanos() / 2)
    }
}

/// Whether it is a group for which nobody reports, or whose traffic may be for those who do not: it goes everywhere (RFC 4541,
/// sections 2.1.2 and 3).
fn is_for_all(group: IpAddr) -> bool {
    match group {
        IpAddr::V4(group) => group.octets()[..3] == [224, 0, 0],
        // What does not leave a host does not get here: it is nobody's.
        IpAddr::V6(group) => group.octets()[1] & 0x0f <= 1 || group == Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1),
    }
}

/// Whether a report is one of MLD.
fn is_v6(packet: &Packet, is_tagged: bool) -> bool {
    let start = if is_tagged { 16 } else { 12 };
    packet.bytes().get(start..start + 2).is_some_and(|kind| kind == [0x86, 0xdd])
}

#[cfg(test)]
mod tests;

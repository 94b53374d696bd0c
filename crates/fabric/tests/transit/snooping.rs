//! Multicast goes where it is asked for: what switches learn from IGMP and MLD, whom they ask, and what stays as it was.

use crate::hubs::{Tree, link, trees};
use crate::network::{mac, plain};
use crate::player::{Event, Network, assert_same};
use crate::switches::{EVERYBODY, MS, SEED, of_host, second, switch};
use netloom_fabric::{
    Delivery, DeviceSpec, Fabric, PipeId, PipeSpec, PortId, PortVlans, QuerierSpec, SnoopingCounters, SnoopingSpec,
    SwitchSpec, SwitchState, Timing, TreePort, TreeSpec,
};
use netloom_fuzz::fuzz;
use netloom_packet::{Packet, Pool};
use netloom_units::{Duration, Instant};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::RngSeed;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const SECOND: Duration = Duration::from_secs(1);
const GROUP: Ipv4Addr = Ipv4Addr::new(239, 1, 2, 3);
const OTHER: Ipv4Addr = Ipv4Addr::new(239, 9, 9, 9);
const GROUP_V6: Ipv6Addr = Ipv6Addr::new(0xff05, 0, 0, 0, 0, 0, 1, 3);
/// By kinds of IGMP.
const V1: u8 = 0x12;
const V2: u8 = 0x16;
const LEAVE: u8 = 0x17;
/// By kinds of records.
const INCLUDES: u8 = 1;
const EXCLUDES: u8 = 2;
const TO_INCLUDE: u8 = 3;
const TO_EXCLUDE: u8 = 4;
const ALLOWS: u8 = 5;
const BLOCKS: u8 = 6;

/// RFC 1071, once more.
fn checksum(bytes: &[u8]) -> [u8; 2] {
    let words = bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair.get(1).copied().unwrap_or(0)));
    let mut sum: u32 = words.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    (!u16::try_from(sum).unwrap()).to_be_bytes()
}

/// A packet of IPv4 with an even header of its own, from this host.
fn v4(host: u32, source: Ipv4Addr, destination: Ipv4Addr, protocol: u8, body: &[u8]) -> Vec<u8> {
    let [_, b, c, d] = destination.octets();
    let mut frame = [&[0x01, 0x00, 0x5e, b & 0x7f, c, d][..], &of_host(host), &[8, 0]].concat();
    let length = u16::try_from(20 + body.len()).unwrap().to_be_bytes();
    let mut header = vec![0x45, 0, length[0], length[1], 0, 0, 0, 0, 1, protocol, 0, 0];
    header.extend(source.octets());
    header.extend(destination.octets());
    let sum = checksum(&header);
    header[10..12].copy_from_slice(&sum);
    frame.extend(header);
    frame.extend(body);
    frame
}

/// A message of IGMP: kind, code, group, and what follows.
fn igmp_from(host: u32, source: Ipv4Addr, to: Ipv4Addr, kind: u8, code: u8, group: Ipv4Addr, rest: &[u8]) -> Vec<u8> {
    let mut body = [&[kind, code, 0, 0][..], &group.octets(), rest].concat();
    let sum = checksum(&body);
    body[2..4].copy_from_slice(&sum);
    v4(host, source, to, 2, &body)
}

fn address(host: u32) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, 0, u8::try_from(host + 1).unwrap())
}

/// A message of IGMPv1 or IGMPv2 of a host.
fn says(host: u32, kind: u8, group: Ipv4Addr) -> Vec<u8> {
    let to = if kind == LEAVE { Ipv4Addr::new(224, 0, 0, 2) } else { group };
    igmp_from(host, address(host), to, kind, 0, group, &[])
}

/// A report of IGMPv3 of a host: records of a kind, a group and a number of sources.
fn reports(host: u32, records: &[(u8, Ipv4Addr, u8)]) -> Vec<u8> {
    let mut rest = Vec::new();
    for (kind, group, sources) in records {
        rest.extend([*kind, 0, 0, *sources]);
        rest.extend(group.octets());
        rest.extend((0..*sources).flat_map(|number| [10, 9, 9, number]));
    }
    let count = Ipv4Addr::new(0, 0, 0, u8::try_from(records.len()).unwrap());
    igmp_from(host, address(host), Ipv4Addr::new(224, 0, 0, 22), 0x22, 0, count, &rest)
}

/// A general query of IGMPv3 with the usual times.
fn query(host: u32, source: Ipv4Addr) -> Vec<u8> {
    query_with(host, source, None, [2, 125])
}

/// A query of IGMPv3: robustness, perhaps with the flag that suppresses, and interval.
fn query_with(host: u32, source: Ipv4Addr, group: Option<Ipv4Addr>, says: [u8; 2]) -> Vec<u8> {
    let to = group.unwrap_or(Ipv4Addr::new(224, 0, 0, 1));
    let code = if group.is_some() { 10 } else { 100 };
    igmp_from(host, source, to, 0x11, code, group.unwrap_or(Ipv4Addr::UNSPECIFIED), &[says[0], says[1], 0, 0])
}

/// Traffic of a host for a group.
fn traffic(host: u32, group: Ipv4Addr) -> Vec<u8> {
    v4(host, address(host), group, 17, &[7; 100])
}

fn local(host: u32) -> Ipv6Addr {
    Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, u16::try_from(host + 1).unwrap())
}

/// A packet of IPv6, with options from hop to hop or without.
fn v6(host: u32, source: Ipv6Addr, destination: Ipv6Addr, next: u8, options: &[u8], body: &[u8]) -> Vec<u8> {
    let mut frame = [&[0x33, 0x33][..], &destination.octets()[12..], &of_host(host), &[0x86, 0xdd]].concat();
    let length = u16::try_from(options.len() + body.len()).unwrap().to_be_bytes();
    frame.extend([0x60, 0, 0, 0, length[0], length[1], if options.is_empty() { next } else { 0 }, 1]);
    frame.extend(source.octets());
    frame.extend(destination.octets());
    frame.extend(options);
    frame.extend(body);
    frame
}

/// A message of MLD of this source: kind, code, group, and what follows.
fn mld_from(host: u32, source: Ipv6Addr, to: Ipv6Addr, kind: u8, code: u16, body: &[u8]) -> Vec<u8> {
    let mut message = [&[kind, 0, 0, 0][..], &code.to_be_bytes(), body].concat();
    let length = u8::try_from(message.len()).unwrap();
    let covered = [&source.octets()[..], &to.octets(), &[0, 0, 0, length, 0, 0, 0, 58], &message].concat();
    let sum = checksum(&covered);
    message[2..4].copy_from_slice(&sum);
    v6(host, source, to, 58, &[58, 0, 5, 2, 0, 0, 1, 0], &message)
}

/// A message of MLDv1 of a host.
fn mld(host: u32, kind: u8, group: Ipv6Addr) -> Vec<u8> {
    mld_from(host, local(host), group, kind, 0, &[&[0, 0][..], &group.octets()].concat())
}

/// A general query of MLDv2.
fn mld_query(host: u32, source: Ipv6Addr) -> Vec<u8> {
    let to = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1);
    mld_from(host, source, to, 130, 10_000, &[&[0; 18][..], &[2, 125, 0, 0]].concat())
}

fn traffic_v6(host: u32, group: Ipv6Addr) -> Vec<u8> {
    v6(host, local(host), group, 17, &[], &[7; 100])
}

const TIMING: Timing = Timing { robustness: 2, interval: Duration::from_secs(125), response: Duration::from_secs(10) };
const ASKS: QuerierSpec = QuerierSpec {
    mac: [2, 0, 0, 0, 0, 0x99],
    v4: Ipv4Addr::new(10, 0, 0, 99),
    v6: Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0x99),
    is_igmpv2: false,
    is_mldv1: false,
};

fn listening() -> SnoopingSpec {
    SnoopingSpec {
        capacity: 100,
        timing: TIMING,
        last_member: SECOND,
        routers: Vec::new(),
        fast_leave: Vec::new(),
        querier: None,
    }
}

fn asking() -> SnoopingSpec {
    SnoopingSpec { querier: Some(ASKS), ..listening() }
}

/// Four hosts at a switch, 1 ms away: host h is at the port of place h. With the instant until which it was played.
struct Lan(Fabric, Instant);

impl Lan {
    fn new(snooping: SnoopingSpec) -> Self {
        Self::with(|spec| spec.snooping = Some(snooping))
    }

    fn with(change: impl FnOnce(&mut SwitchSpec)) -> Self {
        Self(crate::switches::four(change), Instant::ZERO)
    }

    /// What hosts hear before `end`: when, who, and what.
    fn until(&mut self, end: Instant) -> Vec<(Instant, u32, Vec<u8>)> {
        let mut heard = Vec::new();
        while let Some(now) = self.0.next_wake().filter(|now| *now < end) {
            self.0.advance(now, |Delivery { port, departure, .. }| {
                heard.push((departure.due, port.0 / 2, departure.packet.bytes().to_vec()));
            });
        }
        self.1 = self.1.max(end);
        heard
    }

    /// A host sends a frame at this instant, or when what was sent before has arrived; who hears that very frame within 10 ms.
    fn send(&mut self, at: Instant, host: u32, frame: &[u8]) -> Vec<u32> {
        let now = at.max(self.1);
        self.until(now);
        self.0.inject(now, PortId(2 * host), plain(&mut Pool::default(), frame)).unwrap();
        let heard = self.until(now + MS * 10);
        heard.into_iter().filter(|(_, _, bytes)| bytes == frame).map(|(_, at_host, _)| at_host).collect()
    }

    fn state(&self, now: Instant) -> SwitchState {
        self.0.switch_states(now).next().expect("one")
    }

    fn counted(&self, host: usize) -> SnoopingCounters {
        self.state(Instant::ZERO).ports[host].snooping.expect("it snoops")
    }

    /// Host 3 asks as a router at the beginning, so that 10 s later everything is known.
    fn asked() -> Self {
        let mut lan = Self::new(listening());
        assert_eq!(lan.send(Instant::ZERO, 3, &query(3, address(3))), [0, 1, 2]);
        lan
    }
}

/// RFC 4541, section 2.1.2 (3), and as Linux's bridge: where nobody asks, those who are forgotten would not report again.
#[test]
fn without_a_querier_everything_goes_everywhere() {
    let mut lan = Lan::new(listening());
    assert_eq!(lan.send(second(1), 1, &says(1, V2, GROUP)), [0, 2, 3]);
    assert_eq!(lan.send(second(2), 0, &traffic(0, GROUP)), [1, 2, 3]);
    assert_eq!(lan.send(second(3), 0, &traffic(0, OTHER)), [1, 2, 3]);
    let [member] = lan.state(second(3)).members[..] else { panic!("it learned, all the same") };
    assert_eq!((member.place, member.vlan, member.group), (1, None, IpAddr::V4(GROUP)));
    assert_eq!(member.until, second(261) + MS, "RFC 3376, section 8.4");
}

/// Sections 2.1.1 (1) and 2.1.2: reports go to routers alone, traffic to members and routers.
#[test]
fn traffic_goes_to_members_and_to_routers() {
    let mut lan = Lan::asked();
    assert_eq!(lan.send(second(1), 1, &says(1, V2, GROUP)), [3]);
    assert_eq!(lan.send(second(2), 0, &traffic(0, GROUP)), [1, 3], "at once");
    assert_eq!(lan.send(second(2), 1, &traffic(1, GROUP)), [3], "not back to the member");
    assert_eq!(lan.send(second(9), 0, &traffic(0, OTHER)), [1, 2, 3], "not everybody can have answered yet");
    assert_eq!(lan.send(second(11), 0, &traffic(0, OTHER)), [3]);
    assert_eq!(lan.counted(3).unasked, 0);
    assert_eq!(lan.send(second(12), 3, &traffic(3, OTHER)), [0u32; 0]);
    assert_eq!(lan.send(second(12), 3, &traffic(3, GROUP)), [1]);
    let counted = (lan.counted(3).unasked, lan.counted(3).queries, lan.counted(1).reports, lan.counted(1).joined);
    assert_eq!(counted, (1, 1, 1, 1));
}

/// At the time zero of a lab.
#[test]
fn what_is_known_is_not_forgotten_when_counting_begins() {
    let mut lan = Lan::asked();
    assert_eq!(lan.send(second(1), 1, &says(1, V2, GROUP)), [3]);
    lan.0.begin_counting(second(11));
    assert_eq!(lan.send(second(12), 0, &traffic(0, GROUP)), [1, 3]);
    assert_eq!(lan.send(second(12), 0, &traffic(0, OTHER)), [3]);
    assert_eq!((lan.counted(1).reports, lan.counted(3).queries), (0, 0));
    assert_eq!(lan.counted(1).joined, 1, "who is a member is one that has joined");
    let ports = lan.state(second(12)).ports;
    assert_eq!((ports[0].received, ports[0].learned), (2, 1));
    assert_eq!((ports[1].received, ports[1].sent, ports[1].learned), (0, 1, 1));
}

/// RFC 4541, section 2.1.2 (2), and section 3: link-local groups of IPv4 and the nodes of a link of IPv6; what is no multicast of IP.
#[test]
fn what_is_for_all_goes_everywhere() {
    let mut lan = Lan::asked();
    lan.send(second(1), 3, &mld_query(3, local(3)));
    for (at, last) in (20..).zip([1, 2, 5, 6, 13, 18, 251, 255]) {
        assert_eq!(lan.send(second(at), 0, &traffic(0, Ipv4Addr::new(224, 0, 0, last))), [1, 2, 3]);
    }
    let link_local = |last| Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, last);
    assert_eq!(lan.send(second(30), 0, &traffic_v6(0, link_local(1))), [1, 2, 3]);
    assert_eq!(lan.send(second(31), 0, &traffic_v6(0, link_local(5))), [3]);
    lan.send(second(32), 1, &mld(1, 131, link_local(5)));
    assert_eq!(lan.send(second(33), 0, &traffic_v6(0, link_local(5))), [1, 3]);
    // A group's address with another packet in it, everybody's address, and an address that no member can report.
    let mut frame = traffic(0, GROUP);
    frame[12] = 9;
    assert_eq!(lan.send(second(34), 0, &frame), [1, 2, 3]);
    let mut for_everybody = traffic(0, GROUP);
    for_everybody[..6].copy_from_slice(&EVERYBODY);
    assert_eq!(lan.send(second(35), 0, &for_everybody), [1, 2, 3]);
    let mut unicast = traffic(0, GROUP);
    unicast[30..34].copy_from_slice(&[10, 0, 0, 77]);
    assert_eq!(lan.send(second(36), 0, &unicast), [1, 2, 3]);
}

/// Reports for groups that go everywhere change nothing, and take no room.
#[test]
fn nobody_joins_what_goes_everywhere() {
    let mut lan = Lan::asked();
    lan.send(second(1), 1, &says(1, V2, Ipv4Addr::new(224, 0, 0, 251)));
    assert_eq!(lan.state(second(2)).members, vec![]);
}

/// RFC 3376, section 8.4: the interval times the robustness, and the time for answers; those that the querier says.
#[test]
fn a_membership_ends_when_it_is_not_renewed() {
    for (says_of_querier, lasts) in [([2, 125], 260), ([3, 20], 70), ([0, 0], 260)] {
        let mut lan = Lan::new(listening());
        let asks = |asked: &mut Lan, at| asked.send(second(at), 3, &query_with(3, address(3), None, says_of_querier));
        asks(&mut lan, 0);
        lan.send(second(20), 1, &says(1, V2, GROUP));
        // The querier goes on, or nothing would be held back.
        (30..19 + lasts).step_by(30).for_each(|at| drop(asks(&mut lan, at)));
        let last = second(20 + lasts) - Duration::from_nanos(1);
        assert_eq!(lan.send(last, 0, &traffic(0, GROUP)), [1, 3], "{lasts} s");
        assert_eq!(lan.send(second(21 + lasts), 0, &traffic(0, GROUP)), [3], "{lasts} s");
        assert_eq!(lan.state(second(21 + lasts)).members, vec![]);
    }
}

/// Versions of IGMP and their records (RFC 3376, section 4.2.12), each for a group of its own.
#[test]
fn who_wants_anything_of_a_group_is_a_member() {
    let of = |number: u8| Ipv4Addr::new(239, 0, 0, number);
    let wanted = [
        (INCLUDES, 0, false),
        (INCLUDES, 1, true),
        (EXCLUDES, 0, true),
        (EXCLUDES, 2, true),
        (TO_INCLUDE, 0, false),
        (TO_INCLUDE, 3, true),
        (TO_EXCLUDE, 0, true),
        (TO_EXCLUDE, 1, true),
        (ALLOWS, 0, false),
        (ALLOWS, 2, true),
        (BLOCKS, 1, false),
        (7, 1, false),
    ];
    let records: Vec<(u8, Ipv4Addr, u8)> =
        (1..).zip(wanted).map(|(number, (kind, sources, _))| (kind, of(number), sources)).collect();
    let mut lan = Lan::asked();
    assert_eq!(lan.send(second(11), 1, &reports(1, &records)), [3]);
    for (number, (kind, sources, is_member)) in (1..).zip(wanted) {
        let got = lan.send(second(12), 0, &traffic(0, of(number)));
        assert_eq!(got, if is_member { vec![1, 3] } else { vec![3] }, "{kind} {sources}");
    }
    for (number, kind) in [(100, V1), (101, V2)] {
        lan.send(second(13), 2, &says(2, kind, of(number)));
        assert_eq!(lan.send(second(14), 0, &traffic(0, of(number))), [2, 3]);
    }
}

/// RFC 3376, section 6.6.3, and RFC 2236, section 3: the last member is asked for, as often as the robustness says.
#[test]
fn who_leaves_is_asked_after() {
    let mut lan = Lan::new(asking());
    lan.send(second(5), 1, &reports(1, &[(TO_EXCLUDE, GROUP, 0)]));
    lan.send(second(5), 2, &reports(2, &[(TO_EXCLUDE, GROUP, 0)]));
    let leaves = reports(1, &[(TO_INCLUDE, GROUP, 0)]);
    lan.0.inject(second(6), PortId(2), plain(&mut Pool::default(), &leaves)).unwrap();
    let asked = lan.until(second(20));
    let wanted = query_with(0, ASKS.v4, Some(GROUP), [2, 125]);
    let asked: Vec<(Instant, u32)> = asked
        .into_iter()
        .filter(|(_, _, frame)| frame.len() == 50 && frame[38..] == wanted[34..])
        .map(|(at, host, _)| (at, host))
        .collect();
    assert_eq!(asked, [(second(6) + MS * 2, 1), (second(7) + MS * 2, 1)], "at that port alone");
    assert_eq!(lan.send(second(21), 0, &traffic(0, GROUP)), [2]);
    // Somebody else behind the port stays.
    lan.send(second(22), 2, &says(2, LEAVE, GROUP));
    assert_eq!(lan.send(second(23), 0, &traffic(0, GROUP)), [2], "within the time for answers");
    lan.send(second(23), 2, &says(2, V2, GROUP));
    assert_eq!(lan.send(second(30), 0, &traffic(0, GROUP)), [2]);
    let before = lan.counted(2).sent_queries;
    lan.until(second(31));
    assert_eq!(lan.counted(2).sent_queries, before, "who has answered is asked no more");
    // A source less: perhaps the member is none any more.
    lan.send(second(32), 2, &reports(2, &[(BLOCKS, GROUP, 1)]));
    assert_eq!(lan.send(second(35), 0, &traffic(0, GROUP)), [0u32; 0]);
}

#[test]
fn fast_leave_asks_nobody() {
    let mut lan = Lan::new(SnoopingSpec { fast_leave: vec![1], ..asking() });
    for host in [1, 2] {
        lan.send(second(5), host, &says(host, V2, GROUP));
    }
    for host in [1, 2] {
        lan.send(second(6), host, &says(host, LEAVE, GROUP));
    }
    assert_eq!(lan.send(second(6) + MS * 100, 0, &traffic(0, GROUP)), [2], "host 2 is asked after");
    // Who gives up a source may be a member yet.
    lan.send(second(10), 1, &says(1, V2, GROUP));
    lan.send(second(11), 1, &reports(1, &[(BLOCKS, GROUP, 1)]));
    assert_eq!(lan.send(second(11) + MS * 100, 0, &traffic(0, GROUP)), [1]);
}

/// RFC 2236, section 5: a host that speaks IGMPv1 says nothing when it leaves, and answers no question about a group.
#[test]
fn a_member_of_version_1_stays() {
    let mut lan = Lan::new(SnoopingSpec { fast_leave: vec![2], ..asking() });
    for host in [1, 2] {
        lan.send(second(5), host, &says(host, V1, GROUP));
        lan.send(second(6), host, &says(host, V2, GROUP));
        lan.send(second(7), host, &says(host, LEAVE, GROUP));
    }
    assert_eq!(lan.send(second(20), 0, &traffic(0, GROUP)), [1, 2]);
}

/// Where another asks, it asks after those who leave, and its question says that they may be gone (RFC 3376, section 6.6.1).
#[test]
fn the_question_of_the_querier_shortens_memberships() {
    let mut lan = Lan::asked();
    for host in [1, 2] {
        lan.send(second(11), host, &says(host, V2, GROUP));
    }
    assert_eq!(lan.send(second(12), 1, &says(1, LEAVE, GROUP)), [3]);
    assert_eq!(lan.send(second(20), 0, &traffic(0, GROUP)), [1, 2, 3], "nobody has asked");
    // Suppressed, about a source, or not of the one who is elected: it changes nothing.
    let suppressed = query_with(3, address(3), Some(GROUP), [0x0a, 125]);
    let of_source = igmp_from(3, address(3), GROUP, 0x11, 10, GROUP, &[2, 125, 0, 1, 10, 9, 9, 9]);
    let of_loser = query_with(2, Ipv4Addr::new(10, 9, 9, 9), Some(GROUP), [2, 125]);
    for (host, frame) in [(3, suppressed), (3, of_source), (2, of_loser)] {
        lan.send(second(21), host, &frame);
        assert_eq!(lan.send(second(30), 0, &traffic(0, GROUP)), [1, 2, 3]);
    }
    lan.send(second(31), 3, &query_with(3, address(3), Some(GROUP), [2, 125]));
    lan.send(second(32), 2, &says(2, V2, GROUP));
    assert_eq!(lan.send(second(34), 0, &traffic(0, GROUP)), [2, 3]);
}

/// MLD in both versions is as IGMP; who has no address yet may report, and only who has one may ask (RFC 3590, RFC 3810).
#[test]
fn mld_is_as_igmp() {
    let mut lan = Lan::new(listening());
    assert_eq!(lan.send(second(1), 3, &mld_query(3, Ipv6Addr::UNSPECIFIED)), [0u32; 0], "an error");
    assert_eq!(lan.send(second(1), 3, &mld_query(3, Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 1))), [0u32; 0]);
    assert_eq!(lan.counted(3).malformed, 2);
    lan.send(second(2), 3, &mld_query(3, local(3)));
    assert_eq!(lan.send(second(13), 0, &traffic_v6(0, GROUP_V6)), [3]);
    assert_eq!(lan.send(second(14), 1, &mld(1, 131, GROUP_V6)), [3]);
    let record = [&[0, 1, EXCLUDES, 0, 0, 0][..], &GROUP_V6.octets()].concat();
    let report = mld_from(2, Ipv6Addr::UNSPECIFIED, Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 22), 143, 0, &record);
    assert_eq!(lan.send(second(15), 2, &report), [3]);
    assert_eq!(lan.send(second(16), 0, &traffic_v6(0, GROUP_V6)), [1, 2, 3]);
    // Neighbour discovery has its groups, too.
    let solicited = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 1, 0xff00, 2);
    assert_eq!(lan.send(second(17), 0, &traffic_v6(0, solicited)), [3]);
    // IGMP has a querier of its own, and there is none.
    assert_eq!(lan.send(second(18), 0, &traffic(0, OTHER)), [1, 2, 3]);
    let mut lan_that_asks = Lan::new(asking());
    lan_that_asks.send(second(2), 1, &mld(1, 131, GROUP_V6));
    lan_that_asks.send(second(3), 1, &mld(1, 132, GROUP_V6));
    assert_eq!(lan_that_asks.send(second(6), 0, &traffic_v6(0, GROUP_V6)), [0u32; 0]);
}

/// RFC 4541, section 2.1.1 (1): a port is a router's if queries come from there, not those of nobody, or hellos of PIM, or it was given.
#[test]
fn routers_are_found_by_what_they_say() {
    let to_all = |lan: &mut Lan, at| lan.send(second(at), 0, &traffic(0, OTHER));
    let mut lan = Lan::new(SnoopingSpec { routers: vec![2], ..asking() });
    assert_eq!(to_all(&mut lan, 20), [2], "as it was given");
    lan.send(second(21), 1, &query(1, Ipv4Addr::UNSPECIFIED));
    assert_eq!(to_all(&mut lan, 22), [2]);
    // RFC 7761, sections 4.9 and 4.9.2: a hello with a time of 30 s, and one with none, which says that the router goes.
    let hello = |hold: u16| {
        let mut body = [&[0x20, 0, 0, 0, 0, 1, 0, 2][..], &hold.to_be_bytes()].concat();
        let sum = checksum(&body);
        body[2..4].copy_from_slice(&sum);
        v4(1, address(1), Ipv4Addr::new(224, 0, 0, 13), 103, &body)
    };
    assert_eq!(lan.send(second(23), 1, &hello(30)), [0, 2, 3]);
    assert_eq!(to_all(&mut lan, 52), [1, 2]);
    assert_eq!(to_all(&mut lan, 54), [2]);
    lan.send(second(55), 1, &hello(u16::MAX));
    assert_eq!(to_all(&mut lan, 9_000), [1, 2]);
    lan.send(second(9_001), 1, &hello(0));
    assert_eq!(to_all(&mut lan, 9_002), [2]);
    // A router of multicast that says that it is one (RFC 4286), and one that asks, though it is not elected.
    lan.send(second(9_003), 1, &igmp_from(1, address(1), Ipv4Addr::new(224, 0, 0, 106), 0x30, 20, GROUP, &[]));
    lan.send(second(9_003), 3, &query(3, Ipv4Addr::new(10, 0, 1, 0)));
    assert_eq!(to_all(&mut lan, 9_257), [1, 2, 3], "for 255 s: RFC 3376, section 8.5");
    assert_eq!(to_all(&mut lan, 9_259), [2]);
    let [given, ..] = lan.state(second(9_259)).routers[..] else { panic!("one port") };
    assert_eq!((given.place, given.querier, given.until), (2, None, Instant::MAX));
}

/// The queries of one host's port that hold for all groups of IPv4, with their instants at the switch.
fn questions(heard: &[(Instant, u32, Vec<u8>)]) -> Vec<Instant> {
    let is_general = |frame: &[u8]| frame[..6] == [1, 0, 0x5e, 0, 0, 1] && frame[6..12] == ASKS.mac;
    heard.iter().filter(|(_, host, frame)| *host == 0 && is_general(frame)).map(|(at, ..)| *at - MS).collect()
}

/// RFC 3376, sections 6.6.2, 8.6 and 8.7: at first twice within a quarter of the interval; the lowest address is elected.
#[test]
fn a_querier_asks_where_nobody_with_a_lower_address_does() {
    let quarter = Duration::from_millis(31_250);
    let mut lan = Lan::new(asking());
    let heard = lan.until(second(400));
    let begin = Instant::ZERO;
    assert_eq!(
        questions(&heard),
        [begin, begin + quarter, begin + quarter + SECOND * 125, begin + quarter + SECOND * 250]
    );
    let responses: Vec<u8> = heard
        .iter()
        .filter(|(_, host, frame)| *host == 0 && frame.len() == 50)
        .map(|(_, _, frame)| frame[39])
        .collect();
    assert_eq!(responses, [10, 10, 100, 100], "answers are wanted soon at first");
    assert_eq!(heard.iter().filter(|(_, host, frame)| *host == 0 && frame.len() == 90).count(), 4, "those of MLD");
    // A higher address changes nothing, and a lower one silences it: 255 s after its last query, it is gone.
    lan.send(second(405), 2, &query(2, Ipv4Addr::new(10, 0, 0, 100)));
    assert_eq!(questions(&lan.until(second(410))), [begin + quarter + SECOND * 375]);
    lan.send(second(410), 2, &query(2, Ipv4Addr::new(10, 0, 0, 98)));
    lan.send(second(500), 2, &query(2, Ipv4Addr::new(10, 0, 0, 98)));
    let router = lan.state(second(501)).routers[0];
    assert_eq!((router.place, router.querier), (2, Some(Ipv4Addr::new(10, 0, 0, 98).into())));
    let again = second(755) + MS;
    assert_eq!(questions(&lan.until(second(800))), [again, again + quarter]);
}

/// Every address is lower than none: a querier without one gives way to everybody.
#[test]
fn a_querier_without_an_address_is_not_elected() {
    let nobody = QuerierSpec { v4: Ipv4Addr::UNSPECIFIED, ..ASKS };
    let mut lan = Lan::new(SnoopingSpec { querier: Some(nobody), ..listening() });
    assert_eq!(questions(&lan.until(second(10))).len(), 1);
    lan.send(second(11), 2, &query(2, Ipv4Addr::new(192, 168, 0, 1)));
    assert_eq!(questions(&lan.until(second(260))).len(), 0);
}

/// Each VLAN is asked with its own tag, and has its own members and routers.
#[test]
fn vlans_are_apart() {
    let access = |vlan| PortVlans { untagged: Some(vlan), tagged: Vec::new() };
    let trunk = PortVlans { untagged: None, tagged: vec![10, 20] };
    let mut lan = Lan::with(|spec| {
        spec.snooping = Some(asking());
        spec.vlans = vec![access(10), access(10), access(20), trunk];
    });
    let tags = |frame: &Vec<u8>| (frame[12] == 0x81).then(|| frame[15]);
    let asked: Vec<(u32, Option<u8>)> =
        lan.until(second(5)).iter().map(|(_, host, frame)| (*host, tags(frame))).collect();
    let count = |host, tag| asked.iter().filter(|one| **one == (host, tag)).count();
    // Each by IGMP and MLD.
    assert_eq!([count(0, None), count(1, None), count(2, None), count(3, Some(10)), count(3, Some(20))], [2; 5]);
    assert_eq!(asked.len(), 10);
    let tagged = |frame: Vec<u8>, vlan: u8| [&frame[..12], &[0x81, 0, 0, vlan], &frame[12..]].concat();
    let hears = |heard: &mut Lan, at, host: u32, frame: &[u8]| -> Vec<u32> {
        heard.0.inject(second(at), PortId(2 * host), plain(&mut Pool::default(), frame)).unwrap();
        heard.until(second(at + 1)).into_iter().map(|(_, heard_by, _)| heard_by).collect()
    };
    assert_eq!(hears(&mut lan, 6, 3, &tagged(says(3, V2, GROUP), 10)), [0u32; 0]);
    assert_eq!(hears(&mut lan, 7, 0, &traffic(0, GROUP)), [3]);
    assert_eq!(hears(&mut lan, 8, 2, &traffic(2, GROUP)), [0u32; 0], "nobody in VLAN 20 has asked");
    assert_eq!(hears(&mut lan, 9, 1, &says(1, V2, GROUP)), [0u32; 0]);
    assert_eq!(hears(&mut lan, 10, 3, &tagged(traffic(3, GROUP), 10)), [1]);
    let state = lan.state(second(11));
    let members: Vec<_> = state.members.iter().map(|member| (member.place, member.vlan)).collect();
    assert_eq!(members, [(1, Some(10)), (3, Some(10))]);
}

/// Where there is no room for a group, its traffic goes everywhere, as that for addresses does.
#[test]
fn what_finds_no_room_goes_everywhere() {
    let mut lan = Lan::new(SnoopingSpec { capacity: 2, ..asking() });
    let of = |number: u8| Ipv4Addr::new(239, 0, 0, number);
    assert_eq!(lan.send(second(4), 0, &traffic(0, of(3))), [0u32; 0], "nobody wants it");
    lan.send(second(5), 1, &reports(1, &[(EXCLUDES, of(1), 0), (EXCLUDES, of(2), 0), (EXCLUDES, of(3), 0)]));
    lan.send(second(5), 2, &says(2, V2, of(1)));
    assert_eq!((lan.counted(1).joined, lan.counted(1).unlearned, lan.counted(2).unlearned), (2, 1, 0));
    assert_eq!(lan.send(second(6), 0, &traffic(0, of(3))), [1, 2, 3]);
    assert_eq!(lan.send(second(6), 0, &traffic(0, of(1))), [1, 2]);
    // When the others are too old, there is room.
    lan.send(second(266), 1, &says(1, V2, of(3)));
    assert_eq!((lan.counted(1).joined, lan.counted(1).unlearned), (3, 1));
    assert_eq!(lan.send(second(267), 0, &traffic(0, of(3))), [1]);
    assert_eq!(lan.send(second(267), 0, &traffic(0, of(2))), [0u32; 0]);
}

/// RFC 4541, section 2.1.1 (4): errors change nothing, go nowhere and are counted; what is not known goes everywhere (2).
#[test]
fn errors_do_not_count() {
    let mut lan = Lan::asked();
    let right = reports(1, &[(EXCLUDES, GROUP, 1)]);
    let mut errors = 0;
    let mut refuse = |refusing: &mut Lan, frame: &[u8]| {
        errors += 1;
        assert_eq!(refusing.send(second(11), 1, frame), [0u32; 0]);
        assert_eq!((refusing.counted(1).malformed, refusing.counted(1).reports), (errors, 0));
    };
    // Any byte of the header or the message, so that a checksum or a length is wrong, and every cut.
    for at in (15..18).chain([22]).chain(24..30).chain(34..right.len()) {
        let mut wrong = right.clone();
        wrong[at] ^= 0x10;
        refuse(&mut lan, &wrong);
    }
    for len in 34..right.len() {
        refuse(&mut lan, &right[..len]);
    }
    let group = |of: [u8; 4]| igmp_from(1, address(1), GROUP, V2, 0, of.into(), &[]);
    refuse(&mut lan, &group([10, 0, 0, 1]));
    refuse(&mut lan, &group([0, 0, 0, 0]));
    // More records than there are.
    let many = Ipv4Addr::new(0, 0, 0xff, 0xff);
    refuse(
        &mut lan,
        &igmp_from(1, address(1), Ipv4Addr::new(224, 0, 0, 22), 0x22, 0, many, &[2, 0, 0, 0, 239, 1, 2, 3]),
    );
    // A message of MLD that a router has passed on.
    let mut far = mld(1, 131, GROUP_V6);
    far[21] = 2;
    refuse(&mut lan, &far);
    assert_eq!(lan.state(second(12)).members, vec![]);
    assert_eq!(lan.send(second(12), 1, &igmp_from(1, address(1), GROUP, 0x13, 0, GROUP, &[])), [0, 2, 3]);
    assert_eq!(lan.send(second(13), 1, &right), [3]);
    assert_eq!(lan.state(second(13)).members.len(), 1);
}

/// IEEE 802.1D-2004, section 7.8 b: what comes from nobody or from a group ends at the switch, and teaches it nothing.
#[test]
fn nothing_is_learned_from_who_cannot_be() {
    let access = |vlan| PortVlans { untagged: Some(vlan), tagged: Vec::new() };
    let port = |place: u32| TreePort { mac: mac(2 * place + 1), cost: 20_000, is_edge: true, is_point_to_point: true };
    let tree = TreeSpec {
        priority: 32_768,
        address: mac(1),
        hello: SECOND * 2,
        max_age: SECOND * 20,
        forward_delay: SECOND * 15,
        ports: (0..4).map(port).collect(),
    };
    let vlans = [Vec::new(), vec![access(10); 4]];
    for (by_vlan, by_tree) in vlans.iter().flat_map(|each| [(each, None), (each, Some(&tree))]) {
        for source in [[0; 6], [3, 0, 0, 0, 0, 1], EVERYBODY, [0x33, 0x33, 0, 0, 0, 1]] {
            let mut lan = Lan::with(|spec| {
                (spec.snooping, spec.vlans, spec.tree) = (Some(asking()), by_vlan.clone(), by_tree.cloned());
            });
            let mut bpdu = says(1, V2, GROUP);
            bpdu[..6].copy_from_slice(&[1, 0x80, 0xc2, 0, 0, 0]);
            let from_router = query(1, Ipv4Addr::new(10, 0, 0, 1));
            for frame in [says(1, V2, GROUP), from_router, mld(1, 131, GROUP_V6), bpdu] {
                let mut forged = frame;
                forged[6..12].copy_from_slice(&source);
                assert_eq!(lan.send(second(1), 1, &forged), [0u32; 0]);
            }
            let state = lan.state(second(2));
            assert_eq!((state.members, state.routers), (vec![], vec![]));
            let own = state.ports[1];
            assert_eq!((own.malformed, own.learned, own.flooded, own.received_bpdus), (4, 0, 0, 0));
            assert_eq!(lan.counted(1), SnoopingCounters { sent_queries: 2, ..SnoopingCounters::default() });
        }
    }
}

/// Who was behind a link that was cut is forgotten, and asked for when it is back.
#[test]
fn a_link_that_is_cut_is_forgotten() {
    let mut lan = Lan::new(asking());
    for host in [1, 2] {
        lan.send(second(5), host, &says(host, V2, GROUP));
    }
    lan.send(second(6), 2, &query(2, Ipv4Addr::new(10, 0, 0, 98)));
    assert_eq!(questions(&lan.until(second(50))).len(), 0, "the other asks");
    // Pipe 2 l leads from host l to the switch.
    lan.0.set_up(second(50), PipeId(4), false);
    assert_eq!(questions(&lan.until(second(51))), [second(50)], "the querier was behind it");
    assert_eq!(lan.send(second(52), 0, &traffic(0, GROUP)), [1]);
    let state = lan.state(second(52));
    assert_eq!((state.members.len(), state.routers.len()), (1, 0));
    lan.0.set_up(second(60), PipeId(4), true);
    let heard = lan.until(second(61));
    assert!(
        heard.iter().any(|(at, host, frame)| *at == second(60) + MS && *host == 2 && frame.len() == 50),
        "{heard:?}"
    );
}

/// Hosts and switches in a tree; all switches ask, and hosts say and send anything.
#[derive(Clone, Debug)]
struct Snoopers(Tree);

impl Snoopers {
    fn device(ports: Vec<PortId>) -> DeviceSpec {
        let own = mac(ports[0].0);
        let querier = QuerierSpec { mac: own, v4: Ipv4Addr::new(10, 0, 1, own[5]), ..ASKS };
        // Short, so that much happens in the little time that is played.
        let timing = Timing { robustness: 2, interval: MS * 3, response: MS * 2 };
        let snooping = SnoopingSpec { capacity: 2, timing, last_member: MS, querier: Some(querier), ..listening() };
        DeviceSpec::Switch(SwitchSpec { snooping: Some(snooping), ..switch(ports) })
    }
}

impl Network for Snoopers {
    type Load = (usize, Vec<u8>);
    type Record = (u32, Vec<u8>, Instant);

    fn fabric(&self) -> Fabric {
        let pipes = self.0.pipes();
        let devices: Vec<DeviceSpec> = self.0.ports().into_iter().map(Self::device).collect();
        Fabric::new(SEED, &pipes).with_devices(&pipes, &devices)
    }

    fn packet(&self, pool: &mut Pool, _: usize, (host, frame): &Self::Load) -> (PortId, Packet) {
        (PortId(u32::try_from(2 * host).unwrap()), plain(pool, frame))
    }

    fn record(delivery: &Delivery) -> Self::Record {
        let Delivery { port, departure, .. } = delivery;
        (port.0, departure.packet.bytes().to_vec(), departure.due)
    }
}

/// What a host may say or send.
fn frames(host: u32) -> Vec<Vec<u8>> {
    let groups = [GROUP, OTHER, Ipv4Addr::new(224, 0, 0, 5)];
    let mut all = Vec::new();
    for group in groups {
        all.extend([V1, V2, LEAVE].map(|kind| says(host, kind, group)));
        all.extend(
            [TO_INCLUDE, TO_EXCLUDE, BLOCKS, ALLOWS].map(|kind| reports(host, &[(kind, group, 1), (kind, OTHER, 0)])),
        );
        all.push(query_with(host, address(host), Some(group), [2, 3]));
        all.push(traffic(host, group));
    }
    all.extend([query(host, address(host)), query(host, Ipv4Addr::UNSPECIFIED), mld_query(host, local(host))]);
    all.extend([131, 132].map(|kind| mld(host, kind, GROUP_V6)));
    all.push(traffic_v6(host, GROUP_V6));
    all
}

/// A LAN, and what is sent and when.
type Case = (Snoopers, Vec<(Instant, Event<(usize, Vec<u8>)>)>);

fn cases() -> impl Strategy<Value = Case> {
    let sent = vec((0..20_000_000_u64, any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..40);
    (trees().prop_map(Snoopers), sent).prop_map(|(lan, mut sent)| {
        sent.sort_unstable_by_key(|(at, ..)| *at);
        let event = |(at, host, pick): (u64, prop::sample::Index, prop::sample::Index)| {
            let host = host.index(lan.0.hosts.len());
            let mut said = frames(u32::try_from(host).unwrap());
            let frame = said.swap_remove(pick.index(said.len()));
            (Instant::from_nanos(at), Event::Send((host, frame)))
        };
        let events = sent.into_iter().map(event).collect();
        (lan, events)
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 64,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(7),
        ..ProptestConfig::default()
    })]

    #[test]
    fn ahead_of_time_is_on_time((lan, events) in cases()) {
        assert_same(&lan, &events, MS * 50);
    }

    /// In a tree of switches that ask, who has joined hears, whoever sends and wherever, and who has not does not.
    #[test]
    fn who_has_joined_hears(tree in trees(), joined in vec(any::<bool>(), 7), pick in any::<prop::sample::Index>()) {
        let device = |ports: Vec<PortId>| {
            let own = mac(ports[0].0);
            let querier = QuerierSpec { mac: own, v4: Ipv4Addr::new(10, 0, 1, own[5]), ..ASKS };
            DeviceSpec::Switch(SwitchSpec { snooping: Some(SnoopingSpec { querier: Some(querier), ..listening() }), ..switch(ports) })
        };
        let pipes = tree.pipes();
        let devices: Vec<DeviceSpec> = tree.ports().into_iter().map(device).collect();
        let mut lan = Lan(Fabric::new(SEED, &pipes).with_devices(&pipes, &devices), Instant::ZERO);
        lan.until(second(2));
        for (host, _) in (0..tree.hosts.len()).zip(&joined).filter(|(_, joined)| **joined) {
            let host = u32::try_from(host).unwrap();
            lan.0.inject(second(2), PortId(2 * host), plain(&mut Pool::default(), &says(host, V2, GROUP))).unwrap();
        }
        lan.until(second(3));
        let sender = pick.index(tree.hosts.len());
        let members = (0..tree.hosts.len()).filter(|host| *host != sender && joined[*host]);
        let own = u32::try_from(sender).unwrap();
        lan.0.inject(second(3), PortId(2 * own), plain(&mut Pool::default(), &traffic(own, GROUP))).unwrap();
        let mut heard: Vec<usize> = lan.until(second(4)).into_iter().map(|(_, host, _)| host as usize).collect();
        heard.sort_unstable();
        prop_assert_eq!(heard, members.collect::<Vec<_>>());
    }
}

/// Whatever is said of groups, rightly or nearly so: nothing panics, the table keeps within its bounds, each frame is counted, and what
/// leaves is what the counters say.
#[test]
fn fuzz_what_is_said_of_groups() {
    let frame = (0..4_u32, any::<prop::sample::Index>()).prop_map(|(host, pick)| {
        let mut said = frames(host);
        (host, said.swap_remove(pick.index(said.len())))
    });
    let wounds =
        vec((12..100_usize, select(vec![0, 1, 2, 4, 6, 0x0f, 0x11, 0x22, 0x40, 0x7f, 0x80, 0x8f, 0xff])), 0..3);
    let cut = prop::option::weighted(0.1, any::<prop::sample::Index>());
    // Some have right checksums again, so that what stands behind them is read.
    let sent = vec((frame, wounds, cut, any::<bool>(), 0..3_u64), 1..40);
    fuzz("snooping", 500, &(sent, any::<bool>()), |(sent, asks)| {
        let spec = SnoopingSpec { capacity: 3, ..if asks { asking() } else { listening() } };
        let mut lan = Lan::new(spec);
        let (mut now, mut injected) = (second(1), 0);
        for ((host, mut said), wounded, shortened, is_mended, seconds) in sent {
            wounded.into_iter().for_each(|(at, value)| said.iter_mut().skip(at).take(1).for_each(|byte| *byte = value));
            if is_mended {
                mend(&mut said);
            }
            if let Some(end) = shortened {
                said.truncate(end.index(said.len() + 1));
            }
            now = now + SECOND * seconds + MS * 20;
            lan.until(now);
            lan.0.inject(now, PortId(2 * host), plain(&mut Pool::default(), &said)).unwrap();
            injected += 1;
        }
        lan.until(now + SECOND * 300);
        let state = lan.state(now);
        let mut groups: Vec<_> = state.members.iter().map(|member| member.group).collect();
        groups.dedup();
        assert!(groups.len() <= 3 && state.members.iter().all(|member| member.place < 4), "{state:?}");
        assert_eq!(state.ports.iter().map(|own| own.received).sum::<u64>(), injected);
        let entered: u64 = lan.0.counters().map(|own| own.arrived.packets).sum();
        assert_eq!(entered, injected + state.ports.iter().map(|own| own.sent).sum::<u64>());
    });
}

/// Makes the checksums right that the frame says it has.
fn mend(frame: &mut [u8]) {
    if frame.get(12..14) == Some(&[8, 0]) && frame.len() > 42 {
        frame[24..26].fill(0);
        let sum = checksum(&frame[14..34]);
        frame[24..26].copy_from_slice(&sum);
        frame[36..38].fill(0);
        let own = checksum(&frame[34..]);
        frame[36..38].copy_from_slice(&own);
    }
    if frame.get(12..14) == Some(&[0x86, 0xdd]) && frame.len() > 70 {
        frame[64..66].fill(0);
        let length = u16::try_from(frame.len() - 62).unwrap().to_be_bytes();
        let covered = [&frame[22..54], &[0, 0, length[0], length[1], 0, 0, 0, 58], &frame[62..]].concat();
        let sum = checksum(&covered);
        frame[64..66].copy_from_slice(&sum);
    }
}

/// A train stays one buffer with all its segments.
#[test]
fn trains_go_whole() {
    let pipes: Vec<PipeSpec> = (0..3).flat_map(|number| link([2 * number, 2 * number + 1], MS)).collect();
    let spec = SwitchSpec { snooping: Some(asking()), ..switch([1, 3, 5].map(PortId)) };
    let mut lan = Lan(Fabric::new(SEED, &pipes).with_devices(&pipes, &[DeviceSpec::Switch(spec)]), Instant::ZERO);
    lan.send(second(2), 1, &says(1, V2, GROUP));
    let (virtio, mut bytes) = crate::network::stream(false, 3, 4_000).super_packet();
    bytes[..6].copy_from_slice(&[1, 0, 0x5e, 1, 2, 3]);
    bytes[6..12].copy_from_slice(&of_host(0));
    bytes[30..34].copy_from_slice(&GROUP.octets());
    lan.until(second(3));
    lan.0.inject(second(3), PortId(0), Pool::default().packet(virtio, &bytes)).unwrap();
    let mut heard = Vec::new();
    while let Some(now) = lan.0.next_wake().filter(|now| *now < second(4)) {
        lan.0.advance(now, |delivery| heard.push((delivery.port, delivery.departure.packet.segments())));
    }
    assert_eq!(heard, [(PortId(2), 4)]);
}

//! What frames for groups are: traffic, or what hosts and routers say of groups: IGMP (RFC 1112, RFC 2236, RFC 3376 and RFC 9776), MLD
//! (RFC 2710, RFC 3810), hellos of PIM (RFC 7761) and advertisements of multicast routers (RFC 4286).

use super::Timing;
use crate::checksum::{pseudo, sum};
use alloc::vec::Vec;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use netloom_packet::Packet;
use netloom_units::Duration;

/// Length of both Ethernet addresses, and of a tag behind them.
const ADDRESSES: usize = 12;
const TAG: usize = 4;
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
const V4_HEADER: usize = 20;
const V6_HEADER: usize = 40;

// IANA protocol numbers.
const HOP_BY_HOP: u8 = 0;
const IGMP: u8 = 2;
const ICMPV6: u8 = 58;
const PIM: u8 = 103;

/// A host of version 1 takes so long to answer, whatever the query says (RFC 2236, section 4).
const RESPONSE_V1: Duration = Duration::from_secs(10);
/// For how long a hello of PIM counts that does not say it (RFC 7761, section 4.11: 3.5 times the default period).
const HELLO: Duration = Duration::from_secs(105);

/// What a frame for several is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// Nothing that snooping looks at: it goes to everybody.
    Other,
    /// For the members of a group.
    Traffic(IpAddr),
    /// What hosts and routers say of groups.
    Message(Message),
    /// A message with an error in it, which does not count and goes nowhere (RFC 4541, section 2.1.1 (4)).
    Malformed,
}

/// What hosts and routers say of groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Message {
    /// A querier asks.
    Query(Query),
    /// Hosts say what they want.
    Report(Vec<Change>),
    /// A router says that it is there: for so long; without end; or, after no time, no longer.
    Router { is_v6: bool, hold: Hold },
    /// A message of IGMP that is none of these: it goes to everybody (RFC 4541, section 2.1.1 (2)).
    Unknown,
}

/// For how long a router is there that said so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hold {
    For(Duration),
    /// Until its link goes down.
    Ever,
    /// As long as a querier is that is not heard of any more.
    AsQuerier,
}

/// A query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Query {
    pub(super) source: IpAddr,
    /// None: for all groups.
    pub(super) group: Option<IpAddr>,
    /// How long hosts may take to answer.
    pub(super) response: Duration,
    /// How robust the querier is, and how often it asks; none: it does not say so.
    pub(super) robustness: Option<u8>,
    pub(super) interval: Option<Duration>,
    /// Whether it changes no timer: it is about single sources, or says that it changes none.
    pub(super) is_quiet: bool,
}

/// What a host says of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) group: IpAddr,
    pub(super) wish: Wish,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    /// It is a member.
    Member,
    /// It is a member, and will never say that it is none any more: it speaks IGMPv1.
    MemberV1,
    /// It is none any more.
    Leaves,
    /// It does not want some sources any more: perhaps it is none any more.
    Doubts,
}

impl Query {
    /// The times that count while this querier asks: what it says of them, and else those of `own` (RFC 3376, sections 4.1.6 and 4.1.7).
    pub(super) fn timing(&self, own: &Timing) -> Timing {
        Timing {
            robustness: self.robustness.unwrap_or(own.robustness),
            interval: self.interval.unwrap_or(own.interval),
            ..*own
        }
    }
}

impl Frame {
    /// What this frame is, of which the first tag counts as if it were not there if `is_tagged`.
    pub(super) fn read(packet: &Packet, is_tagged: bool) -> Self {
        let start = ADDRESSES + if is_tagged { TAG } else { 0 };
        let of = |frame: &[u8]| -> Option<(Self, bool)> {
            let kind = u16::from_be_bytes(*frame.get(start..)?.first_chunk()?);
            let ip = frame.get(start + 2..)?;
            match kind {
                IPV4 => v4(ip),
                IPV6 => v6(ip),
                _ => None,
            }
        };
        match of(packet.bytes()) {
            None => Self::Other,
            Some((frame, false)) => frame,
            // A message: as the wire has it, with its checksum.
            Some((_, true)) => {
                let mut bytes = Vec::new();
                packet.complete(&mut bytes);
                of(&bytes).map_or(Self::Other, |(frame, _)| frame)
            }
        }
    }
}

/// What an IPv4 packet is, and whether it is a message; none of what is no packet for a group.
fn v4(ip: &[u8]) -> Option<(Frame, bool)> {
    let fixed = ip.get(..V4_HEADER).filter(|fixed| fixed[0] >> 4 == 4)?;
    let address = |at: usize| Ipv4Addr::new(fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]);
    let (source, destination) = (address(12), address(16));
    if !destination.is_multicast() {
        return None;
    }
    let is_fragment = word(fixed, 6)? & 0x3fff != 0;
    let traffic = Frame::Traffic(destination.into());
    if is_fragment || !matches!(fixed[9], IGMP | PIM) {
        return Some((traffic, false));
    }
    let length = usize::from(fixed[0] & 0x0f) * 4;
    let body = ip.get(..length).filter(|header| header.len() >= V4_HEADER && sum(0, header) == 0xffff);
    let body = body.and_then(|_| ip.get(length..usize::from(word(fixed, 2)?)));
    let Some(body) = body.filter(|own| sum(0, own) == 0xffff) else {
        return Some((if fixed[9] == PIM { traffic } else { Frame::Malformed }, true));
    };
    let frame = if fixed[9] == PIM { hello(body, false).map_or(traffic, Frame::Message) } else { igmp(source, body) };
    Some((frame, true))
}

/// A message, if it is one.
fn read(message: Option<Message>) -> Frame {
    message.map_or(Frame::Malformed, Frame::Message)
}

/// RFC 3376, section 4; RFC 2236, section 2; RFC 1112, appendix I.
fn igmp(source: Ipv4Addr, body: &[u8]) -> Frame {
    let [kind, code, _, _, a, b, c, d, ..] = *body else { return Frame::Malformed };
    let group = Ipv4Addr::new(a, b, c, d);
    let of_group = |wish| {
        let group = Some(group).filter(Ipv4Addr::is_multicast)?;
        Some(Message::Report(Vec::from([Change { group: group.into(), wish }])))
    };
    match kind {
        0x11 => {
            let query = igmp_query(source, group, code, body);
            read(query.map(Message::Query))
        }
        0x12 => read(of_group(Wish::MemberV1)),
        0x16 => read(of_group(Wish::Member)),
        0x17 => read(of_group(Wish::Leaves)),
        0x22 => read(records(body, |bytes| {
            let octets: &[u8; 4] = bytes.first_chunk()?;
            Some((Ipv4Addr::from(*octets).into(), 4))
        })),
        0x30 => Frame::Message(Message::Router { is_v6: false, hold: Hold::AsQuerier }),
        _ => Frame::Message(Message::Unknown),
    }
}

/// RFC 3376, sections 4.1 and 7.1: length and code tell the version.
fn igmp_query(source: Ipv4Addr, group: Ipv4Addr, code: u8, body: &[u8]) -> Option<Query> {
    let named = (!group.is_unspecified()).then_some(group);
    if named.is_some_and(|own| !own.is_multicast()) {
        return None;
    }
    let tenth = Duration::from_millis(100);
    let plain = |asked: Option<Ipv4Addr>, response| Query {
        source: source.into(),
        group: asked.map(IpAddr::V4),
        response,
        robustness: None,
        interval: None,
        is_quiet: false,
    };
    match body.len() {
        8 if code == 0 => Some(plain(None, RESPONSE_V1)),
        8 => Some(plain(named, tenth * u64::from(code))),
        12.. => sources(plain(named, tenth * u64::from(exponential(code))), &body[8..], 4),
        _ => None,
    }
}

/// What stands behind the group of a query of IGMPv3 or MLDv2, with sources of so many bytes.
fn sources(query: Query, rest: &[u8], size: usize) -> Option<Query> {
    let count = usize::from(word(rest, 2)?);
    if rest.len() < 4 + count * size {
        return None;
    }
    // Zero: it does not say so (RFC 3376, sections 4.1.6 and 4.1.7).
    let robustness = Some(rest[0] & 7).filter(|said| *said > 0);
    let interval = Some(exponential(rest[1])).filter(|said| *said > 0);
    Some(Query {
        robustness,
        interval: interval.map(|seconds| Duration::from_secs(u64::from(seconds))),
        is_quiet: rest[0] & 8 != 0 || count > 0,
        ..query
    })
}

/// RFC 3376, section 4.1.1: from 128 on, four bits and an exponent.
fn exponential(code: u8) -> u32 {
    if code < 128 { u32::from(code) } else { (u32::from(code & 0x0f) | 0x10) << ((code >> 4 & 7) + 3) }
}

/// The records of a report of IGMPv3 or MLDv2; `group` reads a group and says how long an address is.
fn records(body: &[u8], group: impl Fn(&[u8]) -> Option<(IpAddr, usize)>) -> Option<Message> {
    let count = word(body, 6)?;
    let mut rest = body.get(8..)?;
    let mut changes = Vec::new();
    for _ in 0..count {
        let [kind, auxiliary, _, _, addressed @ ..] = rest else { return None };
        let (address, size) = group(addressed).filter(|(address, _)| address.is_multicast())?;
        let sources = usize::from(word(rest, 2)?);
        let length = 4 + size + sources * size + usize::from(*auxiliary) * 4;
        rest = rest.get(length..)?;
        // RFC 3376, section 4.2.12; what is unknown is ignored (section 4.2.13).
        let wish = match (kind, sources) {
            (2 | 4, _) | (1 | 3 | 5, 1..) => Wish::Member,
            (3, 0) => Wish::Leaves,
            (6, 1..) => Wish::Doubts,
            _ => continue,
        };
        changes.push(Change { group: address, wish });
    }
    Some(Message::Report(changes))
}

/// What an IPv6 packet is, and whether it is a message; none of what is no packet for a group.
fn v6(ip: &[u8]) -> Option<(Frame, bool)> {
    let fixed = ip.get(..V6_HEADER).filter(|fixed| fixed[0] >> 4 == 6)?;
    let address = |at: usize| Some(Ipv6Addr::from(*fixed.get(at..)?.first_chunk::<16>()?));
    let (source, destination) = (address(8)?, address(24)?);
    if !destination.is_multicast() {
        return None;
    }
    let traffic = Frame::Traffic(destination.into());
    let Some(body) = ip.get(V6_HEADER..V6_HEADER + usize::from(word(fixed, 4)?)) else { return Some((traffic, false)) };
    // A message of MLD has a router alert in front, and hellos have nothing (RFC 3810, section 5; RFC 7761, section 4.9).
    let (protocol, message) = match (fixed[6], body) {
        (HOP_BY_HOP, [ICMPV6, length, ..]) => (ICMPV6, body.get((usize::from(*length) + 1) * 8..).unwrap_or_default()),
        (PIM, _) => (PIM, body),
        _ => return Some((traffic, false)),
    };
    let is_mld = matches!(message.first(), Some(130..=132 | 143 | 151));
    if protocol == ICMPV6 && !is_mld {
        return Some((traffic, false));
    }
    let is_intact = sum(pseudo(source.into(), destination.into(), message.len(), protocol), message) == 0xffff;
    let frame = match protocol {
        PIM => hello(message, true).filter(|_| is_intact).map_or(traffic, Frame::Message),
        // RFC 3810, section 6.2: no router has passed it on.
        _ if !is_intact || fixed[7] != 1 => Frame::Malformed,
        _ => mld(source, message),
    };
    Some((frame, true))
}

/// RFC 2710, section 3; RFC 3810, section 5.
fn mld(source: Ipv6Addr, message: &[u8]) -> Frame {
    let is_link_local = source.segments()[0] & 0xffc0 == 0xfe80;
    // Who has no address yet reports without one (RFC 3590, section 4).
    if !is_link_local && !source.is_unspecified() {
        return Frame::Malformed;
    }
    match message[0] {
        143 => read(records(message, |bytes| Some((Ipv6Addr::from(*bytes.first_chunk::<16>()?).into(), 16)))),
        151 => Frame::Message(Message::Router { is_v6: true, hold: Hold::AsQuerier }),
        kind => read(mld_plain(kind, source, message).filter(|_| kind != 130 || is_link_local)),
    }
}

/// The messages that have one group.
fn mld_plain(kind: u8, source: Ipv6Addr, message: &[u8]) -> Option<Message> {
    let group = Ipv6Addr::from(*message.get(8..)?.first_chunk::<16>()?);
    let of_group = |wish| {
        let group = Some(group).filter(Ipv6Addr::is_multicast)?;
        Some(Message::Report(Vec::from([Change { group: group.into(), wish }])))
    };
    match kind {
        131 => return of_group(Wish::Member),
        132 => return of_group(Wish::Leaves),
        _ => {}
    }
    let named = (!group.is_unspecified()).then_some(group);
    if named.is_some_and(|own| !own.is_multicast()) {
        return None;
    }
    let code = word(message, 4)?;
    let plain = |milliseconds| Query {
        source: source.into(),
        group: named.map(IpAddr::V6),
        response: Duration::from_millis(milliseconds),
        robustness: None,
        interval: None,
        is_quiet: false,
    };
    let query = match message.len() {
        24 => Some(plain(u64::from(code))),
        28.. => sources(plain(long_exponential(code)), &message[24..], 16),
        _ => None,
    };
    query.map(Message::Query)
}

/// RFC 3810, section 5.1.3: from 32,768 on, twelve bits and an exponent.
fn long_exponential(code: u16) -> u64 {
    if code < 32_768 { u64::from(code) } else { (u64::from(code & 0x0fff) | 0x1000) << ((code >> 12 & 7) + 3) }
}

/// A hello of PIM (RFC 7761, sections 4.9 and 4.9.2); its other messages say nothing here.
fn hello(body: &[u8], is_v6: bool) -> Option<Message> {
    let [0x20, _, _, _, options @ ..] = body else { return None };
    let mut hold = Hold::For(HELLO);
    let mut rest = options;
    while let [a, b, c, d, after @ ..] = rest {
        let (kind, length) = (u16::from_be_bytes([*a, *b]), usize::from(u16::from_be_bytes([*c, *d])));
        let value = after.get(..length)?;
        if let (1, [high, low]) = (kind, value) {
            hold = match u16::from_be_bytes([*high, *low]) {
                u16::MAX => Hold::Ever,
                seconds => Hold::For(Duration::from_secs(u64::from(seconds))),
            };
        }
        rest = &after[length..];
    }
    Some(Message::Router { is_v6, hold })
}

fn word(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

//! The flow of a packet by its headers: addresses, protocol, ports, traffic class.

use crate::headers::{ETHERTYPE_IPV4, ETHERTYPE_IPV6, MAX_HEAD, ethernet};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use core::ops::Range;

/// The fields by which traffic is told apart. Addresses are as in the IP header, ports zero where there are none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Flow {
    /// Source address.
    pub source: IpAddr,
    /// Destination address.
    pub destination: IpAddr,
    /// The protocol above IP, as IANA numbers it; behind the extension headers of IPv6.
    pub protocol: u8,
    /// Source port of TCP, UDP, UDP-Lite, SCTP or DCCP; zero for other protocols and for fragments.
    pub source_port: u16,
    /// Destination port, likewise.
    pub destination_port: u16,
    /// Differentiated services code point, 0 to 63 (RFC 2474, section 3).
    pub dscp: u8,
}

/// The two bits of explicit congestion notification (RFC 3168, section 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ecn {
    /// 00: the sender does not understand marks.
    NotCapable,
    /// 01: ECT(1); the sender wants the treatment of L4S (RFC 9331).
    Capable1,
    /// 10: ECT(0).
    Capable0,
    /// 11: congestion was experienced.
    Congested,
}

impl Ecn {
    fn of(traffic_class: u8) -> Self {
        match traffic_class & 0b11 {
            0b00 => Self::NotCapable,
            0b01 => Self::Capable1,
            0b10 => Self::Capable0,
            _ => Self::Congested,
        }
    }
}

// IANA protocol numbers.
const HOP_BY_HOP: u8 = 0;
const TCP: u8 = 6;
pub(crate) const UDP: u8 = 17;
const DCCP: u8 = 33;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const AUTHENTICATION: u8 = 51;
const DESTINATION_OPTIONS: u8 = 60;
const SCTP: u8 = 132;
pub(crate) const UDP_LITE: u8 = 136;

/// Where the IP header starts and its version; none for what is not an IP packet, or hides behind a pile of tags.
pub(crate) fn network(frame: &[u8]) -> Option<(usize, u8)> {
    let (at, ethertype) = ethernet(frame).filter(|(at, _)| *at <= MAX_HEAD / 2)?;
    let version = frame.get(at)? >> 4;
    match (ethertype, version) {
        (ETHERTYPE_IPV4, 4) if frame.len() >= at + 20 => Some((at, 4)),
        (ETHERTYPE_IPV6, 6) if frame.len() >= at + 40 => Some((at, 6)),
        _ => None,
    }
}

/// The whole byte of which the code point is the upper six bits and congestion notification the lower two.
fn traffic_class(frame: &[u8], at: usize, version: u8) -> u8 {
    if version == 4 { frame[at + 1] } else { frame[at] << 4 | frame[at + 1] >> 4 }
}

/// The ECN bits; none for what is not an IP packet.
pub(crate) fn ecn(frame: &[u8]) -> Option<Ecn> {
    let (at, version) = network(frame)?;
    Some(Ecn::of(traffic_class(frame, at, version)))
}

/// The flow; none for what is not an IP packet.
pub(crate) fn flow(frame: &[u8]) -> Option<Flow> {
    let (at, _) = network(frame)?;
    Flow::of_ip(&frame[at..])
}

/// Whether kernels and devices exchange such frames by themselves: everything but IP (ARP, spanning trees), IGMP, and of ICMPv6 neighbour
/// discovery (RFC 4861, section 4) and multicast listeners (RFC 2710, section 3; RFC 3810, section 5; RFC 4286, section 8).
pub(crate) fn is_chatter(frame: &[u8]) -> bool {
    const IGMP: u8 = 2;
    const ICMPV6: u8 = 58;
    let Some((at, version)) = network(frame) else { return true };
    let parts = if version == 4 { v4(&frame[at..]) } else { v6(&frame[at..]) };
    match parts {
        Some((_, _, IGMP, _)) => true,
        Some((_, _, ICMPV6, transport)) => {
            transport.and_then(|bytes| bytes.first()).is_some_and(|kind| matches!(kind, 130..=137 | 143 | 151..=153))
        }
        _ => false,
    }
}

/// Whether a frame finds out or tells the hardware address of a neighbour: ARP (RFC 826), and of ICMPv6 the solicitations and
/// advertisements of routers and neighbours (RFC 4861, section 4).
pub(crate) fn resolves_addresses(frame: &[u8]) -> bool {
    const ARP: u16 = 0x0806;
    const ICMPV6: u8 = 58;
    match network(frame) {
        None => ethernet(frame).is_some_and(|(_, ethertype)| ethertype == ARP),
        Some((at, 6)) => matches!(v6(&frame[at..]), Some((_, _, ICMPV6, Some([133..=136, ..])))),
        Some(_) => false,
    }
}

/// The sequence number of a segment of TCP; none for all else, and for fragments.
pub(crate) fn sequence(frame: &[u8]) -> Option<u32> {
    let (at, version) = network(frame)?;
    let (_, _, protocol, transport) = if version == 4 { v4(&frame[at..])? } else { v6(&frame[at..])? };
    // RFC 9293, section 3.1: behind the two ports.
    let number = transport.filter(|_| protocol == TCP)?.get(4..8)?;
    Some(u32::from_be_bytes([number[0], number[1], number[2], number[3]]))
}

/// Where the header of a segment of TCP begins; none for all else, and for fragments.
pub(crate) fn tcp_at(frame: &[u8]) -> Option<usize> {
    sequence(frame)?;
    payload(frame).map(|(range, _)| range.start)
}

/// How many bytes lie before the payload of TCP or UDP; none for all else, and for fragments.
pub(crate) fn headers_len(frame: &[u8]) -> Option<usize> {
    let (at, version) = network(frame)?;
    let (_, _, protocol, transport) = if version == 4 { v4(&frame[at..])? } else { v6(&frame[at..])? };
    let transport = transport?;
    let own = match protocol {
        // RFC 9293, section 3.1: the upper half of this byte counts words.
        TCP => usize::from(transport.get(12)? >> 4) * 4,
        UDP => 8,
        _ => return None,
    };
    (own <= transport.len()).then_some(frame.len() - transport.len() + own)
}

impl Flow {
    /// Returns the flow of answers: source and destination change places.
    #[must_use]
    pub fn reversed(&self) -> Self {
        Self {
            source: self.destination,
            destination: self.source,
            source_port: self.destination_port,
            destination_port: self.source_port,
            ..*self
        }
    }

    /// Whose packet it is that begins so, with its IP header; none if this is not one.
    pub fn of_ip(packet: &[u8]) -> Option<Self> {
        let version = packet.first()? >> 4;
        let (source, destination, protocol, transport) = match version {
            4 if packet.len() >= 20 => v4(packet)?,
            6 if packet.len() >= 40 => v6(packet)?,
            _ => return None,
        };
        let has_ports = matches!(protocol, TCP | UDP | DCCP | SCTP | UDP_LITE);
        let ports = transport.filter(|_| has_ports).and_then(|bytes| bytes.get(..4));
        let port = |from: usize| ports.map_or(0, |bytes| word(bytes, from));
        Some(Self {
            source,
            destination,
            protocol,
            source_port: port(0),
            destination_port: port(2),
            dscp: traffic_class(packet, 0, version) >> 2,
        })
    }
}

type Parts<'a> = (IpAddr, IpAddr, u8, Option<&'a [u8]>);

/// RFC 791, section 3.1.
fn v4(header: &[u8]) -> Option<Parts<'_>> {
    let address = |at: usize| Ipv4Addr::new(header[at], header[at + 1], header[at + 2], header[at + 3]);
    let len = usize::from(header[0] & 0x0f) * 4;
    // More fragments follow, or this is not the first.
    let fragment = word(header, 6) & 0x3fff != 0;
    let transport = if fragment { None } else { header.get(len..) };
    (len >= 20).then(|| (address(12).into(), address(16).into(), header[9], transport))
}

/// RFC 8200, sections 3 and 4.
fn v6(header: &[u8]) -> Option<Parts<'_>> {
    let address = |at: usize| <[u8; 16]>::try_from(&header[at..at + 16]).map(Ipv6Addr::from).ok();
    let chain = Chain::of(header);
    let transport = if chain.fragment.is_some() { None } else { header.get(chain.end..) };
    Some((address(8)?.into(), address(24)?.into(), chain.fragment.unwrap_or(chain.protocol), transport))
}

/// The extension headers of IPv6.
struct Chain {
    /// The protocol behind them.
    protocol: u8,
    /// Where they end, in bytes from the IPv6 header on.
    end: usize,
    /// In a fragment, what its fragment header says comes next: the same in all fragments of a packet.
    fragment: Option<u8>,
    /// Whether what follows is the middle of a packet.
    is_later_fragment: bool,
}

impl Chain {
    fn of(header: &[u8]) -> Self {
        let mut chain = Self { protocol: header[6], end: 40, fragment: None, is_later_fragment: false };
        while let Some(extension) = header.get(chain.end..chain.end + 8).filter(|_| !chain.is_later_fragment) {
            chain.end += match chain.protocol {
                HOP_BY_HOP | ROUTING | DESTINATION_OPTIONS => (usize::from(extension[1]) + 1) * 8,
                // RFC 4302, section 2.2.
                AUTHENTICATION => (usize::from(extension[1]) + 2) * 4,
                FRAGMENT => {
                    let place = word(extension, 2);
                    // The offset is zero and nothing follows: a packet in one fragment (RFC 6946) is no fragment.
                    chain.fragment = chain.fragment.or((place & 0xfff9 != 0).then_some(extension[0]));
                    chain.is_later_fragment = place & 0xfff8 != 0;
                    8
                }
                _ => break,
            };
            chain.protocol = extension[0];
        }
        chain
    }
}

/// Where above IP the bytes lie that its header counts, and what protocol they begin with; the latter is none in the
/// middle of a fragmented packet.
pub(crate) fn payload(frame: &[u8]) -> Option<(Range<usize>, Option<u8>)> {
    let (at, version) = network(frame)?;
    let header = &frame[at..];
    let told = usize::from(if version == 4 { word(header, 2) } else { word(header, 4) });
    let (start, end, protocol) = if version == 4 {
        let is_later_fragment = word(header, 6) & 0x1fff != 0;
        (usize::from(header[0] & 0x0f) * 4, told, (!is_later_fragment).then_some(header[9]))
    } else {
        let chain = Chain::of(header);
        (chain.end, 40 + told, (!chain.is_later_fragment).then_some(chain.protocol))
    };
    // Zero: longer than the field can say (RFC 2675, section 3, and the kernel's super-packets).
    let end = if told == 0 { header.len() } else { end.min(header.len()) };
    (start >= 20).then(|| (at + start.min(end)..at + end, protocol))
}

fn word(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

/// Sets both ECN bits in a copied header, and completes the checksum of IPv4.
pub(crate) fn set_congested(frame: &mut [u8]) {
    let Some((at, version)) = network(frame) else { return };
    if version == 6 {
        // The traffic class lies across the first two bytes; its lower bits are bits 4 and 5 of the second.
        frame[at + 1] |= 0b0011_0000;
        return;
    }
    change_v4(&mut frame[at..], 0, |word| word[1] |= 0b11);
}

/// Takes the mark of congestion from a header: its sender is capable of it, as ECT(0) says; and completes the checksum of IPv4.
pub(crate) fn clear_congested(frame: &mut [u8]) {
    let Some((at, version)) = network(frame) else { return };
    if version == 6 {
        frame[at + 1] = frame[at + 1] & !0b0011_0000 | 0b0010_0000;
        return;
    }
    change_v4(&mut frame[at..], 0, |word| word[1] = word[1] & !0b11 | 0b10);
}

/// Takes `hops` from the time to live (IPv4) or the hop limit (IPv6) of a copied header, and completes the checksum of
/// IPv4. RFC 1812, section 5.3.1; RFC 8200, section 3.
pub(crate) fn age(frame: &mut [u8], hops: u8) {
    match network(frame) {
        Some((at, 6)) => frame[at + 7] = frame[at + 7].saturating_sub(hops),
        Some((at, _)) if hops > 0 => change_v4(&mut frame[at..], 8, |word| word[0] = word[0].saturating_sub(hops)),
        _ => {}
    }
}

/// Changes the two bytes at `place` of a header of IPv4, and its checksum with them (RFC 1624, section 3, equation 3).
fn change_v4(header: &mut [u8], place: usize, change: impl FnOnce(&mut [u8])) {
    let before = word(header, place);
    change(&mut header[place..place + 2]);
    let after = word(header, place);
    let sum = u32::from(!word(header, 10)) + u32::from(!before) + u32::from(after);
    let once = (sum & 0xffff) + (sum >> 16);
    let folded = u16::try_from((once & 0xffff) + (once >> 16)).expect("two folds leave 16 bits");
    header[10..12].copy_from_slice(&(!folded).to_be_bytes());
}

/// How many bytes [`set_congested`] and [`age`] may change or must see: all up to the end of the fixed IP header.
pub(crate) fn marked_head(frame: &[u8]) -> Option<usize> {
    network(frame).map(|(at, version)| at + if version == 4 { 20 } else { 40 })
}

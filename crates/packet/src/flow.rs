//! What a packet's headers say about whose it is: addresses, protocol, ports, traffic class.

use crate::headers::{ETHERTYPE_IPV4, ETHERTYPE_IPV6, MAX_HEAD, ethernet};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

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
const UDP: u8 = 17;
const DCCP: u8 = 33;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const DESTINATION_OPTIONS: u8 = 60;
const SCTP: u8 = 132;
const UDP_LITE: u8 = 136;

/// Where the IP header starts and its version; none for what is no IP packet, or hides behind a pile of tags.
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

/// The ECN bits; none for what is no IP packet.
pub(crate) fn ecn(frame: &[u8]) -> Option<Ecn> {
    let (at, version) = network(frame)?;
    Some(Ecn::of(traffic_class(frame, at, version)))
}

/// The flow; none for what is no IP packet.
pub(crate) fn flow(frame: &[u8]) -> Option<Flow> {
    let (at, version) = network(frame)?;
    let header = &frame[at..];
    let (source, destination, protocol, transport) = if version == 4 { v4(header)? } else { v6(header)? };
    let has_ports = matches!(protocol, TCP | UDP | DCCP | SCTP | UDP_LITE);
    let ports = transport.filter(|_| has_ports).and_then(|bytes| bytes.get(..4));
    let port = |from: usize| ports.map_or(0, |bytes| u16::from_be_bytes([bytes[from], bytes[from + 1]]));
    Some(Flow {
        source,
        destination,
        protocol,
        source_port: port(0),
        destination_port: port(2),
        dscp: traffic_class(frame, at, version) >> 2,
    })
}

type Parts<'a> = (IpAddr, IpAddr, u8, Option<&'a [u8]>);

/// RFC 791, section 3.1.
fn v4(header: &[u8]) -> Option<Parts<'_>> {
    let address = |at: usize| Ipv4Addr::new(header[at], header[at + 1], header[at + 2], header[at + 3]);
    let len = usize::from(header[0] & 0x0f) * 4;
    let fragment = u16::from_be_bytes([header[6], header[7]]) & 0x3fff != 0;
    let transport = if fragment { None } else { header.get(len..) };
    (len >= 20).then(|| (address(12).into(), address(16).into(), header[9], transport))
}

/// RFC 8200, sections 3 and 4.
fn v6(header: &[u8]) -> Option<Parts<'_>> {
    let address = |at: usize| <[u8; 16]>::try_from(&header[at..at + 16]).map(Ipv6Addr::from).ok();
    let (mut next, mut at, mut fragment) = (header[6], 40, false);
    loop {
        let Some(extension) = header.get(at..at + 8) else { break };
        let len = match next {
            HOP_BY_HOP | ROUTING | DESTINATION_OPTIONS => (usize::from(extension[1]) + 1) * 8,
            FRAGMENT => {
                fragment = true;
                8
            }
            _ => break,
        };
        next = extension[0];
        at += len;
    }
    let transport = if fragment { None } else { header.get(at..) };
    Some((address(8)?.into(), address(24)?.into(), next, transport))
}

/// Sets both ECN bits in a copied header, and completes the checksum of IPv4.
pub(crate) fn set_congested(frame: &mut [u8]) {
    let Some((at, version)) = network(frame) else { return };
    if version == 6 {
        // The traffic class lies across the first two bytes; its lower bits are bits 4 and 5 of the second.
        frame[at + 1] |= 0b0011_0000;
        return;
    }
    let before = u16::from_be_bytes([frame[at], frame[at + 1]]);
    frame[at + 1] |= 0b11;
    let after = u16::from_be_bytes([frame[at], frame[at + 1]]);
    let checksum = u16::from_be_bytes([frame[at + 10], frame[at + 11]]);
    // RFC 1624, section 3, equation 3.
    let sum = u32::from(!checksum) + u32::from(!before) + u32::from(after);
    let once = (sum & 0xffff) + (sum >> 16);
    let folded = u16::try_from((once & 0xffff) + (once >> 16)).expect("two folds leave 16 bits");
    frame[at + 10..at + 12].copy_from_slice(&(!folded).to_be_bytes());
}

/// How many bytes [`set_congested`] may change or must see: all up to the end of the fixed IP header.
pub(crate) fn marked_head(frame: &[u8]) -> Option<usize> {
    network(frame).map(|(at, version)| at + if version == 4 { 20 } else { 40 })
}

/// Where the bytes behind the fixed IP header, its options included, begin.
pub(crate) fn payload_start(frame: &[u8]) -> Option<usize> {
    let (at, version) = network(frame)?;
    Some(at + if version == 4 { usize::from(frame[at] & 0x0f) * 4 } else { 40 })
}

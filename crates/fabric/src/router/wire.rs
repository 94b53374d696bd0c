//! What a router reads in packets, and the pieces that its own are made of.

use crate::checksum::{pseudo, sum};
use alloc::vec::Vec;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use netloom_packet::Packet;

use super::table::number;

/// Length of an Ethernet header. A router's interfaces are untagged: frames with a VLAN tag are dropped.
pub(crate) const ETHERNET: usize = 14;
pub(crate) const IPV4: u16 = 0x0800;
pub(crate) const IPV6: u16 = 0x86dd;
pub(crate) const ARP: u16 = 0x0806;

/// Length of the fixed IPv4 header.
pub(crate) const V4_HEADER: usize = 20;
/// Length of the IPv6 header.
pub(crate) const V6_HEADER: usize = 40;

const ICMP: u8 = 1;
const UDP: u8 = 17;
pub(crate) const ICMPV6: u8 = 58;

/// RFC 4861, section 4.3.
pub(crate) const NEIGHBOR_SOLICITATION: u8 = 135;

/// What follows the hardware addresses; none for what is too short for a frame.
pub(crate) fn ethertype(frame: &[u8]) -> Option<u16> {
    Some(u16::from_be_bytes([*frame.get(12)?, *frame.get(13)?]))
}

/// The packet as the wire carries it. Rarely needed: for what a router answers.
pub(crate) fn complete(packet: &Packet) -> Vec<u8> {
    let mut bytes = Vec::new();
    packet.complete(&mut bytes);
    bytes
}

/// The header of an IP packet.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Network<'a> {
    V4(&'a [u8]),
    V6(&'a [u8]),
}

impl<'a> Network<'a> {
    /// The header in a frame; none if this is not an IP packet.
    #[inline]
    pub(crate) fn of(frame: &'a [u8]) -> Option<Self> {
        let ip = frame.get(ETHERNET..)?;
        match (ethertype(frame)?, ip.first()? >> 4) {
            (IPV4, 4) if ip.len() >= V4_HEADER && ip[0] & 0x0f >= 5 => Some(Self::V4(ip)),
            (IPV6, 6) if ip.len() >= V6_HEADER => Some(Self::V6(ip)),
            _ => None,
        }
    }

    /// The number of the destination in a table.
    #[inline]
    pub(crate) fn destination(self) -> u128 {
        number(match self {
            Self::V4(ip) => IpAddr::V4(v4(ip, 16)),
            Self::V6(ip) => IpAddr::V6(v6(ip, 24)),
        })
    }

    /// As its sender or the last router that wrote it left it.
    #[inline]
    pub(crate) fn time_to_live(self) -> u8 {
        match self {
            Self::V4(ip) => ip[8],
            Self::V6(ip) => ip[7],
        }
    }

    /// Whether it may not leave the link of its sender (RFC 4291, section 2.5.6).
    #[inline]
    pub(crate) fn is_bound_to_link(self) -> bool {
        matches!(self, Self::V6(ip) if ip[8] == 0xfe && ip[9] & 0xc0 == 0x80)
    }

    /// What is behind the header: the protocol, and its bytes. None in fragments, and behind extension headers.
    pub(crate) fn above(self) -> Option<(u8, &'a [u8])> {
        match self {
            Self::V4(ip) => {
                let (start, end) = (usize::from(ip[0] & 0x0f) * 4, usize::from(word(ip, 2)));
                let is_fragment = word(ip, 6) & 0x3fff != 0;
                let bytes = ip.get(start..end.min(ip.len()))?;
                (!is_fragment).then_some((ip[9], bytes))
            }
            Self::V6(ip) => {
                let end = V6_HEADER + usize::from(word(ip, 4));
                Some((ip[6], ip.get(V6_HEADER..end.min(ip.len()))?))
            }
        }
    }

    /// The type of an ICMP message.
    pub(crate) fn icmp(self) -> Option<u8> {
        let (protocol, bytes) = self.above()?;
        let own = if matches!(self, Self::V4(_)) { ICMP } else { ICMPV6 };
        if protocol == own { bytes.first().copied() } else { None }
    }

    /// Whether it is for a port, and its sender gets *port unreachable*.
    pub(crate) fn is_for_a_port(self) -> bool {
        self.above().is_some_and(|(protocol, _)| protocol == UDP)
    }

    pub(crate) fn addresses(self) -> (IpAddr, IpAddr) {
        match self {
            Self::V4(ip) => (v4(ip, 12).into(), v4(ip, 16).into()),
            Self::V6(ip) => (v6(ip, 8).into(), v6(ip, 24).into()),
        }
    }

    /// The type of service or the traffic class, with the bits of explicit congestion notification.
    pub(crate) fn class(self) -> u8 {
        match self {
            Self::V4(ip) => ip[1],
            Self::V6(ip) => ip[0] << 4 | ip[1] >> 4,
        }
    }

    /// Whether its sender says by which further routers it goes on (RFC 791, section 3.1: loose and strict source routes), so that it
    /// is not for the address that it bears.
    pub(crate) fn is_routed_by_its_source(self) -> bool {
        let Self::V4(ip) = self else { return false };
        let mut options = ip.get(V4_HEADER..usize::from(ip[0] & 0x0f) * 4).unwrap_or_default();
        loop {
            options = match *options {
                [1, ref rest @ ..] => rest,
                [131 | 137, length, pointer, ..] => return pointer <= length,
                [kind, length, ..] if kind != 0 && length >= 2 => {
                    options.get(usize::from(length)..).unwrap_or_default()
                }
                _ => return false,
            }
        }
    }

    /// Whether it is the first fragment of its packet, or the whole.
    pub(crate) fn is_first_fragment(self) -> bool {
        match self {
            Self::V4(ip) => word(ip, 6) & 0x1fff == 0,
            Self::V6(_) => true,
        }
    }
}

#[inline]
pub(crate) fn word(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

#[inline]
pub(crate) fn v4(bytes: &[u8], at: usize) -> Ipv4Addr {
    Ipv4Addr::new(bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3])
}

#[inline]
pub(crate) fn v6(bytes: &[u8], at: usize) -> Ipv6Addr {
    Ipv6Addr::from(<[u8; 16]>::try_from(&bytes[at..at + 16]).expect("sixteen bytes"))
}

/// Whether a router may look at this frame at all: if it is IP, it is as long as it says, and the checksum of IPv4 is right (RFC 1812,
/// section 5.2.2). What is no IP packet is looked at elsewhere.
#[inline]
pub(crate) fn is_sound(frame: &[u8]) -> bool {
    let Some(ip) = frame.get(ETHERNET..) else { return true };
    match ethertype(frame) {
        Some(IPV4) => {
            let Some(header) = ip.first().and_then(|first| ip.get(..usize::from(first & 0x0f) * 4)) else {
                return false;
            };
            if header.len() < V4_HEADER || header[0] >> 4 != 4 {
                return false;
            }
            let length = usize::from(word(header, 2));
            // Zero is what super-packets above 64 KiB say.
            let fits = length == 0 && ip.len() > usize::from(u16::MAX) || (header.len()..=ip.len()).contains(&length);
            fits && sum(0, header) == 0xffff
        }
        Some(IPV6) => ip.len() >= V6_HEADER && ip[0] >> 4 == 6 && V6_HEADER + usize::from(word(ip, 4)) <= ip.len(),
        _ => true,
    }
}

/// Gives an IPv4 packet of the router itself an identification.
pub(crate) fn identify(frame: &mut [u8], identification: u16) {
    if ethertype(frame) != Some(IPV4) {
        return;
    }
    let Some(header) = frame.get_mut(ETHERNET..ETHERNET + V4_HEADER) else { return };
    header[4..6].copy_from_slice(&identification.to_be_bytes());
    header[10..12].fill(0);
    let checksum = !sum(0, header);
    header[10..12].copy_from_slice(&checksum.to_be_bytes());
}

/// Whether the checksum of a message of ICMP or ICMPv6 is right.
pub(crate) fn is_intact(source: IpAddr, destination: IpAddr, message: &[u8]) -> bool {
    sum(pseudo(source, destination, message.len(), ICMPV6), message) == 0xffff
}

/// A frame with a message of ICMP or ICMPv6, whose checksum is still to be made; Ethernet addresses are left out.
pub(crate) fn icmp_frame(source: IpAddr, destination: IpAddr, hops: u8, class: u8, mut message: Vec<u8>) -> Vec<u8> {
    message[2..4].fill(0);
    let checksum = !sum(pseudo(source, destination, message.len(), ICMPV6), &message);
    message[2..4].copy_from_slice(&checksum.to_be_bytes());
    let mut frame = Vec::from([0; 12]);
    match (source, destination) {
        (IpAddr::V4(from), IpAddr::V4(to)) => {
            frame.extend(IPV4.to_be_bytes());
            let length = u16::try_from(V4_HEADER + message.len()).expect("shorter than a packet").to_be_bytes();
            let mut header = [0x45, class, length[0], length[1], 0, 0, 0, 0, hops, ICMP, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
            header[12..16].copy_from_slice(&from.octets());
            header[16..].copy_from_slice(&to.octets());
            let own = !sum(0, &header);
            header[10..12].copy_from_slice(&own.to_be_bytes());
            frame.extend(header);
        }
        (IpAddr::V6(from), IpAddr::V6(to)) => {
            frame.extend(IPV6.to_be_bytes());
            let length = u16::try_from(message.len()).expect("shorter than a packet").to_be_bytes();
            frame.extend([0x60 | class >> 4, class << 4, 0, 0, length[0], length[1], ICMPV6, hops]);
            frame.extend(from.octets());
            frame.extend(to.octets());
        }
        _ => unreachable!("both ends of a packet are of one family"),
    }
    frame.extend(message);
    frame
}

//! Where the headers of a super-packet lie, and what they must say when a piece is cut from it.

use crate::{Segmentation, VirtioHeader};
use core::ops::Range;

/// Length of an Ethernet header without a VLAN tag, in bytes.
pub(crate) const ETHERNET_HEADER: usize = 14;
/// The longest headers that are cut: Ethernet with two VLAN tags (22), IPv4 or IPv6 with options (60, or 40 and up to 70 of
/// extension headers), TCP with options (60), rounded up.
pub const MAX_HEAD: usize = 192;

/// A packet or train is shorter than this, its segments' headers included: its length has 22 bits of a packet.
pub(crate) const LONGEST_TRAIN: u64 = 1 << 22;

pub(crate) const ETHERTYPE_IPV4: u16 = 0x0800;
pub(crate) const ETHERTYPE_IPV6: u16 = 0x86dd;
const ETHERTYPE_VLAN: u16 = 0x8100;
const ETHERTYPE_QINQ: u16 = 0x88a8;
const TCP: u8 = 6;
const UDP: u8 = 17;
const UDP_HEADER: usize = 8;
/// Length of an IPv6 header without extension headers, in bytes.
const V6_HEADER: usize = 40;
// RFC 8200, sections 4.3, 4.4 and 4.6.
const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const DESTINATION_OPTIONS: u8 = 60;
// RFC 9293, section 3.1.
const TCP_FIN: u8 = 0x01;
const TCP_PSH: u8 = 0x08;
const TCP_CWR: u8 = 0x80;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Network {
    V4,
    V6,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Transport {
    Tcp,
    Udp,
}

/// The offsets that cutting needs, in bytes from the start of the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    network: Network,
    transport: Transport,
    network_at: usize,
    transport_at: usize,
    payload_at: usize,
    segment_size: usize,
}

impl Layout {
    /// Finds the headers; none when the frame is not what its virtio header says, or cannot be cut safely (fragments,
    /// extension headers of IPv6 whose contents depend on what follows, tunnels, more headers than can be counted): it is
    /// then passed on whole.
    pub(crate) fn find(frame: &[u8], virtio: &VirtioHeader) -> Option<Self> {
        let (network_at, ethertype) = ethernet(frame)?;
        let (network, transport) = match (ethertype, virtio.segmentation) {
            (ETHERTYPE_IPV4, Segmentation::Tcp4) => (Network::V4, Transport::Tcp),
            (ETHERTYPE_IPV6, Segmentation::Tcp6) => (Network::V6, Transport::Tcp),
            (ETHERTYPE_IPV4, Segmentation::Udp) => (Network::V4, Transport::Udp),
            (ETHERTYPE_IPV6, Segmentation::Udp) => (Network::V6, Transport::Udp),
            _ => return None,
        };
        let (network_len, protocol) = network.header(frame.get(network_at..)?)?;
        let transport_at = network_at + network_len;
        // The checksum starts at the transport header; anything else is a tunnel, whose outer headers we do not know.
        let (checksum_start, checksum_offset) = virtio.checksum?;
        let expected = (transport_at, transport.checksum_at(), transport.protocol());
        if (usize::from(checksum_start), usize::from(checksum_offset), protocol) != expected {
            return None;
        }
        let payload_at = transport_at + transport.header_len(frame.get(transport_at..)?)?;
        // A jumbo super-packet (BIG TCP) does not say its length in its IP header; it stays whole.
        let plain = frame.len() - network_at <= usize::from(u16::MAX);
        let cuttable = plain && payload_at <= MAX_HEAD && payload_at < frame.len() && virtio.segment_size > 0;
        let segment_size = usize::from(virtio.segment_size);
        let layout = Self { network, transport, network_at, transport_at, payload_at, segment_size };
        // No TCP wants segments of a few bytes, but any program can: their headers may be longer than a packet can count.
        (cuttable && layout.size(0..layout.segments(frame.len()), frame.len()) < LONGEST_TRAIN).then_some(layout)
    }

    pub(crate) fn head_len(&self) -> usize {
        self.payload_at
    }

    pub(crate) fn segments(&self, frame_len: usize) -> u16 {
        let count = (frame_len - self.payload_at).div_ceil(self.segment_size);
        u16::try_from(count).expect("a frame has fewer bytes than a u16 has segments times one")
    }

    /// Length of these segments from their IP headers on.
    pub(crate) fn size(&self, segments: Range<u16>, frame_len: usize) -> u64 {
        let heads = segments.len() * (self.payload_at - ETHERNET_HEADER);
        (self.payload(segments, frame_len).len() + heads) as u64
    }

    /// Where the payload of these segments lies.
    pub(crate) fn payload(&self, segments: Range<u16>, frame_len: usize) -> Range<usize> {
        let at = |segment: u16| (self.payload_at + usize::from(segment) * self.segment_size).min(frame_len);
        at(segments.start)..at(segments.end)
    }

    /// Writes the headers of a piece into `head`.
    pub(crate) fn write(
        &self,
        frame: &[u8],
        virtio: &VirtioHeader,
        segments: Range<u16>,
        payload: usize,
        total: u16,
        head: &mut [u8; MAX_HEAD],
    ) -> VirtioHeader {
        let head = &mut head[..self.payload_at];
        head.copy_from_slice(&frame[..self.payload_at]);
        let (lower, upper) = head.split_at_mut(self.transport_at);
        let transport_len = upper.len() + payload;
        self.network.patch(&mut lower[self.network_at..], transport_len, segments.start);
        match self.transport {
            Transport::Tcp => self.patch_tcp(upper, &segments, total, virtio.ecn),
            Transport::Udp => put(upper, 4, wire_len(transport_len)),
        }
        // The sum that stands there covers addresses, protocol and length (RFC 9293, section 3.1; RFC 8200, section 8.1).
        // Only the length differs; with a routing header, the address is not the one of the IP header (same section).
        let at = self.transport.checksum_at();
        let whole = word(upper, at).expect("within the header");
        let before = wire_len(frame.len() - self.transport_at);
        put(upper, at, fold(u32::from(whole) + u32::from(!before) + u32::from(wire_len(transport_len))));
        let several = segments.len() > 1;
        VirtioHeader {
            segmentation: if several { virtio.segmentation } else { Segmentation::None },
            segment_size: if several { virtio.segment_size } else { 0 },
            ecn: several && virtio.ecn && segments.start == 0,
            header_len: wire_len(self.payload_at),
            checksum: virtio.checksum,
        }
    }

    /// Sequence number and flags of a piece, as the kernel's own segmentation sets them.
    fn patch_tcp(&self, tcp: &mut [u8], segments: &Range<u16>, total: u16, ecn: bool) {
        let sequence = u32::from_be_bytes([tcp[4], tcp[5], tcp[6], tcp[7]]);
        let skipped = u32::try_from(usize::from(segments.start) * self.segment_size).expect("below a frame's length");
        tcp[4..8].copy_from_slice(&sequence.wrapping_add(skipped).to_be_bytes());
        if segments.end < total {
            tcp[13] &= !(TCP_FIN | TCP_PSH);
        }
        // RFC 3168, section 6.1.2: CWR goes with the first segment only. Without the kernel's word that it is meant so, it
        // is a part of a counter that all segments carry (RFC 9768, section 3.2.2).
        if segments.start > 0 && ecn {
            tcp[13] &= !TCP_CWR;
        }
    }
}

/// Where the network header starts, and the type that says which it is.
pub(crate) fn ethernet(frame: &[u8]) -> Option<(usize, u16)> {
    let mut at = ETHERNET_HEADER;
    let mut ethertype = word(frame, 12)?;
    while ethertype == ETHERTYPE_VLAN || ethertype == ETHERTYPE_QINQ {
        ethertype = word(frame, at + 2)?;
        at += 4;
    }
    Some((at, ethertype))
}

impl Network {
    /// Length of the header and the protocol above it.
    fn header(self, bytes: &[u8]) -> Option<(usize, u8)> {
        match self {
            Self::V4 => {
                let len = usize::from(bytes.first()? & 0x0f) * 4;
                let is_header = len >= 20 && bytes.len() >= len;
                // More fragments follow, or this is not the first.
                let is_fragment = is_header && word(bytes, 6)? & 0x3fff != 0;
                (is_header && !is_fragment).then(|| (len, bytes[9]))
            }
            // Zero: longer than the field can say (RFC 2675, section 3).
            Self::V6 => extended(bytes).filter(|_| word(bytes, 4) != Some(0)),
        }
    }

    /// Length, identification and checksum of a piece. RFC 791 section 3.1, RFC 8200 section 3.
    fn patch(self, header: &mut [u8], transport_len: usize, first: u16) {
        match self {
            Self::V4 => {
                let len = header.len();
                put(header, 2, wire_len(len + transport_len));
                let id = word(header, 4).expect("a header of 20 bytes");
                put(header, 4, id.wrapping_add(first));
                put(header, 10, 0);
                let sum = fold(sum(header));
                put(header, 10, !sum);
            }
            Self::V6 => put(header, 4, wire_len(header.len() - V6_HEADER + transport_len)),
        }
    }
}

/// Length of an IPv6 header with those extension headers behind it that every segment repeats as they are, and the
/// protocol above. None: too short.
fn extended(bytes: &[u8]) -> Option<(usize, u8)> {
    let (mut len, mut protocol) = (V6_HEADER, *bytes.get(6)?);
    while matches!(protocol, HOP_BY_HOP | ROUTING | DESTINATION_OPTIONS) {
        protocol = *bytes.get(len)?;
        len += (usize::from(*bytes.get(len + 1)?) + 1) * 8;
    }
    (bytes.len() >= len).then_some((len, protocol))
}

impl Transport {
    fn protocol(self) -> u8 {
        match self {
            Self::Tcp => TCP,
            Self::Udp => UDP,
        }
    }

    fn header_len(self, bytes: &[u8]) -> Option<usize> {
        match self {
            Self::Tcp => Some(usize::from(bytes.get(12)? >> 4) * 4).filter(|len| (20..=bytes.len()).contains(len)),
            Self::Udp => (bytes.len() >= UDP_HEADER).then_some(UDP_HEADER),
        }
    }

    fn checksum_at(self) -> usize {
        match self {
            Self::Tcp => 16,
            Self::Udp => 6,
        }
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]))
}

pub(crate) fn put(bytes: &mut [u8], at: usize, value: u16) {
    bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

fn wire_len(len: usize) -> u16 {
    u16::try_from(len).expect("a frame is shorter than 64 KiB")
}

/// Does what the kernel would do for a checksum that begins at `start` and is stored `offset` bytes from there, where
/// the sum of the pseudo header stands already. A sum of zero is sent as all ones, which TCP reads as the same and UDP
/// needs (RFC 768).
pub(crate) fn complete_checksum(frame: &mut [u8], start: usize, offset: usize) {
    if start + offset + 2 > frame.len() {
        return;
    }
    let checksum = match !fold(sum(&frame[start..])) {
        0 => 0xffff,
        other => other,
    };
    put(frame, start + offset, checksum);
}

/// RFC 1071: the sum of 16-bit words; at most 64 KiB, so 32 bits cannot overflow.
pub(crate) fn sum(bytes: &[u8]) -> u32 {
    bytes.chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair.get(1).copied().unwrap_or(0)]))).sum()
}

pub(crate) fn fold(sum: u32) -> u16 {
    let once = (sum & 0xffff) + (sum >> 16);
    u16::try_from((once & 0xffff) + (once >> 16)).expect("two folds leave 16 bits")
}

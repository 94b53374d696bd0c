//! What headers of TCP say (RFC 9293, section 3.1), and packets that reset connections.

use super::{HOP, Packet, Span};
use crate::Frame;
use crate::flow::{network, tcp_at};
use crate::headers::{complete_checksum, fold, put, sum};
use alloc::{boxed::Box, sync::Arc, vec::Vec};

const TCP: u8 = 6;
const FIN: u8 = 0x01;
const SYN: u8 = 0x02;
const RST: u8 = 0x04;
const ACK: u8 = 0x10;
/// A header without options, in bytes.
const HEADER: usize = 20;
const V4_HEADER: usize = 20;
const V6_HEADER: usize = 40;
/// The time to live of what a fabric sends itself, which is that of Linux.
pub(super) const TIME_TO_LIVE: u8 = 64;

/// The header of a segment of TCP, or of segments that travel together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpHeader {
    /// The number of the first byte.
    pub sequence: u32,
    /// The number of the byte that the sender expects next, if [`TcpHeader::is_ack`].
    pub acknowledgement: u32,
    /// How many bytes of payload there are.
    pub payload: u32,
    flags: u8,
}

impl TcpHeader {
    /// Whether it opens a connection (SYN).
    pub fn is_syn(&self) -> bool {
        self.flags & SYN != 0
    }

    /// Whether the acknowledgement means something (ACK).
    pub fn is_ack(&self) -> bool {
        self.flags & ACK != 0
    }

    /// Whether its sender sends nothing more (FIN).
    pub fn is_fin(&self) -> bool {
        self.flags & FIN != 0
    }

    /// Whether it ends the connection at once (RST).
    pub fn is_rst(&self) -> bool {
        self.flags & RST != 0
    }

    /// Returns the number behind the last one that it takes: SYN and FIN take one each (RFC 9293, section 3.4).
    pub fn end(&self) -> u32 {
        let flags = u32::from(self.is_syn()) + u32::from(self.is_fin());
        self.sequence.wrapping_add(self.payload).wrapping_add(flags)
    }
}

impl Packet {
    /// Returns the header of the segment of TCP; none if the packet is no such thing, or a fragment of one.
    pub fn tcp(&self) -> Option<TcpHeader> {
        let bytes = self.bytes();
        let (ip_at, version) = network(bytes)?;
        let at = tcp_at(bytes)?;
        let header = bytes.get(at..at + HEADER)?;
        let header_len = usize::from(header[12] >> 4) * 4;
        let payload = match self.frame.layout() {
            Some(layout) => layout.payload(self.span.range(), bytes.len()).len(),
            None => {
                let told = usize::from(u16::from_be_bytes(if version == 4 {
                    [bytes[ip_at + 2], bytes[ip_at + 3]]
                } else {
                    [bytes[ip_at + 4], bytes[ip_at + 5]]
                }));
                // Zero: longer than the field can say (the kernel's super-packets).
                let total = match (told, version) {
                    (0, _) => usize::try_from(self.size().get()).unwrap_or(usize::MAX),
                    (told, 4) => told,
                    (told, _) => told + V6_HEADER,
                };
                total.saturating_sub(at - ip_at + header_len)
            }
        };
        let is_last = self.span.range().end == self.frame.segments();
        Some(TcpHeader {
            sequence: self.sequence()?,
            acknowledgement: u32::from_be_bytes([header[8], header[9], header[10], header[11]]),
            payload: u32::try_from(payload).unwrap_or(u32::MAX),
            flags: if is_last { header[13] } else { header[13] & !FIN },
        })
    }
}

/// A packet that resets a TCP connection, but for its numbers.
#[derive(Clone, Debug)]
pub struct ResetTemplate {
    bytes: Box<[u8]>,
    /// Where TCP begins.
    at: usize,
    hops: u8,
    source: Option<u32>,
}

impl ResetTemplate {
    /// Creates the template of a reset that goes where this packet goes; none if it is no segment of TCP.
    pub fn along(packet: &Packet) -> Option<Self> {
        let (ip_at, version) = network(packet.bytes())?;
        let time_to_live = packet.bytes()[ip_at + if version == 4 { 8 } else { 7 }];
        let mut this = Self::new(packet, time_to_live, false)?;
        (this.hops, this.source) = (packet.hops(), packet.source());
        Some(this)
    }

    /// Creates the template of a reset that goes to where this packet comes from, on the same link; none if it is no segment of TCP.
    /// `addresses`: those of Ethernet (destination, source) that the packet has on this link, if not its own.
    pub fn against(packet: &Packet, addresses: Option<[u8; 12]>) -> Option<Self> {
        let mut this = Self::new(packet, TIME_TO_LIVE, true)?;
        turn_ethernet(&mut this.bytes, addresses);
        Some(this)
    }

    fn new(packet: &Packet, time_to_live: u8, is_back: bool) -> Option<Self> {
        let frame = packet.bytes();
        let tcp = frame.get(tcp_at(frame)?..)?.get(..HEADER)?;
        let mut bytes = ip_header(frame, TCP, HEADER as u16, time_to_live, is_back)?;
        let at = bytes.len();
        push_pair(&mut bytes, &tcp[..4], is_back);
        bytes.extend_from_slice(&[0, 0, 0, 0, 0, 0, 0, 0, 0x50, RST, 0, 0, 0, 0, 0, 0]);
        Some(Self { bytes: bytes.into_boxed_slice(), at, hops: 0, source: None })
    }

    /// Returns the packet with this sequence number, and with an acknowledgement of this number if there is one.
    pub fn with_numbers(&self, sequence: u32, acknowledgement: Option<u32>) -> Packet {
        let mut bytes = self.bytes.clone();
        let tcp = &mut bytes[self.at..];
        tcp[4..8].copy_from_slice(&sequence.to_be_bytes());
        tcp[8..12].copy_from_slice(&acknowledgement.unwrap_or(0).to_be_bytes());
        tcp[13] = if acknowledgement.is_some() { RST | ACK } else { RST };
        // RFC 9293, section 3.1: the sum covers addresses, protocol and length, too.
        let addresses = if self.is_v4() { 8 } else { 32 };
        let pseudo = sum(&self.bytes[self.at - addresses..self.at]) + u32::from(TCP) + HEADER as u32;
        put(&mut bytes, self.at + 16, fold(pseudo));
        complete_checksum(&mut bytes, self.at, 16);
        let mut frame = Frame::complete(bytes);
        frame.set_source(self.source);
        let mut packet = Packet::whole(Arc::new(frame));
        packet.span = Span(packet.span.0 + HOP * u64::from(self.hops));
        packet
    }

    fn is_v4(&self) -> bool {
        network(&self.bytes).is_some_and(|(_, version)| version == 4)
    }
}

/// The headers of Ethernet and IP, without options and fragments, of a packet that goes where this frame goes, or back. `length`: of what is to
/// follow, in bytes.
pub(super) fn ip_header(frame: &[u8], protocol: u8, length: u16, time_to_live: u8, is_back: bool) -> Option<Vec<u8>> {
    let (ip_at, version) = network(frame)?;
    let mut bytes = Vec::with_capacity(ip_at + V6_HEADER + usize::from(length));
    bytes.extend_from_slice(&frame[..ip_at]);
    let [high, low] = if version == 4 { length.checked_add(V4_HEADER as u16)? } else { length }.to_be_bytes();
    let addresses = if version == 4 {
        // RFC 791, section 3.1.
        bytes.extend_from_slice(&[0x45, 0, high, low, 0, 0, 0x40, 0, time_to_live, protocol, 0, 0]);
        &frame[ip_at + 12..ip_at + V4_HEADER]
    } else {
        // RFC 8200, section 3: the length is that behind the header.
        bytes.extend_from_slice(&[0x60, 0, 0, 0, high, low, protocol, time_to_live]);
        &frame[ip_at + 8..ip_at + V6_HEADER]
    };
    push_pair(&mut bytes, addresses, is_back);
    if version == 4 {
        let checksum = !fold(sum(&bytes[ip_at..]));
        put(&mut bytes, ip_at + 10, checksum);
    }
    Some(bytes)
}

/// Lets source and destination of Ethernet change places. `addresses`: those on this link, if they are not the frame's own.
pub(super) fn turn_ethernet(bytes: &mut [u8], addresses: Option<[u8; 12]>) {
    if let Some(addresses) = addresses {
        bytes[..12].copy_from_slice(&addresses);
    }
    let (destination, source) = bytes[..12].split_at_mut(6);
    destination.swap_with_slice(source);
}

/// Two values of the same length, in their order or the other way round.
fn push_pair(bytes: &mut Vec<u8>, pair: &[u8], is_back: bool) {
    let (first, second) = pair.split_at(pair.len() / 2);
    let (first, second) = if is_back { (second, first) } else { (first, second) };
    bytes.extend_from_slice(first);
    bytes.extend_from_slice(second);
}

//! Messages of DNS in datagrams of UDP (RFC 1035, section 4), and packets with other messages in their place.

use super::tcp::{TIME_TO_LIVE, ip_header, turn_ethernet};
use super::{HOPS, Packet, Span};
use crate::flow::{UDP, network, payload};
use crate::headers::{complete_checksum, fold, put, sum};
use crate::{Flow, Frame};
use alloc::{sync::Arc, vec::Vec};
use core::ops::Range;

/// The port of name servers.
pub(super) const PORT: u16 = 53;
/// The length of the header of a message, and of that of UDP, in bytes.
const HEADER: usize = 12;
const UDP_HEADER: usize = 8;
/// The longest message in a datagram that is looked at, in bytes.
const LONGEST: usize = 4_096;
/// The longest name, in bytes (RFC 1035, section 3.1).
const LONGEST_NAME: usize = 255;
/// The first byte of flags: a response, and that recursion is desired.
const RESPONSE: u8 = 0x80;
const OPCODE: u8 = 0x78;
const RECURSION_DESIRED: u8 = 0x01;
const TRUNCATED: u8 = 0x02;
/// The second byte of flags: recursion is available.
const RECURSION_AVAILABLE: u8 = 0x80;
const A: u16 = 1;
const AAAA: u16 = 28;

/// A message of DNS with one question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DnsMessage {
    bytes: Vec<u8>,
    /// Where the question ends, which begins behind the header.
    question_end: usize,
}

impl DnsMessage {
    /// Reads the message that begins here; none if it is no standard query with one question, or no answer to one.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let header = bytes.get(..HEADER).filter(|_| bytes.len() <= LONGEST)?;
        let is_standard = header[2] & OPCODE == 0 && header[4..6] == [0, 1];
        let end = name_end(bytes, HEADER).filter(|end| is_standard && end + 4 <= bytes.len())?;
        Some(Self { bytes: bytes.to_vec(), question_end: end + 4 })
    }

    /// Returns whether this is a response.
    pub fn is_response(&self) -> bool {
        self.bytes[2] & RESPONSE != 0
    }

    /// Returns the question, with its name in lower case: name, type and class as on the wire (RFC 1035, section 4.1.2).
    pub fn question(&self) -> Vec<u8> {
        self.bytes[HEADER..self.question_end].to_ascii_lowercase()
    }

    /// Returns whether the question is about this name, or about one below it. `name`: labels with dots between them.
    pub fn is_about(&self, name: &str) -> bool {
        let wanted: Vec<&[u8]> = name.split('.').filter(|label| !label.is_empty()).map(str::as_bytes).collect();
        let mut labels = Vec::new();
        let mut at = HEADER;
        while let Some(len) = self.bytes.get(at).map(|len| usize::from(*len)).filter(|len| (1..64).contains(len)) {
            let Some(label) = self.bytes.get(at + 1..at + 1 + len) else { return false };
            labels.push(label);
            at += 1 + len;
        }
        let tail = labels.len().checked_sub(wanted.len()).map(|from| &labels[from..]);
        tail.is_some_and(|tail| tail.iter().zip(&wanted).all(|(label, own)| label.eq_ignore_ascii_case(own)))
    }

    /// Returns the response of a server that has nothing but this code for the question (RFC 1035, section 4.1.1). `code`: 0 to 15.
    #[must_use]
    pub fn answered(&self, code: u8) -> Self {
        let mut bytes = self.bytes[..self.question_end].to_vec();
        bytes[2] = RESPONSE | self.bytes[2] & RECURSION_DESIRED;
        bytes[3] = RECURSION_AVAILABLE | code & 0x0f;
        bytes[6..HEADER].fill(0);
        Self { bytes, question_end: self.question_end }
    }

    /// Returns the same message with the addresses of each name in the opposite order; none if there are no two of a kind.
    #[must_use]
    pub fn reversed(&self) -> Option<Self> {
        let mut bytes = self.bytes.clone();
        let mut addresses: Vec<(u16, Range<usize>, Range<usize>)> = Vec::new();
        let mut at = self.question_end;
        for _ in 0..u16::from_be_bytes([bytes[6], bytes[7]]) {
            let fixed = name_end(&bytes, at)?;
            let kind = word(&bytes, fixed)?;
            let data = fixed + 10..fixed + 10 + usize::from(word(&bytes, fixed + 8)?);
            bytes.get(data.clone())?;
            let next = data.end;
            if matches!((kind, data.len()), (A, 4) | (AAAA, 16)) {
                addresses.push((kind, at..fixed, data));
            }
            at = next;
        }
        // Records of one name follow each other; what is compressed points to the same place.
        let is_same = |a: &(u16, Range<usize>, Range<usize>), b: &(u16, Range<usize>, Range<usize>)| {
            a.0 == b.0 && self.bytes[a.1.clone()] == self.bytes[b.1.clone()]
        };
        let mut is_changed = false;
        for of_name in addresses.chunk_by(is_same) {
            for (to, from) in of_name.iter().zip(of_name.iter().rev()) {
                bytes[to.2.clone()].copy_from_slice(&self.bytes[from.2.clone()]);
            }
            is_changed |= of_name.len() > 1;
        }
        is_changed.then_some(Self { bytes, question_end: self.question_end })
    }

    /// Returns this response as one to the query that `other` answers.
    #[must_use]
    pub fn in_place_of(&self, other: &Self) -> Self {
        let mut bytes = self.bytes.clone();
        bytes[..2].copy_from_slice(&other.bytes[..2]);
        Self { bytes, question_end: self.question_end }
    }

    /// Returns whether both say the same, whichever query they answer.
    pub fn says_as(&self, other: &Self) -> bool {
        self.bytes[2..] == other.bytes[2..]
    }

    /// Returns whether this is a whole answer: not cut off (RFC 1035, section 4.1.1).
    pub fn is_whole(&self) -> bool {
        self.bytes[2] & TRUNCATED == 0
    }
}

impl Packet {
    /// Returns the message of DNS that this packet carries over UDP from or to port 53; none if it is no such thing, if it is a train, or a
    /// fragment.
    pub fn dns(&self) -> Option<DnsMessage> {
        let flow = self.flow().filter(|_| self.segments() == 1 && !self.is_phantom() && !self.is_uncuttable())?;
        DnsMessage::read(&self.datagram(&flow)?)
    }

    /// The payload of a datagram from or to a name server.
    fn datagram(&self, flow: &Flow) -> Option<Vec<u8>> {
        if flow.protocol != UDP || (flow.source_port != PORT && flow.destination_port != PORT) {
            return None;
        }
        let mut bytes = Vec::new();
        self.complete(&mut bytes);
        let (range, _) = payload(&bytes)?;
        bytes.get(range.start + UDP_HEADER..range.end).map(<[u8]>::to_vec)
    }

    /// Returns the packet with another message in the place of its own; none if it carries none over UDP.
    #[must_use]
    pub fn with_dns(&self, message: &DnsMessage) -> Option<Self> {
        let time_to_live = self.time_to_live()?;
        let mut changed = self.with_message(message, time_to_live, false, None)?;
        changed.span = Span(changed.span.0 | self.span.0 & HOPS);
        Some(changed)
    }

    /// Returns the packet with which a name server answers this one on the same link; none if it carries no query over UDP. `addresses`:
    /// those of Ethernet (destination, source) that the packet has on this link, if not its own.
    #[must_use]
    pub fn dns_answer(&self, message: &DnsMessage, addresses: Option<[u8; 12]>) -> Option<Self> {
        self.with_message(message, TIME_TO_LIVE, true, addresses)
    }

    fn time_to_live(&self) -> Option<u8> {
        let (at, version) = network(self.bytes())?;
        Some(self.bytes()[at + if version == 4 { 8 } else { 7 }])
    }

    fn with_message(
        &self,
        message: &DnsMessage,
        time_to_live: u8,
        is_back: bool,
        addresses: Option<[u8; 12]>,
    ) -> Option<Self> {
        let flow = self.flow().filter(|flow| flow.protocol == UDP)?;
        let length = UDP_HEADER + message.bytes.len();
        let mut bytes = ip_header(self.bytes(), UDP, u16::try_from(length).ok()?, time_to_live, is_back)?;
        if is_back {
            turn_ethernet(&mut bytes, addresses);
        }
        let at = bytes.len();
        let ports = if is_back { flow.reversed() } else { flow };
        bytes.extend_from_slice(&ports.source_port.to_be_bytes());
        bytes.extend_from_slice(&ports.destination_port.to_be_bytes());
        bytes.extend_from_slice(&u16::try_from(length).ok()?.to_be_bytes());
        let (_, version) = network(&bytes)?;
        bytes.extend_from_slice(&[0, 0]);
        bytes.extend_from_slice(&message.bytes);
        // RFC 768: the sum covers addresses, protocol and length, too.
        let addresses_at = at - if version == 4 { 8 } else { 32 };
        let pseudo = sum(&bytes[addresses_at..at]) + u32::from(UDP) + u32::try_from(length).ok()?;
        put(&mut bytes, at + 6, fold(pseudo));
        complete_checksum(&mut bytes, at, 6);
        let mut frame = Frame::complete(bytes.into_boxed_slice());
        if !is_back {
            frame.set_origin(self.origin());
            frame.set_source(self.source());
        }
        Some(Self::whole(Arc::new(frame)))
    }
}

/// Where the name that begins here ends; none if it does not, or is longer than a name may be.
fn name_end(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        let len = usize::from(*bytes.get(at)?);
        match len {
            0 => return Some(at + 1),
            // RFC 1035, section 4.1.4: the rest of the name stands elsewhere.
            0xc0.. => return (at + 2 <= bytes.len()).then_some(at + 2),
            1..64 => at += 1 + len,
            _ => return None,
        }
        if at - from > LONGEST_NAME {
            return None;
        }
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at + 2).map(|pair| u16::from_be_bytes([pair[0], pair[1]]))
}

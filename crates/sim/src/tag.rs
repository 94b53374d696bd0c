//! Simulated packets: real headers, so that queues and filters know the flow, and a payload of zeros.
//!
//! What the simulation must know of a packet travels in its Ethernet addresses and in the identification of its IPv4
//! header (RFC 791, section 3.1). Links do not charge the Ethernet header by default and no model looks at either, so
//! the tag takes no room and changes nothing.

use netloom_packet::{Packet, Pool, VirtioHeader};
use netloom_units::{Bytes, Duration, Instant};
use std::net::Ipv4Addr;

/// The type of IPv4 (RFC 894).
const IPV4_TYPE: [u8; 2] = [0x08, 0x00];
/// Where IPv4 begins, behind Ethernet; where UDP begins, behind IPv4 without options; and where that ends.
const IPV4: usize = 14;
const UDP: usize = IPV4 + 20;
const PAYLOAD: usize = UDP + 8;
/// The ports that nobody owns begin here (RFC 6335, section 6).
const FIRST_PORT: usize = 49_152;
const PORTS: usize = 16_384;
/// The discard service (RFC 863).
const DISCARD: u16 = 9;
/// Numbers and times are carried in 48 bits: times come again after 78 hours, which no packet travels for.
const BITS_48: u64 = (1 << 48) - 1;
/// The highest bit of a packet's number says whether it was sent again: so many numbers no simulation reaches.
const AGAIN: u64 = 1 << 47;

/// The most flows whose numbers fit, with the mark of acknowledgements, into the identification.
pub(crate) const MOST_FLOWS: usize = 1 << 15;

/// What a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tag {
    /// Packet `number` of a flow, sent at `sent` (its lowest 48 bits), not for the first time if it `is_again`.
    Data { flow: usize, number: u64, is_again: bool, sent: u64 },
    /// All packets below `below` have arrived, and `latest` has just arrived.
    Acknowledgement { flow: usize, below: u64, latest: u64 },
}

impl Tag {
    pub(crate) fn data(flow: usize, number: u64, is_again: bool, now: Instant) -> Self {
        Self::Data { flow, number, is_again, sent: now.as_nanos() & BITS_48 }
    }

    /// The tag of a packet that [`build`] made.
    pub(crate) fn read(packet: &Packet) -> Self {
        let bytes = packet.bytes();
        let (first, second) = (read_48(&bytes[0..6]), read_48(&bytes[6..12]));
        let id = usize::from(u16::from_be_bytes([bytes[IPV4 + 4], bytes[IPV4 + 5]]));
        let flow = id >> 1;
        match id & 1 {
            0 => Self::Data { flow, number: first & !AGAIN, is_again: first & AGAIN != 0, sent: second },
            _ => Self::Acknowledgement { flow, below: first, latest: second },
        }
    }

    fn parts(self) -> (usize, u64, u64) {
        match self {
            Self::Data { flow, number, is_again, sent } => (flow << 1, number | if is_again { AGAIN } else { 0 }, sent),
            Self::Acknowledgement { flow, below, latest } => (flow << 1 | 1, below, latest),
        }
    }
}

/// Whether a packet is none that [`build`] made, but one by which an access point tells where a station is: its Ethernet header has a length.
pub(crate) fn is_update(packet: &Packet) -> bool {
    packet.bytes()[12..14] != IPV4_TYPE
}

/// How long ago `sent`, of which the lowest 48 bits are known, was.
pub(crate) fn age(sent: u64, now: Instant) -> Duration {
    Duration::from_nanos((now.as_nanos() & BITS_48).wrapping_sub(sent) & BITS_48)
}

/// A packet of `size` bytes from the IP header on.
pub(crate) fn build(pool: &mut Pool, tag: Tag, size: Bytes, from: Ipv4Addr, to: Ipv4Addr) -> Packet {
    let len = usize::try_from(size.get()).expect("sizes are below 64 KiB").max(PAYLOAD - IPV4) + IPV4;
    let fill = |buffer: &mut [u8]| {
        write(&mut buffer[..len], tag, from, to);
        Some((len, VirtioHeader::COMPLETE))
    };
    pool.fill_with(len, fill).expect("it is always filled")
}

fn write(bytes: &mut [u8], tag: Tag, from: Ipv4Addr, to: Ipv4Addr) {
    let (id, first, second) = tag.parts();
    let ip_len = u16::try_from(bytes.len() - IPV4).expect("below 64 KiB");
    bytes.fill(0);
    bytes[0..6].copy_from_slice(&first.to_be_bytes()[2..]);
    bytes[6..12].copy_from_slice(&second.to_be_bytes()[2..]);
    bytes[12..14].copy_from_slice(&IPV4_TYPE);
    // Version 4 and five words of header; length; identification; time to live; protocol UDP (RFC 791, section 3.1).
    bytes[IPV4] = 0x45;
    bytes[IPV4 + 2..IPV4 + 4].copy_from_slice(&ip_len.to_be_bytes());
    bytes[IPV4 + 4..IPV4 + 6].copy_from_slice(&u16::try_from(id).expect("few flows").to_be_bytes());
    bytes[IPV4 + 8] = 64;
    bytes[IPV4 + 9] = 17;
    bytes[IPV4 + 12..IPV4 + 16].copy_from_slice(&from.octets());
    bytes[IPV4 + 16..IPV4 + 20].copy_from_slice(&to.octets());
    let udp = udp_header(id, bytes.len());
    bytes[UDP..PAYLOAD].copy_from_slice(&udp);
}

/// The ports of a flow's packets: that of its source, and that of its sink.
pub(crate) fn ports(flow: usize) -> [u16; 2] {
    [u16::try_from(FIRST_PORT + flow % PORTS).expect("at most 65,535"), DISCARD]
}

/// The UDP header of a frame of `len` bytes; there is no checksum (RFC 768).
fn udp_header(id: usize, len: usize) -> [u8; PAYLOAD - UDP] {
    let [own, sink] = ports(id >> 1);
    let (source, destination) = if id & 1 == 0 { (own, sink) } else { (sink, own) };
    let len = u16::try_from(len - UDP).expect("below 64 KiB");
    let mut header = [0; PAYLOAD - UDP];
    header[0..2].copy_from_slice(&source.to_be_bytes());
    header[2..4].copy_from_slice(&destination.to_be_bytes());
    header[4..6].copy_from_slice(&len.to_be_bytes());
    header
}

/// Whether no bit behind the IP header was flipped on the way: a receiver's checksum would tell.
pub(crate) fn is_intact(packet: &Packet, tag: Tag) -> bool {
    let bytes = packet.bytes();
    bytes[UDP..PAYLOAD] == udp_header(tag.parts().0, bytes.len()) && is_zero(&bytes[PAYLOAD..])
}

/// Whether all bytes are zero. Looking at 64 at once, the processor compares them side by side: byte by byte, this took half of the time of
/// a simulation.
fn is_zero(bytes: &[u8]) -> bool {
    let is_zero = |part: &[u8]| part.iter().fold(0, |all, byte| all | byte) == 0;
    let chunks = bytes.chunks_exact(64);
    let rest = chunks.remainder();
    is_zero(rest) && chunks.into_iter().all(is_zero)
}

fn read_48(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
    const THERE: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);

    #[test]
    fn a_tag_comes_back_and_a_flipped_bit_is_seen() {
        let mut pool = Pool::new(0, 0);
        for tag in [
            Tag::data(MOST_FLOWS - 1, 1 << 40, false, Instant::from_nanos(77)),
            Tag::data(2, 9, true, Instant::from_nanos(1)),
            Tag::Acknowledgement { flow: 3, below: 5, latest: 9 },
        ] {
            let packet = build(&mut pool, tag, Bytes::new(100), HERE, THERE);
            assert_eq!((Tag::read(&packet), packet.size().get()), (tag, 100));
            assert!(is_intact(&packet, tag));
            assert_eq!(packet.flow().expect("an IP packet").protocol, 17);
            for pick in [0, 64, 500] {
                assert!(!is_intact(&packet.with_flipped_bit(pick).expect("a segment has bits"), tag));
            }
        }
    }

    #[test]
    fn ages_survive_the_end_of_48_bits() {
        let before = Instant::from_nanos(BITS_48);
        let Tag::Data { sent, .. } = Tag::data(0, 0, false, before) else { panic!("it is data") };
        assert_eq!(age(sent, before + Duration::from_nanos(5)), Duration::from_nanos(5));
    }
}

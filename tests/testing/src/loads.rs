//! Packets that tests send, and which of them a piece is.

use netloom_packet::{MAX_HEAD, Packet, Pool, Segmentation, VirtioHeader};

const ETHERNET: usize = 14;
const IPV4: usize = 20;
/// TCP with the twelve bytes of its timestamp option.
const TCP: usize = 32;
const UDP: usize = 8;
/// Where in a frame the protocol above IPv4 stands.
const PROTOCOL: usize = 23;

/// The protocol of a train.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// 52 bytes of headers per segment from the IP header on.
    Tcp,
    /// 28 bytes of headers per segment from the IP header on.
    Udp,
}

/// One packet or one super-packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// One packet of this length in bytes from the IP header on, at least 4.
    Plain(usize),
    /// A super-packet: full segments of `payload` bytes each, then one of `last` bytes unless that is zero.
    Train {
        /// The protocol above IPv4.
        transport: Transport,
        /// The number of full segments.
        full: usize,
        /// The bytes of each of them.
        payload: usize,
        /// The bytes of the last segment.
        last: usize,
    },
}

impl Load {
    /// Returns a packet with this load. Its number and its segment size stand where the destination address would.
    pub fn packet(self, pool: &mut Pool, number: u32) -> Packet {
        self.packet_with(pool, number, 0)
    }

    /// Returns the same with these two bits of congestion notification; any but zero make a plain packet one of IPv4, which
    /// has at least 20 bytes.
    pub fn packet_with(self, pool: &mut Pool, number: u32, ecn: u8) -> Packet {
        self.packet_of(pool, number, ecn, 0)
    }

    /// Returns the same from this port, unless it is zero: a plain packet is then one of UDP, which has at least 28 bytes.
    pub fn packet_of(self, pool: &mut Pool, number: u32, ecn: u8, port: u16) -> Packet {
        let (mut bytes, virtio) = match self {
            Self::Plain(len) => (vec![0; ETHERNET + len], VirtioHeader::COMPLETE),
            Self::Train { transport, full, payload, last } => transport.train(full, payload, last),
        };
        if ecn > 0 || port > 0 {
            bytes[12..16].copy_from_slice(&[0x08, 0x00, 0x45, ecn]);
        }
        if port > 0 {
            if matches!(self, Self::Plain(_)) {
                bytes[PROTOCOL] = 17;
            }
            bytes[ETHERNET + IPV4..ETHERNET + IPV4 + 2].copy_from_slice(&port.to_be_bytes());
        }
        bytes[0..4].copy_from_slice(&number.to_be_bytes());
        bytes[4..6].copy_from_slice(&virtio.segment_size.to_be_bytes());
        pool.packet(virtio, &bytes)
    }
}

impl Transport {
    fn train(self, full: usize, payload: usize, last: usize) -> (Vec<u8>, VirtioHeader) {
        let (segmentation, header, protocol, checksum) = match self {
            Self::Tcp => (Segmentation::Tcp4, TCP, 6, 16),
            Self::Udp => (Segmentation::Udp, UDP, 17, 6),
        };
        let mut bytes = vec![0; ETHERNET + IPV4 + header + full * payload + last];
        bytes[12..14].copy_from_slice(&[0x08, 0x00]);
        bytes[14] = 0x45;
        bytes[PROTOCOL] = protocol;
        if self == Self::Tcp {
            bytes[46] = 8 << 4;
        }
        let virtio = VirtioHeader {
            checksum: Some((34, checksum)),
            segmentation,
            segment_size: u16::try_from(payload).expect("a segment is shorter than 64 KiB"),
            ..VirtioHeader::COMPLETE
        };
        (bytes, virtio)
    }
}

/// Returns the number that a packet was given.
pub fn number(packet: &Packet) -> u32 {
    let bytes = packet.bytes();
    u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

/// Returns the number of the segment of its super-packet that a piece begins with, from zero.
pub fn first_segment(packet: &Packet) -> u32 {
    let bytes = packet.bytes();
    let segment_size = usize::from(u16::from_be_bytes([bytes[4], bytes[5]]));
    let head = packet.write_head(&mut [0; MAX_HEAD]);
    // Only what was cut or marked has headers of its own, and they are as long as those of the whole.
    if head.len == 0 || segment_size == 0 {
        // A segment that was copied tells it by its IPv4 identification, which is zero in the whole.
        return if bytes[12..14] == [0x08, 0x00] { u32::from(u16::from_be_bytes([bytes[18], bytes[19]])) } else { 0 };
    }
    u32::try_from((head.payload.start - head.len) / segment_size).expect("few segments")
}

/// Cuts a packet into its segments.
pub fn alone(mut packet: Packet) -> Vec<Packet> {
    let mut segments = Vec::new();
    while let Some(first) = packet.split_front(1) {
        segments.push(first);
    }
    segments.push(packet);
    segments
}

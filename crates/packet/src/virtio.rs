//! The virtio-net header that a kernel puts before a packet whose checksum or segmentation it left undone.
//!
//! Layout: Virtual I/O Device (VIRTIO) version 1.2, section 5.1.6, without `num_buffers`; fields are little-endian
//! there and in the byte order of the machine on packet sockets, which is the same on all machines we run on.

/// The header's length in bytes.
pub const VIRTIO_HEADER_LEN: usize = 10;

const FLAG_NEEDS_CHECKSUM: u8 = 1;
const GSO_NONE: u8 = 0;
const GSO_TCP4: u8 = 1;
const GSO_TCP6: u8 = 4;
const GSO_UDP_L4: u8 = 5;
const GSO_ECN: u8 = 0x80;

/// Who is to cut the packet, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segmentation {
    /// One packet; nothing to cut.
    None,
    /// TCP over IPv4.
    Tcp4,
    /// TCP over IPv6.
    Tcp6,
    /// UDP datagrams of equal size.
    Udp,
    /// A kind that we do not know how to cut: it is passed on whole, with its code.
    Other(u8),
}

/// The virtio-net header of a packet: what a kernel left undone on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VirtioHeader {
    /// Where the checksum begins and where from there it is to be stored, in bytes; none when it is complete.
    pub checksum: Option<(u16, u16)>,
    /// How the packet is to be cut.
    pub segmentation: Segmentation,
    /// Whether the first segment carries TCP's CWR flag, which the others must not repeat.
    pub ecn: bool,
    /// Payload bytes of each segment but the last.
    pub segment_size: u16,
    /// Length of all headers before the payload, in bytes; a hint that kernels do not fill reliably.
    pub header_len: u16,
}

impl VirtioHeader {
    /// A packet that is complete as it stands.
    pub const COMPLETE: Self =
        Self { checksum: None, segmentation: Segmentation::None, ecn: false, segment_size: 0, header_len: 0 };

    /// Reads the header.
    pub fn parse(bytes: &[u8; VIRTIO_HEADER_LEN]) -> Self {
        let word = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let segmentation = match bytes[1] & !GSO_ECN {
            GSO_NONE => Segmentation::None,
            GSO_TCP4 => Segmentation::Tcp4,
            GSO_TCP6 => Segmentation::Tcp6,
            GSO_UDP_L4 => Segmentation::Udp,
            other => Segmentation::Other(other),
        };
        Self {
            checksum: (bytes[0] & FLAG_NEEDS_CHECKSUM != 0).then(|| (word(6), word(8))),
            segmentation,
            ecn: bytes[1] & GSO_ECN != 0,
            segment_size: word(4),
            header_len: word(2),
        }
    }

    /// Returns the header as bytes.
    pub fn bytes(&self) -> [u8; VIRTIO_HEADER_LEN] {
        let kind = match self.segmentation {
            Segmentation::None => GSO_NONE,
            Segmentation::Tcp4 => GSO_TCP4,
            Segmentation::Tcp6 => GSO_TCP6,
            Segmentation::Udp => GSO_UDP_L4,
            Segmentation::Other(code) => code,
        };
        let (start, offset) = self.checksum.unwrap_or((0, 0));
        let mut bytes = [0; VIRTIO_HEADER_LEN];
        bytes[0] = if self.checksum.is_some() { FLAG_NEEDS_CHECKSUM } else { 0 };
        bytes[1] = kind | if self.ecn { GSO_ECN } else { 0 };
        bytes[2..4].copy_from_slice(&self.header_len.to_le_bytes());
        bytes[4..6].copy_from_slice(&self.segment_size.to_le_bytes());
        bytes[6..8].copy_from_slice(&start.to_le_bytes());
        bytes[8..10].copy_from_slice(&offset.to_le_bytes());
        bytes
    }
}

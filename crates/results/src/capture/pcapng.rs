//! The format pcapng (draft-ietf-opsawg-pcapng), as far as a capture needs it: one section, its interfaces, packets.
//!
//! Written here and not by a crate: these are three kinds of blocks, and every byte of them must follow from the lab.

use super::ring::Out;
use std::io;

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
/// Readers tell the byte order from it.
const BYTE_ORDER: u32 = 0x1a2b_3c4d;
const LINKTYPE_ETHERNET: u16 = 1;
const LINKTYPE_IEEE802_11_RADIOTAP: u16 = 127;
// Options: any block; the section; an interface; a packet.
const COMMENT: u16 = 1;
const SECTION_APPLICATION: u16 = 4;
const INTERFACE_NAME: u16 = 2;
const INTERFACE_MAC: u16 = 6;
const INTERFACE_RESOLUTION: u16 = 9;
const PACKET_FLAGS: u16 = 2;
/// Powers of ten: nanoseconds.
const NANOSECONDS: u8 = 9;
/// What capture programs write for "all": 256 KiB, more than any packet has.
const WHOLE: u32 = 262_144;

/// Where packets were seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Interface {
    pub(super) name: String,
    pub(super) kind: InterfaceKind,
}

/// The kind of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InterfaceKind {
    /// One of Ethernet with this address.
    Ethernet([u8; 6]),
    /// One that hears all that is on the air.
    Radiotap,
}

/// Which way a packet went, as its interface sees it; the value is that of the flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Bound {
    In = 0b01,
    Out = 0b10,
}

/// The options of a packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stamp<'a> {
    /// What there is to say of it.
    pub(super) comment: Option<&'a str>,
    pub(super) interface: u32,
    pub(super) at_ns: u64,
    /// The way of the packet; none of what is on the air.
    pub(super) bound: Option<Bound>,
}

/// Writes a capture.
pub(super) struct Pcapng<W> {
    out: W,
    /// The body of the block that is being made.
    body: Vec<u8>,
    /// A block as it is written.
    block: Vec<u8>,
    /// What stands before the packets.
    head: Vec<u8>,
    snaplen: u32,
}

impl<W: Out> Pcapng<W> {
    /// Writes what comes before the packets. Of each, `snaplen` bytes are kept; none: all.
    pub(super) fn begin(out: W, comment: &str, interfaces: &[Interface], snaplen: Option<u32>) -> io::Result<Self> {
        let (body, block, head) = (Vec::new(), Vec::new(), Vec::new());
        let mut this = Self { out, body, block, head, snaplen: snaplen.unwrap_or(WHOLE) };
        this.section(comment);
        interfaces.iter().for_each(|interface| this.interface(interface));
        this.head = std::mem::take(&mut this.block);
        this.out.write_all(&this.head)?;
        Ok(this)
    }

    fn section(&mut self, comment: &str) {
        self.body.extend(BYTE_ORDER.to_le_bytes());
        // Version 1.0, and a length that is not known before the end.
        self.body.extend([1, 0, 0, 0]);
        self.body.extend(u64::MAX.to_le_bytes());
        self.option(COMMENT, comment.as_bytes());
        self.option(SECTION_APPLICATION, concat!("netloom ", env!("CARGO_PKG_VERSION")).as_bytes());
        self.finish(SECTION_HEADER);
    }

    fn interface(&mut self, interface: &Interface) {
        let link_type = match interface.kind {
            InterfaceKind::Ethernet(_) => LINKTYPE_ETHERNET,
            InterfaceKind::Radiotap => LINKTYPE_IEEE802_11_RADIOTAP,
        };
        self.body.extend(link_type.to_le_bytes());
        self.body.extend([0, 0]);
        self.body.extend(self.snaplen.to_le_bytes());
        self.option(INTERFACE_NAME, interface.name.as_bytes());
        if let InterfaceKind::Ethernet(mac) = &interface.kind {
            self.option(INTERFACE_MAC, mac);
        }
        self.option(INTERFACE_RESOLUTION, &[NANOSECONDS]);
        self.finish(INTERFACE_DESCRIPTION);
    }

    /// Writes a packet, of which as much is kept as was said in the beginning.
    pub(super) fn packet(&mut self, stamp: Stamp<'_>, bytes: &[u8]) -> io::Result<()> {
        let kept = &bytes[..bytes.len().min(self.snaplen as usize)];
        self.body.extend(stamp.interface.to_le_bytes());
        // The upper half of the time comes first, whatever the byte order.
        self.body.extend(half(stamp.at_ns >> 32).to_le_bytes());
        self.body.extend(half(stamp.at_ns & u64::from(u32::MAX)).to_le_bytes());
        self.body.extend(length(kept).to_le_bytes());
        self.body.extend(length(bytes).to_le_bytes());
        self.padded(kept);
        if let Some(bound) = stamp.bound {
            self.option(PACKET_FLAGS, &(bound as u32).to_le_bytes());
        }
        stamp.comment.into_iter().for_each(|comment| self.option(COMMENT, comment.as_bytes()));
        self.block.clear();
        self.finish(ENHANCED_PACKET);
        self.out.make_room(self.block.len() as u64, &self.head)?;
        self.out.write_all(&self.block)
    }

    /// All is written.
    pub(super) fn close(&mut self) -> io::Result<()> {
        self.out.close(&self.head)
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn padded(&mut self, bytes: &[u8]) {
        self.body.extend_from_slice(bytes);
        self.body.resize(self.body.len().next_multiple_of(4), 0);
    }

    fn option(&mut self, code: u16, value: &[u8]) {
        self.body.extend(code.to_le_bytes());
        self.body.extend(u16::try_from(value.len()).expect("our options are short").to_le_bytes());
        self.padded(value);
    }

    /// The end of the options, and the block around all.
    fn finish(&mut self, kind: u32) {
        self.body.extend([0; 4]);
        let total = length(&self.body) + 12;
        self.block.extend(kind.to_le_bytes());
        self.block.extend(total.to_le_bytes());
        self.block.extend_from_slice(&self.body);
        self.block.extend(total.to_le_bytes());
        self.body.clear();
    }
}

fn half(value: u64) -> u32 {
    u32::try_from(value).expect("half of 64 bits")
}

fn length(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len()).expect("packets are shorter than 1 GiB")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufWriter;

    /// Every block of a file: its kind and its body.
    fn blocks(mut file: &[u8]) -> Vec<(u32, Vec<u8>)> {
        let word = |bytes: &[u8], at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let mut all = Vec::new();
        while !file.is_empty() {
            let total = word(file, 4) as usize;
            assert_eq!(total % 4, 0);
            assert_eq!(word(file, total - 4) as usize, total);
            all.push((word(file, 0), file[8..total - 4].to_vec()));
            file = &file[total..];
        }
        all
    }

    #[test]
    fn blocks_are_as_the_format_wants_them() {
        let kind = InterfaceKind::Ethernet([2, 0, 0, 0, 0, 1]);
        let interface = Interface { name: "client:eth0".into(), kind };
        let mut file = Vec::new();
        let mut capture = Pcapng::begin(BufWriter::new(&mut file), "a lab", &[interface], Some(16)).unwrap();
        let stamp = Stamp { interface: 0, at_ns: 0x1_0000_0002, bound: Some(Bound::Out), comment: None };
        capture.packet(stamp, &[7; 61]).unwrap();
        capture.packet(Stamp { comment: Some("lost"), ..stamp }, &[7; 3]).unwrap();
        capture.close().unwrap();
        drop(capture);
        let blocks = blocks(&file);
        let kinds: Vec<u32> = blocks.iter().map(|(number, _)| *number).collect();
        assert_eq!(kinds, [SECTION_HEADER, INTERFACE_DESCRIPTION, ENHANCED_PACKET, ENHANCED_PACKET]);
        let expected: Vec<u8> = [
            &[1, 0, 0, 0, 16, 0, 0, 0][..],
            &[2, 0, 11, 0],
            b"client:eth0\0",
            &[6, 0, 6, 0, 2, 0, 0, 0, 0, 1, 0, 0],
            &[9, 0, 1, 0, 9, 0, 0, 0, 0, 0, 0, 0],
        ]
        .concat();
        assert_eq!(blocks[1].1, expected);
        let head = [0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 16, 0, 0, 0, 61, 0, 0, 0];
        let whole: Vec<u8> = [&head[..], &[7; 16], &[2, 0, 4, 0, 2, 0, 0, 0, 0, 0, 0, 0]].concat();
        assert_eq!(blocks[2].1, whole);
        assert!(blocks[3].1.ends_with(&[2, 0, 4, 0, 2, 0, 0, 0, 1, 0, 4, 0, b'l', b'o', b's', b't', 0, 0, 0, 0]));
    }
}

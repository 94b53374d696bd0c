//! A sender's and a receiver's kernel, written straight from the RFCs and without a line of the crates under test.

use netloom_packet::{MAX_HEAD, Packet, Segmentation, VirtioHeader};

const FIN: u8 = 0x01;
const PSH: u8 = 0x08;
const CWR: u8 = 0x80;
const ROUTING: u8 = 43;

/// The data that a program sends at once, and the headers that its kernel gives it.
#[derive(Clone, Debug)]
pub struct Stream {
    /// The type and tag of each VLAN header.
    pub vlans: Vec<(u16, u16)>,
    /// Whether it goes over IPv6.
    pub v6: bool,
    /// The extension headers of IPv6, by their protocol numbers: hop-by-hop options (0), routing (43), destination options
    /// (60).
    pub extensions: Vec<u8>,
    /// The option bytes of the IPv4 header in words of four.
    pub ip_options: usize,
    /// The first identification of IPv4.
    pub id: u16,
    /// Whether it is TCP rather than UDP.
    pub tcp: bool,
    /// The option bytes of the TCP header in words of four.
    pub tcp_options: usize,
    /// The first sequence number.
    pub sequence: u32,
    /// The flags of TCP.
    pub flags: u8,
    /// Whether CWR is a part of a counter that all segments carry (RFC 9768), and not for the first alone (RFC 3168).
    pub accurate_ecn: bool,
    /// The data.
    pub payload: Vec<u8>,
    /// The bytes of data in a full segment.
    pub segment_size: usize,
}

impl Stream {
    fn transport_at(&self) -> usize {
        let extensions: usize = self.extensions.iter().map(|kind| extension(*kind, 0).len()).sum();
        let network = if self.v6 { 40 + extensions } else { 20 + 4 * self.ip_options };
        14 + 4 * self.vlans.len() + network
    }

    fn checksum_at(&self) -> usize {
        self.transport_at() + if self.tcp { 16 } else { 6 }
    }

    /// Headers and `payload`, the transport checksum left zero.
    fn headers(&self, id: u16, sequence: u32, flags: u8, payload: &[u8]) -> Vec<u8> {
        let mut transport = vec![0x13, 0x88, 0x14, 0x51];
        if self.tcp {
            transport.extend(sequence.to_be_bytes());
            transport.extend(0xaabb_ccdd_u32.to_be_bytes());
            transport.extend([u8::try_from(5 + self.tcp_options).unwrap() << 4, flags, 0x7f, 0xff, 0, 0, 0, 0]);
            transport.extend((0..4 * self.tcp_options).map(|at| u8::try_from(at).unwrap() + 1));
        } else {
            transport.extend(u16::try_from(8 + payload.len()).unwrap().to_be_bytes());
            transport.extend([0, 0]);
        }
        transport.extend(payload);
        let protocol = if self.tcp { 6 } else { 17 };
        let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];
        for (kind, tag) in &self.vlans {
            frame.extend(kind.to_be_bytes());
            frame.extend(tag.to_be_bytes());
        }
        frame.extend(if self.v6 { [0x86, 0xdd] } else { [0x08, 0x00] });
        let len = transport.len();
        frame.extend(if self.v6 { self.ipv6(protocol, len) } else { self.ipv4(id, protocol, len) });
        frame.extend(transport);
        frame
    }

    fn ipv6(&self, protocol: u8, transport_len: usize) -> Vec<u8> {
        let mut behind = Vec::new();
        for (number, kind) in self.extensions.iter().enumerate() {
            behind.extend(extension(*kind, self.extensions.get(number + 1).copied().unwrap_or(protocol)));
        }
        let mut header = vec![0x60, 1, 2, 3];
        header.extend(u16::try_from(behind.len() + transport_len).unwrap().to_be_bytes());
        header.extend([self.extensions.first().copied().unwrap_or(protocol), 64]);
        header.extend((0..32).map(|at| 0xf0 ^ at));
        header.extend(behind);
        header
    }

    fn ipv4(&self, id: u16, protocol: u8, transport_len: usize) -> Vec<u8> {
        let len = 20 + 4 * self.ip_options;
        let mut header = vec![0x40 | u8::try_from(len / 4).unwrap(), 0];
        header.extend(u16::try_from(len + transport_len).unwrap().to_be_bytes());
        header.extend(id.to_be_bytes());
        header.extend([0x40, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 255, 3, 2]);
        header.extend(vec![1; 4 * self.ip_options]);
        let sum = !ones_complement(&header);
        header[10..12].copy_from_slice(&sum.to_be_bytes());
        header
    }

    /// Returns the packets that reach the wire: each complete, with all its checksums.
    pub fn wire(&self) -> Vec<Vec<u8>> {
        let chunks: Vec<&[u8]> = self.payload.chunks(self.segment_size).collect();
        let packet = |(index, chunk): (usize, &&[u8])| {
            let mut flags = self.flags;
            if index + 1 < chunks.len() {
                flags &= !(FIN | PSH);
            }
            if index > 0 && !self.accurate_ecn {
                flags &= !CWR;
            }
            let id = self.id.wrapping_add(u16::try_from(index).unwrap());
            let sequence = self.sequence.wrapping_add(u32::try_from(index * self.segment_size).unwrap());
            let mut frame = self.headers(id, sequence, flags, chunk);
            let at = self.checksum_at();
            let mut pseudo = pseudo_header(&frame, self.transport_at());
            pseudo.extend(&frame[self.transport_at()..]);
            let sum = finish(!ones_complement(&pseudo), self.tcp);
            frame[at..at + 2].copy_from_slice(&sum.to_be_bytes());
            frame
        };
        chunks.iter().enumerate().map(packet).collect()
    }

    /// Returns the super-packet that the sender's kernel hands over, with the sum of the pseudo header in place.
    pub fn super_packet(&self) -> (VirtioHeader, Vec<u8>) {
        let mut frame = self.headers(self.id, self.sequence, self.flags, &self.payload);
        let (start, at) = (self.transport_at(), self.checksum_at());
        let sum = ones_complement(&pseudo_header(&frame, start));
        frame[at..at + 2].copy_from_slice(&sum.to_be_bytes());
        let segmentation = match (self.tcp, self.v6) {
            (true, false) => Segmentation::Tcp4,
            (true, true) => Segmentation::Tcp6,
            (false, _) => Segmentation::Udp,
        };
        let virtio = VirtioHeader {
            checksum: Some((u16::try_from(start).unwrap(), u16::try_from(at - start).unwrap())),
            segmentation,
            ecn: self.tcp && self.flags & CWR != 0 && !self.accurate_ecn,
            segment_size: u16::try_from(self.segment_size).unwrap(),
            header_len: 0,
        };
        (virtio, frame)
    }
}

/// An extension header before `next`. RFC 8200, sections 4.3 to 4.6; RFC 8754, section 2.
fn extension(kind: u8, next: u8) -> Vec<u8> {
    if kind == ROUTING {
        // One segment is left: the address at the end.
        let mut header = vec![next, 2, 4, 1, 0, 0, 0, 0];
        header.extend(0xa0..0xb0);
        return header;
    }
    // Options that fill 16 bytes.
    let mut header = vec![next, 1, 1, 12];
    header.resize(16, 0);
    header
}

/// What is behind an IPv6 header of this length: its extension headers, the protocol, and the address of a routing header.
fn behind(header: &[u8]) -> (Vec<u8>, u8, Option<&[u8]>) {
    let (mut at, mut kind, mut kinds, mut last) = (40, header[6], Vec::new(), None);
    while at < header.len() {
        let len = 8 * (usize::from(header[at + 1]) + 1);
        if kind == ROUTING {
            last = Some(&header[at + 8..at + 24]);
        }
        kinds.push(kind);
        kind = header[at];
        at += len;
    }
    (kinds, kind, last)
}

/// Addresses, length and protocol as RFC 9293 section 3.1 and RFC 8200 section 8.1 lay them out.
fn pseudo_header(frame: &[u8], transport_at: usize) -> Vec<u8> {
    let len = u32::try_from(frame.len() - transport_at).unwrap().to_be_bytes();
    let (network_at, v6) = network(frame);
    let header = &frame[network_at..transport_at];
    if v6 {
        let (_, protocol, last) = behind(header);
        [&header[8..24], last.unwrap_or(&header[24..40]), &len, &[0, 0, 0, protocol]].concat()
    } else {
        [&header[12..20], &[0, header[9]], &len[2..]].concat()
    }
}

/// Where the network header begins, and whether it is IPv6.
fn network(frame: &[u8]) -> (usize, bool) {
    let mut at = 12;
    loop {
        match frame[at..at + 2] {
            [0x08, 0x00] => return (at + 2, false),
            [0x86, 0xdd] => return (at + 2, true),
            _ => at += 4,
        }
    }
}

/// Returns the checksum of RFC 1071 before it is inverted: the sum of 16-bit words with end-around carry, one word at a time.
pub fn ones_complement(bytes: &[u8]) -> u16 {
    let mut sum: u16 = 0;
    for pair in bytes.chunks(2) {
        let word = u16::from_be_bytes([pair[0], *pair.get(1).unwrap_or(&0)]);
        let (added, carry) = sum.overflowing_add(word);
        sum = added + u16::from(carry);
    }
    sum
}

/// RFC 768: a UDP checksum of zero is sent as all ones, since zero means none.
fn finish(sum: u16, tcp: bool) -> u16 {
    if sum == 0 && !tcp { 0xffff } else { sum }
}

/// Returns the bytes that a driver writes for a packet.
pub fn written(packet: &Packet) -> (VirtioHeader, Vec<u8>) {
    let mut buffer = [0; MAX_HEAD];
    let head = packet.write_head(&mut buffer);
    (head.virtio, [&buffer[..head.len], &packet.bytes()[head.payload]].concat())
}

/// Acts as the receiver's kernel: checks what it was handed, cuts it if it is still a train, and completes the checksums.
///
/// # Panics
/// If what it was handed contradicts itself.
pub fn received(virtio: &VirtioHeader, frame: &[u8]) -> Vec<Vec<u8>> {
    let (start, offset) = virtio.checksum.expect("a checksum to complete");
    let (start, at) = (usize::from(start), usize::from(start + offset));
    let (network_at, v6) = network(frame);
    let tcp = offset == 16;
    check_lengths(frame, start, tcp);
    let pseudo = ones_complement(&pseudo_header(frame, start));
    assert_eq!(u16::from_be_bytes([frame[at], frame[at + 1]]), pseudo, "the sum of the pseudo header");
    let payload_at = start + if tcp { usize::from(frame[start + 12] >> 4) * 4 } else { 8 };
    if virtio.segmentation == Segmentation::None {
        assert_eq!((virtio.segment_size, virtio.ecn), (0, false));
        let mut complete = frame.to_vec();
        let sum = finish(!ones_complement(&frame[start..]), tcp);
        complete[at..at + 2].copy_from_slice(&sum.to_be_bytes());
        return vec![complete];
    }
    let has_cwr = tcp && frame[start + 13] & CWR != 0;
    assert!(has_cwr || !virtio.ecn, "the ECN bit says that the first segment alone carries CWR");
    // What the super-packet says, sent as a stream of its own.
    let word = |position: usize| u16::from_be_bytes([frame[position], frame[position + 1]]);
    let tags = frame[12..network_at - 2].chunks(4);
    let stream = Stream {
        vlans: tags.map(|tag| (u16::from_be_bytes([tag[0], tag[1]]), u16::from_be_bytes([tag[2], tag[3]]))).collect(),
        v6,
        extensions: if v6 { behind(&frame[network_at..start]).0 } else { Vec::new() },
        ip_options: if v6 { 0 } else { usize::from(frame[network_at] & 0x0f) - 5 },
        id: if v6 { 0 } else { word(network_at + 4) },
        tcp,
        tcp_options: (payload_at - start).saturating_sub(20) / 4,
        sequence: if tcp { u32::from(word(start + 4)) << 16 | u32::from(word(start + 6)) } else { 0 },
        flags: if tcp { frame[start + 13] } else { 0 },
        accurate_ecn: !virtio.ecn,
        payload: frame[payload_at..].to_vec(),
        segment_size: usize::from(virtio.segment_size),
    };
    stream.wire()
}

fn check_lengths(frame: &[u8], start: usize, tcp: bool) {
    let word = |at: usize| usize::from(u16::from_be_bytes([frame[at], frame[at + 1]]));
    let (at, v6) = network(frame);
    if v6 {
        assert_eq!(word(at + 4), frame.len() - at - 40, "IPv6 payload length");
    } else {
        assert_eq!(word(at + 2), frame.len() - at, "IPv4 total length");
        assert_eq!(ones_complement(&frame[at..start]), 0xffff, "IPv4 header checksum");
    }
    if !tcp {
        assert_eq!(word(start + 4), frame.len() - start, "UDP length");
    }
}

/// Whether a receiver's kernel takes a complete TCP or UDP packet without extension headers: its lengths fit and its
/// checksums are right. What follows behind the length that IP tells is padding.
pub fn accepts(frame: &[u8]) -> bool {
    let (at, v6) = network(frame);
    let word = |position: usize| usize::from(u16::from_be_bytes([frame[position], frame[position + 1]]));
    let (start, end, protocol) = if v6 {
        (at + 40, at + 40 + word(at + 4), frame[at + 6])
    } else {
        (at + usize::from(frame[at] & 0x0f) * 4, at + word(at + 2), frame[at + 9])
    };
    if end > frame.len() || start > end || (!v6 && ones_complement(&frame[at..start]) != 0xffff) {
        return false;
    }
    let udp = protocol == 17;
    if udp && (end - start < 8 || word(start + 4) < 8 || word(start + 4) > end - start) {
        return false;
    }
    if udp && word(start + 6) == 0 {
        // RFC 768: no checksum; RFC 8200, section 8.1: not so over IPv6.
        return !v6;
    }
    let told = if udp { word(start + 4) } else { end - start };
    let packet = &frame[..start + told];
    let mut sum = pseudo_header(packet, start);
    sum.extend(&packet[start..]);
    ones_complement(&sum) == 0xffff
}

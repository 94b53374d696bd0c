//! Headers of TCP, the packets that reset connections, and marks that are taken away.

use netloom_packet::{Ecn, Packet, Pool, ResetTemplate, Segmentation, VirtioHeader};

const ACK: u8 = 0x10;
const SYN: u8 = 0x02;
const FIN: u8 = 0x01;
const RST: u8 = 0x04;

/// A segment from 10.0.0.1, port 1,000, to 10.0.0.2, port 80, with 12 bytes of options, and no checksum yet.
fn v4(flags: u8, sequence: u32, acknowledgement: u32, payload: usize) -> Vec<u8> {
    let mut bytes = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0];
    let total = u16::try_from(20 + 32 + payload).unwrap().to_be_bytes();
    bytes.extend_from_slice(&[0x45, 2, total[0], total[1], 0, 7, 0x40, 0, 61, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    push_tcp(&mut bytes, flags, sequence, acknowledgement, payload);
    bytes
}

/// The same over IPv6.
fn v6(flags: u8, sequence: u32, acknowledgement: u32, payload: usize) -> Vec<u8> {
    let mut bytes = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x86, 0xdd];
    let length = u16::try_from(32 + payload).unwrap().to_be_bytes();
    bytes.extend_from_slice(&[0x60, 0, 0, 0, length[0], length[1], 6, 61]);
    for end in [1, 2] {
        bytes.extend_from_slice(&[0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, end]);
    }
    push_tcp(&mut bytes, flags, sequence, acknowledgement, payload);
    bytes
}

fn push_tcp(bytes: &mut Vec<u8>, flags: u8, sequence: u32, acknowledgement: u32, payload: usize) {
    bytes.extend_from_slice(&[3, 0xe8, 0, 80]);
    bytes.extend_from_slice(&sequence.to_be_bytes());
    bytes.extend_from_slice(&acknowledgement.to_be_bytes());
    bytes.extend_from_slice(&[0x80, flags, 1, 0, 0, 0, 0, 0]);
    bytes.extend(std::iter::repeat_n(1, 12 + payload));
}

fn packet(bytes: Vec<u8>) -> Packet {
    Packet::from_bytes(bytes.into_boxed_slice())
}

/// The sum of 16-bit words with carries added (RFC 1071).
fn sum(parts: &[&[u8]]) -> u16 {
    let words = parts.iter().flat_map(|part| part.chunks(2)).map(|pair| u64::from(pair[0]) << 8 | u64::from(pair[1]));
    let mut sum: u64 = words.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    u16::try_from(sum).unwrap()
}

#[test]
fn headers_say_where_a_segment_ends() {
    for make in [v4, v6] {
        let data = packet(make(ACK, u32::MAX - 9, 5, 100)).tcp().unwrap();
        assert_eq!((data.sequence, data.acknowledgement, data.payload, data.end()), (u32::MAX - 9, 5, 100, 90));
        assert!(data.is_ack() && !data.is_syn() && !data.is_fin() && !data.is_rst());
        let opening = packet(make(SYN, 7, 0, 0)).tcp().unwrap();
        assert!(opening.is_syn() && !opening.is_ack() && opening.end() == 8);
        assert_eq!(packet(make(ACK | FIN, 7, 0, 3)).tcp().unwrap().end(), 11);
    }
    // What a short frame is padded with is no payload.
    let mut padded = v4(ACK, 1, 1, 0);
    padded.extend_from_slice(&[0; 9]);
    assert_eq!(packet(padded).tcp().unwrap().payload, 0);
    let mut fragment = v4(ACK, 1, 1, 8);
    fragment[20] = 0x20;
    assert_eq!(packet(fragment).tcp(), None);
    let mut udp = v4(ACK, 1, 1, 8);
    udp[14 + 9] = 17;
    assert_eq!(packet(udp).tcp(), None);
}

#[test]
fn segments_of_a_train_have_headers_of_their_own() {
    let mut bytes = v4(ACK | FIN, 1_000, 5, 250);
    bytes[14 + 10..14 + 12].fill(0);
    let virtio = VirtioHeader {
        segmentation: Segmentation::Tcp4,
        segment_size: 100,
        header_len: 66,
        checksum: Some((34, 16)),
        ..VirtioHeader::COMPLETE
    };
    let mut train = Pool::default().packet(virtio, &bytes);
    assert_eq!((train.segments(), train.tcp().unwrap().payload, train.tcp().unwrap().end()), (3, 250, 1_251));
    let first = train.split_front(1).unwrap().tcp().unwrap();
    assert_eq!((first.sequence, first.payload, first.is_fin(), first.end()), (1_000, 100, false, 1_100));
    let rest = train.tcp().unwrap();
    assert_eq!((rest.sequence, rest.payload, rest.is_fin(), rest.end()), (1_100, 150, true, 1_251));
}

/// Whether a reset is a packet that a kernel takes: its sums are right, and nothing is behind its header.
fn assert_sound(reset: &Packet, is_v4: bool) {
    let bytes = reset.bytes();
    let (addresses, tcp) = if is_v4 {
        assert_eq!(sum(&[&bytes[14..34]]), 0xffff, "the header of IP");
        assert_eq!(bytes.len(), 54);
        (&bytes[26..34], &bytes[34..])
    } else {
        assert_eq!(bytes.len(), 74);
        (&bytes[22..54], &bytes[54..])
    };
    assert_eq!(sum(&[addresses, &[0, 6, 0, 20], tcp]), 0xffff, "TCP");
    assert_eq!(reset.tcp().unwrap().payload, 0);
}

#[test]
fn resets_go_along_and_back() {
    for (make, is_v4) in [(v4 as fn(u8, u32, u32, usize) -> Vec<u8>, true), (v6, false)] {
        let segment = packet(make(ACK, 700, 90, 10));
        let flow = segment.flow().unwrap();
        let along = ResetTemplate::along(&segment).unwrap().with_numbers(710, None);
        assert_sound(&along, is_v4);
        assert_eq!(along.bytes()[..12], segment.bytes()[..12]);
        let told = along.tcp().unwrap();
        assert_eq!((along.flow().unwrap().source, along.flow().unwrap().destination_port), (flow.source, 80));
        assert_eq!((told.sequence, told.is_rst(), told.is_ack()), (710, true, false));
        let back = ResetTemplate::against(&segment, None).unwrap().with_numbers(0, Some(8));
        assert_sound(&back, is_v4);
        assert_eq!(back.bytes()[..12], [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2]);
        assert_eq!(
            back.flow().map(|own| (own.source, own.destination, own.source_port, own.destination_port)),
            Some((flow.destination, flow.source, 80, 1_000))
        );
        assert_eq!((back.tcp().unwrap().acknowledgement, back.tcp().unwrap().is_ack()), (8, true));
        // On a link behind a router, a packet has other hardware addresses than in its frame.
        let elsewhere = ResetTemplate::against(&segment, Some([9; 12])).unwrap().with_numbers(1, None);
        assert_eq!(elsewhere.bytes()[..12], [9; 12]);
        let mut passed = segment.duplicate();
        passed.pass_router();
        assert_eq!(ResetTemplate::along(&passed).unwrap().with_numbers(1, None).hops(), 1);
    }
    assert!(ResetTemplate::along(&packet(vec![0; 60])).is_none());
    assert!(packet(v4(RST, 1, 1, 0)).tcp().unwrap().is_rst());
}

#[test]
fn marks_are_taken_away() {
    // The sender of a packet is capable (ECT(0)), and a link of the fabric marks it.
    let mut marked = packet(v4(ACK, 1, 1, 10));
    assert!(marked.without_congestion().is_none());
    assert!(marked.mark_congested());
    let clean = marked.without_congestion().unwrap();
    assert_eq!((clean.ecn(), clean.bytes()), (Some(Ecn::Capable0), marked.bytes()));
    // Somebody else has marked it.
    for (make, at, mark) in [(v4 as fn(u8, u32, u32, usize) -> Vec<u8>, 15, 0x01), (v6, 15, 0x30)] {
        let mut bytes = make(ACK, 1, 1, 10);
        bytes[at] |= mark;
        let own = packet(bytes).without_congestion().unwrap();
        assert_eq!(own.ecn(), Some(Ecn::Capable0));
    }
}

#[test]
fn a_byte_is_flipped_where_it_is_said() {
    let segment = packet(v4(ACK, 1, 1, 10));
    let flipped = segment.with_flipped_byte(52).unwrap();
    let different: Vec<usize> =
        (0..segment.bytes().len()).filter(|place| segment.bytes()[*place] != flipped.bytes()[*place]).collect();
    assert_eq!((different, flipped.bytes()[66]), (vec![66], !1));
    assert!(segment.with_flipped_byte(62).is_none());
}

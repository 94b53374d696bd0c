//! Pieces of super-packets, against complete segments that the test builds by itself.

use netloom_packet::{Packet, Pool, Segmentation, VirtioHeader};
use netloom_testing::streams::{Stream, ones_complement, received, written};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// A stream of 1,000-byte segments and a last one of 500.
fn stream() -> Stream {
    Stream {
        vlans: Vec::new(),
        v6: false,
        ip_options: 0,
        extensions: Vec::new(),
        id: 0xfffe,
        tcp: true,
        tcp_options: 3,
        sequence: u32::MAX - 1_500,
        // CWR, ACK, PSH and FIN.
        flags: 0x99,
        accurate_ecn: false,
        payload: (0..3_500_u32).map(|at| u8::try_from(at % 251).expect("below 251")).collect(),
        segment_size: 1_000,
    }
}

/// Cuts a packet into pieces of these lengths; the last takes what is left.
fn cut(mut packet: Packet, lengths: &[u32]) -> Vec<Packet> {
    let mut pieces: Vec<Packet> = lengths.iter().filter_map(|length| packet.split_front(*length)).collect();
    pieces.push(packet);
    pieces
}

/// Cuts the stream's super-packet, receives the pieces, and compares them with what should be on the wire.
fn check(stream: &Stream, lengths: &[u32]) {
    let (virtio, bytes) = stream.super_packet();
    let wire = stream.wire();
    assert_eq!(received(&virtio, &bytes), wire, "the test's own receiver");
    let packet = Pool::default().packet(virtio, &bytes);
    assert_eq!(packet.segments() as usize, wire.len());
    let sizes: Vec<u64> = wire.iter().map(|segment| segment.len() as u64 - 14).collect();
    let told: Vec<u64> = (0..packet.segments()).map(|index| packet.segment_size(index).get()).collect();
    assert_eq!(told, sizes);
    assert_eq!(packet.size().get(), sizes.iter().sum::<u64>());
    let mut segments = Vec::new();
    for piece in cut(packet, lengths) {
        let (piece_virtio, piece_bytes) = written(&piece);
        let cut_again = received(&piece_virtio, &piece_bytes);
        assert_eq!(cut_again.len(), piece.segments() as usize);
        segments.extend(cut_again);
    }
    assert_eq!(segments, wire);
}

#[test]
fn tcp_over_ipv4() {
    check(&stream(), &[1, 1, 1]);
    check(&stream(), &[2]);
    check(&stream(), &[1, 2]);
}

#[test]
fn tcp_over_ipv6() {
    check(&Stream { v6: true, ..stream() }, &[1, 1, 1]);
    check(&Stream { v6: true, ..stream() }, &[3]);
}

#[test]
fn udp_over_both() {
    for v6 in [false, true] {
        let udp = Stream { tcp: false, tcp_options: 0, sequence: 0, flags: 0, v6, ..stream() };
        check(&udp, &[1, 1, 1]);
        check(&udp, &[1, 2]);
    }
}

#[test]
fn vlan_tags() {
    check(&Stream { vlans: vec![(0x8100, 42)], ..stream() }, &[1, 2]);
    check(&Stream { vlans: vec![(0x88a8, 7), (0x8100, 42)], v6: true, ..stream() }, &[2, 1]);
}

/// Each segment repeats them; only the length of the whole differs.
#[test]
fn extension_headers() {
    for extensions in [vec![0], vec![43], vec![60], vec![0, 60, 43, 60]] {
        let tcp = Stream { v6: true, extensions, ..stream() };
        check(&tcp, &[1, 1, 1]);
        check(&tcp, &[2]);
        check(&Stream { tcp: false, tcp_options: 0, sequence: 0, flags: 0, ..tcp }, &[1, 2]);
    }
}

/// CWR with the kernel's word that it is for the first segment alone, and as a part of a counter.
#[test]
fn the_flags_of_both_kinds_of_congestion_notification() {
    for accurate_ecn in [false, true] {
        let marked = Stream { accurate_ecn, ..stream() };
        for lengths in [&[1, 1, 1][..], &[2], &[1, 2]] {
            check(&marked, lengths);
        }
        let cwr = cut(Pool::default().packet(marked.super_packet().0, &marked.super_packet().1), &[1, 1, 1]);
        let seen: Vec<bool> = cwr.iter().map(|piece| written(piece).1[47] & 0x80 != 0).collect();
        assert_eq!(seen, [true, accurate_ecn, accurate_ecn, accurate_ecn]);
    }
}

/// The headers of every piece, by hand: four segments of 1,000, 1,000, 1,000 and 500 bytes.
#[test]
fn headers_of_single_segments() {
    let (virtio, bytes) = stream().super_packet();
    let packet = Pool::default().packet(virtio, &bytes);
    let field = |frame: &[u8], at: usize| u16::from_be_bytes([frame[at], frame[at + 1]]);
    let mut seen = Vec::new();
    for piece in cut(packet, &[1, 1, 1]) {
        let (piece_virtio, frame) = written(&piece);
        assert_eq!(piece_virtio.segmentation, Segmentation::None);
        assert_eq!(ones_complement(&frame[14..34]), 0xffff, "IPv4 header checksum");
        let sequence = u32::from(field(&frame, 38)) << 16 | u32::from(field(&frame, 40));
        seen.push((field(&frame, 16), field(&frame, 18), sequence, frame[47]));
    }
    // IPv4 length = 20 + 32 + payload; identification and sequence number wrap around; CWR stays with the first
    // segment, PSH and FIN with the last.
    let expected = [
        (1_052, 0xfffe, u32::MAX - 1_500, 0x90),
        (1_052, 0xffff, u32::MAX - 500, 0x10),
        (1_052, 0x0000, 499, 0x10),
        (552, 0x0001, 1_499, 0x19),
    ];
    assert_eq!(seen, expected);
}

#[test]
fn an_uncut_train_is_sent_as_it_came() {
    let (virtio, bytes) = stream().super_packet();
    let mut packet = Pool::default().packet(virtio, &bytes);
    assert_eq!(written(&packet), (virtio, bytes.clone()));
    let front = packet.split_front(3).expect("three of four");
    let mut joined = front;
    joined.append(&packet);
    assert_eq!(written(&joined), (virtio, bytes));
}

#[test]
fn what_cannot_be_cut_safely_stays_whole() {
    let (virtio, bytes) = stream().super_packet();
    let (start, offset) = virtio.checksum.expect("a checksum to complete");
    let udp = Stream { tcp: false, ..stream() }.super_packet();
    let v6 = Stream { v6: true, ..stream() }.super_packet();
    // A header that says how a packet was fragmented, and one whose contents depend on what follows it.
    let [fragment, authentication] = [44, 51].map(|kind| {
        let mut frame = v6.1.clone();
        frame[20] = kind;
        frame
    });
    let mut jumbogram = v6.1.clone();
    jumbogram[18..20].fill(0);
    let first_fragment = with(&bytes, 20, 0x20);
    let later_fragment = with(&bytes, 21, 0x08);
    let no_payload = bytes[..66].to_vec();
    let jumbo = [bytes.clone(), vec![0; 65_536]].concat();
    let whole: [(&str, VirtioHeader, &[u8]); 17] = [
        ("no offload", VirtioHeader { segmentation: Segmentation::None, ..virtio }, &bytes),
        ("an unknown kind", VirtioHeader { segmentation: Segmentation::Other(3), ..virtio }, &bytes),
        ("a complete checksum", VirtioHeader { checksum: None, ..virtio }, &bytes),
        ("a tunnel", VirtioHeader { checksum: Some((start + 50, offset)), ..virtio }, &bytes),
        ("another checksum field", VirtioHeader { checksum: Some((start, offset + 2)), ..virtio }, &bytes),
        ("segments of no size", VirtioHeader { segment_size: 0, ..virtio }, &bytes),
        ("UDP that calls itself TCP", VirtioHeader { segmentation: Segmentation::Tcp4, ..udp.0 }, &udp.1),
        ("TCP that calls itself UDP", VirtioHeader { segmentation: Segmentation::Udp, ..virtio }, &bytes),
        ("IPv6 that calls itself IPv4", VirtioHeader { segmentation: Segmentation::Tcp4, ..v6.0 }, &v6.1),
        ("IPv4 that calls itself IPv6", VirtioHeader { segmentation: Segmentation::Tcp6, ..virtio }, &bytes),
        ("a fragment header", v6.0, &fragment),
        ("an authentication header", v6.0, &authentication),
        ("a jumbogram", v6.0, &jumbogram),
        ("a first fragment", virtio, &first_fragment),
        ("a later fragment", virtio, &later_fragment),
        ("no payload", virtio, &no_payload),
        ("more than an IP header can say", virtio, &jumbo),
    ];
    for (what, header, frame) in whole {
        let mut packet = Pool::default().packet(header, frame);
        assert_eq!(packet.segments(), 1, "{what}");
        assert!(packet.split_front(1).is_none(), "{what}");
        assert_eq!(packet.size().get(), frame.len() as u64 - 14, "{what}");
        assert_eq!(written(&packet), (header, frame.to_vec()), "{what}");
    }
}

/// The same bytes, one of them changed.
fn with(bytes: &[u8], at: usize, value: u8) -> Vec<u8> {
    let mut changed = bytes.to_vec();
    changed[at] = value;
    changed
}

#[test]
fn only_neighbours_of_one_frame_follow_each_other() {
    let (virtio, bytes) = stream().super_packet();
    let mut pool = Pool::default();
    let pieces = cut(pool.packet(virtio, &bytes), &[1, 1, 1]);
    let others = cut(pool.packet(virtio, &bytes), &[1, 1, 1]);
    for (index, piece) in pieces.iter().enumerate() {
        for (next, candidate) in pieces.iter().enumerate() {
            assert_eq!(piece.is_followed_by(candidate), next == index + 1);
        }
        assert!(others.iter().all(|other| !piece.is_followed_by(other)));
    }
}

fn streams() -> impl Strategy<Value = Stream> {
    let vlans = vec((prop_oneof![Just(0x8100_u16), Just(0x88a8_u16)], any::<u16>()), 0..3);
    let behind_v6 = vec(prop_oneof![Just(0_u8), Just(43), Just(60)], 0..3);
    let network = (any::<bool>(), behind_v6, 0..=10_usize, any::<u16>());
    let transport = (any::<bool>(), 0..=10_usize, any::<u32>(), any::<u8>(), any::<bool>());
    (vlans, network, transport, vec(any::<u8>(), 1..4_000), 1..1_500_usize).prop_map(
        |(
            vlans,
            (v6, extensions, ip_options, id),
            (tcp, tcp_options, sequence, flags, accurate_ecn),
            payload,
            segment_size,
        )| Stream {
            vlans,
            v6,
            extensions: if v6 { extensions } else { Vec::new() },
            accurate_ecn,
            ip_options: if v6 { 0 } else { ip_options },
            id: if v6 { 0 } else { id },
            tcp,
            tcp_options: if tcp { tcp_options } else { 0 },
            sequence: if tcp { sequence } else { 0 },
            flags: if tcp { flags } else { 0 },
            payload,
            segment_size,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: RngSeed::Fixed(7), ..ProptestConfig::default() })]

    #[test]
    fn any_pieces_of_any_stream(stream in streams(), lengths in vec(1..20_u32, 0..20)) {
        check(&stream, &lengths);
    }
}

//! Frames that are not what they say: nothing panics, and no byte is lost or made up.

use netloom_packet::{MAX_HEAD, Packet, Pool, Segmentation, VIRTIO_HEADER_LEN, VirtioHeader};
use netloom_testing::streams::{Stream, written};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// Does everything that can be done to a packet.
fn exercise(virtio: VirtioHeader, bytes: &[u8]) {
    let mut packet = Pool::default().packet(virtio, bytes);
    let size = packet.size();
    let told: u64 = (0..packet.segments()).map(|index| packet.segment_size(index).get()).sum();
    assert_eq!(told, size.get());
    assert_eq!(written(&packet), (virtio, bytes.to_vec()));
    let mut pieces: Vec<Packet> = Vec::new();
    while let Some(piece) = packet.split_front(1) {
        pieces.push(piece);
    }
    pieces.push(packet);
    let mut payload_at = None;
    for piece in &pieces {
        let head = piece.write_head(&mut [0; MAX_HEAD]);
        let (_, frame) = written(piece);
        assert_eq!(frame.len().saturating_sub(14) as u64, piece.size().get());
        assert_eq!(payload_at.unwrap_or(head.len), head.payload.start, "the payload has no gap");
        payload_at = Some(head.payload.end);
    }
    assert_eq!(payload_at, Some(bytes.len()));
    assert_eq!(pieces.iter().map(|piece| piece.size().get()).sum::<u64>(), size.get());
}

fn streams() -> Vec<Stream> {
    let base = Stream {
        vlans: vec![(0x8100, 1)],
        v6: false,
        ip_options: 2,
        extensions: Vec::new(),
        id: 9,
        tcp: true,
        tcp_options: 3,
        sequence: 1,
        flags: 0x10,
        accurate_ecn: false,
        payload: vec![7; 300],
        segment_size: 100,
    };
    let udp = Stream { tcp: false, tcp_options: 0, sequence: 0, flags: 0, ..base.clone() };
    vec![base.clone(), Stream { v6: true, ..base }, udp.clone(), Stream { v6: true, ..udp }]
}

#[test]
fn truncated_at_every_length() {
    for stream in streams() {
        let (virtio, bytes) = stream.super_packet();
        for len in 0..=bytes.len() {
            exercise(virtio, &bytes[..len]);
        }
    }
}

#[test]
fn every_byte_of_the_headers_wrong() {
    for stream in streams() {
        let (virtio, bytes) = stream.super_packet();
        for at in 0..bytes.len() - 300 {
            for value in [0, 1, 0x0f, 0x45, 0x4f, 0x60, 0x7f, 0x81, 0xf0, 0xff] {
                let mut wrong = bytes.clone();
                wrong[at] = value;
                exercise(virtio, &wrong);
            }
        }
    }
}

/// What any program can send through a packet socket with a virtio header: 64 KiB of one-byte segments, whose headers are
/// together longer than a packet can count. It stays whole; with a little less it is cut.
#[test]
fn headers_beyond_all_measure() {
    let tiny = |payload: usize, tcp_options: usize| {
        let stream = Stream {
            vlans: Vec::new(),
            tcp_options,
            payload: vec![7; payload],
            segment_size: 1,
            ..streams()[0].clone()
        };
        let (virtio, bytes) = stream.super_packet();
        let packet = Pool::default().packet(virtio, &bytes);
        exercise(virtio, &bytes);
        (packet.segments(), packet.is_uncuttable(), packet.size().get())
    };
    // 28 bytes of IPv4, 32 of TCP and one of payload.
    assert_eq!(tiny(65_000, 3), (65_000, false, 65_000 * 61));
    // With 60 of TCP, 4 MiB are reached.
    assert_eq!(tiny(65_000, 10), (1, true, 65_000 + 88));
    assert_eq!(tiny(47_127, 10), (47_127, false, 47_127 * 89));
    assert_eq!(tiny(47_128, 10), (1, true, 47_128 + 88));
}

#[test]
fn endless_vlan_tags() {
    let mut bytes = vec![0; 12];
    bytes.extend([0x81, 0x00, 0, 1].repeat(400));
    let virtio = VirtioHeader {
        checksum: Some((500, 16)),
        segmentation: Segmentation::Tcp4,
        segment_size: 100,
        ..VirtioHeader::COMPLETE
    };
    exercise(virtio, &bytes);
}

fn headers() -> impl Strategy<Value = VirtioHeader> {
    let segmentation = prop_oneof![
        Just(Segmentation::None),
        Just(Segmentation::Tcp4),
        Just(Segmentation::Tcp6),
        Just(Segmentation::Udp),
        Just(Segmentation::Other(3)),
    ];
    let checksum = prop::option::of((any::<u16>(), any::<u16>()));
    (checksum, segmentation, any::<bool>(), any::<u16>(), any::<u16>()).prop_map(
        |(checksum, segmentation, ecn, segment_size, header_len)| VirtioHeader {
            checksum,
            segmentation,
            ecn,
            segment_size,
            header_len,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: RngSeed::Fixed(7), ..ProptestConfig::default() })]

    #[test]
    fn random_bytes(virtio in headers(), bytes in vec(any::<u8>(), 0..300)) {
        exercise(virtio, &bytes);
    }

    /// Whatever a program says of a frame of 64 KiB, with headers that are right.
    #[test]
    fn long_frames_of_any_segments(
        which in 0..4_usize,
        payload in 60_000..65_400_usize,
        options in 0..=10_usize,
        segment_size in prop_oneof![0..20_u16, any::<u16>()],
    ) {
        let stream = streams().swap_remove(which);
        let tcp_options = if stream.tcp { options } else { 0 };
        let (virtio, bytes) = Stream { tcp_options, payload: vec![7; payload], segment_size: 100, ..stream }.super_packet();
        let packet = Pool::default().packet(VirtioHeader { segment_size, ..virtio }, &bytes);
        let told: u64 = (0..packet.segments()).map(|index| packet.segment_size(index).get()).sum();
        prop_assert_eq!(told, packet.size().get());
    }

    /// Random wounds in a valid super-packet reach deeper than random bytes.
    #[test]
    fn random_wounds(
        which in 0..4_usize,
        wounds in vec((0..100_usize, any::<u8>()), 1..4),
        segment_size in any::<u16>(),
    ) {
        let (virtio, mut bytes) = streams()[which].super_packet();
        for (at, value) in wounds {
            bytes[at] = value;
        }
        exercise(VirtioHeader { segment_size, ..virtio }, &bytes);
    }

    #[test]
    fn a_virtio_header_survives_writing_and_reading(virtio in headers()) {
        prop_assert_eq!(VirtioHeader::parse(&virtio.bytes()), virtio);
    }

    #[test]
    fn any_virtio_header_can_be_read(bytes in any::<[u8; VIRTIO_HEADER_LEN]>()) {
        let virtio = VirtioHeader::parse(&bytes);
        prop_assert_eq!(VirtioHeader::parse(&virtio.bytes()), virtio);
    }
}

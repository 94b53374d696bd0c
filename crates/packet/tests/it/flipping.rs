//! Flipped bits: the packet is right before and the receiver refuses it after, whichever bit it is.

use netloom_packet::{MAX_HEAD, Packet, Pool, Segmentation, VirtioHeader};
use netloom_testing::streams::{Stream, accepts};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn tcp() -> Stream {
    Stream {
        vlans: Vec::new(),
        v6: false,
        ip_options: 0,
        extensions: Vec::new(),
        id: 7,
        tcp: true,
        tcp_options: 3,
        sequence: 1,
        flags: 0x18,
        accurate_ecn: false,
        payload: (0..250_u8).collect(),
        segment_size: 100,
    }
}

fn udp() -> Stream {
    Stream { tcp: false, tcp_options: 0, sequence: 0, flags: 0, ..tcp() }
}

/// The segments of the stream, cut from its super-packet.
fn segments(stream: &Stream) -> Vec<Packet> {
    let (virtio, bytes) = stream.super_packet();
    let mut train = Pool::default().packet(virtio, &bytes);
    let mut segments = Vec::new();
    while let Some(first) = train.split_front(1) {
        segments.push(first);
    }
    segments.push(train);
    segments
}

fn flipped(packet: &Packet, pick: u64) -> Vec<u8> {
    let packet = packet.with_flipped_bit(pick).expect("a packet that can be completed");
    let head = packet.write_head(&mut [0; MAX_HEAD]);
    assert_eq!((head.virtio, head.len), (VirtioHeader::COMPLETE, 0), "nothing is left for the kernel to do");
    packet.bytes().to_vec()
}

/// The only bit in which both differ, counted from the first.
fn difference(right: &[u8], wrong: &[u8]) -> usize {
    assert_eq!(right.len(), wrong.len());
    let differences = right.iter().zip(wrong).map(|(a, b)| a ^ b);
    let bits: Vec<usize> = differences
        .enumerate()
        .flat_map(|(at, byte)| (0..8).filter(move |bit| byte & (1 << bit) != 0).map(move |bit| at * 8 + bit))
        .collect();
    assert_eq!(bits.len(), 1, "one bit is flipped: {bits:?}");
    bits[0]
}

/// Every bit that can be flipped in `packet`, which would be `right` on the wire.
fn every_flip(packet: &Packet, right: &[u8]) -> Vec<usize> {
    assert!(accepts(right), "right before");
    let mut bits = Vec::new();
    for pick in 0.. {
        let wrong = flipped(packet, pick);
        assert!(!accepts(&wrong), "wrong after, pick {pick}");
        let bit = difference(right, &wrong);
        if bits.first() == Some(&bit) {
            return bits;
        }
        bits.push(bit);
    }
    bits
}

#[test]
fn every_bit_of_every_segment() {
    for stream in [tcp(), udp()] {
        for v6 in [false, true] {
            for vlans in [vec![], vec![(0x8100, 42)], vec![(0x88a8, 7), (0x8100, 42)]] {
                let stream = Stream { v6, vlans, ip_options: if v6 { 0 } else { 2 }, ..stream.clone() };
                let wire = stream.wire();
                for (segment, right) in segments(&stream).iter().zip(&wire) {
                    // Of UDP, neither length nor checksum.
                    let transport = if stream.tcp { 32 } else { 4 };
                    let payload = if right.len() == wire[0].len() { 100 } else { 50 };
                    assert_eq!(every_flip(segment, right).len(), (transport + payload) * 8);
                }
            }
        }
    }
}

/// A packet that is no train and whose checksum the sender's kernel left undone.
#[test]
fn a_single_packet_is_completed_first() {
    for stream in [tcp(), udp()] {
        let stream = Stream { segment_size: 250, ..stream };
        let (virtio, bytes) = stream.super_packet();
        let plain = VirtioHeader { segmentation: Segmentation::None, segment_size: 0, ..virtio };
        for header in [virtio, plain] {
            let packet = Pool::default().packet(header, &bytes);
            every_flip(&packet, &stream.wire()[0]);
        }
    }
}

#[test]
fn a_complete_packet_is_flipped_as_it_is() {
    for stream in [tcp(), udp()] {
        let right = Stream { segment_size: 250, ..stream }.wire().remove(0);
        every_flip(&Pool::default().packet(VirtioHeader::COMPLETE, &right), &right);
    }
}

#[test]
fn a_mark_stays() {
    let (virtio, mut bytes) = tcp().super_packet();
    bytes[15] = 0b10;
    let mut first = Pool::default().packet(virtio, &bytes).split_front(1).expect("one of three");
    assert!(first.mark_congested());
    let wrong = flipped(&first, 99);
    assert_eq!(wrong[15] & 0b11, 0b11);
    assert_eq!(netloom_testing::streams::ones_complement(&wrong[14..34]), 0xffff, "IPv4 header checksum");
}

/// Ethernet pads to 60 bytes, and no checksum covers that.
#[test]
fn padding_is_not_flipped() {
    for stream in [tcp(), udp()] {
        let short = Stream { tcp_options: 0, payload: vec![5], segment_size: 1, ..stream };
        let exact = short.wire().remove(0);
        let mut padded = exact.clone();
        padded.resize(60, 0);
        let bits = every_flip(&Pool::default().packet(VirtioHeader::COMPLETE, &padded), &padded);
        assert!(bits.iter().all(|bit| bit / 8 < exact.len()));
    }
}

/// A datagram may be shorter than the IP packet that carries it.
#[test]
fn what_is_behind_a_datagram_is_not_flipped() {
    let mut frame = Stream { segment_size: 250, ..udp() }.wire().remove(0);
    frame.extend([7; 20]);
    let len = u16::try_from(frame.len() - 14).expect("short");
    frame[16..18].copy_from_slice(&len.to_be_bytes());
    frame[24..26].copy_from_slice(&[0, 0]);
    let sum = !netloom_testing::streams::ones_complement(&frame[14..34]);
    frame[24..26].copy_from_slice(&sum.to_be_bytes());
    let bits = every_flip(&Pool::default().packet(VirtioHeader::COMPLETE, &frame), &frame);
    assert_eq!(bits.len(), (4 + 250) * 8);
}

/// UDP over IPv4 without a checksum cannot fail: the bit is flipped all the same.
#[test]
fn a_datagram_without_a_checksum_passes_wrong() {
    let mut right = Stream { segment_size: 250, ..udp() }.wire().remove(0);
    right[40..42].copy_from_slice(&[0, 0]);
    let wrong = flipped(&Pool::default().packet(VirtioHeader::COMPLETE, &right), 1_000);
    assert!(accepts(&right) && accepts(&wrong));
    difference(&right, &wrong);
}

#[test]
fn extension_headers_are_not_flipped() {
    // IPv6, hop-by-hop options of 8 bytes, destination options of 16 bytes, then TCP of 20 bytes.
    let mut frame = vec![0; 14 + 40 + 8 + 16 + 20];
    frame[12..15].copy_from_slice(&[0x86, 0xdd, 0x60]);
    frame[19] = 44;
    frame[54] = 60;
    frame[62..64].copy_from_slice(&[6, 1]);
    let packet = Pool::default().packet(VirtioHeader::COMPLETE, &frame);
    for pick in 0..1_000 {
        assert!(difference(&frame, &flipped(&packet, pick)) >= (14 + 40 + 8 + 16) * 8);
    }
}

/// A later fragment has no header above IP: all of it is in the sum of the whole packet.
#[test]
fn later_fragments_have_no_ports() {
    let mut v4 = Stream { segment_size: 250, ..udp() }.wire().remove(0);
    v4[20..22].copy_from_slice(&[0x20, 0x10]);
    let packet = Pool::default().packet(VirtioHeader::COMPLETE, &v4);
    let bits: std::collections::BTreeSet<usize> =
        (0..3_000).map(|pick| difference(&v4, &flipped(&packet, pick))).collect();
    assert_eq!(bits.len(), 258 * 8, "all bits above IP");
}

#[test]
fn a_super_packet_that_cannot_be_cut_is_not_flipped() {
    let (virtio, bytes) = tcp().super_packet();
    let tunnel = VirtioHeader { checksum: Some((90, 16)), ..virtio };
    let packet = Pool::default().packet(tunnel, &bytes);
    assert_eq!(packet.segments(), 1);
    assert!(packet.with_flipped_bit(7).is_none());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: RngSeed::Fixed(7), ..ProptestConfig::default() })]

    /// Any segment of any stream: the receiver takes what should be on the wire, and not what comes.
    #[test]
    fn no_flip_is_missed(
        (v6, is_tcp, options) in (any::<bool>(), any::<bool>(), 0..=10_usize),
        (payload, segment_size) in (vec(any::<u8>(), 1..3_000), 1..1_500_usize),
        picks in vec(any::<u64>(), 1..20),
    ) {
        let base = if is_tcp { tcp() } else { udp() };
        let tcp_options = if is_tcp { options } else { 0 };
        let stream =
            Stream { v6, ip_options: if v6 { 0 } else { options }, tcp_options, payload, segment_size, ..base };
        for (segment, right) in segments(&stream).iter().zip(stream.wire()) {
            prop_assert!(accepts(&right));
            for pick in &picks {
                let wrong = flipped(segment, *pick);
                difference(&right, &wrong);
                prop_assert!(!accepts(&wrong));
            }
        }
    }

    #[test]
    fn any_bytes_can_be_flipped(bytes in vec(any::<u8>(), 0..200), pick in any::<u64>()) {
        let wrong = flipped(&Pool::default().packet(VirtioHeader::COMPLETE, &bytes), pick);
        if bytes.len() > 14 {
            prop_assert!(difference(&bytes, &wrong) >= 14 * 8);
        } else {
            prop_assert_eq!(wrong, bytes);
        }
    }
}

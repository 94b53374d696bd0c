//! Whose a packet is and whether it met congestion: headers written by hand from the RFCs.

use netloom_packet::{Ecn, Flow, MAX_HEAD, Packet, Pool, VirtioHeader};
use netloom_testing::streams::{Stream, ones_complement, received, written};
use netloom_units::Bytes;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

const V4: [u8; 20] = [0x45, 0xb8, 0, 40, 0, 1, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 255, 3, 2];
const PORTS: [u8; 8] = [0x13, 0x88, 0x14, 0x51, 0, 8, 0, 0];

fn ethernet(ethertype: u16, rest: &[&[u8]]) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];
    frame.extend(ethertype.to_be_bytes());
    frame.extend(rest.concat());
    frame
}

fn v6(next: u8, traffic_class: u8, rest: &[&[u8]]) -> Vec<u8> {
    let mut header = vec![0x60 | traffic_class >> 4, traffic_class << 4, 0, 0, 0, 0, next, 64];
    header.extend([0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    header.extend([0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]);
    header.extend(rest.concat());
    ethernet(0x86dd, &[&header])
}

fn packet(bytes: &[u8]) -> Packet {
    Pool::default().packet(VirtioHeader::COMPLETE, bytes)
}

fn flow(bytes: &[u8]) -> Option<Flow> {
    packet(bytes).flow()
}

fn v4_flow() -> Flow {
    Flow {
        source: [10, 0, 0, 1].into(),
        destination: [10, 255, 3, 2].into(),
        protocol: 6,
        source_port: 5_000,
        destination_port: 5_201,
        dscp: 46,
    }
}

fn v6_flow(protocol: u8) -> Flow {
    let address = |last| [0xfd00, 0, 0, 0, 0, 0, 0, last].into();
    Flow { source: address(1), destination: address(2), protocol, ..v4_flow() }
}

fn without_ports(flow: Flow) -> Flow {
    Flow { source_port: 0, destination_port: 0, ..flow }
}

#[test]
fn ipv4() {
    assert_eq!(flow(&ethernet(0x0800, &[&V4, &PORTS])), Some(v4_flow()));
    for (protocol, has_ports) in [(17, true), (33, true), (132, true), (136, true), (1, false), (47, false), (0, false)]
    {
        let mut header = V4;
        header[9] = protocol;
        let expected = Flow { protocol, ..v4_flow() };
        let expected = if has_ports { expected } else { without_ports(expected) };
        assert_eq!(flow(&ethernet(0x0800, &[&header, &PORTS])), Some(expected), "protocol {protocol}");
    }
}

#[test]
fn ipv4_with_options() {
    let mut header = V4;
    header[0] = 0x47;
    assert_eq!(flow(&ethernet(0x0800, &[&header, &[1; 8], &PORTS])), Some(v4_flow()));
}

/// RFC 791, section 3.1: ports stand in the first fragment only, so that none of them may count.
#[test]
fn fragments_of_ipv4_are_one_flow() {
    for fragment in [[0x20, 0], [0x20, 0x10], [0, 0x10]] {
        let mut header = V4;
        header[6..8].copy_from_slice(&fragment);
        assert_eq!(flow(&ethernet(0x0800, &[&header, &PORTS])), Some(without_ports(v4_flow())), "{fragment:?}");
    }
}

#[test]
fn vlan_tags() {
    let tagged = ethernet(0x8100, &[&[0, 42, 0x08, 0x00], &V4, &PORTS]);
    assert_eq!(flow(&tagged), Some(v4_flow()));
    let twice = ethernet(0x88a8, &[&[0, 7, 0x81, 0x00, 0, 42, 0x08, 0x00], &V4, &PORTS]);
    assert_eq!(flow(&twice), Some(v4_flow()));
}

#[test]
fn ipv6() {
    assert_eq!(flow(&v6(6, 0xb8, &[&PORTS])), Some(v6_flow(6)));
    assert_eq!(flow(&v6(58, 0xb8, &[&PORTS])), Some(without_ports(v6_flow(58))));
}

/// RFC 8200, section 4: hop-by-hop options, routing, destination options, then RFC 4302's authentication, then UDP.
#[test]
fn extension_headers_are_passed_over() {
    let hop_by_hop = [43, 0, 1, 4, 0, 0, 0, 0];
    let routing = [[60, 1, 0, 0, 0, 0, 0, 0], [9; 8]].concat();
    let destination = [51, 0, 1, 4, 0, 0, 0, 0];
    let authentication = [[17, 4, 0, 0, 0, 0, 0, 1], [0, 0, 0, 2, 1, 1, 1, 1], [2; 8]].concat();
    let frame = v6(0, 0xb8, &[&hop_by_hop, &routing, &destination, &authentication, &PORTS]);
    assert_eq!(flow(&frame), Some(v6_flow(17)));
}

/// RFC 8200, section 4.5: the fragment header tells the protocol in all fragments alike, and only the first goes on.
#[test]
fn fragments_of_ipv6_are_one_flow() {
    for place in [[0, 1], [0, 0x11], [0, 0x10]] {
        // What looks like destination options is the middle of a packet in the later ones.
        let fragment = [60, 0, place[0], place[1], 0, 0, 0, 9];
        let frame = v6(44, 0xb8, &[&fragment, &[17, 0, 0, 0, 0, 0, 0, 0], &PORTS]);
        assert_eq!(flow(&frame), Some(without_ports(v6_flow(60))), "{place:?}");
    }
    // RFC 6946: a packet in a single fragment is whole.
    let frame = v6(44, 0xb8, &[&[17, 0, 0, 0, 0, 0, 0, 9], &PORTS]);
    assert_eq!(flow(&frame), Some(v6_flow(17)));
}

#[test]
fn what_is_no_ip_packet_has_no_flow() {
    let whole = ethernet(0x0800, &[&V4, &PORTS]);
    for frame in [
        ethernet(0x0806, &[&[0; 28]]),
        ethernet(0x86dd, &[&V4, &PORTS]),
        ethernet(0x0800, &[&[0x44], &V4[1..], &PORTS]),
        whole[..33].to_vec(),
        v6(6, 0, &[])[..53].to_vec(),
        vec![],
    ] {
        assert_eq!(flow(&frame), None, "{frame:?}");
    }
    // The headers are there, the ports are not.
    assert_eq!(flow(&whole[..36]), Some(without_ports(v4_flow())));
    assert_eq!(flow(&v6(6, 0xb8, &[])), Some(without_ports(v6_flow(6))));
    assert_eq!(flow(&v6(0, 0xb8, &[&[6, 9, 0, 0]])), Some(without_ports(v6_flow(0))), "a chain that is cut off");
}

/// RFC 3168, section 5: the lower two bits of the traffic class.
#[test]
fn ecn_is_read_and_marked() {
    let words = [Ecn::NotCapable, Ecn::Capable1, Ecn::Capable0, Ecn::Congested];
    for (bits, word) in (0_u8..).zip(words) {
        let mut header = V4;
        header[1] = 0xb8 | bits;
        let sum = !ones_complement(&header);
        header[10..12].copy_from_slice(&sum.to_be_bytes());
        let tagged = ethernet(0x8100, &[&[0, 42, 0x08, 0x00], &header, &PORTS]);
        for (frame, at) in
            [(ethernet(0x0800, &[&header, &PORTS]), 14), (tagged, 18), (v6(6, 0xb8 | bits, &[&PORTS]), 14)]
        {
            let mut packet = packet(&frame);
            assert_eq!(packet.ecn(), Some(word));
            let capable = packet.mark_congested();
            assert_eq!(capable, bits != 0);
            let (virtio, sent) = written(&packet);
            assert_eq!(virtio, VirtioHeader::COMPLETE);
            if !capable {
                assert_eq!(sent, frame, "untouched");
                continue;
            }
            assert_eq!(packet.ecn(), Some(Ecn::Congested));
            let mut expected = frame.clone();
            if frame[at] >> 4 == 4 {
                expected[at + 1] = 0xbb;
                assert_eq!(ones_complement(&sent[at..at + 20]), 0xffff, "IPv4 header checksum");
                expected[at + 10..at + 12].copy_from_slice(&sent[at + 10..at + 12]);
            } else {
                expected[at + 1] = 0xb0;
            }
            assert_eq!(sent, expected);
            assert_eq!(packet.flow(), flow(&frame), "a mark is not part of the flow");
        }
    }
    assert_eq!(packet(&ethernet(0x0806, &[&[0; 28]])).ecn(), None);
    assert!(!packet(&ethernet(0x0806, &[&[0; 28]])).mark_congested());
}

/// A stream whose packets carry ECT(0), and what the receiver gets if segments are marked.
fn stream(v6: bool, tcp: bool) -> Stream {
    Stream {
        vlans: vec![(0x8100, 42)],
        v6,
        extensions: Vec::new(),
        ip_options: if v6 { 0 } else { 2 },
        id: 0xfffe,
        tcp,
        tcp_options: if tcp { 3 } else { 0 },
        sequence: 1,
        flags: if tcp { 0x18 } else { 0 },
        accurate_ecn: false,
        payload: (0..250_u8).cycle().take(1_050).collect(),
        segment_size: 100,
    }
}

/// Sets the ECN bits of an IP header that begins behind one VLAN tag.
fn with_ecn(mut frame: Vec<u8>, bits: u8) -> Vec<u8> {
    if frame[18] >> 4 == 6 {
        frame[19] = frame[19] & 0b1100_1111 | bits << 4;
    } else {
        frame[19] |= bits;
        frame[28..30].copy_from_slice(&[0, 0]);
        let len = usize::from(frame[18] & 0x0f) * 4;
        let sum = !ones_complement(&frame[18..18 + len]);
        frame[28..30].copy_from_slice(&sum.to_be_bytes());
    }
    frame
}

#[test]
fn trains_and_their_pieces_are_marked() {
    for (v6, tcp) in [(false, true), (true, true), (false, false), (true, false)] {
        let stream = stream(v6, tcp);
        let (virtio, bytes) = stream.super_packet();
        let mut train = Pool::default().packet(virtio, &with_ecn(bytes, 0b10));
        let mut middle = train.split_front(7).expect("seven of eleven");
        let front = middle.split_front(3).expect("three of seven");
        assert!(middle.mark_congested());
        assert!(!front.is_followed_by(&middle), "marked differently");
        let mut single = middle.split_front(1).expect("one of four");
        assert_eq!(single.ecn(), Some(Ecn::Congested), "pieces keep the mark");
        assert!(single.is_followed_by(&middle));
        single.append(&middle);
        assert_eq!((single.segments(), single.ecn()), (4, Some(Ecn::Congested)));
        let wire = stream.wire();
        check(&front, &wire[..3], 0b10);
        check(&single, &wire[3..7], 0b11);
        check(&train, &wire[7..], 0b10);
    }
}

/// A whole train is marked in its one header, which all its segments will get.
#[test]
fn an_uncut_train_is_marked() {
    let stream = stream(false, true);
    let (virtio, bytes) = stream.super_packet();
    let mut train = Pool::default().packet(virtio, &with_ecn(bytes.clone(), 0b01));
    assert!(train.mark_congested());
    assert_eq!(written(&train), (virtio, with_ecn(bytes, 0b11)));
}

/// The receiver cuts what it was handed; each of its packets is one of `wire` with these ECN bits.
fn check(packet: &Packet, wire: &[Vec<u8>], bits: u8) {
    let (virtio, frame) = written(packet);
    // The test's receiver knows of no ECN bits: take them away, and look at them apart.
    let class = if frame[18] >> 4 == 6 { frame[19] >> 4 } else { frame[19] };
    assert_eq!(class & 0b11, bits);
    let len = if frame[18] >> 4 == 6 { 0 } else { usize::from(frame[18] & 0x0f) * 4 };
    assert!(len == 0 || ones_complement(&frame[18..18 + len]) == 0xffff, "IPv4 header checksum");
    let mut plain = frame.clone();
    if plain[18] >> 4 == 6 {
        plain[19] &= 0b1100_1111;
    } else {
        plain[19] &= 0b1111_1100;
        plain = with_ecn(plain, 0);
    }
    assert_eq!(received(&virtio, &plain), wire);
}

#[test]
fn a_duplicate_is_the_same_once_more() {
    let (virtio, bytes) = stream(false, true).super_packet();
    let mut pool = Pool::default();
    let mut train = pool.packet(virtio, &with_ecn(bytes, 0b10));
    let mut front = train.split_front(2).expect("two of eleven");
    front.mark_congested();
    let second = front.duplicate();
    assert_eq!(written(&second), written(&front));
    assert_eq!((second.segments(), second.size(), second.ecn()), (front.segments(), front.size(), front.ecn()));
    assert!(!front.is_followed_by(&second) && !second.is_followed_by(&front), "twins are no neighbours");
    // The buffer is free when the last of all three is gone, and not before.
    let at = train.bytes().as_ptr();
    pool.recycle(front);
    pool.recycle(train);
    assert_ne!(pool.packet(virtio, &[0; 100]).bytes().as_ptr(), at);
    pool.recycle(second);
    assert_eq!(pool.packet(virtio, &[0; 100]).bytes().as_ptr(), at);
}

#[test]
fn a_phantom_counts_and_has_headers_only() {
    let frame = ethernet(0x0800, &[&V4, &PORTS]);
    let mut phantom = Packet::phantom(&frame, Bytes::new(1_500));
    assert!(phantom.is_phantom());
    assert_eq!(
        (phantom.segments(), phantom.size(), phantom.segment_size(0)),
        (1, Bytes::new(1_500), Bytes::new(1_500))
    );
    assert_eq!(phantom.bytes(), frame);
    assert_eq!((phantom.flow(), phantom.ecn()), (Some(v4_flow()), Some(Ecn::NotCapable)));
    assert!(phantom.split_front(1).is_none() && phantom.duplicate().is_phantom());
    // It may have no headers at all, or count for fewer bytes than they have.
    let bare = Packet::phantom(&[], Bytes::new(40));
    assert_eq!((bare.flow(), bare.size(), bare.bytes().len()), (None, Bytes::new(40), 0));
    let small = Packet::phantom(&frame, Bytes::new(4));
    assert_eq!((small.size(), small.bytes().len()), (Bytes::new(4), 18));
    assert!(!packet(&frame).is_phantom());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: RngSeed::Fixed(7), ..ProptestConfig::default() })]

    /// Garbage, cut off anywhere, behind headers that look right: nothing panics, and only ECN bits change.
    #[test]
    fn nothing_panics(
        start in prop_oneof![
            Just(vec![]), Just(ethernet(0x0800, &[])), Just(ethernet(0x0800, &[&V4])), Just(v6(0, 2, &[])),
            Just(v6(44, 1, &[])), Just(v6(51, 3, &[])), Just(ethernet(0x8100, &[&[0, 1]])),
        ],
        rest in vec(any::<u8>(), 0..300),
        wound in (0..60_usize, any::<u8>()),
        cut in 0..400_usize,
    ) {
        let mut bytes = [start, rest].concat();
        bytes.truncate(cut);
        if let Some(byte) = bytes.get_mut(wound.0) {
            *byte = wound.1;
        }
        let mut packet = packet(&bytes);
        let before = (packet.flow(), packet.ecn());
        prop_assert_eq!(before.0.is_some() && before.1.is_none(), false, "a flow has ECN bits");
        let marked = packet.mark_congested();
        let (_, sent) = written(&packet);
        prop_assert_eq!(sent.len(), bytes.len());
        if marked {
            prop_assert_eq!(packet.ecn(), Some(Ecn::Congested));
            prop_assert_eq!(Pool::default().packet(VirtioHeader::COMPLETE, &sent).ecn(), Some(Ecn::Congested));
        } else {
            prop_assert_eq!(&sent, &bytes);
        }
        let changed = sent.iter().zip(&bytes).filter(|(a, b)| a != b).count();
        prop_assert!(changed <= 3, "the traffic class and the checksum of IPv4");
        prop_assert_eq!(packet.flow(), before.0);
        packet.write_head(&mut [0; MAX_HEAD]);
    }
}

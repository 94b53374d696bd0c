//! Tags of VLANs: a frame that gets one, or loses it, is what its sender's kernel would have made of it with that tag.

use netloom_packet::{Packet, Pool, VirtioHeader};
use netloom_testing::streams::{Stream, received, written};
use proptest::collection::vec;
use proptest::prelude::*;

fn stream(vlans: Vec<(u16, u16)>, v6: bool, tcp: bool, payload: usize) -> Stream {
    Stream {
        vlans,
        v6,
        ip_options: 0,
        extensions: Vec::new(),
        id: 7,
        tcp,
        tcp_options: 3,
        sequence: 77,
        flags: 0x18,
        accurate_ecn: false,
        payload: (0..payload).map(|at| u8::try_from(at % 251).unwrap()).collect(),
        segment_size: 1_000,
    }
}

fn packet(stream: &Stream) -> Packet {
    let (virtio, frame) = stream.super_packet();
    Pool::default().packet(virtio, &frame)
}

fn on_the_wire(packet: &Packet) -> Vec<Vec<u8>> {
    let (virtio, frame) = written(packet);
    received(&virtio, &frame)
}

proptest! {
    /// Of a whole train and of every part of it.
    #[test]
    fn a_tag_comes_and_goes(
        inner in vec(any::<u16>(), 0..2),
        says: u16,
        v6: bool,
        tcp: bool,
        payload in 1..9_000_usize,
        cut in 0..9_u32,
    ) {
        let inner: Vec<(u16, u16)> = inner.into_iter().map(|tag| (0x8100, tag)).collect();
        let outer = [&[(0x8100, says)], &inner[..]].concat();
        let (plain, tagged) = (stream(inner.clone(), v6, tcp, payload), stream(outer, v6, tcp, payload));
        let mut rest = packet(&plain);
        let front = rest.split_front(cut);
        let mut wire = tagged.wire();
        let mut bare = plain.wire();
        for part in front.into_iter().chain([rest]) {
            let with = part.with_vlan_tag(says).expect("a frame");
            prop_assert_eq!(with.vlan_tag(), Some(says));
            prop_assert_eq!(with.segments(), part.segments());
            prop_assert_eq!(with.tags_size().get(), 4 + 4 * inner.len() as u64);
            let count = part.segments() as usize;
            prop_assert_eq!(on_the_wire(&with), wire.drain(..count).collect::<Vec<_>>());
            let without = with.without_vlan_tag().expect("it has one");
            prop_assert_eq!(without.vlan_tag(), inner.first().map(|(_, tag)| *tag));
            prop_assert_eq!(on_the_wire(&without), bare.drain(..count).collect::<Vec<_>>());
        }
    }
}

#[test]
fn what_is_no_frame_has_no_tags() {
    for len in 0..20 {
        let bytes: Vec<u8> = [0x81, 0].repeat(10)[..len].to_vec();
        let packet = Pool::default().packet(VirtioHeader::COMPLETE, &bytes);
        assert_eq!(packet.vlan_tag().is_some(), len >= 16, "{len}");
        assert_eq!(packet.with_vlan_tag(1).is_some(), len >= 14, "{len}");
        assert_eq!(packet.without_vlan_tag().is_some(), len >= 18, "{len}");
    }
}

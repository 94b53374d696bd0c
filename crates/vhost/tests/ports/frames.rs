//! Frames in both directions.

use crate::Pair;
use crate::frontend::{BUFFERS, FROM_GUEST, GUEST, INDIRECT, NEXT, QUEUE, SIZE, TO_GUEST, USED};
use netloom_packet::{Packet, Pool, Segmentation, VirtioHeader};
use netloom_vhost::Sent;

/// A TCP segment of `payload` bytes over IPv4, and the header of a train of segments of 1,000 bytes.
fn train(payload: usize) -> ([u8; 12], Vec<u8>) {
    let mut frame = vec![0; 54];
    frame[12..14].copy_from_slice(&[8, 0]);
    frame[14] = 0x45;
    let len = u16::try_from(40 + payload).expect("short");
    frame[16..18].copy_from_slice(&len.to_be_bytes());
    frame[23] = 6;
    frame[46] = 0x50;
    frame.extend((0..payload).map(|index| index.to_le_bytes()[0]));
    let header = VirtioHeader {
        checksum: Some((34, 16)),
        segmentation: Segmentation::Tcp4,
        ecn: false,
        segment_size: 1_000,
        header_len: 54,
    };
    let mut bytes = [0; 12];
    bytes[..10].copy_from_slice(&header.bytes());
    (bytes, frame)
}

fn receive(pair: &mut Pair, pool: &mut Pool) -> Vec<Packet> {
    let mut packets = Vec::new();
    pair.port.receive(pool, 64, |packet| packets.push(packet));
    assert!(pair.port.error().is_none(), "{:?}", pair.port.error());
    packets
}

#[test]
fn trains_come_whole_and_their_buffers_go_back() {
    let (mut pair, mut pool) = (Pair::ready(), Pool::default());
    let (header, frame) = train(3_000);
    for round in 0..3 * u32::from(SIZE) {
        pair.guest.transmit(&header, &frame);
        let packets = receive(&mut pair, &mut pool);
        assert_eq!(packets.len(), 1);
        assert_eq!(packets[0].segments(), 3);
        assert_eq!(packets[0].bytes(), &frame[..]);
        assert_eq!(pair.guest.take(FROM_GUEST), Some((round % u32::from(SIZE), 0)));
        packets.into_iter().for_each(|packet| pool.recycle(packet));
    }
}

#[test]
fn a_chain_may_be_of_pieces_direct_or_indirect() {
    let (mut pair, mut pool) = (Pair::ready(), Pool::default());
    let (header, frame) = train(2_000);
    let bytes = [&header[..], &frame].concat();
    pair.guest.write(BUFFERS, &bytes);
    let address = |at: usize| GUEST + (BUFFERS + at) as u64;
    let pieces = [(0, 5), (5, 7), (12, 0), (12, 100), (112, bytes.len() - 112)];
    let table = BUFFERS + 0x8000;
    for (index, (at, len)) in (0_u16..).zip(pieces) {
        let (flags, len) = (if index < 4 { NEXT } else { 0 }, u32::try_from(len).expect("short"));
        pair.guest.descriptor(FROM_GUEST, 3 + index, address(at), len, flags, 4 + index);
        pair.guest.descriptor_at(table + 16 * usize::from(index), address(at), len, flags, 1 + index);
    }
    pair.guest.descriptor(FROM_GUEST, 9, GUEST + table as u64, 5 * 16, INDIRECT, 0);
    pair.guest.put(FROM_GUEST, 3);
    pair.guest.put(FROM_GUEST, 9);
    let packets = receive(&mut pair, &mut pool);
    assert_eq!(packets.len(), 2);
    assert!(packets.iter().all(|packet| packet.bytes() == &frame[..] && packet.segments() == 2));
}

#[test]
fn a_packet_fills_as_many_buffers_as_it_needs() {
    let (mut pair, mut pool) = (Pair::ready(), Pool::default());
    let (header, frame) = train(3_000);
    let packet = pool.packet(VirtioHeader::parse(header[..10].try_into().expect("ten bytes")), &frame);
    assert_eq!(pair.port.send(&packet), Sent::Down);
    let places = [1_500; 4].map(|len| pair.guest.make_room(len));
    assert_eq!(pair.port.send(&packet), Sent::Done);
    // Three buffers, 12 + 3,054 bytes.
    let used: Vec<_> = std::iter::from_fn(|| pair.guest.take(TO_GUEST)).collect();
    assert_eq!(used, [(0, 1_500), (1, 1_500), (2, 66)]);
    let mut bytes = Vec::new();
    for (place, (_, len)) in places.iter().zip(used) {
        bytes.extend(pair.guest.read(*place, len as usize));
    }
    assert_eq!(&bytes[..10], &header[..10]);
    assert_eq!(&bytes[10..12], &[3, 0]);
    assert_eq!(&bytes[12..], &frame[..]);
}

#[test]
fn a_piece_of_a_train_gets_headers_of_its_own() {
    let (mut pair, mut pool) = (Pair::ready(), Pool::default());
    let (header, frame) = train(3_000);
    let mut packet = pool.packet(VirtioHeader::parse(header[..10].try_into().expect("ten bytes")), &frame);
    let _first = packet.split_front(1).expect("three segments");
    let place = pair.guest.make_room(4_000);
    assert_eq!(pair.port.send(&packet), Sent::Done);
    assert_eq!(pair.guest.take(TO_GUEST), Some((0, 12 + 54 + 2_000)));
    let bytes = pair.guest.read(place, 12 + 54 + 2_000);
    assert_eq!(&bytes[10..12], &[1, 0]);
    assert_eq!(&bytes[12 + 16..12 + 18], &2_040_u16.to_be_bytes());
    assert_eq!(&bytes[12 + 54..], &frame[54 + 1_000..]);
}

#[test]
fn a_full_queue_asks_to_be_told_of_room() {
    let (mut pair, mut pool) = (Pair::ready(), Pool::default());
    let packet = pool.packet(VirtioHeader::COMPLETE, &[9; 100]);
    pair.guest.make_room(2_000);
    assert_eq!(pair.port.send(&packet), Sent::Done);
    assert!(!pair.guest.is_asked_to_kick(TO_GUEST));
    assert_eq!(pair.port.send(&packet), Sent::Full);
    assert!(pair.guest.is_asked_to_kick(TO_GUEST));
    pair.guest.make_room(2_000);
    assert_eq!(pair.port.send(&packet), Sent::Done);
    assert!(!pair.guest.is_asked_to_kick(TO_GUEST));
}

#[test]
fn one_call_tells_of_all_frames_and_none_if_not_wanted() {
    let (mut pair, mut pool) = (Pair::ready(), Pool::default());
    let packet = pool.packet(VirtioHeader::COMPLETE, &[9; 100]);
    pair.port.flush();
    for queue in 0..2 {
        pair.guest.rung(queue);
    }
    for _ in 0..3 {
        pair.guest.make_room(2_000);
        assert_eq!(pair.port.send(&packet), Sent::Done);
    }
    pair.port.flush();
    pair.port.flush();
    assert_eq!((pair.guest.rung(TO_GUEST), pair.guest.rung(FROM_GUEST)), (1, 0));
    // The guest polls.
    pair.guest.write(TO_GUEST * QUEUE + crate::frontend::AVAILABLE, &[1, 0]);
    pair.guest.make_room(2_000);
    assert_eq!(pair.port.send(&packet), Sent::Done);
    pair.port.flush();
    assert_eq!(pair.guest.rung(TO_GUEST), 0);
}

#[test]
fn kicks_are_wanted_only_before_a_wait() {
    let (mut pair, mut pool) = (Pair::ready(), Pool::default());
    assert!(pair.guest.is_asked_to_kick(FROM_GUEST));
    pair.guest.transmit(&[0; 12], &[1; 60]);
    assert_eq!(receive(&mut pair, &mut pool).len(), 1);
    assert!(!pair.guest.is_asked_to_kick(FROM_GUEST));
    assert!(!pair.port.listen());
    assert!(pair.guest.is_asked_to_kick(FROM_GUEST));
    pair.guest.transmit(&[0; 12], &[1; 60]);
    assert!(pair.port.listen());
    assert_eq!(pair.guest.word(FROM_GUEST * QUEUE + USED + 2), 1);
}

#[test]
fn trains_of_a_kind_that_was_not_agreed_on_are_to_be_cut() {
    let mut pair = Pair::connected();
    // Without GUEST_TSO4 and its ECN.
    pair.negotiate(crate::frontend::OFFERED & !(1 << 7 | 1 << 9));
    let mut pool = Pool::default();
    let (header, frame) = train(3_000);
    let mut packet = pool.packet(VirtioHeader::parse(header[..10].try_into().expect("ten bytes")), &frame);
    assert!(!pair.port.takes_whole(&packet));
    let first = packet.split_front(1).expect("three segments");
    assert!(pair.port.takes_whole(&first));
}

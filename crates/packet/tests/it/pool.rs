//! Buffers are used again: the last returned first, and only when their last piece is back.

use netloom_packet::{LARGE_FRAME, Packet, Pool, SMALL_FRAME, VirtioHeader};
use netloom_testing::streams::Stream;

fn address(packet: &Packet) -> usize {
    packet.bytes().as_ptr() as usize
}

#[test]
fn the_last_returned_is_the_first_used() {
    let mut pool = Pool::new(4, 0);
    let packets: Vec<Packet> = (0..3).map(|_| pool.packet(VirtioHeader::COMPLETE, &[1; 60])).collect();
    let addresses: Vec<usize> = packets.iter().map(address).collect();
    packets.into_iter().for_each(|packet| pool.recycle(packet));
    let again: Vec<Packet> = (0..3).map(|_| pool.packet(VirtioHeader::COMPLETE, &[2; 60])).collect();
    assert!(again.iter().map(address).eq(addresses.into_iter().rev()));
    assert!(again.iter().all(|packet| packet.bytes() == [2; 60]));
}

#[test]
fn small_and_large_buffers_do_not_mix() {
    let mut pool = Pool::new(1, 1);
    let small = pool.packet(VirtioHeader::COMPLETE, &[1; SMALL_FRAME]);
    let large = pool.packet(VirtioHeader::COMPLETE, &[1; SMALL_FRAME + 1]);
    let huge = pool.packet(VirtioHeader::COMPLETE, &vec![1; 3 * LARGE_FRAME]);
    let (small_at, large_at, huge_at) = (address(&small), address(&large), address(&huge));
    pool.recycle(small);
    pool.recycle(large);
    assert_eq!(address(&pool.packet(VirtioHeader::COMPLETE, &[1; LARGE_FRAME])), large_at);
    assert_eq!(address(&pool.packet(VirtioHeader::COMPLETE, &[1; 60])), small_at);
    pool.recycle(huge);
    assert_eq!(address(&pool.packet(VirtioHeader::COMPLETE, &[1; LARGE_FRAME])), huge_at);
}

/// A train of TCP.
fn three_segments() -> (VirtioHeader, Vec<u8>) {
    let stream = Stream {
        vlans: Vec::new(),
        v6: false,
        ip_options: 0,
        extensions: Vec::new(),
        id: 1,
        tcp: true,
        tcp_options: 0,
        sequence: 1,
        flags: 0x10,
        accurate_ecn: false,
        payload: vec![3; 900],
        segment_size: 300,
    };
    stream.super_packet()
}

#[test]
fn only_the_last_piece_gives_the_buffer_back() {
    let mut pool = Pool::default();
    let (virtio, bytes) = three_segments();
    let mut last = pool.packet(virtio, &bytes);
    let at = address(&last);
    let first = last.split_front(1).expect("one of three");
    let second = last.split_front(1).expect("one of two");
    pool.recycle(second);
    pool.recycle(first);
    let other = pool.packet(VirtioHeader::COMPLETE, &[9; 60]);
    assert_ne!(address(&other), at, "a buffer in use was given out again");
    assert_eq!(last.bytes(), bytes);
    pool.recycle(last);
    assert_eq!(address(&pool.packet(VirtioHeader::COMPLETE, &[9; 60])), at);
}

#[test]
fn a_buffer_that_was_not_filled_goes_back() {
    let mut pool = Pool::new(1, 0);
    let packet = pool.packet(VirtioHeader::COMPLETE, &[1; 60]);
    let at = address(&packet);
    pool.recycle(packet);
    assert!(pool.fill_with(60, |_| None).is_none());
    assert_eq!(address(&pool.packet(VirtioHeader::COMPLETE, &[1; 60])), at);
}

/// What an earlier and longer packet left in the buffer is not seen.
#[test]
fn a_used_buffer_shows_nothing_of_its_past() {
    let mut pool = Pool::new(1, 0);
    let long = pool.packet(VirtioHeader::COMPLETE, &[7; 1_500]);
    pool.recycle(long);
    let short = pool.packet(VirtioHeader::COMPLETE, &[1; 20]);
    assert_eq!(short.bytes(), [1; 20]);
    assert_eq!((short.segments(), short.size().get()), (1, 6));
}

#[test]
fn a_closed_pool_gives_what_it_cannot_copy_back() {
    let mut pool = Pool::default();
    let (virtio, bytes) = three_segments();
    let mut rest = pool.packet(virtio, &bytes);
    rest.pass_router();
    let first = rest.split_front(1).expect("one of three");
    pool.set_growing(false);
    let first = pool.readdress(first, &[9; 12]).expect_err("there is no free buffer");
    assert_eq!((first.segments(), first.hops()), (1, 1));
    pool.set_growing(true);
    let first = pool.readdress(first, &[9; 12]).expect("a copy");
    assert_eq!((&first.bytes()[..12], first.hops()), (&[9; 12][..], 0));
}

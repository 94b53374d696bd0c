//! What it costs to put the tag of a VLAN on a packet that leaves by an external interface: its headers written with and without one.
//!
//! `cargo bench -p netloom-fabric --bench tag`; every case is measured several times, and the fastest counts. The goal is 30 ns for a
//! packet, whole trains included.
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

use netloom_packet::{Head, MAX_HEAD, Packet, Pool, Segmentation, TAG_LEN, VirtioHeader};
use std::hint::black_box;
use std::time;

const ROUNDS: u32 = 1_000_000;
const REPEATS: u32 = 7;
/// Ethernet, IPv4 and TCP with timestamps.
const HEADERS: usize = 66;
const SEGMENT: u16 = 1_448;
const SEGMENTS: usize = 44;

fn main() {
    let small = Packet::from_bytes(vec![0x55; 60].into_boxed_slice());
    show("small packet", &small);
    let mut long = train();
    show("train of 44 segments", &long);
    show("one of its segments", &long.split_front(1).expect("a train can be cut"));
}

/// A super-packet of TCP over IPv4 as a kernel hands it over.
fn train() -> Packet {
    let mut frame = vec![0; HEADERS + SEGMENTS * usize::from(SEGMENT)];
    frame[12..15].copy_from_slice(&[0x08, 0x00, 0x45]);
    let len = u16::try_from(frame.len() - 14).expect("less than 64 KiB");
    frame[16..18].copy_from_slice(&len.to_be_bytes());
    (frame[23], frame[46]) = (6, 8 << 4);
    let virtio = VirtioHeader {
        checksum: Some((34, 16)),
        segmentation: Segmentation::Tcp4,
        segment_size: SEGMENT,
        header_len: HEADERS as u16,
        ecn: false,
    };
    let packet = Pool::new(1, 1).packet(virtio, &frame);
    assert_eq!(packet.segments(), SEGMENTS as u32, "the train can be cut");
    packet
}

/// Says what the headers of a packet cost with a tag and without, and how long they are then.
fn show(what: &str, packet: &Packet) {
    let (plain, tagged) = (least(|| rounds(packet, 0)), least(|| rounds(packet, 100)));
    println!("{what:<28} {plain:>6.1} ns, with a tag {tagged:>6.1} ns: {:>5.1} ns for the tag", tagged - plain);
}

/// The shortest of several measurements, for a round, in nanoseconds.
fn least(measure: impl Fn() -> time::Duration) -> f64 {
    let least = (0..REPEATS).map(|_| measure()).min().expect("several repeats");
    least.as_nanos() as f64 / f64::from(ROUNDS)
}

fn rounds(packet: &Packet, vlan: u16) -> time::Duration {
    let mut head = [0; MAX_HEAD + TAG_LEN];
    let begin = time::Instant::now();
    for _ in 0..ROUNDS {
        let packet = black_box(packet);
        let mut written: Head = packet.write_head(head.first_chunk_mut().expect("there is room for more"));
        if black_box(vlan) != 0 {
            written.tag(vlan, &mut head, packet.bytes());
        }
        black_box((&written, &head));
    }
    begin.elapsed()
}

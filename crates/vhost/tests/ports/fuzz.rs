//! Guests that keep nearly to the rules: whatever they do, they are served or refused.

use crate::frontend::{AVAILABLE, BUFFERS, DESCRIPTORS, FROM_GUEST, Frontend, GUEST, INDIRECT, MEMORY, NEXT};
use crate::frontend::{OFFERED, QUEUE, SIZE, TO_GUEST, USER, WRITE};
use crate::{Pair, state};
use netloom_fuzz::fuzz;
use netloom_packet::{MAX_HEAD, Packet, Pool, Segmentation, VirtioHeader};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use std::os::fd::AsRawFd;

/// Numbers at the ends of what queues and memory hold.
const NUMBERS: [u64; 18] = [
    0,
    1,
    11,
    12,
    15,
    16,
    17,
    60,
    0xffff,
    0x1_0000,
    GUEST - 1,
    GUEST,
    GUEST + MEMORY as u64 - 1,
    GUEST + MEMORY as u64,
    USER,
    u32::MAX as u64,
    1 << 63,
    u64::MAX,
];

/// One number that is wrong.
#[derive(Clone, Debug)]
enum Wound {
    /// Of a descriptor: address, length, flags, next.
    Descriptor(usize, u16, usize, u64),
    /// Of an indirect table.
    Table(u16, usize, u64),
    /// Of the available ring: flags, index, entries.
    Available(usize, usize, u64),
    /// Of the used ring, which is the device's to write.
    Used(usize, usize, u64),
}

fn wounds() -> impl Strategy<Value = Vec<Wound>> {
    let number = || select(NUMBERS.to_vec());
    let wound = prop_oneof![
        6 => (0..2_usize, 0..SIZE, 0..4_usize, number()).prop_map(|(queue, index, field, number)| {
            Wound::Descriptor(queue, index, field, number)
        }),
        2 => (0..4_u16, 0..4_usize, number()).prop_map(|(index, field, number)| Wound::Table(index, field, number)),
        2 => (0..2_usize, 0..20_usize, number()).prop_map(|(queue, at, number)| Wound::Available(queue, at, number)),
        1 => (0..2_usize, 0..4_usize, number()).prop_map(|(queue, at, number)| Wound::Used(queue, at, number)),
    ];
    vec(wound, 0..4)
}

/// Where a field of a descriptor is, and its length.
const FIELDS: [(usize, usize); 4] = [(0, 8), (8, 4), (12, 2), (14, 2)];
/// Where the indirect table is.
const TABLE: usize = BUFFERS + 0x8_0000;

fn inflict(guest: &Frontend, wound: &Wound) {
    let field = |base: usize, index: u16, field: usize, number: u64| {
        let (at, len) = FIELDS[field];
        guest.write(base + 16 * usize::from(index) + at, &number.to_le_bytes()[..len]);
    };
    match *wound {
        Wound::Descriptor(queue, index, which, number) => field(queue * QUEUE + DESCRIPTORS, index, which, number),
        Wound::Table(index, which, number) => field(TABLE, index, which, number),
        Wound::Available(queue, at, number) => {
            guest.write(queue * QUEUE + AVAILABLE + 2 * at, &number.to_le_bytes()[..2]);
        }
        Wound::Used(queue, at, number) => {
            guest.write(queue * QUEUE + crate::frontend::USED + 2 * at, &number.to_le_bytes()[..2]);
        }
    }
}

/// Puts in frames as kernels do: in one buffer, in two, or in an indirect table; and room for others.
fn fill(guest: &mut Frontend, shapes: &[usize], bytes: &[u8]) {
    let at = |index: u16| BUFFERS + 0x1_0000 * usize::from(index % 8);
    let len = u32::try_from(bytes.len()).expect("short");
    for (index, shape) in shapes.iter().enumerate() {
        let head = u16::try_from(2 * index).expect("few");
        guest.write(at(head), bytes);
        let address = GUEST + at(head) as u64;
        match shape {
            0 => guest.descriptor(FROM_GUEST, head, address, len, 0, 0),
            1 => {
                guest.descriptor(FROM_GUEST, head, address, 12, NEXT, head + 1);
                guest.descriptor(FROM_GUEST, head + 1, address + 12, len - 12, 0, 0);
            }
            _ => {
                for piece in 0..4_u16 {
                    let from = u32::from(piece) * (len / 4);
                    let long = if piece == 3 { len - from } else { len / 4 };
                    let next = if piece < 3 { NEXT } else { 0 };
                    let place = TABLE + 16 * usize::from(piece);
                    guest.descriptor_at(place, address + u64::from(from), long, next, piece + 1);
                }
                guest.descriptor(FROM_GUEST, head, GUEST + TABLE as u64, 64, INDIRECT, 0);
            }
        }
        guest.put(FROM_GUEST, head);
        guest.descriptor(TO_GUEST, head, address, 2_000, WRITE, 0);
        guest.put(TO_GUEST, head);
    }
}

/// What comes out can be worked with.
fn look_at(mut train: Packet) {
    while let Some(front) = train.split_front(1) {
        front.write_head(&mut [0; MAX_HEAD]);
    }
}

/// A super-packet of TCP with its header of twelve bytes.
fn super_packet(payload: usize, segment_size: u16) -> Vec<u8> {
    let mut frame = vec![0; 54 + payload];
    frame[12..15].copy_from_slice(&[8, 0, 0x45]);
    frame[16..18].copy_from_slice(&u16::try_from(40 + payload).expect("short").to_be_bytes());
    frame[23] = 6;
    frame[46] = 0x50;
    let header = VirtioHeader {
        checksum: Some((34, 16)),
        segmentation: Segmentation::Tcp4,
        segment_size,
        ..VirtioHeader::COMPLETE
    };
    [&header.bytes()[..], &[0, 0], &frame].concat()
}

/// Every frame that a guest puts in comes out, or its port ends; and each chain that was taken is given back.
#[test]
fn fuzz_descriptors() {
    let inputs = (vec(0..3_usize, 1..8), 0..3_000_usize, any::<u16>(), wounds(), 1..4_usize);
    fuzz("descriptors", 300, &inputs, |(shapes, payload, segment_size, wounds, rounds)| {
        let (mut pair, mut pool) = (Pair::ready(), Pool::default());
        fill(&mut pair.guest, &shapes, &super_packet(payload, segment_size));
        wounds.iter().for_each(|wound| inflict(&pair.guest, wound));
        let packet = pool.packet(VirtioHeader::COMPLETE, &[7; 1_514]);
        let mut received = 0;
        for _ in 0..rounds {
            received += pair.port.receive(&mut pool, 64, look_at);
            pair.port.send(&packet);
            pair.port.flush();
            pair.port.listen();
        }
        assert!(received <= rounds * usize::from(SIZE));
        if wounds.is_empty() {
            assert!(pair.port.error().is_none(), "{:?}", pair.port.error());
            assert_eq!(received, shapes.len());
            assert_eq!(std::iter::from_fn(|| pair.guest.take(FROM_GUEST)).count(), received);
        }
    });
}

/// Queues full of chance.
#[test]
fn fuzz_queues_of_chance() {
    fuzz("queues-of-chance", 150, &(vec(any::<u8>(), 0x2000), 0_u16..20), |(bytes, count)| {
        let (mut pair, mut pool) = (Pair::ready(), Pool::default());
        for queue in 0..2 {
            pair.guest.write(queue * QUEUE + DESCRIPTORS, &bytes[..usize::from(SIZE) * 16]);
            pair.guest.write(queue * QUEUE + AVAILABLE, &bytes[0x1000..0x1000 + 6 + 2 * usize::from(SIZE)]);
            pair.guest.write(queue * QUEUE + AVAILABLE + 2, &count.to_le_bytes());
        }
        let packet = pool.packet(VirtioHeader::COMPLETE, &[7; 1_514]);
        for _ in 0..20 {
            pair.port.receive(&mut pool, 64, look_at);
            pair.port.send(&packet);
            pair.port.flush();
            pair.port.listen();
        }
    });
}

/// A message: its request, its payload, and which files come with it.
#[derive(Clone, Debug)]
struct Sent {
    request: u32,
    payload: Vec<u8>,
    files: Vec<usize>,
}

/// What a kernel says from the beginning until frames can cross; files: memory, kicks, calls.
fn handshake(table: Vec<u8>) -> Vec<Sent> {
    let sent = |request, payload: Vec<u8>, files: &[usize]| Sent { request, payload, files: files.to_vec() };
    let mut all = vec![
        sent(3, Vec::new(), &[]),
        sent(1, Vec::new(), &[]),
        sent(15, Vec::new(), &[]),
        sent(16, (1_u64 << 3).to_ne_bytes().to_vec(), &[]),
        sent(2, OFFERED.to_ne_bytes().to_vec(), &[]),
        sent(5, table, &[0]),
    ];
    for queue in 0..2 {
        all.push(sent(13, (queue as u64).to_ne_bytes().to_vec(), &[3 + queue]));
        all.push(sent(8, state(queue, u32::from(SIZE)), &[]));
        all.push(sent(10, state(queue, 0), &[]));
        all.push(sent(9, Frontend::addresses(queue), &[]));
        all.push(sent(12, (queue as u64).to_ne_bytes().to_vec(), &[1 + queue]));
        all.push(sent(18, state(queue, 1), &[]));
    }
    all.push(sent(11, state(0, 0), &[]));
    all
}

/// A handshake that is nearly right: messages are left out, come twice, out of order, or with a number or file that is wrong.
#[test]
fn fuzz_handshakes() {
    let change = (0..5_usize, any::<usize>(), any::<usize>(), select(NUMBERS.to_vec()));
    let inputs = (vec(change, 0..5), any::<bool>());
    fuzz("handshakes", 300, &inputs, |(changes, is_busy)| {
        let mut pair = Pair::connected();
        let mut sent = handshake(pair.guest.memory_table());
        for (kind, at, other, number) in changes {
            let at = at % sent.len();
            match kind {
                0 if sent.len() > 1 => drop(sent.remove(at)),
                1 => sent.insert(other % (sent.len() + 1), sent[at].clone()),
                2 => {
                    let place = other % sent.len();
                    sent.swap(at, place);
                }
                3 => {
                    let payload = &mut sent[at].payload;
                    let place = if payload.is_empty() { 0 } else { other % payload.len() / 4 * 4 };
                    let end = payload.len().min(place + 8);
                    payload[place..end].copy_from_slice(&number.to_ne_bytes()[..end - place]);
                }
                _ => sent[at].files = vec![other % 5; at % 3],
            }
        }
        let files = [&pair.guest.file, &pair.guest.kicks[0], &pair.guest.kicks[1], &pair.guest.calls[0]]
            .map(AsRawFd::as_raw_fd)
            .into_iter()
            .chain([pair.guest.calls[1].as_raw_fd()])
            .collect::<Vec<_>>();
        if is_busy {
            fill(&mut pair.guest, &[0, 1, 2], &super_packet(1_000, 500));
        }
        let mut pool = Pool::default();
        let packet = pool.packet(VirtioHeader::COMPLETE, &[7; 1_514]);
        for Sent { request, payload, files: numbers } in sent {
            let chosen: Vec<_> = numbers.iter().map(|file| files[*file]).collect();
            pair.guest.send(request, 9, &payload, &chosen);
            pair.port.service();
            pair.port.receive(&mut pool, 64, look_at);
            pair.port.send(&packet);
            pair.port.flush();
            pair.port.listen();
            if pair.port.error().is_some() {
                return;
            }
        }
    });
}

/// Messages of chance, with descriptors of chance, after a proper handshake or instead of one.
#[test]
fn fuzz_messages_of_chance() {
    let message = (0_u32..45, vec(any::<u8>(), 0..64), 0..3_usize, any::<bool>());
    fuzz("messages-of-chance", 150, &(any::<bool>(), vec(message, 1..20)), |(ready, messages)| {
        let mut pair = if ready { Pair::ready() } else { Pair::connected() };
        let files = [pair.guest.file.as_raw_fd(), pair.guest.kicks[0].as_raw_fd()];
        for (request, mut payload, count, eight) in messages {
            if eight {
                payload.resize(8, 0);
                payload[1..].fill(0);
                payload[0] %= 3;
            }
            pair.guest.send(request, 9, &payload, &files[..count]);
            pair.port.service();
            pair.port.receive(&mut Pool::default(), 64, |_| ());
            pair.port.listen();
        }
    });
}

/// Bytes of chance, instead of a handshake.
#[test]
fn fuzz_bytes_of_chance() {
    fuzz("bytes-of-chance", 150, &vec(any::<u8>(), 1..100), |bytes| {
        let mut pair = Pair::connected();
        pair.guest.send_raw(&bytes, &[]);
        pair.port.service();
        pair.port.service();
    });
}

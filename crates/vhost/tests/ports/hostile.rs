//! A guest that breaks the rules ends its port, and nothing else.

use crate::frontend::{AVAILABLE, BUFFERS, FROM_GUEST, Frontend, GUEST, INDIRECT, MEMORY, NEXT};
use crate::frontend::{OFFERED, QUEUE, SIZE, TO_GUEST, USER, WRITE};
use crate::{Pair, state};
use netloom_packet::{Pool, VirtioHeader};
use netloom_vhost::{Listener, Sent};
use std::os::fd::AsRawFd;

/// What the port says after it has looked at the guest's frames.
fn verdict(pair: &mut Pair) -> String {
    pair.port.receive(&mut Pool::default(), 64, |_| ());
    pair.port.error().map(ToString::to_string).unwrap_or_default()
}

#[test]
fn every_broken_chain_is_told_apart() {
    type Breaks = fn(&mut Frontend);
    let cases: [(Breaks, &str); 11] = [
        (|guest| guest.write(QUEUE + AVAILABLE + 2, &[17, 0]), "17 new entries in a queue of 16"),
        (|guest| guest.put(FROM_GUEST, SIZE), "descriptor 16 of 16"),
        (|guest| chain(guest, GUEST + MEMORY as u64 - 59, 60, 0, 0), "outside its memory"),
        (|guest| chain(guest, u64::MAX, 60, 0, 0), "outside its memory"),
        (|guest| chain(guest, GUEST, 60, NEXT, SIZE), "descriptor 16 of 16"),
        (|guest| chain(guest, GUEST, 60, NEXT, 0), "a chain of more than 16 descriptors"),
        (|guest| chain(guest, GUEST, 60, WRITE, 0), "a descriptor with the flags 0x2"),
        (|guest| chain(guest, GUEST, 25, 0, 0), "a frame of 25 bytes"),
        (|guest| chain(guest, GUEST, 100_000, 0, 0), "a frame of 100000 bytes"),
        (|guest| chain(guest, GUEST, 17, INDIRECT, 0), "an indirect table of 17 bytes"),
        (
            |guest| {
                guest.descriptor_at(BUFFERS, GUEST, 16, INDIRECT, 0);
                chain(guest, GUEST + BUFFERS as u64, 16, INDIRECT, 0);
            },
            "a descriptor with the flags 0x4",
        ),
    ];
    for (break_it, expected) in cases {
        let mut pair = Pair::ready();
        break_it(&mut pair.guest);
        let said = verdict(&mut pair);
        assert!(said.contains("transmit queue") && said.contains(expected), "{said:?} instead of {expected:?}");
    }
}

/// Queues may have 32,768 entries, and tables as many: nobody follows them to the end for every frame.
#[test]
fn a_frame_in_more_buffers_than_anybody_needs_ends_the_port() {
    let (mut enough, table) = many_buffers(1_024, 0);
    large(&enough.guest, FROM_GUEST, &[table]);
    assert_eq!(verdict(&mut enough), "", "1,024 buffers are enough for everybody");
    let (mut pair, longer) = many_buffers(1_025, 0);
    large(&pair.guest, FROM_GUEST, &[longer]);
    let said = verdict(&mut pair);
    assert!(said.contains("a frame in more than 1024 buffers"), "{said}");
    // As much room as a frame wants, in pieces that are too small.
    let (mut other, room) = many_buffers(1_000, WRITE);
    large(&other.guest, TO_GUEST, &[room, room]);
    other.port.send(&Pool::default().packet(VirtioHeader::COMPLETE, &[1; 30_000]));
    let why = other.port.error().expect("an error").to_string();
    assert!(why.contains("a frame in more than 1024 buffers"), "{why}");
}

/// Where the descriptors, the available and the used ring of a large queue are.
fn large_parts(queue: usize) -> [usize; 3] {
    [0, 0x8000, 0xa000].map(|at| 0x8_0000 + 0x1_0000 * queue + at)
}

/// A guest with queues of 2,048 entries and a table of so many buffers of 20 bytes; the length of the table.
fn many_buffers(count: u16, flags: u16) -> (Pair, u32) {
    let mut pair = Pair::connected();
    pair.negotiate(OFFERED);
    pair.set_memory();
    for queue in 0..2 {
        pair.set_up(queue);
        pair.command(8, &state(queue, 2_048), &[]);
        let [descriptors, available, used] = large_parts(queue).map(|at| USER + at as u64);
        let mut addresses = [u32::try_from(queue).expect("small"), 0].map(u32::to_ne_bytes).concat();
        addresses.extend([descriptors, used, available, 0].map(u64::to_ne_bytes).concat());
        pair.command(9, &addresses, &[]);
        pair.start(queue);
    }
    for index in 0..count {
        let next = if index + 1 < count { NEXT } else { 0 };
        pair.guest.descriptor_at(BUFFERS + 16 * usize::from(index), GUEST, 20, flags | next, index + 1);
    }
    (pair, u32::from(count) * 16)
}

/// Puts chains into a large queue, each of them the table of that length.
fn large(guest: &Frontend, queue: usize, tables: &[u32]) {
    let [descriptors, available, _] = large_parts(queue);
    for (index, len) in tables.iter().enumerate() {
        guest.descriptor_at(descriptors + 16 * index, GUEST + BUFFERS as u64, *len, INDIRECT, 0);
        guest.write(available + 4 + 2 * index, &u16::try_from(index).expect("few").to_le_bytes());
    }
    guest.write(available + 2, &u16::try_from(tables.len()).expect("few").to_le_bytes());
}

/// The guest shares whatever flag would keep us from waiting for it: only of a socket can every call say so.
#[test]
fn a_call_that_could_make_us_wait_ends_the_port() {
    let mut pair = Pair::connected();
    pair.negotiate(OFFERED);
    pair.guest.send(13, 9, &0_u64.to_ne_bytes(), &[pair.guest.kicks[0].as_raw_fd()]);
    pair.serve();
    assert!(pair.port.error().expect("an error").to_string().contains("a call descriptor that is not a socket"));
    // A guest that never reads, on a socket that would wait.
    let mut deaf = Pair::ready();
    for _ in 0..100_000 {
        deaf.guest.send(13, 1, &0_u64.to_ne_bytes(), &[deaf.guest.calls[0].as_raw_fd()]);
        deaf.port.service();
    }
    assert!(deaf.port.error().is_none());
}

/// QEMU has event counters in the place of sockets.
#[test]
fn a_guest_that_may_is_told_by_an_event_counter() {
    use rustix::event::{EventfdFlags, eventfd};
    let mut pair = Pair::at(Listener::with_counters).started();
    let counter = eventfd(0, EventfdFlags::empty()).expect("a counter");
    for told in 1..=3_u64 {
        pair.command(13, &0_u64.to_ne_bytes(), &[counter.as_raw_fd()]);
        let mut count = [0; 8];
        assert_eq!(rustix::io::read(&counter, &mut count), Ok(8), "time {told}");
        assert_eq!(u64::from_ne_bytes(count), 1);
    }
    // It does not wait when the guest has filled it.
    rustix::io::write(&counter, &(u64::MAX - 1).to_ne_bytes()).expect("room");
    pair.command(13, &0_u64.to_ne_bytes(), &[counter.as_raw_fd()]);
    let (_reader, writer) = std::io::pipe().expect("a pipe");
    pair.guest.send(13, 9, &0_u64.to_ne_bytes(), &[writer.as_raw_fd()]);
    pair.serve();
    let error = pair.port.error().expect("an error").to_string();
    assert!(error.contains("neither a socket nor an event counter"), "{error}");
}

/// To touch memory that is not there any more kills a process, unless it expects that.
#[test]
fn a_guest_that_cuts_off_its_memory_ends_its_port_alone() {
    let mut other = Pair::ready();
    for frames in [0, 1] {
        let mut pair = Pair::ready();
        for _ in 0..frames {
            chain(&mut pair.guest, GUEST + BUFFERS as u64, 72, 0, 0);
        }
        // SAFETY: ftruncate() takes no pointers. The guest's own mapping is not touched any more.
        assert_eq!(unsafe { libc::ftruncate(pair.guest.file.as_raw_fd(), 0) }, 0);
        let said = verdict(&mut pair);
        assert!(said.contains("it cut off the memory that it shares"), "{said}");
        // A port that has ended does nothing with its memory.
        assert_eq!(pair.port.send(&Pool::default().packet(VirtioHeader::COMPLETE, &[1; 60])), Sent::Down);
        chain(&mut other.guest, GUEST + BUFFERS as u64, 72, 0, 0);
        let mut pool = Pool::default();
        assert_eq!(other.port.receive(&mut pool, 64, |_| ()), 1, "{:?}", other.port.error());
        other.port.flush();
    }
}

/// Puts in a chain that begins with this descriptor.
fn chain(guest: &mut Frontend, address: u64, len: u32, flags: u16, next: u16) {
    guest.descriptor(FROM_GUEST, 0, address, len, flags, next);
    guest.put(FROM_GUEST, 0);
}

#[test]
fn room_that_is_no_room_ends_the_port() {
    for (flags, len) in [(0, 100), (WRITE, 11), (WRITE | NEXT, 2_000)] {
        let mut pair = Pair::ready();
        pair.guest.descriptor(TO_GUEST, 0, GUEST + BUFFERS as u64, len, flags, 0);
        pair.guest.put(TO_GUEST, 0);
        let packet = Pool::default().packet(VirtioHeader::COMPLETE, &[1; 60]);
        pair.port.send(&packet);
        let said = pair.port.error().expect("an error").to_string();
        assert!(said.contains("receive queue"), "{said}");
    }
}

#[test]
fn messages_out_of_place_end_the_port() {
    let table = |pair: &Pair| pair.guest.memory_table();
    let cases: Vec<(u32, Vec<u8>, bool)> = vec![
        (2, (OFFERED | 1 << 29).to_ne_bytes().to_vec(), false),
        (2, (OFFERED & !(1 << 32)).to_ne_bytes().to_vec(), false),
        (16, u64::MAX.to_ne_bytes().to_vec(), false),
        (8, state(0, 3), false),
        (8, state(0, 65_536), false),
        (8, state(2, 16), false),
        (10, state(0, 65_536), false),
        (12, 0_u64.to_ne_bytes().to_vec(), false),
        (12, (1_u64 << 8).to_ne_bytes().to_vec(), false),
        (12, 255_u64.to_ne_bytes().to_vec(), true),
        (24, vec![0; 20], false),
        (99, vec![], false),
    ];
    for (request, payload, file) in cases {
        let mut pair = Pair::connected();
        pair.negotiate(OFFERED);
        let files: Vec<_> = file.then(|| pair.guest.kicks[0].as_raw_fd()).into_iter().collect();
        pair.guest.send(request, 9, &payload, &files);
        pair.serve();
        assert!(pair.port.error().is_some(), "request {request} with {payload:?}");
        // What is answered with a configuration has no other answer.
        if request != 24 {
            assert_eq!(pair.guest.answer(request), 1);
        }
    }
    // A table without its files, and one whose file is too short.
    for len in [None, Some(100)] {
        let mut pair = Pair::connected();
        pair.negotiate(OFFERED);
        let file = pair.guest.file.as_raw_fd();
        if let Some(len) = len {
            // SAFETY: ftruncate() takes no pointers. Nothing of the file was touched.
            unsafe { libc::ftruncate(file, len) };
        }
        pair.guest.send(5, 9, &table(&pair), if len.is_some() { std::slice::from_ref(&file) } else { &[] });
        pair.serve();
        assert!(pair.port.error().is_some());
    }
}

#[test]
fn addresses_outside_the_memory_end_the_port() {
    for (at, value) in [(8, 8_u64), (16, 2), (24, 1), (8, 1 << 20), (16, 1 << 40), (24, u64::MAX / 2)] {
        let mut pair = Pair::connected();
        pair.negotiate(OFFERED);
        pair.set_memory();
        pair.set_up(0);
        let mut addresses = Frontend::addresses(0);
        let before = u64::from_ne_bytes(addresses[at..at + 8].try_into().expect("eight bytes"));
        addresses[at..at + 8].copy_from_slice(&before.wrapping_add(value).to_ne_bytes());
        pair.command(9, &addresses, &[]);
        pair.guest.send(12, 9, &0_u64.to_ne_bytes(), &[pair.guest.kicks[0].as_raw_fd()]);
        pair.serve();
        let said = pair.port.error().expect("an error").to_string();
        assert!(said.contains("outside its memory or not aligned"), "{said}");
    }
}

//! A device against arithmetic, and against the rules of what is on a disk after a crash.

use super::{Device, Ended, Request};
use crate::disk::{Crashed, Disk, DiskSpeed, Keep};
use netloom_units::{Bytes, Duration, Instant, Rate, Seed};

const SIZE: u64 = 1 << 20;

fn disk() -> Disk {
    let speed = DiskSpeed {
        latency: Duration::from_micros(80),
        rate: Rate::from_bits_per_second(4096 * 8 * 100_000),
        flush: Duration::from_millis(1),
    };
    Disk::in_memory(Bytes::new(SIZE), speed).unwrap()
}

fn at(us: u64) -> Instant {
    Instant::ZERO + Duration::from_micros(us)
}

fn write(place: u64, byte: u8, is_durable: bool) -> Request {
    Request::Write { place, bytes: vec![byte; 4096], is_durable }
}

fn read(place: u64) -> Request {
    Request::Read { place, length: 4096 }
}

/// Pushes a request at an instant; when it has ended, and with which bytes.
fn done(device: &mut Device, request: Request, now: Instant) -> (Instant, Option<Vec<u8>>) {
    device.push(7, request, now);
    let due = device.next_wake().unwrap();
    assert_eq!(device.pop(Instant::ZERO + Duration::from_nanos(due.as_nanos() - 1)), None);
    let Ended { number, bytes } = device.pop(due).unwrap();
    assert_eq!(number, 7);
    (due, bytes)
}

#[test]
fn requests_are_transferred_one_by_one_and_flushes_wait_for_all() {
    let mut device = Device::new(&disk()).unwrap();
    // A block of 4 KiB takes 10 us.
    device.push(1, write(0, 1, false), at(0));
    device.push(2, write(4096, 2, false), at(0));
    device.push(3, Request::Flush, at(5));
    device.push(4, read(4096), at(6));
    let mut ends = Vec::new();
    while let Some(due) = device.next_wake() {
        let ended = device.pop(due).unwrap();
        ends.push((ended.number, due, ended.bytes.map(|bytes| bytes.first().copied())));
    }
    let wanted = [(1, 90, None), (2, 100, None), (3, 1_100, None), (4, 1_190, Some(2))];
    assert_eq!(ends, wanted.map(|(number, us, byte)| (number, at(us), Some(byte))));
    // A write that is durable takes what a write and a flush take.
    assert_eq!(done(&mut device, write(0, 3, true), at(2_000)).0, at(3_090));
}

#[test]
fn a_crash_leaves_what_was_flushed_or_durable() {
    let disk = disk();
    let mut device = Device::new(&disk).unwrap();
    done(&mut device, write(0, 1, false), at(0));
    done(&mut device, Request::Flush, at(100));
    done(&mut device, write(0, 2, false), at(2_000));
    done(&mut device, write(8192, 3, true), at(3_000));
    done(&mut device, write(4096, 4, false), at(5_000));
    // A flush that has not ended makes nothing durable.
    device.push(1, Request::Flush, at(6_000));
    drop(device);
    let outcome = disk.crash(Keep::Flushed, Seed::new(1)).unwrap();
    assert_eq!((outcome.cached, outcome.lost, outcome.lost_bytes), (2, 2, Bytes::new(8192)));
    let mut again = Device::new(&disk).unwrap();
    let mut first = |place| done(&mut again, read(place), at(0)).1.map(|bytes| bytes[0]);
    assert_eq!([first(0), first(4096), first(8192)], [Some(1), Some(0), Some(3)]);
    drop(again);
    assert_eq!(disk.crash(Keep::Flushed, Seed::new(1)).unwrap(), Crashed::default());
}

#[test]
fn faults_meet_the_requests_that_they_are_about() {
    let mut device = Device::new(&disk()).unwrap();
    let order = |own: &mut Device, text: &str, us| own.order(text, at(us)).unwrap();
    // The second write of sectors 8 to 15 fails, and no other.
    order(&mut device, "add 0 2 1 1 0 0 11 8-16", 0);
    let outcomes = [0, 4096, 4096, 4096].map(|place| done(&mut device, write(place, 1, false), at(0)).1.is_some());
    assert_eq!(outcomes, [true, true, false, true]);
    // Reads are late for 5 ms.
    order(&mut device, "add 1 1 0 18446744073709551615 1000000 5000000 11", 10_000);
    assert_eq!(done(&mut device, read(0), at(10_000)).0, at(11_090));
    assert_eq!(done(&mut device, read(0), at(15_000)).0, at(15_090));
    // A disk that hangs does all so much later.
    device.push(1, read(0), at(20_000));
    order(&mut device, "hang 3000000", 20_010);
    assert_eq!(device.next_wake(), Some(at(23_090)));
    device.pop(at(23_090)).unwrap();
    // One bit of what is read is wrong, then one of what is stored.
    order(&mut device, "add 2 1 0 1 0 0 11", 30_000);
    let wrong = |bytes: &[u8]| bytes.iter().map(|byte| (byte ^ 1).count_ones()).sum::<u32>();
    let mut bits = |us| wrong(&done(&mut device, read(0), at(us)).1.unwrap());
    assert_eq!([bits(30_000), bits(31_000)], [1, 0]);
    order(&mut device, "add 2 0 0 3 0 0 11 0-8", 32_000);
    let stored = wrong(&done(&mut device, read(0), at(32_000)).1.unwrap());
    assert!(stored == 3 || stored == 1, "{stored}");
    // All of them end.
    order(&mut device, "add 0 7 0 18446744073709551615 0 0 11", 40_000);
    assert_eq!(done(&mut device, Request::Flush, at(40_000)).1, None);
    order(&mut device, "mend", 45_000);
    assert!(done(&mut device, Request::Flush, at(45_000)).1.is_some());
    assert!(
        device.order("add 9 7 0 1 0 0 11", at(0)).is_err() && device.order("add 0 7 0 1 0 0 11 0-9999", at(0)).is_err()
    );
}

#[test]
fn a_disk_that_lies_loses_what_it_had_acknowledged() {
    let disk = disk();
    let mut device = Device::new(&disk).unwrap();
    device.order("add 5 4 0 18446744073709551615 0 0 11", at(0)).unwrap();
    assert!(done(&mut device, write(0, 1, false), at(0)).1.is_some());
    assert!(done(&mut device, Request::Flush, at(1_000)).1.is_some());
    assert!(done(&mut device, write(4096, 1, true), at(3_000)).1.is_some());
    drop(device);
    assert_eq!(disk.crash(Keep::Flushed, Seed::new(1)).unwrap().lost, 2);
}

#[test]
fn what_the_disk_does_not_have_fails() {
    let mut device = Device::new(&disk()).unwrap();
    for request in [read(SIZE), read(SIZE - 512), read(u64::MAX - 511), Request::Read { place: 0, length: 100 }] {
        assert_eq!(done(&mut device, request, at(0)).1, None);
    }
    assert!(done(&mut device, read(SIZE - 4096), at(0)).1.is_some());
}

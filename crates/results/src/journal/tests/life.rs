//! From pipes to the file: what happens in a fabric, as the journal has it.

use super::*;
use crate::journal::trace_observer::{Known, RING, RealTimeObserver, VirtualTimeObserver};
use crate::journal::tracker::{Tracker, Wanted};
use crate::journal::writer::{End, Ring, Source, Writer};
use netloom_fabric::{Fabric, PipeId, PortId, TraceObserver};
use netloom_lab::fabric::fabric_of;
use netloom_packet::{Packet, Pool, Segmentation, VirtioHeader};
use netloom_units::Instant;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex};

fn ms(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

/// A lab of one link, whose first port is that of `a`.
fn fabric(link: &str) -> Fabric {
    let text = format!("nodes: [a, b]\nlinks: {{l: {{ends: [a, b], {link}}}}}\n");
    fabric_of(&netloom_lab::parse(&text, "test.yaml").unwrap().plan)
}

/// Ethernet, IPv4 and TCP, from this port, with this much payload and these bits of congestion notification.
fn frame(port: u16, payload: usize, ecn: u8) -> Vec<u8> {
    let total = u16::try_from(40 + payload).unwrap().to_be_bytes();
    let mut bytes = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0];
    bytes.extend([0x45, ecn, total[0], total[1], 0, 1, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    bytes.extend(port.to_be_bytes());
    bytes.extend([0, 80, 0, 0, 0, 1, 0, 0, 0, 0, 0x50, 0x18, 1, 0, 0, 0, 0, 0]);
    bytes.resize(54 + payload, 0x61);
    bytes
}

fn packet(pool: &mut Pool, port: u16, payload: usize) -> Packet {
    pool.packet(VirtioHeader::COMPLETE, &frame(port, payload, 0))
}

/// Three segments of 1,000 bytes of payload and one of 500.
fn train(pool: &mut Pool) -> Packet {
    let virtio = VirtioHeader {
        checksum: Some((34, 16)),
        segmentation: Segmentation::Tcp4,
        ecn: false,
        segment_size: 1_000,
        header_len: 54,
    };
    pool.packet(virtio, &frame(9, 3_500, 0))
}

fn pipe_of(direction: &str) -> JournalPipe {
    JournalPipe { link: "l".into(), direction: direction.into(), pipe: None }
}

#[derive(Clone, Default)]
struct Slate(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Slate {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn tracker() -> Tracker {
    Tracker::new([0, 1].map(|place| Some(Wanted { place, filter: None, stations: Vec::new() })).into())
}

/// The journal of what `play` lets happen in virtual time, and its bytes. Time zero, before which nothing happens, and the end are
/// in milliseconds.
fn played(
    link: &str,
    [zero, last]: [u64; 2],
    play: impl FnOnce(&mut Fabric, &mut Pool, &mut dyn FnMut(&mut Fabric, u64)),
) -> (Vec<Record>, Vec<u8>) {
    played_to(link, last, |fabric, pool, advance| {
        fabric.begin_counting(ms(zero));
        play(fabric, pool, advance);
    })
}

/// The same of a run that begins when `play` lets counting begin.
fn played_to(
    link: &str,
    last: u64,
    play: impl FnOnce(&mut Fabric, &mut Pool, &mut dyn FnMut(&mut Fabric, u64)),
) -> (Vec<Record>, Vec<u8>) {
    let (slate, end, lost) = (Slate::default(), Arc::new(End::new()), Arc::new(AtomicU64::new(0)));
    let pipes = [pipe_of("forward"), pipe_of("backward")];
    let file = JournalWriter::begin(slate.clone(), "test", &pipes, None).unwrap();
    let (writer, batches) = sync_channel::<Known>(4);
    let mut trace_observer = VirtualTimeObserver { wanted: [true, true].into(), wants_attempts: false, writer };
    let mut fabric = fabric(link);
    fabric.take_notes(|pipe| trace_observer.wants(pipe));
    let own = Writer::new(Arc::clone(&end), lost, tracker(), file);
    let thread = std::thread::spawn(move || own.run(Source::Batches(batches)));
    let mut pool = Pool::default();
    let mut advance = |played: &mut Fabric, until: u64| {
        let mut out = Vec::new();
        while let Some(wake) = played.next_wake().filter(|wake| *wake <= ms(until)) {
            played.advance(wake, |delivery| out.push(delivery));
        }
        trace_observer.take(played, ms(until));
    };
    play(&mut fabric, &mut pool, &mut advance);
    end.set(ms(last));
    trace_observer.end(&mut fabric, ms(last) + netloom_units::Duration::from_nanos(1));
    drop(trace_observer);
    thread.join().unwrap().unwrap();
    let bytes = slate.0.lock().unwrap().clone();
    let (records, error) = read(&bytes);
    assert!(error.is_none(), "{error:?}");
    (records, bytes)
}

/// Its instants in milliseconds: arrived, started, sent, due, and when it ended.
fn times(record: &Record) -> [Option<i64>; 5] {
    let ended = record.ended_ns();
    [Some(record.arrived_ns), record.started_ns, record.sent_ns, record.due_ns, ended]
        .map(|ns| ns.map(|ns| ns / 1_000_000))
}

// 1,500 bytes take 12 ms at 1 Mbit/s.
const SLOW: &str = "rate: 1 Mbit/s, delay: 100 ms, queue: 2 packets";

#[test]
fn instants_are_exact_and_a_full_queue_drops() {
    let (records, _) = played(SLOW, [1, 200], |fabric, pool, advance| {
        for port in 1..=4 {
            fabric.inject(ms(5), PortId(0), packet(pool, port, 1_460)).unwrap();
        }
        advance(fabric, 300);
    });
    let ports: Vec<u16> = records.iter().map(|record| record.flow.unwrap().source_port).collect();
    // One is sent, two wait, the fourth finds no room and is the first whose fate is certain.
    assert_eq!(ports, [4, 1, 2, 3]);
    assert_eq!(records[0].fate, Fate::Dropped { at_ns: 4_000_000, cause: Cause::Full });
    assert_eq!(times(&records[1]), [4, 4, 16, 116, 116].map(Some));
    assert_eq!(times(&records[2]), [4, 16, 28, 128, 128].map(Some));
    assert_eq!(times(&records[3]), [4, 28, 40, 140, 140].map(Some));
    assert!(records.iter().all(|record| record.size_bytes == 1_500 && record.sequence == Some(1)));
}

#[test]
fn segments_of_a_train_have_a_row_each() {
    let (records, _) = played("delay: 10 ms", [0, 100], |fabric, pool, advance| {
        fabric.inject(ms(5), PortId(0), train(pool)).unwrap();
        advance(fabric, 50);
    });
    let told: Vec<_> =
        records.iter().map(|record| (record.size_bytes, record.sequence.unwrap(), times(record))).collect();
    let all = [5, 5, 5, 15, 15].map(Some);
    assert_eq!(told, [(1_040, 1, all), (1_040, 1_001, all), (1_040, 2_001, all), (540, 3_001, all)]);
}

#[test]
fn a_cut_and_the_end_find_packets_everywhere() {
    let (records, _) = played("rate: 1 Mbit/s, delay: 100 ms", [0, 40], |fabric, pool, advance| {
        for port in 1..=3 {
            fabric.inject(ms(0), PortId(0), packet(pool, port, 1_460)).unwrap();
        }
        for port in 11..=13 {
            fabric.inject(ms(20), PortId(1), packet(pool, port, 1_460)).unwrap();
        }
        advance(fabric, 29);
        // Of the first, the third is on the transmitter, and the others travel.
        fabric.unplug(ms(30), PipeId(0));
        fabric.inject(ms(31), PortId(0), packet(pool, 4, 1_460)).unwrap();
        advance(fabric, 60);
    });
    let mut told: Vec<_> = records.iter().map(|record| (record.flow.unwrap().source_port, times(record))).collect();
    told.sort_unstable();
    let down = |sent: [Option<i64>; 3], at| [Some(0), sent[0], sent[1], sent[2], Some(at)];
    assert_eq!(told[0], (1, down([0, 12, 112].map(Some), 30)));
    assert_eq!(told[1], (2, down([12, 24, 124].map(Some), 30)));
    assert_eq!(told[2], (3, down([None; 3], 30)));
    assert_eq!(told[3], (4, [Some(31), None, None, None, Some(31)]));
    // The run ends at 40: one has been sent by then, and what others did later is not known.
    assert_eq!(told[4], (11, [Some(20), Some(20), Some(32), Some(132), None]));
    assert_eq!(told[5].1, [Some(20), None, None, None, None]);
    assert!(records.iter().filter(|record| record.fate == Fate::Inside).count() == 3);
    assert!(records[..4].iter().all(|record| matches!(record.fate, Fate::Dropped { cause: Cause::Down, .. })));
}

#[test]
fn losses_copies_and_marks_are_told() {
    let link = "rate: 1 Mbit/s, loss: {kind: every, n: 3}, duplicate: 50 %, queue: {kind: codel, target: 1 ms, interval: 10 ms, ecn: true}";
    let Ok(lab) = netloom_lab::parse(&format!("nodes: [a, b]\nlinks: {{l: {{ends: [a, b], {link}}}}}\n"), "t.yaml")
    else {
        panic!("a lab");
    };
    let mut fabric = fabric_of(&lab.plan);
    fabric.take_notes(|_| true);
    fabric.begin_counting(ms(0));
    let (mut pool, mut ended) = (Pool::default(), Vec::new());
    let mut tracker = tracker();
    for port in 1..=60_u16 {
        let at = ms(u64::from(port));
        let sent = pool.packet(VirtioHeader::COMPLETE, &frame(port, 960, 2));
        fabric.inject(at, PortId(0), sent).unwrap();
        fabric.advance(at, |_| ());
    }
    while let Some(wake) = fabric.next_wake() {
        fabric.advance(wake, |_| ());
    }
    let notes: Vec<_> = fabric.notes().collect();
    notes.iter().for_each(|note| tracker.take(note, &mut |fated| ended.push(fated.record)));
    assert!(tracker.inside().is_empty());
    let counters = fabric.counters().next().unwrap();
    let count = |is: &dyn Fn(&Record) -> bool| ended.iter().filter(|record| is(record)).count() as u64;
    let dropped =
        |cause: Cause| count(&|record| matches!(record.fate, Fate::Dropped { cause: other, .. } if other == cause));
    assert_eq!(count(&|record| matches!(record.fate, Fate::Delivered { .. })), counters.departed.packets);
    assert_eq!(dropped(Cause::Loss), counters.dropped.loss.packets);
    assert_eq!(dropped(Cause::Early), counters.dropped.early.packets);
    assert_eq!(count(&|record| record.marked_ns.is_some()), counters.marked.packets);
    assert_eq!(ended.len() as u64, counters.arrived.packets + counters.duplicated.packets);
    assert!(counters.dropped.loss.packets > 0 && counters.marked.packets > 0 && counters.duplicated.packets > 0);
}

#[test]
fn how_often_notes_are_taken_changes_no_byte() {
    let play = |step: u64| {
        played(SLOW, [0, 900], |fabric, pool, advance| {
            for number in 0..800_u64 {
                let port = PortId(u32::try_from(number % 2).unwrap());
                let sent = if number % 7 == 0 { train(pool) } else { packet(pool, 5, number as usize % 1_400) };
                fabric.inject(ms(number), port, sent).unwrap();
                if number % step == 0 {
                    advance(fabric, number);
                }
            }
            advance(fabric, 1_000);
        })
    };
    let (often, seldom) = (play(1), play(97));
    assert!(often.0.len() > 500 && often.1 == seldom.1, "{} records", often.0.len());
}

#[test]
fn an_engine_that_is_ahead_of_its_writer_loses_packets_and_counts_them() {
    let (slate, end, lost) = (Slate::default(), Arc::new(End::new()), Arc::new(AtomicU64::new(0)));
    let pipes = [pipe_of("forward"), pipe_of("backward")];
    let file = JournalWriter::begin(slate.clone(), "test", &pipes, None).unwrap();
    let (ring, items) = rtrb::RingBuffer::new(RING);
    let wanted: Arc<[bool]> = [true, true].into();
    let lost_by_trace_observer = Arc::clone(&lost);
    let mut trace_observer = RealTimeObserver {
        wanted: Arc::clone(&wanted),
        wants_attempts: false,
        ring,
        lost: lost_by_trace_observer,
        has_gap: false,
        began: Vec::new(),
    };
    let mut fabric = fabric("delay: 1 ms");
    fabric.take_notes(|pipe| trace_observer.wants(pipe));
    fabric.begin_counting(ms(0));
    let mut pool = Pool::default();
    let count = RING as u64;
    let mut send = |played: &mut Fabric, at: u64| {
        played.inject(ms(at), PortId(0), packet(&mut pool, 1, 100)).unwrap();
        played.advance(ms(at), |_| ());
        trace_observer.take(played, ms(at) + netloom_units::Duration::from_micros(7));
    };
    (0..count).for_each(|at| send(&mut fabric, at));
    assert!(lost.load(Ordering::Relaxed) > 0);
    let writer = Writer::new(end, Arc::clone(&lost), tracker(), file);
    let thread = std::thread::spawn(move || writer.run(Source::Rings(vec![Ring::new(items, wanted)])));
    while thread.is_finished() || slate.0.lock().unwrap().len() < 100_000 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    (count..count + 100).for_each(|at| send(&mut fabric, at));
    trace_observer.end(&mut fabric, ms(count + 200));
    drop(trace_observer);
    let written = thread.join().unwrap().unwrap();
    let bytes = slate.0.lock().unwrap().clone();
    let (records, error) = read(&bytes);
    assert!(error.is_none() && records.len() as u64 == written.records);
    // Nothing is reported twice, and nothing is missing without being counted.
    assert_eq!(written.records + lost.load(Ordering::Relaxed), count + 100);
    // It was due after a millisecond, and written seven microseconds later.
    let late = records.iter().find(|record| record.arrived_ns == 5_000_000).unwrap();
    assert_eq!((late.due_ns, late.fate), (Some(6_000_000), Fate::Delivered { at_ns: 6_007_000 }));
    assert_eq!(records.iter().filter(|record| record.arrived_ns >= ms(count).as_nanos().cast_signed()).count(), 100);
}

/// Of four packets before time zero, one is dropped; the others are in flight then: on the wire, on the transmitter, in the queue.
#[test]
fn journal_and_counters_have_one_origin() {
    let mut counted = None;
    let (records, _) = played_to(SLOW, 130, |fabric, pool, advance| {
        for port in 1..=4 {
            fabric.inject(ms(5), PortId(0), packet(pool, port, 1_460)).unwrap();
        }
        advance(fabric, 19);
        fabric.begin_counting(ms(20));
        counted = fabric.counters().next().copied();
        for port in 5..=7 {
            fabric.inject(ms(25), PortId(0), packet(pool, port, 1_460)).unwrap();
        }
        advance(fabric, 130);
    });
    let counters = counted.unwrap();
    assert_eq!((counters.initial.packets, counters.in_flight(), counters.arrived.packets), (3, 3, 0));
    assert_eq!((counters.initial.bytes, counters.dropped.packets(), counters.queue_peak), (4_500, 0, 1));
    assert!(counters.balance());
    // Of the three that came later, one found room. By the end, at 130, those of before that were due at 117 and 129 have come out.
    let rows = |is: &dyn Fn(&Record) -> bool| records.iter().filter(|record| is(record)).count();
    assert_eq!((records.len(), rows(&|record| record.arrived_ns < 0)), (6, 3));
    assert_eq!(rows(&|record| matches!(record.fate, Fate::Delivered { .. })), 2);
    assert_eq!(rows(&|record| matches!(record.fate, Fate::Dropped { .. })), 2);
    assert_eq!(rows(&|record| record.fate == Fate::Inside), 2);
    assert_eq!(times(&records[0]), [Some(5), None, None, None, Some(5)]);
    let arrived: Vec<i64> = records.iter().map(|record| record.arrived_ns / 1_000_000).collect();
    assert_eq!(arrived, [5, 5, -15, -15, -15, 5]);
}

/// A writer that has not been there for long hears nevertheless when counting began.
#[test]
fn a_journal_begins_though_notes_are_missing() {
    let (slate, lost) = (Slate::default(), Arc::new(AtomicU64::new(0)));
    let pipes = [pipe_of("forward"), pipe_of("backward")];
    let file = JournalWriter::begin(slate.clone(), "test", &pipes, None).unwrap();
    let (ring, mut items) = rtrb::RingBuffer::new(RING);
    let wanted: Arc<[bool]> = [true, true].into();
    let lost_by_trace_observer = Arc::clone(&lost);
    let mut trace_observer = RealTimeObserver {
        wanted: Arc::clone(&wanted),
        wants_attempts: false,
        ring,
        lost: lost_by_trace_observer,
        has_gap: false,
        began: Vec::new(),
    };
    let mut fabric = fabric("delay: 1 ms");
    fabric.take_notes(|pipe| trace_observer.wants(pipe));
    let mut pool = Pool::default();
    let mut send = |played: &mut Fabric, at: u64| {
        played.inject(ms(at), PortId(0), packet(&mut pool, 1, 100)).unwrap();
        played.advance(ms(at), |_| ());
        trace_observer.take(played, ms(at));
    };
    let zero = RING as u64;
    (0..zero).for_each(|at| send(&mut fabric, at));
    fabric.begin_counting(ms(zero));
    send(&mut fabric, zero);
    while items.pop().is_ok() {}
    (zero + 1..zero + 11).for_each(|at| send(&mut fabric, at));
    trace_observer.end(&mut fabric, ms(zero + 20));
    drop(trace_observer);
    let writer = Writer::new(Arc::new(End::new()), lost, tracker(), file);
    writer.run(Source::Rings(vec![Ring::new(items, wanted)])).unwrap();
    let bytes = slate.0.lock().unwrap().clone();
    let arrived: Vec<i64> = read(&bytes).0.iter().map(|record| record.arrived_ns).collect();
    assert_eq!(arrived, (1..11).map(|at| at * 1_000_000).collect::<Vec<_>>());
}

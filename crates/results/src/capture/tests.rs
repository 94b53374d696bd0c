mod on_air;

use super::*;
use netloom_fabric::{PortId, Way};
use netloom_link::{Cause, Fate, Outcome, Segments};
use netloom_packet::{Packet, Pool, Segmentation, VirtioHeader};
use std::io::Write;
use std::sync::{Mutex, MutexGuard};

/// A place to write to that the test can look at, and hold closed.
#[derive(Clone, Default)]
struct Slate(Arc<Mutex<Vec<u8>>>);

impl Slate {
    fn held(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap()
    }
}

impl Write for Slate {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.held().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn plan(capture: &str) -> Plan {
    let text = format!("nodes: [a, b]\nlinks: {{l: {{ends: [a, b]}}}}\ncapture: [{capture}]\n");
    netloom_lab::parse(&text, "test.yaml").unwrap().plan
}

/// Ethernet, IPv4 and TCP with this much payload, its checksum left to be completed.
fn frame(from_port: u16, payload: usize) -> Vec<u8> {
    let total = u16::try_from(40 + payload).unwrap().to_be_bytes();
    let mut bytes = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0];
    bytes.extend([0x45, 0, total[0], total[1], 0, 1, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    bytes.extend(from_port.to_be_bytes());
    bytes.extend([0, 80, 0, 0, 0, 1, 0, 0, 0, 0, 0x50, 0x18, 1, 0, 0, 0, 0, 0]);
    bytes.resize(54 + payload, 0x61);
    bytes
}

fn packet(pool: &mut Pool, from_port: u16, payload: usize) -> Packet {
    pool.packet(VirtioHeader::COMPLETE, &frame(from_port, payload))
}

fn train(pool: &mut Pool) -> Packet {
    let virtio = VirtioHeader {
        checksum: Some((34, 16)),
        segmentation: Segmentation::Tcp4,
        ecn: false,
        segment_size: 1_000,
        header_len: 54,
    };
    let mut bytes = frame(1, 3_000);
    // The kernel leaves the sum of addresses, protocol and length where it wants the checksum.
    let length = u32::try_from(bytes.len() - 34).unwrap();
    let pseudo = u16::try_from(checksum(&bytes[26..34], 6 + length)).unwrap();
    bytes[50..52].copy_from_slice(&pseudo.to_be_bytes());
    pool.packet(virtio, &bytes)
}

fn us(value: u64) -> Instant {
    Instant::from_nanos(value * 1_000)
}

/// What is in a capture: interface, time, whether it goes out, kept bytes, length.
type Row = (u32, u64, bool, Vec<u8>, u32);

fn rows(file: &[u8]) -> Vec<Row> {
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
    let (mut at, mut rows) = (0, Vec::new());
    while at < file.len() {
        if word(at) == 6 {
            let (time, kept) = (u64::from(word(at + 12)) << 32 | u64::from(word(at + 16)), word(at + 20) as usize);
            let flags = word(at + 28 + kept.next_multiple_of(4) + 4);
            rows.push((word(at + 8), time, flags == 2, file[at + 28..at + 28 + kept].to_vec(), word(at + 24)));
        }
        at += word(at + 4) as usize;
    }
    rows
}

/// Lets `show` call the tap of these captures, and returns what is in the first one's file.
fn captured(capture: &str, show: impl Fn(&mut dyn Tap, &mut Pool, &Shared)) -> Vec<u8> {
    let (plan, slate) = (plan(capture), Slate::default());
    let (shared, thread, mut tap) =
        begin(&plan, &plan.capture, vec![(BufWriter::new(slate.clone()), None)], (Pace::Virtual, LIVE_HOLD)).unwrap();
    show(&mut *tap, &mut Pool::default(), &shared);
    drop(tap);
    assert!(thread.join().unwrap().iter().all(Option::is_none));
    assert_eq!((shared.lost.load(Ordering::Relaxed), shared.waiting.load(Ordering::Relaxed)), (0, 0));
    slate.held().clone()
}

#[test]
fn packets_are_put_in_order_and_counted_from_time_zero_to_the_end() {
    let file = captured("l", |tap, pool, shared| {
        for (port, way, at) in
            [(0, Way::FromNode, 90), (0, Way::FromNode, 300), (1, Way::ToNode, 200), (1, Way::FromNode, 501)]
        {
            let shown = packet(pool, 1, 10);
            tap.packet(PortId(port), way, us(at), us(at), &shown);
        }
        shared.begin(us(100));
        shared.end(us(500));
        tap.settle(pool);
    });
    let what: Vec<_> = rows(&file).into_iter().map(|(interface, at, out, ..)| (interface, at, out)).collect();
    assert_eq!(what, [(1, 100_000, false), (0, 200_000, true)]);
}

#[test]
fn a_train_is_written_segment_by_segment() {
    let file = captured("l", |tap, pool, shared| {
        shared.begin(Instant::ZERO);
        let mut whole = train(pool);
        tap.packet(PortId(1), Way::ToNode, us(100), us(120), &whole);
        let head = whole.split_front(1).unwrap();
        tap.packet(PortId(0), Way::FromNode, us(105), us(105), &head);
    });
    let rows = rows(&file);
    let times: Vec<_> = rows.iter().map(|row| (row.0, row.1 / 1_000)).collect();
    assert_eq!(times, [(1, 100), (0, 105), (1, 110), (1, 120)]);
    for (index, row) in [&rows[0], &rows[2], &rows[3]].into_iter().enumerate() {
        assert_eq!((row.3.len(), row.4), (1_054, 1_054));
        assert_eq!(u32::from_be_bytes(row.3[38..42].try_into().unwrap()), 1 + 1_000 * u32::try_from(index).unwrap());
        assert_eq!(checksum(&row.3[14..34], 0), 0xffff, "IP header");
        // RFC 9293, section 3.1: addresses, protocol and length belong to the sum.
        assert_eq!(checksum(&row.3[34..], checksum(&row.3[26..34], 6 + 1_020)), 0xffff, "TCP");
    }
    assert_eq!(rows[1].3, rows[0].3, "the same segment at both ends");
}

fn checksum(bytes: &[u8], so_far: u32) -> u32 {
    let words = bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0)));
    let sum = words.sum::<u32>() + so_far;
    (sum & 0xffff) + (sum >> 16)
}

#[test]
fn direction_filter_and_snaplen_choose_what_is_kept() {
    let capture = "{link: l, direction: forward, snaplen: 60 B, match: {from_port: 7}}";
    let file = captured(capture, |tap, pool, shared| {
        shared.begin(Instant::ZERO);
        for (number, port) in [7, 8].into_iter().enumerate() {
            for (end, way) in [(0, Way::FromNode), (0, Way::ToNode), (1, Way::FromNode), (1, Way::ToNode)] {
                let (at, shown) = (us(number as u64 * 10 + u64::from(end)), packet(pool, port, 100));
                tap.packet(PortId(end), way, at, at, &shown);
            }
        }
    });
    let what: Vec<_> = rows(&file).iter().map(|row| (row.0, row.2, row.3.len(), row.4)).collect();
    assert_eq!(what, [(0, true, 60, 154), (1, false, 60, 154)]);
}

#[test]
fn a_point_is_where_a_packet_enters_or_leaves_or_an_end() {
    let seen = |capture: &str| {
        let file = captured(capture, |tap, pool, shared| {
            shared.begin(Instant::ZERO);
            let steps = [(0, Way::FromNode), (1, Way::ToNode), (1, Way::FromNode), (0, Way::ToNode)];
            for (at, (end, way)) in (1..).map(us).zip(steps) {
                let shown = packet(pool, 7, 100);
                tap.packet(PortId(end), way, at, at, &shown);
            }
        });
        rows(&file).iter().map(|row| (row.0, row.1 / 1_000, row.2)).collect::<Vec<_>>()
    };
    let [sent, arrived] = [[(0, 1, true), (1, 3, true)], [(1, 2, false), (0, 4, false)]];
    assert_eq!(seen("{link: l, at: sent}"), sent);
    assert_eq!(seen("{link: l, at: delivered}"), arrived);
    assert_eq!(seen("{link: l, at: a}"), [sent[0], arrived[1]]);
    assert_eq!(seen("{link: l, at: b}"), [arrived[0], sent[1]]);
    assert_eq!(seen("{link: l, at: b, direction: forward}"), [arrived[0]]);
    assert_eq!(seen("{link: l, at: sent, direction: backward}"), [sent[1]]);
    assert_eq!(seen("l").len(), 4);
}

/// What is said of packets, each with its interface.
fn comments(file: &[u8]) -> Vec<(u32, String)> {
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
    let half = |at: usize| usize::from(u16::from_le_bytes(file[at..at + 2].try_into().unwrap()));
    let (mut at, mut all) = (0, Vec::new());
    while at < file.len() {
        if word(at) == 6 {
            // Behind the flags, which take eight bytes.
            let option = at + 28 + (word(at + 20) as usize).next_multiple_of(4) + 8;
            if half(option) == 1 {
                let text = &file[option + 4..option + 4 + half(option + 2)];
                all.push((word(at + 8), String::from_utf8(text.to_vec()).unwrap()));
            }
        }
        at += word(at + 4) as usize;
    }
    all
}

#[test]
fn records_say_what_became_of_their_packets() {
    let file = captured("l", |tap, pool, shared| {
        shared.begin(Instant::ZERO);
        let fate = |packet: &Packet, at, outcome| {
            let (frame, first) = packet.place();
            let count = u16::try_from(packet.segments()).unwrap();
            Fate { pipe: 0, at, whose: Segments { frame, first, count }, outcome }
        };
        assert!(tap.wants_fates());
        let (dropped, marked, late) = (packet(pool, 1, 10), packet(pool, 2, 10), packet(pool, 3, 10));
        for (at, shown) in [(100, &dropped), (200, &marked), (300, &late)] {
            tap.packet(PortId(0), Way::FromNode, us(at), us(at), shown);
        }
        tap.fate(&fate(&dropped, us(100), Outcome::Dropped(Cause::Full)));
        tap.fate(&fate(&marked, us(250), Outcome::Marked));
        tap.packet(PortId(1), Way::ToNode, us(400), us(400), &marked);
        // The second half of a train is dropped later, and the frame of a packet that has left is used again.
        let mut whole = train(pool);
        tap.packet(PortId(0), Way::FromNode, us(500), us(500), &whole);
        whole.split_front(1).unwrap();
        tap.fate(&fate(&whole, us(5_500), Outcome::Dropped(Cause::Early)));
        tap.packet(PortId(0), Way::FromNode, us(600), us(600), &marked);
        tap.packet(PortId(1), Way::ToNode, us(700), us(700), &marked);
    });
    let expected = [
        (0, "dropped: the queue was full"),
        (0, "marked 50 us later: congestion experienced"),
        (1, "marked: congestion experienced"),
        (0, "dropped 5 ms later: by the queue's discipline, though there was room"),
        (0, "dropped 5 ms later: by the queue's discipline, though there was room"),
    ];
    assert_eq!(comments(&file), expected.map(|(interface, text)| (interface, text.to_owned())));
}

/// The link's name, the node's, or both: the ports that are meant.
#[test]
fn all_ports_of_a_node_are_captured() {
    let text = "nodes: [a, s, b]\nlinks: {one: {ends: [a, s]}, two: {ends: [s, b]}}\ncapture:\n- {node: s}\n\
                - {node: s, link: two}\n- {node: s, at: sent}\n- {node: b, link: two, direction: forward}\n";
    let text = text.replace("- {node: s, at: sent}", "- {node: s, at: sent, file: sent.pcapng}");
    let plan = netloom_lab::parse(&text, "test.yaml").unwrap().plan;
    let files: Vec<&str> = plan.capture.iter().map(|capture| capture.file.as_str()).collect();
    assert_eq!(files, ["s.pcapng", "s-two.pcapng", "sent.pcapng", "b-two.pcapng"]);
    let slates: Vec<Slate> = files.iter().map(|_| Slate::default()).collect();
    let outs = slates.iter().map(|slate| (BufWriter::new(slate.clone()), None)).collect();
    let (shared, thread, mut tap) = begin(&plan, &plan.capture, outs, (Pace::Virtual, HOLD)).unwrap();
    shared.begin(Instant::ZERO);
    let mut pool = Pool::default();
    // From a to b, and back.
    let steps = [(0, Way::FromNode), (1, Way::ToNode), (2, Way::FromNode), (3, Way::ToNode)];
    let back = [(3, Way::FromNode), (2, Way::ToNode), (1, Way::FromNode), (0, Way::ToNode)];
    for (at, (port, way)) in (1..).map(us).zip(steps.into_iter().chain(back)) {
        let shown = packet(&mut pool, 7, 100);
        tap.packet(PortId(port), way, at, at, &shown);
    }
    drop(tap);
    thread.join().unwrap();
    let seen = |slate: &Slate| rows(&slate.held()).iter().map(|row| (row.0, row.1 / 1_000)).collect::<Vec<_>>();
    assert_eq!(seen(&slates[0]), [(0, 2), (1, 3), (1, 6), (0, 7)]);
    assert_eq!(seen(&slates[1]), [(0, 3), (0, 6)]);
    assert_eq!(seen(&slates[2]), [(1, 3), (0, 7)]);
    assert_eq!(seen(&slates[3]), [(0, 4)]);
}

#[test]
fn a_program_chooses_among_the_bytes_that_are_written() {
    // Loads the lower byte of the source port, and wants 7.
    let program = FilterProgram::parse("4\n48 0 0 35\n21 0 1 7\n6 0 0 1\n6 0 0 0\n").unwrap();
    let (plan, slate) = (plan("l"), Slate::default());
    let outs = vec![(BufWriter::new(slate.clone()), Some(program))];
    let (shared, thread, mut tap) = begin(&plan, &plan.capture, outs, (Pace::Virtual, HOLD)).unwrap();
    shared.begin(Instant::ZERO);
    for (at, port) in [(1, 7), (2, 8), (3, 7)] {
        let shown = packet(&mut Pool::default(), port, 10);
        tap.packet(PortId(0), Way::FromNode, us(at), us(at), &shown);
    }
    drop(tap);
    thread.join().unwrap();
    let times: Vec<u64> = rows(&slate.held()).iter().map(|row| row.1 / 1_000).collect();
    assert_eq!(times, [1, 3]);
}

#[test]
fn the_same_packets_make_the_same_bytes() {
    let many = |tap: &mut dyn Tap, pool: &mut Pool, shared: &Shared| {
        shared.begin(us(10));
        for index in 0..5_000 {
            let shown = if index % 3 == 0 { train(pool) } else { packet(pool, 5, index % 1_400) };
            let at = us(index as u64 * 100 + 37 * (index as u64 % 5));
            tap.packet(PortId(u32::try_from(index % 2).unwrap()), Way::ToNode, at, at, &shown);
            pool.recycle(shown);
            tap.settle(pool);
        }
        shared.end(us(499_000));
    };
    let (one, other) = (captured("l", many), captured("l", many));
    assert!(one == other, "{} and {} bytes", one.len(), other.len());
    assert!(rows(&one).is_sorted_by_key(|row| row.1));
    // Packets 0, 4,989 and those from 4,991 on lie outside.
    assert_eq!(rows(&one).len(), 1_662 * 3 + 3_327);
}

#[test]
fn a_writer_that_stands_still_costs_packets_and_no_time() {
    let (plan, slate) = (plan("l"), Slate::default());
    let (shared, thread, mut tap) =
        begin(&plan, &plan.capture, vec![(BufWriter::new(slate.clone()), None)], (Pace::Real, LIVE_HOLD)).unwrap();
    let mut pool = Pool::default();
    shared.begin(Instant::ZERO);
    let closed = slate.held();
    for index in 0..4_000 {
        let whole = train(&mut pool);
        tap.packet(PortId(0), Way::FromNode, us(index * 1_000), us(index * 1_000), &whole);
        tap.settle(&mut pool);
    }
    for index in 0..80_000 {
        let whole = packet(&mut pool, 1, 1_400);
        tap.packet(PortId(0), Way::FromNode, us(4_000_000 + index), us(4_000_000 + index), &whole);
    }
    drop(closed);
    drop(tap);
    thread.join().unwrap();
    let (lost, written) = (shared.lost.load(Ordering::Relaxed), rows(&slate.held()).len() as u64);
    assert!(lost > 0 && written > 0);
    assert_eq!(lost + written, 4_000 * 3 + 80_000);
}

#[test]
fn a_disk_that_is_full_is_told() {
    struct Full(usize);
    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let plan = plan("l");
    let (shared, thread, mut tap) = begin(
        &plan,
        &plan.capture,
        vec![(BufWriter::with_capacity(100, Full(2_000)), None)],
        (Pace::Virtual, LIVE_HOLD),
    )
    .unwrap();
    shared.begin(Instant::ZERO);
    for index in 0..1_000 {
        let shown = packet(&mut Pool::default(), 1, 1_000);
        tap.packet(PortId(0), Way::FromNode, us(index), us(index), &shown);
    }
    drop(tap);
    let failed = thread.join().unwrap().remove(0).unwrap();
    assert_eq!(failed.kind(), io::ErrorKind::StorageFull);
}
